"""``,agent-memory note``: a structured entry in the worklog.

Kinds: fact, gotcha, pattern, recipe, principle, decision, anti_pattern, question. Notes are what
``,ai-kb harvest`` proposes first. Credentials in the text are replaced before it is written.
"""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_base.errors import UsageError
from agent_base.parsing import offer
from agent_memory import entries, locks, queue
from agent_memory.commands import _shared

KINDS = ("fact", "gotcha", "pattern", "recipe", "principle", "decision", "anti_pattern", "question")
_STDIN_LIMIT = 1 << 20
_EXAMPLES = """\
examples:
  ,agent-memory note gotcha "Retry only idempotent requests" --ref src/retry.py:12 --session-id "$SESSION"
  ,agent-memory note decision - < why.txt
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("note", help="a worklog entry", description=__doc__, epilog=_EXAMPLES)
    offer(parser.add_argument("kind", metavar="KIND", help=", ".join(KINDS)), KINDS)
    parser.add_argument("text", metavar="TEXT", help="at most 2,000 characters; - reads standard input")
    parser.add_argument("--ref", metavar="ANCHOR", action="append", default=[], help="path:line, commit, URL")
    _shared.add_session(parser)
    _shared.add_topic(parser)
    _shared.add_workspace(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    kind = args.kind.strip().lower().replace("-", "_")
    if kind not in KINDS:
        raise UsageError(
            f"{args.kind!r} is no kind of note; nothing was written", f"one of: {', '.join(KINDS)}"
        )
    text = args.text
    if text == "-":
        text = console.stdin_bytes(_STDIN_LIMIT).decode("utf-8", "replace")
    text = text.strip()
    if not text:
        raise UsageError("the text of the note is empty; nothing was written")
    target = _shared.find(args, console, routed=True)
    target.state.ensure()
    _shared.drain(target.state, console)
    record, worklog_id = _write(target, kind, text, args.ref, console)
    flush = queue.flush(target.state.spec_dir, target.key or queue.NO_SESSION)
    _shared.sync_mirror(target.mirror, console)
    _shared.warn_pending(flush, console)
    stored = str(record["text"])
    if args.json:
        console.json(
            {
                "workspace": target.state.workspace,
                "session_key": target.key,
                "topic": target.topic,
                "topic_source": target.source,
                "worklog": target.state.worklog_path(target.topic),
                "worklog_id": worklog_id,
                "note_kind": kind,
                "text": stored,
                "refs": record.get("refs", []),
                "pending": flush.pending,
                "errors": list(flush.errors),
            }
        )
        return 0
    console.out(f"Noted in topic {target.topic}: {kind}")
    if "[redacted:" in stored and "[redacted:" not in text:
        console.out("What looks like a credential was replaced.")
    if len(text) > entries.NOTE_LIMIT:
        console.out(f"The text was longer than {entries.NOTE_LIMIT} characters and was shortened.")
    return 0


def _write(
    target: _shared.Target, kind: str, text: str, refs: list[str], console: Console
) -> tuple[dict[str, object], str]:
    """Queue the note; the record and its id. SuiteError when it could not be taken."""
    spec_dir, key = target.state.spec_dir, target.key or queue.NO_SESSION
    with locks.activity(spec_dir):
        target.resolve()
        record = entries.note_entry(
            kind,
            text,
            refs,
            ts=console.now().timestamp(),
            workspace=target.state.workspace,
            topic=target.topic,
        )
        worklog_id = queue.new_id()
        try:
            queue.enqueue(spec_dir, key, record, worklog_id, held=True)
        except queue.QueueFull:
            if queue.flush(spec_dir, key, held=True).flushed == 0:
                raise
            queue.enqueue(spec_dir, key, record, worklog_id, held=True)
    return record, worklog_id
