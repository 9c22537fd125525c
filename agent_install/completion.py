"""Completion scripts for bash, zsh and fish, printed by the commands themselves.

Each is put where its shell looks by default (zsh: where many set-ups have it in ``fpath``).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from agent_base.errors import SuiteError
from agent_install.adapters import MARKER
from agent_install.launchers import COMMANDS
from agent_install.layout import Layout
from agent_install.runtime import Runtime

SHELLS = ("bash", "zsh", "fish")
_NOTE = f"# {MARKER} completion: written by its installer, gone with `./install.sh --uninstall`."


def path(layout: Layout, shell: str, command: str) -> str:
    """Where a shell looks for the completion of a command."""
    if shell == "bash":
        return os.path.join(layout.bash, command)
    if shell == "zsh":
        return os.path.join(layout.zsh, f"_{command}")
    return os.path.join(layout.fish, f"{command}.fish")


def is_ours(data: bytes) -> bool:
    """Whether a completion script was made by the installer."""
    return _NOTE.encode() in data[:1000]


def generate(runtime: Runtime, layout: Layout, env: Mapping[str, str]) -> dict[str, bytes]:
    """Path → content of every completion script.

    Raises:
        SuiteError: a command does not print its own.
    """
    scripts = {}
    for command, module in COMMANDS.items():
        program = f"import sys; sys.argv[0] = {command!r}; from {module} import entry; sys.exit(entry())"
        for shell in SHELLS:
            done = subprocess.run(
                [runtime.python, "-I", "-c", program, "--print-completion", shell],
                env=dict(env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
            if done.returncode or not done.stdout.strip():
                last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
                raise SuiteError(f"{command} prints no completion for {shell}: {' '.join(last)}")
            scripts[path(layout, shell, command)] = _with_note(done.stdout)
    return scripts


def _with_note(script: bytes) -> bytes:
    """zsh wants ``#compdef`` on the first line, so the note comes second."""
    note = _NOTE.encode() + b"\n"
    first, newline, rest = script.partition(b"\n")
    return first + newline + note + rest if first.startswith(b"#compdef") else note + script
