"""``,agent-memory pause``: inject nothing at session start and per prompt. Recording goes on.

For a topic (the session's or the pointer's when none is named) or, with ``--all``, for the workspace.
``,agent-memory resume`` ends it.
"""

from __future__ import annotations

import argparse
from typing import Any

from agent_base import files
from agent_base.cli import Console
from agent_base.errors import UsageError
from agent_memory import locks
from agent_memory.commands import _shared

_EXAMPLES = """\
examples:
  ,agent-memory pause --topic fix-retries
  ,agent-memory pause --all
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("pause", help="inject nothing", description=__doc__, epilog=_EXAMPLES)
    add_options(parser)
    parser.set_defaults(run=run)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What ``pause`` and ``resume`` both take."""
    _shared.offer_topics(parser.add_argument("name", metavar="TOPIC", nargs="?", help="same as --topic"))
    parser.add_argument("--all", action="store_true", help="the whole workspace")
    _shared.add_session(parser)
    _shared.add_topic(parser)
    _shared.add_workspace(parser)


def find(args: argparse.Namespace, console: Console) -> tuple[_shared.Target, str | None]:
    """The target, and the topic that is meant (None: the workspace)."""
    if args.name is not None and args.topic is not None:
        raise UsageError("name the topic once; nothing was changed")
    if args.name is not None:
        args.topic = args.name
    if args.all and args.topic is not None:
        raise UsageError("--all is for the workspace, not for a topic; nothing was changed")
    target = _shared.find(args, console)
    return target, None if args.all else target.topic


def run(args: argparse.Namespace, console: Console) -> int:
    target, topic = find(args, console)
    state = target.state
    state.ensure()
    with locks.activity(state.spec_dir):
        files.write_atomic(state.no_context_path(topic), b"")
    _shared.sync_mirror(target.mirror, console)
    return report(args, console, target, topic, paused=True)


def report(
    args: argparse.Namespace, console: Console, target: _shared.Target, topic: str | None, *, paused: bool
) -> int:
    """Say what is the case now."""
    if args.json:
        console.json({"workspace": target.state.workspace, "topic": topic, "paused": paused})
        return 0
    what = "the whole workspace" if topic is None else f"topic {topic}"
    new = topic is not None and args.topic is not None and not target.state.bucket_exists(topic)
    note = " It has neither spec nor worklog yet." if new else ""
    console.out(f"Context is {'off' if paused else 'on'} for {what}.{note}")
    return 0
