"""Folding, repair and cleaning: nothing needed is lost, nothing named is cleaned."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from agent_base.errors import UnsafePath
from agent_memory import ledger, locks, queue, upkeep, worklog
from agent_memory.topics import State
from tests.memory import recording

DAY = 24 * 3600


@pytest.fixture
def state() -> State:
    return recording.state("/home/user/project")


@pytest.fixture
def spec_dir(state: State) -> str:
    return state.spec_dir


def put(spec_dir: str, command: str, topic: str, key: str = "s1", day: int = 1) -> None:
    entry = {"ts": f"2026-01-{day:02d}T00:00:00.000Z", "topic": topic, "command": command}
    queue.enqueue(spec_dir, key, entry, f"id-{command}")


def fold(spec_dir: str, source: str, target: str) -> int:
    with locks.activity(spec_dir, exclusive=True):
        return upkeep.fold(spec_dir, source, target)


def test_folding_merges_in_time_order_and_renames(spec_dir: str) -> None:
    for day, (command, topic) in enumerate([("a", "x"), ("b", "y"), ("c", "x"), ("d", "y")], 1):
        put(spec_dir, command, topic, day=day)
    queue.flush(spec_dir)
    put(spec_dir, "e", "x", day=5)
    assert fold(spec_dir, "x", "y") == 2
    assert queue.flush(spec_dir).clean
    recording.assert_settled(spec_dir, ["a", "b", "c", "d", "e"], "y")
    assert not os.path.exists(worklog.path(spec_dir, "x"))
    assert {entry["topic"] for entry in recording.records(spec_dir)} == {"y"}


def test_folding_keeps_the_cap(spec_dir: str) -> None:
    for topic in ("x", "y"):
        worklog.write(
            worklog.path(spec_dir, topic),
            [{"ts": f"{n:04d}{topic}", "worklog_id": f"{topic}{n}"} for n in range(150)],
        )
    fold(spec_dir, "x", "y")
    found = recording.records(spec_dir, "y")
    assert len(found) == worklog.KEEP
    assert [entry["worklog_id"] for entry in found[-2:]] == ["x149", "y149"]


def test_folding_into_itself_or_from_nothing_changes_nothing(spec_dir: str) -> None:
    put(spec_dir, "a", "x")
    queue.flush(spec_dir)
    assert fold(spec_dir, "x", "x") == 0
    assert fold(spec_dir, "nothing", "x") == 0
    recording.assert_settled(spec_dir, ["a"], "x")


def test_folding_passes_over_what_it_cannot_read(spec_dir: str) -> None:
    put(spec_dir, "a", "x")
    put(spec_dir, "b", "x")
    Path(queue.directory(spec_dir, "s1"), "000000000001.json").write_bytes(b"damaged")
    fold(spec_dir, "x", "y")
    result = queue.flush(spec_dir)
    assert (result.flushed, result.pending) == (1, 1)
    assert recording.commands(spec_dir, "y") == ["b"]


# ---------------------------------------------------------------- repair


def test_repair_moves_damaged_records_to_the_ledger_and_lets_harvest_go_on(spec_dir: str) -> None:
    put(spec_dir, "a", "x")
    put(spec_dir, "b", "x")
    path = Path(queue.directory(spec_dir, "s1"), "000000000001.json")
    path.write_bytes(b"password: hunter2 " + b"\xff" * 5000)
    ledger.add(spec_dir, "refused", "full", session_key="s1")
    assert not queue.flush(spec_dir, "s1").clean
    done = upkeep.repair(spec_dir, "s1")
    assert len(done) == 2
    assert "000000000001.json was taken out of the queue" in done[0]
    assert "1 entries of the error ledger are marked as seen" in done[1]
    assert queue.flush(spec_dir, "s1").clean
    assert recording.commands(spec_dir) == ["b"]
    moved = ledger.entries(spec_dir)[-1]
    assert moved["kind"] == "repaired"
    record = moved["record"]
    assert isinstance(record, dict)
    assert str(record["content"]).startswith("password: [redacted:password]")
    assert len(str(record["content"])) <= 1200
    assert upkeep.repair(spec_dir) == []


def test_repair_leaves_other_sessions_alone(spec_dir: str) -> None:
    for key in ("s1", "s2"):
        put(spec_dir, key, "x", key=key)
        Path(queue.directory(spec_dir, key), "000000000001.json").write_bytes(b"x")
    assert len(upkeep.repair(spec_dir, "s1")) == 1
    assert queue.pending(spec_dir) == [("s2", "000000000001.json")]


def test_repair_without_a_directory_does_nothing(tmp_path: Path) -> None:
    assert upkeep.repair(str(tmp_path / "none")) == []


def test_repair_takes_planted_things_away(spec_dir: str, tmp_path: Path) -> None:
    put(spec_dir, "a", "x")
    directory = Path(queue.directory(spec_dir, "s1"))
    outside = tmp_path / "outside"
    outside.write_text("stays")
    (directory / "000000000002.json").symlink_to(outside)
    (directory / "000000000003.json").mkdir()
    os.mkfifo(directory / "000000000004.json", 0o600)
    (directory / "000000000005.json").mkdir()
    (directory / "000000000005.json/x").write_text("")
    done = upkeep.repair(spec_dir)
    assert len(done) == 4
    assert "is in the ledger, and stays" in done[-1]
    assert outside.read_text() == "stays"
    assert [name for _, name in queue.pending(spec_dir)] == ["000000000001.json", "000000000005.json"]


def test_repair_keeps_a_record_when_the_ledger_cannot_take_it(
    spec_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(spec_dir, "a", "x")
    Path(queue.directory(spec_dir, "s1"), "000000000001.json").write_bytes(b"x")
    monkeypatch.setattr(ledger, "add", lambda *_, **__: False)
    assert upkeep.repair(spec_dir) == [
        "queue record s1/000000000001.json stays: the ledger could not be written"
    ]
    assert len(queue.pending(spec_dir)) == 1


def test_a_record_that_vanishes_needs_no_repair(spec_dir: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "pending", lambda *_: [("s1", "000000000001.json")])
    assert upkeep.repair(spec_dir) == []


# ---------------------------------------------------------------- cleaning


def age(path: str | Path, days: float, now: float) -> None:
    os.utime(path, (now - days * DAY, now - days * DAY))


def files_of(spec_dir: str) -> set[str]:
    found = set()
    for directory, _, names in os.walk(spec_dir):
        found |= {os.path.relpath(os.path.join(directory, name), spec_dir) for name in names}
    return {name for name in found if not name.startswith(locks.LOCKS)}


def fill(spec_dir: str, days: float, now: float) -> None:
    for key, topic in (("s1", "session-s1"), ("s2", "named"), ("s3", "current")):
        put(spec_dir, topic, topic, key=key)
    queue.flush(spec_dir)
    for name in (".recall-seen-s1.json", "named.txt", ".session-topic-s2.txt", "_active_topic.txt"):
        path = Path(spec_dir, name)
        path.write_text("x")
        path.chmod(0o600)
    ledger.add(spec_dir, "hook", "old", now=now - days * DAY)
    for directory, _, names in os.walk(spec_dir):
        for name in names:
            age(os.path.join(directory, name), days, now)
    for key in queue.sessions(spec_dir):
        age(queue.directory(spec_dir, key), days, now)


def test_the_ledger_of_the_root_is_cleaned_as_well(spec_dir: str, tmp_path: Path) -> None:
    now = time.time()
    fill(spec_dir, 0.0, now)
    root = tmp_path / "root"
    root.mkdir(mode=0o700)
    ledger.add(str(root), "hook", "old", now=now - 8 * DAY)
    ledger.add(str(root), "hook", "new", now=now)
    upkeep.clean_up(spec_dir, now, root=str(root), force=True)
    assert [entry["message"] for entry in ledger.entries(str(root))] == ["new"]


def test_a_ledger_of_the_root_that_cannot_be_used_leaves_cleaning_once_a_day(
    spec_dir: str, tmp_path: Path
) -> None:
    now = time.time()
    fill(spec_dir, 8, now)
    root = tmp_path / "root"
    root.mkdir(mode=0o700)
    ledger.add(str(root), "hook", "old", now=now - 8 * DAY)
    (root / ledger.FILE).chmod(0o666)
    with pytest.raises(UnsafePath):
        upkeep.clean_up(spec_dir, now, root=str(root))
    assert ledger.entries(spec_dir) == []
    fill(spec_dir, 8, now)
    os.utime(os.path.join(spec_dir, locks.LOCKS, ".cleaned"), (now, now))
    assert upkeep.clean_up(spec_dir, now + 1, root=str(root)) == []


def test_after_seven_days_only_what_nobody_needs_goes(spec_dir: str) -> None:
    now = time.time()
    fill(spec_dir, 7.1, now)
    removed = upkeep.clean_up(spec_dir, now, force=True)
    assert sorted(removed) == [
        ".recall-seen-s1.json",
        ".worklog-queue-v1/s1",
        ".worklog-queue-v1/s2",
        ".worklog-queue-v1/s3",
        "session-s1.worklog.jsonl",
    ]
    assert files_of(spec_dir) == {
        "named.worklog.jsonl",
        "current.worklog.jsonl",
        "named.txt",
        ".session-topic-s2.txt",
        "_active_topic.txt",
        ledger.FILE,
        ledger.LOCK,
    }
    assert ledger.entries(spec_dir) == []
    kept = {n for n in os.listdir(os.path.join(spec_dir, locks.LOCKS)) if n.startswith(("session", "target"))}
    assert kept == set()


def test_before_seven_days_nothing_goes(spec_dir: str) -> None:
    now = time.time()
    fill(spec_dir, 6.9, now)
    before = files_of(spec_dir)
    assert upkeep.clean_up(spec_dir, now, force=True) == []
    assert files_of(spec_dir) == before
    assert len(ledger.entries(spec_dir)) == 1


def test_a_queue_that_is_not_drained_and_its_bucket_stay(spec_dir: str) -> None:
    now = time.time()
    fill(spec_dir, 8, now)
    Path(queue.directory(spec_dir, "s1"), "000000000002.json").write_bytes(b"damaged")
    age(queue.directory(spec_dir, "s1"), 8, now)
    upkeep.clean_up(spec_dir, now, force=True)
    assert queue.pending(spec_dir) == [("s1", "000000000002.json")]
    assert recording.commands(spec_dir, "session-s1") == ["session-s1"]


def test_cleaning_happens_once_a_day(spec_dir: str) -> None:
    now = time.time()
    assert upkeep.clean_up(spec_dir, now) == []
    fill(spec_dir, 8, now)
    assert upkeep.clean_up(spec_dir, now) != []
    fill(spec_dir, 8, now)
    os.utime(os.path.join(spec_dir, locks.LOCKS, ".cleaned"), (now, now))
    assert upkeep.clean_up(spec_dir, now + DAY / 2) == []
    assert upkeep.clean_up(spec_dir, now + DAY + 1) != []


def test_cleaning_waits_for_nobody(spec_dir: str) -> None:
    now = time.time()
    fill(spec_dir, 8, now)
    with locks.activity(spec_dir):
        assert upkeep.clean_up(spec_dir, now, force=True) == []
    assert upkeep.clean_up(spec_dir, now, force=True) != []


def test_cleaning_leaves_what_is_not_this_users_own_file(spec_dir: str) -> None:
    now = time.time()
    put(spec_dir, "a", "x")
    queue.flush(spec_dir)
    link = Path(spec_dir, "session-evil.worklog.jsonl")
    link.symlink_to("/etc/hostname")
    os.utime(link, (0, 0), follow_symlinks=False)
    upkeep.clean_up(spec_dir, now, force=True)
    assert link.is_symlink()


def test_a_session_that_comes_back_after_cleaning_starts_a_new_queue(state: State) -> None:
    state.bind("s2", "named")
    now = time.time()
    fill(state.spec_dir, 8, now)
    upkeep.clean_up(state.spec_dir, now, force=True)
    put(state.spec_dir, "back", "named", key="s2")
    queue.flush(state.spec_dir)
    found = recording.records(state.spec_dir, "named")
    assert [entry["worklog_seq"] for entry in found] == [1, 2]


def test_unsafe_lock_directories_are_refused(spec_dir: str) -> None:
    put(spec_dir, "a", "x")
    os.chmod(os.path.join(spec_dir, locks.LOCKS), 0o777)
    with pytest.raises(UnsafePath):
        upkeep.clean_up(spec_dir, time.time(), force=True)
