"""``,ai-kb approve``: let capsules made by an agent out of the project they came from."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb import consent, inject_text, shelf, stores
from ai_kb.commands import _common
from ai_kb.editor import ask
from ai_kb.errors import KbError
from ai_kb.held import Held, digits_of, full_id

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
    when = console.now().strftime("%Y-%m-%d")
    if args.memory:
        ids = _ids(args.memory, place, console, records=True)
        for memory_id in [full_id(text, ids) for text in args.memory]:
            new = consent.approve(console.env, memory_id, when)
            _common.say(console, f"{'Approved' if new else 'Was approved already:'} {memory_id}")
        return 0
    given = consent.approved(console.env)
    waiting: dict[str, Held] = {}
    for store in stores.stores(place.workspace, console.env):
        found = shelf.ask(store, lambda held: held.newest(held.waiting(given), held.everything().bit_count()))
        waiting |= {h.row.id: h for h in found if h.needs_approval}
    if not waiting:
        console.out("Nothing waits for approval.")
    for h in waiting.values():
        _common.say(
            console, f"{h.row.id} ({h.capsule.kind}, scope {h.capsule.scope}, {stores.described(h.store)})"
        )
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
    ids = consent.approved(console.env) | _ids(args.memory, place, console, records=False)
    for text in args.memory:
        memory_id = full_id(text, ids)
        if not consent.unapprove(console.env, memory_id):
            raise KbError(f"{memory_id} was not approved; nothing was changed")
        _common.say(console, f"No longer approved: {memory_id}")
    return 0


def _ids(asked: list[str], place: _common.Place, console: Console, *, records: bool) -> set[str]:
    """Ids of the memories that ``asked`` may mean; with ``records`` of nothing else."""
    digits = [digits_of(text) for text in asked]
    found: set[str] = set()
    for store in stores.stores(place.workspace, console.env):
        for memories in shelf.ask(store, lambda held: [held.starting(start) for start in digits]):
            found.update(i for i, m in memories.items() if m.envelope.record is not None or not records)
    return found
