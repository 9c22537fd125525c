"""JSON with comments and trailing commas: its value, and where its parts stand in the text.

For editing settings files without touching a byte that is not ours: ``loads`` judges a
text and gives its value; ``outline`` gives a tree whose nodes carry their span, so that an
editor can insert and delete text instead of writing the file anew. Accepted is what JSON
accepts, ``//`` and ``/* */`` comments and one trailing comma per container; nothing else (no
single quotes, no bare words), because guessing at broken settings is how settings get lost.
"""

from __future__ import annotations

import json
import re
from typing import Any

from agent_base.errors import SuiteError

MAX_DEPTH = 200

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)+", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"true|false|null")
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[\]}])', re.DOTALL)
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/|[\[\]{}]', re.DOTALL)


class NotJson(SuiteError):
    """The text is not JSON, not even with comments and trailing commas."""

    code = "not-json"


class Item:
    """One member of an object or element of an array.

    ``start`` is where the key (or the element) begins, ``value`` the node, ``comma`` the
    position of the comma that follows it, or -1.
    """

    __slots__ = ("comma", "key", "start", "value")

    def __init__(self, key: str | None, start: int, value: Node) -> None:
        self.key = key
        self.start = start
        self.value = value
        self.comma = -1


class Node:
    """A value: ``kind`` is ``object``, ``array``, ``scalar`` or ``skipped``; text[start:end] is its text."""

    __slots__ = ("end", "items", "kind", "scalar", "start")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.end = start
        self.items: list[Item] = []
        self.scalar: Any = None

    def member(self, key: str) -> Item | None:
        """The member with this key that readers honour: the last one."""
        return next((item for item in reversed(self.items) if item.key == key), None)

    def plain(self) -> Any:
        """The value as json.loads would give it."""
        if self.kind == "object":
            return {item.key: item.value.plain() for item in self.items}
        if self.kind == "array":
            return [item.value.plain() for item in self.items]
        return self.scalar


def kind_of(value: Any) -> str:
    """What a JSON value is, for a message."""
    if value is None:
        return "null"
    names = {bool: "a boolean", str: "a string", dict: "an object", list: "an array"}
    return names.get(type(value), "a number")


def skip(text: str, at: int) -> int:
    """Position of the next token at or after ``at``: past white space and comments."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _where(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return f"line {line}, column {column}"


def plain(text: str) -> str:
    """``text`` as plain JSON of the same length: comments and trailing commas become spaces."""

    def blank(found: re.Match[str]) -> str:
        word = found.group()
        return word if word[0] == '"' else re.sub(r"[^\r\n]", " ", word)

    text = _COMMENT.sub(blank, text)

    def trailing(found: re.Match[str]) -> str:
        word = found.group()
        if word != ",":
            return word
        at = found.start() - 1
        while at > 0 and text[at].isspace():
            at -= 1
        return "," if text[at] in "[{,:" else " "

    return _TRAILING.sub(trailing, text)


def is_plain(text: str) -> bool:
    """Whether ``text`` is JSON without comments and trailing commas."""
    try:
        json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError, NotJson):
        return False
    return True


def loads(text: str) -> Any:
    """The value of ``text``.

    Raises:
        NotJson: with line and column, and what was found there.
    """
    try:
        if is_plain(text):
            return json.loads(text)
        return json.loads(plain(text), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        found = "the end of the file" if error.pos >= len(text) else json.dumps(text[error.pos :][:12])
        raise NotJson(f"line {error.lineno}, column {error.colno}: {error.msg}, found {found}") from error
    except RecursionError as error:
        raise NotJson("nested too deeply") from error


def _no_constant(word: str) -> None:
    raise NotJson(f"{word} is not JSON")


def _fail(text: str, at: int, expected: str) -> NotJson:
    found = "the end of the file" if at >= len(text) else json.dumps(text[at : at + 12])
    return NotJson(f"{_where(text, at)}: expected {expected}, found {found}")


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise _fail(text, at, "a string")
    return str(json.loads(found.group())), found.end()


def _scalar(text: str, at: int) -> Node:
    node = Node("scalar", at)
    char = text[at : at + 1]
    if char == '"':
        node.scalar, node.end = _string(text, at)
        return node
    found = _WORD.match(text, at) or _NUMBER.match(text, at)
    if found is None:
        raise _fail(text, at, "a value")
    node.end = found.end()
    word = found.group()
    node.scalar = _WORDS[word] if word in _WORDS else json.loads(word)
    return node


def _value(text: str, at: int, depth: int) -> Node:
    char = text[at : at + 1]
    if char == "{":
        return _container(text, at, "object", "}", depth)
    if char == "[":
        return _container(text, at, "array", "]", depth)
    return _scalar(text, at)


def _container(text: str, at: int, kind: str, close: str, depth: int) -> Node:
    if depth >= MAX_DEPTH:
        raise NotJson(f"{_where(text, at)}: nested deeper than {MAX_DEPTH} levels")
    node = Node(kind, at)
    at = skip(text, at + 1)
    while text[at : at + 1] != close:
        start, key = at, None
        if kind == "object":
            key, at = _string(text, at)
            at = skip(text, at)
            if text[at : at + 1] != ":":
                raise _fail(text, at, "a colon")
            at = skip(text, at + 1)
        item = Item(key, start, _value(text, at, depth + 1))
        node.items.append(item)
        at = skip(text, item.value.end)
        if text[at : at + 1] == ",":
            item.comma = at
            at = skip(text, at + 1)
        elif text[at : at + 1] != close:
            raise _fail(text, at, f"a comma or {close!r}")
    node.end = at + 1
    return node


def outline(text: str, key: str) -> Node:
    """The tree of a text that ``loads`` gives an object for, with the root's members other than ``key``
    skipped: editing asks for the tree after every step, and settings files can have megabytes."""
    at = skip(text, 0)
    root = Node("object", at)
    at = skip(text, at + 1)
    while text[at] != "}":
        start = at
        name, at = _string(text, at)
        at = skip(text, skip(text, at) + 1)
        item = Item(name, start, _value(text, at, 1) if name == key else _skipped(text, at))
        root.items.append(item)
        at = skip(text, item.value.end)
        if text[at] == ",":
            item.comma = at
            at = skip(text, at + 1)
    root.end = at + 1
    return root


def _skipped(text: str, at: int) -> Node:
    if text[at] not in "{[":
        return _scalar(text, at)
    node = Node("skipped", at)
    depth = 0
    for found in _BRACKET.finditer(text, at):
        char = text[found.start()]
        if char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if not depth:
                node.end = found.end()
                return node
    raise _fail(text, len(text), "a closing bracket")
