"""Phrases over words: what the correction detector is written in.

A phrase is words with a few marks, matched against the words of one sentence:

    one|two      either word                    guess*     a word that starts so
    ?word|other  may be absent                  *ing       a word that ends so
    ~            up to three words              ~~         up to twelve words
    @name        a class of words               @@         any number of adverbs
    ^            the start of the sentence      $          its end (a question mark is no end)
    ,            a comma or a colon             one|$      a word or the end

Regular expressions would need ``re`` and the compiling of each pattern in every process; a
hook pays for both at every prompt. For the same reason a phrase is compiled when a prompt
first has a word that it cannot do without. Gaps are bounded, so the work is linear in the
sentence. Pure.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    Test = Callable[[str], bool]
    Item = tuple[int, int, Test]

_GAPS = {"~": 3, "~~": 12}
_ONE, _MAYBE, _MANY, _GAP, _START, _END, _STOP = range(7)
_PLAIN_MARKS = "~^?@$,"


class Phrase:
    """A phrase with the label that it stands for."""

    __slots__ = ("_classes", "_items", "_needs", "label", "text")

    def __init__(self, text: str, label: str, classes: Mapping[str, Test | frozenset[str]]) -> None:
        self.text = text
        self.label = label
        self._classes = classes
        self._items: list[Item] = []
        self._needs = _needed(text, classes)

    def possible(self, words: set[str]) -> bool:
        """Whether a text of these words can have the phrase; costs next to nothing."""
        return self._needs is None or not words.isdisjoint(self._needs)

    def search(self, words: Sequence[str]) -> int:
        """Index in ``words`` at which the phrase starts, or -1."""
        if not self._items:
            self._items = [_item(part, self._classes) for part in self.text.split()]
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
            elif kind == _END:
                if at != len(words):
                    return False
            elif kind == _STOP and at == len(words):
                pass
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


def _needed(text: str, classes: Mapping[str, Test | frozenset[str]]) -> Collection[str] | None:
    """The words of the item with the fewest: one of them has to be there. None: cannot be told."""
    best: Collection[str] | None = None
    for part in text.split():
        if part[0] == "@" and "|" not in part and part != "@@":
            named = classes[part[1:]]
            choices: Collection[str] | None = named if isinstance(named, frozenset) else None
        elif part[0] in _PLAIN_MARKS or "*" in part or "@" in part or "$" in part:
            continue
        else:
            choices = part.split("|")
        if choices is not None and (best is None or len(choices) < len(best)):
            best = choices
    return best


def _item(part: str, classes: Mapping[str, Test | frozenset[str]]) -> Item:
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


def _class(name: str, classes: Mapping[str, Test | frozenset[str]]) -> Test:
    found = classes[name]
    return found.__contains__ if isinstance(found, frozenset) else found


def _test(part: str, classes: Mapping[str, Test | frozenset[str]]) -> Test:
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
