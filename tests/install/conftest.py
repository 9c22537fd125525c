"""A machine to install on: a home with a space and a quote in its path, and an environment made before."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_base.cli import string_console
from agent_install import checks, cli, codex_trust, completion, launchers, runtime
from agent_install.layout import Layout
from tests import checkouts
from tests.conftest import PATIENCE


class Machine:
    """A scratch home on which the installer runs in this process."""

    def __init__(self, home: Path, env: dict[str, str], source: Path) -> None:
        self.home, self.env, self.source = home, env, source
        self.layout = Layout.of(env)
        self.out = self.err = ""

    def install(self, *words: str, source: Path | None = None) -> int:
        """``install.sh`` with these arguments; output is in ``out`` and ``err``."""
        console = string_console(self.env)
        code = cli.main(["--source", str(source or self.source), *words], console)
        self.out, self.err = console.stdout.getvalue(), console.stderr.getvalue()  # type: ignore[attr-defined]
        return code

    def file(self, name: str, content: bytes | str | None = None, mode: int | None = None) -> Path:
        """A file below the home, written when ``content`` is given."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            path.chmod(mode)
        return path

    def have(self, *names: str) -> None:
        """Configuration directories that show these harnesses are there."""
        places = {"opencode": ".config/opencode"}
        for name in names:
            (self.home / places.get(name, f".{name}")).mkdir(parents=True, exist_ok=True)

    def snapshot(self) -> dict[str, tuple[str, bytes, int]]:
        """Kind, content and permission bits of everything below the home but the environments."""
        found = {}
        for directory, names, files in os.walk(self.home):
            here = Path(directory)
            if here.name == "versions":
                names.clear()
                continue
            for name in [*names, *files]:
                path = here / name
                key = str(path.relative_to(self.home))
                mode = stat.S_IMODE(path.lstat().st_mode)
                if path.is_symlink():
                    found[key] = ("link", os.fsencode(os.readlink(path)), 0)
                elif path.is_dir():
                    found[key] = ("directory", b"", 0)
                else:
                    found[key] = ("file", path.read_bytes(), mode)
        return found


def make_ready(source: Path, data: str) -> runtime.Runtime:
    """An environment that is complete: the interpreter and the packages of the tests' own."""
    planned = runtime.plan(str(source), data)
    directory = Path(planned.directory)
    (directory / "bin").mkdir(parents=True)
    python = directory / "bin/python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    (directory / "site").symlink_to(source)
    for shell in completion.SHELLS:
        for command in launchers.COMMANDS:
            script = directory / "completion" / shell / command
            script.parent.mkdir(parents=True, exist_ok=True)
            script.write_bytes(completion.noted(b"# a script\n"))
    (directory / ".complete").touch()
    return planned


@pytest.fixture(autouse=True)
def unhurried_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks wait as long as a slow machine takes; a test of their limits sets its own."""
    monkeypatch.setattr(checks, "HOOK_SECONDS", PATIENCE)
    monkeypatch.setattr(checks, "RECORD_SECONDS", PATIENCE)
    monkeypatch.setattr(codex_trust, "SECONDS", PATIENCE)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources that the tests install from: what is installed from them does not change meanwhile."""
    return checkouts.copy(tmp_path_factory.mktemp("sources") / "a checkout")


@pytest.fixture
def newer(checkout: Path, tmp_path: Path) -> Path:
    """A checkout of a later version."""
    source = tmp_path / "newer checkout"
    shutil.copytree(checkout, source, ignore=shutil.ignore_patterns("__pycache__"))
    with (source / "agent_base/__init__.py").open("a") as file:
        file.write("\nNEWER = True\n")
    return source


@pytest.fixture
def machine(isolated: dict[str, str], tmp_path: Path, checkout: Path) -> Machine:
    """No harness is there yet; the environment is."""
    home = tmp_path / "o'neil's home"
    home.mkdir(mode=0o700)
    env = {name: value for name, value in isolated.items() if not name.startswith("XDG_")}
    env |= {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    result = Machine(home, env, checkout)
    (home / ".local/share").mkdir(parents=True)
    make_ready(checkout, result.layout.data)
    return result


@pytest.fixture
def ready() -> Callable[[Path, str], runtime.Runtime]:
    """``make_ready``, for another source."""
    return make_ready
