"""Isolation for every test: no test reads or writes the real home, /tmp/specs or Git configuration."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from agent_memory import ledger, moves, starts
from agent_memory.commands import _shared
from ai_kb import injection
from ai_kb.hn import cache_refresh
from hooks import _entry, session_context

_DEPTHS = {"quick": 1.0, "deep": float(os.environ.get("HYPOTHESIS_DEPTH") or 50)}
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")


def examples(most: int) -> settings:
    """So many examples in the quick profile, and more in the deep one: ``HYPOTHESIS_DEPTH`` times as many."""
    return settings(max_examples=max(1, round(most * _DEPTHS[_PROFILE])))


for _name, _depth in _DEPTHS.items():
    settings.register_profile(
        _name,
        max_examples=max(1, round(60 * _depth)),
        deadline=None,  # the machine may be busy
        # What a checkout says of itself is the same every time; new examples are for the deep profile.
        derandomize=_name == "quick",
        # Each example makes what it needs, and how long that takes is the machine's business.
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
settings.load_profile(_PROFILE)

os.umask(0o022)  # what tests make is not open to a group, whoever runs them

_KEEP = {"PATH", "LANG", "TERM", "SYSTEMROOT", "PIP_NO_INDEX", "PIP_FIND_LINKS"}
_REAL_HOME = os.path.expanduser("~")
REPOSITORY = Path(__file__).resolve().parent.parent

# Seconds that nothing takes on any machine: the limit of a wait that a test expects to end.
PATIENCE = 600.0


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A scratch home, spec root, mirror and XDG directories; inherited variables are gone.

    Yields the environment that child processes of the test should get (also os.environ).
    """
    for name in list(os.environ):
        if name not in _KEEP and not name.startswith(("PYTEST_", "COV_", "COVERAGE_")):
            monkeypatch.delenv(name)
    base = tmp_path / "isolated"
    home = base / "home"
    temporary = base / "tmp"
    for directory in (home, temporary):
        directory.mkdir(parents=True, mode=0o700)
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Test Person\n\temail = test@example.invalid\n"
        "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n[gc]\n\tauto = 0\n"
        "[maintenance]\n\tauto = false\n[safe]\n\tdirectory = *\n"
    )
    values = {
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "AGENT_MEMORY_SPEC_ROOT": str(base / "specs"),
        "AGENT_MEMORY_MIRROR_ROOT": str(base / "mirror"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(tmp_path.parent),
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    yield dict(os.environ)
    assert os.environ.get("HOME") != _REAL_HOME
    # A workspace that holds the isolated spec root makes hooks pass that over.
    assert not os.path.lexists(f"/tmp/specs{tmp_path}"), "the test wrote to the real spec root"


@pytest.fixture
def as_shipped() -> None:
    """For a test of the limits themselves: they are what users have."""


@pytest.fixture(autouse=True)
def unhurried(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks and commands that run in this process, or in a fork of it, have all the time that they need.

    A hook that meets its limit prints nothing, and a machine that is slow or stands still for some seconds
    would let it. A test of what happens then sets the limit that it means, or asks for ``as_shipped``.
    """
    if "as_shipped" in request.fixturenames:
        return
    for depth in injection.DEADLINE:
        monkeypatch.setitem(injection.DEADLINE, depth, PATIENCE)
    monkeypatch.setattr(cache_refresh, "_IMPATIENT_SECONDS", PATIENCE)
    monkeypatch.setattr(session_context, "_DRAIN_SECONDS", PATIENCE)
    monkeypatch.setattr(_entry, "LIMIT", PATIENCE)
    for module, name in (
        (ledger, "LOCK_TIMEOUT"),
        (moves, "LOCK_SECONDS"),
        (starts, "_LOCK_SECONDS"),
        (session_context, "_LOCK_SECONDS"),
        (_shared, "LOCK_SECONDS"),
    ):
        monkeypatch.setattr(module, name, PATIENCE)


@pytest.fixture
def git() -> Callable[..., str]:
    """Run real git: ``git(directory, *arguments, **environment)`` gives stripped stdout."""

    def run(directory: Path | str, *arguments: str, stdin: bytes | None = None, **extra: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments],
            input=stdin,
            capture_output=True,
            check=True,
            env={**os.environ, **extra},
        )
        return done.stdout.decode("utf-8", "replace").strip()

    return run


@pytest.fixture
def repository(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A work tree on ``main`` with one commit."""
    path = tmp_path / "project"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    (path / "README.md").write_text("# A project\n")
    git(path, "add", ".")
    git(path, "commit", "-q", "-m", "First commit")
    return path
