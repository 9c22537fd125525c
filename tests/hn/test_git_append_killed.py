"""Killed at any moment, an append has happened or has not: the stream verifies, and the next one goes on.

A ``git`` before the real one counts the processes of one append and kills the writer right before
or after one of them, or dies itself. What was written is flushed before it counts.
"""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_base.errors import SuiteError
from ai_kb.hn.envelope import Anchor, Applicability, Record
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.identity import Keyring
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.streams import append, collect
from tests.hn.fixture_repos import git, give_identity

_SHIM = """\
#!/bin/sh
n=$(($(cat {folder}/count) + 1))
echo $n > {folder}/count
if [ $n -eq "$SHIM_AT" ]; then
    case $SHIM_MODE in
        before) kill -9 $PPID; exit 1 ;;
        after) {git} "$@"; kill -9 $PPID; exit 1 ;;
        dies) kill -9 $$ ;;
    esac
fi
exec {git} "$@"
"""


def _append(work: Path, content: str, env: dict[str, str]) -> None:
    repo = Repository.open(str(work), env)
    with repo.objects() as reader, PrefixStore.open(repo) as prefixes:
        append(
            repo,
            reader,
            Keyring.of(repo).active(),
            operation="record",
            now=datetime(2026, 8, 30, 12, 34, 56, tzinfo=UTC),
            record=Record("observation", content, Anchor("a" * 40), Applicability("exact")),
            prefixes=prefixes,
        )


def _contents(work: Path) -> list[str]:
    """What the stream says, every commit of it verified."""
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader:
        memories = sorted(collect(repo, reader).memories.values(), key=lambda m: m.envelope.sequence)
    return [json.loads(memory.payload)["record"]["content"] for memory in memories]


def _shimmed(work: Path, folder: Path, at: int, mode: str, content: str) -> int:
    (folder / "count").write_text("0\n")
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "SHIM_AT": str(at), "SHIM_MODE": mode}
    pid = os.fork()
    if pid == 0:
        status = 9
        try:
            _append(work, content, env)
            status = 0
        except SuiteError:
            status = 3
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.fixture
def work(repository: Path) -> Path:
    give_identity(repository / ".git", "alice")
    _append(repository, "first", dict(os.environ))
    return repository


@pytest.mark.parametrize("mode", ["before", "after", "dies"])
def test_an_append_killed_at_any_git_process_has_happened_or_not_and_the_next_goes_on(
    work: Path, tmp_path: Path, mode: str
) -> None:
    folder = tmp_path / "shim"
    folder.mkdir()
    script = folder / "git"
    script.write_text(_SHIM.format(folder=folder, git=shutil.which("git")))
    script.chmod(0o755)
    assert _shimmed(work, folder, 0, mode, "counted") == 0
    total = int((folder / "count").read_text())
    assert total >= 4
    killed = 0
    for at in range(1, total + 1):
        before = _contents(work)
        status = _shimmed(work, folder, at, mode, f"hit {at}")
        assert status in ((0, 3) if mode == "dies" else (-9,))  # some of them are only asked something
        killed += status != 0
        now = _contents(work)
        assert now in (before, [*before, f"hit {at}"])
        _append(work, f"next {at}", dict(os.environ))
        assert _contents(work) == [*now, f"next {at}"]
    assert killed >= 3
    assert git(work, "fsck", "--connectivity-only", "--no-dangling") == ""


def _flushes(event: dict[str, Any]) -> int:
    """How often git says there that it had the disk flushed; versions of it say so in two ways."""
    if event.get("key") == "fsync/hardware-flush":
        return int(event["value"])
    counted = (event["event"], event.get("category"), event.get("name")) == (
        "counter",
        "fsync",
        "hardware-flush",
    )
    return int(event["count"]) if counted else 0


def test_objects_and_ref_of_an_append_are_flushed_to_the_disk(work: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    git(work, "config", "--global", "trace2.eventTarget", str(trace))
    try:
        _append(work, "flushed", dict(os.environ))
    finally:
        git(work, "config", "--global", "--unset", "trace2.eventTarget")
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    command = {e["sid"]: e["argv"] for e in events if e["event"] == "start"}
    flushes = {
        verb: sum(_flushes(e) for e in events if verb in command[e["sid"]])
        for verb in ("unpack-objects", "update-ref")
    }
    assert flushes["unpack-objects"] >= 4  # two blobs, a tree, a commit
    assert flushes["update-ref"] >= 1
