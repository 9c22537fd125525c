"""Asking a person at a terminal: an editor for longer text, a question for a short answer."""

from __future__ import annotations

import os

from agent_base.cli import Console
from ai_kb.errors import KbError

COMMENT = "#"


def edit(text: str, console: Console, *, name: str = "capsule.txt") -> str:
    """``text`` as a person leaves it in ``$VISUAL``, ``$EDITOR`` or ``vi``; comment lines are dropped.

    Raises KbError when the editor cannot be started or fails.
    """
    import shlex
    import subprocess
    import tempfile

    editor = console.env.get("VISUAL") or console.env.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="ai-kb-", dir=console.env.get("TMPDIR") or None) as directory:
        path = os.path.join(directory, name)
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
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
    return "\n".join(line for line in lines if not line.startswith(COMMENT)).strip("\n")


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
