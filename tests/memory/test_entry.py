"""The fail-open wrapper of all Python hooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memory import ledger
from hooks import _entry
from tests.conftest import REPOSITORY
from tests.memory.support import NOW, SESSION, state_of

T = NOW.timestamp()


def run(
    work: Callable[[_entry.Call], str], *argv: str, data: dict[str, object] | bytes = b"{}", cwd: str = "/"
) -> tuple[str, str]:
    stdin = data if isinstance(data, bytes) else json.dumps(data).encode()
    return _entry.run("a_hook", work, argv, env=os.environ, stdin=stdin, cwd=cwd, now=T)


def say(text: str) -> Callable[[_entry.Call], str]:
    return lambda _: text


def fail(error: BaseException) -> Callable[[_entry.Call], str]:
    def work(_: _entry.Call) -> str:
        raise error

    return work


def event(cwd: Path, name: str = "SessionStart") -> dict[str, object]:
    return {"hook_event_name": name, "session_id": SESSION, "cwd": str(cwd)}


class TestOptions:
    @pytest.mark.parametrize(
        ("argv", "expected"),
        [
            ((), ("", "")),
            (("--harness", "claude"), ("claude", "")),
            (("--harness=Codex",), ("codex", "")),
            (("--event", "sessionStart", "--harness", "copilot"), ("copilot", "sessionStart")),
            (("--what", "x", "-h", "--harness"), ("", "")),
            (("--help", "--harness", "gemini"), ("gemini", "")),
        ],
    )
    def test_are_read_and_the_rest_is_passed_over(
        self, argv: tuple[str, ...], expected: tuple[str, str]
    ) -> None:
        assert _entry.options(argv) == expected

    def test_name_the_event_where_the_payload_does_not(self, tmp_path: Path) -> None:
        seen: list[str] = []

        def work(call: _entry.Call) -> str:
            seen.append(call.event.event)
            return ""

        run(work, "--event", "sessionStart", "--harness", "copilot", data={"sessionId": "x"})
        assert seen == ["SessionStart"]


class TestClient:
    def test_is_the_harness(self) -> None:
        assert _entry.client_of("gemini", b'{"timestamp":1,"hook_event_name":"x"}') == "gemini"
        assert _entry.client_of("claude", b'{"transcript_path":"x","hook_event_name":"y"}') == "claude"
        assert _entry.client_of("", b"{}") == ""

    def test_is_cursor_or_copilot_where_their_payload_shows_it(self) -> None:
        assert _entry.client_of("claude", b'{"cursor_version": "1"}') == "cursor"
        assert _entry.client_of("claude", b'{"hook_event_name":"x","timestamp":"t","cwd":"c"}') == "copilot"

    def test_cannot_be_forged_by_a_prompt(self, tmp_path: Path) -> None:
        data = json.dumps({**event(tmp_path), "transcript_path": "x", "prompt": '"cursor_version"'}).encode()
        assert _entry.client_of("claude", data) == "claude"


class TestShape:
    def test_names_the_event_as_the_client_does(self, tmp_path: Path) -> None:
        out, _ = run(say("x"), "--harness", "gemini", data=event(tmp_path, "BeforeAgent"))
        assert json.loads(out)["hookSpecificOutput"] == {
            "hookEventName": "BeforeAgent",
            "additionalContext": "x",
        }

    def test_has_no_lone_surrogate(self, tmp_path: Path) -> None:
        out, _ = run(say("a\ud800b"), "--harness", "claude", data=event(tmp_path))
        assert json.loads(out)["hookSpecificOutput"]["additionalContext"] == "a\ufffdb"

    def test_of_nothing_is_nothing(self, tmp_path: Path) -> None:
        for harness in ("claude", "codex", "gemini", "copilot", "opencode", ""):
            assert run(say(""), "--harness", harness, data=event(tmp_path)) == ("", "")
        assert run(say(""), "--harness", "cursor", data=event(tmp_path)) == ("{}", "")

    def test_without_a_harness_reaches_copilot_too(self, tmp_path: Path) -> None:
        data = {"hook_event_name": "SessionStart", "session_id": "x", "timestamp": "t", "cwd": str(tmp_path)}
        assert set(json.loads(run(say("x"), data=data)[0])) == {
            *("additional_context", "additionalContext", "hookSpecificOutput")
        }


class TestFailures:
    @pytest.mark.parametrize(
        "error",
        [
            RuntimeError("two\nlines"),
            KeyboardInterrupt(),
            SystemExit(2),
            RecursionError(),
            MemoryError(),
            UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        ],
        ids=lambda error: type(error).__name__,
    )
    def test_are_one_line_on_stderr_and_in_the_ledger(self, repository: Path, error: BaseException) -> None:
        out, err = run(fail(error), "--harness", "claude", data=event(repository))
        assert out == ""
        assert err.startswith(f"[agent-memory] a_hook: {type(error).__name__}")
        assert err.count("\n") == 1
        (entry,) = ledger.open_errors(state_of(repository).spec_dir)
        assert entry["kind"] == "hook"
        assert str(entry["message"]).startswith(f"a_hook: {type(error).__name__}")

    def test_say_nothing_to_geminis_user(self, repository: Path) -> None:
        assert run(fail(RuntimeError()), "--harness", "gemini", data=event(repository)) == ("", "")
        assert ledger.open_errors(state_of(repository).spec_dir)

    def test_answer_cursor_with_an_empty_object(self, repository: Path) -> None:
        assert run(fail(RuntimeError()), "--harness", "cursor", data=event(repository))[0] == "{}"

    def test_of_the_ledger_are_not_failures_of_the_hook(self, repository: Path) -> None:
        os.chmod(state_of(repository).root, 0o777)
        out, err = run(fail(RuntimeError("x")), "--harness", "claude", data=event(repository))
        assert out == ""
        assert err == "[agent-memory] a_hook: RuntimeError: x\n"

    def test_of_one_part_leave_the_others(self, repository: Path) -> None:
        def work(call: _entry.Call) -> str:
            assert call.attempt("a part", lambda: 1 / 0) is None
            return str(call.attempt("another", lambda: "kept"))

        out, err = run(work, "--harness", "claude", data=event(repository))
        assert "kept" in out
        assert err == ""
        (entry,) = ledger.open_errors(state_of(repository).spec_dir)
        assert entry["message"] == "a_hook: a part: ZeroDivisionError: division by zero"

    def test_of_a_part_that_the_ledger_cannot_keep_are_told(self, repository: Path) -> None:
        def work(call: _entry.Call) -> str:
            call.attempt("a part", lambda: 1 / 0)
            call.attempt("another", lambda: int("x"))
            return "kept"

        os.chmod(state_of(repository).root, 0o777)
        out, err = run(work, "--harness", "claude", data=event(repository))
        assert "kept" in out
        assert err == "[agent-memory] a_hook: a part: ZeroDivisionError: division by zero\n"
        assert run(work, "--harness", "gemini", data=event(repository))[1] == ""

    @pytest.mark.parametrize("name", ["session_context", "spec_mirror", "perturn_recall"])
    def test_of_half_an_installation_say_nothing_to_geminis_user(self, tmp_path: Path, name: str) -> None:
        broken = tmp_path / "hooks"
        broken.mkdir()
        (broken / f"{name}.py").write_text((REPOSITORY / f"hooks/{name}.py").read_text())
        hook = [sys.executable, "-I", "-S", f"{broken}/{name}.py"]
        for argv, stderr in ((["--harness=gemini"], ""), (["--harness", "claude"], "2>&-")):
            done = subprocess.run(
                ["sh", "-c", f'exec "$@" {stderr}', "sh", *hook, *argv],
                input=b"{}", capture_output=True, check=False,
            )  # fmt: skip
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    @pytest.mark.parametrize("name", ["session_context", "spec_mirror", "perturn_recall"])
    def test_of_half_an_installation_exit_0(self, tmp_path: Path, name: str) -> None:
        broken = tmp_path / "hooks"
        broken.mkdir()
        (broken / f"{name}.py").write_text((REPOSITORY / f"hooks/{name}.py").read_text())
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(broken / f"{name}.py"), "--harness", "claude"],
            input=b"{}", capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout == b""
        assert done.stderr.count(b"\n") <= 1


class TestMain:
    def test_reads_and_writes_the_processs_streams(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        reader, writer = os.pipe()
        os.write(writer, json.dumps(event(repository)).encode())
        os.close(writer)
        kept = os.dup(0)
        os.dup2(reader, 0)
        try:
            monkeypatch.setattr(sys, "argv", ["x", "--harness", "copilot"])
            assert _entry.main("a_hook", lambda call: call.event.session_id) == 0
            assert _entry.main("a_hook", fail(RuntimeError("broken"))) == 0
        finally:
            os.dup2(kept, 0)
            os.close(kept)
            os.close(reader)
        out, err = capfd.readouterr()
        assert json.loads(out) == {"additionalContext": SESSION}
        assert err == "[agent-memory] a_hook: RuntimeError: broken\n"

    def test_works_in_a_directory_that_is_gone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        monkeypatch.setattr(_entry, "read_stdin", lambda: b"{}")
        monkeypatch.setattr(sys, "argv", ["x", "--harness", "copilot"])
        assert _entry.main("a_hook", lambda call: call.cwd) == 0
        assert json.loads(capfd.readouterr().out) == {"additionalContext": "/"}


class TestStandardInput:
    def script(self, tmp_path: Path) -> list[str]:
        path = tmp_path / "hook.py"
        path.write_text(
            f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
            "from hooks import _entry\n"
            "sys.exit(_entry.main('probe', lambda call: f'{len(call.event.output)} {call.event.cwd}'))\n"
        )
        return [sys.executable, "-I", str(path), "--harness", "copilot"]

    def test_is_drained_whole(self, tmp_path: Path) -> None:
        data = json.dumps({"toolName": "bash", "toolResult": {"textResultForLlm": "x" * 10_000_000}}).encode()
        done = subprocess.run(self.script(tmp_path), input=data, capture_output=True, check=True)
        assert json.loads(done.stdout) == {"additionalContext": "10000000 "}

    def test_may_be_closed(self, tmp_path: Path) -> None:
        done = subprocess.run(
            ["sh", "-c", '"$@" <&-', "sh", *self.script(tmp_path)], capture_output=True, check=True
        )
        assert json.loads(done.stdout) == {"additionalContext": "0 "}

    def test_may_be_written_to_a_reader_that_is_gone(self, tmp_path: Path) -> None:
        process = subprocess.Popen(self.script(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.close()
        process.stdin.write(b"{}")
        process.stdin.close()
        assert process.wait() == 0
