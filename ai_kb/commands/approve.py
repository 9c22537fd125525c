"""``,ai-kb approve``: let capsules made by an agent out of the project they came from."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb import consent, corpus, inject_text
from ai_kb.commands import _common
from ai_kb.editor import ask
from ai_kb.errors import KbError

_DESCRIPTION = """\
What an agent remembered for a domain or for everywhere is injected only in the project it came from,
until a person approves it here. Needs a person at a terminal; kept on this machine."""

_EXAMPLES = """\
examples:
  ,ai-kb approve 3f2a9c01
  ,ai-kb approve                 walks what waits, one by one
"""


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb approve``."""
    parser = subparsers.add_parser(
        "approve",
        help="let a capsule made by an agent out of its project",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument("memory", metavar="ID", nargs="*", help="id, or 8 hex digits of one")
    _common.add_place(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Approve what is named, or ask about everything that waits."""
    consent.need_person(console, "approve")
    place = _common.place(args, console)
    held = {h.row.id: h for r in corpus.read_all(place.workspace, console.env) for h in r.held}
    when = console.now().strftime("%Y-%m-%d")
    if args.memory:
        for memory_id in [corpus.full_id(text, held) for text in args.memory]:
            new = consent.approve(console.env, memory_id, when)
            _common.say(console, f"{'Approved' if new else 'Was approved already:'} {memory_id}")
        return 0
    given = consent.approved(console.env)
    waiting = [h for h in held.values() if h.needs_approval and h.row.id not in given]
    if not waiting:
        console.out("Nothing waits for approval.")
    for h in waiting:
        _common.say(console, f"{h.row.id} ({h.capsule.kind}, scope {h.capsule.scope}, {h.store} store)")
        _common.say(console, f"  {h.capsule.title}")
        _common.say(console, f"  {inject_text.shorten(h.capsule.body, 400)}")
        answer = ask("Approve?", console, "nyq")
        if answer in ("", "q"):
            break
        if answer == "y":
            consent.approve(console.env, h.row.id, when)
    return 0


def run_unapprove(args: argparse.Namespace, console: Console) -> int:
    """Take approvals back; 1 when there was none."""
    place = _common.place(args, console)
    given = consent.approved(console.env)
    ids = given | {i for r in corpus.read_all(place.workspace, console.env) for i in r.collection.memories}
    for text in args.memory:
        memory_id = corpus.full_id(text, ids)
        if not consent.unapprove(console.env, memory_id):
            raise KbError(f"{memory_id} was not approved; nothing was changed")
        _common.say(console, f"No longer approved: {memory_id}")
    return 0
