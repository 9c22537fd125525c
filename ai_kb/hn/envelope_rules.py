"""The rules that make an envelope valid, in the order in which they are looked at.

``check`` raises InvalidEnvelope with the rule that failed and never repeats a value.
docs/protocol.md, "Validity of an envelope"; memory-v0, "Envelope and record model".
"""

from __future__ import annotations

from functools import lru_cache

from ai_kb.hn import keys
from ai_kb.hn.envelope_types import ABSENT, KINDS, MODES, PROTOCOL, Anchor, Envelope, Handoff, Record
from ai_kb.hn.errors import InvalidEnvelope
from ai_kb.hn.fields import (
    MAX_NAME_BYTES,
    MAX_OUTCOME_BYTES,
    is_actor,
    is_actor_name,
    is_digest,
    is_evidence,
    is_oid,
    is_path,
    is_reason,
    is_subject,
    is_timestamp,
    is_topic,
)
from ai_kb.hn.text import is_blank, utf8_length

MAX_SEQUENCE = 2**64 - 1
MAX_CONTENT_BYTES = 65_536
MAX_TOPICS = 32
MAX_EVIDENCE = 64
MAX_PATHS = 128
MAX_PATHS_BYTES = 65_536
MAX_HANDOFF_ENTRIES = 64
MAX_HANDOFF_ENTRY_BYTES = 4_096
MAX_HANDOFF_LIST_BYTES = 65_536

_MAX_KEY_TEXT = 64
_KIND_SET = frozenset(KINDS)
_MODE_SET = frozenset(MODES)
_PLAIN_KINDS = frozenset({"observation", "decision", "assumption"})


def check(envelope: Envelope) -> None:
    """Raise InvalidEnvelope unless every rule holds.

    1. protocol, operation, actor, name, key and their agreement
    2. stream, sequence, timestamp, previous
    3. the fields that the operation wants and no others
    4. the record, if there is one
    """
    # (1)
    if envelope.protocol != PROTOCOL:
        raise InvalidEnvelope("memory protocol is unsupported")
    allowed = _OPERATION_FIELDS.get(envelope.operation)
    if allowed is None:
        raise InvalidEnvelope("memory operation is unsupported")
    if not is_actor(envelope.actor):
        raise InvalidEnvelope("memory actor is invalid")
    if len(envelope.actor_name) > MAX_NAME_BYTES or not _is_checked_name(envelope.actor_name):
        raise InvalidEnvelope("memory actorName is invalid")
    if keys.actor_of(public_key_bytes(envelope.public_key)) != envelope.actor:
        raise InvalidEnvelope("memory actor does not match publicKey")
    # (2)
    if not is_digest(envelope.stream):
        raise InvalidEnvelope("memory stream is invalid")
    if not 1 <= envelope.sequence <= MAX_SEQUENCE:
        raise InvalidEnvelope("memory sequence must be positive")
    if not is_timestamp(envelope.timestamp):
        raise InvalidEnvelope("memory timestamp is invalid")
    if envelope.sequence == 1:
        if envelope.previous:
            raise InvalidEnvelope("memory previous must be absent at sequence 1")
    elif not is_digest(envelope.previous):
        raise InvalidEnvelope("memory previous is required after sequence 1")
    # (3)
    record = envelope.record
    wants_record, wants_target, wants_reason, allows_evidence = allowed
    if (
        (record is not None) != wants_record
        or (is_digest(envelope.target) if wants_target else not envelope.target) is False
        or (is_reason(envelope.reason) if wants_reason else not envelope.reason) is False
        or (envelope.evidence and not allows_evidence)
    ):
        raise InvalidEnvelope(f"memory {envelope.operation} operation has invalid fields")
    if envelope.evidence:
        _check_evidence(envelope.evidence, "memory challenge evidence is invalid")
    # (4)
    if record is not None:
        check_record(record)


# operation: (record, target, reason, evidence allowed)
_OPERATION_FIELDS = {
    "record": (True, False, False, False),
    "supersede": (True, True, False, False),
    "retract": (False, True, True, False),
    "challenge": (False, True, True, True),
}

# One stream repeats its name and its key thousands of times. What is remembered is short.
_is_checked_name = lru_cache(maxsize=1024)(is_actor_name)


def public_key_bytes(text: str) -> bytes:
    """The 32 raw bytes of a canonical ``publicKey`` text. Raises InvalidEnvelope."""
    if len(text) > _MAX_KEY_TEXT:
        raise InvalidEnvelope("memory publicKey is invalid")
    return _key_bytes(text)


@lru_cache(maxsize=4096)
def _key_bytes(text: str) -> bytes:
    # Line breaks are skipped by some decoders, so a text with one decodes there: not canonical.
    if "\n" in text or "\r" in text:
        raise InvalidEnvelope("memory publicKey is not canonical")
    try:
        key = keys.decode_b64(text)
    except ValueError as error:
        raise InvalidEnvelope("memory publicKey is invalid") from error
    if len(key) != keys.PUBLIC_KEY_BYTES:
        raise InvalidEnvelope("memory publicKey is invalid")
    return key


def check_record(record: Record) -> None:
    """Raise InvalidEnvelope unless the record's own rules hold."""
    if record.kind not in _KIND_SET:
        raise InvalidEnvelope("memory record kind is unsupported")
    if is_blank(record.content) or utf8_length(record.content) > MAX_CONTENT_BYTES:
        raise InvalidEnvelope("memory record content is invalid")
    _check_anchor(record.anchor)
    applicability = record.applicability
    if applicability.mode not in _MODE_SET:
        raise InvalidEnvelope("memory applicability mode is unsupported")
    if applicability.mode == "subject":
        if not applicability.subject or applicability.subject != record.anchor.subject:
            raise InvalidEnvelope("memory applicability subject must match anchor")
    elif applicability.subject:
        raise InvalidEnvelope("memory applicability subject is not allowed")
    if len(record.topics) > MAX_TOPICS:
        raise InvalidEnvelope("memory record topics exceed limit")
    last = ""
    for topic in record.topics:
        if topic <= last or not is_topic(topic):
            raise InvalidEnvelope("memory record topics are invalid, duplicate, or unsorted")
        last = topic
    _check_evidence(record.evidence, "memory record evidence is invalid")
    _check_kind(record)


def _check_anchor(anchor: Anchor) -> None:
    if not is_oid(anchor.commit):
        raise InvalidEnvelope("memory anchor commit is invalid")
    if len(anchor.paths) > MAX_PATHS:
        raise InvalidEnvelope("memory anchor paths exceed limit")
    total = 0
    last = ""
    for entry in anchor.paths:
        if not is_path(entry.path):
            raise InvalidEnvelope("memory anchor path is invalid")
        if entry.path <= last:
            raise InvalidEnvelope("memory anchor paths are duplicate or unsorted")
        if entry.blob != ABSENT and not is_oid(entry.blob):
            raise InvalidEnvelope("memory anchor blob is invalid")
        last = entry.path
        total += utf8_length(entry.path)
    if total > MAX_PATHS_BYTES:
        raise InvalidEnvelope("memory anchor paths exceed limit")
    if anchor.subject and not is_subject(anchor.subject):
        raise InvalidEnvelope("memory anchor subject is invalid")


def _check_evidence(evidence: tuple[str, ...], message: str) -> None:
    if len(evidence) > MAX_EVIDENCE or len(set(evidence)) != len(evidence):
        raise InvalidEnvelope(message)
    for entry in evidence:
        if not is_evidence(entry):
            raise InvalidEnvelope(message)


def _check_kind(record: Record) -> None:
    kind = record.kind
    if kind in _PLAIN_KINDS:
        if record.attempt_outcome or record.handoff is not None:
            raise InvalidEnvelope("memory record kind has invalid fields")
    elif kind == "attempt":
        if record.handoff is not None or not is_reason(record.attempt_outcome, MAX_OUTCOME_BYTES):
            raise InvalidEnvelope("memory attempt fields are invalid")
    elif kind == "verification":
        if record.attempt_outcome or record.handoff is not None or not record.evidence:
            raise InvalidEnvelope("memory verification fields are invalid")
    else:
        if record.attempt_outcome or record.handoff is None:
            raise InvalidEnvelope("memory handoff fields are invalid")
        _check_handoff(record.handoff)


def _check_handoff(handoff: Handoff) -> None:
    for entries in (handoff.completed, handoff.assumptions, handoff.blockers, handoff.next_actions):
        if len(entries) > MAX_HANDOFF_ENTRIES:
            raise InvalidEnvelope("memory handoff list is missing or exceeds limit")
        total = 0
        for entry in entries:
            size = utf8_length(entry)
            if size > MAX_HANDOFF_ENTRY_BYTES or is_blank(entry):
                raise InvalidEnvelope("memory handoff entry is invalid")
            total += size
        if total > MAX_HANDOFF_LIST_BYTES:
            raise InvalidEnvelope("memory handoff list is missing or exceeds limit")
