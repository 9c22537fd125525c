"""``,agent-memory log``: a topic's worklog, for people."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_base.errors import UsageError
from agent_memory import moves, queue, worklog
from agent_memory.commands import _shared

_EXAMPLES = """\
examples:
  ,agent-memory log --session-id "$SESSION"
  ,agent-memory log -n 50 --full --topic fix-retries
"""
_DEFAULT = 20


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("log", help="a worklog", description=__doc__, epilog=_EXAMPLES)
    parser.add_argument(
        "-n",
        metavar="COUNT",
        type=int,
        default=_DEFAULT,
        help="newest entries (default: %(default)s; 0: all)",
    )
    parser.add_argument("--full", action="store_true", help="with outputs and errors")
    _shared.add_session(parser)
    _shared.add_topic(parser)
    _shared.add_workspace(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.n < 0:
        raise UsageError("-n needs a count of 0 or more")
    target = _shared.find(args, console, routed=True, sync=False)
    if args.topic is not None:
        moves.need(target.state, args.topic)
    records = worklog.read(target.state.worklog_path(target.topic))
    shown = records[-args.n :] if args.n else records
    pending = len(queue.pending(target.state.spec_dir, target.key))
    if args.json:
        console.json(
            {
                "workspace": target.state.workspace,
                "session_key": target.key,
                "topic": target.topic,
                "topic_source": target.source,
                "worklog": target.state.worklog_path(target.topic),
                "total": len(records),
                "pending": pending,
                "entries": shown,
            }
        )
        return 0
    if len(shown) < len(records):
        older = _shared.count(len(records) - len(shown), "older entry", "older entries")
        console.out(f"({older}; -n 0 shows all)")
    for record in shown:
        console.out(_entry(record, full=args.full))
    if not records:
        console.out(f"topic {target.topic} has no worklog yet")
    if pending:
        console.out(f"({_shared.count(pending, 'event')} not recorded yet)")
    return 0


def _entry(record: dict[str, object], *, full: bool) -> str:
    def text(name: str) -> str:
        value = record.get(name)
        return value if isinstance(value, str) else ""

    what = f"note {text('note_kind')}" if text("event") == "note" else text("tool_name") or text("event")
    parts = [text("ts"), _shared.line(what)]
    if text("status") and text("status") != "ok":
        parts.append(_shared.line(text("status")))
    said = text("text") or text("command")
    if said:
        parts.append(_shared.line(said))
    refs = record.get("refs")
    if isinstance(refs, list) and refs:
        parts.append("[" + ", ".join(_shared.line(str(ref)) for ref in refs) + "]")
    rows = ["  ".join(parts)]
    if full:
        for name in ("output", "error"):
            rows += [f"    {row}" for row in _shared.lines(text(name)).split("\n") if text(name)]
    return "\n".join(rows)
