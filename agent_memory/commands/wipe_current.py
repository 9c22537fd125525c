"""``,agent-memory wipe-current``: delete the current topic's spec, worklog and sentinel.

The current topic is the session's; without a session the pointer's, else on a shared branch the latest
``session-*`` bucket, else ``current``. Pending events are flushed first and go too. What is wiped does
not come back from the mirror. Bindings stay.
"""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_memory import moves
from agent_memory.commands import _shared

_EXAMPLES = """\
examples:
  ,agent-memory wipe-current --dry-run
  ,agent-memory wipe-current --session-id "$SESSION"
  ,agent-memory wipe-current --reset-active
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "wipe-current", help="delete the topic's files", description=__doc__, epilog=_EXAMPLES
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would go; change nothing")
    parser.add_argument("--reset-active", action="store_true", help="also delete the pointer of `use`")
    _shared.add_session(parser)
    _shared.add_workspace(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    target = _shared.find(args, console, sync=False)
    state, topic = target.state, target.topic
    if args.dry_run or not state.exists():
        names = moves.wipe_candidates(state, topic, reset_pointer=args.reset_active)
    else:
        _shared.drain(state, console)
        names = moves.wipe(state, target.mirror, topic, reset_pointer=args.reset_active)
    if args.json:
        console.json(
            {
                "workspace": state.workspace,
                "session_key": target.key,
                "topic": topic,
                "topic_source": target.source,
                "dry_run": args.dry_run,
                "removed": names,
            }
        )
        return 0
    verb = "Would delete" if args.dry_run else "Deleted"
    if names:
        console.out(f"{verb} of topic {topic}: {', '.join(_shared.line(name) for name in names)}")
    else:
        console.out(f"Topic {topic} has nothing to delete.")
    return 0
