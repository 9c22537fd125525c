"""Which topic a request belongs to: BM25 over the few texts of a workspace's buckets.

Pure: texts in, ranked matches out. A bucket *matches* when it holds enough of what the request is about
(rare words of the request count more), so that "exactly one matches" can be said, not only "this one is
first". ``rank_bm25`` ranks; it is imported here and nowhere on a hook's path.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ONE, NONE, SEVERAL = "one", "none", "several"
# Share of the request's weight that a bucket must hold to match.
_COVERAGE = 0.3
_STOP_WORDS = frozenset(
    "a about after all also an and any are as at be been but by can could did do does done for from get go "
    "had has have how i if in into is it its just let lets like me my need new no not now of on one or our "
    "out please should so some still than that the their them then there these they this to too up us use "
    "want was we were what when where which who why will with would you your "
    # what every request asks for
    "add change check continue fix help implement keep look make problem run start task try update "
    "work".split()
)


@dataclass(frozen=True)
class Match:
    """A bucket and how well it fits: BM25 ``score``, and the share of the request it ``covers``."""

    topic: str
    score: float
    covers: float


@dataclass(frozen=True)
class Suggestion:
    """``verdict``: one, none or several buckets match; ``matches``: those, best first."""

    verdict: str
    matches: tuple[Match, ...]


def words(text: str) -> list[str]:
    """Words of ``text`` for matching: lower case, camelCase and punctuation split, common endings off."""
    spaced: list[str] = []
    before = ""
    for char in text:
        if not char.isalnum():
            spaced.append(" ")
        else:
            if char.isupper() and before.islower():
                spaced.append(" ")
            spaced.append(char.lower())
        before = char
    return [_stem(word) for word in "".join(spaced).split() if word not in _STOP_WORDS]


def _stem(word: str) -> str:
    for ending, least in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4), ("y", 5), ("e", 5)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def rank(request: str, buckets: Mapping[str, Sequence[str]]) -> Suggestion:
    """Rank ``buckets`` (topic → its texts: name, summary, spec, notes) against ``request``."""
    from rank_bm25 import BM25Plus

    query = list(dict.fromkeys(words(request)))
    topics = list(buckets)
    corpus = [[word for text in (topic, *buckets[topic]) for word in words(text)] for topic in topics]
    if not query or not any(corpus):
        return Suggestion(NONE, ())
    holding = {word: sum(word in document for document in corpus) for word in query}
    # A word that no bucket holds says as much about the request as one that a single bucket holds.
    weight = {word: math.log((len(corpus) + 1) / (max(holding[word], 1) + 0.5)) + 0.1 for word in query}
    whole = sum(weight.values())
    scores = BM25Plus(corpus).get_scores(query)
    matches = []
    for topic, document, score in zip(topics, corpus, scores, strict=True):
        held = [word for word in query if word in document]
        covers = sum(weight[word] for word in held) / whole
        named = set(words(topic)).issubset(query) and bool(words(topic))
        if held and (covers >= _COVERAGE or named):
            matches.append(Match(topic, round(float(score), 4), round(covers, 4)))
    matches.sort(key=lambda match: (-match.covers, -match.score, match.topic))
    verdict = {0: NONE, 1: ONE}.get(len(matches), SEVERAL)
    return Suggestion(verdict, tuple(matches))
