"""Projection: from the verified set to lifecycle, applicability, evidence and trust of every record.

Pure: data and ``Facts`` in, data out; no clock, no Git, no arrival order. Ids are
sorted, a timestamp never chooses a winner. Made of small per-record functions, so that
a cache can recompute exactly what changed.

memory-v0, "Lifecycle and the five independent judgments"; PROTOCOL, "Projection".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from ai_kb.hn.envelope import Anchor, Record, VerifiedMemory
from ai_kb.hn.policy import Policy


class Facts(Protocol):
    """What projection asks of a repository. None: the object is unavailable, so nobody can say."""

    def object_type(self, oid: str) -> str | None: ...
    def is_ancestor(self, ancestor: str, descendant: str) -> bool | None:
        """Whether ``ancestor`` equals ``descendant`` or is reachable from it."""

    def path_blob(self, commit: str, path: str) -> str | None:
        """The blob id at ``path`` of ``commit``; ``"absent"`` when nothing is there; ``"not-a-blob"`` for a
        directory or submodule; None when the trees on the way are unavailable."""

    def event_known(self, event_id: str) -> bool: ...
    def memory_known(self, memory_id: str) -> bool: ...


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


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A relationship without effect: ``self-target``, ``wrong-target-kind`` or ``actor-mismatch``."""

    source: str
    stream: str
    operation: str
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class Dependency:
    """Something named that is not there. ``kind``: lifecycle-target, anchor-commit, query-commit,
    ancestry, evidence-git, evidence-event or evidence-memory."""

    kind: str
    owner: str
    stream: str
    missing: str
    reason: str
    operation: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceDetail:
    """How one evidence id resolved: ``type`` git, event, memory; ``status`` resolved, missing, invalid."""

    type: str
    requested: str
    owner: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Row:
    """One projected record, field for field what recall and show print."""

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


def project(memories: Iterable[VerifiedMemory], query: Query, facts: Facts) -> Projection:
    """Project the verified set for ``query``. The result does not depend on the order of ``memories``."""
    raise NotImplementedError
