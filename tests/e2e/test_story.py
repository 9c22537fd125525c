"""The ten steps of the story, played by the real programs and checked again on what they left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import checkouts

STEPS = range(1, 11)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    """The finished demo and the folder it played in."""
    base = tmp_path_factory.mktemp("a story")
    folder = base / "kept folder"
    checkout = checkouts.copy(base / "checkout", "scripts/demo", "tests/data/payloads")
    checkouts.interpreter(checkout)
    done = subprocess.run(
        [sys.executable, str(checkout / "scripts/demo"), "--keep", str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done, folder


def test_the_story_ends_with_ok(played: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, _ = played
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert done.stdout.endswith("\ndemo: ok\n")
    assert [n for n in STEPS if f"\n== {n}. " in done.stdout] == list(STEPS)


def test_each_tool_event_stands_once_in_the_worklog_of_the_topic(
    played: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, folder = played
    (path,) = (folder / "specs").rglob("fix-retries.worklog.jsonl")
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert [e.get("tool_name") for e in entries] == ["Bash", "Edit", "Bash", None]
    assert [e["event"] for e in entries][-1] == "note"
    assert entries[0]["status"] == "failed"
    assert entries[-1]["note_kind"] == "gotcha"
    assert entries[-1]["refs"] == ["src/retry.py:12"]


def test_the_capsule_is_one_signed_commit_in_the_home_store(
    played: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, folder = played
    (store,) = folder.rglob("home.git")
    refs = subprocess.run(
        ["git", f"--git-dir={store}", "for-each-ref", "--format=%(refname) %(objectname)", "refs/hn/memory"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert len(refs) == 1
    tree = subprocess.run(
        ["git", f"--git-dir={store}", "ls-tree", refs[0].split()[1]],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert [line.split()[0] + " " + line.split("\t")[1] for line in tree] == [
        "100644 memory.json",
        "100644 signature",
    ]


def test_nothing_was_left_in_the_spool_or_the_queue(
    played: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, folder = played
    waiting = [
        p for p in (folder / "specs").rglob("*") if p.is_file() and ("spool" in str(p) or "queue" in str(p))
    ]
    assert not [p for p in waiting if p.suffix == ".json"], waiting
