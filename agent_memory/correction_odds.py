"""How likely a prompt is a reproach, by all of its words: a second opinion on what a rule found.

A phrase sees a few words; what stands around them may say that nobody is reproached. So a prompt in which
a rule holds is also judged as a whole, by a logistic function of its words and its pairs of neighbouring
words, whose weights ``scripts/fit_corrections`` fits on the labelled prompts. It can only silence: by
itself it would take "you found the bug" for a reproach. Pure, bounded, standard library only; imported
where a rule holds.
"""

from __future__ import annotations

from itertools import pairwise

from agent_memory.correction_weights import BIAS, WEIGHTS
from agent_memory.correction_words import is_number, is_past

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Set

DOUBTED = (
    -1.95
)  # log-odds: below it (a probability of an eighth) a prompt is no reproach, whatever rule holds
_MOST_WORDS = 40  # of a sentence


def parts(sentences: list[list[str]]) -> set[str]:
    """What of a prompt is weighed: its words, and pairs of neighbours with the ends of sentences.

    Numbers are one word, ``#``; a verb in a past form also makes pairs as ``*ed``.
    """
    found = {"many"} if len(sentences) > 1 else set()
    for words in sentences:
        plain = ["^", *("#" if is_number(word) else word for word in words[:_MOST_WORDS]), "$"]
        past = ["*ed" if len(word) > 3 and is_past(word) else word for word in plain]
        found.update(plain[1:-1])
        for row in (plain, past):
            found.update(f"{left} {right}" for left, right in pairwise(row))
    return found


def log_odds(found: Set[str], weights: Mapping[str, int] = WEIGHTS, bias: int = BIAS) -> float:
    """Log-odds that a prompt with these parts is a reproach of the agent's conduct."""
    # Divided by the root, so that a long prompt is not decided by how long it is.
    total: int = sum(weights.get(part, 0) for part in found)
    return float(total / max(1, len(found)) ** 0.5 + bias) / 100


def is_doubted(sentences: list[list[str]]) -> bool:
    """Whether the prompt as a whole is hardly a reproach."""
    return log_odds(parts(sentences)) < DOUBTED
