"""The ``,agent-memory`` command: the control plane of session memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from agent_base import cli, parsing

PROG = ",agent-memory"
VERBS = {
    "status": "the selected topic, its files, and what is pending",
    "list": "the topics of this workspace, newest first",
    "suggest": "which topic a request belongs to",
    "select": "bind a session to a topic and show its context",
    "note": "add a structured entry to the worklog",
    "spec": "show or change a topic's spec",
    "log": "show a topic's worklog",
    "use": "point commands without a session at a topic",
    "merge": "fold a duplicate topic into another",
    "pause": "inject nothing for a topic or for the workspace",
    "resume": "inject again",
    "wipe-current": "delete the current topic's spec, worklog and sentinel",
    "doctor": "find and repair what is wrong",
}
_DESCRIPTION = """\
Session memory of the workspace: topics that sessions are bound to, each with a spec and a worklog.

  ,agent-memory list
  ,agent-memory select fix-retries --create --session-id "$SESSION"
  ,agent-memory note gotcha "Retry only idempotent requests" --ref src/retry.py:12 --session-id "$SESSION"
  ,agent-memory spec --append "Next: the timeout of the sync client" --session-id "$SESSION"
"""
_EPILOG = "`,agent-memory COMMAND --help` explains one command. Exit codes: 0 done, 1 failed, 2 usage."


def parser(argv: Sequence[str]) -> parsing.Parser:
    """The parser of one run (``agent_base.cli.run_command``)."""
    result = parsing.Parser(prog=PROG, description=_DESCRIPTION, epilog=_EPILOG)
    parsing.add_verbs(result, "agent_memory.commands", VERBS, argv)
    return result


def main(argv: Sequence[str] | None = None, console: cli.Console | None = None) -> int:
    """Run one command; the exit code."""
    return cli.main(PROG, parser, argv, console)


def entry() -> NoReturn:
    """The console script."""
    sys.exit(main())
