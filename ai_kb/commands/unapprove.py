"""``,ai-kb unapprove``: take an approval back. Needs no person: it only takes away."""

from __future__ import annotations

from typing import Any

from ai_kb.commands import _common
from ai_kb.commands.approve import run_unapprove


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb unapprove``."""
    parser = subparsers.add_parser(
        "unapprove",
        help="take an approval back",
        description=__doc__,
        epilog="examples:\n  ,ai-kb unapprove 3f2a9c01\n",
    )
    parser.add_argument("memory", metavar="ID", nargs="+", help="id, or 8 hex digits of one")
    _common.add_place(parser)
    parser.set_defaults(run=run_unapprove)
