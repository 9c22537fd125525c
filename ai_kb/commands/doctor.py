"""``,ai-kb doctor``: what is wrong with either memory and with the installation, and what to do."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.checks import report
from agent_base.cli import Console
from agent_install.checks import all_checks
from ai_kb import doctor
from ai_kb.commands import _common

_DESCRIPTION = """\
Look at session memory, the stores, identities, policies, indexes and words of approval, and at every
harness: installed, wired, trusted, its hooks really run. One line each, ok, warn or fail, with the next
step. Exit 1 when something failed."""


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb doctor``."""
    parser = subparsers.add_parser(
        "doctor",
        help="what is wrong, and what to do about it",
        description=_DESCRIPTION,
        epilog="examples:\n  ,ai-kb doctor\n  ,ai-kb doctor --no-harnesses --json\n",
    )
    parser.add_argument("--no-harnesses", action="store_true", help="leave out the installation")
    _common.add_json(parser)
    _common.add_place(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Run every check and print one line each."""
    place = _common.place(args, console)
    found = doctor.examine(doctor.Patient(place.workspace, console.env, place.state))
    if not args.no_harnesses:
        found += all_checks(console.env)
    return report(console, found, as_json=args.json)
