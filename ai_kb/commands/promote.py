"""``,ai-kb promote``: walk the candidates of a harvest one by one, at a terminal."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from typing import Any

from agent_base import inert
from agent_base.cli import Console
from agent_base.errors import SuiteError
from ai_kb import consent, editor
from ai_kb.commands import _common
from ai_kb.commands.harvest import add_worklog_options, collect, report_incomplete
from ai_kb.commands.remember import report
from ai_kb.errors import KbError
from ai_kb.harvest import Candidate, is_source
from ai_kb.remember import Draft, remember

_DESCRIPTION = """\
Show each candidate of `,ai-kb harvest` and ask: accept it as it stands, edit it first, skip it, or stop.
Needs a person at a terminal: what is signed here counts as said by a person."""

_NOTES = (*editor.CAPSULE_NOTES, "# An empty text skips this candidate.")


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb promote``."""
    parser = subparsers.add_parser(
        "promote",
        help="walk the candidates one by one, at a terminal",
        description=_DESCRIPTION,
        epilog='examples:\n  ,ai-kb promote --session-id "$SESSION"\n',
    )
    add_worklog_options(parser)
    parser.add_argument("--known", action="store_true", help="also what some capsule says already")
    _common.add_place(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Ask about each candidate."""
    consent.need_person(console, "promote")
    place = _common.place(args, console)
    found = collect(args, place, console)
    report_incomplete(found, console)
    if not found.complete:
        raise KbError("events are pending or errors are open; nothing was changed", ",agent-memory doctor")
    candidates = [c for c in found.candidates if args.known or not c.known]
    kept = 0
    for number, candidate in enumerate(candidates, 1):
        _show(candidate, number, len(candidates), console)
        answer = editor.ask("Accept, edit, skip, quit?", console, "saeq")
        if answer in ("", "q"):
            break
        if answer == "s":
            continue
        keep = functools.partial(_keep, candidate, place, console)
        try:
            if answer == "a":
                kept += keep(candidate.title, candidate.body)
            else:
                kept += _edited(candidate, console, keep)
        except SuiteError as error:  # shown, and the walk goes on
            _common.warn(console, error.message + (f" ({error.hint})" if error.hint else ""))
    console.out(f"{kept} remembered of {len(candidates)}.")
    return 0


def _show(candidate: Candidate, number: int, total: int, console: Console) -> None:
    console.out()
    known = f", known: {candidate.known_id}" if candidate.known else ""
    _common.say(console, f"{number}/{total} [{candidate.detector}] {candidate.kind}{known}")
    console.out(f"  {inert.terminal(candidate.title)}")
    for line in candidate.body.split("\n"):
        console.out(f"    {inert.terminal(line)}")
    if candidate.refs:
        console.out("    refs: " + ", ".join(inert.terminal(ref) for ref in candidate.refs))


def _edited(candidate: Candidate, console: Console, keep: Callable[[str, str], int]) -> int:
    """Remember one candidate as a person edits it; 0 where nothing is left of it."""

    def take(text: str) -> int:
        title, body = editor.title_and_body(text)
        return keep(title, body) if title else 0

    return editor.edit_until_taken(f"{candidate.title}\n\n{candidate.body}", _NOTES, console, take)


def _keep(candidate: Candidate, place: _common.Place, console: Console, title: str, body: str) -> int:
    """Remember one candidate. Raises SuiteError when it is refused."""
    source = next((ref for ref in candidate.refs if is_source(ref)), None)
    draft = Draft(
        title,
        body,
        kind=candidate.kind,
        sources=(source,) if source else (),
        refs=tuple(ref for ref in candidate.refs if ref != source),
        by_agent=False,
    )
    done = remember(
        draft,
        workspace=place.workspace,
        env=console.env,
        now=console.now(),
        name=_common.name_for_home(place, console),
        cwd=place.workspace,
    )
    report(done, console, as_json=False)
    return 1
