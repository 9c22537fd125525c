"""Canonical JSON of ``hn-memory/0``: the exact bytes that are signed, hashed and compared.

Not RFC 8785 and not what ``json`` or ``orjson`` print alone: fields stay in the order
given, and ``<``, ``>``, ``&``, U+2028 and U+2029 are escaped as Go's ``encoding/json`` does.
Input counts only when encoding what was decoded gives the same bytes; that one
comparison refuses whitespace, duplicate fields, other escapes, ``1.0`` and trailing data.

PROTOCOL, "Canonical JSON".
"""

from __future__ import annotations

import orjson

from ai_kb.hn.errors import HnError

_LINE_SEPARATOR = "\u2028".encode()
_PARAGRAPH_SEPARATOR = "\u2029".encode()


class NotCanonical(HnError):
    """Bytes that are no JSON, or not the canonical form of it."""

    code = "not-canonical"


def encode(value: object) -> bytes:
    """Canonical bytes of ``value``: dicts in their own order, lists, tuples, str, bool, None and
    integers from -2^63 to 2^64-1.

    Raises NotCanonical for what has no such form (a lone surrogate, a wider integer).
    """
    return _escaped(_dump(value, 0))


def encode_indented(value: object) -> bytes:
    """``value`` as ``encode`` writes it, but indented by two spaces; without a final line break."""
    return _escaped(_dump(value, orjson.OPT_INDENT_2))


def _dump(value: object, option: int) -> bytes:
    try:
        return orjson.dumps(value, option=option)
    except (TypeError, ValueError) as error:
        raise NotCanonical("the value has no canonical JSON form") from error


def _escaped(out: bytes) -> bytes:
    # These bytes occur in JSON only inside strings, so replacing them in the whole is exact.
    if b"<" in out:
        out = out.replace(b"<", b"\\u003c")
    if b">" in out:
        out = out.replace(b">", b"\\u003e")
    if b"&" in out:
        out = out.replace(b"&", b"\\u0026")
    if b"\xe2\x80" in out:
        out = out.replace(_LINE_SEPARATOR, b"\\u2028").replace(_PARAGRAPH_SEPARATOR, b"\\u2029")
    return out


def decode(data: bytes) -> object:
    """The value whose canonical form is exactly ``data``. Raises NotCanonical."""
    try:
        value: object = orjson.loads(data)
    except ValueError as error:
        raise NotCanonical("the bytes are not JSON") from error
    if encode(value) != data:
        raise NotCanonical("the JSON is not in canonical form")
    return value
