"""The gate before automatic injection: which capsules are worth showing beside a prompt, if any.

``select_relevant`` takes the records that share telling words with the prompt, describes each by
a few numbers (``relevance_features``), and turns them into the probability that a person would
want this capsule there: a logistic function whose weights are constants below, fitted by
``scripts/fit_relevance``. What does not reach the threshold is not selected: a wrong memory costs more
than a missing one. No rule speaks of a particular capsule, tool or phrase.

Judging trust and lifecycle is the caller's part (``Source``). Standard library only; hooks import this.
"""

from __future__ import annotations

from math import exp, log

from ai_kb.relevance_features import FEATURES, describe
from ai_kb.relevance_prompt import read_prompt
from ai_kb.search import Collection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ai_kb.search import Source

SHOWN = 3
SHORTEST = 12  # characters; shorter prompts select nothing
THRESHOLD = 0.34  # of the best one
FURTHER_THRESHOLD = 0.4  # of those shown after it

# The more there is to choose from, the more chance offers: taken from the log-odds for each e-fold of
# records beyond the size of the store that the weights were fitted on.
CROWD = 0.3
FITTED_RECORDS = 400

# Printed by scripts/fit_relevance.
BIAS = -6.343
WEIGHTS = {
    "bm25": 1.345,
    "prompt_covered": 1.477,
    "title_covered": 7.208,
    "related_covered": 12.875,
    "tool_differs": -1.198,
    "lead": 3.998,
    "above_background": 0.227,
    "turn": 0.446,
    "asking": -4.146,
    "changing": -1.567,
}


class Selected:
    """A record worth showing: the source's name, its number there, and its probability (0 to 1)."""

    __slots__ = ("number", "score", "source")

    def __init__(self, source: str, number: int, score: float) -> None:
        self.source = source
        self.number = number
        self.score = score


def probability(features: Sequence[float], records: int = 0) -> float:
    """Probability that a capsule is wanted.

    Args:
        features: in the order of ``FEATURES``.
        records: how many the collection has.
    """
    total = BIAS + sum(WEIGHTS[name] * value for name, value in zip(FEATURES, features, strict=True))
    if records > FITTED_RECORDS:
        total -= CROWD * log(records / FITTED_RECORDS)
    return 1 / (1 + exp(-total))


def select_relevant(
    prompt: str, sources: Sequence[Source], *, limit: int = SHOWN, prose: bool = False
) -> list[Selected]:
    """The records worth showing beside ``prompt``, best first, at most ``limit``; mostly none.

    Hook memory, "Runtime recall wiring". Whatever the prompt holds, it does not fail.

    Args:
        prose: every line was written by hand (the spec of a topic): none is taken for a paste.
    """
    if len(prompt.strip()) < SHORTEST:
        return []
    collection = Collection(sources)
    judged = [
        Selected(candidate.source, candidate.number, probability(candidate.features, collection.records))
        for candidate in describe(read_prompt(prompt, prose=prose), collection)
    ]
    judged.sort(key=lambda selected: -selected.score)
    shown = judged[:limit]
    if not shown or shown[0].score < THRESHOLD:
        return []
    return [selected for selected in shown if selected is shown[0] or selected.score >= FURTHER_THRESHOLD]
