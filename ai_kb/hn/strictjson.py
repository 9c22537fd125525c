"""Strict JSON as people and programs hand it in: machine requests and the policy file.

One value, valid UTF-8, bounded, no field twice, no unknown field, exact types. The case
of keys is ignored and an explicit null counts as absent, as in the first implementation
of the protocol. Nothing of the input but a caller's own field name is ever repeated.

memory-v0, "Record, correct, and hand off"; docs/protocol.md, "Policy".
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from agent_base.inert import clean_surrogates, terminal
from ai_kb.hn.errors import HnError

MAX_REQUEST_BYTES = 1 << 20

_SPACE = " \t\r\n"


class Reader:
    """Reads one kind of document. ``what`` begins every message, ``error`` is raised, and
    ``quote_fields`` allows a message to name an unknown or repeated field (escaped)."""

    def __init__(self, what: str, error: type[HnError], *, quote_fields: bool = True) -> None:
        self.what = what
        self.error = error
        self.quote_fields = quote_fields

    def refuse(self, rule: str) -> HnError:
        """The error for a broken ``rule``, to be raised by the caller."""
        return self.error(f"{self.what}: {rule}")

    def load(self, data: bytes, *, limit: int = MAX_REQUEST_BYTES) -> object:
        """The one JSON value in ``data``; raises when it is none, too large or has a field twice."""
        if len(data) > limit:
            raise self.refuse(f"JSON exceeds {limit} bytes")
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise self.refuse("JSON is not valid UTF-8") from error
        text = text.strip(_SPACE)
        if not text:
            raise self.refuse("invalid JSON: it is empty")
        decoder = json.JSONDecoder(object_pairs_hook=self._object, parse_constant=self._constant)
        try:
            value, end = decoder.raw_decode(text)
        except RecursionError as error:
            raise self.refuse("invalid JSON: it is nested too deeply") from error
        except ValueError as error:
            raise self.refuse("invalid JSON") from error
        if end < len(text):
            raise self.refuse("JSON must contain exactly one value")
        return value

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        value: dict[str, object] = {}
        for name, entry in pairs:
            if name in value:
                raise self.refuse(f"duplicate JSON field{self._quoted(name)}")
            value[name] = entry
        return value

    def _constant(self, _name: str) -> object:
        raise self.refuse("invalid JSON")

    def _quoted(self, name: str) -> str:
        return f' "{terminal(clean_surrogates(name)[:128])}"' if self.quote_fields else ""

    def fields(self, value: object, names: Iterable[str], where: str = "") -> dict[str, object]:
        """The fields of the object ``value`` under their exact ``names``; nulls left out.

        Raises for anything but an object (null is an empty one) and for an unknown field;
        ``where`` says which object that is.
        """
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.refuse(f"invalid JSON: {where or 'it'} must be an object")
        known = {fold(name): name for name in names}
        out: dict[str, object] = {}
        for given, entry in value.items():
            name = known.get(given) or known.get(fold(given))
            if name is None:
                place = f" in {where}" if where else ""
                raise self.refuse(f"invalid JSON: unknown field{self._quoted(given)}{place}")
            if entry is None:
                out.pop(name, None)
            else:
                out[name] = entry
        return out

    def text(self, fields: dict[str, object], name: str) -> str:
        """The string field ``name``, "" when absent."""
        value = fields.get(name, "")
        if not isinstance(value, str):
            raise self.refuse(f"invalid JSON: {name} must be a string")
        return clean_surrogates(value)

    def integer(self, fields: dict[str, object], name: str) -> int | None:
        """The integer field ``name`` (64 bits, no fraction, no exponent), None when absent."""
        value = fields.get(name)
        if value is None:
            return None
        if type(value) is not int or not -(2**63) <= value < 2**63:
            raise self.refuse(f"invalid JSON: {name} must be an integer")
        return value

    def flag(self, fields: dict[str, object], name: str) -> bool:
        """The boolean field ``name``, False when absent."""
        value = fields.get(name, False)
        if not isinstance(value, bool):
            raise self.refuse(f"invalid JSON: {name} must be true or false")
        return value

    def texts(self, fields: dict[str, object], name: str) -> list[str] | None:
        """The list of strings in field ``name``, None when absent."""
        value = fields.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(entry is None or isinstance(entry, str) for entry in value):
            raise self.refuse(f"invalid JSON: {name} must be a list of strings")
        return ["" if entry is None else clean_surrogates(entry) for entry in value]


def fold(name: str) -> str:
    """Field names that differ only in case fold to the same text, long s and the Kelvin sign included.
    (``casefold`` would also take a sharp s for two.)"""
    return name.lower().replace("\u017f", "s")
