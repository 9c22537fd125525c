"""``hn-memory/0`` envelopes: bytes go in, verified objects come out, and nothing else makes one.

``verify_memory`` is the one way from untrusted bytes to a ``VerifiedMemory``. It
proves attribution and byte integrity, not truth, trust or authority.

memory-v0, "Envelope and record model"; docs/protocol.md, "Canonical JSON" and "Validity of an
envelope".
"""

from __future__ import annotations

from agent_base.digests import sha256_hex
from ai_kb.hn import canonical, keys
from ai_kb.hn.envelope_codec import (
    anchor_mapping,
    applicability_mapping,
    envelope_mapping,
    handoff_mapping,
    read_envelope,
    read_record,
    record_mapping,
)
from ai_kb.hn.envelope_rules import check, check_record, public_key_bytes
from ai_kb.hn.envelope_types import (
    ABSENT,
    KINDS,
    MODES,
    OPERATIONS,
    PROTOCOL,
    Anchor,
    Applicability,
    Envelope,
    Handoff,
    PathAnchor,
    Record,
    VerifiedMemory,
)
from ai_kb.hn.errors import HnError, InvalidEnvelope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ABSENT",
    "KINDS",
    "MAX_PAYLOAD_BYTES",
    "MODES",
    "OPERATIONS",
    "PROTOCOL",
    "Anchor",
    "Applicability",
    "Envelope",
    "Handoff",
    "PathAnchor",
    "Record",
    "VerifiedMemory",
    "anchor_mapping",
    "applicability_mapping",
    "check_record",
    "decode_envelope",
    "default_stream",
    "encode_envelope",
    "envelope_mapping",
    "envelope_to_bytes",
    "handoff_mapping",
    "memory_id",
    "read_record",
    "record_mapping",
    "verify_memory",
]

MAX_PAYLOAD_BYTES = 524_288  # memory.json in a Git tree

_DEFAULT_STREAM_DOMAIN = b"hn-memory-stream-v0"
_TOO_LARGE = f"memory JSON exceeds {MAX_PAYLOAD_BYTES} bytes"


def memory_id(payload: bytes) -> str:
    """The public memory id of exact ``memory.json`` bytes."""
    return "sha256:" + sha256_hex(payload)


def default_stream(actor: str) -> str:
    """The default stream id of ``actor`` (docs/protocol.md, "Identity")."""
    return memory_id(b"\0".join((_DEFAULT_STREAM_DOMAIN, actor.encode(), b"default")))


def encode_envelope(mapping: Mapping[str, object]) -> bytes:
    """Canonical bytes of an envelope given as a mapping of its JSON form, validated.

    Fields may come in any order; optional ones may be absent, empty or None.
    Raises InvalidEnvelope.
    """
    envelope = read_envelope(mapping)
    check(envelope)
    return _encode(envelope)


def envelope_to_bytes(envelope: Envelope) -> bytes:
    """Canonical bytes of ``envelope``, validated. Raises InvalidEnvelope."""
    return encode_envelope(envelope_mapping(envelope))


def decode_envelope(payload: bytes) -> Envelope:
    """The envelope that ``payload`` canonically encodes, validated. Raises InvalidEnvelope.

    1. at most MAX_PAYLOAD_BYTES, UTF-8, one JSON value
    2. known fields of the right types
    3. every rule of validity
    4. encoding what was decoded gives the same bytes

    A refusal is reasoned by orjson in any process: two parsers refuse the same, and not for the same reason.
    """
    by_orjson = canonical.has_orjson()  # asked first: it may be imported halfway, and the reason be mixed
    try:
        return _decode(payload)
    except InvalidEnvelope:
        if by_orjson:
            raise
        canonical.take_orjson()
    return _decode(payload)


def _decode(payload: bytes) -> Envelope:
    # (1)
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise InvalidEnvelope(_TOO_LARGE)
    try:
        value = canonical.parse(payload)
    except (ValueError, RecursionError) as error:
        raise InvalidEnvelope(_why_no_json(payload)) from error
    # (2)
    envelope = read_envelope(value)
    # (3)
    check(envelope)
    # (4)
    if _encode(envelope) != payload:
        raise InvalidEnvelope("memory JSON is not canonical")
    return envelope


def verify_memory(payload: bytes, signature: bytes) -> VerifiedMemory:
    """Decode, validate and verify: the 64 raw ``signature`` bytes over the exact ``payload``.

    Raises InvalidEnvelope or InvalidSignature.
    """
    envelope = decode_envelope(payload)
    keys.verify(public_key_bytes(envelope.public_key), payload, signature)
    return VerifiedMemory(memory_id(payload), envelope, payload)


def _encode(envelope: Envelope) -> bytes:
    try:
        payload = canonical.encode(envelope_mapping(envelope))
    except HnError as error:
        raise InvalidEnvelope("memory text is not valid UTF-8") from error
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise InvalidEnvelope(_TOO_LARGE)
    return payload


def _why_no_json(payload: bytes) -> str:
    """What is wrong with bytes that the JSON parser refused."""
    import json

    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return "invalid memory JSON encoding"
    try:
        _, end = json.JSONDecoder(parse_constant=_refuse, parse_float=_refuse).raw_decode(
            text.lstrip(" \t\r\n")
        )
    except (ValueError, RecursionError):
        return "invalid memory JSON"
    if text.lstrip(" \t\r\n")[end:].strip(" \t\r\n"):
        return "invalid memory JSON trailing data"
    return "memory JSON is not canonical"  # it names half a surrogate pair


def _refuse(_number: str) -> object:
    raise ValueError
