"""``hn memory challenge``: dispute another actor's record, with a typed reason."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb.hn.commands.retract import add_lifecycle_flags, append_lifecycle
from ai_kb.hn.flags import FlagParser

_USAGE = "hn memory challenge MEMORY --reason REASON [--evidence TYPED-ID]"

_DESCRIPTION = """\
Sign a dispute of another actor's record, optionally with evidence, and append it to your stream.
The record keeps its lifecycle; the challenge stays visible beside it."""


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn memory challenge``."""
    parser: FlagParser = subparsers.add_parser(
        "challenge",
        description=_DESCRIPTION,
        epilog="examples:\n  hn memory challenge sha256:<id> --reason evidence-mismatch \\\n"
        "    --evidence git:$(git rev-parse HEAD)\n",
        usage_line=_USAGE,
    )
    parser.add_argument("memory", nargs="*", metavar="MEMORY", help="full id of the record to dispute")
    add_lifecycle_flags(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Append a challenge."""
    return append_lifecycle(args, console, operation="challenge", usage=_USAGE)
