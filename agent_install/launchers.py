"""The small shell files that commands and hooks are started by.

Each carries the absolute path of the interpreter of one version's environment: no search, no
activation, and a process that has started keeps that version while an upgrade switches the
file. ``-I`` keeps the caller's environment and directory out of the import path; hooks also get
``-S``, because they import the standard library and their own packages only (the packages'
directory is passed as first argument). Their paths never change, so that configuration files,
and Codex's trust in them, survive every upgrade.

A hook whose environment is gone says one line and exits 0: a broken hook never breaks the agent.
"""

from __future__ import annotations

import shlex

from agent_install.adapters import MARKER

# Name → module with ``entry``; a leading comma is part of the name.
COMMANDS = {
    ",agent-memory": "agent_memory.cli",
    "agent-memory": "agent_memory.cli",
    ",ai-kb": "ai_kb.cli",
    "ai-kb": "ai_kb.cli",
    "hn": "ai_kb.hn.cli",
}
PYTHON_HOOKS = (
    "session_context.py",
    "perturn_recall.py",
    "correction_detector.py",
    "worklog_recorder.py",
    "spec_mirror.py",
)
SHELL_HOOKS = ("worklog_dispatcher.sh",)

_HEAD = f"""#!/bin/sh
# {MARKER} launcher: written by its installer, gone with `./install.sh --uninstall`.
"""
_GONE = "the suite's environment is gone; run its ./install.sh again"

_COMMAND = (
    _HEAD
    + """python=@PYTHON@
[ -x "$python" ] || { echo "@NAME@: @GONE@" >&2; exit 1; }
exec "$python" -I -c 'import sys
from @MODULE@ import entry
sys.argv[0] = "@NAME@"
sys.exit(entry())' "$@"
"""
)

_HOOK = (
    _HEAD
    + """python=@PYTHON@
if [ ! -x "$python" ]; then
    case " $* " in *" gemini "*) ;; *) echo "[agent-memory] @GONE@" >&2 ;; esac
    exit 0
fi
exec "$python" -IS -c 'import sys
sys.path.insert(0, sys.argv.pop(1))
from hooks.@MODULE@ import main
sys.exit(main())' @SITE@ "$@"
"""
)

_DISPATCHER = (
    _HEAD
    + """AGENT_HOOK_PYTHON=@PYTHON@
AGENT_HOOK_SITE=@SITE@
if [ ! -r "$AGENT_HOOK_SITE/hooks/@NAME@" ]; then
    case " $* " in *" gemini "*) ;; *) echo "[agent-memory] @GONE@" >&2 ;; esac
    exit 0
fi
. "$AGENT_HOOK_SITE/hooks/@NAME@"
"""
)


def _fill(template: str, **values: str) -> bytes:
    values["GONE"] = _GONE
    for name, value in values.items():
        template = template.replace(f"@{name}@", value)
    return template.encode("utf-8", "surrogateescape")


def command(name: str, python: str) -> bytes:
    """The launcher of a command."""
    return _fill(_COMMAND, NAME=name, MODULE=COMMANDS[name], PYTHON=shlex.quote(python))


def hook(name: str, python: str, site: str) -> bytes:
    """The launcher of a hook.

    Args:
        name: file name, one of ``PYTHON_HOOKS`` or ``SHELL_HOOKS``.
        python: absolute path of the environment's interpreter.
        site: absolute path of the directory that holds the packages.
    """
    template = _DISPATCHER if name in SHELL_HOOKS else _HOOK
    module = name.removesuffix(".py")
    return _fill(template, NAME=name, MODULE=module, PYTHON=shlex.quote(python), SITE=shlex.quote(site))


def is_ours(data: bytes) -> bool:
    """Whether a file at a launcher's place was made by the installer."""
    return f"# {MARKER} launcher:".encode() in data[:400]
