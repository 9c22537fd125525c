"""Canonical JSON of ``hn-memory/0``: the exact bytes that are signed, hashed and compared.

Not RFC 8785 and not what ``json`` or ``orjson`` print alone: fields stay in the order
given, and ``<``, ``>``, ``&``, U+2028 and U+2029 are escaped as Go's ``encoding/json`` does.
Input counts only when encoding what was decoded gives the same bytes; that one
comparison refuses whitespace, duplicate fields, other escapes, ``1.0`` and trailing data.

docs/protocol.md, "Canonical JSON".
"""

from __future__ import annotations

import sys

from agent_base import lightjson
from ai_kb.hn.errors import HnError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

# orjson is ten times as fast and takes two bare interpreters' starts to import. A process that verifies a
# record or two does without; the standard library's C encoder prints the same bytes for it.
_LIGHT_CALLS = 256
_MAX_INTEGER = 2**64 - 1
_MIN_INTEGER = -(2**63)
_light_calls = 0

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
    orjson = _fast()
    if orjson is None and _has_odd_number(value):
        import orjson  # it refuses what is too wide, and the protocol has no other numbers
    if orjson is None:
        try:
            return _escaped(lightjson.dumps(value, ascii_only=False).encode())
        except (TypeError, ValueError, RecursionError) as error:
            raise NotCanonical("the value has no canonical JSON form") from error
    return _escaped(_dump(orjson, value, 0))


def encode_indented(value: object) -> bytes:
    """``value`` as ``encode`` writes it, but indented by two spaces; without a final line break."""
    import orjson

    return _escaped(_dump(orjson, value, orjson.OPT_INDENT_2))


def _fast() -> ModuleType | None:
    """orjson where it is there already, or where importing it pays."""
    global _light_calls
    if not has_orjson() and _light_calls < _LIGHT_CALLS:
        _light_calls += 1
        return None
    import orjson

    return orjson


def has_orjson() -> bool:
    """Whether this process uses orjson already."""
    return "orjson" in sys.modules


def take_orjson() -> None:
    """Use orjson from now on."""
    import orjson  # noqa: F401


def _has_odd_number(value: object) -> bool:
    """Whether ``value`` holds a float, or an integer that has no 64 bits to fit in."""
    if isinstance(value, int):
        return not _MIN_INTEGER <= value <= _MAX_INTEGER
    if isinstance(value, dict):
        return any(map(_has_odd_number, value.values()))
    return isinstance(value, float) or (isinstance(value, list | tuple) and any(map(_has_odd_number, value)))


def _dump(orjson: ModuleType, value: object, option: int) -> bytes:
    try:
        out: bytes = orjson.dumps(value, option=option)
    except (TypeError, ValueError) as error:
        raise NotCanonical("the value has no canonical JSON form") from error
    return out


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


def parse(data: bytes) -> object:
    """The value that ``data`` is JSON for. Lenient in what the one comparison of the bytes with their
    canonical form will refuse anyway, which is for the caller to make.

    Raises ValueError or RecursionError.
    """
    orjson = _fast()
    value: object = lightjson.loads(data) if orjson is None else orjson.loads(data)
    return value


def decode(data: bytes) -> object:
    """The value whose canonical form is exactly ``data``. Raises NotCanonical."""
    try:
        value = parse(data)
    except (ValueError, RecursionError) as error:
        raise NotCanonical("the bytes are not JSON") from error
    if encode(value) != data:
        raise NotCanonical("the JSON is not in canonical form")
    return value
