"""What a person has to know or do once the installer is done: PATH, zsh, trust, links."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_base.inert import terminal

if TYPE_CHECKING:
    from agent_install.install import Installer, Plan

CODEX_TRUST = """\
Codex runs hooks only once you trust them, and skips them without a word until then:
  start `codex`, choose to review the hooks (or type /hooks) and trust those of agent-hook-suite;
  or let the installer store that trust: ./install.sh --trust-codex
  After an upgrade that changes them, Codex wants this again; `,ai-kb doctor` says so."""


def after_install(installer: Installer, plan: Plan) -> Iterator[str]:
    """Lines to print after an installation; most of the time few."""
    changed = {change.path for change in plan.changes}
    layout, env = installer.layout, installer.env
    if layout.bin not in env.get("PATH", "").split(os.pathsep) and any(
        name.startswith(layout.bin + os.sep) for name in changed
    ):
        yield f"{terminal(layout.bin)} is not on your PATH, and agents are told to run the commands in it;"
        yield f'  add it in your shell\'s profile: export PATH={terminal(shlex.quote(layout.bin))}:"$PATH"'
    if any(name.startswith(layout.zsh + os.sep) for name in changed):
        yield f"zsh finds the completion with: fpath+=({terminal(shlex.quote(layout.zsh))}) before compinit"
    names = {change.owner for change in plan.changes}
    for harness in installer.harnesses():
        owner = f"harness:{harness.name}"
        if owner not in names:
            continue
        if harness.name == "codex":
            yield CODEX_TRUST
        elif harness.name == "cursor" and os.path.islink(harness.config(env)):
            path = terminal(harness.config(env))
            yield f"Cursor refuses a configuration behind a symbolic link: {path} is one"
    if not installer.harnesses() and installer.options.harnesses is None:
        yield "no harness was found; --harness NAME wires one all the same"
    elif names:
        yield "sessions that are running keep the hooks they started with; new ones use these"
