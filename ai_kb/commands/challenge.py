"""``,ai-kb challenge``: ``hn memory challenge`` in the store that holds the memory."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb.commands import _protocol


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb challenge``."""
    _protocol.add_words(subparsers, "challenge", "dispute another actor's record").set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Append to the stream of this store's own actor."""
    if _protocol.wants_help("challenge", args.words, console):
        return 0
    store, _, rest = _protocol.about("challenge", args.words, console)
    status, out = _protocol.run_in(store, "challenge", rest, console)
    console.stdout.write(out)
    return status
