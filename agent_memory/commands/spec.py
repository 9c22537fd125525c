"""``,agent-memory spec``: show or change a topic's spec, a small text file of agent and person.

Its lines ``summary:``, ``target:`` and ``action:`` say in lists what the topic is about.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from agent_base import files
from agent_base.cli import Console
from agent_base.errors import SuiteError, UsageError
from agent_memory import cleanroom, locks, topics
from agent_memory.commands import _shared

_STDIN_LIMIT = topics.SPEC_LIMIT
_EXAMPLES = """\
examples:
  ,agent-memory spec --session-id "$SESSION"
  ,agent-memory spec --append "Next: the timeout of the sync client" --session-id "$SESSION"
  ,agent-memory spec --summary "Retry storms in the sync client" --topic fix-retries
  ,agent-memory spec --append - --topic fix-retries < plan.txt
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("spec", help="a topic's spec", description=__doc__, epilog=_EXAMPLES)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", help="print it (default)")
    what.add_argument("--append", metavar="TEXT", help="add a paragraph; - reads standard input")
    what.add_argument("--edit", action="store_true", help="open it in $VISUAL or $EDITOR")
    parser.add_argument("--summary", metavar="TEXT", help="set its one-line summary")
    _shared.add_session(parser)
    _shared.add_topic(parser)
    _shared.add_workspace(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    if args.show and args.summary is not None:
        raise UsageError("--show and --summary exclude each other; nothing was changed")
    target = _shared.find(args, console, routed=True)
    state = target.state
    changed = args.append is not None or args.summary is not None or args.edit
    if changed:
        _change(args, target, console)
        _shared.sync_mirror(target.mirror, console)
    text = state.read_spec(target.topic)
    if args.json:
        console.json(
            {
                "workspace": state.workspace,
                "session_key": target.key,
                "topic": target.topic,
                "topic_source": target.source,
                "spec_file": state.spec_path(target.topic),
                "spec_exists": text is not None,
                "text": text,
                "changed": changed,
                "injected_whole": text is not None
                and cleanroom.fits(cleanroom.visible_spec(target.topic, text)),
            }
        )
        return 0
    if changed:
        console.out(f"Changed: {_shared.line(state.spec_path(target.topic))}")
        if text is not None and not cleanroom.fits(cleanroom.visible_spec(target.topic, text)):
            console.out(
                f"It has more than {cleanroom.SPEC_LIMIT} characters: sessions are shown where it is, "
                "not what it says."
            )
        return 0
    if text is None:
        raise SuiteError(
            f"topic {target.topic!r} has no spec yet", "`,agent-memory spec --append TEXT` begins one"
        )
    console.out(_shared.lines(text.rstrip("\n")))
    return 0


def _change(args: argparse.Namespace, target: _shared.Target, console: Console) -> None:
    state = target.state
    state.ensure()
    addition = args.append
    if addition == "-":
        addition = console.stdin_bytes(_STDIN_LIMIT).decode("utf-8", "replace")
    if addition is not None and not addition.strip():
        raise UsageError("there is nothing to append; nothing was changed")
    if args.edit:
        _edit(args, target, console)
        return
    with locks.activity(state.spec_dir):
        target.resolve()
        with locks.target_lock(state.spec_dir, target.topic):
            before = state.read_spec(target.topic)
            text = _begun(target.topic, before, args.summary)
            if addition is not None:
                text = text.rstrip("\n") + "\n\n" + addition.strip("\n") + "\n"
            if text != before:
                state.write_spec(target.topic, text)


def _begun(topic: str, before: str | None, summary: str | None) -> str:
    """The spec as it is, or a new one, with its summary set."""
    text = before if before is not None else f"topic: {topic}\nsummary: \n"
    return text if summary is None else with_summary(text, summary)


def _edit(args: argparse.Namespace, target: _shared.Target, console: Console) -> None:
    """Let a person edit the spec. An editor stays open for long: no lock is held, what others wrote in the
    meantime is not overwritten, and what the person wrote is kept where it cannot be taken."""
    state, topic = target.state, target.topic
    before = state.read_spec(topic)
    path = state.path(f".{topic}.{os.getpid()}.edit.txt")
    files.write_atomic(path, _begun(topic, before, args.summary).encode("utf-8", "replace"))
    try:
        _run_editor(path, console)
    except SuiteError:
        topics.remove(path)
        raise
    try:
        text = files.read_private(path, topics.SPEC_LIMIT).decode("utf-8", "replace")
        with locks.activity(state.spec_dir):
            target.resolve()
            with locks.target_lock(state.spec_dir, target.topic):
                if target.topic != topic or state.read_spec(topic) != before:
                    raise SuiteError(
                        f"others changed the spec of {topic!r} in the meantime; it stays as it is"
                    )
                if text != before:
                    state.write_spec(topic, text)
    except FileNotFoundError:
        raise SuiteError("the editor removed the file; the spec was not changed") from None
    except SuiteError as error:
        raise SuiteError(error.message, f"your text is in {path}") from error
    topics.remove(path)


def with_summary(text: str, summary: str) -> str:
    """``text`` with its first ``summary:`` line set, or one added below ``topic:`` or at the top."""
    new = f"summary: {' '.join(summary.split())}"
    rows = text.split("\n")
    for number, row in enumerate(rows):
        if row.lower().startswith("summary:"):
            rows[number] = new
            return "\n".join(rows)
    rows.insert(1 if rows[0].lower().startswith("topic:") else 0, new)
    return "\n".join(rows)


def _run_editor(path: str, console: Console) -> None:
    import shlex
    import subprocess

    editor = console.env.get("VISUAL") or console.env.get("EDITOR") or "vi"
    try:
        done = subprocess.run([*shlex.split(editor), path], check=False, env=dict(console.env))
    except (OSError, ValueError) as error:
        raise SuiteError(
            f"the editor {editor!r} could not be run: {error}; the spec was not changed",
            "set VISUAL or EDITOR",
        ) from error
    if done.returncode != 0:
        raise SuiteError(f"the editor {editor!r} ended with {done.returncode}; the spec was not changed")
