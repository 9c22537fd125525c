"""Whether a repository can hold signed memory, told without a process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ai_kb.store_paths import may_hold_memory

Git = Callable[..., str]


@pytest.fixture(autouse=True)
def no_process(repository: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on only the fixture ``git`` starts one."""
    monkeypatch.setattr(os, "posix_spawn", None)


def test_no_repository_holds_none(tmp_path: Path) -> None:
    assert not may_hold_memory(str(tmp_path))


def test_a_repository_without_its_refs_holds_none(repository: Path, git: Git) -> None:
    git(repository, "pack-refs", "--all")
    assert not may_hold_memory(str(repository))


def test_a_loose_ref_is_seen(repository: Path, git: Git) -> None:
    git(repository, "update-ref", "refs/hn/memory/x/main", "HEAD")
    assert may_hold_memory(str(repository))


def test_a_packed_ref_is_seen(repository: Path, git: Git) -> None:
    git(repository, "update-ref", "refs/hn/memory/x/main", "HEAD")
    git(repository, "pack-refs", "--all", "--prune")
    assert may_hold_memory(str(repository))


def test_a_linked_worktree_sees_the_refs_of_its_repository(repository: Path, git: Git) -> None:
    git(repository, "update-ref", "refs/hn/memory/x/main", "HEAD")
    other = repository.parent / "other"
    git(repository, "worktree", "add", "-q", str(other), "-b", "topic")
    assert may_hold_memory(str(other))


def test_another_ref_format_is_not_guessed_at(tmp_path: Path, git: Git) -> None:
    path = tmp_path / "tables"
    path.mkdir()
    try:
        git(path, "init", "-q", "--ref-format=reftable")
    except subprocess.CalledProcessError:
        (path / ".git/reftable").mkdir(parents=True)
        (path / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
    assert may_hold_memory(str(path))
