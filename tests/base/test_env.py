"""What of the environment a hook believes: a repository's settings can set variables."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from agent_base import env as environment

ROOTS = ("AGENT_MEMORY_SPEC_ROOT", "AGENT_MEMORY_MIRROR_ROOT", "AI_KB_HOME", *environment._XDG)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    (path / "kb").mkdir(parents=True, mode=0o700)
    return path


@pytest.mark.parametrize("name", ROOTS)
def test_a_hook_ignores_a_root_inside_the_workspace_and_follows_one_outside(
    workspace: Path, tmp_path: Path, name: str
) -> None:
    for value in (workspace, workspace / "kb", workspace / "not there"):
        assert environment.trusted_override({name: str(value)}, name, str(workspace)) is None
        assert environment.trusted_override({name: str(value)}, name, None) == str(value)
    (tmp_path / "link").symlink_to(workspace / "kb")
    assert environment.trusted_override({name: str(tmp_path / "link")}, name, str(workspace)) is None
    beside = f"{workspace}-beside"
    assert environment.trusted_override({name: beside}, name, str(workspace)) == beside


@pytest.mark.parametrize("value", ["", "relative", "/a\0b", "./x"])
def test_a_root_is_an_absolute_path(workspace: Path, value: str) -> None:
    assert environment.trusted_override({"AI_KB_HOME": value}, "AI_KB_HOME", None) is None


def test_a_hook_ignores_a_root_that_is_not_this_users_own_directory(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, theirs = "XDG_STATE_HOME", tmp_path / "theirs"
    theirs.mkdir()
    file = tmp_path / "file"
    file.write_text("")
    assert environment.trusted_override({name: str(file)}, name, str(workspace)) is None
    assert environment.trusted_override({name: str(file / "below")}, name, str(workspace)) is None
    assert environment.trusted_override({name: str(theirs)}, name, str(workspace)) == str(theirs)
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    assert environment.trusted_override({name: str(theirs)}, name, str(workspace)) is None
    assert environment.trusted_override({name: str(theirs / "new")}, name, str(workspace)) is None
    theirs.chmod(0o1777)  # as /tmp is: anybody may make a directory of their own there
    assert environment.trusted_override({name: str(theirs / "new")}, name, str(workspace)) is not None


def test_a_hook_does_not_take_a_home_inside_the_workspace_for_this_users(workspace: Path) -> None:
    real = pwd.getpwuid(os.getuid()).pw_dir
    env = {"HOME": str(workspace / "home")}
    assert environment.home(env) == str(workspace / "home")
    assert environment.home(env, str(workspace)) == real
    assert environment.home({"HOME": "/h"}, str(workspace)) == "/h"
    assert environment.xdg(env, "XDG_STATE_HOME", str(workspace)) == f"{real}/.local/state"
    assert environment.xdg({**env, "XDG_STATE_HOME": "/s"}, "XDG_STATE_HOME", None) == "/s"


def test_without_any_home_there_is_a_private_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert environment.home({}) is None
    assert environment.xdg({}, "XDG_CACHE_HOME") == f"/tmp/.agent-hook-suite-{os.getuid()}/.cache"


def test_git_of_a_hook_gets_no_git_variable_but_the_hardening() -> None:
    inherited = {
        "GIT_DIR": "/x",
        "GIT_CONFIG_GLOBAL": "/w/evil",
        "GIT_CONFIG_COUNT": "1",
        "GIT_SSH_COMMAND": "touch /tmp/x",
        "GIT_EXEC_PATH": "/w/bin",
        "GIT_TRACE": "/w/trace",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    for_hook = environment.git_environment({**inherited, "LANG": "de_DE"}, hook=True)
    named = {k: v for k, v in for_hook.items() if k.startswith("GIT_")}
    expected = {
        **environment.GIT_HARDENING,
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_GRAFT_FILE": "/dev/null/none",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    assert named == expected
    for_person = environment.git_environment(inherited)
    assert for_person["GIT_CONFIG_GLOBAL"] == "/w/evil"
    assert for_person["GIT_SSH_COMMAND"] == "touch /tmp/x"
    assert not {"GIT_DIR", "GIT_CONFIG_COUNT", "GIT_EXEC_PATH", "GIT_TRACE"} & set(for_person)
