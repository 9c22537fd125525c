"""``,ai-kb list``: capsules of both stores, newest first."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb import consent, inject_text, shelf, stores
from ai_kb.capsule import KINDS, SCOPES
from ai_kb.commands import _common
from ai_kb.commands._common import count
from ai_kb.held import Held
from ai_kb.hn.projection import ACTIVE, LIFECYCLES
from ai_kb.shelf import Shelf

_DESCRIPTION = """\
Capsules of both stores, newest first. Without options: those that are active. What default recall
leaves out is marked with the reason."""

_EXAMPLES = """\
examples:
  ,ai-kb list --kind gotcha
  ,ai-kb list --lifecycle all --json
"""


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb list``."""
    parser = subparsers.add_parser(
        "list", help="capsules, newest first", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument("--kind", choices=KINDS, help="only this kind")
    parser.add_argument("--scope", choices=SCOPES, help="only this scope")
    parser.add_argument("--topic", help="only with this topic")
    parser.add_argument(
        "--lifecycle", choices=(*LIFECYCLES, "all"), default=ACTIVE, help="default: %(default)s"
    )
    parser.add_argument("--limit", type=count, default=50, help="at most so many (default: %(default)s)")
    _common.add_json(parser)
    _common.add_place(parser, store=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the list."""
    place = _common.place(args, console)
    found = [
        shelf.ask(store, lambda held: _page(held, args))
        for store in stores.stores(place.workspace, console.env, args.store)
    ]
    total = sum(size for size, _ in found)
    held = [h for _, page in found for h in page]
    held.sort(key=lambda h: (h.row.signed_timestamp, h.row.id), reverse=True)
    del held[args.limit :]
    approved = consent.approved(console.env)
    if args.json:
        console.json([as_object(h, approved) for h in held])
        return 0
    now = console.now().timestamp()
    for h in held:
        marks = _marks(h, approved, now)
        title = inject_text.shorten(h.capsule.title, 120)
        _common.say(console, h.row.id)
        _common.say(console, f"    {h.capsule.kind}: {title}  ({', '.join(marks)})")
    if total > len(held):
        console.out(f"… and {total - len(held)} more (--limit)")
    if not held:
        console.out("No capsules.")
    return 0


def _marks(held: Held, approved: set[str], now: float) -> list[str]:
    marks = [held.store, held.capsule.scope or "no scope", inject_text.age(held.row.signed_timestamp, now)]
    if held.left_out:
        marks.append(f"left out: {held.left_out}")
    if held.row.challengers:
        marks.append("challenged")
    if held.changed:
        marks.append("source changed")
    if held.capsule.by == "agent":
        marks.append("by agent, approved" if held.row.id in approved else "by agent")
    return marks


def _page(held: Shelf, args: argparse.Namespace) -> tuple[int, list[Held]]:
    """How many capsules of a store pass the filters, and the newest of them."""
    found = held.everything() if args.lifecycle == "all" else held.lifecycle(args.lifecycle)
    if args.kind is not None:
        found &= held.kind(args.kind)
    if args.scope is not None:
        found &= held.scope(args.scope)
    if args.topic is not None:
        found &= held.topic(args.topic)
    return found.bit_count(), held.newest(found, args.limit)


def as_object(held: Held, approved: set[str]) -> dict[str, object]:
    """A capsule for scripts."""
    row, capsule = held.row, held.capsule
    return {
        "id": row.id,
        "store": held.store,
        "kind": capsule.kind,
        "scope": capsule.scope,
        "title": capsule.title,
        "body": capsule.body,
        "topics": list(row.data.topics),
        "by": capsule.by,
        "approved": row.id in approved,
        "timestamp": row.signed_timestamp,
        "actor": row.actor,
        "lifecycle": row.lifecycle,
        "trust": row.trust,
        "applicability": row.applicability,
        "evidence": row.evidence,
        "challengers": list(row.challengers),
        "source_changed": list(held.changed),
        "left_out": held.left_out,
    }
