"""Getting the selected histories into the quarantine, so that one that cannot be had hinders no other.

All are asked for at once; when that fails, or takes more than half of the time that is left, in
quarters, down to the one that fails alone. Half of the time for a quarter of the histories: of what
is merely much a part is had, and the next sync gets more. A remote that hangs, or that has stopped
answering, ends the fetch. The cap on what comes counts for each attempt. Only one that is asked for
with no other may take all of the time.

docs/protocol.md, "Replication" (Sync).
"""

from __future__ import annotations

from ai_kb.hn.errors import HnError
from ai_kb.hn.replication import budgets as measuring
from ai_kb.hn.replication.candidates import Candidate
from ai_kb.hn.replication.outcomes import DEPENDENCY_MISSING, NOT_FETCHED
from ai_kb.hn.replication.quarantine import Quarantine, quarantine_ref
from ai_kb.hn.replication.remote import FetchFailed, FetchTooLarge, Remote
from ai_kb.hn.replication.selection import Budgets
from ai_kb.hn.replication.shallow import Gap, report_cut_on_remote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# At the first failure, and after so many more, the remote is asked whether it is there at all.
_FAILURES_IN_A_ROW = 8
# What one attempt of several may take of the time that is left: a history that is endless leaves some
# to the others, and to what becomes of them.
_SHARE = 0.5
_PARTS = 4


class Fetching:
    """One fetch of many histories. ``gaps``: those that the remote does not have whole."""

    def __init__(self, remote: Remote, quarantine: Quarantine, budgets: Budgets) -> None:
        self.remote = remote
        self.quarantine = quarantine
        self.budgets = budgets
        self.gaps: list[Gap] = []
        self._failures = 0
        self._shallow = False
        self._share = 1.0

    def fetch(self, candidates: Sequence[Candidate]) -> None:
        """Fetch each into its quarantine ref, or decide against it.

        Raises ReplicationError when the remote does not answer any more.
        """
        self._share = _SHARE if len(candidates) > 1 else 1.0
        self._fetch(list(candidates))
        reader = self.quarantine.restart()
        fetched = [candidate for candidate in candidates if not candidate.outcome.status]
        refs = [quarantine_ref(candidate.ref) for candidate in fetched]
        for candidate, found in zip(fetched, reader.info(refs), strict=True):
            if found is None and self._shallow:
                self.gaps.append(report_cut_on_remote(candidate.outcome, self.remote.name, candidate.head))
            elif found is None:
                self._refuse(candidate, "git did not store it")
            elif found[0] != candidate.head:
                self._refuse(
                    candidate,
                    f"it moved while it was fetched: advertised {candidate.head}, fetched {found[0]}; "
                    "sync again",
                )

    def _fetch(self, group: list[Candidate]) -> None:
        if not group:
            return
        try:
            self._shallow |= self.remote.fetch(
                self.quarantine.path,
                {candidate.ref: quarantine_ref(candidate.ref) for candidate in group},
                cap=measuring.transfer_cap(self.budgets),
                alloc=measuring.allocation_limit(self.budgets),
                share=self._share,
            )
            self._failures = 0
        except (FetchFailed, FetchTooLarge) as error:
            self.quarantine.sweep()
            if len(group) > 1:
                size = -(-len(group) // _PARTS)
                for start in range(0, len(group), size):
                    self._fetch(group[start : start + size])
            else:
                self._give_up(group[0], error)

    def _give_up(self, candidate: Candidate, error: HnError) -> None:
        if isinstance(error, FetchTooLarge):
            measuring.over_transfer(candidate.outcome, self.budgets, error.size)
        else:
            self._refuse(candidate, error.message)
        self._failures += 1
        if self._failures % _FAILURES_IN_A_ROW == 1:
            self.remote.advertise()  # raises when it is gone: then it was not this history's fault

    def _refuse(self, candidate: Candidate, why: str) -> None:
        candidate.outcome.fail(
            DEPENDENCY_MISSING,
            f"selection {candidate.outcome.name} could not be fetched from remote {self.remote.name}: {why}",
            NOT_FETCHED,
        )
