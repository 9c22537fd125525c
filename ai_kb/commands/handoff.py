"""``,ai-kb handoff``: hand work over, drafted from a topic or as a machine request."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from agent_base.cli import Console
from agent_base.parsing import Parser
from agent_memory import cleanroom, redact, worklog
from ai_kb import consent, editor, handoff, stores
from ai_kb.capsule import topics_of
from ai_kb.commands import _common, _protocol
from ai_kb.errors import EmptyText, HoldsSecret
from ai_kb.hn.commands.record import read_input
from ai_kb.remember import project_of
from ai_kb.stores import STORES, Store

_DESCRIPTION = """\
With --topic: draft what is done, what was assumed, what blocks and what could come next from the topic's
worklog and notes. At a terminal an editor opens, and what is left in it is signed; elsewhere the draft is
printed, and nothing is signed. With --input: sign a request (`-` reads it from standard input).
A proposed next action is inert data, never permission to carry it out."""

_EXAMPLES = """\
examples:
  ,ai-kb handoff --topic fix-retries
  ,ai-kb handoff --topic fix-retries --draft > handoff.json
  ,ai-kb handoff --input handoff.json
"""
_PROTOCOL_ONLY = frozenset(
    {"content", "completed", "assumption", "blocker", "next-action", "path", "evidence"}
)


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb handoff``."""
    _protocol.add_words(subparsers, "handoff", "hand work over: drafted, or from a file").set_defaults(
        run=run
    )


def _parser() -> Parser:
    parser = Parser(prog=",ai-kb handoff", description=_DESCRIPTION, epilog=_EXAMPLES)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--topic", metavar="TOPIC", help="draft from this topic (default: the session's)")
    which.add_argument("--input", metavar="FILE", help="a request of the protocol, as --draft prints it")
    parser.add_argument("--draft", action="store_true", help="print the draft, sign nothing")
    parser.add_argument(
        "--at", default="", metavar="REV", help="anchor (default: HEAD, or the home store's root)"
    )
    parser.add_argument("--applies", default="", metavar="MODE", help="applicability (default: descendants)")
    parser.add_argument(
        "--store", choices=STORES, default="", help="where it goes (default: as for remember)"
    )
    parser.add_argument("--allow-secret", action="store_true", help="what looks like a credential is none")
    _common.add_json(parser)
    _common.add_place(parser)
    return parser


def run(args: argparse.Namespace, console: Console) -> int:
    """Draft, or sign; with the protocol's own flags as ``hn memory handoff`` does."""
    if {word.lstrip("-").split("=")[0] for word in args.words if word.startswith("-")} & _PROTOCOL_ONLY:
        words = _protocol.split("handoff", args.words, console)
        store = _chosen(words.place, words.store, console)[0]
        status, out = _protocol.sign(store, "handoff", words.rest, words.place, console)
        console.stdout.write(out)
        return status
    options = _parser().parse_args(args.words)
    place = _common.place(options, console)
    if options.input is not None:
        return _sign(read_input(options.input, console), options, place, console)
    drafted = _draft(options, place)
    if options.draft or not consent.is_person(console):
        console.stdout.write(json.dumps(drafted.request(_topics(place, console)), indent=2) + "\n")
        return 0

    def take(text: str) -> int:
        edited = handoff.from_text(text)
        if not edited.content:
            raise EmptyText("the handoff is empty; nothing was signed")
        request = json.dumps(edited.request(_topics(place, console))).encode()
        return _sign(request, options, place, console)

    text = handoff.to_text(drafted)
    return editor.edit_until_taken(text, handoff.NOTES, console, take, name="handoff.txt")


def _draft(options: argparse.Namespace, place: _common.Place) -> handoff.Handoff:
    state = place.state
    topic = _common.topic_of(place, options.topic)
    entries = worklog.read(state.worklog_path(topic))
    spec = state.read_spec(topic)
    summary = cleanroom.summary(topic, spec) if spec else ""
    if not entries and not spec:
        raise EmptyText(f"the topic {topic!r} has neither worklog nor spec; nothing was signed")
    return handoff.draft(topic, entries, summary=summary, workspace=place.workspace)


def _topics(place: _common.Place, console: Console) -> tuple[str, ...]:
    project = project_of(place.workspace, console.env)
    topics = topics_of(
        "handoff",
        "project" if project.ids else "workspace",
        projects=project.ids,
        workspaces=() if project.ids else (project.digest,),
        by_agent=not consent.is_person(console),
    )
    return tuple(t for t in topics if t != "kind/handoff")


def _refuse_secrets(request: bytes) -> None:
    for text in _texts(_protocol.load_request(request)):
        for found in redact.findings(text):
            raise HoldsSecret(
                f"the handoff holds what looks like a credential: {found}; nothing was signed",
                "take it out, or say --allow-secret when it is none",
            )


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for entry in value if isinstance(value, list) else value.values():
            yield from _texts(entry)


def _chosen(place: _common.Place, wanted: str, console: Console) -> tuple[Store, str]:
    """The store that a handoff goes to (the home store is made if need be), and why."""
    choice = stores.choose(place.workspace, console.env, wanted)
    if choice.store is not None:
        return choice.store, choice.why
    name = _common.user_name(place.workspace, console)
    return stores.init_home(console.env, name, console.now())[0], choice.why


def _sign(request: bytes, options: argparse.Namespace, place: _common.Place, console: Console) -> int:
    if not options.allow_secret:
        _refuse_secrets(request)
    store, why = _chosen(place, options.store, console)
    words = ["--input", "-", "--json", "--at", options.at, "--applies", options.applies]
    status, out = _protocol.sign(store, "handoff", words, place, console, request)
    answer = json.loads(out)
    if options.json:
        console.json({"store": store.name, "why": why, **answer})
    else:
        _common.say(console, f"Handed over: {answer['memoryId']}")
        _common.say(console, f"in the {store.described}: {why}.")
    return status
