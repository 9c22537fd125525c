"""Asking a person at a terminal: an editor for longer text, a question for a short answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from agent_base.cli import Console
from agent_base.errors import SuiteError
from agent_base.inert import terminal
from ai_kb.errors import KbError

T = TypeVar("T")

# Below a capsule in the editor; what is left out is said by the caller's last line.
CAPSULE_NOTES = (
    "# First line: the title. Then a blank line and the body: what is so, and why.",
    "# These lines are left out; others that start with # are not.",
)


def edit_until_taken(
    text: str, notes: Sequence[str], console: Console, take: Callable[[str], T], *, name: str = "capsule.txt"
) -> T:
    """What ``take`` makes of the text as a person leaves it in an editor.

    A text that ``take`` refuses is not lost: the person sees why and may edit it again.

    Args:
        notes: see ``edit``.

    Raises:
        KbError: the editor fails, or the person gave up.
        SuiteError: what ``take`` raises for an empty text.
    """
    while True:
        text = edit(text, console, notes=notes, name=name)
        try:
            return take(text)
        except SuiteError as error:
            if not text.strip():
                raise
            console.err(terminal(error.message + (f" ({error.hint})" if error.hint else "")))
            if ask("Edit again, quit?", console, "eq") != "e":
                raise KbError("given up; nothing was changed") from error


def edit(text: str, console: Console, *, notes: Sequence[str] = (), name: str = "capsule.txt") -> str:
    """``text`` as a person leaves it in ``$VISUAL``, ``$EDITOR`` or ``vi``.

    ``notes`` are lines that stand below it there and are no part of it; every other line is, whatever it
    starts with. Raises KbError when the editor cannot be started or fails.
    """
    import shlex
    import subprocess
    import tempfile

    editor = console.env.get("VISUAL") or console.env.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="ai-kb-", dir=console.env.get("TMPDIR") or None) as directory:
        path = os.path.join(directory, name)
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write("\n".join((text.rstrip("\n"), "", *notes, "")))
        try:
            done = subprocess.run([*shlex.split(editor), path], env=dict(console.env), check=False)
        except (OSError, ValueError) as error:
            raise KbError(
                f"the editor {editor!r} could not be started: {error}; nothing was changed"
            ) from error
        if done.returncode != 0:
            raise KbError(f"the editor {editor!r} ended with {done.returncode}; nothing was changed")
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
    return "\n".join(line for line in lines if line not in notes).strip("\n")


def title_and_body(text: str) -> tuple[str, str]:
    """First line and rest of an edited text."""
    title, _, body = text.partition("\n")
    return title.strip(), body.strip("\n")


def ask(question: str, console: Console, answers: str) -> str:
    """One letter of ``answers``, asked until one is given.

    An empty line gives the first, the end of input ``""``.
    """
    while True:
        console.stderr.write(f"{question} [{'/'.join([answers[0].upper(), *answers[1:]])}] ")
        console.stderr.flush()
        line = console.stdin.readline()
        if not line:
            return ""
        answer = line.strip().lower()[:1] or answers[0]
        if answer in answers:
            return answer
