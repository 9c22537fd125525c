"""Command lines that can be pasted into a shell whatever text they carry.

``word`` gives a POSIX shell word of visible characters on one line: quotes, ``$()``,
backticks, newlines, leading hyphens, escape sequences and bidirectional controls all come
back as they were when ``sh`` reads it. Nothing here runs a shell.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from agent_base import inert

# Nothing that a shell reads in a special way between single quotes, also not an old one inside "$(…)".
_PLAIN = frozenset(" ,.:;/_=+@%^~?*&|<>[]{}#-")


def word(text: str) -> str:
    """``text`` as one shell word.

    A lone surrogate becomes U+FFFD, a NUL (no argument can hold one) a space, and final line
    breaks of a text with several lines are lost.
    """
    text = inert.clean_surrogates(text).replace("\0", " ")
    if inert.terminal(text).replace("\\\\", "\\") == text:
        return shlex.quote(text)
    # Not visible on one line: let printf make it. Command substitution drops final newlines,
    # and an interactive bash would expand "!" inside the double quotes.
    return f"\"$(printf '%b' {shlex.quote(''.join(map(_octal, text)))})\""


def _octal(char: str) -> str:
    if char == "\n":
        return "\\n"
    if char.isalnum() or char in _PLAIN:
        return char
    if char.isascii() or inert.terminal(char) != char:
        return "".join(f"\\0{byte:03o}" for byte in char.encode())
    return char


def option(name: str, value: str) -> str:
    """``--name=value``, so that a value with a leading hyphen is no option of its own."""
    quoted = word(value)
    return f"--{name}={quoted}"


def line(words: Iterable[str]) -> str:
    """Words that were quoted already, joined."""
    return " ".join(words)
