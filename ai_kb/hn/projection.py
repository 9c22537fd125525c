"""Projection: from the verified set to lifecycle, applicability, evidence and trust of every record.

Pure: data and ``Facts`` in, data out; no clock, no Git, no arrival order. Ids are
sorted, a timestamp never chooses a winner. ``project`` is the whole of it; it is made
of small functions, each of one record or one relationship, so that a cache can
recompute exactly what changed:

    relate              one supersede, retract or challenge and its target
    lifecycle_of        one row and what points at it
    anchor_state        one anchor (does not depend on the query)
    applicability_of    one row, its anchor's state and the query
    evidence_details    one list of evidence
    trust_class         one actor and kind (``policy``)

The five judgments stay separate: none of these says that a record is true, or that
anybody may act on it.

memory-v0, "Lifecycle and the five independent judgments"; docs/protocol.md, "Projection".
"""

from __future__ import annotations

from agent_base.digests import sha256_hex
from ai_kb.hn.envelope_types import Anchor, Envelope, Record, VerifiedMemory
from ai_kb.hn.policy import trust_class
from ai_kb.hn.projection_types import (
    Dependency,
    Diagnostic,
    Edge,
    EvidenceDetail,
    Facts,
    Projection,
    Query,
    Row,
    dependency_order,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

__all__ = [
    "ACTIVE",
    "ACTOR_MISMATCH",
    "ANCHOR_INVALID",
    "ANCHOR_MISSING",
    "APPLICABLE",
    "BRANCHING",
    "DEPENDENCY_MISSING",
    "INAPPLICABLE",
    "INVALID",
    "LIFECYCLES",
    "MISSING",
    "RESOLVED",
    "RETRACTED",
    "SELF_TARGET",
    "SUPERSEDED",
    "WRONG_TARGET_KIND",
    "Dependency",
    "Diagnostic",
    "Edge",
    "EvidenceDetail",
    "Facts",
    "Projection",
    "Query",
    "Relations",
    "Row",
    "anchor_state",
    "anchors_query",
    "applicability_of",
    "content_digest",
    "dependency_order",
    "evidence_class",
    "evidence_dependencies",
    "evidence_details",
    "is_row",
    "lifecycle_of",
    "project",
    "relate",
    "relationships",
    "row_of",
]

ACTIVE = "active"
SUPERSEDED = "superseded"
RETRACTED = "retracted"
BRANCHING = "branching"
DEPENDENCY_MISSING = "dependency-missing"
# In the order in which recall lists them.
LIFECYCLES = (ACTIVE, SUPERSEDED, RETRACTED, BRANCHING, DEPENDENCY_MISSING)

APPLICABLE = "applicable"
INAPPLICABLE = "inapplicable"
ANCHOR_MISSING = "anchor-missing"
ANCHOR_INVALID = "anchor-invalid"

RESOLVED = "resolved"
MISSING = "missing"
INVALID = "invalid"
_EVIDENCE_RANK = {RESOLVED: 0, MISSING: 1, INVALID: 2}

SELF_TARGET = "self-target"
WRONG_TARGET_KIND = "wrong-target-kind"
ACTOR_MISMATCH = "actor-mismatch"

_ROW_OPERATIONS = frozenset({"record", "supersede"})
_OWN_TARGET_OPERATIONS = frozenset({"supersede", "retract"})


def is_row(envelope: Envelope) -> bool:
    """Whether the envelope carries a record and so makes a row."""
    return envelope.operation in _ROW_OPERATIONS


def content_digest(record: Record) -> str:
    """``sha256:…`` over the bytes of the content alone."""
    return "sha256:" + sha256_hex(record.content.encode())


def relate(memory: VerifiedMemory, target: VerifiedMemory | None) -> Edge | Diagnostic | Dependency:
    """What a supersede, retract or challenge amounts to, given its target (None: not in the verified set).

    Only an Edge has an effect. A Dependency is a target that may still arrive.
    """
    envelope = memory.envelope
    if target is None:
        return Dependency(
            "lifecycle-target",
            memory.id,
            envelope.stream,
            envelope.target,
            "target-unavailable",
            envelope.operation,
        )
    if target.id == memory.id:
        reason = SELF_TARGET
    elif not is_row(target.envelope):
        reason = WRONG_TARGET_KIND
    elif envelope.operation in _OWN_TARGET_OPERATIONS and target.envelope.actor != envelope.actor:
        reason = ACTOR_MISMATCH
    else:
        return Edge(envelope.target, envelope.operation, memory.id, envelope.stream, envelope.actor)
    return Diagnostic(memory.id, envelope.stream, envelope.operation, envelope.target, reason)


def lifecycle_of(target_missing: bool, successors: Collection[str], retractions: Collection[str]) -> str:
    """The lifecycle class of a row. ``target_missing``: it supersedes something that is not there."""
    if target_missing:
        return DEPENDENCY_MISSING
    if retractions:
        return RETRACTED
    if len(successors) > 1:
        return BRANCHING
    return SUPERSEDED if successors else ACTIVE


def anchor_state(anchor: Anchor, facts: Facts) -> str:
    """``applicable`` when the anchor holds, else ``anchor-missing`` or ``anchor-invalid``.

    Does not depend on the query. It can change only while objects are missing.
    """
    kind = facts.object_type(anchor.commit)
    if kind is None:
        return ANCHOR_MISSING
    if kind != "commit":
        return ANCHOR_INVALID
    state = APPLICABLE
    for entry in anchor.paths:
        found = facts.path_blob(anchor.commit, entry.path)
        if found is None:
            state = ANCHOR_MISSING
        elif found != entry.blob:
            return ANCHOR_INVALID
    return state


def applicability_of(
    owner: str, stream: str, record: Record, state: str, query: Query, facts: Facts
) -> tuple[str, tuple[Dependency, ...]]:
    """(applicability class, what is missing for it) of the row ``owner`` in ``stream``, whose anchor is in
    ``state``."""
    anchor = record.anchor

    def missing(kind: str, what: str) -> tuple[str, tuple[Dependency, ...]]:
        return ANCHOR_MISSING, (Dependency(kind, owner, stream, what, f"{kind}-unavailable"),)

    if state == ANCHOR_MISSING:
        kind = "anchor-commit" if facts.object_type(anchor.commit) is None else "anchor-path"
        return missing(kind, anchor.commit)
    if state == ANCHOR_INVALID:
        return ANCHOR_INVALID, ()
    if facts.object_type(query.at_commit) is None:
        return missing("query-commit", query.at_commit)
    if not anchors_query(anchor, query):
        return INAPPLICABLE, ()
    mode = record.applicability.mode
    if mode == "exact":
        applies: bool | None = anchor.commit == query.at_commit
    elif mode == "descendants":
        applies = facts.is_ancestor(anchor.commit, query.at_commit)
    else:
        applies = query.subject == record.applicability.subject
    if applies is None:
        return missing("ancestry", anchor.commit)
    return (APPLICABLE if applies else INAPPLICABLE), ()


def anchors_query(anchor: Anchor, query: Query) -> bool:
    """Whether the anchor names the subject and the path that the query names."""
    if query.subject and anchor.subject != query.subject:
        return False
    return not query.path or any(entry.path == query.path for entry in anchor.paths)


def evidence_details(owner: str, evidence: Iterable[str], facts: Facts) -> tuple[EvidenceDetail, ...]:
    """How every evidence id of the memory ``owner`` resolves, sorted by type and id."""
    details = []
    for entry in sorted(evidence):
        kind, _, requested = entry.partition(":")
        if kind == "git":
            found = facts.object_type(requested) is not None
            reason = "exact-object" if found else "object-unavailable"
        elif kind == "event":
            found = facts.event_known(requested)
            reason = "accepted-event" if found else "event-unavailable"
        else:
            found = facts.memory_known(requested)
            reason = "accepted-memory" if found else "memory-unavailable"
        details.append(EvidenceDetail(kind, requested, owner, RESOLVED if found else MISSING, reason))
    return tuple(details)


def evidence_class(details: Iterable[EvidenceDetail]) -> str:
    """The worst status among ``details``; ``resolved`` for none."""
    return max((detail.status for detail in details), key=_EVIDENCE_RANK.__getitem__, default=RESOLVED)


def evidence_dependencies(details: Iterable[EvidenceDetail], stream: str) -> tuple[Dependency, ...]:
    """What is missing among ``details`` of a memory in ``stream``."""
    return tuple(
        Dependency(f"evidence-{detail.type}", detail.owner, stream, detail.requested, detail.reason)
        for detail in details
        if detail.status == MISSING
    )


class Relations:
    """What points at one row, and the missing target it points at itself."""

    __slots__ = ("challengers", "missing_target", "retractions", "successors")

    def __init__(self) -> None:
        self.challengers: set[str] = set()
        self.successors: set[str] = set()
        self.retractions: set[str] = set()
        self.missing_target: Dependency | None = None

    def add(self, edge: Edge) -> None:
        """Take in an edge whose target is this row."""
        if edge.operation == "supersede":
            self.successors.add(edge.source)
        elif edge.operation == "retract":
            self.retractions.add(edge.source)
        else:
            self.challengers.add(edge.source)


def row_of(
    memory: VerifiedMemory,
    record: Record,
    relations: Relations,
    query: Query,
    facts: Facts,
    state: str | None = None,
) -> Row:
    """The row of one record. ``state`` is its ``anchor_state`` when that is already known."""
    if state is None:
        state = anchor_state(record.anchor, facts)
    envelope = memory.envelope
    applicability, missing = applicability_of(memory.id, envelope.stream, record, state, query, facts)
    details = evidence_details(memory.id, record.evidence, facts)
    dependencies = [*missing, *evidence_dependencies(details, envelope.stream)]
    if relations.missing_target is not None:
        dependencies.append(relations.missing_target)
    return Row(
        memory.id,
        envelope.stream,
        envelope.actor,
        envelope.timestamp,
        record.kind,
        content_digest(record),
        record.anchor,
        lifecycle_of(relations.missing_target is not None, relations.successors, relations.retractions),
        tuple(sorted(relations.challengers)),
        tuple(sorted(relations.successors)),
        tuple(sorted(relations.retractions)),
        applicability,
        evidence_class(details),
        details,
        tuple(sorted(dependencies, key=dependency_order)),
        trust_class(query.policy, envelope.actor, record.kind),
        record,
    )


def relationships(
    memories: Iterable[VerifiedMemory], lookup: Callable[[str], VerifiedMemory | None]
) -> tuple[list[Edge], list[Diagnostic], list[Dependency]]:
    """The sorted edges, diagnostics and missing targets of ``memories``; ``lookup`` finds a target by id."""
    edges: list[Edge] = []
    diagnostics: list[Diagnostic] = []
    missing: list[Dependency] = []
    for memory in memories:
        if memory.envelope.operation == "record":
            continue
        relation = relate(memory, lookup(memory.envelope.target))
        if isinstance(relation, Edge):
            edges.append(relation)
        elif isinstance(relation, Diagnostic):
            diagnostics.append(relation)
        else:
            missing.append(relation)
    return sorted(edges), sorted(diagnostics), sorted(missing, key=dependency_order)


def project(memories: Iterable[VerifiedMemory], query: Query, facts: Facts) -> Projection:
    """Project the verified set for ``query``. The result does not depend on the order of ``memories``.

    ``missing_dependencies`` are those of all rows and of every retract and challenge.
    """
    verified = {memory.id: memory for memory in memories}
    edges, diagnostics, missing = relationships(verified.values(), verified.get)
    from collections import defaultdict

    relations: defaultdict[str, Relations] = defaultdict(Relations)
    for edge in edges:
        relations[edge.target].add(edge)
    for dependency in missing:
        relations[dependency.owner].missing_target = dependency
    rows = {
        key: row_of(memory, memory.envelope.record, relations[key], query, facts)
        for key, memory in sorted(verified.items())
        if memory.envelope.record is not None
    }
    dependencies = {dependency for row in rows.values() for dependency in row.dependencies}.union(missing)
    return Projection(
        rows, tuple(sorted(dependencies, key=dependency_order)), tuple(edges), tuple(diagnostics)
    )
