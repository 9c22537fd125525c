"""``,agent-memory list``: the topics of this workspace, newest first."""

from __future__ import annotations

import argparse
import os
from typing import Any

from agent_base.cli import Console
from agent_base.errors import SuiteError, UsageError
from agent_memory import moves, worklog
from agent_memory.commands import _shared
from agent_memory.layout import Commands
from agent_memory.mirror import Mirror
from agent_memory.topics import Bucket, State
from agent_memory.views import age, bucket_summary

_EXAMPLES = """\
examples:
  ,agent-memory list
  ,agent-memory list --all --json
  ,agent-memory list --names
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("list", help="the topics", description=__doc__, epilog=_EXAMPLES)
    parser.add_argument(
        "--all", action="store_true", help="also `current` and the buckets of single sessions"
    )
    parser.add_argument("--names", action="store_true", help="only the names, one per line")
    _shared.add_workspace(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.names and args.json:
        raise UsageError("--names and --json exclude each other")
    state = _shared.open_state(args, console)
    mirror = Mirror.of(state, console.env, hook=False)
    moves.recover(state, mirror)
    _shared.sync_mirror(mirror, console)
    if args.names:
        for bucket in state.buckets():
            if args.all or bucket.named:
                console.out(bucket.topic)
        return 0
    now = console.now().timestamp()
    bound = list(state.bindings().values())
    try:
        pointer = state.pointer()
    except SuiteError as error:
        _shared.warn(console, error.message)
        pointer = None
    rows = [
        _row(state, bucket, now, bound.count(bucket.topic), pointer)
        for bucket in state.buckets()
        if args.all or bucket.named
    ]
    if args.json:
        console.json(rows)
        return 0
    for row in rows:
        marks = [str(row["age"])]
        if row["sessions"]:
            marks.append(f"{row['sessions']} bound")
        marks += [name for name in ("pointer", "paused") if row[name]]
        about = f": {_shared.line(str(row['summary']))}" if row["summary"] else ""
        console.out(f"{row['topic']} ({', '.join(marks)}){about}")
    if not rows:
        create = Commands(state.workspace, "ID").memory("select", "TOPIC", "--create")
        console.out(f"no topics yet; make one: {create}")
    return 0


def _row(state: State, bucket: Bucket, now: float, sessions: int, pointer: str | None) -> dict[str, object]:
    paused = os.path.lexists(state.no_context_path(bucket.topic))
    return {
        "topic": bucket.topic,
        "named": bucket.named,
        "summary": bucket_summary(state, bucket),
        "age": age(now - bucket.modified),
        "modified": round(bucket.modified, 3),
        "spec_file": state.spec_path(bucket.topic) if bucket.has_spec else None,
        "worklog": state.worklog_path(bucket.topic) if bucket.has_worklog else None,
        "entries": worklog.tail(state.worklog_path(bucket.topic), 0)[1] if bucket.has_worklog else 0,
        "sessions": sessions,
        "pointer": bucket.topic == pointer,
        "paused": paused,
    }
