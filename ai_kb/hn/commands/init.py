"""``hn init``: make this repository's identity."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base.cli import Console
from ai_kb.hn.commands._shared import wrong_usage
from ai_kb.hn.flags import FlagParser
from ai_kb.hn.gitstore import Repository, shown
from ai_kb.hn.identity import Keyring, configured_name

_USAGE = "hn init [--name NAME]"

_DESCRIPTION = """\
Make an Ed25519 identity for this repository and keep its private key below the Git directory,
readable by you alone. It is never transported; `hn identity backup FILE` makes a copy."""


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn init``."""
    parser: FlagParser = subparsers.add_parser(
        "init",
        description=_DESCRIPTION,
        epilog='examples:\n  hn init\n  hn init --name "Build agent"\n',
        usage_line=_USAGE,
    )
    parser.add_argument("--name", default="", help="name that is signed with every memory")
    parser.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Make and activate an identity."""
    if args.rest:
        raise wrong_usage(_USAGE)
    repo = Repository.open(console.cwd, console.env)
    keyring = Keyring.of(repo)
    identity = keyring.init(args.name.strip() or configured_name(repo))
    name = shown(" ".join(identity.name.split()))
    console.out(f"Created identity {name} ({identity.actor[:12]})")
    console.out(f"Private identity stored in {shown(keyring.path(identity.actor))}")
    return 0
