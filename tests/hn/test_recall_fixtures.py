"""Recall, cursors and the protocol's index give exactly what another implementation gave."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.hn.fixture_repos import FIXTURES, Run, hn, load, restore, runs

REPOSITORIES = ("repo-a", "repo-b-alice", "repo-b-bob", "repo-c")
VERBS = ("recall", "index")
# Started below the root, the other implementation recalls nothing; here it answers as at the root.
FROM_A_SUBDIRECTORY = {"repo-a": {118}}


def _index_digest(work: Path) -> str | None:
    path = work / ".git" / "hn" / "memory" / "index-v0.json"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else None


def _check(work: Path, run: Run, status: int) -> None:
    result = hn(work / run.cwd, *run.argv, stdin=run.stdin)
    assert (result.exit, result.stdout) == (status, run.stdout), (run.number, run.argv, result)
    # The last line says it; above it may stand a list of flags, behind it a hint.
    wanted = run.stderr.replace("<REPO>", str(work)).rstrip("\n").rpartition("\n")[2]
    said = result.stderr.rstrip("\n").rpartition("\n")[2]
    if "invalid JSON" in wanted:  # the text of a parser: only that it is an error is the protocol's
        wanted = wanted[: wanted.index("invalid JSON")]
        assert said.startswith(wanted), run.number
    elif "unsupported policy version" in wanted:  # policy text is not repeated here
        assert said == "hn: unsupported policy version; hn.policy/0 is expected"
    else:
        assert said == wanted or said.startswith(wanted + " ("), (run.number, said, wanted)


@pytest.mark.parametrize("name", REPOSITORIES)
def test_recall_and_index_print_exactly_what_was_recorded_in_order(name: str, tmp_path: Path) -> None:
    work = restore(name, tmp_path / "work")
    done = 0
    for run in runs(load(f"{name}.expected")):
        if run.argv[1] not in VERBS or run.number in FROM_A_SUBDIRECTORY.get(name, ()):
            continue
        _check(work, run, run.exit)
        assert _index_digest(work) == run.data.get("index_sha256_after"), (run.number, run.argv)
        done += 1
    assert done == {"repo-a": 119, "repo-b-alice": 11, "repo-b-bob": 11, "repo-c": 13}[name]


def test_recall_answers_in_a_subdirectory_as_at_the_root(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    assert hn(work / "docs", "memory", "recall", "--json") == hn(work, "memory", "recall", "--json")


def _walks() -> list[tuple[str, int]]:
    return [
        (name, place)
        for name in REPOSITORIES
        for place in range(len(load(f"{name}.expected").get("cursor_walks", [])))
    ]


@pytest.mark.parametrize(("name", "place"), _walks())
def test_a_walk_by_cursors_gives_the_recorded_pages_byte_for_byte(
    name: str, place: int, tmp_path: Path
) -> None:
    work = restore(name, tmp_path / "work")
    data = load(f"{name}.expected")
    data["walk"] = data["cursor_walks"][place]
    for run in runs(data, "walk"):
        _check(work, run, run.exit)


# Flag errors and wrong usage end with 2 here.
_USAGE = {106, 109, 111, 112, 90}
_HELP = {13}


def test_refused_and_odd_command_lines_are_answered_as_recorded(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    assert hn(work, "memory", "index", "rebuild").exit == 0
    done = 0
    for run in runs(load("repo-a.failures")):
        if run.argv[:1] != ["memory"] or run.argv[1:2] not in (["recall"], ["index"]) or run.number in _HELP:
            continue
        _check(work, run, 2 if run.number in _USAGE else run.exit)
        assert _index_digest(work) == run.data["index_sha256_after"], (run.number, run.argv)
        done += 1
    assert done == 27  # all 28 but the help


def test_help_of_recall_is_no_error(tmp_path: Path) -> None:
    work = restore("repo-c", tmp_path / "work")
    for flag in ("-h", "--help"):
        result = hn(work, "memory", "recall", flag)
        assert result.exit == 0
        assert "--max-content-bytes" in result.stdout
        assert result.stderr == ""


def _damage(work: Path, how: str) -> None:
    """Do to the index what was done to it before a recorded run."""
    path = work / ".git" / "hn" / "memory" / "index-v0.json"
    data = path.read_bytes() if path.is_file() else b""
    how = how.removesuffix(" (then recall)")
    if how == "index removed":
        path.unlink()
    elif how == "index mode 0644":
        path.chmod(0o644)
    elif how == "memory dir mode 0755":
        path.parent.chmod(0o755)
    elif how == "version 1":
        path.write_bytes(data.replace(b'"version": 0', b'"version": 1'))
    elif how == "trailing newline removed":
        path.write_bytes(data[:-1])
    elif how == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif how == "trailing json":
        path.write_bytes(data + b"{}")
    elif how == "unknown field":
        path.write_bytes(data.replace(b'{\n  "version"', b'{\n  "extra": 1,\n  "version"', 1))
    elif how == "compact re-encoding":
        path.write_bytes(json.dumps(json.loads(data), separators=(",", ":"), ensure_ascii=False).encode())
    elif how == "fingerprint changed":
        at = data.index(b'"sourceFingerprint": "sha256:') + len(b'"sourceFingerprint": "sha256:')
        path.write_bytes(data[:at] + (b"0" if data[at : at + 1] != b"0" else b"1") + data[at + 1 :])
    elif how == "a token renamed":
        path.write_bytes(data.replace(b'"token": "zeta"', b'"token": "zetb"'))
    elif how == "lifecycle edited":
        path.write_bytes(data.replace(b'"lifecycle": "active"', b'"lifecycle": "branching"', 1))
    elif how == "replaced by symlink":
        other = path.with_name("elsewhere")
        path.rename(other)
        path.symlink_to(other)
    elif how == "replaced by directory":
        path.unlink()
        path.mkdir()
    else:
        raise AssertionError(how)


def test_every_damage_of_the_index_is_told_by_verify_and_mended_by_recall(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    memory = work / ".git" / "hn" / "memory"
    for run in runs(load("repo-a.index")):
        before = run.data.get("before", "")
        if before:
            # Each recorded damage was done to an index that was right before.
            if not memory.exists() or memory.stat().st_mode & 0o77:
                memory.chmod(0o700)
            target = memory / "index-v0.json"
            if target.is_symlink():
                target.unlink()
            if target.is_dir():
                target.rmdir()
            assert hn(work, "memory", "index", "rebuild").exit == 0
            _damage(work, before)
        result = hn(work, *run.argv)
        assert (result.exit, result.stdout) == (run.exit, run.stdout), (run.number, before, result)
        wanted = run.stderr.replace("<REPO>", str(work)).strip().partition(".hn-private-")[0]
        assert result.stderr.startswith(wanted), (run.number, before, result.stderr)
        assert bool(result.stderr) == bool(wanted), (run.number, before, result.stderr)
        if "file" in run.data:
            recorded = (FIXTURES / run.data["file"]).read_bytes()
            path = memory / "index-v0.json"
            assert path.read_bytes() == recorded
            assert oct(path.stat().st_mode & 0o777) == run.data["file_mode"]
        if run.argv[1] == "recall" and run.exit == 0:
            assert _index_digest(work) == run.data["index_sha256_after"], (run.number, before)


@pytest.mark.parametrize("name", REPOSITORIES[1:])
def test_the_index_at_head_is_the_recorded_file(name: str, tmp_path: Path) -> None:
    work = restore(name, tmp_path / "work")
    assert hn(work, "memory", "index", "rebuild").exit == 0
    made = (work / ".git" / "hn" / "memory" / "index-v0.json").read_bytes()
    assert made == (FIXTURES / f"{name}.index-head.json").read_bytes()


def test_answers_are_the_same_warm_cold_and_without_a_writable_cache(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    argv = ["memory", "recall", "--lifecycle", "all", "--include-untrusted", "--json"]
    first = hn(work, *argv)
    assert hn(work, *argv) == first
    unwritable = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": "/dev/null", "HOME": "/"}
    answer = hn(work, *argv, env=unwritable)
    assert (answer.exit, answer.stdout) == (first.exit, first.stdout)
    assert answer.stderr.startswith("hn: the private index is kept in memory only: ")
