"""Unicode as the protocol sees it: white space, controls, simple lowercase, letters and numbers.

The tables are shipped, so the answers do not depend on the Python that runs. Plain
ASCII, the common case, never loads them.
"""

from __future__ import annotations

import os

# unicode White_Space, which is what "blank" and "trimmed" mean. str.strip() would also take
# U+001C to U+001F.
SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_CONTROLS = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
_CONTROL_SET = frozenset(_CONTROLS)

_TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "unicode-17.json")

_ranges: list[tuple[int, int]] = []
_starts: list[int] = []
_lower: dict[int, int] = {}


def _load() -> None:
    if _ranges:
        return
    import json

    with open(_TABLES, encoding="ascii") as file:
        tables = json.load(file)
    _lower.update(tables["lower"])
    _starts.extend(first for first, _ in tables["letter_or_number"])
    _ranges.extend((first, last) for first, last in tables["letter_or_number"])


def is_letter_or_number(code: int) -> bool:
    """Whether the code point is of a category L* or N*."""
    from bisect import bisect_right

    _load()
    at = bisect_right(_starts, code) - 1
    return at >= 0 and code <= _ranges[at][1]


def lower_code(code: int) -> int:
    """The simple lowercase mapping of a code point (U+0130 gives ``i``)."""
    _load()
    return _lower.get(code, code)


def lower(text: str) -> str:
    """``text`` with every character lowercased on its own: no final sigma, no growth."""
    if text.isascii():
        return text.lower()
    _load()
    return text.translate(_lower)


def trim(text: str) -> str:
    """``text`` without leading and trailing white space."""
    return text.strip(SPACES)


def is_blank(text: str) -> bool:
    """Whether ``text`` holds nothing but white space."""
    return not text.strip(SPACES)


def has_control(text: str) -> bool:
    """Whether ``text`` holds a control character: U+0000 to U+001F, U+007F to U+009F."""
    if text.isprintable():  # no category C* at all, which is most text
        return False
    return not _CONTROL_SET.isdisjoint(text)


def is_unicode(text: str) -> bool:
    """Whether ``text`` has a form in UTF-8: no lone surrogate, as bytes of another encoding leave behind."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def utf8_length(text: str) -> int:
    """Bytes of ``text`` in UTF-8; a lone surrogate, which encoding refuses later, counts three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def normalize_topics(topics: list[str]) -> list[str]:
    """Topics as a writer or a filter states them, in the form records carry: trimmed, lowercase,
    unique, ascending bytewise. Whether each is a valid topic is another question."""
    return sorted({lower(trim(topic)) for topic in topics})
