"""The gate before automatic injection: which capsules are worth showing beside a prompt, if any.

``select_relevant`` takes the records that share telling words with the prompt, describes each by
a few numbers (``relevance_features``), and turns them into the probability that a person would
want this capsule there: a logistic function whose weights are constants below, fitted by
``scripts/fit_relevance``. What does not reach the threshold is not selected: a wrong memory costs more
than a missing one. No rule speaks of a particular capsule, tool or phrase.

Judging trust and lifecycle is the caller's part (``Source``). Standard library only; hooks import this.
"""

from __future__ import annotations

from math import exp

from ai_kb.relevance_features import FEATURES, describe
from ai_kb.relevance_prompt import read_prompt
from ai_kb.search import Collection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ai_kb.search import Source

SHOWN = 3
THRESHOLD = 0.45  # of the best one
FURTHER_THRESHOLD = 0.5  # of those shown after it

# Printed by scripts/fit_relevance.
BIAS = 0.0
WEIGHTS: dict[str, float] = {}


class Selected:
    """A record worth showing: the source's name, its number there, and its probability (0 to 1)."""

    __slots__ = ("number", "score", "source")

    def __init__(self, source: str, number: int, score: float) -> None:
        self.source = source
        self.number = number
        self.score = score


def probability(features: Sequence[float]) -> float:
    """Probability that a capsule with these features (in the order of FEATURES) is wanted."""
    total = BIAS + sum(WEIGHTS[name] * value for name, value in zip(FEATURES, features, strict=True))
    return 1 / (1 + exp(-total))


def select_relevant(prompt: str, sources: Sequence[Source], *, limit: int = SHOWN) -> list[Selected]:
    """The records worth showing beside ``prompt``, best first, at most ``limit``; mostly none.

    Hook memory, "Per-turn recall". Never fails, whatever the prompt holds.
    """
    judged = [
        Selected(candidate.source, candidate.number, probability(candidate.features))
        for candidate in describe(read_prompt(prompt), Collection(sources))
    ]
    judged.sort(key=lambda selected: -selected.score)
    shown = judged[:limit]
    if not shown or shown[0].score < THRESHOLD:
        return []
    return [selected for selected in shown if selected is shown[0] or selected.score >= FURTHER_THRESHOLD]
