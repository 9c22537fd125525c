"""Whether two short texts say (almost) the same in (almost) the same words.

For `remember` (refuses what is known) and `harvest` (marks it). The private index gives the few that are
worth comparing (``alike``); of many, BM25 picks some; the share of common words decides. A paraphrase
in other words is not recognised, and that is intended: only a person can say that two sentences mean
the same. Not for hooks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from ai_kb.spelling import words

__all__ = ["ALMOST_IDENTICAL", "SAME_TITLE", "Corpus", "Known", "likeness", "words"]

ALMOST_IDENTICAL = 0.85  # share of common words, both sides together
SAME_TITLE = 0.5  # share that suffices below a title of the same words
_SHORTLIST = 25
_COMPARE_ALL = 200  # up to so many, BM25 costs more than it saves


class Known(NamedTuple):
    """A capsule that is in a store: ``lifecycle`` as projected, ``store`` is ``home`` or ``repo``."""

    id: str
    title: str
    body: str
    lifecycle: str
    store: str


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Share of common words, 0 to 1 (Dice over multisets)."""
    if not one or not other:
        return 0.0
    common = sum((Counter(one) & Counter(other)).values())
    return 2 * common / (len(one) + len(other))


class Corpus:
    """Texts to compare with, prepared once."""

    def __init__(self, known: Sequence[Known]) -> None:
        self.known = list(known)
        self._titles = [words(k.title) for k in self.known]
        self._words = [t + words(k.body) for t, k in zip(self._titles, self.known, strict=True)]
        self._ranking: Any = None

    def most_alike(self, title: str, body: str) -> tuple[Known, float] | None:
        """The known text that is (almost) identical to ``title`` and ``body``, the most alike first."""
        heading = words(title)
        query = heading + words(body)
        best: tuple[float, int] | None = None
        for index in self._shortlist(query):
            share = likeness(query, self._words[index])
            enough = SAME_TITLE if heading and heading == self._titles[index] else ALMOST_IDENTICAL
            if share >= enough and (best is None or share > best[0]):
                best = (share, index)
        return None if best is None else (self.known[best[1]], best[0])

    def _shortlist(self, query: Sequence[str]) -> Sequence[int]:
        if len(self.known) <= _COMPARE_ALL:
            return range(len(self.known))
        from rank_bm25 import BM25Plus  # its idf is never negative

        if self._ranking is None:
            self._ranking = BM25Plus(self._words)
        scores = self._ranking.get_scores(list(query))
        order = scores.argsort()[::-1][:_SHORTLIST]
        return [int(i) for i in order]
