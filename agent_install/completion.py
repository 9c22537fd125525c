"""Completion scripts for bash, zsh and fish, printed by the commands themselves.

Each is put where its shell looks by default (zsh: where many set-ups have it in ``fpath``).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from agent_base.errors import SuiteError
from agent_base.files import write_atomic
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


def _store(runtime: Runtime, shell: str, command: str) -> str:
    return os.path.join(runtime.directory, "completion", shell, command)


def generate(runtime: Runtime, env: Mapping[str, str]) -> None:
    """Have the commands of an environment print their scripts, once; they are kept in the environment.

    Raises:
        SuiteError: a command does not print its own.
    """
    for command, module in COMMANDS.items():
        if f",{command}" in COMMANDS:
            continue  # its name without the comma: made of the other's scripts below
        program = f"import sys; sys.argv[0] = {command!r}; from {module} import entry; sys.exit(entry())"
        for shell in SHELLS:
            target = _store(runtime, shell, command)
            if os.path.exists(target):
                continue
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
            os.makedirs(os.path.dirname(target), exist_ok=True)
            write_atomic(target, noted(done.stdout), durable=False)
            plain = command.removeprefix(",")
            if plain != command:
                script = noted(done.stdout).replace(command.encode(), plain.encode())
                write_atomic(_store(runtime, shell, plain), script, durable=False)


def scripts(runtime: Runtime, layout: Layout) -> dict[str, bytes]:
    """Path → content of every completion script that the environment has."""
    found = {}
    for command in COMMANDS:
        for shell in SHELLS:
            try:
                with open(_store(runtime, shell, command), "rb") as file:
                    found[path(layout, shell, command)] = file.read()
            except FileNotFoundError:
                continue
    return found


def noted(script: bytes) -> bytes:
    """A script with the mark by which the installer knows it: on the second line where zsh wants
    ``#compdef`` on the first."""
    note = _NOTE.encode() + b"\n"
    first, newline, rest = script.partition(b"\n")
    return first + newline + note + rest if first.startswith(b"#compdef") else note + script
