"""Collaboration events (``hn/0``), read only, so that ``event:`` evidence can point to them.

An actor's events are a chain of commits, one parent each, below ``refs/hn/actors/<actor>`` or,
accepted, ``refs/hn/remotes/<remote>/actors/<actor>``. This module is the pure part: bytes of one
event in, a verified event out. What a kind means is not looked at; the payload is not re-encoded.

docs/protocol.md, "Collaboration events, read only".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from agent_base.frozen import dataclass
from ai_kb.hn import keys
from ai_kb.hn.errors import InvalidEvent, InvalidSignature
from ai_kb.hn.fields import is_actor, is_rfc3339
from ai_kb.hn.strictjson import Reader

EVENT_PROTOCOL = "hn/0"
ACTORS_PREFIX = "refs/hn/actors"
EVENT_FILE = "event.json"
SIGNATURE_FILE = "signature"
LOG_FILE = "log.txt"
LOG_KIND = "run.result"
EVENT_KINDS = frozenset(
    {
        "issue.open",
        "issue.comment",
        "issue.revise",
        "proposal.open",
        "proposal.revise",
        "review.submit",
        "run.request",
        "run.result",
        "proposal.decision",
        "proposal.merged",
        "identity.authorize",
        "identity.accept",
    }
)

_reader = Reader("collaboration event", InvalidEvent, quote_fields=False)


@dataclass(frozen=True, slots=True)
class VerifiedEvent:
    """An event whose place in its actor's chain and whose signature were verified."""

    id: str
    kind: str
    sequence: int


def event_ref_actor(ref: str) -> str | None:
    """The actor of a local or accepted event ref; None for any other ref."""
    parts = ref.split("/")
    if (parts[:3] == ["refs", "hn", "actors"] and len(parts) == 4) or (
        parts[:3] == ["refs", "hn", "remotes"] and parts[4:5] == ["actors"] and len(parts) == 6
    ):
        return parts[-1] if is_actor(parts[-1]) else None
    return None


def event_files(kind: str) -> frozenset[str]:
    """The exact names in the tree of an event of ``kind``."""
    names = {EVENT_FILE, SIGNATURE_FILE}
    return frozenset({*names, LOG_FILE} if kind == LOG_KIND else names)


def verify_event(
    payload: bytes, signature: bytes, *, actor: str, sequence: int, previous: str
) -> VerifiedEvent:
    """The event in ``payload``, which must be ``actor``'s number ``sequence`` after the event ``previous``
    ("" before the first). ``signature`` is the 64 raw bytes. Raises InvalidEvent.

    1. JSON object, no field twice
    2. protocol, actor, publicKey of that fingerprint
    3. sequence, previous
    4. timestamp, kind
    5. the signature over the exact bytes
    """
    # (1)
    value = _reader.load(payload, limit=len(payload))
    if not isinstance(value, dict):
        raise _reader.refuse("it must be an object")
    # (2)
    if value.get("protocol") != EVENT_PROTOCOL:
        raise _reader.refuse("protocol is unsupported")
    if value.get("actor") != actor:
        raise _reader.refuse("actor does not match the ref")
    try:
        key = keys.decode_b64(_reader.text(value, "publicKey"))
    except ValueError as error:
        raise _reader.refuse("publicKey is invalid") from error
    if len(key) != keys.PUBLIC_KEY_BYTES:
        raise _reader.refuse("publicKey is invalid")
    if keys.actor_of(key) != actor:
        raise _reader.refuse("publicKey does not match the actor")
    # (3)
    if type(value.get("sequence")) is not int or value["sequence"] != sequence:
        raise _reader.refuse("sequence does not count from the event before")
    named = value.get("previous")
    if ("" if named is None else named) != previous:
        raise _reader.refuse("previous does not name the event before")
    # (4)
    timestamp, kind = value.get("timestamp"), value.get("kind")
    if not isinstance(timestamp, str) or not is_rfc3339(timestamp):
        raise _reader.refuse("timestamp is invalid")
    if not isinstance(kind, str) or kind not in EVENT_KINDS:
        raise _reader.refuse("kind is unsupported")
    # (5)
    try:
        keys.verify(key, payload, signature)
    except InvalidSignature as error:
        raise _reader.refuse("the signature is invalid") from error
    return VerifiedEvent("sha256:" + hashlib.sha256(payload).hexdigest(), kind, sequence)


def verify_chain(
    actor: str, entries: Iterable[tuple[bytes, bytes, Iterable[str]]], after: VerifiedEvent | None = None
) -> Iterator[VerifiedEvent]:
    """The verified events of a chain, oldest first, from ``after`` (None: from its root) on.

    Each entry is (payload, signature text as stored, names in the commit's tree). Raises InvalidEvent
    at the first entry that breaks a rule; what was yielded before stands.
    """
    sequence, previous = (0, "") if after is None else (after.sequence, after.id)
    for payload, text, names in entries:
        sequence += 1
        try:
            signature = keys.decode_b64(text.decode("ascii"))
        except ValueError as error:
            raise _reader.refuse("the signature is not canonical base64") from error
        event = verify_event(payload, signature, actor=actor, sequence=sequence, previous=previous)
        if set(names) != event_files(event.kind):
            raise _reader.refuse("its tree does not hold exactly the files of its kind")
        previous = event.id
        yield event
