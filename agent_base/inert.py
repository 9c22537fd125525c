"""The one place that makes text inert.

Text from memory, repositories, tools and other users is hostile until one of these
functions has rendered it. ``json_line`` is for what a model reads, ``terminal`` for
what a person reads in a terminal. Neither output contains a line break, a control, a
bidirectional or zero-width character, a lone surrogate, or ``<``, ``>``, ``&`` (json_line).
``block`` and ``html`` are for text of several lines: for a model, and for a page.
"""

from __future__ import annotations

import unicodedata

from agent_base import lightjson

# Cc controls, Cf formats (bidirectional, zero-width, tags), Cs lone surrogates, Co private use,
# Cn unassigned, Zl/Zp line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters and marks that show as nothing, by which a text could be hidden in another: joiners, fillers, and
# variation selectors but the two that choose between text and emoji.
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    "\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d"
)
_UNSEEN = _HIDDEN - {"Co", "Cn"}  # for private use, and of a later Unicode: some font shows them
_PLANE_14 = "\U000e0000"  # tags and more variation selectors

_STACKED = frozenset({"Mn", "Me"})
_MOST_MARKS = 6
_REFERENCES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def _hidden(char: str) -> bool:
    if char < "\x7f":
        return False
    return unicodedata.category(char) in _HIDDEN or char in _INVISIBLE or char >= _PLANE_14


def shows(text: str) -> bool:
    """Whether anything of ``text`` can be seen: white space, controls and invisible characters cannot."""
    return any(
        not char.isspace()
        and unicodedata.category(char) not in _UNSEEN
        and char not in _INVISIBLE
        and char < _PLANE_14
        for char in text
    )


def json_line(value: object) -> str:
    """``value`` as JSON on one line that cannot close a tag, start a line or hide a character.

    ``json.loads`` of it gives ``value`` back, except that a lone surrogate becomes U+FFFD.
    """
    text = lightjson.dumps(value, ascii_only=False)
    if text.isascii() and not any(c in text for c in "<>&\x7f"):
        return text
    out: list[str] = []
    for char in text:
        if char in "<>&":
            out.append(_escape(char))
        elif "\ud800" <= char <= "\udfff":
            out.append("\ufffd")
        elif _hidden(char):
            out.append(_escape(char))
        else:
            out.append(char)
    return "".join(out)


def terminal(text: str) -> str:
    """``text`` for one line of a terminal: backslashes doubled, controls, format characters,
    line breaks and lone surrogates as ``\\uXXXX`` (``\\n``, ``\\t``, ``\\r`` short)."""
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
    return "".join(short[c] if c in short else _escape(c) if c < " " or _hidden(c) else c for c in text)


def html(text: str) -> str:
    """``text`` for a page, inside an element or a quoted attribute: it stays text there.

    ``&``, ``<``, ``>`` and both quotes are references; controls but ``\\n`` and ``\\t``, format
    characters, separators, private characters and what is stacked on a letter beyond six marks (they
    would be drawn over other text) are shown as ``\\uXXXX``; lone surrogates become U+FFFD; ``\\r\\n``
    is ``\\n``.
    """
    if text.isalnum() and text.isascii():
        return text
    out: list[str] = []
    marks = 0
    for char in text.replace("\r\n", "\n"):
        marks = marks + 1 if char >= "\u0300" and unicodedata.category(char) in _STACKED else 0
        if char in _REFERENCES:
            out.append(_REFERENCES[char])
        elif "\ud800" <= char <= "\udfff":
            out.append("\ufffd")
        elif (char < " " and char not in "\n\t") or _hidden(char) or marks > _MOST_MARKS:
            out.append(_escape(char))
        else:
            out.append(char)
    return "".join(out)


def clean_surrogates(text: str) -> str:
    """``text`` without lone surrogates (each becomes U+FFFD): safe to encode and to inject."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def block(text: str, prefix: str = "    ") -> str:
    """``text`` of several lines, each behind ``prefix``, for what a model reads.

    No line of it can start a heading, close a tag or a fence, or hide a character: ``<`` and every
    control, format and separator character but the tab is escaped as ``\\uXXXX``; lone surrogates
    become U+FFFD. Only ``\\n`` and ``\\r\\n`` end a line. Final line breaks are left out.
    """
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    return "\n".join((prefix + _visible(line)).rstrip(" ") for line in lines)


def _visible(line: str) -> str:
    if line.isascii() and line.isprintable() and "<" not in line:
        return line
    return "".join(
        "\ufffd"
        if "\ud800" <= c <= "\udfff"
        else _escape(c)
        if c == "<" or (c < " " and c != "\t") or _hidden(c)
        else c
        for c in line
    )
