"""``,ai-kb import``: memories from JSON lines, every signature and chain verified again."""

from __future__ import annotations

import argparse
import os
from typing import Any

from agent_base.cli import Console
from ai_kb import stores, transfer
from ai_kb.commands import _common
from ai_kb.stores import HOME, STORES

_DESCRIPTION = """\
Read an export and add what is new, stream by stream: forward only, nothing is replaced. Nobody's
memories are trusted because they were imported: `,ai-kb policy trust ACTOR` does that."""

_EXAMPLES = """\
examples:
  ,ai-kb import memory.jsonl --dry-run
  ssh laptop ,ai-kb export --store home | ,ai-kb import - --from laptop
"""
_LIMIT = 1 << 30


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb import``."""
    parser = subparsers.add_parser(
        "import", help="memories from JSON lines, verified again", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument("file", metavar="FILE", help="an export; `-` reads standard input")
    parser.add_argument("--from", dest="name", default="import", metavar="NAME", help="what to keep it under")
    parser.add_argument("--store", choices=STORES, default=HOME, help="where to (default: %(default)s)")
    parser.add_argument("--dry-run", action="store_true", help="verify everything, write nothing")
    _common.add_json(parser)
    _common.add_place(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Verify and add."""
    place = _common.place(args, console)
    if args.file == "-":
        data = console.stdin_bytes(_LIMIT)
    else:
        with open(os.path.join(console.cwd, args.file), "rb") as file:
            data = file.read()
    lines = transfer.read_lines(data.split(b"\n"))
    if args.store == HOME and stores.open_home(console.env) is None and not args.dry_run:
        stores.init_home(console.env, _common.user_name(place.workspace, console), console.now())
    store = stores.stores(place.workspace, console.env, args.store)[0]
    done = transfer.import_lines(store, lines, args.name, dry_run=args.dry_run)
    if args.json:
        console.json([{"ref": d.ref, "actor": d.actor, "stream": d.stream, "added": d.added} for d in done])
        return 0
    would = "would be " if args.dry_run else ""
    for stream in done:
        _common.say(console, f"{stream.added} {would}added to {stream.ref}")
    if not done:
        console.out("Nothing to import.")
    return 0
