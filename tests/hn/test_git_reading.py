"""Commands that read: nothing is fetched, executed or changed but the disposable index.

memory-v0, "Bounded recall": no sync or fetch, no author command, no policy change, no event append,
no ref update.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.hn.fixture_repos import git, hn, restore, runs
from tests.hn.fixture_repos import load as recorded

SHOWN = next(run.argv[2] for run in runs(recorded("repo-a.expected")) if run.argv[:2] == ["memory", "show"])
READING = (
    ("memory", "recall"),
    ("memory", "recall", "--include-untrusted", "--lifecycle", "all", "--query", "alpha", "--json"),
    ("memory", "recall", "--at", "HEAD~1"),
    ("memory", "grep", "touch"),
    ("memory", "grep", "--json", "-i", "TOUCH"),
    ("memory", "show", SHOWN, "--json"),
    ("memory", "show", SHOWN[7:19]),
    ("memory", "index", "rebuild"),
    ("memory", "index", "verify"),
    ("policy", "show"),
    ("policy", "check", "--head", "HEAD"),
    ("policy", "check", "--file", ".hn/policy.json"),
    ("identity", "show"),
    ("identity", "public"),
    ("identity", "list"),
    ("replication", "show"),
)
# What of git only reads.
QUESTIONS = {"cat-file", "for-each-ref", "rev-list", "rev-parse", "config"}


def _state(work: Path) -> dict[str, tuple[int, bytes | str]]:
    """Every file of the work tree and of the Git directory but those of the index."""
    index = work / ".git" / "hn" / "memory"
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(work.rglob("*")):
        if path == index or index in path.parents:
            continue
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        found[str(path)] = path.lstat().st_mode, content
    return found


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """repo-a with a record that looks like commands, and hooks and settings that run some."""
    work = restore("repo-a", tmp_path / "work")
    marker = tmp_path / "executed"
    text = f"$(touch {marker}) `touch {marker}`; touch {marker}"
    flags = (
        "--kind",
        "decision",
        "--at",
        "HEAD",
        "--applies",
        "descendants",
        "--topic",
        f"$(touch {marker})",
    )
    assert hn(work, "memory", "record", *flags, "--content", text).exit == 0
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {marker}\n")
    script.chmod(0o755)
    hooks = work / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-index-change", "post-checkout", "pre-auto-gc"):
        shutil.copy(script, hooks / name)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "uploadpack.packObjectsHook"):
        git(work, "config", name, str(script))
    git(work, "config", "remote.origin.url", f"ext::{script}")
    git(work, "config", "protocol.ext.allow", "always")
    marker.unlink(missing_ok=True)  # the work tree's own git may have run one of them
    return work


@pytest.mark.parametrize("argv", READING, ids=" ".join)
def test_reading_changes_and_executes_nothing(argv: tuple[str, ...], work: Path, tmp_path: Path) -> None:
    log = tmp_path / "git.log"
    directory = tmp_path / "bin"
    directory.mkdir()
    (directory / "git").write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {shutil.which("git")} "$@"\n')
    (directory / "git").chmod(0o755)
    log.touch()
    if argv[-1] == "verify":
        assert hn(work, "memory", "index", "rebuild").exit == 0
    before = _state(work)
    result = hn(work, *argv, env={**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"})
    assert (result.exit, result.stderr) == (0, ""), result
    assert result.stdout
    assert _state(work) == before
    assert not (tmp_path / "executed").exists()
    assert {_verb(line.split()) for line in log.read_text().splitlines()} <= QUESTIONS, log.read_text()


def _verb(words: list[str]) -> str:
    """The first word behind git's own options."""
    while words[0].startswith("-"):
        words = words[2:] if words[0] in ("-C", "-c", "--git-dir") else words[1:]
    return words[0]


def test_what_looks_like_commands_is_found_as_text(work: Path) -> None:
    """The record above is really met by the readers."""
    found = json.loads(hn(work, "memory", "grep", "--json", "touch").stdout)
    assert [row["data"]["topics"][0][:7] for row in found["memories"]] == ["$(touch"]
