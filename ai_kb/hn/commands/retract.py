"""``hn memory retract``: withdraw one of your own records, with a typed reason."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb.hn.commands import _shared
from ai_kb.hn.errors import HnError
from ai_kb.hn.flags import FlagParser
from ai_kb.hn.streams import append
from ai_kb.hn.text import lower, trim

_USAGE = "hn memory retract MEMORY --reason REASON [--evidence TYPED-ID]"

_DESCRIPTION = """\
Sign the retraction of one of your own records and append it to your stream. Nothing is erased:
the record stays readable and is listed as retracted."""


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn memory retract``."""
    parser: FlagParser = subparsers.add_parser(
        "retract",
        description=_DESCRIPTION,
        epilog="examples:\n  hn memory retract sha256:<id> --reason incorrect\n",
        usage_line=_USAGE,
    )
    parser.add_argument("memory", nargs="*", metavar="MEMORY", help="full id of the record to withdraw")
    add_lifecycle_flags(parser)
    parser.set_defaults(run=run)


def add_lifecycle_flags(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the flags of a retraction or a challenge."""
    add = parser.add_argument
    add("--reason", default="", help="one lowercase word of your own, as incorrect or obsolete")
    add("--evidence", action="append", default=[], help="typed evidence ID")
    add("--stream", default="", help="full stream ID")
    add("--json", action="store_true", help="emit JSON")


def run(args: argparse.Namespace, console: Console) -> int:
    """Append a retraction."""
    if args.evidence:  # a retraction carries none
        raise _shared.wrong_usage(_USAGE)
    return append_lifecycle(args, console, operation="retract", usage=_USAGE)


def append_lifecycle(args: argparse.Namespace, console: Console, *, operation: str, usage: str) -> int:
    """Append the retraction or challenge that ``args`` describe."""
    if len(args.memory) != 1 or not args.reason:
        raise _shared.wrong_usage(usage)
    (memory,) = args.memory
    with _shared.Session(console) as session:
        identity = session.identity()
        own = session.target(memory, "lifecycle").envelope.actor == identity.actor
        if operation == "retract" and not own:
            raise HnError(f"only the target author may retract memory {memory}")
        if operation == "challenge" and own:
            raise HnError(f"an author cannot challenge their own memory {memory}")
        appended = append(
            session.repo,
            session.reader,
            identity,
            operation=operation,
            now=console.now(),
            stream=args.stream,
            target=memory,
            reason=lower(trim(args.reason)),
            evidence=args.evidence,
            prefixes=session.prefixes,
        )
    return _shared.print_appended(console, appended, as_json=args.json)
