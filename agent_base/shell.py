"""Words for a POSIX shell, printed where a model or a person will copy them from.

``word`` gives one visible line whatever the text is, and ``sh`` reads the same text back. It cannot
forge a frame around it: no line break, no ``<``, ``>`` or ``&``, no hidden character. No ``shlex``:
that imports ``re``, and hooks print commands.
"""

from __future__ import annotations

from agent_base import inert

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-")
_FRAMES = frozenset("<>&")


def word(text: str) -> str:
    """``text`` as one word of a command line.

    Bare where that is safe, else in single quotes, else (line breaks, controls, format characters,
    ``<>&``) as ``"$(printf %b '…')"``, which loses final line breaks. What no argument can hold,
    NUL, becomes a space; a lone surrogate that stands for a byte of a path becomes that byte.
    """
    text = text.replace("\0", " ")
    if text and _BARE.issuperset(text) and text[0] != "=":  # zsh: `=name` is where a command is
        return text
    if _shows_as_it_is(text):
        return "'" + text.replace("'", "'\\''") + "'"
    return f"\"$(printf %b '{''.join(map(_octal, text))}')\""


def _shows_as_it_is(text: str) -> bool:
    return _FRAMES.isdisjoint(text) and inert.terminal(text.replace("\\", "/")) == text.replace("\\", "/")


def _octal(char: str) -> str:
    if char.isascii() and (char.isalnum() or char in " ,.:/_=+@-"):
        return char
    if not char.isascii() and inert.terminal(char) == char:
        return char
    if "\udc80" <= char <= "\udcff":
        return f"\\0{ord(char) - 0xDC00:03o}"
    return "".join(f"\\0{byte:03o}" for byte in char.encode("utf-8", "replace"))


def command(*words: str) -> str:
    """A command line of ``words``, each quoted where it has to be."""
    return " ".join(map(word, words))


def option(name: str, value: str) -> str:
    """``--name value``; ``--name=value`` where the value would be taken for an option itself."""
    return f"--{name}={word(value)}" if value.startswith("-") else f"--{name} {word(value)}"
