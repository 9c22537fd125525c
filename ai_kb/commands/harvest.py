"""``,ai-kb harvest``: candidates for capsules from a session's worklog. Never writes a capsule."""

from __future__ import annotations

import argparse
import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any

from agent_base.cli import Console
from agent_base.errors import SuiteError, UsageError
from agent_base.frozen import dataclass
from agent_memory import locks, queue, recorder, worklog
from agent_memory.layout import Commands
from agent_memory.workspace import is_session_key
from ai_kb import alike, seen, shelf, stores
from ai_kb.commands import _common
from ai_kb.commands._common import Place, count
from ai_kb.errors import KbError
from ai_kb.failures import text_of
from ai_kb.harvest import LIMIT, MIN_REPEATS, Candidate, Said, harvest, remember_options, shown
from ai_kb.hn import cache_bits as bits
from ai_kb.likeness import Known
from ai_kb.shelf import Shelf

_DESCRIPTION = """\
Read a worklog and propose what may be worth remembering: notes, failures that were fixed, errors that
recur, commands that are run again and again. Pending events are recorded first; while some cannot be, or
errors are open, the result is incomplete and the exit code is 1. Nothing is remembered: each candidate
comes with a line that does it."""

_LOCK_SECONDS = 10.0
_EXAMPLES = """\
examples:
  ,ai-kb harvest --session-id "$SESSION"
  ,ai-kb harvest --topic fix-retries --json
  ,ai-kb harvest --worklog old.worklog.jsonl --min-repeats 5
"""


@dataclass(frozen=True, slots=True)
class Harvest:
    """What a harvest found. ``pending`` and ``errors``: what keeps it from being complete."""

    session_key: str
    topic: str
    worklog: str
    entries: int
    pending: int
    errors: tuple[str, ...]
    candidates: tuple[Candidate, ...]

    @property
    def complete(self) -> bool:
        """Whether everything that happened is in the worklog."""
        return not self.pending and not self.errors


def add_worklog_options(parser: argparse.ArgumentParser) -> None:
    """The options that pick a worklog and tune the detectors."""
    parser.add_argument("--topic", default="", help="the worklog of this topic")
    parser.add_argument("--worklog", metavar="FILE", default="", help="this worklog file")
    parser.add_argument("--limit", type=count, default=LIMIT, help="at most so many (default: %(default)s)")
    parser.add_argument(
        "--min-repeats",
        type=count,
        default=MIN_REPEATS,
        help="how often an error or a command must come (default: %(default)s)",
    )


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb harvest``."""
    parser = subparsers.add_parser(
        "harvest",
        help="candidates for capsules from a session's worklog",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    add_worklog_options(parser)
    _common.add_json(parser)
    _common.add_place(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Show the candidates; 1 while pending or error state remains."""
    place = _common.place(args, console)
    found = collect(args, place, console)
    if args.json:
        console.json(as_json(found))
    else:
        _show(found, console)
    return 0 if found.complete else 1


def collect(args: argparse.Namespace, place: Place, console: Console) -> Harvest:
    """Flush, read the worklog, and run the detectors."""
    if args.worklog:
        topic, path = _file(args, console)
        entries, waiting = worklog.read(path), queue.FlushResult()
    else:
        topic, path, entries, waiting = _settled(args, place)
    commands = Commands(place.workspace, place.session_id)
    scope = functools.cache(lambda: _scope(place, console))
    candidates = harvest(
        entries,
        workspace=place.workspace,
        min_repeats=args.min_repeats,
        said=lambda texts: _said(texts, _sessions(entries, place), place, console),
        command=lambda candidate: commands.knowledge("remember", *remember_options(candidate, scope())),
    )
    return Harvest(
        place.session_key,
        topic,
        path,
        len(entries),
        waiting.pending,
        waiting.errors,
        tuple(candidates[: args.limit]),
    )


def _scope(place: Place, console: Console) -> str:
    """The scope that `remember` would give a capsule of this workspace."""
    from ai_kb.remember import project_of

    return "project" if project_of(place.workspace, console.env).ids else "workspace"


def _file(args: argparse.Namespace, console: Console) -> tuple[str, str]:
    """Topic and path of the worklog file that is asked for."""
    if args.topic:
        raise UsageError("--worklog and --topic exclude each other")
    path = os.path.join(console.cwd, args.worklog)
    if not os.path.isfile(path):
        raise KbError(f"there is no worklog {args.worklog!r}")
    return os.path.basename(path).removesuffix(worklog.SUFFIX), path


def _settled(
    args: argparse.Namespace, place: Place
) -> tuple[str, str, list[dict[str, object]], queue.FlushResult]:
    """Topic, path and entries of a worklog once everything that waits is in it: in the spool, and in the
    queue of the session, or of all when none is named. Nobody writes, binds or merges while it is read."""
    state, key = place.state, place.session_key or None
    state.exists()
    result = recorder.settle(state, key, timeout=_LOCK_SECONDS, drain_only=True)
    topic = _common.topic_of(place, args.topic)
    if not state.exists():
        return topic, state.worklog_path(topic), [], result
    with locks.activity(state.spec_dir, exclusive=True, timeout=_LOCK_SECONDS):
        result = result.plus(queue.flush(state.spec_dir, key, held=True, timeout=_LOCK_SECONDS))
        if not args.topic:  # a select or merge came in between
            topic = (state.topic_of_session(key) if key else state.topic_of_command())[0]
        path = state.worklog_path(topic)
        return topic, path, worklog.read(path), result


def _sessions(entries: Sequence[Mapping[str, object]], place: Place) -> list[str]:
    """Keys of the sessions whose work a worklog tells of, and of the one that is named."""
    keys = {place.session_key, *(text_of(entry, "session_key") for entry in entries)}
    return sorted(filter(is_session_key, keys))


def _said(texts: Sequence[tuple[str, str]], sessions: Sequence[str], place: Place, console: Console) -> Said:
    """What the stores say of ``texts``, and what of them was injected into one of ``sessions``."""
    injected = {i for key in sessions for i in seen.ever_injected(place.state.spec_dir, key)}

    def answer(held: Shelf) -> tuple[list[list[Known]], list[Known]]:
        name, everything = held.store.name, held.everything()
        places = alike.Places(held.index)
        near = [alike.near(held.index, name, title, body, everything, places) for title, body in texts]
        return near, alike.known(held.index, name, bits.members(held.numbers(injected)))

    near: list[list[Known]] = [[] for _ in texts]
    recalled: list[tuple[str, str]] = []
    for store in stores.stores(place.workspace, console.env):
        try:
            found, shown_before = shelf.ask(store, answer)
        except SuiteError as error:
            _common.warn(console, f"the {store.described} could not be read: {error.message}")
            continue
        for known, more in zip(near, found, strict=True):
            known += more
        recalled += [(k.title, k.body) for k in shown_before]
    return Said(near, recalled)


def as_json(found: Harvest) -> dict[str, object]:
    """The harvest as scripts read it."""
    return {
        "session_key": found.session_key,
        "topic": found.topic,
        "worklog": found.worklog,
        "entries": found.entries,
        "pending": found.pending,
        "errors": list(found.errors),
        "candidates": [
            {
                "detector": c.detector,
                "kind": c.kind,
                "title": c.title,
                "body": c.body,
                "refs": list(c.refs),
                "count": c.count,
                "known": c.known,
                "known_id": c.known_id or None,
                "command": c.command,
            }
            for c in found.candidates
        ],
    }


def _show(found: Harvest, console: Console) -> None:
    entries = "1 entry" if found.entries == 1 else f"{found.entries} entries"
    _common.say(console, f"Topic {found.topic}: {entries} in {found.worklog}")
    if not found.candidates:
        console.out("Nothing to propose.")
    for number, candidate in enumerate(found.candidates, 1):
        console.out()
        head, *rest = shown(candidate)
        console.out(f"{number}. {head}")
        for line in rest:
            console.out(line)
    report_incomplete(found, console)


def report_incomplete(found: Harvest, console: Console) -> None:
    """Say on stderr why a harvest is not complete."""
    if found.pending:
        _common.warn(console, f"{found.pending} events are not recorded yet, so this is incomplete")
    for error in found.errors[:10]:
        _common.warn(console, error)
    if found.errors:
        _common.warn(console, "see `,agent-memory doctor`; until then harvest ends with 1")
