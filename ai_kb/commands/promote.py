"""``,ai-kb promote``: walk the candidates of a harvest one by one, at a terminal."""

from __future__ import annotations

import argparse
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

_TEMPLATE = """\
{title}

{body}
# First line: the title. Then a blank line and the body. Lines that start with # are left out.
# An empty text skips this candidate.
"""


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
        title, body = candidate.title, candidate.body
        if answer == "e":
            text = editor.edit(_TEMPLATE.format(title=title, body=body), console)
            title, body = editor.title_and_body(text)
            if not title:
                continue
        kept += _keep(candidate, title, body, place, console)
    console.out(f"{kept} remembered of {len(candidates)}.")
    return 0


def _show(candidate: Candidate, number: int, total: int, console: Console) -> None:
    console.out()
    known = f", known: {candidate.known_id}" if candidate.known else ""
    _common.say(console, f"{number}/{total} [{candidate.detector}] {candidate.kind}{known}")
    console.out(f"  {inert.terminal(candidate.title)}")
    for line in candidate.body.split("\n"):
        console.out(f"    {inert.terminal(line)}")


def _keep(candidate: Candidate, title: str, body: str, place: _common.Place, console: Console) -> int:
    """Remember one candidate; a refusal is shown and the walk goes on."""
    source = next((ref for ref in candidate.refs if is_source(ref)), None)
    draft = Draft(
        title,
        body,
        kind=candidate.kind,
        sources=(source,) if source else (),
        refs=tuple(ref for ref in candidate.refs if ref != source),
        by_agent=False,
    )
    try:
        done = remember(
            draft,
            workspace=place.workspace,
            env=console.env,
            now=console.now(),
            name=_common.name_for_home(place, console),
            cwd=place.workspace,
        )
    except SuiteError as error:
        _common.warn(console, error.message + (f" ({error.hint})" if error.hint else ""))
        return 0
    report(done, console, as_json=False)
    return 1
