"""JSON for hooks: the standard library's C scanner and encoder without its Python modules.

``import json`` brings ``re``, ``enum`` and ``collections``: as much time as a bare interpreter takes
to start. The C functions below it do all the work. They are an implementation detail of CPython, so
whatever is missing or different falls back to ``json``. Same values, same leniency (``NaN``,
duplicate keys) as ``json.loads`` with ``strict=False`` (a string may hold raw control characters) and
``json.dumps``; no options. Errors are ValueError (or RecursionError for input nested too deeply), as there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BLANK = " \t\n\r"
_CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _Context:
    """What ``_json.make_scanner`` reads its settings from."""

    strict = False  # a raw control character in a string is no reason to lose an event
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _CONSTANTS.__getitem__

    def __init__(self) -> None:
        self.memo: dict[str, str] = {}


def _scanner() -> Callable[[str, int], tuple[Any, int]] | None:
    try:
        from _json import make_scanner

        scan: Callable[[str, int], tuple[Any, int]] = make_scanner(_Context())  # type: ignore[arg-type]
        if scan('{"a":[1,"b",null]} ', 0) != ({"a": [1, "b", None]}, 18):
            return None
    except (ImportError, AttributeError, TypeError, ValueError):
        return None
    return scan


def _encoder(*, ascii_only: bool) -> Callable[[object, int], tuple[str, ...]] | None:
    try:
        from _json import encode_basestring, encode_basestring_ascii, make_encoder

        text = encode_basestring_ascii if ascii_only else encode_basestring
        encode: Callable[[object, int], tuple[str, ...]] = make_encoder(
            None, _refuse, text, None, ":", ",", False, False, True
        )
        if "".join(encode({"a": [1, "b", None]}, 0)) != '{"a":[1,"b",null]}':
            return None
    except (ImportError, AttributeError, TypeError, ValueError):
        return None
    return encode


def _refuse(value: object) -> object:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def loads(data: str | bytes) -> Any:
    """The value that ``data`` (UTF-8 when bytes; a byte-order mark is skipped) is JSON for.

    Raises:
        ValueError: it is not exactly one JSON value.
        RecursionError: it is nested too deeply.
    """
    text = data.decode("utf-8", "surrogatepass") if isinstance(data, bytes) else data
    text = text.removeprefix("\ufeff")
    scan = _scanner()
    if scan is not None:
        start = len(text) - len(text.lstrip(_BLANK))
        try:
            value, end = scan(text, start)
        except (StopIteration, SystemError):
            pass  # malformed (SystemError: the scanner wants to raise a class of `json`)
        else:
            if not text[end:].strip(_BLANK):
                return value
    import json  # it knows how to say what is wrong

    return json.loads(text, strict=False)


def dumps(value: object, *, ascii_only: bool = True) -> str:
    """``value`` as compact JSON; keys in the order they stand; other characters than ASCII as
    they are unless ``ascii_only``. TypeError for what JSON has no form for."""
    encode = _encoder(ascii_only=ascii_only)
    if encode is None:
        import json

        return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    if isinstance(value, str | int | float | None):
        return "".join(encode([value], 0))[1:-1]
    return "".join(encode(value, 0))
