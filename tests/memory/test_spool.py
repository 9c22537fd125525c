"""The spool: whole events, in order of arrival, gone once recorded; nothing planted is taken."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent_base import files
from agent_base.errors import SuiteError, UnsafePath
from agent_memory import spool


@pytest.fixture
def directory(tmp_path: Path) -> str:
    root = tmp_path / "root"
    root.mkdir(mode=0o700)
    return spool.location(str(root))


def put(directory: str, payload: bytes = b"{}", **keywords: str) -> str:
    before = set(os.listdir(directory)) if os.path.isdir(directory) else set()
    spool.put(
        directory,
        payload,
        harness=keywords.get("harness", ""),
        event=keywords.get("event", ""),
        cwd=keywords.get("cwd", "/w"),
        env={"CLAUDE_PROJECT_DIR": "/p", "SECRET": "never", **keywords},
    )
    (new,) = set(os.listdir(directory)) - before
    return new


def arrive(directory: str, name: str, payload: bytes, moment: int) -> None:
    path = Path(directory, name)
    path.write_bytes(payload)
    path.chmod(0o600)
    os.utime(path, ns=(moment, moment))


class Sink:
    """Takes what is drained; refuses what is named."""

    def __init__(self, refuse: tuple[bytes, ...] = ()) -> None:
        self.items: list[spool.Spooled] = []
        self.refuse = refuse
        self.finished = 0
        self.again = False

    def __call__(self, item: spool.Spooled) -> None:
        if item.payload in self.refuse:
            raise spool.Deferred("not now")
        self.items.append(item)

    def finish(self) -> bool:
        self.finished += 1
        return not self.again

    @property
    def payloads(self) -> list[bytes]:
        return [item.payload for item in self.items]


def drain(directory: str, sink: Sink, **keywords: float) -> spool.Drained:
    return spool.drain(directory, sink, sink.finish, **keywords)


def test_an_event_comes_out_as_it_went_in(directory: str) -> None:
    payload = bytes(range(256)) * 10
    put(directory, payload, harness="claude", event="PostToolUse", cwd="/a b/'q\"\n☃")
    sink = Sink()
    result = drain(directory, sink)
    assert (result.recorded, result.left, result.errors) == (1, 0, [])
    (item,) = sink.items
    assert item.payload == payload
    assert (item.harness, item.event, item.cwd) == ("claude", "PostToolUse", "/a b/'q\"\n☃")
    assert item.env == {"CLAUDE_PROJECT_DIR": "/p"}
    assert not item.replay
    assert os.listdir(directory) == [".lock"]
    assert sink.finished == 1


def test_everything_is_private(directory: str) -> None:
    old = os.umask(0)
    try:
        name = put(directory)
    finally:
        os.umask(old)
    assert os.stat(directory).st_mode & 0o777 == 0o700
    assert os.stat(os.path.join(directory, name)).st_mode & 0o777 == 0o600


def test_a_payload_without_a_header_is_a_payload(directory: str) -> None:
    put(directory)
    arrive(directory, "7-0.event", b'{"a": 1}', 1)
    sink = Sink()
    drain(directory, sink)
    assert sink.payloads == [b'{"a": 1}', b"{}"]
    assert sink.items[0].env == {}


def test_events_come_in_the_order_of_their_arrival(directory: str) -> None:
    put(directory, b"last")
    for name, payload, moment in [
        ("9-0.event", b"2", 2_000),
        ("10-0.event", b"4", 3_000),
        ("9-1.event", b"3", 3_000),
        ("800-0.event", b"1", 1_000),
    ]:
        arrive(directory, name, payload, moment)
    sink = Sink()
    drain(directory, sink)
    assert sink.payloads == [b"1", b"2", b"3", b"4", b"last"]


def test_process_numbers_that_wrap_around_at_one_moment(directory: str) -> None:
    put(directory, b"last")
    for name in ("32760-0.event", "32766-0.event", "301-0.event", "305-0.event", "x-y.event"):
        arrive(directory, name, name.encode(), 5_000)
    sink = Sink()
    drain(directory, sink)
    order = [p.decode().split("-")[0] for p in sink.payloads[:-1]]
    assert [n for n in order if n != "x"] == ["32760", "32766", "301", "305"]


def test_a_name_that_no_dispatcher_gives_is_an_event_all_the_same(directory: str) -> None:
    put(directory, b"first")
    Path(directory, f"{os.getpid()}-0.event").rename(Path(directory, "\u00b2-\u00b2.event"))
    sink = Sink()
    assert drain(directory, sink).recorded == 1
    assert sink.payloads == [b"first"]


def test_an_id_is_the_same_before_and_after_a_claim(directory: str) -> None:
    put(directory, b"stays")
    refusing = Sink(refuse=(b"stays",))
    ids = []
    refusing_record = refusing.__call__

    def note(item: spool.Spooled) -> None:
        ids.append((item.id, item.replay))
        refusing_record(item)

    for _ in range(2):
        result = spool.drain(directory, note, refusing.finish)
        assert (result.recorded, result.left) == (0, 1)
        assert result.errors == ["an event stays in the spool: not now"]
    assert refusing.finished == 0
    assert ids[0][0] == ids[1][0]
    assert [replay for _, replay in ids] == [False, True]
    assert spool.waiting(directory) == 1
    put(directory, b"other")
    assert len({item.id for item in _all(directory)}) == 2


def _all(directory: str) -> list[spool.Spooled]:
    sink = Sink()
    drain(directory, sink)
    return sink.items


def test_an_event_that_has_to_stay_does_not_block_others(directory: str) -> None:
    put(directory, b"stays")
    put(directory, b"goes")
    sink = Sink(refuse=(b"stays",))
    result = drain(directory, sink)
    assert (result.recorded, result.left) == (1, 1)
    assert sink.payloads == [b"goes"]
    assert [n for n in os.listdir(directory) if n.endswith(".claimed")]


def test_an_event_that_can_never_be_recorded_is_given_up_after_seven_days(directory: str) -> None:
    put(directory)
    arrive(directory, "7-0.event", b"old", 1_000)
    result = drain(directory, Sink(refuse=(b"old",)))
    assert result.left == 0
    assert result.errors == ["an event was given up after seven days in the spool: not now"]
    assert os.listdir(directory) == [".lock"]


def test_an_event_is_not_given_up_while_nobody_can_keep_it(directory: str) -> None:
    put(directory)
    arrive(directory, "7-0.event", b"old", 1_000)
    told: list[tuple[bytes, str]] = []

    def give_up(item: spool.Spooled, why: str) -> bool:
        told.append((item.payload, why))
        return len(told) > 1

    sink = Sink(refuse=(b"old",))
    result = spool.drain(directory, sink, sink.finish, give_up=give_up)
    assert (result.left, result.errors) == (1, ["an event stays in the spool: not now"])
    result = spool.drain(directory, sink, sink.finish, give_up=give_up)
    assert result.left == 0
    assert told == [(b"old", "an event was given up after seven days in the spool: not now")] * 2
    assert os.listdir(directory) == [".lock"]


def test_the_oldest_event_is_the_one_that_came_first(directory: str) -> None:
    assert spool.oldest(directory) is None
    put(directory)
    arrive(directory, "8-0.claimed", b"{}", 2_000_000_000)
    arrive(directory, "9-0.event", b"{}", 3_000_000_000)
    arrive(directory, ".7-0.part", b"{}", 1_000_000_000)
    assert spool.oldest(directory) == 2.0


def test_names_are_never_reused_while_an_event_waits(directory: str) -> None:
    put(directory, b"first")
    claimed = Path(directory, f"{os.getpid()}-1.claimed")
    arrive(directory, claimed.name, b"second", 1)
    part = Path(directory, f".{os.getpid()}-2.part")
    part.write_bytes(b"somebody's")
    put(directory, b"third")
    names = {n for n in os.listdir(directory) if n.endswith((".event", ".claimed"))}
    pid = os.getpid()
    assert names == {f"{pid}-0.event", f"{pid}-1.claimed", f"{pid}-3.event"}


def test_a_full_disk_leaves_no_half_event(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(directory)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_all", full)
    with pytest.raises(OSError, match="No space"):
        spool.put(directory, b"x", harness="", event="", cwd="/", env={})
    assert len(os.listdir(directory)) == 1


def test_no_spool_is_an_empty_one(directory: str) -> None:
    assert drain(directory, Sink()).recorded == 0
    assert spool.waiting(directory) == 0
    os.mkdir(directory, 0o700)
    assert drain(directory, Sink()).recorded == 0
    assert os.listdir(directory) == []


def test_a_spool_that_others_could_write_or_read_is_not_used(directory: str) -> None:
    put(directory)
    for mode in (0o755, 0o777, 0o770):
        os.chmod(directory, mode)
        with pytest.raises(UnsafePath):
            drain(directory, Sink())
    os.chmod(directory, 0o700)
    assert drain(directory, Sink()).recorded == 1


@pytest.mark.parametrize("plant", ["symlink", "mode", "fifo"])
def test_an_event_that_could_be_planted_is_not_taken(directory: str, plant: str) -> None:
    put(directory, b"mine")
    path = Path(directory, "7-0.event")
    if plant == "symlink":
        path.symlink_to("/etc/hostname")
    elif plant == "fifo":
        os.mkfifo(path, 0o600)
    else:
        path.write_bytes(b"{}")
        path.chmod(0o644)
    sink = Sink()
    result = drain(directory, sink)
    assert sink.payloads == [b"mine"]
    assert result.left == 1
    assert "an event stays in the spool" in result.errors[0]


def test_others_who_are_draining_are_not_disturbed(directory: str) -> None:
    put(directory)
    with files.locked(os.path.join(directory, ".lock")):
        result = drain(directory, Sink(), timeout=0)
    assert (result.recorded, result.left) == (0, 1)
    assert "1 events are being recorded" in result.errors[0]
    assert drain(directory, Sink(), timeout=0).recorded == 1


def test_events_that_could_not_be_written_anywhere_are_handed_over_again(directory: str) -> None:
    put(directory, b"first")
    sink = Sink()
    sink.again = True
    assert drain(directory, sink).recorded == 1
    (name,) = (n for n in os.listdir(directory) if n != ".lock")
    assert name.endswith(".claimed")
    sink.again = False
    drain(directory, sink)
    assert [(item.payload, item.replay) for item in sink.items] == [(b"first", False), (b"first", True)]
    assert os.listdir(directory) == [".lock"]


def test_who_has_little_time_leaves_the_rest_whole_and_in_order(
    directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(spool, "time", SimpleNamespace(time=time.time, monotonic=lambda: now))
    for number in range(5):
        put(directory, b"%d" % number)
    sink = Sink()

    def slowly(item: spool.Spooled) -> None:
        nonlocal now
        sink(item)
        now += 0.2

    result = spool.drain(directory, slowly, sink.finish, budget=0.1)
    assert (result.recorded, result.left, sink.finished) == (1, 4, 1)
    assert result.errors == ["4 events are left to the recorder"]
    assert drain(directory, sink).left == 0
    assert sink.payloads == [b"0", b"1", b"2", b"3", b"4"]


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def leave_part(directory: str, pid: int, data: bytes, age: float, now: float) -> Path:
    os.makedirs(directory, mode=0o700, exist_ok=True)
    path = Path(directory, f".{pid}-0.part")
    path.write_bytes(data)
    path.chmod(0o600)
    os.utime(path, (now - age, now - age))
    return path


NOW = 2_000_000_000.0
HEADER = b"agent-spool-1\0claude\0\0/w\0\0\0\0"


def test_a_whole_event_that_a_killed_dispatcher_left_is_recorded(directory: str) -> None:
    leave_part(directory, dead_pid(), HEADER + b'{"session_id": "s"}', 100, NOW)
    sink = Sink()
    assert drain(directory, sink, now=NOW).recorded == 1
    assert sink.payloads == [b'{"session_id": "s"}']
    assert os.listdir(directory) == [".lock"]


@pytest.mark.parametrize("data", [HEADER + b'{"session_id": "s', b"agent-spo", b"", HEADER + b"[1]"])
def test_half_an_event_that_a_killed_dispatcher_left_is_removed(directory: str, data: bytes) -> None:
    leave_part(directory, dead_pid(), data, 100, NOW)
    assert drain(directory, Sink(), now=NOW).recorded == 0
    assert os.listdir(directory) == [".lock"]


def test_an_event_that_is_being_written_is_left_alone(directory: str) -> None:
    fresh = leave_part(directory, dead_pid(), HEADER + b"{}", 10, NOW)
    alive = leave_part(directory, os.getpid(), HEADER + b"{}", 100, NOW)
    init = leave_part(directory, 1, HEADER + b"{}", 100, NOW)
    drain(directory, Sink(), now=NOW)
    assert fresh.exists()
    assert alive.exists()
    assert init.exists()


def test_a_part_never_replaces_an_event(directory: str) -> None:
    pid = dead_pid()
    part = leave_part(directory, pid, HEADER + b"{}", 100, NOW)
    for suffix in (".event", ".claimed"):
        arrive(directory, f"{pid}-0{suffix}", b"kept", int(NOW * 1e9))
        sink = Sink()
        drain(directory, sink, now=NOW)
        assert sink.payloads == [b"kept"]
        assert not part.exists()
        part = leave_part(directory, pid, HEADER + b"{}", 100, NOW)


def test_parts_that_are_not_ours_are_passed_over(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_part(directory, 0, b"no process number", 100, NOW)
    gone = leave_part(directory, dead_pid(), HEADER + b"{}", 100, NOW)
    real = os.lstat

    def vanish(path: str, **keywords: object) -> os.stat_result:
        if str(path) == str(gone):
            raise FileNotFoundError(2, "gone", path)
        return real(path)

    monkeypatch.setattr(os, "lstat", vanish)
    assert drain(directory, Sink(), now=NOW).recorded == 0


def test_a_process_of_somebody_else_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert spool._alive(12345)


def test_what_cannot_be_claimed_stays(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(directory)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "no")

    monkeypatch.setattr(os, "rename", refuse)
    result = drain(directory, Sink())
    assert (result.recorded, result.left) == (0, 1)
    assert issubclass(spool.Deferred, SuiteError)


def test_of_an_enormous_event_the_beginning_is_taken(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "PAYLOAD_LIMIT", 1000)
    put(directory, b"x" * 5000)
    sink = Sink()
    assert drain(directory, sink).recorded == 1
    assert sink.payloads[0].startswith(b"xxx")
    assert len(sink.payloads[0]) < 1000
