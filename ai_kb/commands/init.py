"""``,ai-kb init``: make the home store, or this repository's identity."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb import stores
from ai_kb.commands import _common
from ai_kb.errors import NoStore
from ai_kb.hn.identity import Keyring
from ai_kb.stores import REPO

_DESCRIPTION = """\
Make the home store: a private bare repository with an identity of its own and a policy that trusts
it. With `--store repo`: make an identity for this clone, so that it can sign into the repository's
store; the repository's policy has to trust it too. What is there already stays as it is."""

_EXAMPLES = """\
examples:
  ,ai-kb init
  ,ai-kb init --store repo && ,ai-kb policy init
"""


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb init``."""
    parser = subparsers.add_parser(
        "init", help="make the home store", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument("--name", default="", help="name of a new identity (default: Git's user.name)")
    _common.add_json(parser)
    _common.add_place(parser, store=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Make a store ready to be written to."""
    place = _common.place(args, console)
    name = args.name or _common.user_name(place.workspace, console)
    if args.store == REPO:
        store = stores.open_repo(place.workspace, console.env)
        if store is None:
            raise NoStore("the workspace is not in a Git repository; nothing was changed")
        keyring = Keyring.of(store.repo)
        made = keyring.active_actor() is None
        if made:
            keyring.init(name)
    else:
        store, made = stores.init_home(console.env, name, console.now())
    identity = store.identity()
    path = store.repo.git_dir
    if args.json:
        console.json(
            {"store": store.name, "made": made, "path": path, "actor": identity.actor, "name": identity.name}
        )
        return 0
    _common.say(console, f"{'Made' if made else 'Already there'}: the {store.described} ({path})")
    _common.say(console, f"Actor: {identity.actor} ({identity.name})")
    if store.name == REPO and stores.why_not_repo(store):
        _common.say(console, f"Not used by itself yet: {stores.why_not_repo(store)} (`,ai-kb policy trust`).")
    return 0
