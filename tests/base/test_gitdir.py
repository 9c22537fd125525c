"""Where a repository is: found without a process, and without waiting for what is no file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_base import files, gitdir

Git = Callable[..., str]


def test_a_repository_is_found_from_anywhere_in_it(repository: Path, git: Git) -> None:
    (repository / "src/deep").mkdir(parents=True)
    found = (str(repository), str(repository / ".git"))
    assert gitdir.find(str(repository / "src/deep")) == found
    assert gitdir.find(str(repository / ".git")) == found
    assert gitdir.common_dir(found[1]) == found[1]
    assert gitdir.head(found[1]) == b"ref: refs/heads/main\n"


def test_a_linked_worktree_is_its_own_and_shares_the_common_directory(repository: Path, git: Git) -> None:
    other = repository.parent / "linked tree"
    git(repository, "worktree", "add", "-q", str(other), "-b", "topic")
    root, git_dir = gitdir.find(str(other)) or ("", "")
    assert root == str(other)
    assert gitdir.head(git_dir) == b"ref: refs/heads/topic\n"
    assert gitdir.common_dir(git_dir) == str(repository / ".git")


def test_not_any_dot_git_is_a_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    assert gitdir.find(str(tmp_path / "sub")) is None
    for content in (b"no gitdir here", b"gitdir: /nowhere", b"gitdir: a\0b", b""):
        (tmp_path / "sub/.git").write_bytes(content)
        assert gitdir.find(str(tmp_path / "sub")) is None


def test_a_head_that_is_a_symlink_is_its_target(repository: Path) -> None:
    (repository / ".git/HEAD").unlink()
    (repository / ".git/HEAD").symlink_to("refs/heads/main")
    assert gitdir.head(str(repository / ".git")) == b"ref: refs/heads/main"


@pytest.mark.parametrize("name", ["HEAD", "commondir", "packed-refs", "config"])
def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(repository: Path, name: str) -> None:
    from ai_kb.hn.gitstore import configured_object_format
    from ai_kb.store_paths import may_hold_memory

    git_dir = repository / ".git"
    (git_dir / name).unlink(missing_ok=True)
    os.mkfifo(git_dir / name)
    assert gitdir.find(str(repository)) == (str(repository), str(git_dir))
    assert gitdir.common_dir(str(git_dir)) == str(git_dir)
    assert gitdir.head(str(git_dir)) in (b"", b"ref: refs/heads/main\n")
    assert configured_object_format(str(git_dir)) == "sha1"
    assert not may_hold_memory(str(repository))


def test_a_pipe_in_place_of_dot_git_is_no_repository(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert gitdir.find(str(tmp_path)) is None


def test_the_beginning_of_a_file_is_at_most_what_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abcdef")
    assert files.read_beginning(str(tmp_path / "file"), 4) == b"abcd"
    assert files.read_beginning(str(tmp_path / "file"), 1 << 30) == b"abcdef"
    assert files.read_beginning(str(tmp_path), 4) == b""
    with pytest.raises(FileNotFoundError):
        files.read_beginning(str(tmp_path / "none"), 4)
