"""The types of ``hn-memory/0``: envelopes and what they carry.

Frozen, and nothing more than their fields. That an ``Envelope`` exists says nothing of
its validity; a ``VerifiedMemory`` is made by ``envelope.verify_memory`` alone.

memory-v0, "Envelope and record model".
"""

from __future__ import annotations

from agent_base.frozen import dataclass

PROTOCOL = "hn-memory/0"
ABSENT = "absent"
OPERATIONS = frozenset({"record", "supersede", "retract", "challenge"})
KINDS = ("assumption", "attempt", "decision", "handoff", "observation", "verification")
MODES = ("descendants", "exact", "subject")

# Optional strings are "" when absent, optional lists are (): as in the canonical form, where
# an absent field and an empty one are the same.


@dataclass(frozen=True, slots=True)
class PathAnchor:
    """A repository-relative path and the exact blob it had, or ``absent``."""

    path: str
    blob: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """The exact commit a record speaks of."""

    commit: str
    paths: tuple[PathAnchor, ...] = ()
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Applicability:
    """Where a record applies: ``exact``, ``descendants`` or ``subject``."""

    mode: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Handoff:
    """Four separate bounded lists. ``next_actions`` are inert data, never permission."""

    completed: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    next_actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """What a ``record`` or ``supersede`` envelope says."""

    kind: str
    content: str
    anchor: Anchor
    applicability: Applicability
    topics: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    attempt_outcome: str = ""
    handoff: Handoff | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """One signed entry of a stream. Optional strings are ``""`` when absent."""

    protocol: str
    operation: str
    actor: str
    actor_name: str
    public_key: str
    stream: str
    sequence: int
    timestamp: str
    previous: str = ""
    record: Record | None = None
    target: str = ""
    reason: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VerifiedMemory:
    """An envelope whose bytes are canonical and valid and whose signature verifies.

    Only ``verify_memory`` makes one. ``id`` is ``sha256:`` and 64 hex digits over ``payload``.
    """

    id: str
    envelope: Envelope
    payload: bytes
