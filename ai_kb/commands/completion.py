"""``,ai-kb completion``: a completion script for a shell."""

from __future__ import annotations

import argparse
from typing import Any

from agent_base import cli as base
from agent_base.cli import Console
from ai_kb.cli import PROG, make_parser


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb completion``."""
    parser = subparsers.add_parser(
        "completion",
        help="completion for a shell",
        description="Print a completion script. The installer puts it where the shell looks.",
        epilog='examples:\n  eval "$(,ai-kb completion bash)"\n',
    )
    parser.add_argument("shell", metavar="SHELL", help="bash, zsh, fish or tcsh")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the script."""
    return base.run_command(PROG, make_parser, ["--print-completion", args.shell], console)
