"""The file of the private index: private, made again when damaged, safe among processes, quick when warm."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agent_base.files import locked
from ai_kb.hn import cache, cache_background, cache_refresh
from ai_kb.hn import cache_bits as bits
from ai_kb.hn.cache import Index, IndexedRecord, IndexUnavailable, ask, discard, locate, open_index
from ai_kb.hn.cache_file import SCHEMA, DamagedIndex, connect, index_path, is_damage, open_file, writer_lock
from ai_kb.hn.errors import HnError, InvalidStream
from ai_kb.hn.gitstore import Repository
from tests.hn.conftest import Person
from tests.hn.fixture_repos import git, hn, restore
from tests.hn.scratch import History, Scratch

ROOT = Path(__file__).resolve().parents[2]
RECALL = ("memory", "recall", "--lifecycle", "all", "--include-untrusted", "--json")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return restore("repo-a", tmp_path / "work")


def _repo(work: Path, *, hook: bool = False, deadline: float | None = None) -> Repository:
    repo = locate(str(work), os.environ, hook=hook, deadline=deadline)
    assert repo is not None
    return repo


def _path(work: Path) -> Path:
    return Path(index_path(str(work / ".git"), os.environ, None))


def _everything(index: Index) -> list[str]:
    gate = index.gate(lifecycle=(), trust=())
    return sorted(record.id for record in index.records(bits.members(gate)))


# --- where and how it is kept ---------------------------------------------------------------------


def test_the_file_is_the_users_alone_below_the_cache_directory(work: Path, isolated: dict[str, str]) -> None:
    old = os.umask(0)
    try:
        open_index(_repo(work)).close()
    finally:
        os.umask(old)
    path = _path(work)
    assert path.is_relative_to(isolated["XDG_CACHE_HOME"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(entry.stat().st_mode) == 0o600 for entry in path.parent.iterdir())
    assert not any((work / ".git").rglob("*.sqlite"))


def test_two_repositories_and_two_worktrees_share_nothing_and_everything(work: Path, tmp_path: Path) -> None:
    other = restore("repo-c", tmp_path / "other")
    assert _path(work) != _path(other)
    git(work, "worktree", "add", "-q", str(tmp_path / "linked"), "side")
    with open_index(_repo(work)) as index, open_index(_repo(tmp_path / "linked")) as linked:
        assert index.path == linked.path
        assert index.at_commit != linked.at_commit
        assert index.at_commit == git(work, "rev-parse", "main")
        assert linked.at_commit == git(work, "rev-parse", "side")
        assert _everything(index) != _everything(linked)


@pytest.mark.parametrize(
    "how",
    [
        "file is a symlink",
        "file of mode 644",
        "directory of mode 777",
        "symlink",
        pytest.param("another user's", marks=pytest.mark.skipif(os.geteuid() != 0, reason="needs root")),
    ],
)
def test_what_others_could_touch_is_refused_and_answers_stay_the_same(
    how: str, work: Path, tmp_path: Path
) -> None:
    wanted = hn(work, *RECALL)
    path = _path(work)
    before = path.read_bytes()
    if how == "file is a symlink":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    elif how == "file of mode 644":
        path.chmod(0o644)
    elif how == "directory of mode 777":
        path.parent.chmod(0o777)
    elif how == "another user's":
        os.chown(path, 12_345, -1)
    else:
        path.parent.rename(tmp_path / "elsewhere")
        path.parent.symlink_to(tmp_path / "elsewhere")
    with open_index(_repo(work)) as index:
        assert index.path == ""
        assert index.note.startswith("the private index is kept in memory only: ")
    again = hn(work, *RECALL)
    assert (again.exit, again.stdout) == (wanted.exit, wanted.stdout)
    assert again.stderr.startswith("hn: the private index is kept in memory only: ")
    assert path.read_bytes() == before
    assert hn(work, "memory", "index", "rebuild").exit == 0


def test_a_hook_believes_no_cache_directory_inside_the_workspace(
    work: Path, monkeypatch: pytest.MonkeyPatch, isolated: dict[str, str]
) -> None:
    planted = work / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(planted))
    with open_index(_repo(work, hook=True), workspace=str(work)) as index:
        assert index.path.startswith(str(Path(isolated["HOME"]) / ".cache"))
    assert not planted.exists()


def test_a_cache_that_cannot_be_written_is_done_without(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_index(_repo(work)) as index:
        wanted = _everything(index)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    for hook in (False, True):
        with open_index(_repo(work, hook=hook)) as index:
            assert _everything(index) == wanted
            assert index.note


_READ_ONLY = """
import os
from ai_kb.hn.cache import locate, open_index
from ai_kb.hn.cache_file import index_path
repo = locate(sys.argv[1], os.environ)
open_index(repo, at="HEAD").close()
directory = os.path.dirname(index_path(repo.common_dir, os.environ, None))
os.chmod(directory, 0o500)
assert not os.access(directory, os.W_OK)
for at in ("HEAD", "HEAD~1"):
    with open_index(repo, at=at) as index:
        print(index.gate(lifecycle=(), trust=()).bit_count(), bool(index.note))
"""
# Root may write everywhere unless it gives that up: PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, then a new program.
_GIVE_UP = """
import ctypes, os, sys
if os.geteuid() == 0:
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.mark.skipif(sys.platform != "linux" and os.geteuid() == 0, reason="root writes everywhere")
def test_where_nothing_can_be_written_a_current_index_still_serves(work: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + _READ_ONLY
    done = subprocess.run(
        [sys.executable, "-c", _GIVE_UP, "-c", code, str(work)], capture_output=True, text=True
    )
    os.chmod(_path(work).parent, 0o700)
    assert done.returncode == 0, done.stderr
    # What is there is served; another query commit cannot be taken in and is answered from memory.
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["False", "True"]


def test_a_full_disk_is_done_without(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = connect

    def limited(path: str, **how: Any) -> sqlite3.Connection | None:
        conn = real(path, **how)
        if conn is not None and path != ":memory:":
            conn.execute("PRAGMA max_page_count = 30")
        return conn

    monkeypatch.setattr(cache.cache_file, "connect", limited)
    with open_index(_repo(work)) as index:
        assert "full" in index.note
        assert _everything(index)


# --- damage -----------------------------------------------------------------------------------


_JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_LOG_MAGIC = b"\x37\x7f\x06\x82"


def _wreck(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "truncated":
        path.write_bytes(data[: len(data) // 3])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "no database":
        path.write_bytes(b"something else\n" * 1000)
    elif how == "zeroed pages":
        path.write_bytes(data[:4096] + bytes(len(data) - 4096))
    elif how == "other version":
        with sqlite3.connect(path) as conn:
            conn.execute(f"PRAGMA user_version = {SCHEMA + 1}")
        conn.close()
    elif how == "a table gone":
        with sqlite3.connect(path) as conn:
            conn.execute("DROP TABLE flag")
        conn.close()
    elif how == "a journal of another file":
        path.with_name(path.name + "-journal").write_bytes(_JOURNAL_MAGIC + Random(1).randbytes(2000))
    elif how == "a log of another file":
        path.with_name(path.name + "-wal").write_bytes(_LOG_MAGIC + Random(2).randbytes(10_000))
    elif how == "directory":
        path.unlink()
        path.mkdir()
    else:
        raise AssertionError(how)


@pytest.mark.parametrize(
    "how",
    [
        "truncated",
        "empty",
        "no database",
        "zeroed pages",
        "other version",
        "a table gone",
        "a journal of another file",
        "a log of another file",
        "directory",
    ],
)
def test_a_damaged_file_changes_nothing_but_time(how: str, work: Path) -> None:
    wanted = hn(work, *RECALL).stdout
    _wreck(_path(work), how)
    for _ in range(2):
        result = hn(work, *RECALL)
        assert (result.exit, result.stdout) == (0, wanted)
    if how != "directory":
        assert _is_sound(work)


def test_a_changed_payload_is_never_shown(work: Path) -> None:
    wanted = hn(work, *RECALL).stdout
    with sqlite3.connect(_path(work)) as conn:
        conn.execute("UPDATE payload SET data = replace(data, 'zeta', 'EVIL')")
    conn.close()
    with open_index(_repo(work)) as index, pytest.raises(DamagedIndex):
        _everything(index)
    assert hn(work, *RECALL).stdout == wanted


def test_rebuild_believes_nothing_that_was_remembered(work: Path) -> None:
    wanted = hn(work, *RECALL).stdout
    with sqlite3.connect(_path(work)) as conn:
        conn.execute("UPDATE memory SET lifecycle = 'retracted'")
    conn.close()
    assert hn(work, *RECALL).stdout != wanted
    assert hn(work, "memory", "index", "rebuild").exit == 0
    assert hn(work, *RECALL).stdout == wanted


def _is_sound(work: Path) -> bool:
    conn = sqlite3.connect(_path(work))
    found = conn.execute("PRAGMA integrity_check").fetchone()
    conn.close()
    return bool(found == ("ok",))


def test_only_damage_is_a_reason_to_throw_the_file_away() -> None:
    assert is_damage(DamagedIndex("x"))
    assert is_damage(sqlite3.DatabaseError("malformed"))
    locked_out = sqlite3.OperationalError("database is locked")
    locked_out.sqlite_errorname = "SQLITE_BUSY"
    assert not is_damage(locked_out)
    assert not is_damage(HnError("x"))


def test_ask_asks_again_after_damage_and_only_once(work: Path) -> None:
    seen: list[int] = []

    def question(index: Index) -> int:
        seen.append(index.count())
        if len(seen) == 1:
            raise sqlite3.DatabaseError("malformed")
        return len(seen)

    assert ask(_repo(work), question) == 2
    assert len(set(seen)) == 1
    with pytest.raises(DamagedIndex):
        ask(_repo(work), _always_damaged)


def _always_damaged(_: Index) -> None:
    raise DamagedIndex("again and again")


def test_a_file_that_is_not_there_is_not_made_by_a_reader(tmp_path: Path) -> None:
    assert open_file(str(tmp_path / "none"), write=False, timeout=0) is None
    assert not (tmp_path / "none").exists()


def test_a_file_whose_tables_another_process_is_about_to_make_is_not_thrown_away(work: Path) -> None:
    path = _path(work)
    path.parent.mkdir(parents=True, mode=0o700)
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA journal_mode = WAL")
    path.chmod(0o600)
    before = path.stat()
    assert before.st_size > 0
    assert open_file(str(path), write=False, timeout=0) is None
    open_index(_repo(work)).close()
    assert path.stat().st_ino == before.st_ino


# --- other processes --------------------------------------------------------------------------


def _program(text: str, work: Path, *arguments: str) -> subprocess.Popen[str]:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + text
    return subprocess.Popen(
        [sys.executable, "-c", code, str(work), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


_OPEN = """
import os
from ai_kb.hn import cache
from ai_kb.hn.cache import locate, open_index
from ai_kb.hn import cache_bits as bits
cache._COMMAND_WAIT = 3600.0  # as long as the others need
repo = locate(sys.argv[1], os.environ)
for _ in range(int(sys.argv[2])):
    with open_index(repo) as index:
        print(sorted(r.id for r in index.records(bits.members(index.gate(lifecycle=(), trust=())))))
"""


def test_many_processes_at_once_on_no_file_give_the_same_answer(work: Path) -> None:
    running = [_program(_OPEN, work, "3") for _ in range(6)]
    answers = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0] * 6, answers
    assert len({line for out, _ in answers for line in out.splitlines()}) == 1
    assert _is_sound(work)


def test_readers_meanwhile_see_the_index_before_or_after_never_between(
    tmp_path: Path, alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_COMMAND_WAIT", 3600.0)
    history = History(tmp_path / "work", [alice, bob], 77)
    for _ in range(12):
        history.memory()
    reader = _program(_OPEN, history.directory, "25")
    counts = set()
    for _ in range(10):
        history.memory()
        with open_index(_repo(history.directory)) as index:
            counts.add(index.count())
    out, err = reader.communicate()
    assert reader.returncode == 0, err
    assert len(out.splitlines()) == 25
    with open_index(_repo(history.directory)) as index:
        final = str(_everything(index))
    with _program(_OPEN, history.directory, "1") as last:
        assert last.communicate()[0].strip() == final


def test_a_hook_does_not_wait_for_somebody_elses_refresh(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _path(work)
    open_index(_repo(work)).close()
    git(work, "commit", "-q", "--allow-empty", "-m", "more")
    waits: list[float] = []

    def noted(path: str, timeout: float) -> locked:
        waits.append(timeout)
        return writer_lock(path, timeout)

    monkeypatch.setattr(cache.cache_file, "writer_lock", noted)
    with locked(f"{path}.lock"), pytest.raises(IndexUnavailable):
        open_index(_repo(work, hook=True))
    assert waits == [cache._HOOK_WAIT]
    assert cache._HOOK_WAIT < 0.5
    with open_index(_repo(work, hook=True)) as index:
        assert index.at_commit == git(work, "rev-parse", "HEAD")


def test_a_long_reader_keeps_nobody_waiting_and_sees_what_it_saw(work: Path) -> None:
    with open_index(_repo(work)) as index:
        before = _everything(index)
        git(work, "commit", "-q", "--allow-empty", "-m", "more")
        with open_index(_repo(work, hook=True)) as later:
            assert later.at_commit != index.at_commit
            assert _everything(later) != before
        assert _everything(index) == before


def test_a_current_index_is_read_while_another_process_holds_the_writers_lock(work: Path) -> None:
    open_index(_repo(work)).close()
    with locked(f"{_path(work)}.lock"), open_index(_repo(work, hook=True)) as index:
        assert _everything(index)


def test_a_command_says_that_the_index_is_in_use(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_COMMAND_WAIT", 0.1)
    _path(work).parent.mkdir(parents=True, mode=0o700)
    with locked(f"{_path(work)}.lock"):
        result = hn(work, *RECALL)
    assert result.exit == 1
    assert result.stderr.startswith("hn: the private index is in use by another process; nothing was changed")


def test_a_database_locked_by_a_stranger_is_waited_for_and_then_reported(work: Path) -> None:
    open_index(_repo(work)).close()
    stranger = sqlite3.connect(_path(work))
    stranger.execute("BEGIN IMMEDIATE")
    open_index(_repo(work, hook=True)).close()
    git(work, "commit", "-q", "--allow-empty", "-m", "more")
    with pytest.raises(IndexUnavailable):
        open_index(_repo(work, hook=True))
    stranger.rollback()
    stranger.close()
    open_index(_repo(work, hook=True)).close()


_KILLED = """
import os, signal
from ai_kb.hn import cache_rows
from ai_kb.hn.cache import locate, open_index
left = int(sys.argv[2])
insert = cache_rows.insert
def counting(*arguments):
    global left
    result = insert(*arguments)
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return result
cache_rows.insert = counting
open_index(locate(sys.argv[1], os.environ))
"""


@pytest.mark.parametrize("after", [0, 1])
def test_a_process_killed_while_it_refreshes_leaves_a_file_that_is_finished(work: Path, after: int) -> None:
    process = _program(_KILLED, work, str(after))
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with open_index(_repo(work)) as index:
        finished = _everything(index)
        assert not index.note
    discard(_repo(work))
    with open_index(_repo(work)) as index:
        assert _everything(index) == finished


# --- time -------------------------------------------------------------------------------------


def test_a_hook_out_of_time_keeps_what_was_verified_and_the_next_one_goes_on(
    tmp_path: Path, alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(tmp_path / "work", [alice, bob], 5)
    for _ in range(40):
        history.memory()
    monkeypatch.setattr(cache_refresh, "_HOOK_CHUNK", 5)
    done = 0

    class Clock:
        """Lets two chunks pass, then time is over."""

        def __init__(self) -> None:
            self.calls = 0

        def monotonic(self) -> float:
            self.calls += 1
            return 0.0 if self.calls <= 3 else 1e12

    for _ in range(20):
        monkeypatch.setattr(cache_refresh, "time", Clock())
        repo = _repo(history.directory, hook=True, deadline=time.monotonic() + 3600)
        try:
            with open_index(repo, patient=True) as index:
                assert index.count() > done
                break
        except IndexUnavailable:
            pass
        with sqlite3.connect(_path(history.directory)) as conn:
            (count,) = conn.execute("SELECT count(*) FROM memory").fetchone()
        conn.close()
        assert count > done
        done = count
    else:
        raise AssertionError("never finished")
    assert done >= 10
    grown = _open_all(history.directory)
    discard(_repo(history.directory))
    assert _open_all(history.directory) == grown


class Titles:
    """An extension that keeps the first word of every record."""

    name = "titles"

    def __init__(self, version: int = 1) -> None:
        self.version = version
        self.batches: list[tuple[int, int]] = []

    def create(self, conn: sqlite3.Connection) -> None:
        conn.execute("CREATE TABLE titles_words (number INTEGER PRIMARY KEY, word TEXT)")
        conn.execute("CREATE VIRTUAL TABLE titles_text USING fts5(word, content='')")

    def apply(
        self, conn: sqlite3.Connection, added: list[IndexedRecord], removed: list[IndexedRecord]
    ) -> None:
        self.batches.append((len(added), len(removed)))
        conn.executemany("DELETE FROM titles_words WHERE number = ?", [(r.number,) for r in removed])
        conn.executemany(
            "INSERT INTO titles_words VALUES (?, ?)",
            [(r.number, str(r.data["content"]).split()[0]) for r in added],
        )


def _titles(index: Index) -> dict[int, str]:
    return dict(index.conn.execute("SELECT number, word FROM titles_words"))


class Elsewhere(Titles):
    """An extension that another process finds."""

    where = "tests.hn.test_index_file:ELSEWHERE"


ELSEWHERE = Elsewhere()


def test_a_hook_leaves_much_to_verify_to_a_process_that_outlives_it(
    tmp_path: Path, alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(tmp_path / "work", [alice, bob], 6)
    for _ in range(40):
        history.memory()
    monkeypatch.setattr(cache_refresh, "_IMPATIENT_SECONDS", -1.0)
    spawn = os.posix_spawn
    started: list[int] = []

    def listening(path: str, *arguments: Any, **options: Any) -> int:
        pid = spawn(path, *arguments, **options)
        if path == sys.executable:
            started.append(pid)
        return pid

    monkeypatch.setattr(os, "posix_spawn", listening)
    repo = _repo(history.directory, hook=True, deadline=time.monotonic() + 3600)
    with pytest.raises(IndexUnavailable, match="not complete yet"):
        open_index(repo, extension=ELSEWHERE, workspace=str(tmp_path / "elsewhere"))
    (other,) = started
    assert os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) == 0
    # Impatient as this hook is, it gets an answer now that the other process is done.
    with open_index(repo, extension=ELSEWHERE, workspace=str(tmp_path / "elsewhere")) as index:
        assert len(_titles(index)) == index.count()
    assert started == [other]
    assert _open_all(history.directory)


@pytest.mark.parametrize("where", ["", "tests.hn.test_index_file:ELSEWHERE"])
def test_the_other_process_completes_the_index_and_ends_quietly_when_it_cannot(
    where: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0)
    monkeypatch.setattr(os, "chdir", lambda _: None)
    repo = _repo(work)
    commit = git(work, "rev-parse", "HEAD")
    arguments = [repo.git_dir, repo.common_dir, str(work), "sha1", commit, where, ""]
    cache_background.main(arguments)
    with sqlite3.connect(_path(work)) as conn:
        assert conn.execute("SELECT count(*) FROM context").fetchone() == (1,)
        assert conn.execute("SELECT count(*) FROM extension").fetchone() == (1 if where else 0,)
    conn.close()
    git(work, "update-ref", "refs/hn/memory/malformed", "HEAD")
    cache_background.main(arguments)


def test_that_nobody_can_be_started_is_no_failure_of_its_own(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_refresh, "_IMPATIENT_SECONDS", -1.0)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(IndexUnavailable, match="not complete yet"):
        open_index(_repo(work, hook=True))


def _open_all(directory: Path) -> list[str]:
    with open_index(_repo(directory)) as index:
        return _everything(index)


_WARM = """
import os, time
from ai_kb.hn.cache import locate, open_index
repo = locate(sys.argv[1], os.environ, hook=True, deadline=time.monotonic() + 3600)
with open_index(repo) as index:
    numbers = [n for n in range(60) if index.gate() >> n & 1]
    print(len(index.judged(numbers)))
print(" ".join(sorted(sys.modules)))
"""

# What a hook that finds its index current has no use for. (re, json and the rest cost milliseconds each.)
_HEAVY = {
    *("argparse", "ast", "base64", "contextlib", "dataclasses", "datetime", "enum", "hashlib"),
    *(
        "inspect",
        "json",
        "nacl",
        "orjson",
        "pathlib",
        "re",
        "re2",
        "signal",
        "sqlite3",
        "subprocess",
        "tempfile",
    ),
    *("typing", "git", "filelock", "rank_bm25", "ai_kb.hn.projection", "ai_kb.hn.verification"),
}


def _logged(tmp_path: Path) -> tuple[dict[str, str], Path]:
    """An environment whose git writes down its arguments, and where."""
    directory, log = tmp_path / "bin", tmp_path / "git.log"
    directory.mkdir(exist_ok=True)
    real = shutil.which("git")
    (directory / "git").write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {real} "$@"\n')
    (directory / "git").chmod(0o755)
    log.write_text("")
    return {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}, log


def test_a_warm_hook_imports_the_standard_library_only_and_starts_two_processes(
    work: Path, tmp_path: Path
) -> None:
    open_index(_repo(work)).close()
    env, log = _logged(tmp_path)
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + _WARM
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, str(work)], env=env, capture_output=True, text=True, check=True
    )
    shown, modules = done.stdout.splitlines()
    assert int(shown) > 3
    site = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert _HEAVY & set(modules.split()) - set(site) == set()
    lines = [line.split("work ", 1)[1] for line in log.read_text().splitlines()]
    assert sorted(line.split()[0] for line in lines) == ["cat-file", "for-each-ref"]


def test_one_more_record_or_commit_costs_the_same_processes_at_any_size(
    tmp_path: Path, alice: Person
) -> None:
    history = History(tmp_path / "work", [alice], 9)
    costs: dict[int, tuple[int, int]] = {}
    for size in (10, 60):
        while len(history.ids) < size:
            history.memory()
        open_index(_repo(history.directory)).close()
        env, log = _logged(tmp_path)
        counts = []
        for event in (history.memory, history.commit):
            event()
            log.write_text("")
            repo = locate(str(history.directory), env)
            assert repo is not None
            open_index(repo).close()
            counts.append(len(log.read_text().splitlines()))
        costs[size] = (counts[0], counts[1])
    assert max(costs[60]) <= 3, costs


# --- extensions -------------------------------------------------------------------------------


def test_an_extension_is_made_late_kept_in_step_and_made_again_for_another_version(
    tmp_path: Path, alice: Person, bob: Person
) -> None:
    history = History(tmp_path / "work", [alice, bob], 21)
    for _ in range(12):
        history.memory()
    open_index(_repo(history.directory)).close()
    for version in (1, 1, 2):
        titles = Titles(version)
        for _ in range(8):
            history.step()
        with open_index(_repo(history.directory), extension=titles) as index:
            records = index.records(
                bits.members(index.any_of(bits.KIND, ("observation", "decision", "assumption")))
            )
            assert _titles(index) == {r.number: str(r.data["content"]).split()[0] for r in records}
    with open_index(_repo(history.directory), extension=titles) as index:
        assert titles.batches[-1] != (0, 0)
    last = list(titles.batches)
    open_index(_repo(history.directory), extension=titles).close()
    assert titles.batches == last


def test_streams_that_vanish_while_an_extension_is_not_asked_for_are_gone_from_it(
    tmp_path: Path, alice: Person, bob: Person
) -> None:
    history = History(tmp_path / "work", [alice, bob], 22)
    for _ in range(16):
        history.memory()
    open_index(_repo(history.directory), extension=Titles()).close()
    history.drop()
    open_index(_repo(history.directory)).close()
    with open_index(_repo(history.directory), extension=Titles()) as index:
        assert len(_titles(index)) == index.count()


# --- what it refuses --------------------------------------------------------------------------


def test_one_invalid_stream_fails_every_question_until_it_is_gone(work: Path) -> None:
    with open_index(_repo(work)) as index:
        wanted = _everything(index)
    bad = f"refs/hn/memory/{'a' * 64}/{'b' * 64}"
    git(work, "update-ref", bad, "HEAD")
    for _ in range(2):
        with pytest.raises(InvalidStream):
            open_index(_repo(work))
    git(work, "update-ref", "-d", bad)
    with open_index(_repo(work)) as index:
        assert _everything(index) == wanted
    git(work, "update-ref", "refs/hn/memory/malformed", "HEAD")
    for _ in range(2):
        with pytest.raises(InvalidStream, match="malformed memory ref"):
            open_index(_repo(work))


def test_other_refs_below_the_namespace_are_no_concern_of_the_index(work: Path) -> None:
    with open_index(_repo(work)) as index:
        change = index.change
    git(work, "update-ref", "refs/hn/remotes/origin/proposals/x", "HEAD")
    git(work, "update-ref", "refs/hn/elsewhere", "HEAD")
    with open_index(_repo(work)) as index:
        assert index.change == change


def test_a_repository_is_found_without_git_from_anywhere_in_it(work: Path, tmp_path: Path) -> None:
    git(work, "worktree", "add", "-q", str(tmp_path / "linked"), "side")
    (work / "deep" / "er").mkdir(parents=True)
    for place, root in ((work / "deep" / "er", work), (tmp_path / "linked", tmp_path / "linked")):
        repo = _repo(place)
        assert repo.work_tree == str(root)
        assert repo.common_dir == str(work / ".git")
        assert repo.object_format == "sha1"
    assert _repo(tmp_path / "linked").git_dir == str(work / ".git" / "worktrees" / "linked")
    assert locate("/", os.environ) is None
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / ".git").write_text("gitdir: /nowhere\n")
    found = locate(str(broken), os.environ)
    assert found is None or found.work_tree != str(broken)


def test_a_shallow_clone_answers_as_a_projection_does_and_again_when_it_deepens(
    work: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{work}", str(clone))
    git(clone, "fetch", "-q", "origin", "refs/hn/memory/*:refs/hn/memory/*")
    for deeper in (True, False):
        repo = _repo(clone)
        with open_index(repo) as index:
            rows = Scratch(repo, index.at_commit).projection.rows.values()
            wanted = [r.id for r in rows if r.applicability == "applicable" and r.evidence == "resolved"]
            assert _everything(index) == sorted(wanted)
        if deeper:
            git(clone, "fetch", "-q", "--unshallow")


def _as_projected(work: Path) -> list[str]:
    repo = _repo(work)
    with open_index(repo) as index:
        found = _everything(index)
        rows = Scratch(repo, index.at_commit).projection.rows.values()
    assert found == sorted(
        row.id for row in rows if row.applicability == "applicable" and row.evidence == "resolved"
    )
    return found


def test_collaboration_events_come_and_go_and_their_evidence_with_them(work: Path) -> None:
    with_events = _as_projected(work)
    (name,) = git(work, "for-each-ref", "--format=%(refname)", "refs/hn/actors").splitlines()
    head = git(work, "rev-parse", name)
    git(work, "update-ref", "-d", name)
    without = _as_projected(work)
    assert set(without) < set(with_events)
    git(work, "update-ref", name.replace("refs/hn/actors", "refs/hn/remotes/origin/actors"), head)
    assert _as_projected(work) == with_events
    git(work, "commit", "-q", "--allow-empty", "-m", "no event")
    git(work, "update-ref", name.replace("refs/hn/actors", "refs/hn/remotes/origin/actors"), "HEAD")
    assert set(_as_projected(work)) <= set(without)


def test_a_tree_that_is_missing_is_asked_for_until_it_is_there(repository: Path, tmp_path: Path) -> None:
    (repository / "src").mkdir()
    (repository / "src" / "app.py").write_text("x = 1\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "code")
    assert hn(repository, "init", "--name", "Someone").exit == 0
    flags = ("--kind", "observation", "--at", "HEAD", "--applies", "descendants", "--path", "src/app.py")
    assert hn(repository, "memory", "record", *flags, "--content", "about the code").exit == 0
    tree = git(repository, "rev-parse", "HEAD:src")
    path = repository / ".git/objects" / tree[:2] / tree[2:]
    path.rename(tmp_path / "tree")
    for _ in range(2):
        assert _as_projected(repository) == []
    (tmp_path / "tree").rename(path)
    assert len(_as_projected(repository)) == 1
    with open_index(_repo(repository)) as index:
        assert index.conn.execute("SELECT count(*) FROM unsettled").fetchone() == (0,)


def test_a_sha256_repository_is_indexed(tmp_path: Path, make: Callable[..., Any]) -> None:
    work = tmp_path / "work"
    git(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256", str(work))
    git(work, "commit", "-q", "--allow-empty", "-m", "first")
    assert hn(work, "init", "--name", "Someone").exit == 0
    done = hn(
        work,
        *("memory", "record", "--kind", "decision", "--at", "HEAD", "--applies", "exact", "--content", "x"),
    )
    assert done.exit == 0, done.stderr
    result = hn(work, "memory", "recall", "--include-untrusted", "--json")
    assert json.loads(result.stdout)["matched"] == 1
    with open_index(_repo(work)) as index:
        assert len(index.at_commit) == 64
