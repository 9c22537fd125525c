"""Patterns of ``grep``: Go ``regexp`` syntax, bounded before anything is expanded, matched in linear time.

``compile_pattern`` reads the pattern with a small parser of its own that counts the
instructions Go's compiler would make of it, counted repetitions multiplied and not
expanded. Only a pattern that fits is handed to google-re2. The count is never lower than
Go's; it can be higher where Go factors common prefixes of alternations or merges single
characters into a class.

Guarantees: no pattern costs more than its bounds allow; what Go refuses is refused
(``\\C`` and deep nesting, which RE2 takes, included). It does not guarantee Go's error texts.

memory-v0, "Explicit regex fallback"; docs/protocol.md, "Grep's pattern bounds".
"""

from __future__ import annotations

from ai_kb.hn.errors import HnError

MAX_PATTERN_BYTES = 4096
MAX_INSTRUCTIONS = 4096
MAX_NESTING = 1000
_MAX_REPEAT = 1000
# Go always has one instruction to fail and one for the match.
_FIXED = 2
# Compiled size of RE2, not of the text: the largest classes repeated to the bound need a bit over 64 MiB.
_MAX_MEMORY = 128 << 20
# Larger sizes mean nothing: beyond every bound, and multiplied again they would only grow.
_HUGE = 1 << 40
_CLASS_ESCAPES = frozenset({"\\d", "\\D", "\\s", "\\S", "\\w", "\\W", "\\p", "\\P"})


class InvalidPattern(HnError):
    """The pattern is not valid, not supported, or over one of its bounds; nothing was read or changed."""

    code = "invalid-pattern"


class _Node:
    """What counting needs of a parsed expression: instructions, can it match nothing, tree height."""

    __slots__ = ("height", "literal", "nullable", "size")

    def __init__(self, size: int, nullable: bool = False, height: int = 1, literal: bool = False) -> None:
        self.size = min(size, _HUGE)
        self.nullable = nullable
        self.height = height
        self.literal = literal
        if height > MAX_NESTING:
            raise InvalidPattern(f"regex pattern nests deeper than {MAX_NESTING}; nothing was searched")


class _Group:
    """An open parenthesis (or the whole pattern): finished branches and the branch being read."""

    __slots__ = ("branches", "capture", "items")

    def __init__(self, capture: bool) -> None:
        self.capture = capture
        self.branches: list[_Node] = []
        self.items: list[_Node] = []

    def end_branch(self) -> None:
        """Concatenate the items read so far; nothing between two bars is an instruction of its own."""
        items = self.items
        if not items:
            node = _Node(1, nullable=True)
        elif len(items) == 1:
            node = items[0]
        else:
            literal = all(item.literal for item in items)
            node = _Node(
                sum(item.size for item in items),
                all(item.nullable for item in items),
                1 if literal else 1 + max(item.height for item in items),
                literal,
            )
        self.branches.append(node)
        self.items = []

    def end(self) -> _Node:
        self.end_branch()
        node = self.branches[0]
        if len(self.branches) > 1:
            node = _Node(
                sum(branch.size for branch in self.branches) + len(self.branches) - 1,
                any(branch.nullable for branch in self.branches),
                1 + max(branch.height for branch in self.branches),
            )
        if self.capture:
            return _Node(node.size + 2, node.nullable, node.height + 1)
        # Repeating a group repeats all of it: from here on it is one item, not several runes.
        return _Node(node.size, node.nullable, node.height)


def _repeat(node: _Node, low: int, high: int | None) -> _Node:
    """``node{low,high}`` as Go's Simplify writes it out, counted and not written out."""
    height = node.height + 1
    if high is None:
        if low == 0:
            return _Node(node.size + (2 if node.nullable else 1), True, height)
        return _Node(node.size * low + 1, node.nullable, height)
    if high == 0:
        return _Node(1, True, height)
    if low == high == 1:
        return _Node(node.size, node.nullable, height)
    return _Node(node.size * high + (high - low), node.nullable or low == 0, height)


def _invalid(what: str) -> InvalidPattern:
    return InvalidPattern(f"invalid regex pattern: {what}; nothing was searched")


class _Parser:
    """One pass over the pattern with a stack of open groups; no recursion, whatever the nesting."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.stack = [_Group(capture=False)]

    def node(self) -> _Node:
        text = self.text
        repeated = False
        while self.at < len(text):
            char = text[self.at]
            was_repeated, repeated = repeated, False
            if char in "*+?" or (char == "{" and self._counts() is not None):
                if was_repeated:
                    raise _invalid("invalid nested repetition operator")
                self._repetition(char)
                repeated = True
            elif char == "(":
                self._open()
            elif char == ")":
                self._close()
            elif char == "|":
                self.stack[-1].end_branch()
                self.at += 1
            elif char == "[":
                self._class()
            elif char == "\\":
                self._escape()
            else:
                # A repetition can follow an assertion, which matches nothing.
                self._add(_Node(1, nullable=char in "^$", literal=char not in "^$."))
                self.at += 1
        if len(self.stack) > 1:
            raise _invalid("missing closing )")
        return self.stack[0].end()

    def _add(self, node: _Node) -> None:
        self.stack[-1].items.append(node)

    def _repetition(self, char: str) -> None:
        items = self.stack[-1].items
        if not items:
            raise _invalid("missing argument to repetition operator")
        if char == "{":
            counts = self._counts()
            assert counts is not None
            low, high, self.at = counts
            if low > _MAX_REPEAT or (high is not None and (high > _MAX_REPEAT or low > high)):
                raise _invalid("invalid repeat count")
        else:
            low, high = (1, None) if char == "+" else (0, None if char == "*" else 1)
            self.at += 1
        if self.text.startswith("?", self.at):
            self.at += 1
        items[-1] = _repeat(items[-1], low, high)

    def _counts(self) -> tuple[int, int | None, int] | None:
        """(low, high, index after it) of ``{n}``, ``{n,}``, ``{n,m}`` here; None: the brace is a literal."""
        end = self.text.find("}", self.at, self.at + 32)
        if end < 0:
            return self._long_counts()
        low, comma, high = self.text[self.at + 1 : end].partition(",")
        if not _is_number(low) or (comma and high and not _is_number(high)):
            return None
        upper = int(low) if not comma else int(high) if high else None
        return int(low), upper, end + 1

    def _long_counts(self) -> tuple[int, int | None, int] | None:
        """A count of dozens of digits is a repetition too, and beyond its bound."""
        end = self.text.find("}", self.at)
        low, _, high = self.text[self.at + 1 : end].partition(",")
        if end >= 0 and _is_number(low) and (not high or _is_number(high)):
            raise _invalid("invalid repeat count")
        return None

    def _open(self) -> None:
        text, at = self.text, self.at
        if not text.startswith("(?", at):
            self.stack.append(_Group(capture=True))
            self.at += 1
            return
        if text.startswith(("(?P<", "(?<"), at):
            end = text.find(">", at)
            if end < 0:
                raise _invalid("invalid named capture")
            self.stack.append(_Group(capture=True))
            self.at = end + 1
            return
        end = at + 2
        while end < len(text) and text[end] in "imsU-":
            end += 1
        if end < len(text) and text[end] == ":":
            self.stack.append(_Group(capture=False))
        elif end >= len(text) or text[end] != ")":
            raise _invalid("invalid or unsupported Perl syntax")
        # Flags alone are no expression: what is repeated after them must stand before them.
        self.at = end + 1

    def _close(self) -> None:
        if len(self.stack) == 1:
            raise _invalid("unexpected )")
        group = self.stack.pop()
        self._add(group.end())
        self.at += 1

    def _class(self) -> None:
        """Skip ``[…]``: whatever is inside is one instruction."""
        text, at = self.text, self.at + 1
        if text.startswith("^", at):
            at += 1
        first = True
        while first or not text.startswith("]", at):
            first = False
            if at >= len(text):
                raise _invalid("missing closing ]")
            if text.startswith("[:", at) and (end := text.find(":]", at + 2)) >= 0:
                at = end + 2
                continue
            named = text[at : at + 2] in _CLASS_ESCAPES
            at = self._class_char(at)
            # The upper end of a range may be a bracket: in ``[+-[:a]`` no named class begins.
            if not named and text.startswith("-", at) and not text.startswith("]", at + 1):
                at = self._class_char(at + 1)
        self.at = at + 1
        self._add(_Node(1))

    def _class_char(self, at: int) -> int:
        """Index after the character or escape sequence at ``at`` inside a class."""
        if at >= len(self.text):
            raise _invalid("missing closing ]")
        return self._escaped(at) if self.text[at] == "\\" else at + 1

    def _escape(self) -> None:
        text, at = self.text, self.at
        if text.startswith("\\Q", at):
            end = text.find("\\E", at)
            stop = len(text) if end < 0 else end
            for _ in range(stop - at - 2):
                self._add(_Node(1, literal=True))
            self.at = len(text) if end < 0 else end + 2
            return
        self.at = self._escaped(at)
        char = text[at + 1]
        if char == "C":
            raise _invalid("invalid escape sequence")
        # Go counts the empty string where \E stands alone; RE2 refuses it, so it never gets here.
        self._add(_Node(1, nullable=char in "AbBz", literal=char not in "AbBzpPdDsSwW"))

    def _escaped(self, at: int) -> int:
        """Index after the escape sequence at ``at``."""
        text = self.text
        if at + 1 >= len(text):
            raise _invalid("trailing backslash at end of expression")
        char = text[at + 1]
        if char in "pPx" and text.startswith("{", at + 2):
            end = text.find("}", at)
            if end < 0:
                raise _invalid("invalid escape sequence")
            return end + 1
        if char in "pP":
            return at + 3
        if char == "x":
            return at + 4
        if char in "01234567":
            end = at + 2
            while end < min(len(text), at + 4) and text[end] in "01234567":
                end += 1
            return end
        return at + 2


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")


def count_instructions(pattern: str) -> int:
    """Instructions of Go's compiled program for ``pattern``, or a few more; never fewer.

    Raises InvalidPattern where the syntax is broken or nests too deeply. Nothing is expanded.
    """
    return _FIXED + _Parser(pattern).node().size


class Pattern:
    """A pattern within its bounds; ``instructions`` is its count. Only ``compile_pattern`` makes one."""

    __slots__ = ("_search", "ignore_case", "instructions", "text")

    def __init__(self, text: bytes, ignore_case: bool, instructions: int) -> None:
        import re2

        options = re2.Options()
        options.log_errors = False  # RE2 would print the pattern on stderr
        options.max_mem = _MAX_MEMORY
        options.never_capture = True
        options.case_sensitive = not ignore_case
        try:
            self._search = re2.compile(text, options).search
        except re2.error as error:
            reason = error.args[0] if error.args else b""
            if isinstance(reason, bytes):
                reason = reason.decode("utf-8", "replace")
            # RE2 quotes the pattern after the colon; the first part names the rule.
            raise _invalid(str(reason).partition(":")[0]) from None
        self.text = text
        self.ignore_case = ignore_case
        self.instructions = instructions

    def matches(self, field: bytes) -> bool:
        """Whether the pattern is found anywhere in ``field`` (UTF-8)."""
        return self._search(field) is not None


def compile_pattern(pattern: bytes, ignore_case: bool = False) -> Pattern:
    """The pattern, checked in the order size, encoding, syntax, instruction count, RE2.

    Raises InvalidPattern; then nothing was read, rebuilt or searched.
    """
    if len(pattern) > MAX_PATTERN_BYTES:
        raise InvalidPattern(
            f"regex pattern exceeds {MAX_PATTERN_BYTES} bytes ({len(pattern)}); nothing was searched"
        )
    try:
        text = pattern.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidPattern("regex pattern is not valid UTF-8; nothing was searched") from None
    instructions = count_instructions(text)
    if instructions > MAX_INSTRUCTIONS:
        shown = str(instructions) if instructions < _HUGE else f"more than {_HUGE}"
        raise InvalidPattern(
            f"regex pattern needs {shown} instructions, at most {MAX_INSTRUCTIONS} are allowed;"
            " nothing was searched",
            "shorten counted repetitions or alternatives",
        )
    return Pattern(pattern, ignore_case, instructions)
