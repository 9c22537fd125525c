"""The parser of every command: what it refuses, where it prints, verbs loaded one at a time, completion.

It raises instead of exiting: ``UsageError`` for what is wrong, ``Exit`` when all was said. ``agent_base.cli``
turns both into an exit code.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from agent_base.errors import UsageError

if TYPE_CHECKING:
    from agent_base.cli import Console

_HELP_WIDTH = 100


class Exit(Exception):
    """The parser has printed help or a version and wants to leave."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises instead of exiting and prints where the console says.

    Abbreviated options are refused: a script that relies on one breaks when an option is added.
    """

    console: Console | None = None

    def __init__(self, *args: Any, **keywords: Any) -> None:
        keywords.setdefault("formatter_class", HelpFormatter)
        keywords.setdefault("allow_abbrev", False)
        super().__init__(*args, **keywords)
        self.description = (self.description or "").replace("``", "`") or None  # of a module's docstring

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, but nothing may be left over: so the parser of the verb itself says so."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            # Whoever types `install` does not mean `--uninstall`.
            start = "--" + rest[0].lstrip("-")[:1]
            options = [name for name in self._option_string_actions if name.startswith(start)]
            self.error(f"unrecognized arguments: {' '.join(rest)}{_meant(rest[0], options)}")
        return found, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            self.error(f"there is no command {str(value)[:40]!r}{_meant(value, action.choices)}")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"see `{self.prog} --help`")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        if message:
            self._print_message(message, sys.stderr)
        raise Exit(status)

    def _print_message(self, message: str, file: Any = None) -> None:
        console = Parser.console
        if console is None or not message:
            super()._print_message(message, file)
        elif file is sys.stderr:
            console.stderr.write(message)
        else:
            console.stdout.write(message)


def _meant(word: str, names: Iterable[str]) -> str:
    """The name that ``word`` comes closest to, as the end of a message; "" when none is close."""
    import difflib

    close = difflib.get_close_matches(word.partition("=")[0], list(names), 1)
    return f"; did you mean {close[0]}?" if close else ""


def version() -> str:
    """The version of the suite that is installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as of

    try:
        return of("agent-hook-suite")
    except PackageNotFoundError:
        return "unknown"


class _Version(argparse.Action):
    """Print the version and leave; it is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        parser._print_message(version() + "\n")
        parser.exit()


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Descriptions and examples as written; the same width everywhere, so that tests can compare."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_HELP_WIDTH, max_help_position=30)


def add_verbs(parser: Parser, package: str, verbs: Mapping[str, str], argv: Sequence[str]) -> None:
    """Give ``parser`` one subcommand per verb, from ``<package>.<verb>`` (``-`` becomes ``_``).

    Only the module of the verb that ``argv`` names is imported, so that one verb does not pay for
    the libraries of the others; the rest is listed by its summary.

    Args:
        parser: the command's parser.
        package: for instance ``agent_memory.commands``.
        verbs: verb → one-line summary, in the order of the help.
        argv: arguments of this run.
    """
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="verb", parser_class=Parser)
    wanted = next((word for word in argv if not word.startswith("-")), None)
    whole = wanted not in verbs and "--print-completion" in argv
    for verb, summary in verbs.items():
        if verb == wanted or whole:
            importlib.import_module(f"{package}.{verb.replace('-', '_')}").add_parser(subparsers)
        else:
            subparsers.add_parser(verb, help=summary, add_help=False)


def print_completion(parser: Parser, shell: str, console: Console) -> int:
    """Print the completion of ``parser`` for a shell; gives the exit code. Raises UsageError."""
    import shtab

    if shell not in shtab.SUPPORTED_SHELLS:
        raise UsageError(
            f"no completion for the shell {shell!r}; there is one for: {', '.join(shtab.SUPPORTED_SHELLS)}"
        )
    _take_offers(parser)
    console.out(shtab.complete(parser, shell))
    return 0


def offer(action: argparse.Action, words: Iterable[str]) -> None:
    """Let completion offer ``words``; what else is given is still the command's to judge."""
    action.offered = tuple(words)  # type: ignore[attr-defined]


def offer_lines(action: argparse.Action, command: str) -> None:
    """Let completion offer the lines that ``command`` (plain words) prints when it is asked."""
    name = "_offer_" + "".join(c if c.isalnum() else "_" for c in command)
    silent = f"{command} 2>/dev/null"
    action.complete = {  # type: ignore[attr-defined]
        "bash": name,
        "zsh": name,
        "fish": f"({silent})",
        "preamble": {
            "bash": f'{name}() {{\n  compgen -W "$({silent})" -- "$1"\n}}\n',
            "zsh": f'{name}() {{\n  compadd -- ${{(f)"$({silent})"}}\n}}\n',
        },
    }


def _take_offers(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        action.choices = getattr(action, "offered", action.choices)
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                _take_offers(below)
