"""The few records of a store that may say (almost) the same as a text, found through the private index.

Two texts that are alike share most of their words (``likeness``), so a record that could be alike is one
that holds enough of the words asked about and is of about their length, or has the same title. Which the
rest are does not matter then: the words that the fewest records hold are looked at, as many as it takes
for every record that is alike to hold some of them. How many of those each record holds is counted for
all records at once, in sets of record numbers: what it costs grows with the words of the text, hardly
with the number of records, and nothing is read but the records that are left.

Guarantees: no record that ``likeness.Corpus`` would name is missing from what is given, up to
``MAX_NEAR`` records. Says nothing of lifecycle or trust: the caller says which records count.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ai_kb.capsule import Capsule
from ai_kb.capsule_tables import title_key, word_key
from ai_kb.hn import cache_bits as bits
from ai_kb.hn.cache_index import Index
from ai_kb.likeness import ALMOST_IDENTICAL, SAME_TITLE, Known
from ai_kb.search_tokens import terms
from ai_kb.spelling import words

MAX_NEAR = 400  # records given for one text: those that share most
_ENOUGH_WORDS = 256  # distinct words of a text that are looked up, as long as they tell enough
_MARGIN = 8  # one more word is looked at for so many of a text: fewer records are left then
_CHUNK = 500


def near(
    index: Index, store: str, title: str, body: str, allowed: int, places: Places | None = None
) -> list[Known]:
    """The records of the set ``allowed`` that may be alike, newest first, as ``store`` holds them.

    ``places``, of the same index, is for who asks about several texts.
    """
    return known(index, store, candidates(index, title, body, allowed, places or Places(index)))


def known(index: Index, store: str, numbers: Iterable[int]) -> list[Known]:
    """Records in the form in which texts are compared, newest first."""
    found: list[tuple[str, Known]] = []
    for record in index.records(numbers):
        data = record.data
        topics = data["topics"]
        assert isinstance(topics, list)
        capsule = Capsule(str(data["kind"]), str(data["content"]), topics)
        lifecycle = index.lifecycle_of(record.number)
        found.append((record.timestamp, Known(record.id, capsule.title, capsule.body, lifecycle, store)))
    found.sort(key=lambda entry: (entry[0], entry[1].id), reverse=True)
    return [entry for _, entry in found]


def candidates(index: Index, title: str, body: str, allowed: int, places: Places) -> list[int]:
    """Numbers of the records of ``allowed`` that may be alike, in no order."""
    heading = words(title)
    asked = _counted(heading + words(body))
    size = sum(asked.values())
    if not size or not allowed:
        return []
    # Words: a record that lacks fewer of them holds one of any so many.
    needed = size - _least_common(size) + 1
    pool = _telling(asked, needed)
    chosen = places.rarest(pool, asked, needed + size // _MARGIN)
    found = _sharing(index, heading, asked, chosen, allowed, places)
    if len(found) > MAX_NEAR and len(chosen) < len(pool):  # only all of the words tell who shares most
        found = _sharing(index, heading, asked, pool, allowed, places)
    found.sort(reverse=True)
    return [number for _, number in found[:MAX_NEAR]]


def _sharing(
    index: Index,
    heading: Sequence[str],
    asked: Mapping[str, int],
    chosen: Sequence[str],
    allowed: int,
    places: Places,
) -> list[tuple[float, int]]:
    """(share, number) of the records that may be alike as far as the words ``chosen`` tell, in no order.

    The share is the greatest that is possible: the words that were not chosen count as held.
    """
    size = sum(asked.values())
    unread = size - sum(asked[word] for word in chosen)
    held = places.members(chosen)
    holding = _Counter({word: held[word] & allowed for word in chosen}, asked)
    many = list(bits.members(holding.at_least(_least_common(size) - unread) & allowed))
    enough = dict.fromkeys(_rows(index, "number, words", "search_alike", "number", many), ALMOST_IDENTICAL)
    if heading:
        titled = _rows(index, "number, words", "search_alike", "title", [title_key(heading)])
        enough.update((row, SAME_TITLE) for row in titled if allowed >> row[0] & 1)
    found: list[tuple[float, int]] = []
    for (number, length), wanted in enough.items():
        common = min(holding.of(number) + unread, size, length)
        share = 2 * common / (size + length)
        if share >= wanted:
            found.append((share, number))
    return found


def _counted(text: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in text:
        counts[word] = counts.get(word, 0) + 1
    return counts


def _least_common(size: int) -> int:
    """How many words a record must share with a text of ``size`` words to be almost identical: with fewer,
    even a record that holds nothing else is not."""
    common = size
    while common > 1 and 2 * (common - 1) / (size + common - 1) >= ALMOST_IDENTICAL:
        common -= 1
    return common


def _telling(asked: Mapping[str, int], weight: int) -> list[str]:
    """Words to look up: all of a short text; of a long one the long words, of at least ``weight`` in all."""
    if len(asked) <= _ENOUGH_WORDS:
        return list(asked)
    chosen: list[str] = []
    for word in sorted(asked, key=len, reverse=True):
        if len(chosen) >= _ENOUGH_WORDS and weight <= 0:
            break
        chosen.append(word)
        weight -= asked[word]
    return chosen


class Places:
    """Which records of an index hold a word, each looked up once: for one text, or for several."""

    __slots__ = ("_frequency", "_index", "_members")

    def __init__(self, index: Index) -> None:
        self._index = index
        self._frequency: dict[str, int] = {}
        self._members: dict[str, int] = {}

    def rarest(self, pool: Iterable[str], asked: Mapping[str, int], weight: int) -> list[str]:
        """The words of ``pool`` that fewest records hold, of ``weight`` in all, or all when it has less.

        How many hold a word is taken from its stems in ``search``: which words are chosen changes what it
        costs, not what is found.
        """
        stems = {word: terms(word) for word in pool}
        unknown = sorted({stem for found in stems.values() for stem in found} - self._frequency.keys())
        self._frequency.update(dict.fromkeys(unknown, 0))
        self._frequency.update(_rows(self._index, "term, records", "search_terms", "term", unknown))
        chosen: list[str] = []
        for word in sorted(
            stems, key=lambda word: min((self._frequency[stem] for stem in stems[word]), default=sys.maxsize)
        ):
            if weight <= 0:
                break
            chosen.append(word)
            weight -= asked[word]
        return chosen

    def members(self, words: Sequence[str]) -> dict[str, int]:
        """The set of the records that hold each word."""
        fresh = [word for word in words if word not in self._members]
        keys = {word_key(word): word for word in fresh}
        spelled: dict[str, list[int]] = {word: [] for word in fresh}
        for key, number in _rows(self._index, "word, number", "search_spelled", "word", list(keys)):
            spelled[keys[key]].append(number)
        for word in fresh:
            self._members[word] = self._index.read_set(bits.TOKEN, word) | bits.union(spelled[word])
        return {word: self._members[word] for word in words}


def _rows(
    index: Index, columns: str, table: str, key: str, values: Sequence[object]
) -> list[tuple[Any, int]]:
    """Two ``columns`` of the rows of ``table`` whose ``key`` is one of ``values``."""
    found: list[tuple[Any, int]] = []
    for start in range(0, len(values), _CHUNK):
        part = values[start : start + _CHUNK]
        marks = ",".join("?" * len(part))
        found.extend(index.conn.execute(f"SELECT {columns} FROM {table} WHERE {key} IN ({marks})", part))
    return found


class _Counter:
    """How many of some sets each number is in: the bits of all counts side by side, so that adding a set
    is a few operations on long integers."""

    __slots__ = ("_bytes", "_planes")

    def __init__(self, sets: Mapping[str, int], weights: Mapping[str, int]) -> None:
        planes: list[int] = []
        for word, members in sets.items():
            weight, place = weights[word], 0
            while weight:
                if weight & 1:
                    _add(planes, members, place)
                weight >>= 1
                place += 1
        self._planes = planes
        self._bytes = [plane.to_bytes(plane.bit_length() // 8 + 1, "little") for plane in planes]

    def at_least(self, count: int) -> int:
        """The numbers that are in so many sets, at least one."""
        more, equal = 0, -1
        for place in range(max(len(self._planes), count.bit_length()) - 1, -1, -1):
            plane = self._planes[place] if place < len(self._planes) else 0
            if count >> place & 1:
                equal &= plane
            else:
                more |= equal & plane
                equal &= ~plane
        return more | equal

    def of(self, number: int) -> int:
        """How many sets ``number`` is in."""
        at, bit = number >> 3, number & 7
        return sum((data[at] >> bit & 1) << place for place, data in enumerate(self._bytes) if at < len(data))


def _add(planes: list[int], members: int, place: int) -> None:
    carry = members
    while carry:
        while place >= len(planes):
            planes.append(0)
        planes[place], carry = planes[place] ^ carry, planes[place] & carry
        place += 1
