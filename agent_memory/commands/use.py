"""``,agent-memory use``: point commands without a session at a topic.

Sessions are not touched: they are bound by ``select``. ``current`` and ``session-*`` are refused.
"""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_base.errors import UsageError
from agent_memory import locks, topics
from agent_memory import workspace as places
from agent_memory.commands import _shared
from agent_memory.mirror import Forgetting

_EXAMPLES = """\
examples:
  ,agent-memory use fix-retries
  ,agent-memory use --none
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("use", help="set the pointer", description=__doc__, epilog=_EXAMPLES)
    _shared.offer_topics(parser.add_argument("name", metavar="TOPIC", nargs="?"))
    parser.add_argument("--none", action="store_true", help="point at nothing again")
    _shared.add_workspace(parser)
    parser.set_defaults(run=run, session_id=None, session_key=None)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.none == (args.name is not None):
        raise UsageError("use needs a topic or --none; nothing was changed")
    if args.name is not None:
        places.safe_topic(args.name)
    target = _shared.find(args, console)
    state = target.state
    state.ensure()
    with locks.activity(state.spec_dir):
        if args.none:
            if target.mirror is not None:
                target.mirror.check_can_forget([topics.POINTER])
            with Forgetting(target.mirror) as forgetting:
                forgetting.forget([topics.POINTER])
                state.set_pointer(None)
        else:
            state.set_pointer(args.name)
    _shared.sync_mirror(target.mirror, console)
    exists = args.name is not None and state.bucket_exists(args.name)
    if args.json:
        console.json({"workspace": state.workspace, "pointer": state.pointer(), "exists": exists})
    elif args.none:
        console.out("Commands without a session are pointed at no topic.")
    else:
        new = "" if exists else " It has neither spec nor worklog yet."
        console.out(f"Commands without a session are pointed at topic {args.name}.{new}")
    return 0
