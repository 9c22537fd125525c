"""``,agent-memory merge``: fold a duplicate topic into another.

Pending events are flushed, the worklogs become one in time order (the newest 200 entries), the source's
spec is appended below a dated separator, bindings and pointer follow, and the source goes, in the mirror
too. Its ``.no_context`` is deleted, not handed on. Killed at any point, nothing has changed or a second
run finishes it.
"""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_memory import moves
from agent_memory.commands import _shared
from agent_memory.mirror import Mirror

_EXAMPLES = """\
examples:
  ,agent-memory merge retry-bug fix-retries --dry-run
  ,agent-memory merge retry-bug fix-retries
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("merge", help="fold topics", description=__doc__, epilog=_EXAMPLES)
    for name in ("source", "target"):
        _shared.offer_topics(parser.add_argument(name, metavar=name.upper()))
    parser.add_argument("--dry-run", action="store_true", help="say what would happen; change nothing")
    _shared.add_workspace(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    state = _shared.open_state(args, console)
    mirror = Mirror.of(state, console.env, hook=False)
    if args.dry_run:
        return _show_plan(moves.plan_merge(state, args.source, args.target), args, console)
    if state.exists():
        _shared.sync_mirror(mirror, console)
        _shared.drain(state, console)
    moved = moves.merge(state, mirror, args.source, args.target, moment=_shared.moment(console.now()))
    _shared.sync_mirror(mirror, console)
    _shared.warn_pending(moved.flush, console)
    if args.json:
        console.json(
            {
                "workspace": state.workspace,
                "source": args.source,
                "target": args.target,
                "folded": moved.folded,
                "finished_earlier_run": moved.finished,
                "pending": moved.flush.pending,
                "errors": list(moved.flush.errors),
            }
        )
    elif moved.finished:
        console.out(f"{args.source} is merged into {args.target} already.")
    else:
        entries = _shared.count(moved.folded, "worklog entry", "worklog entries")
        console.out(f"{args.source} is merged into {args.target} ({entries} moved).")
    return 0


def _show_plan(plan: dict[str, object], args: argparse.Namespace, console: Console) -> int:
    if args.json:
        console.json({"dry_run": True, **plan})
        return 0
    bindings = plan["bindings"]
    assert isinstance(bindings, list)
    yes = {True: "yes", False: "no"}
    console.out(f"Would merge {plan['source']} into {plan['target']}; nothing was changed:")
    console.out(f"  worklog entries moved  {plan['worklog_entries']}")
    console.out(f"  oldest entries dropped {plan['dropped_by_cap']} (a worklog keeps 200)")
    console.out(f"  pending events flushed {plan['pending']}")
    console.out(f"  spec appended          {yes[bool(plan['spec'])]}")
    console.out(f"  bindings rewritten     {len(bindings)}")
    console.out(f"  pointer rewritten      {yes[bool(plan['pointer'])]}")
    console.out(f"  sentinel deleted       {yes[bool(plan['no_context'])]}")
    return 0
