"""Fetched histories, measured and verified: what could be accepted if its relationships hold.

For each, in this order:

1. its head is a commit;
2. it is within its budgets;
3. every commit of it verifies (``verification``; chains of events: ``eventstore``), from the root or
   from what was verified before;
4. it descends from the accepted head, and from the highest head that was ever accepted: an accepted
   history only grows.

docs/protocol.md, "Replication" (Sync); "Where this differs from the first implementation", 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ai_kb.hn.errors import HnError, InvalidStream
from ai_kb.hn.events import EVENT_PROTOCOL
from ai_kb.hn.eventstore import EventEntry, read_chain
from ai_kb.hn.gitstore import ObjectReader, Repository, shown
from ai_kb.hn.replication import budgets as measuring
from ai_kb.hn.replication.floors import Floors
from ai_kb.hn.replication.outcomes import (
    ADVANCED,
    FIRST,
    FORKED,
    MEMORY,
    PROMOTABLE,
    REWOUND,
    STRUCTURALLY_INVALID,
    UNCHANGED,
    Outcome,
)
from ai_kb.hn.replication.selection import Budgets
from ai_kb.hn.streamrefs import Source
from ai_kb.hn.verification import Checkpoint, Entry, advance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ai_kb.hn.prefixes import PrefixStore


@dataclass(slots=True)
class Candidate:
    """A selected history and what is known of it.

    Attributes:
        ref: where the remote has it. accepted_ref: where it is kept when accepted.
        head: the advertised head. accepted: the accepted head, ``""`` when there is none.
        entries, events: what was verified above ``below``, oldest first.
        objects: (id, type, size) beyond the accepted head.
        whole: all of its history is asked for: a shallow boundary cuts what is here of it, or its accepted
            head is missing here.
    """

    outcome: Outcome
    actor: str
    ref: str
    accepted_ref: str
    head: str
    accepted: str = ""
    whole: bool = False
    below: Checkpoint | None = None
    entries: list[Entry] = field(default_factory=list)
    events: list[EventEntry] = field(default_factory=list)
    objects: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def source(self) -> Source:
        """As verification names it: the remote's ref, and the stream (of events: their protocol)."""
        return Source(self.ref, self.actor, self.outcome.id if self.is_memory else EVENT_PROTOCOL)

    @property
    def is_memory(self) -> bool:
        return self.outcome.kind == MEMORY

    @property
    def placed(self) -> list[tuple[str, str, str]]:
        """(commit, blob of the payload, id) of what was verified above ``below``."""
        if self.is_memory:
            return [entry.placed for entry in self.entries]
        return [(entry.commit, entry.payload_oid, entry.event.id) for entry in self.events]

    @property
    def structurally_sound(self) -> bool:
        return self.outcome.status == PROMOTABLE


class Judge:
    """Steps 1 to 4.

    Args:
        repo, reader: the quarantine, or the receiver where nothing was fetched.
    """

    def __init__(
        self,
        repo: Repository,
        reader: ObjectReader,
        prefixes: PrefixStore,
        floors: Floors,
        budgets: Budgets,
    ) -> None:
        self.repo = repo
        self.reader = reader
        self.prefixes = prefixes
        self.floors = floors
        self.budgets = budgets

    def judge(self, candidate: Candidate) -> None:
        """Decide against ``candidate``, or find it sound (``promotable``)."""
        outcome = candidate.outcome
        try:
            self._judge(candidate)
        except HnError as error:
            _invalid(outcome, error.message)

    def _judge(self, candidate: Candidate) -> None:
        outcome = candidate.outcome
        # (1)
        header = self.reader.info([candidate.head])[0]
        if header is None or header[1] != "commit":
            return _invalid(outcome, f"selected root {candidate.head} is not a commit")
        # (2)
        known = self._position(candidate, candidate.accepted)
        accepted = candidate.accepted if self._readable(candidate) else ""
        listed = measuring.measure(
            self.repo,
            self.reader,
            outcome,
            candidate.head,
            accepted,
            known.sequence if known else None,
            self.budgets,
        )
        if listed is None:
            return None
        candidate.objects = listed
        # (3)
        if candidate.is_memory:
            self._verify_stream(candidate)
        elif not self._verify_chain(candidate):
            return None
        # (4)
        if not self._only_grows(candidate):
            return None
        outcome.status = PROMOTABLE
        outcome.detail = ADVANCED if candidate.accepted else FIRST
        return None

    def unchanged(self, candidate: Candidate) -> None:
        """A history whose advertised head is the accepted one: nothing to fetch, nothing to verify."""
        try:
            self._unchanged(candidate)
        except HnError as error:
            _invalid(candidate.outcome, error.message)

    def _unchanged(self, candidate: Candidate) -> None:
        outcome = candidate.outcome
        known = self._position(candidate, candidate.head)
        events = known.sequence if known else self._count_events(candidate.head)
        if not measuring.check_unchanged(outcome, events, self.budgets):
            return
        if self._above_floor(candidate, events):
            outcome.status, outcome.detail = PROMOTABLE, UNCHANGED

    def _count_events(self, head: str) -> int:
        try:
            return int(self.repo.git("rev-list", "--count", head, "--"))
        except ValueError as error:
            raise InvalidStream(f"the accepted history {head} is damaged") from error

    def _readable(self, candidate: Candidate) -> bool:
        """Whether the accepted head can bound what is listed in the quarantine."""
        return bool(candidate.accepted) and not candidate.whole and self._has(candidate.accepted)

    def _has(self, commit: str) -> bool:
        return self.reader.info([commit])[0] is not None

    def _position(self, candidate: Candidate, commit: str) -> Checkpoint | None:
        if not commit or candidate.whole:
            return None
        return self.prefixes.position(candidate.source, commit)

    # --- verification -----------------------------------------------------------------------------

    def _verify_stream(self, candidate: Candidate) -> None:
        source = candidate.source
        known = None if candidate.whole else (lambda commit: self.prefixes.position(source, commit))
        candidate.entries, candidate.below = advance(
            self.repo, self.reader, source, candidate.head, known, candidate.accepted or None
        )

    def _verify_chain(self, candidate: Candidate) -> bool:
        below = self._position(candidate, candidate.accepted)
        if below is not None and not self._descends(candidate.head, below.commit):
            below = None
        entries = read_chain(self.repo, self.reader, candidate.source, candidate.head, below)
        candidate.events, candidate.below = entries, below
        reached = entries[-1].commit if entries else (below.commit if below else "")
        if reached == candidate.head:
            return True
        number = (below.sequence if below else 0) + len(entries) + 1
        _invalid(candidate.outcome, f"event {number} of the chain {candidate.ref} breaks a rule")
        return False

    # --- growth -----------------------------------------------------------------------------------

    def _only_grows(self, candidate: Candidate) -> bool:
        """Whether the history descends from the accepted head and from the floor."""
        accepted = candidate.accepted
        if accepted and not self._runs_through(candidate, accepted):
            rewound = self._has(accepted) and bool(self.repo.is_ancestor(candidate.head, accepted))
            _refuse(candidate, accepted, "the accepted head", rewound=rewound)
            return False
        return self._above_floor(candidate, candidate.outcome.measurements.events)

    def _above_floor(self, candidate: Candidate, events: int) -> bool:
        floor = self.floors.get(candidate.accepted_ref)
        if floor is None or floor.head == candidate.head:
            return True
        rewound = events < floor.events
        if not rewound and (floor.head == candidate.accepted or self._runs_through(candidate, floor.head)):
            return True
        kept = f"the highest head that was ever accepted (kept in {shown(self.floors.path)}),"
        _refuse(candidate, floor.head, kept, rewound=rewound)
        return False

    def _runs_through(self, candidate: Candidate, commit: str) -> bool:
        if candidate.below is not None and candidate.below.commit == commit:
            return True
        if any(commit == placed[0] for placed in candidate.placed):
            return True
        return self._descends(candidate.head, commit)

    def _descends(self, head: str, commit: str) -> bool:
        return self._has(commit) and bool(self.repo.is_ancestor(commit, head))


def _refuse(candidate: Candidate, other: str, what: str, *, rewound: bool) -> None:
    how = "rewound: it is behind" if rewound else "rewritten: it does not descend from"
    candidate.outcome.fail(
        STRUCTURALLY_INVALID,
        f"selection {candidate.outcome.name} was {how} {what} {other}; the remote offers "
        f"{candidate.head}; what was accepted stays as it is",
        REWOUND if rewound else FORKED,
    )


def _invalid(outcome: Outcome, message: str) -> None:
    outcome.fail(STRUCTURALLY_INVALID, f"selection {outcome.name} is structurally invalid: {message}")
