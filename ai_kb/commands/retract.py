"""``,ai-kb retract``: ``hn memory retract`` in the store that holds the memory."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb.commands import _protocol


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb retract``."""
    _protocol.add_words(subparsers, "retract", "withdraw one of your capsules").set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Append to the stream of this store's own actor."""
    if _protocol.wants_help("retract", args.words, console):
        return 0
    store, _, rest = _protocol.about("retract", args.words, console)
    status, out = _protocol.run_in(store, "retract", rest, console)
    console.stdout.write(out)
    return status
