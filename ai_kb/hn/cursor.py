"""Continuation cursors, query digests and the source fingerprint: what binds a page to its query.

A cursor is only good for the same normalized request (bounds included), the same policy
bytes and the same heads of all accepted sources; anything else is an error, never a
silently different page. Recall and grep have domains of their own.

memory-v0, "Bounded recall" and "Explicit regex fallback"; docs/protocol.md, "Private index,
recall, cursors".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

from ai_kb.hn import canonical
from ai_kb.hn.errors import InvalidCursor, InvalidIndex, InvalidStream
from ai_kb.hn.fields import is_digest, is_oid
from ai_kb.hn.request import REQUEST_FIELDS, REQUIRED_FIELDS
from ai_kb.hn.streamrefs import parse_ref

RECALL = "recall"
GREP = "grep"
MAX_CURSOR_BYTES = 1024

_SOURCE_DOMAIN = b"hn-memory-index-source-v0"
_CURSOR_FIELDS = ("version", "queryDigest", "lastMemoryId")
_HEX_DIGEST_LENGTH = 64


def _domain(kind: str, part: str) -> str:
    return f"hn-memory-{kind}-{part}-v0"


def is_source_ref(ref: str) -> bool:
    """Whether ``ref`` is a local or accepted memory stream ref in its one form."""
    try:
        return parse_ref(ref) is not None
    except InvalidStream:
        return False


def source_fingerprint(policy_digest: str, sources: Iterable[tuple[str, str]]) -> str:
    """``sha256:…`` over the exact policy digest and every (ref, head), sorted by ref.

    Raises InvalidIndex for a ref given twice or in another namespace, or a malformed head or digest.
    """
    if not is_digest(policy_digest):
        raise InvalidIndex("invalid memory index policy digest")
    digest = hashlib.sha256()
    _add(digest, _SOURCE_DOMAIN)
    _add(digest, policy_digest.encode())
    last = ""
    for ref, head in sorted(sources):
        if not is_source_ref(ref):
            raise InvalidIndex("memory index source is not canonical")
        if ref == last:
            raise InvalidIndex("duplicate memory index source ref")
        if not is_oid(head):
            raise InvalidIndex("invalid memory index source head")
        last = ref
        _add(digest, ref.encode())
        _add(digest, head.encode())
    return "sha256:" + digest.hexdigest()


def _add(digest: hashlib._Hash, part: bytes) -> None:
    digest.update(len(part).to_bytes(8, "big"))
    digest.update(part)


def normalized_request(request: Mapping[str, object]) -> dict[str, object]:
    """``request`` in the order of REQUEST_FIELDS without what is absent: None, "", an empty list, False.

    ``version``, ``atCommit`` and the two bounds are always there. Values are taken as they are: the
    caller has trimmed, lowercased, sorted and defaulted them.
    """
    return {name: request[name] for name in REQUEST_FIELDS if name in REQUIRED_FIELDS or request.get(name)}


def query_digest(
    request: Mapping[str, object],
    source_fingerprint: str,
    policy_digest: str,
    *,
    kind: str = RECALL,
    extra: Mapping[str, object] | None = None,
) -> str:
    """``sha256:…`` that a cursor is bound to.

    ``request`` is the normalized request without cursor; ``kind`` is RECALL or GREP; ``extra`` holds
    further members of the material, which grep has.
    """
    material: dict[str, object] = {
        "domain": _domain(kind, "query"),
        "request": normalized_request(request),
        "sourceFingerprint": source_fingerprint,
        "policyDigest": policy_digest,
    }
    if extra:
        material.update(extra)
    return "sha256:" + hashlib.sha256(canonical.encode(material)).hexdigest()


def _checksum(kind: str, payload: bytes) -> str:
    return hashlib.sha256(_domain(kind, "cursor").encode() + b"\0" + payload).hexdigest()


def encode_cursor(query: str, last_memory_id: str, *, kind: str = RECALL) -> str:
    """The opaque cursor that continues after ``last_memory_id`` in the query of digest ``query``."""
    import base64

    payload = canonical.encode({"version": 0, "queryDigest": query, "lastMemoryId": last_memory_id})
    text = base64.urlsafe_b64encode(payload).rstrip(b"=").decode()
    return f"{text}.{_checksum(kind, payload)}"


def decode_cursor(cursor: str, query: str, *, kind: str = RECALL) -> str:
    """The memory id after which the page starts.

    Raises InvalidCursor when ``cursor`` is malformed, changed, or belongs to another query,
    source, policy or bound than the digest ``query``.
    """
    payload, checksum = _cursor_parts(cursor, kind)
    if checksum != _checksum(kind, payload):
        raise InvalidCursor(f"invalid {kind} cursor checksum")
    bound_query, last_memory_id = _cursor_fields(payload, kind)
    if bound_query != query or not is_digest(last_memory_id):
        raise InvalidCursor(
            f"{kind} cursor does not match the normalized query, sources, policy, or bounds",
            "start again without --cursor",
        )
    return last_memory_id


def _malformed(kind: str) -> InvalidCursor:
    return InvalidCursor(f"malformed {kind} cursor")


def _cursor_parts(cursor: str, kind: str) -> tuple[bytes, str]:
    import base64
    import binascii

    encoded, _, checksum = cursor.partition(".")
    # A line break inside the first part is skipped, as decoders of the protocol do.
    encoded = encoded.replace("\r", "").replace("\n", "")
    if not encoded or len(cursor) > MAX_CURSOR_BYTES or len(checksum) != _HEX_DIGEST_LENGTH:
        raise _malformed(kind)
    if re.fullmatch(r"[A-Za-z0-9_-]+", encoded) is None:
        raise _malformed(kind)
    try:
        payload = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
    except binascii.Error as error:
        raise _malformed(kind) from error
    if (
        base64.urlsafe_b64encode(payload).rstrip(b"=") != encoded.encode()
    ):  # spare bits are not free to change
        raise _malformed(kind)
    return payload, checksum


def _cursor_fields(payload: bytes, kind: str) -> tuple[str, str]:
    from ai_kb.hn.strictjson import Reader

    reader = Reader(f"malformed {kind} cursor", InvalidCursor, quote_fields=False)
    try:
        fields = reader.fields(reader.load(payload, limit=MAX_CURSOR_BYTES), _CURSOR_FIELDS)
        version = reader.integer(fields, "version")
        query, last = reader.text(fields, "queryDigest"), reader.text(fields, "lastMemoryId")
    except InvalidCursor as error:
        raise _malformed(kind) from error
    if version:
        raise InvalidCursor(
            f"{kind} cursor does not match the normalized query, sources, policy, or bounds",
            "start again without --cursor",
        )
    return query, last
