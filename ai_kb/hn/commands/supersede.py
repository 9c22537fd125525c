"""``hn memory supersede``: replace one of your own records by a new one."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb.hn.commands._shared import wrong_usage
from ai_kb.hn.commands.record import add_record_flags, append_record
from ai_kb.hn.flags import FlagParser

_USAGE = "hn memory supersede MEMORY [record fields]"

_DESCRIPTION = """\
Sign a replacement of one of your own records and append it to your stream. The replaced record
stays readable and is listed as superseded; two replacements of one record make it branching."""

_EXAMPLES = """\
examples:
  hn memory supersede sha256:<id> --kind decision --at HEAD --applies descendants \\
    --content "Replacement decision with current rationale."
  hn memory supersede sha256:<id> --input replacement.json --json
"""


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn memory supersede``."""
    parser: FlagParser = subparsers.add_parser(
        "supersede",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        usage_line=_USAGE,
        flag_set="memory record",
    )
    parser.add_argument("memory", nargs="*", metavar="MEMORY", help="full id of the record to replace")
    add_record_flags(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Append a supersede."""
    if not args.memory:
        raise wrong_usage(_USAGE)
    return append_record(
        args, console, operation="supersede", positional=args.memory[1:], target=args.memory[0]
    )
