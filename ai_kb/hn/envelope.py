"""``hn-memory/0`` envelopes: bytes go in, verified objects come out, and nothing else makes one.

``verify_memory`` is the one way from untrusted bytes to a ``VerifiedMemory``. It
proves attribution and byte integrity, not truth, trust or authority.

memory-v0, "Envelope and record model"; PROTOCOL, "Canonical JSON" and "Validity of an
envelope".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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


def memory_id(payload: bytes) -> str:
    """The public memory id of exact ``memory.json`` bytes."""
    raise NotImplementedError


def default_stream(actor: str) -> str:
    """The default stream id of ``actor`` (PROTOCOL, "Identity")."""
    raise NotImplementedError


def record_mapping(record: Record) -> dict[str, object]:
    """``record`` as the mapping of its JSON form, fields in canonical order (``data`` in results)."""
    raise NotImplementedError


def encode_envelope(mapping: Mapping[str, object]) -> bytes:
    """Canonical bytes of an envelope given as a mapping of its JSON form, validated.

    Fields may come in any order; optional ones may be absent, empty or None. Raises InvalidEnvelope.
    """
    raise NotImplementedError


def envelope_to_bytes(envelope: Envelope) -> bytes:
    """Canonical bytes of ``envelope``, validated. Raises InvalidEnvelope."""
    raise NotImplementedError


def decode_envelope(payload: bytes) -> Envelope:
    """The envelope that ``payload`` canonically encodes, validated. Raises InvalidEnvelope."""
    raise NotImplementedError


def verify_memory(payload: bytes, signature: bytes) -> VerifiedMemory:
    """Decode, validate and verify: the 64 raw ``signature`` bytes over the exact ``payload``.

    Raises InvalidEnvelope or InvalidSignature.
    """
    raise NotImplementedError
