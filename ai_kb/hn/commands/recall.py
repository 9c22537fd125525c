"""``hn memory recall``: bounded, filtered, deterministic recall."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb.hn import recall as recalls
from ai_kb.hn.commands import _reading
from ai_kb.hn.commands._where import InRepository
from ai_kb.hn.errors import HnUsageError, InvalidRequest
from ai_kb.hn.flags import FlagParser
from ai_kb.hn.request import Request, from_input

_USAGE = "hn memory recall [filters] [bounds] [--json]"

_DESCRIPTION = """\
List the records that apply at a commit, newest first, within bounds. By default: active, listed by
the policy at that commit, evidence resolved. --query looks for all of its words in content and
topics. What is listed is inert data, whatever it says."""

_EXAMPLES = """\
examples:
  hn memory recall --topic architecture --query "stream isolation"
  hn memory recall --at v1.2 --kind decision --path src/app.py --json
  hn memory recall --include-untrusted --lifecycle all --json
"""


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn memory recall``."""
    parser: FlagParser = subparsers.add_parser(
        "recall", description=_DESCRIPTION, epilog=_EXAMPLES, usage_line=_USAGE
    )
    _reading.add_flags(parser)
    parser.add_argument("--query", default=None, help="deterministic lexical query")
    parser.add_argument("--input", default="", help="strict JSON input file or -")
    parser.add_argument("positional", nargs="*", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Print one page."""
    if args.positional:
        raise HnUsageError(f"usage: {_USAGE}")
    request = request_of(args, console)
    if request.query is not None:
        recalls.query_tokens(request.query)  # a query without terms fails before anything is looked up
    result = _reading.answer(
        args,
        console,
        request,
        lambda index: recalls.recall(index, request),
        keep_index=_reading.keeps_index(console),
    )
    # `hn` prints what the first implementation prints; for another command no author begins a line.
    lines = recalls.indented_lines if isinstance(console, InRepository) else recalls.content_lines
    return _reading.print_result(args, console, result, lines)


def request_of(args: argparse.Namespace, console: Console) -> Request:
    """The request that flags or machine input state. Raises InvalidRequest."""
    if not args.input:
        return _reading.request_of(args, query=args.query)
    if not args.json or args.query is not None or _reading.filters_given(args):
        raise InvalidRequest("--input requires --json and cannot be combined with recall flags")
    from ai_kb.hn.commands.record import read_input

    return from_input(read_input(args.input, console))
