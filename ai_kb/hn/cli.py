"""``hn``: the command of hn-memory/0. Words, verbs, exit codes.

Exit codes: 0 done, also when nothing matches; 1 failed; 2 usage and flag errors, and only those.
Errors are ``hn: …`` on stderr, also with ``--json``. A verb is a module of ``commands`` with
``add_parser(subparsers)`` and ``run(args, console) -> int``; only the module of the verb that
is asked for is imported.

docs/protocol.md, "Command line".
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from typing import Any

from agent_base import cli as base
from agent_base.cli import Console
from agent_base.errors import SuiteError
from agent_base.inert import clean_surrogates, terminal
from agent_base.parsing import Parser, version
from ai_kb.hn.errors import HnError, HnUsageError
from ai_kb.hn.flags import FlagParser, Verbs
from ai_kb.hn.gitstore import quoted

_COMMANDS = "ai_kb.hn.commands"

# Word(s) → module of ``commands``, summary. The order is that of the help.
VERBS: dict[str, tuple[str, str]] = {
    "init": ("init", "make this repository's identity"),
    "identity": ("identity", "show, list, back up or restore identities"),
    "memory record": ("record", "sign and append one record"),
    "memory handoff": ("handoff", "sign and append one handoff"),
    "memory supersede": ("supersede", "replace one of your records by a new one"),
    "memory retract": ("retract", "withdraw one of your records"),
    "memory challenge": ("challenge", "dispute another actor's record"),
    "memory show": ("show", "one memory with everything that is known about it"),
    "memory recall": ("recall", "bounded, filtered, deterministic recall"),
    "memory grep": ("grep", "records that match a regular expression"),
    "memory index": ("index", "rebuild or verify the private index"),
    "policy": ("policy", "show or check .hn/policy.json"),
    "replication": ("replication", "select what is exchanged with a remote, and show it"),
    "sync": ("sync", "exchange memory with a remote"),
}
_MEMORY_USAGE = "hn memory <record|handoff|supersede|retract|challenge|show|recall|grep|index>"

HELP = """\
hn keeps signed agent memory (hn-memory/0) in a Git repository.

Usage:
  hn init [--name NAME]
  hn identity show|public|list
  hn identity backup FILE
  hn identity restore FILE
  hn memory record --kind KIND --at REV --applies MODE [record fields] --content TEXT
  hn memory record --input FILE|- --json
  hn memory handoff --at REV --applies MODE --input FILE|- --json
  hn memory supersede MEMORY [record fields]
  hn memory retract MEMORY --reason REASON
  hn memory challenge MEMORY --reason REASON [--evidence TYPED-ID]...
  hn memory show MEMORY [--json]
  hn memory recall [filters] [bounds] [--json]
  hn memory grep [filters] [bounds] [-i|--ignore-case] [--json] PATTERN
  hn memory index rebuild|verify
  hn policy show [REV]
  hn policy check --file PATH | --head REV
  hn replication select|show [REMOTE] [selectors] [budgets]
  hn sync [REMOTE] [--recover-shallow]
  hn version

Every command takes --help. Memory is untrusted inert data: valid signatures prove who wrote
it and that it is whole, not that it is true, and never authorize anything.

Examples:
  hn init --name "Build agent"
  hn memory record --kind decision --at HEAD --applies descendants \\
    --topic architecture --content "Keep memory streams apart from actor chains."
  hn memory recall --at HEAD --topic architecture --query "memory streams" --json
  hn memory show sha256:<64 hex digits>
"""


class _Command(Parser):
    """The words of ``hn``: finds the verb, lets it parse the rest, runs it."""

    def parse_args(self, args: Sequence[str] | None = None, namespace: object = None) -> argparse.Namespace:  # type: ignore[override]
        words = list(args or ())

        def run(_: argparse.Namespace, console: Console) -> int:
            try:
                return dispatch(words, console)
            except SuiteError as error:
                report(error, console)
                return error.exit_code

        return argparse.Namespace(run=run)


def report(error: SuiteError, console: Console) -> None:
    """One line on stderr: ``hn: message``, and the hint where there is one."""
    hint = f" ({error.hint})" if error.hint else ""
    text = clean_surrogates(error.message + hint).replace("\n", " ")
    console.err("hn: " + terminal(text).replace("\\\\", "\\"))


def dispatch(words: list[str], console: Console) -> int:
    """Run the verb that ``words`` start with. Raises SuiteError."""
    if not words or words[0] in ("help", "-h", "-help", "--help"):
        console.stdout.write(HELP)
        return 0
    if words[0] in ("version", "-version", "--version"):
        console.out(version())
        return 0
    group, name, rest = "hn", words[0], words[1:]
    if name == "memory":
        if not rest:
            raise HnUsageError(f"usage: {_MEMORY_USAGE}")
        if rest[0] in ("-h", "-help", "--help"):
            console.stdout.write(HELP)
            return 0
        group, name, rest = "hn memory", rest[0], rest[1:]
    verb = VERBS.get(f"memory {name}" if group == "hn memory" else name)
    if verb is None:
        kind = "memory command" if group == "hn memory" else "command"
        raise HnError(f"unknown {kind} {quoted(name)}", "see `hn help`")
    module = importlib.import_module(f"{_COMMANDS}.{verb[0]}")
    verbs = Verbs(group)
    module.add_parser(verbs)
    assert verbs.parser is not None, f"{module.__name__}.add_parser made no parser"
    args = verbs.parser.parse_args(rest)
    handler = getattr(args, "run", module.run)
    status: int = handler(args, console)
    return status


def whole_parser() -> Parser:
    """Every verb in one parser, for shell completion."""
    parser = Parser(prog="hn")
    top: Any = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=FlagParser)
    memory = top.add_parser("memory", help="signed memory")
    inner: Any = memory.add_subparsers(title="commands", metavar="COMMAND", parser_class=FlagParser)
    for words, (module, summary) in VERBS.items():
        subparsers = inner if words.startswith("memory ") else top
        importlib.import_module(f"{_COMMANDS}.{module}").add_parser(_Collected(subparsers, summary))
    return parser


class _Collected:
    """Stands where a verb's ``add_parser`` expects ``Verbs``; puts the verb below one parser of all."""

    def __init__(self, subparsers: Any, summary: str) -> None:
        self._subparsers = subparsers
        self._summary = summary

    def add_parser(self, name: str, *, parser_type: Any = None, **keywords: Any) -> Any:
        return self._subparsers.add_parser(name, **{"help": self._summary, **keywords})


def _parser(argv: Sequence[str]) -> Parser:
    return whole_parser() if argv[:1] == ["--print-completion"] else _Command(prog="hn")


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run ``hn`` with ``argv`` (the process's own arguments when None); gives the exit code."""
    return base.main("hn", _parser, argv, console, json_errors=False)


def entry() -> int:
    """The console script."""
    return main()
