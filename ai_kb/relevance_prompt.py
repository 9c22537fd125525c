"""A prompt as a query: which words count how much, and what kind of prompt it is.

A short prompt counts whole. In a long one, people write before or after what they paste:
those lines count fully, as do lines that report an error; frames of a stack trace and the rest
of a paste hardly count. What is read is bounded (``MAX_READ`` characters, ``MAX_TOKENS`` tokens),
so a prompt of any size costs about the same.

The kind of prompt comes from general signs (``Signs``): words of trouble, a sentence that turns
(*but*, *although*), or an errand that begins with *list*, *rename*, *explain*. An errand seldom needs a
memory of what went wrong, a report of trouble often does. Pure, standard library only.
"""

from __future__ import annotations

from ai_kb import relevance_lists as lists
from ai_kb.relevance_words import is_function_word
from ai_kb.search_tokens import PAIR, PART, scan

MAX_READ = 48_000  # characters looked at: the first two thirds and the last third of them
MAX_TOKENS = 700
_MAX_LINE = 1_200
_MAX_FULL_LINES = 16  # lines of a paste that count fully
_MAX_LINES = 60
_PASTE_LINES = 6  # from here on a prompt is taken to hold pasted lines
_PROSE_LINES = 3  # at each end of a long prompt

_PROSE, _ERROR, _OTHER, _FRAME = 1.0, 0.9, 0.2, 0.15
_PART_WEIGHT = 0.7
_PAIR_WEIGHT = 0.6

_ERROR_SIGNS = (
    "error", "exception", "fail", "fatal", "panic", "cannot", "can't", "denied", "refused", "undefined",
    "not found", "unable", "invalid", "unexpected", "timed out", "timeout", "killed", "warn", "blocked",
    "exceed", "missing", "does not", "doesn't", "abort", "traceback", "conflict",
)  # fmt: skip
_FRAME_STARTS = ("at ", 'File "', "... ", "goroutine ", "created by ", "from ", "#")
_DIGITS = str.maketrans("0123456789", "0" * 10)


class Signs:
    """What kind of prompt it is.

    Attributes:
        turn: it has a word such as *but*, *although*, *since*.
        asking: it begins as a question, or as an errand that ends in text.
        changing: it begins as an errand that changes something.
    """

    __slots__ = ("asking", "changing", "turn")

    def __init__(self, turn: bool, asking: bool, changing: bool) -> None:
        self.turn = turn
        self.asking = asking
        self.changing = changing


class Prompt:
    """A prompt as a query.

    Attributes:
        weights: token → how much it counts, over 0 up to 1; function words left out.
        neighbours: pairs of tokens that stand side by side, function words left out.
        signs: what kind of prompt it is.
    """

    __slots__ = ("neighbours", "signs", "weights")

    def __init__(self, weights: dict[str, float], neighbours: set[tuple[str, str]], signs: Signs) -> None:
        self.weights = weights
        self.neighbours = neighbours
        self.signs = signs


def read_prompt(text: str, *, prose: bool = False) -> Prompt:
    """``text`` as a query; never fails, whatever it holds.

    Args:
        prose: no line is taken for a paste.
    """
    if len(text) > MAX_READ:
        text = text[: MAX_READ * 2 // 3] + "\n" + text[-MAX_READ // 3 :]
    weights: dict[str, float] = {}
    neighbours: set[tuple[str, str]] = set()
    words: set[str] = set()
    opening = ""
    left = MAX_TOKENS
    for weight, line in _weighted_lines(text, prose):
        tokens = scan(line)[:left]
        left -= len(tokens)
        if weight >= _ERROR:
            words.update(token for token, _ in tokens)
        if not opening and weight == _PROSE:
            opening = line
        before = ""
        for token, kind in tokens:
            if is_function_word(token):
                continue
            if before:
                neighbours.add((before, token))
            before = token
            counts = weight * (_PART_WEIGHT if kind is PART else _PAIR_WEIGHT if kind is PAIR else 1.0)
            if counts > weights.get(token, 0.0):
                weights[token] = counts
        if left <= 0:
            break
    return Prompt(weights, neighbours, Signs(not words.isdisjoint(lists.TURNS), *_errand(opening)))


def _errand(line: str) -> tuple[bool, bool]:
    """Whether a line asks for something to be told or made, and whether for something to be changed."""
    asking = changing = False
    clauses = line[:_MAX_ERRAND].replace(". ", "\n").translate(_CLAUSES).split("\n")
    for place, clause in enumerate(clauses):
        words = clause.split()
        while words and words[0].lower() in lists.OPENING:
            del words[0]
        words = _without_request(words)
        if not words:
            continue
        verb, after = words[0].lower(), words[1].strip(":'").replace("'", "") if len(words) > 1 else ""
        # "search box shows …" gives no order; "search the logs" and "upload LICENSE" do.
        if verb in lists.NOUNS and after.isalpha() and after.islower() and after not in lists.DETERMINERS:
            continue
        asking = asking or verb in lists.ASKING or (place == 0 and verb in lists.QUESTIONS)
        changing = changing or verb in lists.CHANGING
    return asking, changing


def _without_request(words: list[str]) -> list[str]:
    """``can you please add …`` and ``i want you to add …`` as ``add …``."""
    if len(words) < 3:
        return words
    first, second = words[0].lower(), words[1].lower()
    if not ((first in _SUBJECTS and second in _WISHES) or (first in _MODALS and second in _SUBJECTS)):
        return words
    start = 2
    while start < len(words) and words[start].lower() in _FILLERS:
        start += 1
    return words[start:]


_CLAUSES = str.maketrans(",;!?()", "\n" * 6)
_SUBJECTS = frozenset("i we you".split())
_WISHES = frozenset("want need would'd should must".split())
_MODALS = frozenset("can could would will".split())
_FILLERS = frozenset("to you please just also like us".split())
_MAX_ERRAND = 400


def _weighted_lines(text: str, all_prose: bool) -> list[tuple[float, str]]:
    """Lines with their weight, the ones that count most first where not all can be read."""
    lines = text.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if all_prose or len(filled) < _PASTE_LINES:
        return [(_PROSE, _bounded(lines[number])) for number in filled]
    prose = _ends(filled) | _ends(filled[::-1])
    seen: set[str] = set()
    full: list[tuple[float, str]] = []
    rest: list[tuple[float, str]] = []
    for number in filled:
        line = _bounded(lines[number])
        shape = line.strip().translate(_DIGITS)
        if shape in seen:
            continue
        seen.add(shape)
        if _is_frame(line):
            rest.append((_FRAME, line))
        elif any(sign in line.lower() for sign in _ERROR_SIGNS):
            full.append((_ERROR, line))
        elif number in prose:
            full.append((_PROSE, line))
        else:
            rest.append((_OTHER, line))
    if len(full) > _MAX_FULL_LINES:  # the first ones say what was done, the last ones how it ended
        full = full[: _MAX_FULL_LINES // 2] + full[-_MAX_FULL_LINES // 2 :]
    return full + rest[: _MAX_LINES - len(full)]


def _bounded(line: str) -> str:
    return line if len(line) <= _MAX_LINE else line[: _MAX_LINE // 2] + " " + line[-_MAX_LINE // 2 :]


def _ends(filled: list[int]) -> set[int]:
    """The first lines of ``filled`` up to a blank line, at most three."""
    found = filled[:1]
    for number in filled[1:_PROSE_LINES]:
        if abs(number - found[-1]) > 1:
            break
        found.append(number)
    return set(found)


def _is_frame(line: str) -> bool:
    """Whether a line looks like a place in a stack trace: ``at f (x.js:1:2)``, ``/src/a.go:47 +0x7d``."""
    stripped = line.strip()
    if stripped.startswith(_FRAME_STARTS):
        return True
    place, _, number = stripped.split(maxsplit=1)[0].partition(":")
    return number[:1].isdigit() and "." in place
