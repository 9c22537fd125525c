"""Launchers start the right thing, from any path, and fail open; no upgrade breaks a running session."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agent_base.errors import SuiteError
from agent_install import launchers, runtime
from tests.conftest import PATIENCE

if TYPE_CHECKING:
    from conftest import Machine

PAYLOAD = {"session_id": "s-1", "hook_event_name": "PostToolUse", "tool_name": "Bash"}


def run(
    path: Path, *words: str, env: dict[str, str], stdin: str = "", cwd: Path | None = None
) -> tuple[int, str, str]:
    done = subprocess.run(
        [str(path), *words], input=stdin, capture_output=True, text=True, env=env, cwd=cwd, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def hooks(machine: Machine) -> Path:
    machine.have("claude")
    assert machine.install() == 0, machine.err
    return machine.home / ".agents/hooks"


def test_the_launchers_of_the_commands_run_them_under_their_own_name(machine: Machine, hooks: Path) -> None:
    for name in launchers.COMMANDS:
        code, out, err = run(machine.home / ".local/bin" / name, "--help", env=machine.env)
        assert (code, err) == (0, "")
        assert "usage:" in out.lower()


def test_arguments_arrive_as_they_were_given(machine: Machine, hooks: Path, repository: Path) -> None:
    command = machine.home / ".local/bin/,agent-memory"
    text = 'it\'s "quoted" $(touch x) `y` \\ ü\n-n'
    code, _, err = run(
        command, "note", "fact", text, "--session-id", "s-1", "--json", env=machine.env, cwd=repository
    )
    assert code == 0, err
    worklogs = list(Path(machine.env["AGENT_MEMORY_SPEC_ROOT"]).rglob("*.worklog.jsonl"))
    assert json.loads(worklogs[0].read_text())["text"] == text
    assert not (repository / "x").exists()


def test_the_interpreter_is_absolute_and_isolated(machine: Machine, hooks: Path) -> None:
    versions = str(machine.home / ".local/share/agent-hook-suite/versions").replace("'", "'\"'\"'")
    for name in launchers.PYTHON_HOOKS:
        text = (hooks / name).read_text()
        assert f"python='{versions}/" in text
        assert 'exec "$python" -IS -c' in text
    for name in launchers.COMMANDS:
        assert 'exec "$python" -I -c' in (machine.home / ".local/bin" / name).read_text()


def test_hooks_ignore_what_the_environment_and_the_directory_would_put_on_the_path(
    machine: Machine, hooks: Path, repository: Path
) -> None:
    for name in ("json.py", "hooks.py", "os.py", "sitecustomize.py"):
        (repository / name).write_text("raise SystemExit('planted')\n")
    env = {**machine.env, "PYTHONPATH": str(repository), "PYTHONSTARTUP": str(repository / "os.py")}
    payload = json.dumps({"session_id": "s", "hook_event_name": "SessionStart", "cwd": str(repository)})
    code, out, err = run(
        hooks / "session_context.py", "--harness", "claude", env=env, stdin=payload, cwd=repository
    )
    assert (code, err) == (0, "")
    assert "Session memory" in json.loads(out)["hookSpecificOutput"]["additionalContext"]


def test_the_dispatcher_records_through_the_environments_recorder(
    machine: Machine, hooks: Path, repository: Path
) -> None:
    payload = json.dumps(
        {**PAYLOAD, "cwd": str(repository), "tool_input": {"command": "ls"}, "tool_response": "x"}
    )
    code, out, err = run(
        hooks / "worklog_dispatcher.sh", "--harness", "claude", "--by=agent-hook-suite",
        env=machine.env, stdin=payload, cwd=repository,
    )  # fmt: skip
    assert (code, out, err) == (0, "", "")
    deadline = time.monotonic() + PATIENCE
    specs = Path(machine.env["AGENT_MEMORY_SPEC_ROOT"])
    text = ""
    while not text.endswith("\n") and time.monotonic() < deadline:
        time.sleep(0.02)
        text = "".join(path.read_text() for path in specs.rglob("*.worklog.jsonl"))
    assert json.loads(text)["command"] == "ls"


def test_the_dispatcher_is_the_checkouts_own_but_for_what_is_filled_in(hooks: Path, checkout: Path) -> None:
    ours = (checkout / "hooks/worklog_dispatcher.sh").read_text().split("\n")
    theirs = (hooks / "worklog_dispatcher.sh").read_text().split("\n")
    assert theirs.pop(1).startswith("# agent-hook-suite launcher")
    different = [line for line, other in zip(theirs, ours, strict=True) if line != other]
    assert [line.split("=", 1)[0] for line in different] == ["AGENT_PYTHON", "AGENT_RECORDER", "AGENT_UID"]


def test_a_path_that_looks_like_a_placeholder_is_a_path(tmp_path: Path) -> None:
    python = tmp_path / "@SITE@/@NAME@"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\nfor word; do printf "%s\\n" "$word"; done\n')
    python.chmod(0o755)
    for name, content in {
        "hn": launchers.command("hn", str(python)),
        "spec_mirror.py": launchers.hook("spec_mirror.py", str(python), "/a @PYTHON@ site"),
    }.items():
        launcher = tmp_path / name
        launcher.write_bytes(content)
        launcher.chmod(0o755)
        code, out, err = run(launcher, "last word", env={"PATH": "/usr/bin:/bin"}, stdin="")
        assert (code, err) == (0, "")
        assert out.splitlines()[-1] == "last word"
    assert "/a @PYTHON@ site" in out


def test_a_dispatcher_without_places_to_fill_in_is_refused() -> None:
    with pytest.raises(SuiteError, match="0 places for its interpreter"):
        launchers.dispatcher("/p", "/s", 1, "#!/bin/sh\nexit 0\n")
    with pytest.raises(SuiteError, match="interpreter line"):
        launchers.dispatcher("/p", "/s", 1, "exit 0\n")


@pytest.mark.parametrize("name", [*launchers.PYTHON_HOOKS, launchers.DISPATCHER])
def test_hooks_whose_environment_is_gone_say_one_line_and_exit_0(
    machine: Machine, hooks: Path, name: str
) -> None:
    shutil.rmtree(machine.home / ".local/share/agent-hook-suite/versions")
    code, out, err = run(hooks / name, "--harness", "claude", env=machine.env, stdin="{}")
    assert (code, out) == (0, "")
    assert err.startswith("[agent-memory] ")
    assert err.count("\n") == 1
    assert run(hooks / name, "--harness", "gemini", env=machine.env, stdin="{}") == (0, "", "")


def test_hooks_whose_packages_are_damaged_exit_0(machine: Machine, hooks: Path, tmp_path: Path) -> None:
    site = next((machine.home / ".local/share/agent-hook-suite/versions").glob("*/site"))
    site.unlink()
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks/session_context.py").write_text("import no_such_module\n")
    site.symlink_to(tmp_path)
    code, out, err = run(hooks / "session_context.py", "--harness", "claude", env=machine.env, stdin="{}")
    assert (code, out) == (0, "")
    assert err == "[agent-memory] session_context: No module named 'no_such_module'\n"
    assert run(hooks / "session_context.py", "--harness", "gemini", env=machine.env, stdin="{}") == (
        0,
        "",
        "",
    )


def test_commands_whose_environment_is_gone_say_so_and_fail(machine: Machine, hooks: Path) -> None:
    shutil.rmtree(machine.home / ".local/share/agent-hook-suite/versions")
    code, out, err = run(machine.home / ".local/bin/,ai-kb", "list", env=machine.env)
    assert (code, out) == (1, "")
    assert "run its ./install.sh again" in err


# ---------------------------------------------------------------- upgrades


def test_an_upgrade_switches_the_launchers_and_leaves_configurations_alone(
    machine: Machine, hooks: Path, newer: Path, ready: Callable[[Path, str], runtime.Runtime]
) -> None:
    before = (machine.home / ".claude/settings.json").read_bytes()
    old = os.readlink(machine.home / ".local/share/agent-hook-suite/current")
    made = ready(newer, machine.layout.data)
    assert machine.install(source=newer) == 0, machine.err
    # Codex trusts a hook by its definition: the definition must survive an upgrade.
    assert (machine.home / ".claude/settings.json").read_bytes() == before
    current = machine.home / ".local/share/agent-hook-suite/current"
    assert os.readlink(current) != old
    assert made.python in (hooks / "session_context.py").read_text().replace("'\"'\"'", "'")
    assert (machine.home / ".local/share/agent-hook-suite" / old).is_dir()  # running processes use it
    assert machine.install("--uninstall") == 0
    assert not (machine.home / ".claude/settings.json").exists()


def test_hooks_run_while_an_upgrade_switches_back_and_forth_never_fail(
    machine: Machine,
    hooks: Path,
    checkout: Path,
    newer: Path,
    ready: Callable[[Path, str], runtime.Runtime],
    repository: Path,
) -> None:
    ready(newer, machine.layout.data)
    payload = json.dumps({"session_id": "s", "hook_event_name": "SessionStart", "cwd": str(repository)})
    loop = (
        "n=0; while [ ! -e stop ]; do n=$((n+1)); "
        'printf %s "$1" | "$0" --harness claude >out.$n 2>err.$n || echo $? >failed; done'
    )
    command = ["sh", "-c", loop, str(hooks / "session_context.py"), payload]
    with subprocess.Popen(command, env=machine.env, cwd=repository):
        try:
            codes = []
            while len(codes) < 4 or not (repository / "out.8").exists():
                codes.append(machine.install(source=checkout if len(codes) % 2 else newer))
        finally:
            (repository / "stop").touch()
    assert set(codes) == {0}
    assert not (repository / "failed").exists()
    assert not [path for path in repository.glob("err.*") if path.read_text()]


def test_old_environments_go_once_they_are_a_day_old_but_not_the_one_before(
    machine: Machine, hooks: Path, newer: Path, ready: Callable[[Path, str], runtime.Runtime]
) -> None:
    versions = machine.home / ".local/share/agent-hook-suite/versions"
    for name, age in (("0.0.1-old", 2 * 86400), ("0.0.2-recent", 60)):
        (versions / name).mkdir()
        os.utime(versions / name, (time.time() - age,) * 2)
    first = os.path.realpath(machine.home / ".local/share/agent-hook-suite/current")
    os.utime(first, (time.time() - 2 * 86400,) * 2)
    ready(newer, machine.layout.data)
    machine.install(source=newer)
    left = {path.name for path in versions.iterdir()}
    assert "0.0.1-old" not in left
    assert {"0.0.2-recent", os.path.basename(first)} <= left


def test_an_environment_that_was_not_finished_is_made_anew(
    machine: Machine, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = runtime.plan(str(checkout), machine.layout.data)
    os.unlink(os.path.join(planned.directory, ".complete"))
    made: list[str] = []

    def no_venv(at: runtime.Runtime, uv: str | None, env: runtime.Env) -> None:
        made.append(at.directory)
        assert not os.path.exists(at.directory)
        raise runtime.NoEnvironment("the disk is full")

    monkeypatch.setattr(runtime, "_venv", no_venv)
    machine.have("claude")
    assert machine.install() == 1
    assert made == [planned.directory]
    assert "the disk is full" in machine.err
    assert not (machine.home / ".claude/settings.json").exists()
    assert not (machine.home / ".local/bin").exists()
