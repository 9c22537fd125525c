"""Selectors and what a remote advertises: which ref each selector means, or why it means none.

A memory stream is found below its one owner; several owners are structurally invalid, since an id
alone cannot choose between them. Names that the protocol does not have are passed over.

docs/protocol.md, "Replication" (Sync).
"""

from __future__ import annotations

from ai_kb.hn.errors import HnError
from ai_kb.hn.events import ACTORS_PREFIX
from ai_kb.hn.fields import is_actor
from ai_kb.hn.replication.candidates import Candidate
from ai_kb.hn.replication.outcomes import (
    ACTOR,
    AMBIGUOUS_OWNER,
    MEMORY,
    NOT_SUPPORTED,
    PROPOSAL,
    STRUCTURALLY_INVALID,
    Outcome,
    in_order,
)
from ai_kb.hn.replication.selection import Selection
from ai_kb.hn.streamrefs import LOCAL_PREFIX, REMOTES_PREFIX, accepted_ref, memory_ref, parse_ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

UNSUPPORTED = "proposal selectors are kept and shown, and not supported by this implementation"


class Match:
    """Every selector's outcome, sorted, and the histories of those that mean one."""

    __slots__ = ("candidates", "notes", "outcomes")

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.candidates: list[Candidate] = []
        self.notes: list[str] = []


def match(
    selection: Selection, advertised: Mapping[str, str], *, only: Container[str] | None = None
) -> Match:
    """Match ``selection`` with the refs that its remote advertises.

    Args:
        only: names of selectors (``memory sha256:…``); the others are left out.
    """
    matching = _Matching(selection.remote, advertised)
    if selection.all:
        matching.discover()
    else:
        matching.select(selection)
    found = matching.match
    if only is not None:
        found.candidates = [candidate for candidate in found.candidates if candidate.outcome.name in only]
        found.outcomes = [outcome for outcome in found.outcomes if outcome.name in only]
    found.outcomes = in_order(found.outcomes)
    return found


class _Matching:
    """One match in the making."""

    def __init__(self, remote: str, advertised: Mapping[str, str]) -> None:
        self.remote = remote
        self.advertised = advertised
        self.match = Match()
        self.owners = _owners(advertised)

    def select(self, selection: Selection) -> None:
        """Exact selectors."""
        for actor in selection.actors:
            self._actor(self._begin(ACTOR, actor))
        for stream in selection.memories:
            self._stream(self._begin(MEMORY, stream), "selected")
        chains = any(ref.startswith(f"{ACTORS_PREFIX}/") for ref in self.advertised)
        for proposal in selection.proposals:
            outcome = self._begin(PROPOSAL, proposal)
            outcome.not_advertised(self.remote)
            if chains:  # one of them may hold it: nobody looks
                outcome.diagnostic = f"selected {outcome.name} was not looked for: {UNSUPPORTED}"
            outcome.detail = NOT_SUPPORTED

    def discover(self) -> None:
        """Every well-formed history that is advertised."""
        chains = [ref for ref in self.advertised if ref.startswith(f"{ACTORS_PREFIX}/")]
        actors = [actor for ref in sorted(chains) if is_actor(actor := ref[len(ACTORS_PREFIX) + 1 :])]
        for actor in actors:
            self._actor(self._begin(ACTOR, actor))
        for stream in sorted(self.owners):
            self._stream(self._begin(MEMORY, stream), "advertised")
        streams = sum(len(found) for found in self.owners.values())
        malformed = len(chains) - len(actors) - streams
        malformed += sum(ref.startswith(f"{LOCAL_PREFIX}/") for ref in self.advertised)
        if malformed:
            self.match.notes.append(
                f"remote {self.remote} has {malformed} malformed refs below refs/hn/; they were passed over"
            )

    def _begin(self, kind: str, identifier: str) -> Outcome:
        outcome = Outcome(kind, identifier)
        self.match.outcomes.append(outcome)
        return outcome

    def _actor(self, outcome: Outcome) -> None:
        ref = f"{ACTORS_PREFIX}/{outcome.id}"
        accepted = f"{REMOTES_PREFIX}/{self.remote}/actors/{outcome.id}"
        self._found(outcome, outcome.id, ref, accepted)

    def _stream(self, outcome: Outcome, how: str) -> None:
        actors: Sequence[str] = self.owners.get(outcome.id, ())
        if len(actors) > 1:
            outcome.fail(
                STRUCTURALLY_INVALID,
                f"{how} {outcome.name} has ambiguous owners on remote {self.remote}",
                AMBIGUOUS_OWNER,
            )
            return
        actor = actors[0] if actors else ""
        accepted = accepted_ref(self.remote, actor, outcome.id)
        self._found(outcome, actor, memory_ref(actor, outcome.id), accepted)

    def _found(self, outcome: Outcome, actor: str, ref: str, accepted: str) -> None:
        head = self.advertised.get(ref)
        if head is None:
            outcome.not_advertised(self.remote)
            return
        outcome.head = head
        self.match.candidates.append(Candidate(outcome, actor, ref, accepted, head))


def _owners(advertised: Mapping[str, str]) -> dict[str, list[str]]:
    """Stream id to the actors below whom it is advertised."""
    owners: dict[str, list[str]] = {}
    for ref in sorted(advertised):
        if not ref.startswith(f"{LOCAL_PREFIX}/"):
            continue
        try:
            source = parse_ref(ref)
        except HnError:
            continue
        if source is not None:
            owners.setdefault(source.stream, []).append(source.actor)
    return owners
