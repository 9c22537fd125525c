"""The queue: published whole, recorded once, in order; full, damaged or hostile, it says so."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest

from agent_base import files
from agent_base.errors import UnsafePath
from agent_memory import ledger, locks, queue, worklog
from agent_memory import workspace as places
from agent_memory.topics import State
from tests.memory import recording

KEY = "session-1"


@pytest.fixture
def state() -> State:
    return recording.state("/home/user/project")


@pytest.fixture
def spec_dir(state: State) -> str:
    return state.spec_dir


def entry(command: str, topic: str = "topic", second: int = 0) -> dict[str, object]:
    return {"ts": f"2026-01-01T00:00:{second:02d}.000Z", "topic": topic, "command": command}


def put(spec_dir: str, command: str, topic: str = "topic", key: str = KEY) -> int:
    return queue.enqueue(spec_dir, key, entry(command, topic), f"id-{key}-{command}")


def path_of(spec_dir: str, number: int, key: str = KEY) -> Path:
    return Path(queue.directory(spec_dir, key), f"{number:012d}.json")


# ---------------------------------------------------------------- publishing


def test_a_record_is_published_with_its_identity(spec_dir: str) -> None:
    assert put(spec_dir, "one") == 1
    assert put(spec_dir, "two") == 2
    record = json.loads(path_of(spec_dir, 2).read_bytes())
    assert record == {
        "ts": "2026-01-01T00:00:00.000Z",
        "topic": "topic",
        "command": "two",
        "worklog_id": "id-session-1-two",
        "session_key": KEY,
        "worklog_seq": 2,
    }


def test_everything_in_the_queue_is_private(spec_dir: str) -> None:
    old = os.umask(0)
    try:
        put(spec_dir, "one")
        queue.flush(spec_dir)
        put(spec_dir, "two")
    finally:
        os.umask(old)
    for directory, _, names in os.walk(spec_dir):
        assert os.lstat(directory).st_mode & 0o777 == 0o700
        for name in names:
            assert os.lstat(os.path.join(directory, name)).st_mode & 0o777 == 0o600


def test_a_flush_appends_in_order_and_empties_the_queue(spec_dir: str) -> None:
    for number in range(12):
        put(spec_dir, f"c{number}")
    result = queue.flush(spec_dir, KEY)
    assert (result.flushed, result.pending, result.errors) == (12, 0, ())
    assert result.clean
    recording.assert_settled(spec_dir, [f"c{number}" for number in range(12)])


def test_numbers_go_on_after_a_flush(spec_dir: str) -> None:
    put(spec_dir, "one")
    queue.flush(spec_dir)
    assert put(spec_dir, "two") == 2


def test_numbers_go_on_after_the_queue_was_cleaned_or_its_counter_damaged(spec_dir: str) -> None:
    put(spec_dir, "one")
    put(spec_dir, "other", key="session-2")
    queue.flush(spec_dir)
    counter = Path(queue.directory(spec_dir, KEY), ".sequence")
    for damage in (lambda: counter.unlink(), lambda: counter.write_bytes(b"x")):
        damage()
        before = queue.enqueue(spec_dir, KEY, entry("x"), queue.new_id())
        queue.flush(spec_dir)
        assert before > 1
    numbers = [r["worklog_seq"] for r in recording.records(spec_dir) if r["session_key"] == KEY]
    assert numbers == [1, 2, 3]


def test_a_worklog_that_is_hostile_does_not_disturb_the_search_for_numbers(spec_dir: str) -> None:
    Path(worklog.path(spec_dir, "a")).symlink_to("/etc/passwd")
    files.write_atomic(worklog.path(spec_dir, "b"), b'{"session_key":"session-1","worklog_seq":"x"}\n')
    files.write_atomic(worklog.path(spec_dir, "c"), b'{"session_key":"session-1","worklog_seq":7 torn\n')
    assert put(spec_dir, "one") == 1


def test_leftovers_of_a_killed_writer_are_removed(spec_dir: str) -> None:
    put(spec_dir, "one")
    leftover = Path(queue.directory(spec_dir, KEY), ".000000000002.json.1.2.tmp")
    leftover.write_bytes(b'{"half')
    put(spec_dir, "two")
    assert not leftover.exists()
    leftover.write_bytes(b'{"half')
    queue.flush(spec_dir)
    assert not leftover.exists()


# ---------------------------------------------------------------- replay


def test_a_replayed_record_that_is_pending_is_not_published_again(spec_dir: str) -> None:
    put(spec_dir, "one")
    Path(queue.directory(spec_dir, KEY), "000000000000.json").mkdir()
    assert queue.enqueue(spec_dir, KEY, entry("one"), "id-session-1-one", replay=True) == 0
    assert len(queue.pending(spec_dir)) == 2


def test_a_replayed_record_that_was_recorded_is_not_published_again(spec_dir: str) -> None:
    put(spec_dir, "one")
    queue.flush(spec_dir)
    assert queue.enqueue(spec_dir, KEY, entry("one"), "id-session-1-one", replay=True) == 0
    assert queue.enqueue(spec_dir, KEY, entry("two"), "id-session-1-two", replay=True) == 2
    assert queue.enqueue(spec_dir, KEY, entry("two"), "id-session-1-two", replay=True) == 0
    assert queue.enqueue(spec_dir, KEY, entry("three"), "id-session-1-three", replay=True) == 3


def test_a_record_that_is_in_the_worklog_is_only_acknowledged(spec_dir: str) -> None:
    put(spec_dir, "one")
    line = path_of(spec_dir, 1).read_bytes()
    queue.flush(spec_dir)
    path_of(spec_dir, 1).write_bytes(line)
    path_of(spec_dir, 1).chmod(0o600)
    result = queue.flush(spec_dir)
    assert result.clean
    recording.assert_settled(spec_dir, ["one"])


def test_what_a_command_says_about_ids_is_no_id(spec_dir: str) -> None:
    queue.enqueue(spec_dir, KEY, entry('{"worklog_id":"id-session-1-two"}'), "first")
    put(spec_dir, "two")
    queue.flush(spec_dir)
    assert recording.commands(spec_dir) == ['{"worklog_id":"id-session-1-two"}', "two"]


# ---------------------------------------------------------------- bounds


def test_a_queue_takes_256_events_and_refuses_the_next_loudly(spec_dir: str) -> None:
    for number in range(queue.MAX_EVENTS):
        put(spec_dir, f"c{number}")
    with pytest.raises(queue.QueueFull, match=r"256 events .* of session session-1 wait"):
        put(spec_dir, "one too many")
    assert len(queue.pending(spec_dir, KEY)) == 256
    put(spec_dir, "another session has its own", key="session-2")
    assert queue.flush(spec_dir).flushed == 257
    put(spec_dir, "room again")


def test_a_queue_takes_one_mebibyte(spec_dir: str) -> None:
    big = entry("x" * 200_000)
    for number in range(5):
        queue.enqueue(spec_dir, KEY, big, f"id-{number}")
    with pytest.raises(queue.QueueFull, match="1048576 bytes may"):
        queue.enqueue(spec_dir, KEY, big, "one-too-many")
    assert len(queue.pending(spec_dir)) == 5
    put(spec_dir, "a small one still fits")


def test_a_record_that_vanishes_while_it_is_counted_does_not_matter(
    spec_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(spec_dir, "one")
    monkeypatch.setattr(queue, "names_of", lambda path: ["000000000009.json"])
    assert put(spec_dir, "two") == 10


# ---------------------------------------------------------------- damage


def damaged(spec_dir: str) -> dict[str, bytes]:
    good = {**entry("x"), "worklog_id": "i", "session_key": KEY}
    return {
        "not json": b"\x00\x01",
        "torn": b'{"topic":"topic","worklog_id":"i","sess',
        "two lines": b"{}\n{}",
        "a list": b"[]",
        "a return behind it": json.dumps({**good, "worklog_seq": 2}, separators=(",", ":")).encode() + b"\r",
        "no topic": json.dumps({**good, "topic": None, "worklog_seq": 2}, separators=(",", ":")).encode(),
        "a topic outside": json.dumps(
            {**good, "topic": "../../etc", "worklog_seq": 2}, separators=(",", ":")
        ).encode(),
        "no id": json.dumps({**good, "worklog_id": None, "worklog_seq": 2}, separators=(",", ":")).encode(),
        "another place": json.dumps({**good, "worklog_seq": 3}, separators=(",", ":")).encode(),
        "another session": json.dumps(
            {**good, "session_key": "else", "worklog_seq": 2}, separators=(",", ":")
        ).encode(),
        "huge": b"{" + b"x" * (queue.RECORD_LIMIT + 1),
        "empty": b"",
    }


@pytest.mark.parametrize("kind", sorted(damaged("")))
def test_a_damaged_record_stays_visible_and_blocks_nothing(spec_dir: str, kind: str) -> None:
    put(spec_dir, "one")
    put(spec_dir, "two")
    put(spec_dir, "three")
    path_of(spec_dir, 2).write_bytes(damaged(spec_dir)[kind])
    result = queue.flush(spec_dir, KEY)
    assert (result.flushed, result.pending) == (2, 1)
    assert len(result.errors) == 1
    assert "session-1/000000000002.json stays pending" in result.errors[0]
    assert not result.clean
    assert recording.commands(spec_dir) == ["one", "three"]
    again = queue.state(spec_dir, KEY)
    assert (again.pending, len(again.errors)) == (1, 1)
    assert queue.flush(spec_dir, "another-session").clean
    assert put(spec_dir, "four") == 4


@pytest.mark.parametrize(
    "name", ["notes.json", "1.json", "000000000002.txt", "00000000000x.json", "\u00b2" * 12 + ".json"]
)
def test_a_file_that_is_no_record_is_pending_and_named(spec_dir: str, name: str) -> None:
    put(spec_dir, "one")
    Path(queue.directory(spec_dir, KEY), name).write_bytes(b"{}")
    result = queue.flush(spec_dir)
    assert (result.flushed, result.pending) == (1, 1)
    assert "its name is no sequence number" in result.errors[0]


@pytest.mark.parametrize("plant", ["symlink", "directory", "fifo", "writable"])
def test_a_record_that_somebody_could_have_planted_is_not_read(spec_dir: str, plant: str) -> None:
    put(spec_dir, "one")
    put(spec_dir, "two")
    victim = path_of(spec_dir, 2)
    content = victim.read_bytes()
    if plant == "writable":
        victim.chmod(0o666)
    else:
        victim.unlink()
        if plant == "symlink":
            elsewhere = Path(spec_dir, "elsewhere")
            elsewhere.write_bytes(content)
            victim.symlink_to(elsewhere)
        elif plant == "directory":
            victim.mkdir()
        else:
            os.mkfifo(victim, 0o600)
    result = queue.flush(spec_dir)
    assert (result.flushed, result.pending, len(result.errors)) == (1, 1, 1)
    assert recording.commands(spec_dir) == ["one"]


@pytest.mark.parametrize("level", ["queue", "session", "locks", "spec"])
def test_a_directory_that_is_not_private_is_not_used(spec_dir: str, level: str) -> None:
    put(spec_dir, "one")
    path = {
        "queue": os.path.join(spec_dir, queue.QUEUE),
        "session": queue.directory(spec_dir, KEY),
        "locks": os.path.join(spec_dir, locks.LOCKS),
        "spec": spec_dir,
    }[level]
    os.chmod(path, 0o777)
    result = queue.flush(spec_dir)
    assert (result.flushed, result.pending) == (0, 1)
    assert "can be written by others" in result.errors[0]
    if level in ("queue", "session", "locks"):
        with pytest.raises(UnsafePath):
            put(spec_dir, "two")


def test_a_worklog_that_cannot_be_written_keeps_its_events_pending(spec_dir: str) -> None:
    Path(worklog.path(spec_dir, "bad")).mkdir(mode=0o700)
    put(spec_dir, "one", topic="bad")
    put(spec_dir, "two", topic="good")
    result = queue.flush(spec_dir)
    assert (result.flushed, result.pending) == (1, 1)
    assert "1 events of session session-1 stay pending" in result.errors[0]
    Path(worklog.path(spec_dir, "bad")).rmdir()
    assert queue.flush(spec_dir).clean


def test_open_entries_of_the_ledger_are_errors_of_their_session(spec_dir: str) -> None:
    ledger.add(spec_dir, "refused", "full", session_key=KEY)
    ledger.add(spec_dir, "odd", "broken")
    assert queue.flush(spec_dir, KEY).errors == ("refused: full", "odd: broken")
    assert queue.flush(spec_dir, "session-2").errors == ("odd: broken",)
    assert len(queue.state(spec_dir).errors) == 2


def test_a_record_that_vanishes_while_it_is_looked_at_is_no_error(
    spec_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "pending", lambda *_: [(KEY, "000000000001.json")])
    assert queue.state(spec_dir).errors == ()


def test_nothing_there_is_nothing_to_flush(spec_dir: str, tmp_path: Path) -> None:
    assert queue.flush(spec_dir).clean
    assert queue.flush(str(tmp_path / "missing"), KEY).clean
    assert queue.sessions(str(tmp_path / "missing")) == []
    files.write_atomic(os.path.join(spec_dir, queue.QUEUE), b"")
    assert queue.flush(spec_dir).clean
    assert queue.pending(spec_dir, KEY) == []


# ---------------------------------------------------------------- where events go


def test_events_of_a_session_that_was_bound_since_go_to_its_topic(state: State) -> None:
    fallback = places.session_topic(KEY)
    put(state.spec_dir, "before", topic=fallback)
    state.bind(KEY, "named")
    put(state.spec_dir, "other session", topic=places.session_topic("session-2"), key="session-2")
    queue.flush(state.spec_dir)
    assert recording.commands(state.spec_dir, "named") == ["before"]
    assert [r["topic"] for r in recording.records(state.spec_dir, "named")] == ["named"]
    assert recording.commands(state.spec_dir, places.session_topic("session-2")) == ["other session"]


def test_events_of_an_unbound_session_stay_in_its_fallback_bucket(state: State) -> None:
    put(state.spec_dir, "x", topic=places.session_topic(KEY))
    queue.flush(state.spec_dir)
    assert recording.commands(state.spec_dir, places.session_topic(KEY)) == ["x"]


# ---------------------------------------------------------------- locks and the flusher


def hold(spec_dir: str, exclusive: bool, ready: object, done: object) -> None:
    with locks.activity(spec_dir, exclusive=exclusive):
        ready.set()  # type: ignore[attr-defined]
        done.wait()  # type: ignore[attr-defined]


@pytest.fixture
def holder() -> object:
    """Start a process that holds the activity lock; gives a function, and ends what it started."""
    context = multiprocessing.get_context("fork")
    started = []

    def start(spec_dir: str, *, exclusive: bool) -> object:
        ready, done = context.Event(), context.Event()
        process = context.Process(target=hold, args=(spec_dir, exclusive, ready, done))
        process.start()
        ready.wait()
        started.append((process, done))
        return done

    yield start
    for process, done in started:
        done.set()
        process.join()


def test_writers_share_the_activity_lock(spec_dir: str, holder: object) -> None:
    holder(spec_dir, exclusive=False)  # type: ignore[operator]
    assert queue.enqueue(spec_dir, KEY, entry("x"), "i", timeout=0) == 1
    with (
        pytest.raises(files.LockTimeout),
        locks.activity(spec_dir, exclusive=True, timeout=0),
    ):
        pass


def test_who_wants_everything_settled_keeps_writers_out(spec_dir: str, holder: object) -> None:
    put(spec_dir, "one")
    holder(spec_dir, exclusive=True)  # type: ignore[operator]
    with pytest.raises(files.LockTimeout):
        queue.enqueue(spec_dir, KEY, entry("x"), "i", timeout=0)
    result = queue.flush(spec_dir, timeout=0)
    assert result.pending == 1
    assert "the queue of session session-1 could not be flushed" in result.errors[0]
    assert queue.flush(spec_dir, held=True, timeout=0).clean


def test_the_flusher_records_what_comes_and_leaves_after_80_ms_without_work(spec_dir: str) -> None:
    put(spec_dir, "one")
    now = [100.0]
    naps: list[float] = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        now[0] += seconds
        if len(naps) == 3:
            put(spec_dir, "two")

    result = queue.run_flusher(spec_dir, clock=lambda: now[0], sleep=sleep)
    assert (result.flushed, result.pending) == (2, 0)
    # three naps until the second event came, and four (80 ms) after it
    assert now[0] - 100 == pytest.approx(0.08 + 0.08, abs=0.021)


def test_the_flusher_leaves_after_two_seconds_however_much_comes(spec_dir: str) -> None:
    now = [0.0]
    count = [0]

    def sleep(seconds: float) -> None:
        now[0] += seconds
        count[0] += 1
        put(spec_dir, f"c{count[0]}")

    result = queue.run_flusher(spec_dir, clock=lambda: now[0], sleep=sleep)
    assert now[0] == pytest.approx(2.0, abs=0.03)
    assert result.flushed == count[0] - result.pending
    assert result.pending == 0


def test_results_add_up() -> None:
    total = queue.FlushResult(1, 2, ["a"]).plus(queue.FlushResult(3, 4, ["b"]))
    assert (total.flushed, total.pending, total.errors) == (4, 6, ("a", "b"))


def test_new_ids_differ() -> None:
    assert len({queue.new_id() for _ in range(100)}) == 100


def test_an_error_while_acknowledging_leaves_what_can_be_acknowledged_later(
    spec_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(spec_dir, "one")
    real = os.unlink

    def refuse(path: str, **keywords: object) -> None:
        raise PermissionError(1, "no", path)

    monkeypatch.setattr(os, "unlink", refuse)
    result = queue.flush(spec_dir)
    monkeypatch.setattr(os, "unlink", real)
    assert (result.flushed, result.pending) == (0, 1)
    assert "could not be flushed" in result.errors[0]
    assert queue.flush(spec_dir).clean
    recording.assert_settled(spec_dir, ["one"])
