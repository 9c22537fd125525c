"""The runner that all commands share."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_base import cli, parsing
from agent_base.errors import SuiteError, UsageError
from agent_memory.cli import parser

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def factory(handler: Callable[[Any, cli.Console], int]) -> Callable[[Sequence[str]], parsing.Parser]:
    def parser(argv: Sequence[str]) -> parsing.Parser:
        result = parsing.Parser(prog="tool", description="A tool.")
        result.add_argument("--json", action="store_true")
        result.add_argument("--long-option")
        result.set_defaults(run=handler)
        return result

    return parser


def run(
    handler: Callable[[Any, cli.Console], int], *argv: str, json_errors: bool = True, stdin: bytes = b""
) -> tuple[int, str, str]:
    console = cli.string_console(dict(os.environ), stdin=stdin, now=lambda: NOW)
    code = cli.run_command("tool", factory(handler), argv, console, json_errors=json_errors)
    return code, console.stdout.getvalue(), console.stderr.getvalue()  # type: ignore[attr-defined]


def run_verb(*argv: str) -> tuple[int, str, str]:
    def parser(words: Sequence[str]) -> parsing.Parser:
        result = parsing.Parser(prog="tool")
        parsing.add_verbs(result, "agent_memory.commands", {"list": "the topics"}, words)
        return result

    console = cli.string_console({})
    code = cli.run_command("tool", parser, argv, console)
    return code, console.stdout.getvalue(), console.stderr.getvalue()  # type: ignore[attr-defined]


def raising(error: BaseException) -> Callable[[Any, cli.Console], int]:
    def handler(*_: object) -> int:
        raise error

    return handler


def test_help_and_version_are_words_that_every_command_knows() -> None:
    code, out, _ = run_verb("help", "list")
    assert (code, out.splitlines()[0]) == (
        0,
        "usage: tool list [-h] [--all] [--names] [--workspace DIR] [--json]",
    )
    assert "``" not in out
    assert run_verb("help")[1] == run_verb("--help")[1]
    assert run_verb("--version") == (0, f"{parsing.version()}\n", "")


class TestErrors:
    def test_are_one_line_with_a_hint(self) -> None:
        assert run(raising(SuiteError("it\nfailed", "try  again"))) == (
            1,
            "",
            "tool: it failed (try again)\n",
        )

    def test_end_with_their_own_code(self) -> None:
        assert run(raising(UsageError("wrong")))[0] == 2

    def test_are_json_on_stdout_when_json_was_asked_for(self) -> None:
        code, out, err = run(raising(SuiteError("failed", "hint")), "--json")
        assert code == 1
        assert json.loads(out) == {"error": {"code": "failed", "message": "failed", "hint": "hint"}}
        assert err == ""

    def test_stay_on_stderr_where_a_command_wants_that(self) -> None:
        code, out, err = run(raising(SuiteError("failed")), "--json", json_errors=False)
        assert (code, out, err) == (1, "", "tool: failed\n")

    def test_of_the_command_line_are_usage_errors(self) -> None:
        code, out, err = run(raising(AssertionError()), "--nope")
        assert (code, out) == (2, "")
        assert err == "tool: unrecognized arguments: --nope (see `tool --help`)\n"
        assert json.loads(run(raising(AssertionError()), "--json", "x")[1])["error"]["code"] == "usage"

    def test_name_what_may_have_been_meant(self) -> None:
        hint = "(see `tool --help`)"
        assert run(raising(AssertionError()), "--jsn")[2] == (
            f"tool: unrecognized arguments: --jsn; did you mean --json? {hint}\n"
        )
        assert run_verb("lst") == (2, "", f"tool: there is no command 'lst'; did you mean list? {hint}\n")
        assert run_verb("x") == (2, "", f"tool: there is no command 'x' {hint}\n")

    def test_of_a_verb_point_to_its_own_help(self) -> None:
        hint = "(see `,agent-memory list --help`)"
        console = cli.string_console({})
        assert cli.run_command("tool", parser, ["list", "--al"], console) == 2
        assert console.stderr.getvalue() == (  # type: ignore[attr-defined]
            f"tool: unrecognized arguments: --al; did you mean --all? {hint}\n"
        )

    def test_escape_what_a_terminal_would_obey(self) -> None:
        assert (
            run(raising(SuiteError("a\x1b[2Jb\u202e\ud800c\\d")))[2]
            == "tool: a\\u001b[2Jb\\u202e\ufffdc\\d\n"
        )

    def test_of_the_system_name_the_file(self) -> None:
        _, _, err = run(raising(FileNotFoundError(2, "No such file or directory", "/x")))
        assert err == "tool: /x: No such file or directory\n"
        _, _, err = run(raising(OSError(18, "Invalid cross-device link", "/a", None, "/b")))
        assert err == "tool: /a -> /b: Invalid cross-device link\n"
        assert run(raising(OSError("odd")))[2] == "tool: odd\n"

    def test_that_nobody_foresaw_are_one_line_and_a_traceback_in_a_private_log(self) -> None:
        code, out, err = run(raising(RuntimeError("oops")))
        log = Path(os.environ["XDG_STATE_HOME"]) / "agent-hook-suite/errors.log"
        assert code == 1
        assert out == ""
        assert (
            err == f"tool: internal error: RuntimeError: oops (this is a defect; its traceback is in {log})\n"
        )
        assert "2026-11-30T12:00:00+00:00 tool\nTraceback" in log.read_text()
        assert log.stat().st_mode & 0o777 == 0o600

    def test_are_told_also_when_the_log_cannot_be_written(self) -> None:
        Path(os.environ["XDG_STATE_HOME"]).parent.mkdir(parents=True, exist_ok=True)
        Path(os.environ["XDG_STATE_HOME"]).write_text("a file in its place")
        assert "its log could not be written" in run(raising(RuntimeError("oops")))[2]

    def test_do_not_let_the_log_grow_without_bound(self) -> None:
        log = Path(os.environ["XDG_STATE_HOME"]) / "agent-hook-suite/errors.log"
        run(raising(RuntimeError("first")))
        log.write_bytes(b"x" * (1 << 21))
        run(raising(RuntimeError("second")))
        assert log.stat().st_size < 1 << 16

    def test_of_the_keyboard_end_with_130(self) -> None:
        assert run(raising(KeyboardInterrupt())) == (130, "", "tool: interrupted\n")

    def test_of_a_closed_pipe_end_with_141_and_no_word(self) -> None:
        assert run(raising(BrokenPipeError())) == (141, "", "")

    def test_of_a_pipe_that_is_closed_when_output_is_flushed(self) -> None:
        class Closed(io.StringIO):
            def flush(self) -> None:
                raise BrokenPipeError

        console = cli.string_console({}, now=lambda: NOW)
        console.stdout = Closed()
        assert cli.run_command("tool", factory(lambda *_: 0), [], console) == 141


class TestParser:
    def test_refuses_abbreviations(self) -> None:
        assert run(lambda *_: 0, "--long", "x")[0] == 2
        assert run(lambda *_: 0, "--long-option", "x")[0] == 0

    def test_prints_help_where_the_console_says(self) -> None:
        code, out, err = run(lambda *_: 0, "--help")
        assert (code, err) == (0, "")
        assert out.startswith("usage: tool")

    def test_needs_a_command(self) -> None:
        console = cli.string_console({})
        code = cli.run_command("tool", lambda _: parsing.Parser(prog="tool"), [], console)
        assert code == 2

    def test_completes_for_shells(self) -> None:
        code, out, _ = run(lambda *_: 0, "--print-completion", "bash")
        assert code == 0
        assert "--long-option" in out
        assert run(lambda *_: 0, "--print-completion", "what")[0] == 2

    def test_completes_words_that_are_offered_and_takes_others(self) -> None:
        def made(words: Sequence[str]) -> parsing.Parser:
            result = parsing.Parser(prog="tool")
            parsing.offer(result.add_argument("--kind"), ("fact", "gotcha"))
            result.set_defaults(run=lambda args, _: 0 if args.kind == "else" else 1)
            return result

        console = cli.string_console({})
        assert cli.run_command("tool", made, ["--print-completion", "bash"], console) == 0
        assert "gotcha" in console.stdout.getvalue()  # type: ignore[attr-defined]
        assert cli.run_command("tool", made, ["--kind", "else"], console) == 0

    def test_completes_verbs(self) -> None:
        from agent_memory.cli import main

        console = cli.string_console({})
        assert main(["--print-completion", "bash"], console) == 0
        text = console.stdout.getvalue()  # type: ignore[attr-defined]
        assert "wipe-current" in text
        assert "--reset-active" in text

    def test_imports_the_module_of_the_named_verb_only(self) -> None:
        import subprocess
        import sys

        code = (
            "import sys; from agent_memory.cli import main; from agent_base.cli import string_console;"
            "main(['use', '--help'], string_console({}));"
            "print([m for m in sys.modules if m.startswith('agent_memory.commands.')])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
        assert "agent_memory.commands.use" in done.stdout
        assert "suggest" not in done.stdout


class TestConsole:
    def test_reads_bytes_from_any_stream(self) -> None:
        console = cli.string_console({}, stdin=b"\xff\x00a")
        assert console.stdin_bytes() == b"\xff\x00a"
        console.stdin = io.StringIO("ü\udcff")
        assert console.stdin_bytes() == "ü".encode() + b"\xff"
        console.stdin = io.StringIO("abcdef")
        with pytest.raises(SuiteError, match="larger than 5 bytes"):
            console.stdin_bytes(5)

    def test_prints_json_that_no_terminal_obeys(self) -> None:
        console = cli.string_console({})
        console.json({"a": "ü\u202e\x1b"})
        text = console.stdout.getvalue()  # type: ignore[attr-defined]
        assert text.isascii()
        assert json.loads(text) == {"a": "ü\u202e\x1b"}

    def test_knows_that_a_string_is_no_terminal(self) -> None:
        console = cli.string_console({})
        assert not console.person()
        console.stdin.close()
        assert not console.person()

    def test_of_the_process_is_utf8_and_survives_a_removed_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        assert cli.Console.real().cwd == "/"
        assert cli.Console.real().now().tzinfo is UTC


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_was_closed_before_the_start_is_an_empty_one(closed: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(
        "import os, sys\n"
        "from agent_base.cli import Console\n"
        "console = Console.real()\n"
        "console.stdin_bytes()\n"
        "console.out('out')\n"
        "console.err('err')\n"
        "console.stdout.flush()\n"
        f"assert os.open({os.devnull!r}, os.O_RDONLY) > 2\n"
        "sys.exit(7)\n"
    )
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$1" {closed}', sys.executable, str(program)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])},
    )
    assert done.returncode == 7
    assert done.stdout == (b"" if ">&-" in closed.split() else b"out\n")
    assert done.stderr == (b"" if "2>&-" in closed.split() else b"err\n")
