"""Many sessions writing to one topic at once: everything recorded, in order per session, nothing twice."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import pytest

from agent_memory import locks, queue, recorder, spool, upkeep, worklog
from agent_memory import workspace as places
from agent_memory.topics import State
from tests.conftest import PATIENCE
from tests.memory import recording

WRITERS = 64
EVENTS = 50
WORKSPACE = "/home/user/project"
TOPIC = "shared"
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def state(fast_tmp: Path) -> State:
    found = State(WORKSPACE, places.spec_dir(str(fast_tmp), WORKSPACE), str(fast_tmp))
    found.ensure()
    return found


def write(spec_dir: str, key: str, start: int, mine: int, events: int) -> None:
    """One session's writer: every event is queued, and every few are flushed."""
    # A pipe, because whoever is killed while holding a lock of multiprocessing stops all others.
    os.close(mine)
    os.read(start, 1)
    rng = random.Random(key)
    for number in range(events):
        record = {"ts": f"2026-01-01T00:00:{number:02d}.000Z", "topic": TOPIC, "command": f"{key}/{number}"}
        queue.enqueue(spec_dir, key, record, f"{key}-{number}")
        if rng.random() < 0.3:
            queue.flush(spec_dir, key, keep=WRITERS * EVENTS)
    queue.flush(spec_dir, key, keep=WRITERS * EVENTS)


def start_writers(state: State, events: int) -> list[multiprocessing.Process]:
    """All writers, started at the same moment: when nobody holds the pipe open for writing."""
    start, mine = os.pipe()
    writers = [
        FORK.Process(target=write, args=(state.spec_dir, f"s{number}", start, mine, events))
        for number in range(WRITERS)
    ]
    for process in writers:
        process.start()
    os.close(mine)
    os.close(start)
    return writers  # type: ignore[return-value]


def per_session(spec_dir: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for entry in recording.records(spec_dir, TOPIC):
        key, _, number = str(entry["command"]).partition("/")
        assert entry["session_key"] == key
        found.setdefault(key, []).append(int(number))
    return found


def test_3200_events_of_64_processes_are_in_order_per_session_and_none_is_lost(state: State) -> None:
    writers = start_writers(state, EVENTS)
    for process in writers:
        process.join()
        assert process.exitcode == 0
    assert queue.pending(state.spec_dir) == []
    found = per_session(state.spec_dir)
    assert sum(map(len, found.values())) == WRITERS * EVENTS == 3200
    assert found == {f"s{number}": list(range(EVENTS)) for number in range(WRITERS)}
    sequences = [(entry["session_key"], entry["worklog_seq"]) for entry in recording.records(state.spec_dir)]
    assert len(set(sequences)) == 3200


def test_writers_that_are_killed_lose_only_what_they_had_not_queued(state: State) -> None:
    writers = start_writers(state, EVENTS)
    rng = random.Random(1)
    victims = rng.sample(writers, 20)
    for process in victims:
        assert process.pid is not None
        time.sleep(rng.random() / 50)
        os.kill(process.pid, signal.SIGKILL)
    for process in writers:
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
    assert queue.flush(state.spec_dir, keep=WRITERS * EVENTS).clean
    found = per_session(state.spec_dir)
    for number, process in enumerate(writers):
        mine = found.get(f"s{number}", [])
        # Each event once, in order, without a gap; all of them from who was not killed.
        assert mine == list(range(len(mine)))
        assert len(mine) == EVENTS or process.exitcode != 0


def test_recorders_that_run_at_the_same_time_record_every_spooled_event_once(state: State) -> None:
    for number in range(WRITERS):
        state.bind(f"s{number}", TOPIC)
    for event in range(3):
        for number in range(WRITERS):
            data = recording.payload(f"s{number}", f"s{number}/{event}", WORKSPACE)
            recording.put(data, WORKSPACE, base=state.root)
    run = [FORK.Process(target=recording.record, args=(state.root,)) for _ in range(16)]
    for process in run:
        process.start()
    for process in run:
        process.join()
        assert process.exitcode == 0
    found = per_session(state.spec_dir)
    assert sum(map(len, found.values())) == 3 * WRITERS
    assert found == {f"s{number}": [0, 1, 2] for number in range(WRITERS)}
    assert spool.waiting(spool.location(state.root)) == 0


def test_topics_folded_while_others_write_lose_nothing(state: State) -> None:
    """A reader who wants everything settled gets in between writers, and keeps their order."""
    writers = start_writers(state, 20)
    for turn in range(5):
        with locks.activity(state.spec_dir, exclusive=True, timeout=PATIENCE):
            source, target = (TOPIC, "other") if turn % 2 == 0 else ("other", TOPIC)
            upkeep.fold(state.spec_dir, source, target, keep=WRITERS * EVENTS)
    for process in writers:
        process.join()
        assert process.exitcode == 0
    with locks.activity(state.spec_dir, exclusive=True):
        upkeep.fold(state.spec_dir, "other", TOPIC, keep=WRITERS * EVENTS)
    assert queue.flush(state.spec_dir, keep=WRITERS * EVENTS).clean
    found = per_session(state.spec_dir)
    assert {key: sorted(numbers) for key, numbers in found.items()} == {
        f"s{number}": list(range(20)) for number in range(WRITERS)
    }
    assert recorder.settle(state).clean
    assert os.path.getsize(worklog.path(state.spec_dir, TOPIC)) > 0
