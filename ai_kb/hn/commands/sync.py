"""``hn sync``: exchange memory with a remote."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agent_base.cli import Console
from ai_kb.hn.commands._where import repository_of
from ai_kb.hn.errors import HnUsageError
from ai_kb.hn.flags import FlagParser
from ai_kb.hn.gitstore import Repository, shown
from ai_kb.hn.replication.remote import IDLE_SECONDS
from ai_kb.hn.replication.result import Result
from ai_kb.hn.replication.selection import DEFAULT_REMOTE
from ai_kb.hn.replication.sync import Options, synchronize

_USAGE = "hn sync [REMOTE] [--recover-shallow]"
_MAX_TIMEOUT = 86_400

_DESCRIPTION = """\
Import what is selected from REMOTE (origin when it is left out), then publish the local streams.

What comes in is fetched into a quarantine, measured, verified, and judged together with what is here;
what holds becomes accepted, in one step. An accepted stream only ever grows: a remote that rewound or
rewrote one is refused, and what was accepted stays. Each local stream goes out by its exact ref, never
forced; branches and tags stay where they are. Selection authorizes transport, not trust.

One line per selector: promoted, or failed with one of over-budget, structurally-invalid,
relationship-invalid, dependency-missing. Any failure ends with exit code 1. After an interruption the
next sync completes what was begun, or starts over."""

_EXAMPLES = """\
examples:
  hn replication select origin --all && hn sync
  hn sync origin --json
  hn sync origin --recover-shallow
"""


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn sync``."""
    parser: FlagParser = subparsers.add_parser(
        "sync", description=_DESCRIPTION, epilog=_EXAMPLES, usage_line=_USAGE, usage_only=True
    )
    parser.add_argument("remote", nargs="*", metavar="REMOTE", help="configured remote (default: origin)")
    add_exchange_flags(parser)
    parser.add_argument("--json", action="store_true", help="emit JSON")
    parser.set_defaults(run=run)


def add_exchange_flags(parser: argparse.ArgumentParser) -> None:
    """The flags that ``exchange`` reads."""
    parser.add_argument(
        "--recover-shallow",
        action="store_true",
        help="in a shallow clone: fetch just the selected histories that were found cut",
    )
    parser.add_argument(
        "--timeout",
        type=int,
        metavar="SECONDS",
        default=int(IDLE_SECONDS),
        help="give the remote up after so long without a sign of it",
    )
    parser.add_argument("--progress", action="store_true", help="report progress also without a terminal")


def check_exchange_flags(args: argparse.Namespace) -> None:
    """Raise HnUsageError for what ``add_exchange_flags`` cannot refuse."""
    if not 0 < args.timeout <= _MAX_TIMEOUT:
        raise HnUsageError(f"--timeout must be 1 to {_MAX_TIMEOUT} seconds")


def run(args: argparse.Namespace, console: Console) -> int:
    """Synchronize, and say how each selector fared."""
    if len(args.remote) > 1:
        raise HnUsageError(f"usage: {_USAGE}")
    check_exchange_flags(args)
    repo = repository_of(console)
    remote = args.remote[0] if args.remote else DEFAULT_REMOTE
    result = exchange(args, console, repo, remote)
    if args.json:
        from ai_kb.hn import canonical

        console.stdout.write(canonical.encode(result.as_object()).decode() + "\n")
    else:
        for line in result.as_lines():
            console.out(line)
    failure = result.failure()
    if failure is not None:
        raise failure
    return 0


def exchange(
    args: argparse.Namespace,
    console: Console,
    repo: Repository,
    remote: str,
    *,
    prog: str = "hn",
    selection_required: bool = False,
) -> Result:
    """Synchronize one store as ``args``, which were checked, say.

    Progress is shown where somebody looks; notes go to stderr.
    """
    with _reporting(args, console) as report:
        options = Options(
            recover_shallow=args.recover_shallow,
            selection_required=selection_required,
            idle=float(args.timeout),
            person=console.person(),
            report=report,
        )
        result = synchronize(repo, remote, options)
    for note in result.notes:
        console.err(f"{prog}: {shown(note)}")
    return result


@contextmanager
def _reporting(args: argparse.Namespace, console: Console) -> Iterator[Callable[[bytes], None] | None]:
    """What takes git's progress, where somebody looks or asked for it."""
    terminal = console.person()
    if not terminal and not args.progress:
        yield None
        return
    from ai_kb.hn.progress import Progress
    from ai_kb.hn.replication.progress import TransferProgress

    progress = Progress(console.stderr, terminal=terminal)
    try:
        yield TransferProgress(progress).feed
    finally:
        progress.close()
