"""``,ai-kb remember``: sign one thing that proved true."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

from agent_base.cli import Console
from agent_base.parsing import offer
from ai_kb import capsule, consent, editor
from ai_kb.commands import _common
from ai_kb.errors import EmptyText, InvalidCapsule
from ai_kb.remember import Draft, Remembered, remember
from ai_kb.stores import STORES, described

_BODY_LIMIT = 4 * capsule.MAX_CONTENT

_DESCRIPTION = """\
Check a text and sign it as a capsule. It goes to the repository's store when the policy at its HEAD
trusts this clone, else to the home store, and says where it went and why. Refused, with nothing
changed: credentials, what an active capsule says already, empty or oversized text."""

_EXAMPLES = """\
examples:
  ,ai-kb remember --kind gotcha --title "Retry only idempotent requests" \\
    --body "A POST that timed out may have been carried out." --source src/retry.py:12
  git log -1 --format=%B | ,ai-kb remember --title "Why the cache is keyed by tenant" --body-file -
  ,ai-kb remember --title "…" --body "…" --supersedes 3f2a9c01
  ,ai-kb remember                        at a terminal: opens $EDITOR
"""


def add_capsule_options(parser: argparse.ArgumentParser) -> None:
    """The options that describe a capsule."""
    add = parser.add_argument
    add("--title", default="", help="one line that says it")
    body = parser.add_mutually_exclusive_group().add_argument
    body("--body", default=None, help="what is so, and why")
    body("--body-file", metavar="FILE", help="read the body from a file, `-` from standard input")
    kinds = f"{', '.join(capsule.KINDS)} (default: {capsule.DEFAULT_KIND})"
    offer(add("--kind", default="", help=kinds), capsule.KINDS)
    scopes = f"{', '.join(capsule.SCOPES)} (default: project, in a repository)"
    offer(add("--scope", default="", help=scopes), capsule.SCOPES)
    add("--source", action="append", default=[], metavar="PATH:LINE", help="the file that shows it")
    add("--domain", action="append", default=[], help="what it is about; makes the default scope domain")
    add("--tag", action="append", default=[], help="a free topic")
    offer(add("--confidence", default="", help=", ".join(capsule.CONFIDENCES)), capsule.CONFIDENCES)
    add("--ref", action="append", default=[], metavar="ANCHOR", help="where it was seen: commit, URL, issue")
    add(
        "--verified-by", default="", metavar="HOW", help="how it was checked; with --evidence: a verification"
    )
    add("--evidence", action="append", default=[], metavar="ID", help="git:<object>, memory:<id>, event:<id>")
    add("--store", choices=STORES, default="", help="where it goes (default: chosen, and said why)")
    add("--allow-secret", action="store_true", help="what looks like a credential is none")
    add("--allow-duplicate", action="store_true", help="say it although an active capsule does")


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb remember``."""
    parser = subparsers.add_parser(
        "remember", help="sign one thing that proved true", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    add_capsule_options(parser)
    parser.add_argument("--supersedes", default="", metavar="ID", help="your own capsule that this replaces")
    parser.add_argument("--dry-run", action="store_true", help="check everything, write nothing")
    _common.add_json(parser)
    _common.add_place(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Remember one capsule."""
    place = _common.place(args, console)

    def take(title: str, body: str) -> Remembered:
        return remember(
            draft_of(args, console, title, body),
            workspace=place.workspace,
            env=console.env,
            now=console.now(),
            name=_common.name_for_home(place, console),
            cwd=console.cwd,
            dry_run=args.dry_run,
        )

    report(with_text(args, console, take), console, as_json=args.json)
    return 0


def draft_of(args: argparse.Namespace, console: Console, title: str, body: str) -> Draft:
    """The draft that the options describe."""
    return Draft(
        title,
        body,
        kind=args.kind.replace("-", "_"),
        scope=args.scope,
        confidence=args.confidence,
        sources=tuple(args.source),
        domains=tuple(args.domain),
        tags=tuple(args.tag),
        refs=tuple(args.ref),
        verified_by=args.verified_by,
        evidence=tuple(args.evidence),
        supersedes=getattr(args, "supersedes", ""),
        store=args.store,
        by_agent=not consent.is_person(console),
        allow_secret=args.allow_secret,
        allow_duplicate=args.allow_duplicate,
    )


def with_text(
    args: argparse.Namespace,
    console: Console,
    take: Callable[[str, str], Remembered],
    old_title: str = "",
    old_body: str = "",
) -> Remembered:
    """What ``take`` makes of title and body: from options, a file, standard input, or a person in an editor,
    who may edit again what is refused."""
    if args.body is not None:
        return take(args.title, args.body)
    if args.body_file is not None:
        return take(args.title, _read_body(args.body_file, console))
    if not console.person():
        raise EmptyText(
            "there is no body; nothing was changed",
            "give --body TEXT or --body-file FILE (`-`: standard input)",
        )
    text = f"{args.title or old_title}\n\n{old_body}"
    return editor.edit_until_taken(
        text, editor.CAPSULE_NOTES, console, lambda edited: take(*editor.title_and_body(edited))
    )


def _read_body(name: str, console: Console) -> str:
    if name == "-":
        data = console.stdin_bytes(_BODY_LIMIT)
    else:
        with open(os.path.join(console.cwd, name), "rb") as file:
            data = file.read(_BODY_LIMIT + 1)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidCapsule("the body is not valid UTF-8; nothing was changed") from error


def report(done: Remembered, console: Console, *, as_json: bool) -> None:
    """Say what was remembered, where and why."""
    if as_json:
        console.json(
            {
                "id": done.id,
                "store": done.store,
                "why": done.why,
                "stream": done.stream,
                "commit": done.commit,
                "kind": done.kind,
                "title": done.title,
                "topics": list(done.topics),
                "content": done.content,
                "warnings": list(done.warnings),
                "dry_run": not done.id,
            }
        )
        return
    for warning in done.warnings:
        _common.warn(console, warning)
    if not done.id:
        _common.say(console, f"Would go to the {described(done.store)} ({done.why}):")
        for line in done.content.split("\n"):
            _common.say(console, f"    {line}".rstrip())
        _common.say(console, f"    topics: {' '.join(done.topics)}")
        return
    _common.say(console, f"Remembered {done.id}")
    _common.say(console, f"in the {described(done.store)}: {done.why}.")
    if capsule.BY_AGENT in done.topics and not {"scope/domain", "scope/universal"}.isdisjoint(done.topics):
        _common.say(
            console,
            "Made by an agent: it is injected only in this project until a person runs "
            f"`,ai-kb approve {done.id}`.",
        )
