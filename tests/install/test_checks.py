"""What the checks say of installations in every state; a small program plays Codex's app server."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agent_install import checks, codex_trust
from agent_install.changes import BACKUP_SUFFIX
from agent_install.checks import FAIL, OK, WARN, Check
from tests import checkouts
from tests.conftest import PATIENCE

if TYPE_CHECKING:
    from conftest import Machine

ALL = ("claude", "copilot", "codex", "cursor", "gemini", "opencode")

# `codex app-server` as far as it is asked; the "hash" is the definition itself.
APP_SERVER = """\
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        print("{}", flush=True)
        print(json.dumps({"id": asked["id"], "result": {}}), flush=True)
    elif asked.get("method") == "hooks/list":
        home = os.environ["CODEX_HOME"]
        hooks = []
        path = os.path.join(home, "hooks.json")
        for event, groups in json.load(open(path))["hooks"].items() if os.path.exists(path) else ():
            for g, group in enumerate(groups):
                for h, hook in enumerate(group["hooks"]):
                    hooks.append({"key": f"{path}:{event}:{g}:{h}", "eventName": event, "isManaged": False,
                                  "command": hook["command"], "currentHash": "sha256:" + json.dumps(hook)})
        data = [{"cwd": home, "hooks": hooks}]
        print(json.dumps({"id": asked["id"], "result": {"data": data}}), flush=True)
"""


def codex(machine: Machine, script: str = APP_SERVER) -> Path:
    program = machine.file("bin/codex", f"#!/bin/sh\nexec \"{sys.executable}\" -c '{script}'\n", 0o755)
    machine.env["PATH"] = f"{program.parent}:/usr/bin:/bin"
    return program


def by_name(machine: Machine, *names: str) -> dict[str, Check]:
    return {check.name: check for check in checks.all_checks(machine.env, names or None)}


def test_everything_that_was_installed_is_in_order(machine: Machine) -> None:
    machine.have(*ALL)
    codex(machine)
    machine.install()
    assert machine.install("--trust-codex") == 0, machine.err
    machine.env["PATH"] += f":{machine.layout.bin}"
    found = by_name(machine)
    assert {name: check for name, check in found.items() if check.status != OK} == {}
    for name in ALL:
        assert f"{name}: wired" in found
        for hook in ("session_context.py", "perturn_recall.py", "worklog_dispatcher.sh"):
            check = found[f"{name}: {hook}"]
            assert check.milliseconds is not None
            assert check.detail == f"runs in {check.milliseconds} ms"
    assert "3 hooks" in found["codex: trusted"].detail


def test_the_version_of_a_client_is_read_and_the_client_not_run(machine: Machine) -> None:
    machine.have("claude", "codex", "gemini")
    script = "#!/bin/sh\ntouch ran; exit 1\n"
    program = machine.file("lib/node_modules/@x/claude/bin/cli.js", script, 0o755)
    machine.file("lib/node_modules/@x/claude/bin/package.json", '{"type": "module"}')
    machine.file("lib/node_modules/@x/claude/package.json", '{"name": "c", "version": "2.1.332"}')
    native = machine.file("share/gemini/versions/0.61.0", script, 0o755)
    machine.file("bin/codex", script, 0o755)
    (machine.home / "bin/claude").symlink_to(program)
    (machine.home / "bin/gemini").symlink_to(native)
    machine.env["PATH"] = f"{machine.home}/bin:/usr/bin:/bin"
    found = by_name(machine)
    assert found["claude: installed"].detail == f"{machine.home}/bin/claude (2.1.332)"
    assert found["gemini: installed"].detail == f"{machine.home}/bin/gemini (0.61.0)"
    assert found["codex: installed"].detail == f"{machine.home}/bin/codex"
    machine.file("lib/node_modules/@x/claude/package.json", "[]")
    assert by_name(machine)["claude: installed"].detail == f"{machine.home}/bin/claude"


def test_checking_writes_nothing_of_the_users(machine: Machine) -> None:
    machine.have(*ALL)
    codex(machine)
    machine.install()
    before = machine.snapshot()
    by_name(machine)
    assert machine.snapshot() == before
    assert not list(Path(machine.env["AGENT_MEMORY_SPEC_ROOT"]).parent.glob("specs/*"))


def test_status_prints_the_next_step_and_ends_with_1(machine: Machine) -> None:
    machine.have("claude")
    assert machine.install("--status") == 1
    assert "fail install: environment: there is none" in machine.out
    assert "(./install.sh)" in machine.out
    machine.install()
    assert machine.install("--status") == 0
    assert machine.install("--status", "--json", "--harness", "claude") == 0
    assert json.loads(machine.out)["ok"] is True
    value = json.loads(machine.out)["checks"]
    assert {"name", "status", "detail", "hint", "milliseconds"} == set(value[0])


def test_commands_that_path_does_not_lead_to_are_a_warning(machine: Machine) -> None:
    machine.have("claude")
    machine.install()
    check = by_name(machine)["install: PATH"]
    assert check.status == WARN
    assert machine.layout.bin in check.hint
    machine.file("other/hn", "#!/bin/sh\n", 0o755)
    machine.env["PATH"] = f"{machine.home}/other:{machine.layout.bin}:/usr/bin:/bin"
    assert f"hn is {machine.home}/other/hn" in by_name(machine)["install: PATH"].detail
    machine.env["PATH"] = f"{machine.layout.bin}:{machine.home}/other:/usr/bin:/bin"
    assert by_name(machine)["install: PATH"].status == OK


def test_nothing_wired_is_a_warning(machine: Machine) -> None:
    machine.install("--harness", "none")
    assert by_name(machine)["harnesses"].status == WARN


def test_a_harness_that_came_later_is_a_warning_with_the_command(machine: Machine) -> None:
    machine.have("claude")
    machine.install()
    machine.have("gemini")
    check = by_name(machine)["gemini: wired"]
    assert (check.status, check.hint) == (WARN, "./install.sh --harness gemini")


def test_a_hook_that_somebody_removed_or_changed_is_a_failure(machine: Machine) -> None:
    machine.have("claude", "copilot")
    machine.install()
    path = machine.file(".claude/settings.json")
    value = json.loads(path.read_text())
    del value["hooks"]["PostToolUse"]
    path.write_text(json.dumps(value))
    assert by_name(machine)["claude: wired"].detail.endswith("no hook for PostToolUse")
    value["hooks"]["PostToolUse"] = value["hooks"]["SessionStart"]
    path.write_text(json.dumps(value))
    assert by_name(machine)["claude: wired"].detail.endswith("its hooks are not this version's")
    own = machine.file(".copilot/hooks/agent-hook-suite.json")
    own.write_text(own.read_text().replace("10", "11"))
    assert by_name(machine)["copilot: wired"].status == FAIL
    path.write_text("{")
    assert by_name(machine)["claude: wired"].status == WARN  # nothing of the suite is in it
    path.write_text('{"x": "--by=agent-hook-suite"')
    broken = by_name(machine)["claude: wired"]
    assert (broken.status, broken.hint) == (FAIL, "mend the file")


def test_entries_of_the_suite_in_a_strange_form_are_a_failure_and_no_traceback(machine: Machine) -> None:
    machine.have("claude")
    machine.install()
    path = machine.file(".claude/settings.json")
    for strange in ({"command": "x --by=agent-hook-suite", "hooks": 3},
                    {"command": "x --by=agent-hook-suite", "hooks": [None, "y"]}):  # fmt: skip
        path.write_text(json.dumps({"hooks": {"SessionStart": [strange]}}))
        check = by_name(machine)["claude: wired"]
        assert check.status == FAIL
        assert "no hook for UserPromptSubmit" in check.detail


def test_switches_that_turn_all_hooks_off_are_a_failure(machine: Machine) -> None:
    machine.file(".claude/settings.json", '{"disableAllHooks": true}\n')
    machine.file(".gemini/settings.json", '{"hooksConfig": {"enabled": false}} // off\n')
    machine.install()
    found = by_name(machine)
    assert found["claude: allowed"].status == FAIL
    assert found["gemini: allowed"].status == FAIL


def test_a_hook_that_its_user_switched_off_in_gemini_is_a_failure(machine: Machine) -> None:
    machine.file(".gemini/settings.json", '{"hooksConfig": {"disabled": ["agent-hook-suite recall", "x"]}}')
    machine.install()
    assert "agent-hook-suite recall" in by_name(machine)["gemini: allowed"].detail


def test_a_cursor_file_behind_a_link_is_a_failure_because_cursor_refuses_it(machine: Machine) -> None:
    machine.file("dotfiles/hooks.json", '{"version": 1, "hooks": {}}\n')
    machine.have("cursor")
    (machine.home / ".cursor/hooks.json").symlink_to("../dotfiles/hooks.json")
    machine.install()
    assert "symbolic link" in machine.out
    assert by_name(machine)["cursor: allowed"].status == FAIL


def test_launchers_that_are_missing_foreign_or_old_are_a_failure(machine: Machine) -> None:
    machine.have("claude")
    machine.install()
    (machine.home / ".local/bin/hn").unlink()
    machine.file(".local/bin/ai-kb", "mine")
    old = machine.file(".agents/hooks/spec_mirror.py")
    old.write_text(old.read_text().replace("/versions/", "/versions/0.0.1-"))
    found = [c.detail for c in checks.all_checks(machine.env) if c.name == "install: launchers"]
    assert [detail.split(":")[0] for detail in found] == ["missing", "not the suite's", "of another version"]


def test_an_interpreter_that_went_away_is_a_failure(machine: Machine) -> None:
    machine.have("claude")
    machine.install()
    next((machine.home / ".local/share/agent-hook-suite/versions").glob("*/bin/python")).write_text(
        "#!/bin/sh\nexit 9\n"
    )
    assert by_name(machine)["install: environment"].status == FAIL


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 2", "ended with 2 instead of 0"),
        ("echo not json", "not one JSON object"),
        ("echo '[1]'", "not one JSON object"),
        ("echo oh >&2", "complains: oh"),
    ],
)
def test_a_hook_that_misbehaves_is_a_failure(machine: Machine, script: str, words: str) -> None:
    machine.have("claude")
    machine.install()
    machine.file(".agents/hooks/perturn_recall.py", f"#!/bin/sh\n# agent-hook-suite launcher:\n{script}\n")
    check = by_name(machine)["claude: perturn_recall.py"]
    assert check.status == FAIL
    assert words in check.detail


def test_checking_leaves_nothing_behind_although_the_recorder_outlives_the_dispatcher(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine.have("claude")
    machine.install()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    # Records at once, and puts a file beside that half a second later.
    machine.file(
        ".agents/hooks/worklog_dispatcher.sh",
        "#!/bin/sh\n# agent-hook-suite launcher:\ncat >/dev/null\n"
        'mkdir -p "$AGENT_MEMORY_SPEC_ROOT" && : >"$AGENT_MEMORY_SPEC_ROOT/x.worklog.jsonl"\n'
        '{ sleep 0.5; mkdir -p "$AGENT_MEMORY_SPEC_ROOT"; : >"$AGENT_MEMORY_SPEC_ROOT/late"; '
        f': >"{tmp_path}/ended"; }} </dev/null >/dev/null 2>&1 &\n',
    )
    assert by_name(machine)["claude: worklog_dispatcher.sh"].status == OK
    assert (tmp_path / "ended").exists()
    assert list(scratch.iterdir()) == []


def test_a_dispatcher_that_records_nothing_is_a_failure(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.have("claude")
    machine.install()
    monkeypatch.setattr(checks, "LATE_SECONDS", 0.2)
    machine.file(
        ".agents/hooks/worklog_dispatcher.sh",
        "#!/bin/sh\n# agent-hook-suite launcher:\nexec cat >/dev/null\n",
    )
    assert "not in the worklog" in by_name(machine)["claude: worklog_dispatcher.sh"].detail
    (machine.home / ".agents/hooks/worklog_dispatcher.sh").unlink()
    assert "does not run" in by_name(machine)["claude: worklog_dispatcher.sh"].detail


# ---------------------------------------------------------------- Codex's trust


def test_codex_without_trust_is_a_failure_until_it_is_given(machine: Machine) -> None:
    machine.file(".codex/config.toml", 'model = "x" # mine\n')
    codex(machine)
    machine.install()
    assert by_name(machine)["codex: trusted"].status == FAIL
    assert machine.install("--trust-codex", "--dry-run") == 0
    assert "+trusted_hash" in machine.out
    assert machine.install("--trust-codex") == 0
    assert machine.out.count("trusted  ") == 3
    assert by_name(machine)["codex: trusted"].status == OK
    assert machine.install("--trust-codex") == 0
    assert "nothing was changed" in machine.out
    backup = machine.file(".codex/config.toml" + BACKUP_SUFFIX)
    assert backup.read_text() == 'model = "x" # mine\n'
    assert machine.install("--uninstall") == 0
    assert machine.file(".codex/config.toml").read_text() == 'model = "x" # mine\n'
    assert not backup.exists()


def test_trust_is_renewed_when_a_definition_changed(machine: Machine) -> None:
    codex(machine)
    machine.install()
    machine.install("--trust-codex")
    path = machine.file(".codex/hooks.json")
    path.write_text(path.read_text().replace('"timeout": 10', '"timeout": 11', 1))
    assert "SessionStart" in by_name(machine)["codex: trusted"].detail
    machine.install("--trust-codex")
    config = machine.file(".codex/config.toml").read_text()
    assert config.count("[hooks.state.") == 3
    assert by_name(machine)["codex: trusted"].status == OK


def test_trust_that_codex_itself_stored_is_seen_and_left_alone(machine: Machine) -> None:
    codex(machine)
    machine.install()
    machine.install("--trust-codex")
    config = machine.file(".codex/config.toml")
    config.write_text(
        "".join(line for line in config.read_text().splitlines(True) if not line.startswith("#"))
    )
    theirs = config.read_text()
    assert machine.install("--trust-codex") == 0
    assert "trusts the suite's hooks already" in machine.out
    machine.install("--uninstall")
    assert config.read_text() == theirs


def test_hooks_that_the_user_switched_off_in_codex_are_a_failure(machine: Machine) -> None:
    codex(machine)
    machine.install()
    machine.install("--trust-codex")
    config = machine.file(".codex/config.toml")
    config.write_text(config.read_text().replace("trusted_hash", "enabled = false\ntrusted_hash", 1))
    assert "switched off in Codex" in by_name(machine)["codex: trusted"].detail


@pytest.mark.parametrize(
    ("script", "seconds", "words"),
    [
        ("pass", PATIENCE, "ended without an answer"),
        ("import time; time.sleep(600)", 1.0, "did not answer in time"),
        ("import sys; sys.stdin.readline(); print(3)", PATIENCE, "no list of hooks"),
        (
            'import sys; sys.stdin.readline(); print("{\\"id\\": 1, \\"error\\": {}}")',
            PATIENCE,
            "does not list its hooks",
        ),
    ],
)
def test_a_codex_that_cannot_be_asked_is_a_warning(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, script: str, seconds: float, words: str
) -> None:
    codex(machine, script)
    machine.install()
    real = codex_trust.ask
    monkeypatch.setattr(codex_trust, "ask", lambda env, path: real(env, path, seconds))
    check = by_name(machine)["codex: trusted"]
    assert check.status == WARN
    assert words in check.detail
    assert machine.install("--trust-codex") == 1


def test_without_codex_nothing_is_stored(machine: Machine) -> None:
    machine.have("codex")
    machine.install()
    assert machine.install("--trust-codex") == 1
    assert "codex is not on PATH" in machine.err
    assert not machine.file(".codex/config.toml").exists()


# ---------------------------------------------------------------- OpenCode's plugin

NODE = shutil.which("node")
DRIVER = """
import fs from "node:fs"
const { AgentHookSuite } = await import(process.argv[2])
const hooks = await AgentHookSuite({ directory: process.argv[3] })
const prompt = async (id, text) => {
  const part = { id: "prt_22bbdb551001BUg2uVTD4Fkxob", type: "text", text }
  const output = { message: { id: "msg_1" }, parts: [part] }
  await hooks["chat.message"]({ sessionID: id }, output)
  return output.parts
}
const event = (type, properties) => hooks.event({ event: { type, properties } })
const code = `return (async () => { ${process.argv[4]} })()`
const answer = await new Function("hooks", "prompt", "event", code)(hooks, prompt, event)
console.log(JSON.stringify(answer ?? null))
"""


Call = Callable[[str], Any]


@pytest.mark.skipif(NODE is None, reason="node is not installed")
class TestOpenCodePlugin:
    @pytest.fixture
    def run(self, machine: Machine, tmp_path: Path, repository: Path) -> Call:
        machine.have("opencode")
        machine.install()
        plugin = tmp_path / "plugin.mjs"
        installed = machine.home / ".config/opencode/plugins/agent-hook-suite.js"
        plugin.write_text(checkouts.patient(installed.read_text(), "hooks/adapters/opencode.js"))
        driver = tmp_path / "driver.mjs"
        driver.write_text(DRIVER)

        def call(code: str) -> Any:
            done = subprocess.run(
                [str(NODE), str(driver), str(plugin), str(repository), code],
                env=machine.env, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert (done.returncode, done.stderr) == (0, "")
            return json.loads(done.stdout)

        return call

    def test_gives_the_start_context_once_in_a_session_whatever_the_process(self, run: Call) -> None:
        parts = run('return await prompt("ses_1", "please look at it")')
        assert [part.get("synthetic") for part in parts] == [None, True]
        ours = parts[1]
        assert "Session memory" in ours["text"]
        assert ours["id"] > parts[0]["id"]
        assert (ours["sessionID"], ours["messageID"], ours["type"]) == ("ses_1", "msg_1", "text")
        assert len(run('return await prompt("ses_1", "and again")')) == 1
        assert len(run('return await prompt("ses_2", "another")')) == 2

    def test_gives_it_again_after_a_compaction_in_an_earlier_process(self, run: Call) -> None:
        run('return await prompt("ses_1", "first")')
        run('return await event("session.compacted", { sessionID: "ses_1" })')
        assert "Session memory" in run('return await prompt("ses_1", "second")')[1]["text"]
        assert len(run('return await prompt("ses_1", "third")')) == 1

    def test_goes_on_after_a_compaction_within_a_turn_by_the_system_prompt(self, run: Call) -> None:
        code = """
            await prompt("ses_1", "first"); await event("session.compacted", { sessionID: "ses_1" })
            const ask = async (id) => { const o = { system: [] };
              await hooks["experimental.chat.system.transform"]({ sessionID: id }, o)
              return o.system.length }
            const during = [await ask("ses_1"), await ask("ses_1"), await ask("ses_2"), await ask(undefined)]
            const parts = await prompt("ses_1", "next")
            return [...during, parts.length, await ask("ses_1")]"""
        assert run(code) == [1, 1, 0, 0, 2, 0]

    def test_leaves_sub_agents_alone(self, run: Call) -> None:
        run('return await event("session.created", { info: { id: "ses_child", parentID: "ses_1" } })')
        assert len(run('return await prompt("ses_child", "do it")')) == 1

    def test_records_tools_and_failed_tools_once(self, run: Call, machine: Machine) -> None:
        run("""
            const state = { status: "error", error: "no" }
            const part = { type: "tool", tool: "read", callID: "c2", sessionID: "ses_1", state }
            await hooks["tool.execute.after"](
              { tool: "bash", sessionID: "ses_1", callID: "c1", args: { command: "ls" } },
              { title: "ls", output: "x", metadata: { exit: 3 } })
            await event("message.part.updated", { part })
            await event("message.part.updated", { part })""")
        specs = Path(machine.env["AGENT_MEMORY_SPEC_ROOT"])
        deadline = time.monotonic() + PATIENCE
        entries: list[dict[str, str]] = []
        while len(entries) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
            lines = [
                line for path in specs.rglob("*.worklog.jsonl") for line in path.read_text().splitlines()
            ]
            entries = [json.loads(line) for line in lines]
        assert [(entry["tool_name"], entry["status"]) for entry in entries] == [
            ("bash", "failed"),
            ("read", "failed"),
        ]

    def test_remembers_where_the_user_says_and_not_where_a_repository_does(
        self, run: Call, machine: Machine, repository: Path, tmp_path: Path
    ) -> None:
        def noted(session: str, state: Path) -> bool:
            """Whether the start context came, and is noted there."""
            assert len(run(f'return await prompt("{session}", "please look at it")')) == 2, session
            note = state / f"agent-hook-suite/opencode/{session}.json"
            return note.exists() and json.loads(note.read_text()) == {"started": True}

        default = machine.home / ".local/state"
        planted = repository / "state/agent-hook-suite/opencode"
        planted.mkdir(parents=True)
        for n in range(5):
            (planted / f"ses_{n}.json").write_text('{"started": true, "parent": "ses_9"}')
        (tmp_path / "link").symlink_to(repository / "state")
        (tmp_path / "file").touch()
        before = sorted(repository.rglob("*.json"))
        for n, value in enumerate((repository / "state", tmp_path / "link", repository / "new/x", "state")):
            machine.env["XDG_STATE_HOME"] = str(value)
            assert noted(f"ses_{n}", default), value
        machine.env["XDG_STATE_HOME"] = str(tmp_path / "file/x")
        assert noted("ses_5", default)
        machine.env["XDG_STATE_HOME"] = str(tmp_path / "my state")
        assert noted("ses_6", tmp_path / "my state")
        assert (tmp_path / "my state/agent-hook-suite").stat().st_mode & 0o077 == 0
        assert sorted(repository.rglob("*.json")) == before

    def test_never_throws_and_never_hangs_on_what_it_does_not_understand(
        self, run: Call, machine: Machine
    ) -> None:
        code = """
            for (const hook of Object.values(hooks))
              for (const given of [[], [null, null], [{}, {}], [{ sessionID: 3 }, { parts: 1 }]])
                await hook(...given)
            return "fine" """
        assert run(code) == "fine"
        shutil.rmtree(machine.home / ".agents/hooks")
        assert len(run('return await prompt("ses_9", "hooks are gone")')) == 1
