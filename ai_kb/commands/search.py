"""``,ai-kb search``: capsules that fit a question, best first."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_base.errors import UsageError
from ai_kb import inject_text, searching
from ai_kb.capsule import KINDS, SCOPES, checked_tag
from ai_kb.commands import _common
from ai_kb.commands._common import count

_DESCRIPTION = """\
Rank the capsules of both stores by how well they fit the words of a question (BM25 over title, body and
topics). Shows what default recall would: active, trusted, applicable; every scope."""

_EXAMPLES = """\
examples:
  ,ai-kb search requests that time out
  ,ai-kb search --json --limit 3 "flaky test"
  ,ai-kb search --kind gotcha --domain postgres "lock timeout"
  git diff | ,ai-kb search --query-stdin
"""
_QUERY_LIMIT = 1 << 20


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb search``."""
    parser = subparsers.add_parser(
        "search",
        help="capsules that fit a question, best first",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument("query", metavar="WORD", nargs="*", help="the question; `-` reads standard input")
    parser.add_argument("--query-stdin", action="store_true", help="read the question from standard input")
    parser.add_argument("--limit", type=count, default=10, help="at most so many (default: %(default)s)")
    parser.add_argument("--kind", choices=KINDS, action="append", default=[], help="only this kind")
    parser.add_argument("--scope", choices=SCOPES, action="append", default=[], help="only this scope")
    parser.add_argument("--domain", metavar="TAG", action="append", default=[], help="only this domain")
    parser.add_argument("--include-untrusted", action="store_true", help="also what policy does not qualify")
    parser.add_argument("--all", action="store_true", help="also what is superseded or retracted")
    _common.add_json(parser)
    _common.add_place(parser, store=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Print what was found."""
    place = _common.place(args, console)
    query = " ".join(args.query)
    if args.query_stdin and query:
        raise UsageError("the question is given twice: as words and with --query-stdin")
    if args.query_stdin or query == "-":
        query = console.stdin_bytes(_QUERY_LIMIT).decode("utf-8", "replace")
    if not query.strip():
        raise UsageError(
            "the question is empty", "for instance `,ai-kb search requests that time out`, or --query-stdin"
        )
    hits = searching.find(
        query,
        place.workspace,
        console.env,
        only=args.store,
        limit=args.limit,
        untrusted=args.include_untrusted,
        every_lifecycle=args.all,
        kinds=args.kind,
        scopes=args.scope,
        domains=[checked_tag("domain", domain, prefix="domain/")[len("domain/") :] for domain in args.domain],
    )
    if args.json:
        console.json([as_object(hit) for hit in hits])
        return 0
    now = console.now().timestamp()
    for hit in hits:
        record, capsule = hit.judged.record, hit.capsule
        marks = [
            f"score {hit.score:.2f}",
            hit.store,
            capsule.scope or "no scope",
            inject_text.age(record.timestamp, now),
        ]
        marks += [f"by {capsule.by}"] if capsule.by == "agent" else []
        marks += [hit.judged.trust] if hit.judged.trust != "qualified" else []
        marks += [hit.judged.lifecycle] if hit.judged.lifecycle != "active" else []
        marks += ["challenged"] if hit.judged.challengers else []
        marks += ["source changed"] if hit.changed else []
        title = inject_text.shorten(capsule.title, inject_text.TITLE_LIMIT)
        _common.say(console, record.id)
        _common.say(console, f"    {capsule.kind}: {title}  ({', '.join(marks)})")
        if capsule.body:
            _common.say(console, f"    {inject_text.shorten(capsule.body, 240)}")
    if not hits:
        console.out("Nothing fits.")
    return 0


def as_object(hit: searching.Hit) -> dict[str, object]:
    """A hit for scripts."""
    record, capsule = hit.judged.record, hit.capsule
    return {
        "id": record.id,
        "store": hit.store,
        "kind": capsule.kind,
        "scope": capsule.scope,
        "title": capsule.title,
        "body": capsule.body,
        "topics": record.data["topics"],
        "score": round(hit.score, 6),
        "trust": hit.judged.trust,
        "by": capsule.by,
        "source_changed": bool(hit.changed),
        "lifecycle": hit.judged.lifecycle,
        "challenged": bool(hit.judged.challengers),
        "timestamp": record.timestamp,
        "actor": record.actor,
        "changed_paths": list(hit.changed),
    }
