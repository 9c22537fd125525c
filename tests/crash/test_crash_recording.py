"""Whatever is killed on the way from the spool to the worklog: nothing lost, doubled or torn."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent_memory import ledger, locks, queue, recorder, spool, upkeep, worklog
from agent_memory import workspace as places
from agent_memory.topics import State
from tests.crash import harness
from tests.memory import recording

WORKSPACE = "/home/user/project"
SESSION = "session-of-the-test"


def spec_dir(base: Path) -> str:
    return places.spec_dir(str(base), WORKSPACE)


def state(base: Path) -> State:
    found = State(WORKSPACE, spec_dir(base), str(base))
    found.ensure()
    return found


def spool_events(base: Path, commands: list[str], session: str = SESSION) -> None:
    for command in commands:
        recording.put(recording.payload(session, command, WORKSPACE), WORKSPACE, base=str(base))


def record(base: Path) -> None:
    recording.record(str(base))


def in_topic(base: Path, topic: str | None = None) -> list[object]:
    return recording.commands(spec_dir(base), topic)


def check_three(base: Path) -> None:
    recording.assert_settled(spec_dir(base), ["one", "two", "three"], "current")
    assert spool.waiting(spool.location(str(base))) == 0
    leftovers = [n for n in os.listdir(spool.location(str(base))) if n != ".lock"]
    assert leftovers == []


@pytest.fixture
def base(fast_tmp: Path) -> Path:
    return fast_tmp


def build_three(base: Path) -> None:
    base.chmod(0o700)
    spool_events(base, ["one", "two", "three"])


def test_the_recorder_killed_anywhere_and_the_next_recorder(base: Path) -> None:
    runs = harness.explore(base, build_three, record, record, check_three)
    assert runs > 100


def test_a_disk_that_is_full_for_a_while_and_the_next_recorder(base: Path) -> None:
    """Nothing else brings the recorder back to these events: no cleaning is due, no command runs."""

    def build(base: Path) -> None:
        build_three(base)
        spool_events(base, ["zero"], "another")
        lock_files = Path(state(base).path(locks.LOCKS))
        lock_files.mkdir(mode=0o700)
        (lock_files / ".cleaned").touch(0o600)

    def check(base: Path) -> None:
        assert sorted(map(str, in_topic(base))) == ["one", "three", "two", "zero"]
        assert spool.waiting(spool.location(str(base))) == 0

    assert harness.explore(base, build, record, record, check, modes=(harness.FULL,)) > 40


def test_the_recorder_killed_anywhere_and_then_a_command_or_session_start(base: Path) -> None:
    def settle(directory: Path) -> None:
        result = recorder.settle(state(directory), SESSION)
        assert result.clean, result.errors

    harness.explore(base, build_three, record, settle, check_three, modes=[harness.AFTER])


def test_the_recorder_killed_and_the_next_recorder_killed_as_well(base: Path) -> None:
    first = base / "count"
    first.mkdir()
    build_three(first)
    total = harness.points(lambda: record(first))
    for at in range(1, total + 1, 5):
        for again in range(1, total + 1, 7):
            directory = base / f"{at}-{again}"
            directory.mkdir()
            build_three(directory)
            harness.run(lambda d=directory: record(d), at, harness.TORN)  # type: ignore[misc]
            harness.run(lambda d=directory: record(d), again, harness.BEFORE)  # type: ignore[misc]
            record(directory)
            check_three(directory)
            shutil.rmtree(directory)


def test_a_worklog_at_its_cap_keeps_the_last_records_whatever_is_killed(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = [f'{{"ts":"2020","command":"old{i}","worklog_id":"old-{i}"}}'.encode() for i in range(worklog.KEEP)]

    def build(directory: Path) -> None:
        build_three(directory)
        where = state(directory).spec_dir
        worklog.append(worklog.path(where, "current"), old, [f"old-{i}" for i in range(len(old))])

    def check(directory: Path) -> None:
        found = in_topic(directory, "current")
        assert len(found) == worklog.KEEP
        assert found[-4:] == [f"old{worklog.KEEP - 1}", "one", "two", "three"]

    harness.explore(base, build, record, record, check, modes=[harness.TORN, harness.FULL])


def test_a_torn_worklog_is_mended_whatever_is_killed(base: Path) -> None:
    def build(directory: Path) -> None:
        build_three(directory)
        where = state(directory).spec_dir
        whole = b'{"ts":"2020","command":"old","worklog_id":"old"}\n'
        with open(worklog.path(where, "current"), "xb", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(whole + b'{"ts":"2020","command":"torn away \xc3')

    def check(directory: Path) -> None:
        assert in_topic(directory, "current") == ["old", "one", "two", "three"]
        data = Path(worklog.path(spec_dir(directory), "current")).read_bytes()
        assert b"torn away" not in data

    harness.explore(base, build, record, record, check, modes=[harness.BEFORE, harness.TORN])


def test_publishing_killed_anywhere_publishes_whole_or_not_at_all(base: Path) -> None:
    entry = {"ts": "2020-01-01T00:00:00.000Z", "topic": "t", "command": "x"}

    def build(directory: Path) -> None:
        directory.chmod(0o700)
        state(directory)

    def publish(directory: Path) -> None:
        queue.enqueue(spec_dir(directory), SESSION, entry, "the-id")

    def again(directory: Path) -> None:
        queue.enqueue(spec_dir(directory), SESSION, entry, "the-id", replay=True)
        assert queue.flush(spec_dir(directory)).clean

    def check(directory: Path) -> None:
        recording.assert_settled(spec_dir(directory), ["x"])

    harness.explore(base, build, publish, again, check)


def test_the_flusher_killed_anywhere(base: Path) -> None:
    def build(directory: Path) -> None:
        directory.chmod(0o700)
        where = state(directory).spec_dir
        for number, topic in enumerate(["a", "b", "a", "a"]):
            entry = {"ts": f"2020-01-0{number + 1}", "topic": topic, "command": f"{topic}{number}"}
            queue.enqueue(where, SESSION, entry, f"id-{number}")

    def flush(directory: Path) -> None:
        queue.run_flusher(spec_dir(directory), clock=iter(range(0, 100, 10)).__next__, sleep=lambda _: None)

    def check(directory: Path) -> None:
        recording.assert_settled(spec_dir(directory), ["a0", "a2", "a3", "b1"])

    harness.explore(base, build, flush, flush, check)


def test_folding_killed_anywhere_is_finished_by_the_next_run(base: Path) -> None:
    def build(directory: Path) -> None:
        directory.chmod(0o700)
        where = state(directory).spec_dir
        for number, topic in enumerate(["from", "to", "from", "to"]):
            entry = {"ts": f"2020-01-0{number + 1}", "topic": topic, "command": f"{topic}{number}"}
            queue.enqueue(where, SESSION, entry, f"id-{number}")
        queue.flush(where)
        for number in (4, 5):
            entry = {"ts": f"2020-01-0{number + 1}", "topic": "from", "command": f"from{number}"}
            queue.enqueue(where, SESSION, entry, f"id-{number}")

    def fold(directory: Path) -> None:
        with locks.activity(spec_dir(directory), exclusive=True):
            upkeep.fold(spec_dir(directory), "from", "to")

    def finish(directory: Path) -> None:
        fold(directory)
        assert queue.flush(spec_dir(directory)).clean

    def check(directory: Path) -> None:
        expected = ["from0", "to1", "from2", "to3", "from4", "from5"]
        recording.assert_settled(spec_dir(directory), expected)
        assert {entry["topic"] for entry in recording.records(spec_dir(directory))} == {"to"}

    harness.explore(base, build, fold, finish, check)


def test_a_refused_event_is_in_the_ledger_once_whatever_is_killed(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MAX_EVENTS", 1)

    def build(directory: Path) -> None:
        directory.chmod(0o700)
        where = state(directory).spec_dir
        # A worklog that cannot be written keeps the queue full.
        os.mkdir(worklog.path(where, "current"), 0o700)
        spool_events(directory, ["one", "two"])

    def check(directory: Path) -> None:
        where = spec_dir(directory)
        assert len(queue.pending(where)) == 1
        refused = [entry for entry in ledger.entries(where) if entry["kind"] == "refused"]
        assert [entry["record"]["command"] for entry in refused] == ["two"]  # type: ignore[index]
        os.rmdir(worklog.path(where, "current"))
        queue.flush(where)
        recording.assert_settled(where, ["one"])

    harness.explore(base, build, record, record, check)


def test_cleaning_killed_anywhere_loses_nothing_that_is_still_needed(base: Path) -> None:
    old = 8 * 24 * 3600

    def build(directory: Path) -> None:
        directory.chmod(0o700)
        where = state(directory).spec_dir
        for key, topic in (("gone", "session-gone"), ("busy", "named")):
            entry = {"ts": "2020", "topic": topic, "command": key}
            queue.enqueue(where, key, entry, f"id-{key}")
            queue.flush(where)
        queue.enqueue(where, "busy", {"ts": "2020", "topic": "named", "command": "late"}, "id-late")

    def clean(directory: Path) -> None:
        upkeep.clean_up(spec_dir(directory), time.time() + old, force=True)

    def check(directory: Path) -> None:
        queue.flush(spec_dir(directory))
        recording.assert_settled(spec_dir(directory), ["busy", "late"])

    harness.explore(base, build, clean, clean, check)


# ---------------------------------------------------------------- real limits of the system


def limited_recorder(base: Path, size: int) -> None:
    """The recorder as a process that may write no file beyond ``size`` bytes.

    It writes no byte-code (``-B``): a limit cuts that off, too, and Python would keep the torn file for
    whoever imports the sources of this checkout next.
    """
    script = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "from agent_memory import recorder\n"
        f"recorder.run(['--spool', {spool.location(str(base))!r}], env={{}}, cwd='/', stdin=None)\n"
    )
    subprocess.run([sys.executable, "-B", "-c", script], check=True)


def check_after_the_next_event(base: Path) -> None:
    """There is room again, and the next tool call comes."""
    spool_events(base, ["four"])
    record(base)
    recording.assert_settled(spec_dir(base), ["one", "two", "three", "four"], "current")
    assert spool.waiting(spool.location(str(base))) == 0


@pytest.mark.parametrize("size", [0, 1, 100, 300, 420, 500, 700, 1000])
def test_a_file_size_limit_loses_nothing(base: Path, size: int) -> None:
    build_three(base)
    limited_recorder(base, size)
    check_after_the_next_event(base)


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """A tmpfs of 64 KiB; needs root on Linux."""
    path = tmp_path / "small"
    path.mkdir(mode=0o700)
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", str(path)], capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield path  # type: ignore[misc]
    subprocess.run(["umount", str(path)], check=True)


@pytest.mark.parametrize("free_pages", [0, 1, 2, 3, 4, 5])
def test_a_full_disk_loses_nothing_that_was_spooled(small_disk: Path, free_pages: int) -> None:
    build_three(small_disk)
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
        file.truncate(max(0, file.tell() - 4096 * free_pages))
    recorder.run(["--spool", spool.location(str(small_disk))], env={}, cwd="/", stdin=None)
    filler.unlink()
    check_after_the_next_event(small_disk)
