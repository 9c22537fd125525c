"""Remembered prefixes: a cache that may be deleted, damaged, planted or locked without doing harm."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from ai_kb.hn import prefixes as module
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.prefixes import PrefixStore, cache_path
from ai_kb.hn.streams import Source, collect, find_starting
from ai_kb.hn.verification import Checkpoint
from tests.hn.fixture_repos import git, hn
from tests.hn.stream_maker import Maker

SOURCE = Source("refs/x", "a" * 64, "sha256:" + "b" * 64)


def placed(*numbers: int) -> list[tuple[str, str, str]]:
    return [(f"{n:040x}", f"{n + 100:040x}", f"sha256:{n + 200:064x}") for n in numbers]


@pytest.fixture
def repo(repository: Path) -> Repository:
    return Repository.open(str(repository), os.environ)


def test_what_was_remembered_is_there_in_the_next_process(repo: Repository) -> None:
    with PrefixStore.open(repo) as store:
        store.extend(SOURCE, None, placed(1, 2, 3))
    with PrefixStore.open(repo) as store:
        latest = store.latest(SOURCE)
        assert latest is not None
        assert (latest.sequence, latest.commit) == (3, placed(3)[0][0])
        second = store.position(SOURCE, placed(2)[0][0])
        assert second is not None
        assert (second.sequence, second.memory_id) == (2, placed(2)[0][2])
        assert store.position(SOURCE, "f" * 40) is None
        assert [m.sequence for m in store.members(SOURCE, 2)] == [1, 2]
        (found,) = store.find(placed(2)[0][2])
        assert (found.actor, found.stream, found.payload_oid) == (
            SOURCE.actor,
            SOURCE.stream,
            placed(2)[0][1],
        )
        assert store.find("sha256:" + "0" * 64) == []
        other = Source("refs/y", "c" * 64, SOURCE.stream)
        assert store.latest(other) is None
        assert store.position(other, placed(2)[0][0]) is None


def test_extending_below_the_end_replaces_what_was_above(repo: Repository) -> None:
    with PrefixStore.open(repo) as store:
        store.extend(SOURCE, None, placed(1, 2, 3))
        store.extend(SOURCE, Checkpoint(placed(1)[0][0], 1, placed(1)[0][2]), placed(7))
        assert [m.commit for m in store.members(SOURCE, 9)] == [placed(1)[0][0], placed(7)[0][0]]
        store.extend(SOURCE, Checkpoint("f" * 40, 1, "sha256:" + "0" * 64), placed(8))
        assert [m.commit for m in store.members(SOURCE, 9)] == [placed(1)[0][0], placed(7)[0][0]]
        store.extend(SOURCE, None, placed(9))
        assert [m.commit for m in store.members(SOURCE, 9)] == [placed(9)[0][0]]
        store.extend(SOURCE, None, [])
        store.forget(SOURCE)
        assert store.latest(SOURCE) is None


def test_the_file_is_private_and_keyed_by_the_repository(repo: Repository, tmp_path: Path) -> None:
    with PrefixStore.open(repo):
        pass
    path = Path(cache_path(repo))
    assert path.is_relative_to(os.environ["XDG_CACHE_HOME"])
    assert path.stat().st_mode & 0o7777 == 0o600
    for directory in path.parents[:3]:
        assert directory.stat().st_mode & 0o7777 == 0o700
    git(tmp_path, "init", "-q", "other")
    assert cache_path(Repository.open(str(tmp_path / "other"), os.environ)) != str(path)


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\0" + b"\xff" * 200])
def test_a_damaged_file_is_thrown_away_and_made_again(repo: Repository, damage: bytes) -> None:
    with PrefixStore.open(repo) as store:
        store.extend(SOURCE, None, placed(1))
    Path(cache_path(repo)).write_bytes(damage)
    for _ in range(2):
        with PrefixStore.open(repo) as store:
            store.extend(SOURCE, None, placed(1))
    with PrefixStore.open(repo) as store:
        assert store.latest(SOURCE) is not None


def test_damage_that_shows_later_is_thrown_away_too(repo: Repository) -> None:
    for action in ("read", "write"):
        with PrefixStore.open(repo) as store:
            store.extend(SOURCE, None, placed(*range(1, 400)))
        path = Path(cache_path(repo))
        data = bytearray(path.read_bytes())
        data[4096:] = b"\xff" * (len(data) - 4096)
        path.write_bytes(bytes(data))
        with PrefixStore.open(repo) as store:
            if action == "read":
                assert store.latest(SOURCE) is None
            store.extend(SOURCE, None, placed(1))
            store.forget(SOURCE)
        with PrefixStore.open(repo) as store:
            assert store.latest(SOURCE) is None


def test_another_version_is_not_believed(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    with PrefixStore.open(repo) as store:
        store.extend(SOURCE, None, placed(1))
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    with PrefixStore.open(repo) as store:
        assert store.latest(SOURCE) is None
        store.extend(SOURCE, None, placed(1))
        assert store.latest(SOURCE) is not None


def test_a_planted_file_is_not_used(repo: Repository, tmp_path: Path) -> None:
    with PrefixStore.open(repo) as store:
        store.extend(SOURCE, None, placed(1))
    path = Path(cache_path(repo))
    path.chmod(0o666)
    with PrefixStore.open(repo) as store:
        assert store.latest(SOURCE) is None
        store.extend(SOURCE, None, placed(1, 2))
    path.chmod(0o600)
    elsewhere = path.rename(tmp_path / "elsewhere")
    path.symlink_to(elsewhere)
    with PrefixStore.open(repo) as store:
        assert store.latest(SOURCE) is None
        assert store.find(placed(1)[0][2]) == []
        store.forget(SOURCE)


def test_a_locked_file_is_done_without(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOCK_SECONDS", 0.05)
    with PrefixStore.open(repo) as store:
        store.extend(SOURCE, None, placed(1))
        holder = sqlite3.connect(cache_path(repo), isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        with PrefixStore.open(repo) as other:
            assert other.latest(SOURCE) is None
        store.extend(SOURCE, None, placed(1, 2))
        assert store.latest(SOURCE) is None
        holder.close()
    with PrefixStore.open(repo) as store:
        latest = store.latest(SOURCE)
        assert latest is not None
        assert latest.sequence == 1
        holder = sqlite3.connect(cache_path(repo), isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        assert store.latest(SOURCE) is None
        holder.close()


def test_two_that_make_the_file_at_once_both_use_it(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOCK_SECONDS", 600.0)  # as long as the others need
    remembered: list[int] = []

    def use(number: int) -> None:
        with PrefixStore.open(repo) as store:
            source = Source("refs/x", f"{number:064x}", SOURCE.stream)
            store.extend(source, None, placed(1))
            if store.latest(source) is not None:
                remembered.append(number)

    threads = [threading.Thread(target=use, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(remembered) == list(range(6))


def test_without_a_cache_directory_nothing_is_remembered_and_everything_works(
    repository: Path, alice: Any
) -> None:
    maker = Maker(repository, alice)
    maker.bulk(3)
    env = {**os.environ, "XDG_CACHE_HOME": "/dev/null/x"}
    repo = Repository.open(str(repository), env)
    for _ in range(2):
        assert hn(repository, "memory", "show", maker.previous, env=env).exit == 0
        with repo.objects() as reader, PrefixStore.open(repo) as prefixes:
            found = find_starting(repo, reader, maker.previous[7:17], prefixes)
        assert list(found) == [maker.previous]


def test_deleting_it_changes_nothing_but_time(repository: Path, alice: Any) -> None:
    maker = Maker(repository, alice)
    maker.bulk(3)
    repo = Repository.open(str(repository), os.environ)
    found = []
    for _ in range(2):
        with repo.objects() as reader, PrefixStore.open(repo) as prefixes:
            found.append(find_starting(repo, reader, maker.previous[7:15], prefixes))
        os.unlink(cache_path(repo))
    assert found[0] == found[1]
    assert list(found[0]) == [maker.previous]


def test_only_ids_that_start_so_and_are_reached_by_a_ref_are_found(repository: Path, alice: Any) -> None:
    maker = Maker(repository, alice)
    maker.bulk(40)
    repo = Repository.open(str(repository), os.environ)
    with repo.objects() as reader:
        every = collect(repo, reader).memories
    # Two digits fit several.
    with repo.objects() as reader, PrefixStore.open(repo) as prefixes:
        for digits in ("0", "a", maker.previous[7:9], maker.previous[7:], "f" * 64):
            wanted = {key: memory for key, memory in every.items() if key.startswith(f"sha256:{digits}")}
            assert find_starting(repo, reader, digits, prefixes) == wanted
    (ref,) = repo.refs("refs/hn/memory")
    repo.git("update-ref", ref, f"{ref}~1")
    with repo.objects() as reader, PrefixStore.open(repo) as prefixes:
        assert find_starting(repo, reader, maker.previous[7:], prefixes) == {}
