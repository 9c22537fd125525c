"""``hn replication``: select what is exchanged with a remote, and show it."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb.hn.errors import HnError, HnUsageError
from ai_kb.hn.flags import FlagParser
from ai_kb.hn.gitstore import Repository, quoted
from ai_kb.hn.replication.selection import (
    BUDGETS,
    DEFAULT_REMOTE,
    Budgets,
    Selection,
    load,
    save,
    selection_of,
)

_USAGE = "hn replication <select|show> [REMOTE]"
_SHOW = "hn replication show [REMOTE]"
_SELECT = (
    "hn replication select [REMOTE] [--actor ACTOR]... [--proposal ID]... [--memory STREAM]... "
    "[--all] [budgets]"
)
_ACTIONS = {"select": _SELECT, "show": _SHOW}

_DESCRIPTION = """\
select  replace what is exchanged with REMOTE (origin when it is left out): exact memory streams and
        actors, or all that it advertises
show    what is selected; nothing saved means all, with the default budgets

A selection authorizes transport, not trust: the policy at the query commit says whose records recall
shows. Budgets bound each selected history, inclusive; a history that exceeds one is not accepted."""

_EXAMPLES = """\
examples:
  hn replication select origin --memory sha256:<64 hex digits> --max-events 10000
  hn replication select origin --all
  hn replication show origin
"""

_HELP = {
    "events": "maximum actor events",
    "objects": "maximum reachable objects",
    "object_bytes": "maximum individual object bytes",
    "attachment_bytes": "maximum event attachment bytes",
    "total_bytes": "maximum total reachable bytes",
}


class _ReplicationParser(FlagParser):
    """``replication``: its first word says which flags there are."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = list(args or ())
        if words[:1] in (["-h"], ["-help"], ["--help"]):
            self.print_help()
            self.exit()
        if not words:
            raise HnUsageError(f"usage: {_USAGE}")
        if words[0] not in _ACTIONS:
            raise HnError(f"unknown replication command {quoted(words[0])}")
        action = words[0]
        rest = words[1:]
        remote = [rest.pop(0)] if rest and not rest[0].startswith("-") else []
        parsed = _action_parser(action).parse_args(rest, namespace)
        if parsed.remote:  # it stands before the flags
            raise HnUsageError(f"usage: {_ACTIONS[action]}")
        parsed.action, parsed.remote = action, remote
        return parsed


def _action_parser(action: str) -> FlagParser:
    parser = FlagParser(
        prog=f"hn replication {action}",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        usage_line=_ACTIONS[action],
    )
    parser.add_argument("remote", nargs="*", metavar="REMOTE", help="configured remote (default: origin)")
    if action == "select":
        add_selectors(parser)
    else:
        parser.add_argument("--json", action="store_true", help="emit JSON")
    parser.set_defaults(run=run)
    return parser


def add_selectors(parser: argparse.ArgumentParser) -> None:
    """The flags of ``select``."""
    for name, meaning in (
        ("actor", "full actor fingerprint"),
        ("proposal", "full candidate event ID"),
        ("memory", "full memory stream ID"),
    ):
        parser.add_argument(f"--{name}", action="append", default=[], help=meaning)
    parser.add_argument("--all", action="store_true", help="select all refs/hn/… that the remote advertises")
    for attribute, _, flag in BUDGETS:
        default = getattr(Budgets(), attribute)
        parser.add_argument(f"--{flag}", type=int, dest=attribute, default=default, help=_HELP[attribute])


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn replication``."""
    parser = subparsers.add_parser(
        "replication",
        parser_type=_ReplicationParser,
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        usage_line=_USAGE,
    )
    parser.add_argument("action", metavar="select|show", help="what to do")
    parser.add_argument("remote", nargs="?", metavar="REMOTE", help="configured remote (default: origin)")
    add_selectors(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Save a selection, or show it."""
    remote = args.remote[0] if args.remote else DEFAULT_REMOTE
    repo = Repository.open(console.cwd, console.env)
    if args.action == "show":
        selection = load(repo, remote)
        if args.json:
            from ai_kb.hn import canonical

            console.stdout.write(canonical.encode(selection.as_object()).decode() + "\n")
            return 0
    else:
        selection = selected(args, remote)
        save(repo, selection)
        console.out(f"Saved replication selection for {remote}")
    for line in selection.as_lines():
        console.out(line)
    return 0


def selected(args: argparse.Namespace, remote: str) -> Selection:
    """The selection that the flags state. Raises InvalidRequest."""
    return selection_of(
        remote,
        actors=args.actor,
        proposals=args.proposal,
        memories=args.memory,
        all=args.all,
        budgets=Budgets(**{attribute: getattr(args, attribute) for attribute, _, _ in BUDGETS}),
    )
