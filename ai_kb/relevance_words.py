"""What is known of words before any capsule is read: how common they are, what they stand for.

The rarity of a word in a store of three capsules says nothing. Lists written for software work
in general stand in for a corpus: ``prior`` gives the share of texts in which a token would be
met, ``rarity`` blends it with what the store at hand says. Nothing here depends on a store.

Standard library only; hooks import this.
"""

from __future__ import annotations

from math import log

from ai_kb.relevance_lists import COMMON, FUNCTION, RELATED, TECHNICAL, TOOLS

# Share of texts in which a token of a class is met. A word of no list is rare.
_PRIOR_FUNCTION = 0.4
_PRIOR_COMMON = 0.06
_PRIOR_TECHNICAL = 0.03
_PRIOR_TOOL = 0.02
_PRIOR_UNKNOWN = 0.003

# How many records of the store weigh as much as the lists.
_PRIOR_RECORDS = 150
# Beyond this a rarer word says no more: scores mean the same in a store of 400 and of 100,000.
_MAX_RARITY = 6.0

# How much of a word's weight a related word carries.
RELATED_WEIGHT = 0.7


def prior(token: str) -> float:
    """Share of texts about software in which ``token`` (a stem) would be met, roughly."""
    if token in FUNCTION:
        return _PRIOR_FUNCTION
    if token in COMMON:
        return _PRIOR_COMMON
    if token in TECHNICAL:
        return _PRIOR_TECHNICAL
    return _PRIOR_TOOL if token in TOOLS else _PRIOR_UNKNOWN


def rarity(token: str, frequency: int, records: int) -> float:
    """Inverse document frequency of ``token``, in nats, from 0 to 6.

    Args:
        frequency: records of the store that hold it.
        records: records of the store.
    """
    known = prior(token)
    share = (frequency + _PRIOR_RECORDS * known) / (records + _PRIOR_RECORDS)
    if known >= _PRIOR_COMMON:  # an everyday word is not made telling by a small store
        share = max(share, known)
    return min(_MAX_RARITY, -log(min(share, 1.0)))


def related(token: str) -> list[str]:
    """Stems of words that may stand for ``token`` (a stem), without itself; mostly none."""
    return RELATED.get(token, "").split()


def is_listed(token: str) -> bool:
    """Whether ``token`` is in one of the lists of words."""
    return token in FUNCTION or token in COMMON or token in TECHNICAL or token in TOOLS


def is_function_word(token: str) -> bool:
    """Whether ``token`` carries grammar only, or is a single ASCII letter or digit."""
    return token in FUNCTION or (len(token) == 1 and token.isascii())
