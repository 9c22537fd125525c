"""``,agent-memory status``: which topic is selected, where it is, what is pending."""

from __future__ import annotations

import argparse
import os
from typing import Any

from agent_base.cli import Console
from agent_memory import cleanroom, queue, topics
from agent_memory import workspace as places
from agent_memory.commands import _shared

_EXAMPLES = """\
examples:
  ,agent-memory status
  ,agent-memory status --session-id "$SESSION" --json
"""
_SOURCES = {
    "binding": "the session is bound to it",
    "pointer": "`,agent-memory use` points at it",
    "session": "fallback bucket on a shared branch",
    "current": "shared by unbound sessions",
    "argument": "as asked",
}
_NOBODYS_SESSION = "the latest session's bucket, as no session is named: --session-id, or `use TOPIC`"


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("status", help="the selected topic", description=__doc__, epilog=_EXAMPLES)
    _shared.add_session(parser)
    _shared.add_topic(parser)
    _shared.add_workspace(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    target = _shared.find(args, console, routed=True)
    state, topic = target.state, target.topic
    waiting = queue.state(state.spec_dir, target.key) if state.exists() else queue.FlushResult()
    off = cleanroom.injection_off(state, console.env, topic)
    values: dict[str, object] = {
        "workspace": state.workspace,
        "session_key": target.key,
        "topic": topic,
        "topic_source": target.source,
        "selected_topic": topic,
        "spec_file": state.spec_path(topic),
        "spec_exists": os.path.lexists(state.spec_path(topic)),
        "worklog": state.worklog_path(topic),
        "pending": waiting.pending,
        "errors": list(waiting.errors),
        "no_context": bool(off),
        "no_context_reason": off,
        "worklog_exists": os.path.lexists(state.worklog_path(topic)),
        "branch": state.branch(),
        "shared_branch": state.branch() in places.SHARED_BRANCHES,
        "spec_dir": state.spec_dir,
        "mirror": None if target.mirror is None else target.mirror.directory,
    }
    if args.json:
        console.json(values)
        return 0
    there = {True: "", False: " (none yet)"}
    console.out(f"workspace  {_shared.line(state.workspace)}")
    source = _SOURCES[target.source]
    if target.source == topics.SESSION and target.key is None:
        source = _NOBODYS_SESSION
    console.out(f"topic      {topic} ({source})")
    console.out(f"spec       {_shared.line(state.spec_path(topic))}{there[bool(values['spec_exists'])]}")
    console.out(
        f"worklog    {_shared.line(state.worklog_path(topic))}{there[bool(values['worklog_exists'])]}"
    )
    if target.key is not None:
        console.out(f"session    {target.key}")
    if off:
        console.out(f"context    off ({off})")
    console.out(f"pending    {waiting.pending}")
    for error in waiting.errors:
        console.out(f"error      {_shared.line(error)}")
    return 0
