"""``,ai-kb``: signed memory for agents and people. Verbs are modules of ``commands``.

Exit codes: 0 done; 1 failed, or nothing found by ``grep``; 2 usage. An error is one line on
stderr, with ``--json`` one object on stdout.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from agent_base import cli as base
from agent_base.cli import Console
from agent_base.parsing import Parser, add_verbs

PROG = ",ai-kb"
PACKAGE = "ai_kb.commands"

# In the order of the help.
VERBS = {
    "init": "make the home store (or this repository's identity)",
    "remember": "sign one thing that proved true",
    "search": "capsules that fit a question, best first",
    "list": "capsules, newest first",
    "show": "one capsule with everything that is known about it",
    "recall": "bounded, filtered, deterministic recall (protocol)",
    "grep": "records that match a regular expression (protocol)",
    "supersede": "replace a capsule by a better one",
    "retract": "withdraw one of your capsules",
    "challenge": "dispute another actor's record",
    "handoff": "hand work over: drafted from a topic, or from a file",
    "harvest": "candidates for capsules from a session's worklog",
    "promote": "walk the candidates one by one, at a terminal",
    "approve": "let a capsule made by an agent out of its project",
    "unapprove": "take an approval back",
    "policy": "who is trusted: show, init, trust, untrust, accept",
    "index": "rebuild or verify the private index",
    "sync": "exchange memory with a remote",
    "status": "stores, identities, counts, and what default recall leaves out",
    "report": "what the agents know, as one page to look at",
    "export": "verified memories as JSON lines",
    "import": "memories from JSON lines, verified again",
    "doctor": "what is wrong, and what to do about it",
    "completion": "completion for bash, zsh or tcsh",
}

_DESCRIPTION = """\
Durable memory: what proved true, signed, carried by Git, recalled into later prompts as data.

Two stores, one corpus. The repository's store is shared with everybody who has the repository; the
home store is yours alone and works everywhere. Nothing gets in by itself: `harvest` proposes,
`remember` signs. Nothing that comes out is an instruction."""

_EXAMPLES = """\
examples:
  ,ai-kb remember --kind gotcha --title "Retry only idempotent requests" \\
    --body "A POST that timed out may have been carried out." --source src/retry.py:12
  ,ai-kb search "requests that time out"
  ,ai-kb harvest --session-id "$SESSION"
  ,ai-kb show 3f2a9c01
  ,ai-kb policy accept

`,ai-kb COMMAND --help` says more."""


def make_parser(argv: Sequence[str]) -> Parser:
    """The parser for one run; only the verb that ``argv`` names is complete."""
    parser = Parser(prog=PROG, description=_DESCRIPTION, epilog=_EXAMPLES)
    add_verbs(parser, PACKAGE, VERBS, argv)
    return parser


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run ``,ai-kb`` with ``argv`` (the process's own arguments when None); gives the exit code."""
    return base.main(PROG, make_parser, argv, console)


def entry() -> None:
    """The console script. A person at a terminal sees the progress of what takes over a second."""
    if not Console.real().person():
        sys.exit(main())
    from ai_kb.hn.progress import shown

    with shown(sys.stderr, terminal=True):
        sys.exit(main())
