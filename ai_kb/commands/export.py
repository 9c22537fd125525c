"""``,ai-kb export``: verified memories as JSON lines, one per line, streams whole."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb import stores, transfer
from ai_kb.commands import _common
from ai_kb.errors import NoStore

_DESCRIPTION = """\
Print every memory of a store (every operation, every actor) as JSON lines that `,ai-kb import` verifies
again. What is retracted or superseded is there too; private keys are not."""


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb export``."""
    parser = subparsers.add_parser(
        "export",
        help="verified memories as JSON lines",
        description=_DESCRIPTION,
        epilog="examples:\n  ,ai-kb export --store home > memory.jsonl\n",
    )
    _common.add_place(parser, store=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the lines."""
    place = _common.place(args, console)
    found = stores.stores(place.workspace, console.env, args.store)
    if not found:
        raise NoStore("there is no store yet", ",ai-kb init makes the home store")
    for store in found:
        for line in transfer.export(store):
            console.out(line)
    return 0
