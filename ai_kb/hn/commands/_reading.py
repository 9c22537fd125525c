"""What recall and grep share: flags, the index, ``index-v0.json`` kept in step, results.

``,ai-kb recall`` and ``grep`` use the same functions, one store at a time.
"""

from __future__ import annotations

import argparse
from contextlib import contextmanager

from agent_base.cli import Console
from ai_kb.hn import canonical
from ai_kb.hn.cache import Index, ask
from ai_kb.hn.commands._where import InRepository, repository_of
from ai_kb.hn.errors import InvalidRequest
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.progress import Progress
from ai_kb.hn.request import MAX_CONTENT_BYTES, MAX_RECORDS, Request
from ai_kb.hn.unsettled import described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ai_kb.hn.gitstore import ObjectReader
    from ai_kb.hn.recall import Result
    from ai_kb.hn.rowjson import RowFacts

# Beyond this many records only `index rebuild` writes index-v0.json: its cost grows with all of them.
KEPT_RECORDS = 2_000


class _Default(int):
    """A bound that was not given on the command line."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Filters, bounds and output, as both commands have them."""
    parser.add_argument("--at", default=None, help="exact Git revision")
    parser.add_argument("--subject", default=None, help="full subject ID")
    parser.add_argument("--path", default=None, help="repository-relative path")
    parser.add_argument("--topic", action="append", default=[], help="topic filter")
    parser.add_argument("--kind", action="append", default=[], help="kind filter")
    parser.add_argument("--actor", action="append", default=[], help="actor filter")
    parser.add_argument("--lifecycle", action="append", default=[], help="lifecycle filter or all")
    parser.add_argument("--trust", action="append", default=[], help="trust filter")
    parser.add_argument(
        "--include-untrusted", action="store_true", help="include valid non-qualifying claims"
    )
    parser.add_argument("--max-records", type=int, default=_Default(MAX_RECORDS), help="maximum records")
    parser.add_argument(
        "--max-content-bytes",
        type=int,
        default=_Default(MAX_CONTENT_BYTES),
        help="maximum encoded content bytes",
    )
    parser.add_argument("--cursor", default=None, help="opaque continuation cursor")
    parser.add_argument("--json", action="store_true", help="emit JSON")
    add_progress(parser)


def add_progress(parser: argparse.ArgumentParser) -> None:
    """``--progress``; on a terminal it is on by itself."""
    parser.add_argument("--progress", action="store_true", help="report what takes over a second on stderr")


def filters_given(args: argparse.Namespace) -> bool:
    """Whether any filter or bound stands on the command line."""
    single = (args.at, args.subject, args.path, args.cursor)
    lists = (args.topic, args.kind, args.actor, args.lifecycle, args.trust)
    bounds = (args.max_records, args.max_content_bytes)
    return (
        any(value is not None for value in single)
        or any(lists)
        or any(type(value) is not _Default for value in bounds)
        or args.include_untrusted
    )


def request_of(args: argparse.Namespace, *, query: str | None = None) -> Request:
    """The request that the flags state. Raises InvalidRequest."""
    return Request(
        at=args.at or "",
        subject=args.subject or "",
        path=args.path or "",
        topics=args.topic,
        kinds=args.kind,
        actors=args.actor,
        lifecycle=args.lifecycle,
        trust=args.trust,
        query=query,
        max_records=int(args.max_records),
        max_content_bytes=int(args.max_content_bytes),
        cursor=args.cursor or "",
        include_untrusted=args.include_untrusted,
    )


@contextmanager
def reporting(args: argparse.Namespace, console: Console) -> Iterator[Progress | None]:
    """Progress on stderr when it was asked for, or when a person may be looking."""
    terminal = console.person()
    if not terminal and not args.progress:
        yield None
        return
    progress = Progress(console.stderr, terminal=terminal)
    try:
        yield progress
    finally:
        progress.close()


def answer(
    args: argparse.Namespace,
    console: Console,
    request: Request,
    question: Callable[[Index], Result],
    *,
    keep_index: bool,
    repo: Repository | None = None,
) -> Result:
    """Open the index at the request's commit and ask; ``keep_index`` writes ``index-v0.json`` first.

    Args:
        repo: the store to ask; by default that of the working directory.
    """
    if repo is None:
        repo = repository_of(console)
    pending = described(repo.common_dir)
    if pending:
        console.err(f"hn: {pending}")
    with reporting(args, console) as progress, repo.objects() as reader:
        commit = _commit(reader, request)
        store = repo

        def work(index: Index) -> Result:
            if index.note:
                console.err(f"hn: {index.note}")
            if keep_index:
                _keep(index, store, request)
            return question(index)

        return ask(repo, work, at=commit, reader=reader, progress=progress)


def keeps_index(console: Console) -> bool:
    """Whether the command keeps ``index-v0.json`` in step: as ``hn``, not on behalf of another command."""
    return not isinstance(console, InRepository)


def _commit(reader: ObjectReader, request: Request) -> str:
    """The query commit. Raises HnError."""
    if not request.exact:
        return reader.resolve_commit(request.at)
    if reader.types([request.at])[0] != "commit":
        raise InvalidRequest("recall input field atCommit is unavailable")
    return request.at


def _keep(index: Index, repo: Repository, request: Request) -> None:
    """Write ``index-v0.json`` for the request where the repository is small, unless it is there already."""
    if index.count() > KEPT_RECORDS:
        return
    from ai_kb.hn.kept import keep

    keep(index, repo.git_dir, request.subject, request.path)


def print_result(
    args: argparse.Namespace,
    console: Console,
    result: Result,
    body: Callable[[RowFacts], Sequence[str]],
) -> int:
    """One page, as a JSON line or as text."""
    if args.json:
        console.stdout.write(canonical.encode(result.as_object()).decode() + "\n")
    else:
        console.stdout.write("\n".join(result.as_lines(body)) + "\n")
    return 0
