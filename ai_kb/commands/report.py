"""``,ai-kb report``: what the agents know, as one page for a person, or as data."""

from __future__ import annotations

import argparse
import dataclasses
import os
import stat
from typing import Any

from agent_base import files
from agent_base.cli import Console
from agent_base.errors import SuiteError, UsageError
from ai_kb import report, report_data, report_page
from ai_kb.commands import _common
from ai_kb.commands._common import count
from ai_kb.errors import KbError

_DESCRIPTION = """\
One page that shows what the agents know: streams and lifecycle over time, trust and applicability,
source drift, what was replaced, retracted or challenged, what was injected when, and every capsule.
The page loads nothing from anywhere, runs no script but its own, and is yours alone (mode 0600).

It changes nothing. 1 when a store or a file could not be read: the page says which, and shows the rest."""

_EXAMPLES = """\
examples:
  ,ai-kb report --html memory.html
  ,ai-kb report --html - --store home > home.html
  ,ai-kb report --json
"""
_BEGINNING = 512


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb report``."""
    parser = subparsers.add_parser(
        "report", help="what the agents know, as one page", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument("--html", metavar="FILE", help="write the page to FILE; - is standard output")
    parser.add_argument("--force", action="store_true", help="overwrite FILE even if it is no such page")
    parser.add_argument(
        "--limit",
        type=count,
        default=report_data.CAPSULES,
        help="list at most so many capsules, newest first (default: %(default)s)",
    )
    _common.add_json(parser)
    _common.add_place(parser, store=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Write the page, or print the data, or both."""
    if args.html is None and not args.json:
        raise UsageError("where to? nothing was written", "--html FILE, or --json")
    if args.html == "-" and args.json:
        raise UsageError("both cannot go to standard output; nothing was written", "--html FILE with --json")
    path = None if args.html in (None, "-") else os.path.join(console.cwd, args.html)
    if path is not None:
        _check_target(path, args.force)
    place = _common.place(args, console)
    made = report.gather(place.state, console.env, console.now(), only=args.store, limit=args.limit)
    if args.html == "-":
        console.stdout.write(report_page.page(made).decode())
    elif path is not None:
        page = report_page.page(made)
        files.write_atomic(path, page)
        if not args.json:
            _say(console, path, len(page), made)
    if args.json:
        console.json(dataclasses.asdict(made) | ({} if path is None else {"html": path}))
    for problem in made.problems:
        _common.warn(console, f"the {problem.what} could not be read: {problem.message}")
    return 1 if made.problems else 0


def _say(console: Console, path: str, size: int, made: report_data.Report) -> None:
    shown = len(made.capsules)
    rest = made.capsules_total - shown
    more = f", {rest} older ones left out (--limit)" if rest else ""
    _common.say(console, f"Wrote {path}: {shown} capsules{more}, {(size + 1023) // 1024} KiB, mode 0600.")


def _check_target(path: str, force: bool) -> None:
    """Refuse to write over what is no page of ours. Raises KbError; nothing was changed."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise KbError(f"{os.path.dirname(path)!r} is no directory; nothing was written") from None
        return
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
        raise KbError(f"{path!r} is no regular file; nothing was written", "--html - for standard output")
    if not force and not (stat.S_ISREG(status.st_mode) and _is_report(path)):
        raise KbError(
            f"{path!r} is there already and is no such page; nothing was written",
            "another name, or --force to replace it",
        )


def _is_report(path: str) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise SuiteError(f"{path!r} cannot be read: {error.strerror}; nothing was written") from error
    with os.fdopen(fd, "rb") as file:
        return report_page.is_report(file.read(_BEGINNING))
