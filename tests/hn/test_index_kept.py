"""``index-v0.json`` is kept in step by recall and grep up to 2,000 records, and not made when it is there."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from ai_kb.hn import index_file, kept
from ai_kb.hn.commands import _reading
from tests.hn.fixture_repos import git, hn, restore

RECALL = ("memory", "recall", "--json")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return restore("repo-a", tmp_path / "work")


def _file(work: Path) -> Path:
    return work / ".git" / "hn" / "memory" / "index-v0.json"


def _note(isolated: dict[str, str]) -> Path:
    (note,) = (Path(isolated["XDG_CACHE_HOME"]) / "agent-hook-suite/index").glob("*.kept")
    return note


def _state(work: Path) -> tuple[int, ...]:
    """What tells one state of the file from another: not when it was read."""
    status = _file(work).stat()
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _let_time_pass(isolated: dict[str, str]) -> None:
    """Have the note be older than the file by more than any file system's tick."""
    status = _note(isolated).stat()
    later = status.st_mtime_ns + 3 * kept._SETTLED
    os.utime(_note(isolated), ns=(later, later))


@pytest.mark.parametrize("argv", [RECALL, ("memory", "grep", "alpha")])
def test_it_is_written_once_and_left_alone_while_it_is_right(
    argv: tuple[str, ...], work: Path, isolated: dict[str, str]
) -> None:
    assert hn(work, *argv).exit == 0
    assert hn(work, "memory", "index", "verify").exit == 0
    before = _state(work)
    for _ in range(3):
        assert hn(work, *argv).exit == 0
        _let_time_pass(isolated)
    assert _state(work) == before


def test_once_it_has_settled_it_is_not_even_read(
    work: Path, isolated: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hn(work, *RECALL)
    _let_time_pass(isolated)
    monkeypatch.setattr(kept, "file_digest", lambda _: pytest.fail("read"))
    assert hn(work, *RECALL).exit == 0


@pytest.mark.parametrize("settled", [False, True])
def test_an_edit_in_place_is_noticed_whatever_it_does_to_the_times(
    settled: bool, work: Path, isolated: dict[str, str]
) -> None:
    hn(work, *RECALL)
    if settled:
        _let_time_pass(isolated)
    path = _file(work)
    right, status = path.read_bytes(), path.stat()
    path.write_bytes(right.replace(b"zeta", b"EVIL"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert hn(work, *RECALL).exit == 0
    assert path.read_bytes() == right


def test_another_commit_subject_or_record_is_another_index(work: Path) -> None:
    digests = set()
    subject = "issue:sha256:" + "1" * 64
    for argv in (RECALL, (*RECALL, "--at", "side"), (*RECALL, "--subject", subject), RECALL):
        assert hn(work, *argv).exit == 0
        digests.add(hashlib.sha256(_file(work).read_bytes()).hexdigest())
    assert len(digests) == 3
    flags = ("--kind", "observation", "--at", "HEAD", "--applies", "exact", "--content", "one more")
    assert hn(work, "memory", "record", *flags).exit == 0
    assert hn(work, *RECALL).exit == 0
    assert hn(work, "memory", "index", "verify").exit == 0


def test_beyond_the_bound_only_rebuild_writes_it(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_reading, "KEPT_RECORDS", 27)
    assert hn(work, *RECALL).exit == 0
    assert not _file(work).exists()
    assert hn(work, "memory", "index", "rebuild").exit == 0
    assert hn(work, "memory", "index", "verify").exit == 0
    before = _file(work).read_bytes()
    assert hn(work, *RECALL, "--at", "side").exit == 0
    assert _file(work).read_bytes() == before


def test_one_that_would_be_too_large_fails_clearly_and_leaves_the_old_one(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hn(work, "memory", "index", "rebuild").exit == 0
    before = _file(work).read_bytes()
    monkeypatch.setattr(index_file, "MAX_BYTES", 5000)
    result = hn(work, "memory", "index", "rebuild")
    assert result.exit == 1
    assert "would exceed 5000 bytes; the old one was left alone" in result.stderr
    assert _file(work).read_bytes() == before
    assert [entry.name for entry in _file(work).parent.iterdir()] == ["index-v0.json"]


def test_without_a_writable_cache_it_is_made_each_time_and_right(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    for _ in range(2):
        assert hn(work, *RECALL).exit == 0
        assert hn(work, "memory", "index", "verify").exit == 0


@pytest.mark.parametrize("which", ["hn", "hn/memory"])
def test_a_directory_that_is_a_symlink_or_open_is_refused(which: str, work: Path, tmp_path: Path) -> None:
    assert hn(work, *RECALL).exit == 0
    directory = work / ".git" / which
    directory.chmod(0o750)
    for argv in (RECALL, ("memory", "index", "rebuild"), ("memory", "index", "verify")):
        result = hn(work, *argv)
        assert result.exit == 1
        assert "unsafe" in result.stderr
    assert f"(chmod 700 {directory}, if it is yours)" in hn(work, *RECALL).stderr
    directory.rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").chmod(0o700)
    directory.symlink_to(tmp_path / "elsewhere")
    for argv in (RECALL, ("memory", "index", "rebuild"), ("memory", "index", "verify")):
        result = hn(work, *argv)
        assert result.exit == 1
        assert "unsafe" in result.stderr
    # No mode would make a link safe, and chmod would change what it leads to.
    assert "chmod" not in hn(work, *RECALL).stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"records": [', b'"records": {"a": 1}, "x": [', "invalid JSON"),
        (b'"version": 0', b'"version": 0, "version": 0', "invalid JSON"),
        (b'"version": 0', b'"version": "0"', "unsupported version"),
        (b'"version": 0,\n  ', b"", "unsupported version"),
        (b'"content": "zeta alpha"', b'"content": 7', "invalid JSON"),
        (b'"topics": []', b'"topics": null', "invalid JSON"),
        (b'"signature": "valid",', b"", "invalid JSON"),
        (b'"content": "zeta alpha"', b'"content": "zeta \\u0061lpha"', "noncanonical encoding"),
        (b'"content": "zeta alpha"', b'"content": "zeta beta"', "posting is inconsistent"),
        (b'"trust": "qualified"', b'"trust": "kind-untrusted"', "derived projection changed"),
        (b'"content": "zeta', b'"content": "\xff', "invalid JSON"),
    ],
)
def test_every_other_damage_is_told_too(old: bytes, new: bytes, said: str, work: Path) -> None:
    assert hn(work, "memory", "index", "rebuild").exit == 0
    path = _file(work)
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))
    result = hn(work, "memory", "index", "verify")
    assert result.exit == 1
    assert result.stderr.startswith("hn: memory index ")
    assert said in result.stderr
    assert path.read_bytes() == data.replace(old, new, 1)


def test_a_changed_policy_is_a_stale_index(work: Path) -> None:
    assert hn(work, "memory", "index", "rebuild").exit == 0
    policy = json.loads((work / ".hn/policy.json").read_text())
    (work / ".hn/policy.json").write_text(json.dumps(policy, indent=1))
    git(work, "commit", "-qam", "the same policy in other bytes")
    result = hn(work, "memory", "index", "verify")
    assert result.exit == 1
    assert "stale: source or policy changed" in result.stderr


def test_a_linked_worktree_and_a_bare_repository_have_one_of_their_own(work: Path, tmp_path: Path) -> None:
    git(work, "worktree", "add", "-q", str(tmp_path / "linked"), "side")
    assert hn(tmp_path / "linked", "memory", "index", "rebuild").exit == 0
    assert hn(tmp_path / "linked", "memory", "index", "verify").exit == 0
    assert not _file(work).exists()
    git(tmp_path, "clone", "-q", "--mirror", str(work), "bare.git")
    assert hn(tmp_path / "bare.git", "memory", "index", "rebuild").exit == 0
    assert (tmp_path / "bare.git" / "hn" / "memory" / "index-v0.json").exists()
