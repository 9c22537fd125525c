"""Flags by the rules of the first implementation's command."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_base import parsing
from agent_base.cli import string_console
from agent_base.parsing import Parser
from ai_kb.hn import cli
from ai_kb.hn.commands.record import read_input
from ai_kb.hn.errors import HnUsageError
from ai_kb.hn.flags import FIRST, ONE_SIDE, FlagParser, Verbs


@pytest.fixture(autouse=True)
def console() -> Iterator[Any]:
    before, Parser.console = Parser.console, string_console(os.environ)
    yield Parser.console
    Parser.console = before


def parser(**keywords: Any) -> FlagParser:
    made = Verbs("hn memory").add_parser("x", help="what x does", usage_line="hn memory x", **keywords)
    made.add_argument("--number", type=int, default=20, help="maximum records")
    made.add_argument("--text", default="", help="some text")
    made.add_argument("--many", action="append", default=[], help="some of many")
    made.add_argument("-i", "--ignore-case", action="store_true", help="any case")
    made.add_argument("rest", nargs="*")
    return made


def test_the_help_names_values_shortly_and_says_what_a_bound_is_by_default() -> None:
    made = parser()
    made.add_argument("--at", default=None, help="exact Git revision")
    words = " ".join(made.format_help().split())
    assert "--number N maximum records (default: 20)" in words
    assert "--at REV exact Git revision" in words
    assert "--text TEXT some text --many" in words


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("0", 0),
        ("00", 0),
        ("010", 8),
        ("-010", -8),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", 3),
        ("1_000", 1000),
        ("0_7", 7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
    ],
)
def test_integers_are_written_in_any_base(text: str, number: int) -> None:
    assert parser().parse_args(["-number", text]).number == number


@pytest.mark.parametrize("text", ["", "x", "1.0", "08", "0x", "1__0", " 1", "1 ", "١", "1e3", "_1"])
def test_what_is_no_integer_is_refused(text: str) -> None:
    with pytest.raises(HnUsageError, match="for flag -number: parse error"):
        parser().parse_args(["-number", text])


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809"])
def test_integers_of_more_than_64_bits_are_refused(text: str) -> None:
    with pytest.raises(HnUsageError, match="for flag -number: value out of range"):
        parser().parse_args([f"--number={text}"])


def test_the_last_of_a_repeated_flag_counts_and_a_list_keeps_all() -> None:
    args = parser().parse_args(["-text", "a", "--text=b", "-many", "1", "--many", "2", "-i", "-i=false"])
    assert (args.text, args.many, args.ignore_case) == ("b", ["1", "2"], False)
    assert parser().parse_args(["-ignore-case=T"]).ignore_case
    assert parser().parse_args(["-i"]).ignore_case


def test_values_are_taken_as_they_are() -> None:
    args = parser().parse_args(["-text", "--", "--many", "-i", "-many=", "--many=a=b", "--", "-text", "--"])
    assert (args.text, args.many, args.rest) == ("--", ["-i", "", "a=b"], ["-text", "--"])
    assert parser().parse_args(["-", "a b"]).rest == ["-", "a b"]


def test_where_flags_stand() -> None:
    words = ["a", "-text", "t", "b", "-i"]
    anywhere = parser().parse_args(words)
    assert (anywhere.rest, anywhere.text, anywhere.ignore_case) == (["a", "b"], "t", True)
    first = parser(flags_stand=FIRST).parse_args(["-i", *words])
    assert (first.rest, first.ignore_case) == (words, True)
    side = parser(flags_stand=ONE_SIDE)
    assert side.parse_args(["a", "b", "-i", "-text", "t"]).rest == ["a", "b"]
    assert side.parse_args(["-text", "t", "b", "-i"]).rest == ["b", "-i"]


def test_the_list_of_flags_says_kind_meaning_and_default(console: Any) -> None:
    with pytest.raises(HnUsageError):
        parser().parse_args(["-nope"])
    assert console.stderr.getvalue() == (
        "flag provided but not defined: -nope\n"
        "Usage of memory x:\n"
        "  -i\n    \tany case\n"
        "  -ignore-case\n    \tany case\n"
        "  -many value\n    \tsome of many\n"
        "  -number int\n    \tmaximum records (default 20)\n"
        "  -text string\n    \tsome text\n"
    )
    Parser.console = None
    with pytest.raises(HnUsageError):
        parser().parse_args(["-nope"])


def test_a_parser_may_have_words_below_it(console: Any) -> None:
    outer = FlagParser(prog="hn x", usage_line="hn x <one|two>")
    outer.set_defaults(kept=1)
    inner = outer.add_subparsers(dest="word", parser_class=FlagParser)
    one = inner.add_parser("one")
    one.add_argument("--json", action="store_true")
    one.add_argument("rest", nargs="?")
    args = outer.parse_args(["one", "a", "-json"])
    assert (args.word, args.kept, args.json, args.rest) == ("one", 1, True, "a")
    for words in ([], ["three"]):
        with pytest.raises(HnUsageError, match=r"usage: hn x <one\|two>"):
            outer.parse_args(words)
    with pytest.raises(HnUsageError, match="usage"):
        one.parse_args(["a", "b"])
    with pytest.raises(Exception):  # noqa: B017, PT011 - how the parser leaves is its own business
        outer.parse_args(["--help"])
    assert "one" in console.stdout.getvalue()


def test_positional_arguments_are_as_many_as_described() -> None:
    made = FlagParser(prog="hn y", usage_line="hn y A [B]")
    made.add_argument("a")
    made.add_argument("b", nargs="?")
    assert vars(made.parse_args(["1"])) == {"a": "1", "b": None}
    assert vars(made.parse_args(["1", "--", "--"])) == {"a": "1", "b": "--"}
    for words in ([], ["1", "2", "3"]):
        with pytest.raises(HnUsageError, match=r"usage: hn y A \[B\]") as caught:
            made.parse_args(words)
        assert caught.value.exit_code == 2


def test_one_run_adds_nothing_to_the_next() -> None:
    made = parser()
    assert made.parse_args(["-many", "1"]).many == ["1"]
    assert made.parse_args([]).many == []


# --- small things of the verbs ------------------------------------------------------------------


def test_machine_input_may_come_from_a_text_stream() -> None:
    import io

    made = string_console(os.environ)
    made.stdin = io.StringIO('{"é": 1}')
    assert read_input("-", made) == '{"é": 1}'.encode()


def test_the_console_script_gives_the_exit_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["hn", "memory"])
    assert cli.entry() == 2


def test_a_version_that_is_not_installed_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata as metadata

    def missing(_: str) -> str:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", missing)
    assert parsing.version() == "unknown"


def test_argparse_is_not_asked_to_guess() -> None:
    made = parser()
    assert isinstance(made, argparse.ArgumentParser)
    with pytest.raises(HnUsageError, match="not defined: -num"):
        made.parse_args(["-num", "1"])
