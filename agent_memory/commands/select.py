"""``,agent-memory select``: bind a session to a topic.

The session's pending events are flushed, and what it recorded before it was bound is folded into the
topic's worklog in time order. No other session's binding changes. Then the topic's context is shown,
by the same rules as at session start.
"""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_base.errors import SuiteError, UsageError
from agent_memory import cleanroom, context, moves
from agent_memory import workspace as places
from agent_memory.commands import _shared
from agent_memory.layout import Commands
from agent_memory.mirror import Mirror
from agent_memory.starts import Start
from agent_memory.topics import State
from agent_memory.views import TopicView, view_topic

_EXAMPLES = """\
examples:
  ,agent-memory select fix-retries --session-id "$SESSION"
  ,agent-memory select fix-retries --create --summary "Retry storms in the client" --session-id "$SESSION"
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("select", help="bind a session", description=__doc__, epilog=_EXAMPLES)
    _shared.offer_topics(parser.add_argument("name", metavar="TOPIC"))
    parser.add_argument("--create", action="store_true", help="make the topic; refused when it exists")
    parser.add_argument("--summary", metavar="TEXT", default="", help="what it is about, with --create")
    _shared.add_session(parser)
    _shared.add_workspace(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.summary and not args.create:
        raise UsageError(
            "--summary goes with --create; nothing was changed", "see `,agent-memory spec --summary`"
        )
    key, session_id = _shared.session_of(args, console.env, routed=False)
    if key is None:
        raise UsageError(
            "select binds a session and needs --session-id; nothing was changed",
            "`,agent-memory use TOPIC` is for commands without a session",
        )
    places.safe_topic(args.name)
    state = _shared.open_state(args, console)
    mirror = Mirror.of(state, console.env, hook=False)
    _shared.sync_mirror(mirror, console)  # a topic that only the mirror has can be selected
    _shared.drain(state, console)
    moved = moves.select(
        state,
        mirror,
        key,
        args.name,
        create=args.create,
        summary=args.summary,
        moment=_shared.moment(console.now()),
    )
    _shared.sync_mirror(mirror, console)
    _shared.warn_pending(moved.flush, console)
    off = cleanroom.injection_off(state, console.env, args.name)
    text = ""
    if not off:
        try:
            view = view_topic(state, args.name)
        except SuiteError as error:  # bound it is; a file that others could have written is shown nowhere
            _shared.warn(console, f"its context is not shown: {error}")
        else:
            text = context.topic_text(view, Commands(state.workspace, session_id, key))
            _note_shown(state, key, view, console)
    if args.json:
        console.json(
            {
                "workspace": state.workspace,
                "session_key": key,
                "topic": args.name,
                "created": moved.created,
                "folded": moved.folded,
                "finished_earlier_run": moved.finished,
                "pending": moved.flush.pending,
                "errors": list(moved.flush.errors),
                "no_context": bool(off),
                "context": text,
            }
        )
        return 0
    earlier = _shared.count(moved.folded, "earlier event")
    folded = f"; it brought {earlier} along" if moved.folded else ""
    console.out(f"Session {key} is bound to topic {args.name}{folded}.")
    if off:
        console.out(f"No context is shown ({off}).")
    elif text:
        console.out("\n" + text)
    return 0


def _note_shown(state: State, key: str, view: TopicView, console: Console) -> None:
    """What stands in the transcript now need not be injected again when the session is resumed."""
    with Start(state, key) as start:
        if start.happened:
            same = start.topic == view.topic
            start.injected(
                source=start.source,
                delivered=start.delivered,
                now=console.now().timestamp(),
                topic=view.topic,
                spec=view.spec_identity,
                ids=[*start.ids, *view.ids] if same else view.ids,
                learned=start.learned,
            )
