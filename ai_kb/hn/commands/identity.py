"""``hn identity``: show, list, back up or restore identities. A private key is never printed."""

from __future__ import annotations

import argparse
import os
from typing import Any

from agent_base.cli import Console
from ai_kb.hn import keys
from ai_kb.hn.commands._shared import wrong_usage
from ai_kb.hn.errors import HnError
from ai_kb.hn.events import ACTORS_PREFIX
from ai_kb.hn.flags import FlagParser
from ai_kb.hn.gitstore import Repository, quoted, shown
from ai_kb.hn.identity import Identity, Keyring

_ACTIONS = ("show", "public", "list", "backup", "restore")
_USAGE = "hn identity <show|public|list|backup|restore>"

_DESCRIPTION = """\
show      name and actor of the active identity
public    the same with the public key, as others need it to list you in a policy
list      every identity in this repository's keyring
backup    write the active identity, private key included, to a new file that only you can read
restore   bring an identity back from such a file and activate it"""

_EXAMPLES = """\
examples:
  hn identity show
  hn identity backup /media/stick/hn-identity.json
  hn identity restore /media/stick/hn-identity.json
"""


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn identity``."""
    parser: FlagParser = subparsers.add_parser(
        "identity", description=_DESCRIPTION, epilog=_EXAMPLES, usage_line=_USAGE
    )
    parser.add_argument("words", nargs="*", metavar="ACTION", help="one of " + ", ".join(_ACTIONS))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Do what the first word says."""
    if not args.words:
        raise wrong_usage(_USAGE)
    action, *rest = args.words
    if action not in _ACTIONS:
        raise HnError(f"unknown identity command {quoted(action)}", "see `hn identity --help`")
    wants_file = action in ("backup", "restore")
    if len(rest) != int(wants_file):
        raise wrong_usage(f"hn identity {action}{' FILE' if wants_file else ''}")
    keyring = Keyring.of(Repository.open(console.cwd, console.env))
    if action == "list":
        _list(keyring, console)
    elif action == "show":
        _show(keyring.active(), console)
    elif action == "public":
        _public(keyring.active(), console)
    else:
        _copy(keyring, action, os.path.join(console.cwd, rest[0]), console)
    return 0


def _list(keyring: Keyring, console: Console) -> None:
    active = keyring.active_actor()
    for actor in keyring.actors():
        state = "active  " if actor == active else "inactive"
        console.out(f"{actor}  {state} {shown(keyring.load(actor).name)}")


def _show(identity: Identity, console: Console) -> None:
    console.out(f"Name:   {shown(identity.name)}")
    console.out(f"Actor:  {identity.actor}")
    console.out(f"Ref:    {ACTORS_PREFIX}/{identity.actor}")


def _public(identity: Identity, console: Console) -> None:
    console.out(f"Name:       {shown(identity.name)}")
    console.out(f"Actor:      {identity.actor}")
    console.out(f"Public key: {keys.encode_b64(identity.public_key)}")


def _copy(keyring: Keyring, action: str, path: str, console: Console) -> None:
    if action == "backup":
        identity = keyring.backup(path)
        console.out(f"Backed up identity {identity.actor} to {shown(path)}")
        console.out("Whoever reads that file can sign as you: keep it offline.")
    else:
        identity = keyring.restore(path)
        console.out(f"Restored identity {shown(identity.name)} ({identity.actor[:12]})")
        console.out(f"Private identity stored in {shown(keyring.path(identity.actor))}")
