"""Between envelopes and the mappings of their JSON form.

Reading takes fields in any order and treats an absent, a null and an empty optional
field alike, refuses unknown fields and wrong types, and judges nothing else.
docs/protocol.md, "Canonical JSON".
"""

from __future__ import annotations

from ai_kb.hn.envelope_types import (
    Anchor,
    Applicability,
    Envelope,
    Handoff,
    PathAnchor,
    Record,
)
from ai_kb.hn.errors import InvalidEnvelope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ENVELOPE_FIELDS = (
    "protocol",
    "operation",
    "actor",
    "actorName",
    "publicKey",
    "stream",
    "sequence",
    "timestamp",
    "previous",
    "record",
    "target",
    "reason",
    "evidence",
)
RECORD_FIELDS = (
    "kind",
    "content",
    "anchor",
    "applicability",
    "topics",
    "evidence",
    "attemptOutcome",
    "handoff",
)
ANCHOR_FIELDS = ("commit", "paths", "subject")
PATH_FIELDS = ("path", "blob")
APPLICABILITY_FIELDS = ("mode", "subject")
HANDOFF_FIELDS = ("completed", "assumptions", "blockers", "nextActions")

_ENVELOPE_SET = frozenset(ENVELOPE_FIELDS)
_RECORD_SET = frozenset(RECORD_FIELDS)
_ANCHOR_SET = frozenset(ANCHOR_FIELDS)
_PATH_SET = frozenset(PATH_FIELDS)
_APPLICABILITY_SET = frozenset(APPLICABILITY_FIELDS)
_HANDOFF_SET = frozenset(HANDOFF_FIELDS)

_INVALID = "invalid memory JSON"
_EMPTY: Mapping[str, object] = {}


def _mapping(value: object, allowed: frozenset[str]) -> Mapping[str, object]:
    if value is None:
        return _EMPTY
    mapping = value if isinstance(value, dict) else _other_mapping(value)
    if not allowed.issuperset(mapping):
        _refuse_unknown(mapping, allowed)
    return mapping


def _other_mapping(value: object) -> Mapping[str, object]:
    """A caller's mapping that is no dict; decoded JSON is always one."""
    from collections.abc import Mapping

    if not isinstance(value, Mapping):
        raise InvalidEnvelope(_INVALID)
    return value


def _refuse_unknown(value: Mapping[str, object], allowed: frozenset[str]) -> None:
    """The readers of the protocol ignore the case of keys before they compare bytes."""
    from ai_kb.hn.strictjson import fold

    folded = {fold(name) for name in allowed}
    for name in value:
        if not isinstance(name, str) or fold(name) not in folded:
            raise InvalidEnvelope(_INVALID)
    raise InvalidEnvelope("memory JSON is not canonical")


def _text(value: object) -> str:
    if type(value) is str:
        return value
    if value is None:
        return ""
    raise InvalidEnvelope(_INVALID)


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if type(value) is not list and type(value) is not tuple:
        raise InvalidEnvelope(_INVALID)
    for entry in value:
        if type(entry) is not str:
            # null among strings reads as an empty one, which no list allows.
            return tuple(_text(entry) for entry in value)
    return tuple(value)


def _required(value: object, message: str) -> tuple[str, ...]:
    if value is None:
        raise InvalidEnvelope(message)
    return _texts(value)


def read_envelope(value: object) -> Envelope:
    """The envelope that the mapping ``value`` states. Raises InvalidEnvelope on an unknown field or a
    wrong type."""
    get = _mapping(value, _ENVELOPE_SET).get
    sequence = get("sequence")
    if type(sequence) is not int:
        if sequence is not None:
            raise InvalidEnvelope(_INVALID)
        sequence = 0
    record = get("record")
    return Envelope(
        _text(get("protocol")),
        _text(get("operation")),
        _text(get("actor")),
        _text(get("actorName")),
        _text(get("publicKey")),
        _text(get("stream")),
        sequence,
        _text(get("timestamp")),
        _text(get("previous")),
        None if record is None else read_record(record),
        _text(get("target")),
        _text(get("reason")),
        _texts(get("evidence")),
    )


def read_record(value: object) -> Record:
    """The record that the mapping ``value`` states. Raises InvalidEnvelope."""
    get = _mapping(value, _RECORD_SET).get
    handoff = get("handoff")
    return Record(
        _text(get("kind")),
        _text(get("content")),
        read_anchor(get("anchor")),
        read_applicability(get("applicability")),
        _required(get("topics"), "memory record topics are required"),
        _required(get("evidence"), "memory record evidence is required"),
        _text(get("attemptOutcome")),
        None if handoff is None else read_handoff(handoff),
    )


def read_anchor(value: object) -> Anchor:
    """The anchor that the mapping ``value`` states. Raises InvalidEnvelope."""
    get = _mapping(value, _ANCHOR_SET).get
    paths = get("paths")
    if not paths:
        if paths is not None and type(paths) is not list and type(paths) is not tuple:
            raise InvalidEnvelope(_INVALID)
        return Anchor(_text(get("commit")), (), _text(get("subject")))
    if type(paths) is not list and type(paths) is not tuple:
        raise InvalidEnvelope(_INVALID)
    return Anchor(_text(get("commit")), tuple(map(_read_path, paths)), _text(get("subject")))


def _read_path(value: object) -> PathAnchor:
    get = _mapping(value, _PATH_SET).get
    return PathAnchor(_text(get("path")), _text(get("blob")))


def read_applicability(value: object) -> Applicability:
    """The applicability that the mapping ``value`` states. Raises InvalidEnvelope."""
    get = _mapping(value, _APPLICABILITY_SET).get
    return Applicability(_text(get("mode")), _text(get("subject")))


def read_handoff(value: object) -> Handoff:
    """The handoff that the mapping ``value`` states; all four lists are required."""
    get = _mapping(value, _HANDOFF_SET).get
    missing = "memory handoff list is missing or exceeds limit"
    return Handoff(
        _required(get("completed"), missing),
        _required(get("assumptions"), missing),
        _required(get("blockers"), missing),
        _required(get("nextActions"), missing),
    )


def envelope_mapping(envelope: Envelope) -> dict[str, object]:
    """``envelope`` as the mapping of its JSON form: canonical order, empty optional fields left out."""
    out: dict[str, object] = {
        "protocol": envelope.protocol,
        "operation": envelope.operation,
        "actor": envelope.actor,
        "actorName": envelope.actor_name,
        "publicKey": envelope.public_key,
        "stream": envelope.stream,
        "sequence": envelope.sequence,
        "timestamp": envelope.timestamp,
    }
    if envelope.previous:
        out["previous"] = envelope.previous
    if envelope.record is not None:
        out["record"] = record_mapping(envelope.record)
    if envelope.target:
        out["target"] = envelope.target
    if envelope.reason:
        out["reason"] = envelope.reason
    if envelope.evidence:
        out["evidence"] = envelope.evidence
    return out


def record_mapping(record: Record) -> dict[str, object]:
    """``record`` as the mapping of its JSON form, fields in canonical order (``data`` in results)."""
    out: dict[str, object] = {
        "kind": record.kind,
        "content": record.content,
        "anchor": anchor_mapping(record.anchor),
        "applicability": applicability_mapping(record.applicability),
        "topics": record.topics,
        "evidence": record.evidence,
    }
    if record.attempt_outcome:
        out["attemptOutcome"] = record.attempt_outcome
    if record.handoff is not None:
        out["handoff"] = handoff_mapping(record.handoff)
    return out


def anchor_mapping(anchor: Anchor) -> dict[str, object]:
    """``anchor`` as the mapping of its JSON form."""
    out: dict[str, object] = {"commit": anchor.commit}
    if anchor.paths:
        out["paths"] = [{"path": entry.path, "blob": entry.blob} for entry in anchor.paths]
    if anchor.subject:
        out["subject"] = anchor.subject
    return out


def applicability_mapping(applicability: Applicability) -> dict[str, object]:
    """``applicability`` as the mapping of its JSON form."""
    if applicability.subject:
        return {"mode": applicability.mode, "subject": applicability.subject}
    return {"mode": applicability.mode}


def handoff_mapping(handoff: Handoff) -> dict[str, object]:
    """``handoff`` as the mapping of its JSON form."""
    return {
        "completed": handoff.completed,
        "assumptions": handoff.assumptions,
        "blockers": handoff.blockers,
        "nextActions": handoff.next_actions,
    }
