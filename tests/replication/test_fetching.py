"""How the time of a sync is shared among histories, by a clock that only fetching moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ai_kb.hn.replication.candidates import Candidate
from ai_kb.hn.replication.fetching import Fetching
from ai_kb.hn.replication.outcomes import MEMORY, Outcome
from ai_kb.hn.replication.quarantine import Quarantine
from ai_kb.hn.replication.remote import FetchFailed, Remote
from ai_kb.hn.replication.selection import Budgets

TOTAL = 1800.0


class Slow:
    """A remote and a quarantine; each history takes ``seconds``."""

    name = "origin"
    path = "quarantine"

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self.seconds = seconds
        self.left = TOTAL
        self.stored: set[str] = set()

    def fetch(self, _: str, wanted: Mapping[str, str], *, share: float, **__: int) -> bool:
        needed = sum(self.seconds[ref] for ref in wanted)
        given = share * self.left
        self.left -= min(needed, given)
        if needed > given:
            raise FetchFailed("it took too long altogether; it was given up")
        self.stored |= set(wanted.values())
        return False

    def advertise(self) -> dict[str, str]:
        return {}

    def sweep(self) -> None: ...

    def restart(self) -> Slow:
        return self

    def info(self, names: list[str]) -> list[tuple[str, str, int] | None]:
        return [("a" * 40, "commit", 1) if name in self.stored else None for name in names]


def fetched(seconds: list[float]) -> list[bool]:
    """Which histories are had."""
    remote: Any = Slow({f"refs/hn/memory/{number}": each for number, each in enumerate(seconds)})
    candidates = [
        Candidate(Outcome(MEMORY, str(number)), "b" * 64, f"refs/hn/memory/{number}", "", "a" * 40)
        for number in range(len(seconds))
    ]
    Fetching(cast(Remote, remote), cast(Quarantine, remote), Budgets()).fetch(candidates)
    return [not candidate.outcome.status for candidate in candidates]


def test_one_history_may_take_all_of_the_time() -> None:
    assert fetched([TOTAL]) == [True]


def test_one_that_takes_all_of_the_time_is_given_up_wherever_it_stands() -> None:
    for place in range(5):
        seconds = [1.0] * 5
        seconds[place] = TOTAL
        assert fetched(seconds) == [each == 1.0 for each in seconds]


def test_of_many_that_take_more_than_half_of_the_time_a_part_is_had() -> None:
    for needed in (0.55, 0.75, 0.95):
        assert sum(fetched([needed * TOTAL / 64] * 64)) >= 64 // 4
