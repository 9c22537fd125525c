"""Flags as the protocol's command line takes them: ``-name``, ``--name``, ``--name=value``.

A verb describes its flags with argparse (texts, integers, switches, lists; positional arguments
with ``nargs`` None, ``?`` or ``*``), which prints the help. This parser reads them, by the rules of
the first implementation's command: one dash or two mean the same, a value may start with a dash,
the last of a repeated single flag counts, ``--switch=false`` turns a switch off, integers may be
written ``0x10`` or ``1_000``, ``--`` ends the flags. ``flags_stand`` says where they may be:
ANYWHERE, before and after positional arguments; ONE_SIDE, before them or after them (``record``,
whose content may be one); FIRST, before them (``grep``).

Usage and flag errors end with exit code 2, and nothing else does (docs/protocol.md, "Command line").
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from agent_base.parsing import HelpFormatter, Parser
from ai_kb.hn.display import quoted, shown
from ai_kb.hn.errors import HnUsageError

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
_INT_MAX = 2**63 - 1

ANYWHERE = "anywhere"
ONE_SIDE = "one side"
FIRST = "first"


def is_on(value: str, equals: str = "=") -> bool | None:
    """What ``--switch``, or with ``equals`` ``--switch=value``, says; None for a value that says nothing."""
    if not equals or value in _TRUE:
        return True
    return False if value in _FALSE else None


# What stands for a value in the help, where the name of its flag would say less.
_VALUES = {
    "at": "REV",
    "input": "FILE",
    "query": "WORDS",
    "lifecycle": "STATE",
    "trust": "CLASS",
    "proposal": "ID",
    "memory": "STREAM",
    "applies": "MODE",
    "content": "TEXT",
    "completed": "TEXT",
    "assumption": "TEXT",
    "blocker": "TEXT",
    "next_action": "TEXT",
}


class _FlagHelp(HelpFormatter):
    """Help with short names of values, and every bound's default. The texts themselves are recorded:
    ``Usage of`` prints them after a wrong flag."""

    def _get_default_metavar_for_optional(self, action: argparse.Action) -> str:
        if action.type is int:
            return "N"
        return _VALUES.get(action.dest) or super()._get_default_metavar_for_optional(action)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        text = super()._get_help_string(action)
        bound = action.type is int and isinstance(action.default, int)
        return f"{text} (default: %(default)s)" if text and bound else text


class FlagParser(Parser):
    """An argparse parser that reads its arguments itself, as described above.

    Args:
        usage_line: what ``usage:`` says after a wrong number of arguments.
        flag_set: name after ``Usage of`` when a flag is wrong, by default the command without ``hn``.
        flags_stand: ANYWHERE, ONE_SIDE or FIRST.
        usage_only: an unknown or repeated flag is answered with the usage line alone.
    """

    def __init__(
        self,
        *args: Any,
        usage_line: str = "",
        flag_set: str = "",
        flags_stand: str = ANYWHERE,
        usage_only: bool = False,
        **keywords: Any,
    ) -> None:
        keywords.setdefault("formatter_class", _FlagHelp)
        super().__init__(*args, **keywords)
        self.usage_only = usage_only
        self.usage_line = usage_line or f"{self.prog} [flags]"
        self.flag_set = flag_set or self.prog.removeprefix("hn ")
        self.flags_stand = flags_stand

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        words = list(args or ())
        namespace = argparse.Namespace() if namespace is None else namespace
        for action in self._actions:
            if action.dest != argparse.SUPPRESS and action.default != argparse.SUPPRESS:
                # The list that append adds to is this run's own.
                default = action.default
                setattr(namespace, action.dest, list(default) if isinstance(default, list) else default)
        for name, value in self._defaults.items():
            setattr(namespace, name, value)
        nested = next((a for a in self._actions if isinstance(a, argparse._SubParsersAction)), None)
        if nested is not None:
            return self._below(nested, words, namespace)
        self._place(self._read(words, namespace), namespace)
        return namespace

    def _below(self, nested: argparse._SubParsersAction[Any], words: list[str], namespace: Any) -> Any:
        """Let the parser of the first word read the rest."""
        if words and words[0] in nested.choices:
            if nested.dest != argparse.SUPPRESS:
                setattr(namespace, nested.dest, words[0])
            return nested.choices[words[0]].parse_args(words[1:], namespace)
        if words and words[0].lstrip("-") in ("h", "help"):
            self.print_help()
            self.exit()
        raise self.wrong_usage()

    def wrong_usage(self) -> HnUsageError:
        """The error for a wrong number of arguments."""
        return HnUsageError(f"usage: {self.usage_line}")

    def _flags(self) -> dict[str, argparse.Action]:
        return {
            name.lstrip("-"): action
            for action in self._actions
            for name in action.option_strings
            if not isinstance(action, argparse._HelpAction)
        }

    def _read(self, words: list[str], namespace: Any) -> list[str]:
        """Set the flags in ``words`` on ``namespace``; what is left over are the positional arguments."""
        flags = self._flags()
        positional: list[str] = []
        position = 0
        seen = False
        given: set[str] = set()
        while position < len(words):
            word = words[position]
            position += 1
            if word == "--":
                break
            if len(word) < 2 or word[0] != "-":
                positional.append(word)
                if self.flags_stand == FIRST or (self.flags_stand == ONE_SIDE and seen):
                    break
                continue
            seen = True
            name, equals, value = word[2 if word.startswith("--") else 1 :].partition("=")
            if not name or name[0] in "-=":
                self._refuse(f"bad flag syntax: {shown(word)}")
            action = flags.get(name)
            if action is None:
                if name in ("h", "help"):
                    self.print_help()
                    self.exit()
                self._refuse(f"flag provided but not defined: -{shown(name)}")
            if self.usage_only and action.dest in given:
                raise self.wrong_usage()
            given.add(action.dest)
            if action.nargs == 0:
                on = is_on(value, equals)
                if on is None:
                    self._refuse(f"invalid boolean value {quoted(value)} for -{name}: parse error")
                setattr(namespace, action.dest, on)
                continue
            if not equals:
                if position >= len(words):
                    self._refuse(f"flag needs an argument: -{name}")
                value = words[position]
                position += 1
            self._set(action, name, value, namespace)
        return [*positional, *words[position:]]

    def _set(self, action: argparse.Action, name: str, text: str, namespace: Any) -> None:
        value = self._integer(name, text) if action.type is int else text
        if isinstance(action, argparse._AppendAction):
            getattr(namespace, action.dest).append(value)
        else:
            setattr(namespace, action.dest, value)

    def _place(self, words: list[str], namespace: Any) -> None:
        """Give the positional arguments to those that are described; too many or too few are wrong usage."""
        for action in self._actions:
            if action.option_strings:
                continue
            if action.nargs == "*":
                setattr(namespace, action.dest, words)
                words = []
            elif words:
                setattr(namespace, action.dest, words.pop(0))
            elif action.nargs != "?":
                raise self.wrong_usage()
        if words:
            raise self.wrong_usage()

    def _integer(self, name: str, text: str) -> int:
        digits = text.lstrip("+-")
        octal = (
            digits[:1] == "0"
            and digits[1:].replace("_", "").isdigit()
            and "8" not in text
            and "9" not in text
        )
        try:
            number = int(text.replace("0", "0o0", 1) if octal else text, 8 if octal else 0)
            if text != text.strip() or not text.isascii():
                raise ValueError
        except ValueError:
            self._refuse(f"invalid value {quoted(text)} for flag -{name}: parse error")
        if not -_INT_MAX - 1 <= number <= _INT_MAX:
            self._refuse(f"invalid value {quoted(text)} for flag -{name}: value out of range")
        return number

    def _refuse(self, message: str) -> NoReturn:
        """Say what is wrong and which flags there are, on stderr."""
        if self.usage_only:
            raise self.wrong_usage()
        if Parser.console is not None:
            Parser.console.stderr.write(f"{message}\n{self.flag_list()}")
        raise HnUsageError(message)

    def flag_list(self) -> str:
        """The flags, each with its kind and meaning, sorted by name."""
        lines = [f"Usage of {self.flag_set}:\n"]
        for name, action in sorted(self._flags().items()):
            kind = self._kind(action)
            default = f" (default {action.default})" if action.type is int and action.default else ""
            lines.append(f"  -{name}{' ' if kind else ''}{kind}\n    \t{action.help or ''}{default}\n")
        return "".join(lines)

    @staticmethod
    def _kind(action: argparse.Action) -> str:
        if action.nargs == 0:
            return ""
        if isinstance(action, argparse._AppendAction):
            return "value"
        return "int" if action.type is int else "string"


class Verbs:
    """Stands where a verb's ``add_parser`` expects argparse's subparsers; makes one FlagParser."""

    def __init__(self, prog: str) -> None:
        self._prog = prog
        self.parser: FlagParser | None = None

    def add_parser(
        self, name: str, *, parser_type: type[FlagParser] | None = None, **keywords: Any
    ) -> FlagParser:
        """The parser of the verb ``name``; keywords are those of FlagParser and ArgumentParser."""
        keywords.pop("aliases", None)
        summary = keywords.pop("help", None)
        keywords.setdefault("description", summary)
        keywords.setdefault("prog", f"{self._prog} {name}")
        self.parser = (parser_type or FlagParser)(**keywords)
        return self.parser
