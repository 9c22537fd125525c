"""``,agent-memory suggest``: which topic a request belongs to.

Says when exactly one topic matches, and then how to bind to it; when none does, how to make one; when
several do, which ones to choose from. `-` reads the request from standard input.
"""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_base.errors import SuiteError, UsageError
from agent_memory import cleanroom, moves, suggest, worklog
from agent_memory.commands import _shared
from agent_memory.layout import Commands
from agent_memory.mirror import Mirror
from agent_memory.topics import Bucket, State
from agent_memory.views import bucket_summary

_STDIN_LIMIT = 1 << 20
_NOTES = 40  # newest entries of a worklog whose notes are looked at
_EXAMPLES = """\
examples:
  ,agent-memory suggest "the retry storm is back" --session-id "$SESSION"
  ,agent-memory suggest - < request.txt
"""
_SAID = {
    suggest.ONE: "Exactly one topic matches:",
    suggest.NONE: "No topic matches; make one:",
    suggest.SEVERAL: "Several topics match; ask which one is meant:",
}


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("suggest", help="rank the topics", description=__doc__, epilog=_EXAMPLES)
    parser.add_argument("request", metavar="REQUEST")
    _shared.add_session(parser)
    _shared.add_workspace(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    request = args.request
    if request == "-":
        request = console.stdin_bytes(_STDIN_LIMIT).decode("utf-8", "replace")
    if not request.strip():
        raise UsageError("the request is empty")
    state = _shared.open_state(args, console)
    key, session_id = _shared.session_of(args, console.env, routed=False)
    moves.recover(state, Mirror.of(state, console.env, hook=False))
    buckets = {bucket.topic: bucket for bucket in state.buckets() if bucket.named}
    result = suggest.rank(request, {topic: _texts(state, bucket) for topic, bucket in buckets.items()})
    commands = Commands(state.workspace, session_id or ("" if key else "ID"), key)
    if args.json:
        console.json(
            {
                "workspace": state.workspace,
                "verdict": result.verdict,
                "matches": [
                    {
                        "topic": match.topic,
                        "score": match.score,
                        "covers": match.covers,
                        "summary": bucket_summary(state, buckets[match.topic]),
                        "command": commands.memory("select", match.topic),
                    }
                    for match in result.matches
                ],
                "create": commands.memory("select", "NEW-TOPIC", "--create"),
            }
        )
        return 0
    console.out(_SAID[result.verdict])
    for match in result.matches:
        about = bucket_summary(state, buckets[match.topic])
        console.out(f"- {match.topic}: {_shared.line(about)}" if about else f"- {match.topic}")
        console.out(f"  {commands.memory('select', match.topic)}")
    if not result.matches:
        console.out(f"  {commands.memory('select', 'NEW-TOPIC', '--create')}")
    return 0


def _texts(state: State, bucket: Bucket) -> list[str]:
    """What says what a bucket is about: its spec as far as it may be shown, and its notes."""
    try:
        spec = state.read_spec(bucket.topic)
        records = worklog.tail(state.worklog_path(bucket.topic), _NOTES)[0]
    except SuiteError:
        return []
    texts = [] if spec is None else [cleanroom.visible_spec(bucket.topic, spec)]
    if not cleanroom.is_review(bucket.topic, spec):
        texts += [str(record.get("text", "")) for record in records if record.get("event") == "note"]
    return texts
