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

import os
import re
import shlex

from agent_base.errors import SuiteError
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
DISPATCHER = "worklog_dispatcher.sh"
ALL_HOOKS = (*PYTHON_HOOKS, DISPATCHER)

_HEAD = f"""#!/bin/sh
# {MARKER} launcher: written by its installer, gone with `./install.sh --uninstall`.
"""
_PLACEHOLDER = re.compile(r"@([A-Z]+)@")
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
try:
    from hooks.@MODULE@ import main
except Exception as error:
    if "gemini" not in sys.argv:
        sys.stderr.write("[agent-memory] @MODULE@: %s\\n" % error)
    sys.exit(0)
sys.exit(@CALL@)' @SITE@ "$@"
"""
)


def _fill(template: str, **values: str) -> bytes:
    values["GONE"] = _GONE
    # In one pass: a path may hold what looks like a placeholder.
    return _PLACEHOLDER.sub(lambda found: values[found[1]], template).encode("utf-8", "surrogateescape")


def command(name: str, python: str) -> bytes:
    """The launcher of a command."""
    return _fill(_COMMAND, NAME=name, MODULE=COMMANDS[name], PYTHON=shlex.quote(python))


def hook(name: str, python: str, site: str) -> bytes:
    """The launcher of a Python hook.

    Args:
        name: file name, one of ``PYTHON_HOOKS``.
        python: absolute path of the environment's interpreter.
        site: absolute path of the directory that holds the packages.
    """
    call = "main(sys.argv[1:])" if name == "worklog_recorder.py" else "main()"
    module = name.removesuffix(".py")
    return _fill(_HOOK, MODULE=module, CALL=call, PYTHON=shlex.quote(python), SITE=shlex.quote(site))


def dispatcher(python: str, site: str, uid: int, script: str) -> bytes:
    """``worklog_dispatcher.sh`` with what it would otherwise have to find at every event.

    A copy, not a stub that runs it: starting a second shell costs as much as all of it.

    Args:
        python, site: as of ``hook``.
        uid: user id.
        script: text of ``hooks/worklog_dispatcher.sh``.

    Raises:
        SuiteError: the script has no place for one of the values.
    """
    recorder = os.path.join(site, "hooks", "worklog_recorder.py")
    filled = {"interpreter": python, "recorder": recorder, "uid": str(uid)}
    lines = script.split("\n")
    if not lines[0].startswith("#!"):
        raise SuiteError("worklog_dispatcher.sh does not start with an interpreter line")
    for name, value in filled.items():
        mark = f"# @{MARKER}: {name}@"
        found = [n for n, line in enumerate(lines) if line.endswith(mark)]
        if len(found) != 1:
            raise SuiteError(f"worklog_dispatcher.sh has {len(found)} places for its {name} instead of one")
        variable = lines[found[0]].split("=", 1)[0]
        lines[found[0]] = f"{variable}={shlex.quote(value)} {mark}"
    head = _HEAD.rstrip("\n").split("\n")[1]
    return "\n".join([lines[0], head, *lines[1:]]).encode("utf-8", "surrogateescape")


def is_ours(data: bytes) -> bool:
    """Whether a file at a launcher's place was made by the installer."""
    return f"# {MARKER} launcher:".encode() in data[:400]
