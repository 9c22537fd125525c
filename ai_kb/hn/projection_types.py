"""What projection takes and gives: a query, facts of a repository, rows and what is wrong with them."""

from __future__ import annotations

from agent_base.frozen import dataclass
from ai_kb.hn.envelope_types import Anchor, Record
from ai_kb.hn.policy import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # `typing` costs 3 ms, and nothing asks for the protocol at run time


class Facts(Protocol):
    """What projection asks of a repository. None: the object is unavailable, so nobody can say."""

    def object_type(self, oid: str) -> str | None:
        """``commit``, ``tree``, ``blob`` or ``tag`` of the exact object; None when it is not there."""

    def is_ancestor(self, ancestor: str, descendant: str) -> bool | None:
        """Whether commit ``ancestor`` equals ``descendant`` or is reachable from it."""

    def path_blob(self, commit: str, path: str) -> str | None:
        """The blob id at ``path`` of ``commit``; ``"absent"`` when nothing is there; ``"not-a-blob"`` for a
        directory or submodule; None when the trees on the way are unavailable."""

    def event_known(self, event_id: str) -> bool:
        """Whether ``event_id`` is an event of a verified collaboration chain."""

    def memory_known(self, memory_id: str) -> bool:
        """Whether ``memory_id`` is in the verified set."""


@dataclass(frozen=True, slots=True)
class Query:
    """What applicability and trust are judged against."""

    at_commit: str
    policy: Policy | None = None
    subject: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """A valid relationship: ``source`` (its actor and stream) does ``operation`` to ``target``."""

    target: str
    operation: str
    source: str
    stream: str
    actor: str


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    """A relationship without effect: ``self-target``, ``wrong-target-kind`` or ``actor-mismatch``."""

    source: str
    stream: str
    operation: str
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class Dependency:
    """Something that the memory ``owner`` names and that is not there.

    ``kind`` is one of lifecycle-target, anchor-commit, anchor-path, query-commit, ancestry,
    evidence-git, evidence-event and evidence-memory; ``operation`` only of a lifecycle-target.
    """

    kind: str
    owner: str
    stream: str
    missing: str
    reason: str
    operation: str = ""


def dependency_order(dependency: Dependency) -> tuple[str, ...]:
    """Sort key of every list of dependencies."""
    return (dependency.missing, dependency.kind, dependency.operation, dependency.owner, dependency.reason)


def dependency_object(dependency: Dependency) -> dict[str, object]:
    """A missing dependency as JSON."""
    value: dict[str, object] = {
        "kind": dependency.kind,
        "ownerId": dependency.owner,
        "stream": dependency.stream,
    }
    if dependency.operation:
        value["operation"] = dependency.operation
    value["missingId"] = dependency.missing
    value["reason"] = dependency.reason
    return value


@dataclass(frozen=True, slots=True)
class EvidenceDetail:
    """How one evidence id resolved: ``type`` git, event, memory; ``status`` resolved, missing, invalid."""

    type: str
    requested: str
    owner: str
    status: str
    reason: str


def detail_object(detail: EvidenceDetail) -> dict[str, object]:
    """A detail as JSON."""
    return {
        "type": detail.type,
        "requested": detail.requested,
        "ownerId": detail.owner,
        "status": detail.status,
        "reason": detail.reason,
    }


@dataclass(frozen=True, slots=True)
class Row:
    """One projected record, field for field what recall and show print.

    Lists are sorted and unique, but ``data`` is the record as it was signed.
    """

    id: str
    stream: str
    actor: str
    signed_timestamp: str
    kind: str
    content_digest: str
    anchor: Anchor
    lifecycle: str
    challengers: tuple[str, ...]
    successors: tuple[str, ...]
    retractions: tuple[str, ...]
    applicability: str
    evidence: str
    evidence_details: tuple[EvidenceDetail, ...]
    dependencies: tuple[Dependency, ...]
    trust: str
    data: Record
    signature: str = "valid"


@dataclass(frozen=True, slots=True)
class Projection:
    """``rows`` by id, the rest sorted; ``missing_dependencies`` are those of the whole verified set."""

    rows: dict[str, Row]
    missing_dependencies: tuple[Dependency, ...]
    edges: tuple[Edge, ...]
    diagnostics: tuple[Diagnostic, ...]
