"""``hn memory index``: rebuild or verify the private index of the protocol, ``index-v0.json``."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb.hn.cache import Index, ask, discard
from ai_kb.hn.commands import _reading
from ai_kb.hn.commands._where import repository_of
from ai_kb.hn.errors import HnUsageError
from ai_kb.hn.flags import FlagParser
from ai_kb.hn.index import export
from ai_kb.hn.index_file import verify, write

_USAGE = "hn memory index rebuild|verify"

_DESCRIPTION = """\
The private index at HEAD, <git-dir>/hn/memory/index-v0.json: derived, disposable, never transported.
rebuild verifies every stream again and writes it anew, the cache that serves queries included; verify
compares it with what it should be and repairs nothing."""


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn memory index``."""
    parser: FlagParser = subparsers.add_parser(
        "index",
        description=_DESCRIPTION,
        epilog="examples:\n  hn memory index rebuild\n  hn memory index verify\n",
        usage_line=_USAGE,
    )
    parser.add_argument("action", nargs="*", metavar="rebuild|verify", help="what to do")
    _reading.add_progress(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Rebuild or verify, and say which index that is."""
    if args.action not in (["rebuild"], ["verify"]):
        raise HnUsageError(f"usage: {_USAGE}")
    repo = repository_of(console)
    if args.action == ["rebuild"]:
        discard(repo)
    with _reading.reporting(args, console) as progress:

        def work(index: Index) -> tuple[str, int]:
            if args.action == ["verify"]:
                return index.fingerprint, verify(index, repo.git_dir, progress)
            write(repo.git_dir, export(index, progress=progress))
            return index.fingerprint, index.count()

        fingerprint, records = ask(repo, work, progress=progress)
    console.out(f"Memory index {args.action[0]}: version 0, source {fingerprint}, records {records}")
    return 0
