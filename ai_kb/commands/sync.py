"""``,ai-kb sync``: both stores exchange with a remote, each with its own; nothing unless it was chosen.

The repository's store goes with the team's remote; the home store has one where its owner gave it
one. What is taken in must have been selected: here that is asked for first, where ``hn sync`` takes
nothing saved for all.
"""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from agent_base.errors import SuiteError
from agent_base.shell import word
from ai_kb import editor, stores
from ai_kb.cli import PROG
from ai_kb.commands import _common
from ai_kb.errors import KbError, NoStore
from ai_kb.hn.commands.sync import add_exchange_flags, check_exchange_flags, exchange
from ai_kb.hn.replication.selection import (
    DEFAULT_REMOTE,
    Budgets,
    InvalidSelection,
    Selection,
    check_remote_name,
    load,
    save,
    selection_of,
)
from ai_kb.stores import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ai_kb.hn.replication.result import Result

_DESCRIPTION = """\
Exchange with REMOTE (origin when it is left out) in both stores: the repository's, and the home store
where it has such a remote (`git -C PATH remote add origin URL`; --store picks one). What is selected is
imported: fetched apart, measured, verified, and accepted only if it holds. Your own streams are
published; branches and tags stay where they are. Nothing is overwritten on either side.

Nothing is imported before you chose: --all takes everything that the remote has, --memory exact streams
(`hn replication select` can do more). The choice is kept. It authorizes transport, not trust."""

_EXAMPLES = """\
examples:
  ,ai-kb sync --all
  ,ai-kb sync
  ,ai-kb sync origin --store home --json
"""


class NothingSelected(KbError):
    """Nobody chose yet what to import; nothing was exchanged."""

    code = "no-selection"


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb sync``."""
    parser = subparsers.add_parser(
        "sync", help="exchange memory with a remote", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument(
        "remote", nargs="?", default=DEFAULT_REMOTE, metavar="REMOTE", help="configured remote"
    )
    choice = parser.add_argument_group("choose what to import, once")
    choice.add_argument("--all", action="store_true", help="everything that the remote has")
    choice.add_argument(
        "--memory", action="append", default=[], metavar="STREAM", help="an exact memory stream"
    )
    choice.add_argument(
        "--actor", action="append", default=[], metavar="ACTOR", help="an exact actor's events"
    )
    add_exchange_flags(parser)
    _common.add_json(parser)
    _common.add_place(parser, store=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Exchange store by store; 1 when one of them failed."""
    check_exchange_flags(args)
    place = _common.place(args, console)
    check_remote_name(args.remote)
    found = stores.stores(place.workspace, console.env, args.store)
    if not found:
        raise NoStore("there is no store to exchange; nothing was changed", f"{PROG} init makes one")
    reachable = [store for store in found if _has_remote(store, args.remote)]
    if not reachable:
        raise KbError(
            f"no store has a remote {args.remote}; nothing was exchanged",
            f"git -C {word(found[0].repo.git_dir)} remote add {args.remote} URL",
        )
    if args.recover_shallow:  # the other store has nothing to recover; when none has, it is said of all
        reachable = [store for store in reachable if store.repo.is_shallow()] or reachable
    results: list[dict[str, object]] = []
    failed = False
    for store in reachable:
        value, why = _exchange(store, args, console)
        results.append({"store": store.name, **value})
        if why is not None:
            failed = True
            if not args.json:
                console.err(_line(store, why))
    if args.json:
        console.json(results)
    return 1 if failed else 0


def _exchange(
    store: Store, args: argparse.Namespace, console: Console
) -> tuple[dict[str, object], SuiteError | None]:
    """What became of one store, for scripts, and why it failed."""
    if not args.json:
        _common.say(console, f"== {store.described}")
    try:
        _select(store, args, console)
        result = exchange(args, console, store.repo, args.remote, prog=PROG, selection_required=True)
    except SuiteError as error:
        return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}, error
    if not args.json:
        for line in result.as_lines():
            _common.say(console, line)
        published = _published(result)
        if published:
            _common.say(console, published)
    return result.as_object(), result.failure()


def _published(result: Result) -> str:
    """How many of the own memory streams the remote has now, ``""`` when none was to be published.

    `hn sync` prints the protocol's lines only, which say what came in.
    """
    from ai_kb.hn.replication.outcomes import MEMORY
    from ai_kb.hn.replication.publish import BEHIND, PUBLISHED, UNCHANGED

    streams = [one for one in result.publications if one.kind == MEMORY]
    if not streams:
        return ""
    there = sum(one.status in (PUBLISHED, UNCHANGED, BEHIND) for one in streams)
    sent = sum(one.status == PUBLISHED for one in streams)
    return f"Published memory streams: {there} ({sent} sent now)"


def _select(store: Store, args: argparse.Namespace, console: Console) -> None:
    """Save what is chosen on the command line, or by a person who is asked. Raises NothingSelected."""
    if args.all or args.memory or args.actor:
        save(store.repo, _selection(store, args, all=args.all, memories=args.memory, actors=args.actor))
        return
    if load(store.repo, args.remote).saved:
        return
    if console.person():
        question = f"Nothing is selected from {args.remote} for the {store.described} yet. Take everything?"
        if editor.ask(question, console, "ny") == "y":
            save(store.repo, _selection(store, args, all=True, memories=[], actors=[]))
            return
    raise NothingSelected(
        f"nothing is selected from {args.remote} for the {store.described} yet; nothing was exchanged",
        f"{PROG} sync {args.remote} --store {store.name} --all takes everything, --memory STREAM one stream",
    )


def _selection(
    store: Store, args: argparse.Namespace, *, all: bool, memories: list[str], actors: list[str]
) -> Selection:
    """What was chosen, within the budgets that are saved, if any are."""
    try:
        budgets = load(store.repo, args.remote).budgets
    except InvalidSelection:  # it is replaced now
        budgets = Budgets()
    return selection_of(args.remote, actors=actors, proposals=[], memories=memories, all=all, budgets=budgets)


def _has_remote(store: Store, remote: str) -> bool:
    return store.repo.run("config", "--get", f"remote.{remote}.url")[0] == 0


def _line(store: Store, error: SuiteError) -> str:
    hint = f" ({error.hint})" if error.hint else ""
    return f"{PROG}: {store.described}: {_common.shown(error.message + hint)}"
