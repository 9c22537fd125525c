"""Phrases over words: what the correction detector is written in.

A phrase is words with a few marks, matched against the words of one sentence:

    one|two      either word                    guess*     a word that starts so
    ?word|other  may be absent                  *ing       a word that ends so
    ~            up to three words              ~~         up to twelve words
    @name        a class of words               @@         any number of adverbs
    ^            the start of the sentence

Regular expressions would need ``re`` and the compiling of each pattern in every process; a
hook pays for both at every prompt. Gaps are bounded, so the work is linear in the sentence. Pure.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Test = Callable[[str], bool]

_GAPS = {"~": 3, "~~": 12}
_ONE, _MAYBE, _MANY, _GAP, _START = range(5)


class Phrase:
    """A compiled phrase with the label that it stands for."""

    __slots__ = ("_items", "label", "text")

    def __init__(self, text: str, label: str, classes: Mapping[str, Test]) -> None:
        self.text = text
        self.label = label
        self._items = [_item(part, classes) for part in text.split()]

    def search(self, words: Sequence[str]) -> int:
        """Index in ``words`` at which the phrase starts, or -1."""
        for start in range(len(words)):
            if self._matches(words, start, 0):
                return start
        return -1

    def _matches(self, words: Sequence[str], at: int, item: int) -> bool:
        for index in range(item, len(self._items)):
            kind, width, test = self._items[index]
            if kind == _GAP:
                most = min(len(words), at + width)
                return any(self._matches(words, position, index + 1) for position in range(at, most + 1))
            if kind == _START:
                if at != 0:
                    return False
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


def _item(part: str, classes: Mapping[str, Test]) -> tuple[int, int, Test]:
    if part in _GAPS:
        return _GAP, _GAPS[part], _never
    if part == "^":
        return _START, 0, _never
    if part == "@@":
        return _MANY, 0, classes["adverb"]
    if part.startswith("?"):
        return _MAYBE, 0, _test(part[1:], classes)
    return _ONE, 0, _test(part, classes)


def _never(_: str) -> bool:
    return False


def _test(part: str, classes: Mapping[str, Test]) -> Test:
    """A test for one word from ``a|b``, ``pre*``, ``*suf``, ``@class``, or a mixture."""
    exact: set[str] = set()
    starts: list[str] = []
    ends: list[str] = []
    others: list[Test] = []
    for choice in part.split("|"):
        if choice.startswith("@"):
            others.append(classes[choice[1:]])
        elif choice.endswith("*"):
            starts.append(choice[:-1])
        elif choice.startswith("*"):
            ends.append(choice[1:])
        else:
            exact.add(choice)
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
