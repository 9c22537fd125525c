"""Whether what a sound history refers to is there and may be referred to so.

A new history is projected together with what is local and accepted, and with the other new ones:

- a relationship that another rule forbids, or an anchor or evidence that an object contradicts, makes
  it ``relationship-invalid``;
- a target, anchor, path, or evidence of a record that is absent makes it ``dependency-missing``, and
  so does absent Git evidence of a challenge.

A history that fails takes with it those that depend on it, and no others. What was accepted before
was judged then, and what is new cannot change that.

docs/protocol.md, "Projection" and "Replication" (Sync).
"""

from __future__ import annotations

from agent_base.gitproc import GitError
from ai_kb.hn.envelope import VerifiedMemory, decode_envelope, memory_id
from ai_kb.hn.errors import HnError
from ai_kb.hn.eventstore import collect_events
from ai_kb.hn.facts import RepositoryFacts
from ai_kb.hn.gitstore import ObjectReader, Repository
from ai_kb.hn.projection import (
    ANCHOR_INVALID,
    ANCHOR_MISSING,
    Dependency,
    Diagnostic,
    anchor_state,
    dependency_order,
    evidence_dependencies,
    evidence_details,
    relate,
)
from ai_kb.hn.replication.candidates import Candidate
from ai_kb.hn.replication.outcomes import (
    DEPENDENCY_MISSING,
    INSPECTION_FAILED,
    RELATIONSHIP_INVALID,
)
from ai_kb.hn.streamrefs import MEMORY_PREFIXES, memory_ref, sources_of
from ai_kb.hn.streams import collect
from ai_kb.hn.verification import Checkpoint, advance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from ai_kb.hn.prefixes import Member, PrefixStore

_OWN_TARGET = frozenset({"supersede", "retract"})


class KnownMemories:
    """Memories of local and accepted streams, by id; verified when the first one is asked for.

    Looking one up costs the same at any length of streams whose prefix is known.
    """

    def __init__(self, repo: Repository, reader: ObjectReader, prefixes: PrefixStore) -> None:
        self.repo = repo
        self.reader = reader
        self.prefixes = prefixes
        self._tips: dict[tuple[str, str], int] | None = None
        self._whole: Mapping[str, VerifiedMemory] | None = None
        self._found: dict[str, VerifiedMemory | None] = {}

    def get(self, identifier: str) -> VerifiedMemory | None:
        """The memory with this id. Raises InvalidStream when a local or accepted stream is invalid."""
        if identifier not in self._found:
            self._found[identifier] = self._look_up(identifier)
        return self._found[identifier]

    def _look_up(self, identifier: str) -> VerifiedMemory | None:
        if self._tips is None and self._whole is None:
            self._verify()
        if self._whole is not None:
            return self._whole.get(identifier)
        assert self._tips is not None
        for member in self.prefixes.find(identifier):
            if member.sequence <= self._tips.get((member.actor, member.stream), 0):
                return self._read(member)
        return None

    def _read(self, member: Member) -> VerifiedMemory | None:
        found = self.reader.content(member.payload_oid)
        if found is None or memory_id(found[2]) != member.memory_id:
            self._collect()
            assert self._whole is not None
            return self._whole.get(member.memory_id)
        return VerifiedMemory(member.memory_id, decode_envelope(found[2]), found[2])

    def _verify(self) -> None:
        sources = sources_of(self.repo.refs(*MEMORY_PREFIXES))
        tips: dict[tuple[str, str], int] = {}
        for source, head in sources:
            tip = self.prefixes.position(source, head)
            if tip is None:
                latest = self.prefixes.latest(source)
                entries, below = advance(
                    self.repo,
                    self.reader,
                    source,
                    head,
                    lambda commit, source=source: self.prefixes.position(source, commit),  # type: ignore[misc]
                    latest.commit if latest else None,
                )
                self.prefixes.extend(source, below, [entry.placed for entry in entries])
                tip = self.prefixes.position(source, head)
            if tip is None:  # nothing can be remembered here
                return self._collect()
            key = source.actor, source.stream
            tips[key] = max(tips.get(key, 0), tip.sequence)
        if any(self.prefixes.position(source, head) is None for source, head in sources):
            return self._collect()  # one actor's stream in two versions: only one is remembered
        self._tips = tips
        return None

    def _collect(self) -> None:
        self._whole = collect(self.repo, self.reader).memories


class _Facts(RepositoryFacts):
    """Facts of the receiver, and of what is about to be accepted into it."""

    def __init__(
        self,
        repo: Repository,
        reader: ObjectReader,
        memories: Container[str],
        events: Callable[[], Container[str]],
    ) -> None:
        super().__init__(repo, reader, memories, events)
        self.incoming: dict[str, set[str]] = {}
        self.incoming_types: dict[str, str] = {}
        self.incoming_events: dict[str, str] = {}
        self.used: set[str] = set()

    def object_type(self, oid: str) -> str | None:
        found = super().object_type(oid)
        if found is None and self.incoming.get(oid):
            self.used |= self.incoming[oid]
            return self.incoming_types[oid]
        return found

    def event_known(self, event_id: str) -> bool:
        if event_id in self.incoming_events:
            self.used.add(self.incoming_events[event_id])
            return True
        return super().event_known(event_id)


class Relationships:
    """Judges all sound candidates together.

    Args:
        online: reads anchors and evidence. advertised: the remote's refs. selected: names of all selectors.
    """

    def __init__(
        self,
        repo: Repository,
        reader: ObjectReader,
        prefixes: PrefixStore,
        candidates: Sequence[Candidate],
        *,
        online: ObjectReader,
        remote: str,
        advertised: Mapping[str, str],
        selected: Container[str],
    ) -> None:
        self.candidates = [candidate for candidate in candidates if candidate.structurally_sound]
        self.known = KnownMemories(repo, reader, prefixes)
        self.remote = remote
        self.advertised = advertised
        self.selected = selected
        self._suppliers: dict[str, tuple[str, VerifiedMemory]] = {}
        self.facts = _Facts(
            repo, online, _Known(self), lambda: collect_events(repo, reader, prefixes=prefixes)
        )
        for candidate in self.candidates:
            self._offer(candidate)

    def _offer(self, candidate: Candidate) -> None:
        name = candidate.outcome.name
        for entry in candidate.entries:
            self._suppliers[entry.memory.id] = (name, entry.memory)
        for event in candidate.events:
            self.facts.incoming_events[event.event.id] = name
        for oid, kind, _ in candidate.objects:
            self.facts.incoming.setdefault(oid, set()).add(name)
            self.facts.incoming_types[oid] = kind

    def _withdraw(self, candidate: Candidate) -> None:
        name = candidate.outcome.name
        for entry in candidate.entries:
            self._suppliers.pop(entry.memory.id, None)
        for event in candidate.events:
            self.facts.incoming_events.pop(event.event.id, None)
        for oid, _, _ in candidate.objects:
            self.facts.incoming[oid].discard(name)

    def judge(self) -> None:
        """Decide against every candidate whose relationships do not hold."""
        self.facts.prepare_objects(
            entry.memory for candidate in self.candidates for entry in candidate.entries
        )
        by_name = {candidate.outcome.name: candidate for candidate in self.candidates}
        dependents: dict[str, set[str]] = {}
        queue = list(by_name)
        while queue:
            candidate = by_name[queue.pop(0)]
            if not candidate.structurally_sound or not candidate.entries:
                continue
            self.facts.used = set()
            if self._holds(candidate):
                for supplier in self.facts.used - {candidate.outcome.name}:
                    dependents.setdefault(supplier, set()).add(candidate.outcome.name)
            else:
                self._withdraw(candidate)
                queue += sorted(dependents.pop(candidate.outcome.name, ()))

    def _holds(self, candidate: Candidate) -> bool:
        try:
            return self._consistent(candidate) and self._complete(candidate)
        except (HnError, GitError):
            candidate.outcome.fail(
                RELATIONSHIP_INVALID,
                f"selection {candidate.outcome.name} cannot inspect accepted memory projection",
                INSPECTION_FAILED,
            )
            return False

    def find(self, identifier: str) -> VerifiedMemory | None:
        """A memory of a candidate, or a local or accepted one."""
        offered = self._suppliers.get(identifier)
        if offered is not None:
            self.facts.used.add(offered[0])
            return offered[1]
        return self.known.get(identifier)

    # --- what contradicts -------------------------------------------------------------------------

    def _consistent(self, candidate: Candidate) -> bool:
        """Whether nothing contradicts; else the outcome says what does."""
        name = candidate.outcome.name
        for memory in _by_id(candidate):
            envelope = memory.envelope
            if envelope.operation != "record":
                relation = relate(memory, self.find(envelope.target))
                if isinstance(relation, Diagnostic):
                    candidate.outcome.fail(
                        RELATIONSHIP_INVALID,
                        f"selection {name} memory {memory.id} ({relation.operation}) has invalid "
                        f"relationship {relation.reason}",
                        relation.reason,
                    )
                    return False
            record = envelope.record
            if record is not None and anchor_state(record.anchor, self.facts) == ANCHOR_INVALID:
                candidate.outcome.fail(
                    RELATIONSHIP_INVALID,
                    f"selection {name} memory {memory.id} has invalid anchor or evidence relationship",
                    ANCHOR_INVALID,
                )
                return False
        return True

    # --- what is missing --------------------------------------------------------------------------

    def _complete(self, candidate: Candidate) -> bool:
        """Whether nothing is missing; else the outcome says what is."""
        missing: list[Dependency] = []
        for memory in _by_id(candidate):
            missing += self._missing_of(memory)
        if missing:
            dependency = min(missing, key=dependency_order)
            self._report(
                candidate,
                dependency,
                f"selection {candidate.outcome.name} memory {dependency.owner} missing {dependency.kind} "
                f"dependency {dependency.missing}: {dependency.reason}",
            )
            return False
        for memory in _by_id(candidate):
            for entry in sorted(memory.envelope.evidence):
                if entry.startswith("git:") and self.facts.object_type(entry[4:]) is None:
                    dependency = Dependency(
                        "evidence-git", memory.id, memory.envelope.stream, entry[4:], "object-unavailable"
                    )
                    self._report(
                        candidate,
                        dependency,
                        f"selection {candidate.outcome.name} has unavailable exact Git dependency "
                        f"{entry[4:]}",
                    )
                    return False
        return True

    def _missing_of(self, memory: VerifiedMemory) -> Iterable[Dependency]:
        envelope = memory.envelope
        if envelope.operation != "record":
            relation = relate(memory, self.find(envelope.target))
            if isinstance(relation, Dependency):
                yield relation
        record = envelope.record
        if record is None:
            return
        if anchor_state(record.anchor, self.facts) == ANCHOR_MISSING:
            commit = record.anchor.commit
            kind = "anchor-commit" if self.facts.object_type(commit) is None else "anchor-path"
            yield Dependency(kind, memory.id, envelope.stream, commit, f"{kind}-unavailable")
        details = evidence_details(memory.id, record.evidence, self.facts)
        yield from evidence_dependencies(details, envelope.stream)

    def _report(self, candidate: Candidate, dependency: Dependency, diagnostic: str) -> None:
        outcome = candidate.outcome
        supplier = self._supplier(candidate, dependency)
        if supplier:
            recovery = (
                f"hn replication select {self.remote} --memory {supplier} (preserve existing selectors and "
                f"budgets), then hn sync {self.remote}"
            )
            outcome.required_ref = memory_ref(candidate.actor, supplier)
            outcome.required_selectors = (f"memory:{supplier}",)
        else:
            recovery = (
                f"supplier for exact {dependency.kind} dependency {dependency.missing} is not derivable from "
                "signed facts; select its exact supplier, then retry"
            )
        outcome.fail(DEPENDENCY_MISSING, f"{diagnostic}; recovery: {recovery}", dependency.kind)
        outcome.dependency_kind = dependency.kind
        outcome.missing = dependency.missing
        outcome.owner_memory = dependency.owner
        outcome.owner_stream = dependency.stream
        outcome.recovery = recovery

    def _supplier(self, candidate: Candidate, dependency: Dependency) -> str:
        """The one stream that must hold what is missing: an own target, in another stream of the actor."""
        if dependency.operation not in _OWN_TARGET:
            return ""
        prefix = memory_ref(candidate.actor, "")
        streams = [f"sha256:{ref[len(prefix) :]}" for ref in self.advertised if ref.startswith(prefix)]
        others = [stream for stream in streams if f"memory {stream}" not in self.selected]
        return others[0] if len(others) == 1 else ""


class _Known:
    """Which memories are there, as ``RepositoryFacts`` asks."""

    def __init__(self, relationships: Relationships) -> None:
        self._relationships = relationships

    def __contains__(self, identifier: object) -> bool:
        return self._relationships.find(str(identifier)) is not None


def _by_id(candidate: Candidate) -> list[VerifiedMemory]:
    return sorted((entry.memory for entry in candidate.entries), key=lambda memory: memory.id)


def tip_of(candidate: Candidate) -> Checkpoint | None:
    """The verified position of a candidate's head."""
    placed = candidate.placed
    if not placed:
        return candidate.below
    start = candidate.below.sequence if candidate.below else 0
    return Checkpoint(placed[-1][0], start + len(placed), placed[-1][2])
