"""``,ai-kb index``: ``hn memory index`` in every store."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_base.errors import SuiteError
from ai_kb.cli import PROG
from ai_kb.commands import _common, _protocol


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb index``."""
    _protocol.add_words(subparsers, "index", "rebuild or verify the private index").set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Rebuild or verify; 1 when a store failed."""
    if _protocol.wants_help("index", args.words, console):
        return 0
    words = _protocol.split("index", args.words, console)
    failed = False
    found = _protocol.usable(words, console)
    for store in found:
        try:
            _, out = _protocol.run_in(store, "index", words.rest, console)
            _common.say(console, f"{store.described}: {out.rstrip()}")
        except SuiteError as error:
            if error.exit_code == 2:
                raise
            failed = True
            console.err(f"{PROG}: {store.described}: {_common.shown(error.message)}")
    if not found:
        console.out(f"There is no store here yet ({PROG} init makes one).")
    return 1 if failed else 0
