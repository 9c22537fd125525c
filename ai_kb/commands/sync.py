"""``,ai-kb sync``: ``hn sync`` in one store: the repository's, or with ``--store home`` your own."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb import stores
from ai_kb.commands import _protocol
from ai_kb.errors import NoStore
from ai_kb.stores import HOME, REPO


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb sync``."""
    _protocol.add_words(subparsers, "sync", "exchange memory with a remote").set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Exchange with the remote of one store; the exit code is the protocol's."""
    if _protocol.wants_help("sync", args.words, console):
        return 0
    words = _protocol.split("sync", args.words, console)
    found = stores.stores(words.place.workspace, console.env, words.store or REPO)
    if not found:
        raise NoStore("there is no store to exchange; nothing was changed", f"use --store {HOME}")
    status, out = _protocol.run_in(found[0], "sync", words.rest, console)
    console.stdout.write(out)
    return status
