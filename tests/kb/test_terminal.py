"""A person's word over a real terminal: what needs one works there, and nowhere else."""

from __future__ import annotations

import io
import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_base.cli import string_console
from ai_kb import consent
from ai_kb.cli import main
from ai_kb.hn import progress
from tests.conftest import PATIENCE
from tests.kb.kbworld import World

COMMAND = [sys.executable, "-I", "-c", "from ai_kb.cli import entry; entry()"]


@pytest.fixture
def world(repository: Path, isolated: dict[str, str]) -> World:
    return World(repository, {**isolated, "TERM": "dumb"})


def at_terminal(
    world: World, *argv: str, types: str = "", env: dict[str, str] | None = None
) -> tuple[int, str]:
    """Run ``,ai-kb`` on a pseudo-terminal; exit code and what was on the screen."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *argv], stdin=theirs, stdout=theirs, stderr=theirs, cwd=world.workspace,
        env=env or world.env, close_fds=True, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, types.encode())
    screen = b""
    try:
        while select.select([ours], [], [], PATIENCE)[0]:
            data = os.read(ours, 4096)
            if not data:
                break
            screen += data
    except OSError:  # Linux: the other side is gone
        pass
    os.close(ours)
    return process.wait(timeout=PATIENCE), screen.decode("utf-8", "replace")


def test_policy_accept_asks_at_a_terminal_and_refuses_without(world: World) -> None:
    world.trust_this_clone()
    done = subprocess.run(
        [*COMMAND, "policy", "accept"], cwd=world.workspace, env=world.env, capture_output=True,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert b"needs a person at a terminal" in done.stderr
    code, screen = at_terminal(world, "policy", "accept", types="y\n")
    assert code == 0, screen
    assert "Accept? [N/y]" in screen
    assert "Accepted, until the policy at HEAD changes." in screen
    policy_digests = consent.acceptances(world.env, str(world.workspace / ".git"))
    assert len(policy_digests) == 1


def test_what_is_remembered_at_a_terminal_is_a_persons_and_an_agents_is_not(world: World) -> None:
    words = ("remember", "--body", "text of the body", "--scope", "universal")
    code, screen = at_terminal(world, *words, "--title", "Said by a person")
    assert code == 0, screen
    assert "approve" not in screen
    code, screen = at_terminal(
        world, "remember", "--body", "quite another text", "--scope", "universal",
        "--title", "Said by an agent", env={**world.env, "CLAUDECODE": "1"},
    )  # fmt: skip
    assert code == 0, screen
    assert "until a person runs" in screen
    code, screen = at_terminal(world, "approve", types="y\n")
    assert code == 0, screen
    assert "Said by an agent" in screen
    assert len(consent.approved(world.env)) == 1


def test_long_work_on_an_index_is_shown_to_a_person_and_to_nobody_else(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remember("Pin the compiler", "The nightly one breaks the build.")
    world.remember("Retries need a key", "A POST may be carried out twice.")
    world.remember("Close the database", "The tests leak its handle.")
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.0)
    cache = Path(world.env["XDG_CACHE_HOME"]) / "agent-hook-suite"
    for question in (["list"], ["search", "pin the compiler"]):
        shutil.rmtree(cache)
        console = string_console(env=world.env, cwd=str(world.workspace))
        assert main(question, console) == 0
        assert console.stderr.getvalue() == ""
        shutil.rmtree(cache)
        screen = io.StringIO()
        with progress.shown(screen, terminal=True):
            assert main(question, string_console(env=world.env, cwd=str(world.workspace))) == 0
        assert " of 3" in screen.getvalue()
        assert screen.getvalue().endswith("\r"), "the line is cleared"
        assert progress.listener() is None
