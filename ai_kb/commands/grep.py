"""``,ai-kb grep``: ``hn memory grep`` over both stores, one protocol envelope each."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb.commands import _protocol


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb grep``."""
    _protocol.add_words(subparsers, "grep", "records that match a regular expression").set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Query every store."""
    return _protocol.query("grep", args.words, console)
