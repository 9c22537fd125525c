"""``hn memory handoff``: sign and append what one agent leaves to the next."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb.hn.commands.record import add_record_flags, append_record
from ai_kb.hn.flags import ONE_SIDE, FlagParser

_DESCRIPTION = """\
Sign one handoff and append it to your stream: what is done, what was assumed, what blocks, and
which next actions are proposed. They stay four separate lists of inert data; a proposed action
is never permission to execute it."""

_EXAMPLES = """\
examples:
  hn memory handoff --at HEAD --applies descendants --input handoff.json --json
  hn memory handoff --at HEAD --applies exact --content "Stream work" \\
    --completed "tests" --blocker "no reviewer" --next-action "review"

handoff.json (--at and --applies supply anchor and applicability where it leaves them out):
  {"version": 0, "kind": "handoff", "content": "…", "topics": [], "evidence": [],
   "handoff": {"completed": [], "assumptions": [], "blockers": [], "nextActions": []}}
"""


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn memory handoff``."""
    parser: FlagParser = subparsers.add_parser(
        "handoff",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        usage_line="hn memory handoff --at REV --applies MODE --input FILE|- --json",
        flag_set="memory record",
        flags_stand=ONE_SIDE,
    )
    add_record_flags(parser)
    parser.add_argument("text", nargs="*", metavar="CONTENT", help="memory content, instead of --content")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Append a handoff."""
    return append_record(args, console, operation="record", positional=args.text, handoff=True)
