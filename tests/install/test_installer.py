"""Install, run again, look, undo: on a scratch home, with every kind of configuration a user may have."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agent_base import shell
from agent_base.cli import Console, utc_now
from agent_install import changes, cli, manifest, runtime
from agent_install.harnesses import BY_NAME, HARNESSES

if TYPE_CHECKING:
    from conftest import Machine

ALL = tuple(BY_NAME)
FOREIGN = {"hooks": [{"type": "command", "command": "python3 ~/other.py"}]}
CLAUDE = ".claude/settings.json"
GEMINI = ".gemini/settings.json"
CURSOR = ".cursor/hooks.json"
CODEX = ".codex/hooks.json"


def pretty(value: Any) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


# What users have, per harness's file: name → (file, content).
CORPUS: dict[str, tuple[str, bytes]] = {
    "empty": (CLAUDE, b""),
    "an empty object": (CLAUDE, b"{}\n"),
    "an odd empty object": (CLAUDE, b"{ \n }"),
    "comments": (CLAUDE, b'// mine\n{\n  // yes\n  "model": "opus", // best\n}\n'),
    "a comment behind the last value": (CLAUDE, b'{"model": "opus" // best\n}\n'),
    "other hooks on the same events": (
        CLAUDE,
        pretty({"hooks": {"SessionStart": [FOREIGN], "PostToolUse": [FOREIGN]}}),
    ),
    "other hooks": (CLAUDE, pretty({"hooks": {"Stop": [FOREIGN]}, "env": {"A": "b"}})),
    "empty hooks": (CLAUDE, b'{"hooks":{"SessionStart":[],"Stop":[]}}'),
    "a byte-order mark": (GEMINI, b'\xef\xbb\xbf{\n  "theme": "x"\n}\n'),
    "CRLF": (GEMINI, b'{\r\n    "theme": "x",\r\n    "hooks": {}\r\n}\r\n'),
    "trailing commas": (GEMINI, b'{\n\t"a": [1,],\n}\n'),
    "no line break at the end": (CURSOR, b'{"version":1,"hooks":{"stop":[{"command":"x"}]}}'),
    "a version of its own": (CURSOR, pretty({"version": 1, "hooks": {"sessionStart": [{"command": "x"}]}})),
    "Codex's own hooks": (CODEX, pretty({"hooks": {"SessionStart": [FOREIGN], "Stop": [FOREIGN]}})),
    "Codex's hooks in config.toml": (
        ".codex/config.toml",
        b'model = "x" # best\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n'
        b'type = "command"\ncommand = "x"\n\n# end\n',
    ),
    "five megabytes": (
        CLAUDE,
        b'{\n  "p": [\n' + b",\n".join(b'    "%0200d"' % n for n in range(25_000)) + b"\n  ]\n}\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CORPUS)
def test_install_then_uninstall_leaves_every_file_as_it_was(machine: Machine, name: str) -> None:
    file, content = CORPUS[name]
    machine.file(file, content, 0o640)
    before = machine.snapshot()
    assert machine.install() == 0, machine.err
    assert machine.file(file).read_bytes() != content
    assert machine.file(file).stat().st_mode & 0o777 == 0o640
    assert machine.install("--uninstall") == 0, machine.err
    after = machine.snapshot()
    after.pop(".local/share", None)
    before.pop(".local/share", None)
    assert {k: v for k, v in after.items() if "agent-hook-suite" not in k} == {
        k: v for k, v in before.items() if "agent-hook-suite" not in k
    }


@pytest.mark.parametrize("name", CORPUS)
def test_the_second_run_changes_nothing(machine: Machine, name: str) -> None:
    file, content = CORPUS[name]
    machine.file(file, content)
    assert machine.install() == 0
    first = machine.snapshot()
    stamps = {path: path.stat().st_mtime_ns for path in machine.home.rglob("*") if path.is_file()}
    assert machine.install() == 0
    assert "nothing was changed" in machine.out
    assert machine.snapshot() == first
    lock = ".install.lock"
    assert {p: p.stat().st_mtime_ns for p in stamps if p.name != lock} == {
        p: t for p, t in stamps.items() if p.name != lock
    }


@pytest.mark.parametrize("name", CORPUS)
def test_a_dry_run_prints_a_diff_and_writes_nothing(machine: Machine, name: str) -> None:
    file, content = CORPUS[name]
    path = machine.file(file, content)
    before = machine.snapshot()
    assert machine.install("--dry-run") == 0
    assert machine.snapshot() == before
    assert f"--- {path}" in machine.out
    assert re.search(r"^\+.*--by=agent-hook-suite", machine.out, re.MULTILINE)


@pytest.mark.parametrize("name", CORPUS)
def test_a_backup_beside_each_changed_file_holds_what_was_there(machine: Machine, name: str) -> None:
    file, content = CORPUS[name]
    path = machine.file(file, content)
    machine.install()
    backup = Path(str(path) + changes.BACKUP_SUFFIX)
    assert backup.read_bytes() == content
    assert backup.stat().st_mode & 0o077 == 0
    machine.install("--uninstall")
    assert not backup.exists()


def test_every_harness_gets_its_hooks_for_start_prompt_and_tools(machine: Machine) -> None:
    machine.have(*ALL)
    assert machine.install() == 0, machine.err
    hooks = machine.layout.hooks
    for harness in HARNESSES:
        text = Path(harness.config(machine.env)).read_text()
        for hook in ("session_context.py", "perturn_recall.py", "worklog_dispatcher.sh"):
            path = os.path.join(hooks, hook)
            in_json = json.dumps(shlex.quote(path))[1:-1]
            assert text.count(json.dumps(path) if harness.name == "opencode" else in_json) >= 1, hook
    claude = json.loads(machine.file(CLAUDE).read_text())
    assert set(claude["hooks"]) == {"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"}
    # A group with a matcher would be run by Cursor as well.
    assert all("matcher" not in group for groups in claude["hooks"].values() for group in groups)
    codex = json.loads(machine.file(CODEX).read_text())
    assert codex["hooks"]["SessionStart"][0]["hooks"][0]["additionalContextLimit"] == 8000
    gemini = json.loads(machine.file(GEMINI).read_text())
    assert all(h["timeout"] >= 1000 for g in gemini["hooks"].values() for group in g for h in group["hooks"])
    cursor = json.loads(machine.file(CURSOR).read_text())
    assert cursor["version"] == 1
    copilot = json.loads(machine.file(".copilot/hooks/agent-hook-suite.json").read_text())
    assert copilot["version"] == 1
    assert "Stop" not in str([claude, codex, gemini, cursor, copilot])
    assert "/hooks" in machine.out  # Codex's trust is explained


def commands(machine: Machine) -> list[tuple[str, str]]:
    """Harness and command line of every hook in every JSON configuration."""
    found = []
    for harness in HARNESSES:
        if harness.name == "opencode":
            continue

        def walk(value: Any, name: str = harness.name) -> None:
            if isinstance(value, dict):
                for key, inner in value.items():
                    if key in ("command", "bash") and isinstance(inner, str):
                        found.append((name, inner))
                    walk(inner, name)
            elif isinstance(value, list):
                for inner in value:
                    walk(inner, name)

        walk(json.loads(Path(harness.config(machine.env)).read_text()))
    return found


def test_every_command_line_names_its_harness_and_runs_in_a_shell_despite_spaces_and_quotes(
    machine: Machine,
) -> None:
    machine.have(*ALL)
    machine.install()
    lines = commands(machine)
    assert len(lines) == 18
    for harness, line in lines:
        words = shlex.split(line)
        assert words[words.index("--harness") + 1] == harness
        assert words[-1] == "--by=agent-hook-suite"
        assert os.access(words[0], os.X_OK)
        # Cursor appends a here-document to the command.
        done = subprocess.run(
            ["/bin/sh", "-c", f"{line} <<'END'\n{{}}\nEND\n"],
            capture_output=True, env=machine.env, cwd=machine.home, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (line, done.stderr)


def test_only_harnesses_that_are_there_are_wired(machine: Machine) -> None:
    machine.have("claude", "gemini")
    machine.install()
    assert machine.file(CLAUDE).exists()
    assert not (machine.home / ".codex").exists()
    assert not (machine.home / ".cursor").exists()


def test_a_client_on_path_counts_as_there(machine: Machine) -> None:
    program = machine.file("bin/codex", "#!/bin/sh\n", 0o755)
    machine.env["PATH"] += f":{program.parent}"
    machine.install()
    assert machine.file(CODEX).exists()
    machine.install("--uninstall")
    assert not (machine.home / ".codex").exists()


def test_harness_chooses_and_leaves_the_others_wired(machine: Machine) -> None:
    machine.have(*ALL)
    machine.install("--harness", "claude,codex")
    assert not machine.file(GEMINI).exists()
    machine.install("--harness", "gemini")
    assert machine.file(CLAUDE).exists()
    assert machine.install("--uninstall", "--harness", "claude") == 0
    assert not machine.file(CLAUDE).exists()
    assert machine.file(GEMINI).exists()
    assert (machine.home / ".agents/hooks/session_context.py").exists()
    assert machine.install("--harness", "vim") == 2
    assert "no such harness: vim" in machine.err


def test_none_wires_none_but_installs_the_commands(machine: Machine) -> None:
    machine.have(*ALL)
    assert machine.install("--harness", "none") == 0
    assert (machine.home / ".local/bin/,ai-kb").exists()
    assert not machine.file(CLAUDE).exists()


UNUSABLE: dict[str, tuple[str, bytes, str]] = {
    "does not parse": (CLAUDE, b'{"model": "opus"', "does not parse (line 1"),
    "merge conflict": (GEMINI, b'{\n<<<<<<< HEAD\n}\n', "does not parse (line 2"),
    "hooks an array": (CLAUDE, b'{"hooks": []}', 'object at "hooks", found an array'),
    "an event an object": (GEMINI, b'{"hooks": {"AfterTool": {}}}', "found an object"),
    "an array": (CURSOR, b"[1]", "found an array"),
    "not UTF-8": (CODEX, b'{"a": "\xff"}', "byte 7 is not UTF-8"),
    "broken TOML": (".codex/config.toml", b"model = \n", "does not parse"),
    "TOML hooks in another form": (
        ".codex/config.toml",
        b"[hooks]\nStop = []\nSessionStart = []\n",
        "cannot be extended",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_cannot_be_used_is_left_exactly_as_it_is_and_the_others_are_wired(
    machine: Machine, name: str
) -> None:
    file, content, words = UNUSABLE[name]
    machine.have(*ALL)
    path = machine.file(file, content, 0o644)
    stamp = path.stat().st_mtime_ns
    assert machine.install() == 1
    assert words in machine.err
    assert str(path) in machine.err
    assert "left exactly as it is" in machine.err or "left as it is" in machine.err
    assert path.read_bytes() == content
    assert path.stat().st_mtime_ns == stamp
    assert not Path(str(path) + changes.BACKUP_SUFFIX).exists()
    others = [h for h in HARNESSES if h.directory(machine.env) != str(path.parent)]
    wired = [h for h in others if Path(h.config(machine.env)).exists()]
    assert len(wired) >= 4
    assert machine.install("--uninstall") == 0, machine.err
    assert path.read_bytes() == content


def test_a_read_only_file_is_left_alone(machine: Machine) -> None:
    path = machine.file(CLAUDE, "{}\n", 0o444)
    assert machine.install() == 1
    assert "read-only" in machine.err
    assert path.read_bytes() == b"{}\n"


def test_a_directory_or_a_device_in_the_place_of_a_file_is_left_alone(machine: Machine) -> None:
    (machine.home / CLAUDE).mkdir(parents=True)
    machine.have("gemini")
    os.mkfifo(machine.home / GEMINI)
    assert machine.install() == 1
    assert machine.err.count("it was left as it is") == 2


def test_what_can_never_have_been_written_does_not_stop_an_uninstall(machine: Machine) -> None:
    machine.have("claude", "gemini", "cursor", "copilot")
    (machine.home / CLAUDE).symlink_to("settings.json")
    (machine.home / GEMINI).mkdir()
    machine.file(".copilot/hooks", "a file where a directory has to be")
    assert machine.install() == 1
    assert "levels of symbolic links" in machine.err
    assert machine.file(CURSOR).exists()
    (machine.home / CURSOR).unlink()
    (machine.home / CURSOR).symlink_to("hooks.json")
    assert machine.install("--uninstall") == 1  # something was written there
    assert machine.err.count("\n") == 1
    assert (machine.home / ".local/share/agent-hook-suite/versions").exists()
    (machine.home / CURSOR).unlink()
    assert machine.install("--uninstall") == 0, machine.err
    assert not (machine.home / ".local/share/agent-hook-suite").exists()
    assert (machine.home / CLAUDE).is_symlink()


def test_a_symlinked_dotfile_stays_a_link_and_its_target_is_changed(machine: Machine) -> None:
    target = machine.file("dotfiles/claude.json", '{"model": "opus"}\n', 0o600)
    (machine.home / ".claude").mkdir()
    link = machine.home / CLAUDE
    link.symlink_to("../dotfiles/claude.json")
    machine.install()
    assert link.is_symlink()
    assert "SessionStart" in json.loads(target.read_text())["hooks"]
    assert not list((machine.home / "dotfiles").glob("*before*"))  # no litter in somebody's repository
    machine.install("--uninstall")
    assert link.is_symlink()
    assert target.read_text() == '{"model": "opus"}\n'


def test_a_link_that_leads_nowhere_gets_its_target(machine: Machine) -> None:
    (machine.home / ".claude").mkdir()
    (machine.home / "dotfiles").mkdir()
    link = machine.home / CLAUDE
    link.symlink_to(machine.home / "dotfiles/claude.json")
    assert machine.install() == 0
    assert link.is_symlink()
    assert (machine.home / "dotfiles/claude.json").exists()
    machine.install("--uninstall")
    assert link.is_symlink()
    assert not (machine.home / "dotfiles/claude.json").exists()


def test_a_symlinked_directory_is_followed(machine: Machine) -> None:
    machine.file("dotfiles/claude/settings.json", "{}\n")
    (machine.home / ".claude").symlink_to("dotfiles/claude")
    machine.install()
    assert "hooks" in json.loads((machine.home / "dotfiles/claude/settings.json").read_text())
    machine.install("--uninstall")
    assert (machine.home / "dotfiles/claude/settings.json").read_text() == "{}\n"
    assert (machine.home / ".claude").is_symlink()


def test_variables_that_the_clients_honour_move_their_files(machine: Machine, tmp_path: Path) -> None:
    machine.env |= {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "c c"),
        "CODEX_HOME": str(tmp_path / "x"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "COPILOT_HOME": str(tmp_path / "p"),
        "GEMINI_CLI_HOME": str(tmp_path / "g"),
    }
    places = ["c c/settings.json", "x/hooks.json", "config/opencode/plugins/agent-hook-suite.js",
              "p/hooks/agent-hook-suite.json", "g/.gemini/settings.json"]  # fmt: skip
    assert machine.install("--harness", "claude,codex,opencode,copilot,gemini") == 0, machine.err
    assert all((tmp_path / place).is_file() for place in places)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"):
        del machine.env[name]
    assert machine.install("--uninstall") == 0  # the manifest remembers
    assert not any((tmp_path / place).exists() for place in places)


def test_the_data_directory_follows_xdg(isolated: dict[str, str], machine: Machine, tmp_path: Path) -> None:
    from agent_install.layout import Layout

    machine.env["XDG_DATA_HOME"] = str(tmp_path / "share")
    layout = Layout.of(machine.env)
    assert layout.data == str(tmp_path / "share/agent-hook-suite")
    assert layout.fish.startswith(str(tmp_path / "share"))


def test_codex_hooks_go_where_the_users_own_are(machine: Machine) -> None:
    machine.file(".codex/config.toml", CORPUS["Codex's hooks in config.toml"][1])
    machine.install()
    assert not machine.file(CODEX).exists()
    machine.install("--uninstall")
    machine.file(".codex/config.toml", 'model = "x"\n')
    machine.install()
    assert machine.file(CODEX).exists()
    assert machine.file(".codex/config.toml").read_text() == 'model = "x"\n'


# ---------------------------------------------------------------- when others changed files in between


def test_uninstall_after_somebody_else_edited_the_file_takes_out_only_ours(machine: Machine) -> None:
    machine.file(CLAUDE, pretty({"model": "opus", "hooks": {"Stop": [FOREIGN]}}))
    machine.install()
    value = json.loads(machine.file(CLAUDE).read_text())
    value["model"] = "sonnet"
    value["hooks"]["SessionStart"].append(FOREIGN)
    machine.file(CLAUDE, pretty(value))
    assert machine.install("--uninstall") == 0
    assert json.loads(machine.file(CLAUDE).read_text()) == {
        "model": "sonnet",
        "hooks": {"Stop": [FOREIGN], "SessionStart": [FOREIGN]},
    }
    assert Path(str(machine.file(CLAUDE)) + changes.BACKUP_SUFFIX).read_bytes() == pretty(value)


@pytest.mark.parametrize("empty", ["{ }", "{\n\n  }", '{ "SessionStart": [ ] }', "{ /* none */ }"])
def test_a_container_that_becomes_empty_again_is_as_it_was_although_a_client_edited_the_file(
    machine: Machine, empty: str
) -> None:
    before = f'{{\n  "model": "opus",\n  "hooks": {empty}\n}}\n'
    path = machine.file(CLAUDE, before)
    machine.install()
    path.write_text(path.read_text().replace("opus", "sonnet"))
    assert machine.install("--uninstall") == 0, machine.err
    assert path.read_text() == before.replace("opus", "sonnet")


def test_what_version_0_1_0_noted_of_containers_is_understood(machine: Machine) -> None:
    path = machine.file(CLAUDE, '{"model": "opus", "hooks": {"SessionStart": []}}\n')
    machine.install()
    noted = machine.file(".local/share/agent-hook-suite/install.json")
    value = json.loads(noted.read_text())
    assert value["files"][str(path)]["kept"] == {"root": "", "hooks": "", "hooks.SessionStart": ""}
    value["files"][str(path)]["kept"] = ["", "SessionStart"]
    noted.write_text(json.dumps(value))
    path.write_text(path.read_text().replace("opus", "sonnet"))
    assert machine.install("--uninstall") == 0, machine.err
    assert path.read_text() == '{"model": "sonnet", "hooks": {"SessionStart": []}}\n'


def test_uninstall_without_the_manifest_goes_by_the_marker(machine: Machine) -> None:
    machine.have(*ALL)
    machine.file(CLAUDE, pretty({"model": "opus"}))
    machine.install("--skill")
    (machine.home / ".local/share/agent-hook-suite/install.json").unlink()
    assert machine.install("--uninstall") == 0
    left = [p for p in machine.home.rglob("*") if p.is_file() and b"agent-hook-suite" in p.read_bytes()]
    assert all(p.name.endswith(changes.BACKUP_SUFFIX) for p in left)
    assert machine.file(CLAUDE).read_bytes() == pretty({"model": "opus"})


def test_a_damaged_manifest_stops_an_install_and_not_an_uninstall(machine: Machine) -> None:
    machine.have("claude")
    machine.install()
    machine.file(".local/share/agent-hook-suite/install.json", b'{"files": 3}')
    assert machine.install() == 1
    assert "damaged" in machine.err
    assert machine.install("--uninstall") == 0
    # Without the manifest nobody knows that the installer made the file; its entries are gone.
    assert machine.file(CLAUDE).read_bytes() == b"{}\n"


def test_entries_of_an_earlier_version_are_replaced_in_place_of_being_doubled(machine: Machine) -> None:
    old = {"hooks": [{"type": "command", "command": "/old/place/start.py --by=agent-hook-suite"}]}
    machine.file(CLAUDE, pretty({"hooks": {"SessionStart": [FOREIGN, old], "Stop": [old]}, "z": 1}))
    machine.install()
    value = json.loads(machine.file(CLAUDE).read_text())
    assert value["hooks"]["SessionStart"][0] == FOREIGN
    assert len(value["hooks"]["SessionStart"]) == 2
    assert "/old/place" not in json.dumps(value)
    assert "Stop" not in value["hooks"]
    machine.install("--uninstall")
    assert json.loads(machine.file(CLAUDE).read_text()) == {"hooks": {"SessionStart": [FOREIGN]}, "z": 1}


def test_hooks_that_the_user_moved_about_count_as_wired(machine: Machine) -> None:
    machine.file(CLAUDE, "{}\n")
    machine.install()
    value = json.loads(machine.file(CLAUDE).read_text())
    value["hooks"]["SessionStart"].append(FOREIGN)
    value = {"x": 1, "hooks": dict(reversed(value["hooks"].items()))}
    machine.file(CLAUDE, pretty(value))
    assert machine.install() == 0
    assert machine.file(CLAUDE).read_bytes() == pretty(value)


def test_a_file_changed_between_reading_and_writing_is_not_overwritten(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = machine.file(CLAUDE, "{}\n")
    real = changes.apply

    def late(change: changes.Change) -> list[str]:
        if change.path == str(path):
            path.write_text('{"new": 1}\n')
        return real(change)

    with monkeypatch.context() as patch:
        patch.setattr(changes, "apply", late)
        assert machine.install() == 1
    assert "changed by somebody else" in machine.err
    assert path.read_text() == '{"new": 1}\n'
    assert machine.install("--uninstall") == 0
    assert path.read_text() == '{"new": 1}\n'


def test_a_full_disk_leaves_the_file_whole_and_no_temporary_file(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = machine.file(CLAUDE, "{}\n")
    real = changes.write_atomic

    def full(target: str, data: bytes, **keywords: Any) -> None:
        if target == str(path):
            raise OSError(28, "No space left on device")
        real(target, data, **keywords)

    monkeypatch.setattr(changes, "write_atomic", full)
    assert machine.install() == 1
    assert "No space left" in machine.err
    assert path.read_text() == "{}\n"


# ---------------------------------------------------------------- own files


def test_somebody_elses_file_at_a_launchers_place_is_not_overwritten(machine: Machine) -> None:
    machine.have("claude")
    mine = machine.file(".local/bin/hn", "#!/bin/sh\necho mine\n", 0o755)
    assert machine.install() == 1
    assert f"{mine} is there and was not made by the suite" in machine.err
    assert mine.read_text() == "#!/bin/sh\necho mine\n"
    assert machine.file(CLAUDE).exists()  # the hooks do not need it


def test_hooks_of_others_at_our_place_are_not_wired(machine: Machine) -> None:
    machine.have("claude")
    mine = machine.file(".agents/hooks/session_context.py", "print('mine')\n")
    assert machine.install() == 1
    assert "was not wired" in machine.err
    assert not machine.file(CLAUDE).exists()
    assert mine.read_text() == "print('mine')\n"


def test_force_replaces_and_uninstall_puts_back(machine: Machine) -> None:
    mine = machine.file(".local/bin/hn", "#!/bin/sh\necho mine\n", 0o700)
    before = machine.snapshot()
    assert machine.install("--force") == 0, machine.err
    assert b"agent-hook-suite launcher" in mine.read_bytes()
    machine.install()  # an upgrade keeps what was there first
    assert machine.install("--uninstall") == 0
    assert mine.read_text() == "#!/bin/sh\necho mine\n"
    assert mine.stat().st_mode & 0o777 == 0o700
    assert {k: v for k, v in machine.snapshot().items() if ".local/bin" in k} == {
        k: v for k, v in before.items() if ".local/bin" in k
    }


def test_the_skill_goes_where_harnesses_look_if_asked_and_stays_across_upgrades(machine: Machine) -> None:
    machine.have("claude", "codex")
    machine.install()
    places = [machine.home / p / "skills/agent-memory/SKILL.md" for p in (".claude", ".agents")]
    assert not any(place.exists() for place in places)
    machine.install("--skill")
    assert all(place.read_text().startswith("---\nname: agent-memory\ndescription: ") for place in places)
    machine.install()
    assert all(place.exists() for place in places)
    machine.install("--uninstall")
    assert not (machine.home / ".claude/skills").exists()
    assert not (machine.home / ".agents").exists()


def test_a_skill_that_its_user_edited_is_kept_beside_its_place(machine: Machine) -> None:
    machine.have("claude")
    machine.install("--skill")
    skill = machine.home / ".claude/skills/agent-memory/SKILL.md"
    skill.write_text(skill.read_text() + "my own line\n")
    machine.install("--uninstall")
    assert not skill.exists()
    assert "my own line" in Path(str(skill) + changes.BACKUP_SUFFIX).read_text()


# ---------------------------------------------------------------- purge


def test_purge_says_what_and_removes_the_data(machine: Machine) -> None:
    machine.have("claude")
    machine.install()
    data = {
        machine.file(".local/share/ai-kb/home.git/HEAD", "ref"),
        machine.file(".local/share/ai-kb/home.git/hn/identities/0a.json", "{}"),
        machine.file(".local/state/agent-hook-suite/accepted.json", "{}"),
        machine.file(".cache/agent-hook-suite/index.sqlite", "x"),
        machine.file(".config/agent-memory/prefix.txt", "x"),
        Path(machine.env["AGENT_MEMORY_SPEC_ROOT"]) / "topic.txt",
        Path(machine.env["AGENT_MEMORY_MIRROR_ROOT"]) / "topic.txt",
    }
    for path in data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    keep = machine.file("notes.txt", "mine")
    assert machine.install("--uninstall", "--dry-run", "--purge") == 0
    assert all(path.exists() for path in data)
    assert machine.install("--uninstall", "--purge") == 2
    assert "nobody is at a terminal to be asked" in machine.err
    assert all(path.exists() for path in data)
    assert (machine.home / ".claude/settings.json").exists()
    assert machine.install("--uninstall") == 0
    assert "--purge removes it" in machine.out
    assert all(path.exists() for path in data)
    assert machine.install("--uninstall", "--purge", "--yes") == 0
    assert "key that signs" in machine.out
    store = machine.home / ".local/share/ai-kb/home.git"
    assert f"with the private key {store}/hn/identities/0a.json" in machine.out
    assert f"keep a copy before: cd {shell.word(str(store))} && hn identity backup FILE" in machine.out
    assert not any(path.exists() for path in data)
    assert keep.read_text() == "mine"


def test_purge_needs_uninstall_and_the_whole(machine: Machine) -> None:
    assert machine.install("--purge") == 2
    assert machine.install("--uninstall", "--yes") == 2
    assert machine.install("--uninstall", "--purge", "--harness", "claude") == 2


@pytest.mark.parametrize(
    "words",
    ["--json", "--status --skill", "--uninstall --skill", "--uninstall --force", "--status --dry-run",
     "--trust-codex --force", "--trust-codex --harness claude", "--harness ,", "--uninstall --status",
     "--uninstall --json", "install"],
)  # fmt: skip
def test_an_option_that_would_mean_nothing_is_a_usage_error_and_nothing_is_done(
    machine: Machine, words: str
) -> None:
    machine.have(*ALL)
    before = machine.snapshot()
    assert machine.install(*words.split()) == 2
    assert machine.snapshot() == before
    if "--json" in words:
        assert "--json goes with --status" in json.loads(machine.out)["error"]["message"]
    else:
        assert machine.err.count("\n") == 1
        assert "uninstall?" not in machine.err


def test_a_mistyped_option_gets_the_one_that_was_meant(machine: Machine) -> None:
    assert machine.install("--unistall") == 2
    assert "did you mean --uninstall?" in machine.err
    assert machine.install("uninstall") == 2
    assert "did you mean --uninstall?" in machine.err


def test_what_a_person_is_told_to_type_has_its_paths_quoted(machine: Machine) -> None:
    machine.install()
    for pattern, place in (
        (r"export PATH=(.*):\"", machine.layout.bin),
        (r"fpath\+=\((.*)\)", machine.layout.zsh),
    ):
        (quoted,) = re.findall(pattern, machine.out)
        assert shlex.split(quoted) == [place]


def test_purge_removes_a_link_and_not_what_it_leads_to(machine: Machine) -> None:
    elsewhere = machine.file("elsewhere/HEAD", "x").parent
    (machine.home / ".local/share/ai-kb").symlink_to(elsewhere)
    assert machine.install("--uninstall", "--purge", "--yes") == 0
    assert not (machine.home / ".local/share/ai-kb").is_symlink()
    assert (elsewhere / "HEAD").exists()


def test_without_a_home_nothing_is_done(machine: Machine) -> None:
    machine.env["HOME"] = str(machine.home / "missing")
    assert machine.install() == 1
    assert "no home directory" in machine.err


def test_the_manifest_names_each_file_once_and_is_private(machine: Machine) -> None:
    machine.have(*ALL)
    machine.install()
    path = machine.home / ".local/share/agent-hook-suite/install.json"
    assert path.stat().st_mode & 0o077 == 0
    loaded = manifest.Manifest.load(str(path.parent))
    assert {entry.owner for entry in loaded.files.values()} >= {"launcher", "completion"}
    for name, entry in loaded.files.items():
        assert manifest.digest(Path(name).read_bytes()) == entry.installed


def test_purge_refuses_a_directory_around_the_home_and_keeps_what_else_a_chosen_one_holds(
    machine: Machine,
) -> None:
    notes = machine.file("kb/notes.txt", "mine")
    machine.file("kb/home.git/HEAD", "ref")
    machine.env["AI_KB_HOME"] = str(notes.parent)
    assert machine.install("--uninstall", "--purge", "--yes") == 0
    assert notes.read_text() == "mine"
    assert not (notes.parent / "home.git").exists()
    machine.env["AGENT_MEMORY_SPEC_ROOT"] = str(machine.home.parent)
    assert machine.install("--uninstall", "--purge", "--yes") == 1
    assert "holds the home directory" in machine.err
    assert notes.exists()


class Terminal:
    """Streams that say they are a terminal, with a person who types ``answer``."""

    def __init__(self, machine: Machine, answer: str) -> None:
        class Typed(io.StringIO):
            def isatty(self) -> bool:
                return True

        self.out = io.StringIO()
        self.console = Console(
            env=machine.env, stdin=Typed(answer), stdout=self.out, stderr=Typed(), now=utc_now, cwd="/"
        )


@pytest.mark.parametrize(("answer", "code"), [("yes\n", 0), ("Y\n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_a_person_at_a_terminal_is_asked_before_data_goes(machine: Machine, answer: str, code: int) -> None:
    data = machine.file(".local/share/ai-kb/home.git/HEAD", "ref")
    machine.have("claude")
    machine.install()
    settings = (machine.home / CLAUDE).read_bytes()
    terminal = Terminal(machine, answer)
    assert cli.main(["--uninstall", "--purge"], terminal.console) == code
    assert data.exists() == bool(code)
    assert ((machine.home / CLAUDE).exists() and (machine.home / CLAUDE).read_bytes() == settings) == bool(
        code
    )
    if code:
        assert "nothing was removed" in terminal.out.getvalue()


def test_an_uninstall_dry_run_shows_what_would_go_and_changes_nothing(machine: Machine) -> None:
    machine.file(CLAUDE, pretty({"model": "opus"}))
    machine.install()
    before = machine.snapshot()
    assert machine.install("--uninstall", "--dry-run", "--purge") == 0
    assert "-  " in machine.out
    assert f"would remove {machine.layout.bin}/hn (8 lines)\n" in machine.out
    assert "#!/bin/sh" not in machine.out
    assert "would remove the environment" in machine.out
    assert machine.snapshot() == before
    assert machine.install("--uninstall", "--dry-run", "--harness", "claude") == 0
    assert "would remove the environment" not in machine.out


def test_uninstalling_says_what_sessions_that_are_running_still_do(machine: Machine) -> None:
    machine.have("claude", "gemini")
    machine.install()
    assert machine.install("--uninstall", "--harness", "claude") == 0
    assert "still call" not in machine.out  # the hooks are there
    assert machine.install("--uninstall") == 0
    assert "sessions that are running still call the hooks that are gone" in machine.out


def test_uninstalling_what_is_not_installed_says_so(machine: Machine) -> None:
    assert machine.install("--uninstall") == 0
    assert "nothing of the suite was found" in machine.out
    assert machine.install("--uninstall", "--purge", "--yes") == 0
    assert "there is no data to remove" in machine.out


def test_entries_in_a_file_that_no_longer_parses_are_named_and_left(machine: Machine) -> None:
    path = machine.file(CLAUDE, "{}\n")
    machine.install()
    broken = path.read_bytes()[:-3]
    path.write_bytes(broken)
    assert machine.install("--uninstall") == 1
    assert "the suite's entries stay in it" in machine.err
    assert "remove the entries that contain --by=agent-hook-suite" in machine.err
    assert path.read_bytes() == broken
    # The hooks' environment stays as long as something calls them.
    assert (machine.home / ".local/share/agent-hook-suite/versions").is_dir()


def test_a_stored_original_that_was_damaged_is_not_put_back(machine: Machine) -> None:
    path = machine.file(CLAUDE, pretty({"model": "opus"}))
    machine.install()
    for original in (machine.home / ".local/share/agent-hook-suite/originals").iterdir():
        original.write_bytes(b'{"planted": 1}')
    machine.install("--uninstall")
    assert path.read_bytes() == pretty({"model": "opus"})


def test_a_file_of_the_suites_name_that_it_did_not_make_is_left_alone(machine: Machine) -> None:
    machine.have("copilot")
    mine = machine.file(".copilot/hooks/agent-hook-suite.json", '{"version": 1, "hooks": {}}\n')
    assert machine.install() == 1
    assert "was not made by the suite" in machine.err
    assert machine.install("--uninstall") == 0
    assert mine.read_text() == '{"version": 1, "hooks": {}}\n'


def test_what_an_earlier_version_made_and_this_one_does_not_goes_with_the_upgrade(machine: Machine) -> None:
    machine.install()
    old = machine.file(".local/bin/old-name", "#!/bin/sh\n# agent-hook-suite launcher: old\n")
    loaded = manifest.Manifest.load(machine.layout.data)
    loaded.files[str(old)] = manifest.Entry("launcher", manifest.digest(old.read_bytes()))
    loaded.save()
    assert machine.install() == 0
    assert not old.exists()


def test_a_completion_that_a_command_does_not_print_is_said_and_the_rest_is_installed(
    machine: Machine,
) -> None:
    machine.have("claude")
    versions = machine.home / ".local/share/agent-hook-suite/versions"
    for script in versions.rglob("completion/fish/hn"):
        script.unlink()
    python = next(versions.glob("*/bin/python"))
    real = python.read_text().removeprefix("#!/bin/sh\n")
    python.write_text(
        f'#!/bin/sh\ncase "$*" in *--print-completion*) echo broken >&2; exit 1 ;; esac\n{real}'
    )
    assert machine.install() == 1
    assert "hn prints no completion for fish: broken" in machine.err
    assert machine.file(CLAUDE).exists()


def test_a_directory_that_cannot_be_written_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = machine.file(CLAUDE, "{}\n")
    real = os.access
    monkeypatch.setattr(os, "access", lambda p, mode: str(p) != str(path.parent) and real(p, mode))
    assert machine.install() == 1
    assert f"{path.parent} cannot be written" in machine.err
    assert path.read_text() == "{}\n"


def test_a_file_where_a_directory_has_to_be_is_named(machine: Machine) -> None:
    machine.file(".claude", "not a directory")
    assert machine.install("--harness", "claude") == 1
    assert "not a directory" in machine.err.lower()


def test_a_settings_file_of_absurd_size_is_left_alone(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "LIMIT", 1 << 20)
    path = machine.file(CLAUDE, b"{" + b" " * (1 << 20) + b"}")
    assert machine.install() == 1
    assert "larger than 1 MiB" in machine.err
    assert path.stat().st_size == (1 << 20) + 2


def test_the_diff_of_a_very_long_file_shows_the_changed_stretch(machine: Machine) -> None:
    lines = b",\n".join(b'    "%d"' % n for n in range(150_000))
    machine.file(CLAUDE, b'{\n  "p": [\n' + lines + b"\n  ]\n}\n")
    assert machine.install("--dry-run") == 0
    assert "line numbers below count from line" in machine.out
    assert len(machine.out) < 100_000


def test_the_diff_of_a_very_long_line_shows_the_changed_stretch(machine: Machine) -> None:
    numbers = b",".join(b"%d" % n for n in range(50_000))
    machine.file(GEMINI, b'{"hooks":{},"p":[' + numbers + b"]}")
    assert machine.install("--dry-run") == 0
    assert "more than 4000 characters are shown broken" in machine.out
    assert re.search(r"^\+.*--by=agent-hook-suite", machine.out, re.MULTILINE)
    assert len(machine.out) < 10_000
    assert machine.out.count("\n") == len(machine.out.splitlines())


def test_directories_that_the_installer_made_go_again_and_others_stay(
    machine: Machine, ready: Callable[[Path, str], runtime.Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(machine.home / ".local")
    machine.have("claude")
    before = machine.snapshot()
    with monkeypatch.context() as patch:
        patch.setattr(runtime, "make", lambda *_: ready(machine.source, machine.layout.data))
        assert machine.install() == 0, machine.err
    assert (machine.home / ".local/share/agent-hook-suite/install.json").exists()
    assert machine.install() == 0, machine.err
    assert machine.install("--uninstall") == 0
    assert machine.snapshot() == before


def test_an_interrupted_install_can_be_undone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    content = pretty({"model": "opus"})
    machine.have(*ALL)
    path = machine.file(CLAUDE, content)
    before = {k: v for k, v in machine.snapshot().items() if "agent-hook-suite" not in k}
    real = changes.apply
    count = [0]

    def stop(change: changes.Change) -> list[str]:
        count[0] += 1
        if change.path == str(path):
            real(change)
            raise KeyboardInterrupt
        return real(change)

    with monkeypatch.context() as patch:
        patch.setattr(changes, "apply", stop)
        assert machine.install() == 130
    assert path.read_bytes() != content
    assert machine.install("--uninstall") == 0
    assert path.read_bytes() == content
    after = {k: v for k, v in machine.snapshot().items() if "agent-hook-suite" not in k}
    assert {k: v for k, v in after.items() if v[0] == "file"} == {
        k: v for k, v in before.items() if v[0] == "file"
    }


def test_a_home_that_no_configuration_can_name_is_refused(machine: Machine) -> None:
    home = os.fsencode(machine.home) + b"/\xff"
    os.mkdir(home)
    machine.env["HOME"] = os.fsdecode(home)
    assert machine.install() == 1
    assert "not UTF-8" in machine.err


def test_python_m_agent_install_is_the_installer() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agent_install", "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "--uninstall" in done.stdout


def test_every_command_that_the_skill_names_exists_with_its_options() -> None:
    skill = Path(cli.__file__).parent / "skill/SKILL.md"
    named = re.findall(r",(agent-memory|ai-kb) ([a-z-]+)([^`\n]*(?:\\\\\n[^\n]*)*)", skill.read_text())
    assert len(named) >= 12
    for command, verb, rest in named:
        done = subprocess.run(
            [str(Path(sys.executable).parent / f",{command}"), verb, "--help"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, verb)
        for option in re.findall(r"--[a-z-]+", rest.split("<<")[0]):
            assert option in done.stdout, (command, verb, option)
