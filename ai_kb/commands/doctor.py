"""``,ai-kb doctor``: what is wrong with signed memory and with the installation, and what to do."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_install.checks import FAIL, all_checks
from ai_kb import doctor
from ai_kb.commands import _common

_DESCRIPTION = """\
Look at the stores, identities, policies, indexes and words of approval, and at every harness: installed,
wired, trusted, its hooks really run. One line each, with the next step. Exit 1 when something failed."""


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
    failed = any(check.status == FAIL for check in found)
    if args.json:
        console.json({"ok": not failed, "checks": [check.as_json() for check in found]})
        return 1 if failed else 0
    for check in found:
        hint = f" ({check.hint})" if check.hint else ""
        _common.say(console, f"{check.status:<4} {check.name}: {check.detail}{hint}")
    return 1 if failed else 0
