"""``,ai-kb supersede``: replace one of your capsules by a better one."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_base.errors import UsageError
from agent_base.frozen import replace
from agent_base.parsing import Parser
from ai_kb.capsule import Capsule
from ai_kb.commands import _common, _protocol
from ai_kb.commands.remember import add_capsule_options, draft_of, report, with_text
from ai_kb.remember import Remembered, remember

_DESCRIPTION = """\
Replace one of your own capsules. What is not said again (kind, scope, domains, tags, sources,
references, confidence) is taken over. With the protocol's own flags (--content, --input) the
replacement is a plain record, as `hn memory supersede` makes it."""

_EXAMPLES = """\
examples:
  ,ai-kb supersede 3f2a9c01 --title "Retry only GET and PUT" --body "POST is not idempotent."
  ,ai-kb supersede sha256:<id> --kind decision --content "Replacement with current rationale."
"""
_PROTOCOL_ONLY = frozenset({"content", "input", "applies", "at"})


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb supersede``."""
    _protocol.add_words(subparsers, "supersede", "replace a capsule by a better one").set_defaults(run=run)


def _parser() -> Parser:
    parser = Parser(prog=",ai-kb supersede", description=_DESCRIPTION, epilog=_EXAMPLES)
    parser.add_argument("memory", metavar="ID", help="your own capsule; 8 hex digits do")
    add_capsule_options(parser)
    parser.add_argument("--dry-run", action="store_true", help="check everything, write nothing")
    _common.add_json(parser)
    _common.add_place(parser)
    return parser


def run(args: argparse.Namespace, console: Console) -> int:
    """Replace a capsule by a capsule, or a record by a record."""
    names = {word.lstrip("-").split("=")[0] for word in args.words if word.startswith("-")}
    if names & _PROTOCOL_ONLY:
        store, words, rest = _protocol.about("supersede", args.words, console)
        status, out = _protocol.sign(store, "supersede", rest, words.place, console)
        console.stdout.write(out)
        return status
    options = _parser().parse_args(args.words)
    place = _common.place(options, console)
    store, memory = _protocol.find(options.memory, _protocol.Words([], place, options.store), console)
    record = memory.envelope.record
    if record is None:
        raise UsageError(f"{memory.id} is a {memory.envelope.operation}, not a record; nothing was changed")
    old = Capsule(record.kind, record.content, record.topics)

    def take(title: str, body: str) -> Remembered:
        draft = draft_of(options, console, title or old.title, body)
        draft = replace(
            draft,
            kind=draft.kind or _common.capsule_kind(old.kind),
            scope=draft.scope or old.scope,
            scope_said=bool(draft.scope),
            confidence=draft.confidence or next(iter(old.trailer("Confidence")), ""),
            sources=draft.sources or tuple(old.trailer("Source")),
            domains=draft.domains or old.domains,
            tags=draft.tags or old.tags,
            refs=draft.refs or tuple(old.trailer("Refs")),
            supersedes=memory.id,
            store=store.name,
        )
        return remember(
            draft,
            workspace=place.workspace,
            env=console.env,
            now=console.now(),
            cwd=console.cwd,
            dry_run=options.dry_run,
        )

    report(with_text(options, console, take, old.title, old.body), console, as_json=options.json)
    return 0
