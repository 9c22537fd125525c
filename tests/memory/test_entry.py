"""The fail-open wrapper of all Python hooks."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from agent_memory import ledger
from agent_memory.payload import normalise
from hooks import _entry, session_context
from tests import patient
from tests.conftest import PATIENCE, REPOSITORY
from tests.memory import recording
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


@pytest.mark.parametrize("name", ["session_context", "spec_mirror", "perturn_recall"])
class TestEveryHooksMain:
    @pytest.fixture
    def hook(self, name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
        monkeypatch.setattr("gc.disable", lambda: None)
        monkeypatch.setattr(sys, "argv", ["x", "--harness", "claude"])
        return importlib.import_module(f"hooks.{name}")

    def test_has_nothing_to_say_to_an_empty_payload(
        self, hook: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        asked: list[str] = []
        monkeypatch.setattr(hook, "work", lambda call: asked.append(call.name) or "")
        monkeypatch.setattr(_entry, "read_stdin", lambda: b"{}")
        assert hook.main() == 0
        assert capfd.readouterr() == ("", "")
        assert asked == [hook.NAME]

    def test_says_what_is_missing_of_half_an_installation_but_not_to_geminis_user(
        self, hook: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setitem(sys.modules, "hooks._entry", None)
        monkeypatch.delattr("hooks._entry")
        assert hook.main() == 0
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith(f"[agent-memory] {hook.NAME}: ")
        assert err.count("\n") == 1
        monkeypatch.setattr(sys, "argv", ["x", "--harness=gemini"])
        assert hook.main() == 0
        monkeypatch.setattr(sys, "argv", ["x"])
        monkeypatch.setattr(sys, "stderr", None)
        assert hook.main() == 0
        assert capfd.readouterr() == ("", "")


class TestWatch:
    """A hook that hangs ends itself; either it answers or the watch does."""

    @pytest.fixture
    def exits(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        found: list[int] = []
        monkeypatch.setattr(os, "_exit", found.append)
        return found

    def test_gives_up_for_a_hook_that_does_not_answer(self, exits: list[int]) -> None:
        said: list[str] = []
        watch = _entry.Watch(0.01, lambda: said.append("gave up"))
        recording.wait_for(lambda: exits == [0])
        assert said == ["gave up"]
        late = threading.Thread(target=watch.answer, daemon=True)
        late.start()
        late.join(0.1)
        assert late.is_alive(), "the hook would write a second answer"

    def test_leaves_a_hook_that_answers_alone(self, exits: list[int]) -> None:
        said: list[str] = []
        ended = threading.Event()

        class Ending(_entry.Watch):
            __slots__ = ()

            def _wait(self) -> None:
                super()._wait()
                ended.set()

        watch = Ending(PATIENCE, lambda: said.append("gave up"))
        watch.answer()
        assert ended.wait(PATIENCE), "its thread waits on"
        watch.seconds = 0.01
        watch._wait()  # had it come to its time just then
        assert (exits, said) == ([], [])

    def test_ends_the_process_even_when_it_cannot_say_so(
        self, exits: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.unraisablehook", lambda _: None)
        _entry.Watch(0.01, lambda: [].pop())
        recording.wait_for(lambda: exits == [0])

    def test_is_done_without_where_no_thread_is_to_be_had(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def none(*_: object) -> int:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr("_thread.start_new_thread", none)
        _entry.Watch(0.0, lambda: None).answer()

    def test_says_so_in_the_ledger_and_on_stderr_but_not_to_geminis_user(
        self, repository: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_entry, "_GRACE", PATIENCE)
        for harness, out, err in (
            ("claude", "", "[agent-memory] a_hook: gave up after 2 s; nothing was injected\n"),
            ("cursor", "{}", "[agent-memory] a_hook: gave up after 2 s; nothing was injected\n"),
            ("gemini", "", ""),
        ):
            parsed = normalise(json.dumps(event(repository)).encode(), harness, None)
            call = _entry.Call("a_hook", harness, harness, parsed, os.environ, "/", T)
            _entry._gave_up("a_hook", harness, call, 2.0)
            assert capfd.readouterr() == (out, err)
        (entry,) = ledger.open_errors(state_of(repository).spec_dir)
        assert entry["message"] == "a_hook: gave up after 2 s; nothing was injected"
        assert entry["count"] == 3

    def test_does_not_wait_for_a_ledger_that_hangs(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        call = _entry.Call("a_hook", "claude", "claude", normalise(b"{}"), os.environ, "/", T)
        hang = threading.Event()
        monkeypatch.setattr(_entry.Call, "ledger", lambda *_: hang.wait(PATIENCE))
        monkeypatch.setattr(_entry, "_GRACE", 0.01)
        _entry._gave_up("a_hook", "claude", call, 2.0)
        assert not hang.is_set()
        hang.set()
        assert capfd.readouterr().err == "[agent-memory] a_hook: gave up after 2 s; nothing was injected\n"

    @pytest.mark.parametrize(
        ("hook", "harness", "out", "err"),
        [
            ("session_context", "claude", b"", b"session_context:"),
            ("session_context", "cursor", b"{}", b"session_context:"),
            ("session_context", "gemini", b"", b""),
            ("spec_mirror", "claude", b"", b"spec_mirror:"),
            ("correction_detector", "claude", b'{"signal":null}\n', b""),
        ],
    )
    def test_ends_every_hook_whose_client_keeps_stdin_open(
        self, tmp_path: Path, hook: str, harness: str, out: bytes, err: bytes
    ) -> None:
        program = (
            f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
            f"import hooks._entry as entry, hooks.{hook} as hook\n"
            "entry.LIMIT = 0.3\n"
            f"sys.argv = ['x', '--harness', {harness!r}]\n"
            "sys.exit(hook.main())\n"
        )
        reader, writer = os.pipe()
        os.write(writer, b'{"session_id":')
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-c", program], stdin=reader, capture_output=True, cwd=tmp_path,
                check=True,
            )  # fmt: skip
        finally:
            os.close(writer)
            os.close(reader)
        line = b"[agent-memory] " + err + b" gave up after 0.3 s; nothing was injected\n"
        assert (done.stdout, done.stderr) == (out, line if err else b"")

    def test_ends_a_session_start_that_hangs_and_the_next_one_says_so(self, repository: Path) -> None:
        program = (
            f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
            "import hooks._entry as entry, hooks.session_context as hook\n"
            f"{patient.HANGS}"
            "entry.LIMIT = 0.5\n"
            "hook.settle = lambda call: hanging()\n"
            "sys.argv = ['x', '--harness', 'claude']\n"
            "sys.exit(hook.main())\n"
        )
        data = json.dumps(event(repository)).encode()
        done = subprocess.run(
            [sys.executable, "-I", "-c", program], input=data, capture_output=True, check=True
        )
        assert done.stdout == b""
        (entry,) = ledger.open_errors(state_of(repository).spec_dir)
        assert entry["message"] == "session_context: gave up after 0.5 s; nothing was injected"
        out, _ = _entry.run(
            "session_context", session_context.work, ["--harness", "claude"],
            env=os.environ, stdin=data, cwd="/", now=T,
        )  # fmt: skip
        assert (
            "session_context: gave up after 0.5 s"
            in json.loads(out)["hookSpecificOutput"]["additionalContext"]
        )

    def test_of_a_limit_that_cannot_be_found_out_is_the_usual_one(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        seen: list[float] = []

        class Probe:
            def __init__(self, seconds: float, _: Callable[[], object]) -> None:
                seen.append(seconds)

            def answer(self) -> None: ...

        monkeypatch.setattr(_entry, "Watch", Probe)
        monkeypatch.setattr(_entry, "read_stdin", lambda: b"{}")
        monkeypatch.setattr(sys, "argv", ["x", "--harness", "copilot"])

        def damaged() -> float:
            raise SyntaxError

        assert _entry.main("a_hook", say("x"), damaged) == 0
        assert _entry.main("a_hook", say("x"), lambda: 3.0) == 0
        assert seen == [_entry.LIMIT, 3.0]
        assert capfd.readouterr().out == '{"additionalContext":"x"}' * 2


class TestStandardInput:
    def script(self, tmp_path: Path) -> list[str]:
        path = tmp_path / "hook.py"
        path.write_text(
            f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
            "from hooks import _entry\n"
            "work = lambda call: f'{len(call.event.output)} {call.event.cwd}'\n"
            f"sys.exit(_entry.main('probe', work, lambda: {PATIENCE}))\n"
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
