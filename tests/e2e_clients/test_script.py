"""`scripts/e2e` says which clients ran, and what did not run is no success."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness_clients import CLAUDE, GEMINI, NODE, ROOT


class Script:
    """Runs it with a cache of its own, and with nothing on PATH but what a test puts there."""

    def __init__(self, base: Path) -> None:
        self.cache, self.bin = base / "clients", base / "bin"
        self.cache.mkdir()
        self.bin.mkdir()

    def program(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def have(self, name: str, version: str, package: str, found: str) -> None:
        """A package as npm leaves it."""
        directory = self.cache / f"{name}-{version}/node_modules/{package}"
        directory.mkdir(parents=True)
        (directory / "package.json").write_text(json.dumps({"version": found}))

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "scripts/e2e"), *words],
            env={**os.environ, "AGENT_E2E_CLIENTS": str(self.cache), "PATH": str(self.bin)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)


def test_it_lists_the_versions_that_are_really_there(script: Script) -> None:
    script.have("claude", CLAUDE.version, CLAUDE.package, "9.9.9")
    done = script("--list", "claude", "gemini")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"claude     {CLAUDE.package} 9.9.9",
        f"gemini     {GEMINI.package} absent",
    ]


def test_a_client_that_is_not_known_is_a_usage_error(script: Script) -> None:
    done = script("vim")
    assert done.returncode == 2
    assert "no such client: vim" in done.stderr


def test_without_npm_it_says_what_it_could_not_fetch_and_nothing_counts_as_run(script: Script) -> None:
    done = script("gemini")
    assert done.returncode == 1
    assert f"npm is needed to fetch {GEMINI.package}@{GEMINI.version}" in done.stderr
    assert "gemini     absent       NOT RUN: gemini" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_package_that_npm_cannot_fetch_leaves_nothing_behind(script: Script) -> None:
    script.program("npm", "exit 7")
    done = script("--fetch", "claude")
    assert done.returncode == 1
    assert f"npm could not fetch {CLAUDE.package}@{CLAUDE.version}" in done.stderr
    assert list(script.cache.iterdir()) == []


def test_where_no_network_of_its_own_is_to_be_had_nothing_is_run(script: Script) -> None:
    script.have("node", NODE, ".bin", "")
    script.have("claude", CLAUDE.version, CLAUDE.package, CLAUDE.version)
    program = script.cache / f"claude-{CLAUDE.version}/node_modules/.bin/claude"
    program.parent.mkdir()
    program.touch()
    done = script("claude")  # `unshare` is not on its PATH
    assert done.returncode == 1
    assert "NOT RUN: no network namespace" in done.stdout
