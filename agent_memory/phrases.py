"""Phrases over words: what the correction detector is written in.

A phrase is words with a few marks, matched against the words of one sentence:

    one|two      either word                    guess*     a word that starts so
    ?word|other  may be absent                  *ing       a word that ends so
    ~            up to three words without a comma or colon
    ..           up to eight words of one clause           ~~  up to twelve words
    @name        a class of words               @@         any number of adverbs
    ^            the start of the sentence      $          its end
    ,            a comma or a colon             one|$      a word or the end
    =one|two     one of these has to be there: the rarest item is marked so, and a phrase is
                 compiled only for a prompt that has such a word

Regular expressions would need ``re`` and the compiling of each pattern in every process; a
hook pays for both at every prompt. Gaps are bounded, so the work is linear in the sentence. Pure.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Test = Callable[[str], bool]
    Classes = Mapping[str, Test | frozenset[str]]

_GAPS = {"~": 3, "..": 8, "~~": 12}
# The words that a gap of so many words does not go beyond.
_BREAKS: dict[int, frozenset[str]] = {
    3: frozenset({",", ":"}),
    8: frozenset(", : so then please now but because and".split()),
    12: frozenset(),
}
_ONE, _MAYBE, _MANY, _GAP, _START, _END, _STOP = range(7)


def possible(text: str, words: set[str], classes: Classes) -> bool:
    """Whether a text of these ``words`` can have the phrase ``text``; costs next to nothing."""
    at = text.find("=")
    if at < 0:
        return True
    end = text.find(" ", at)
    item = text[at + 1 : end] if end >= 0 else text[at + 1 :]
    if item[0] == "@":
        named = classes[item[1:]]
        return not isinstance(named, frozenset) or not words.isdisjoint(named)
    return not words.isdisjoint(item.split("|"))


class Phrase:
    """A compiled phrase."""

    __slots__ = ("_items",)

    def __init__(self, text: str, classes: Classes) -> None:
        self._items = [_item(part.lstrip("="), classes) for part in text.split()]

    def search(self, words: Sequence[str]) -> int:
        """Index in ``words`` at which the phrase starts, or -1."""
        starts = 1 if self._items[0][0] == _START else len(words)
        for start in range(starts):
            if self._matches(words, start, 0):
                return start
        return -1

    def _matches(self, words: Sequence[str], at: int, item: int) -> bool:
        for index in range(item, len(self._items)):
            kind, width, test = self._items[index]
            if kind == _GAP:
                return self._after_gap(words, at, index, width)
            if kind == _START:
                if at != 0:
                    return False
            elif kind == _END:
                if at != len(words):
                    return False
            elif kind == _STOP and at == len(words):
                continue
            elif kind == _MANY:
                if at < len(words) and test(words[at]) and self._matches(words, at + 1, index):
                    return True
            elif kind == _MAYBE:
                if at < len(words) and test(words[at]) and self._matches(words, at + 1, index + 1):
                    return True
            elif at < len(words) and test(words[at]):
                at += 1
            else:
                return False
        return True

    def _after_gap(self, words: Sequence[str], at: int, index: int, width: int) -> bool:
        breaks = _BREAKS[width]
        for position in range(at, min(len(words), at + width) + 1):
            if self._matches(words, position, index + 1):
                return True
            if position < len(words) and words[position] in breaks:
                return False
        return False


def _item(part: str, classes: Classes) -> tuple[int, int, Test]:
    if part in _GAPS:
        return _GAP, _GAPS[part], _never
    if part == "^":
        return _START, 0, _never
    if part == "$":
        return _END, 0, _never
    if part == "@@":
        return _MANY, 0, _class("adverb", classes)
    if part.endswith("|$"):
        return _STOP, 0, _test(part[:-2], classes)
    if part.startswith("?") and part != "?":
        return _MAYBE, 0, _test(part[1:], classes)
    return _ONE, 0, _test(part, classes)


def _never(_: str) -> bool:
    return False


def _class(name: str, classes: Classes) -> Test:
    found = classes[name]
    return found.__contains__ if isinstance(found, frozenset) else found


def _test(part: str, classes: Classes) -> Test:
    """A test for one word from ``a|b``, ``pre*``, ``*suf``, ``@class``, or a mixture."""
    exact: set[str] = set()
    starts: list[str] = []
    ends: list[str] = []
    others: list[Test] = []
    for choice in part.split("|"):
        if choice.startswith("@"):
            others.append(_class(choice[1:], classes))
        elif choice.endswith("*"):
            starts.append(choice[:-1])
        elif choice.startswith("*"):
            ends.append(choice[1:])
        else:
            exact.update({",", ":"} if choice == "," else {choice})
    if not (starts or ends or others):
        return exact.__contains__
    prefixes, suffixes = tuple(starts), tuple(ends)

    def test(word: str) -> bool:
        return (
            word in exact
            or (bool(prefixes) and word.startswith(prefixes))
            or (bool(suffixes) and word.endswith(suffixes))
            or any(other(word) for other in others)
        )

    return test
