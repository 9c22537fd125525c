"""From a payload to its worklog: the right workspace, session and topic, once, and never silently gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_base import files
from agent_memory import duplicates, entries, ledger, locks, payload, queue, recorder, spool
from agent_memory import workspace as places
from agent_memory.topics import State
from tests.conftest import PATIENCE
from tests.memory import recording

SESSION = "8ea6ecb4-4eb8-4de4-a753-3c09537fdf1b"
PLACE = "/home/user/project"
RECORDER = Path(__file__).parents[2] / "hooks/worklog_recorder.py"


def spec_dir(workspace: str | Path = PLACE) -> str:
    return places.spec_dir(recording.root(), str(workspace))


def put(command: str, session: str = SESSION, **fields: object) -> None:
    recording.put(recording.payload(session, command, PLACE, **fields), PLACE)


# ---------------------------------------------------------------- where an event goes


@pytest.mark.parametrize("file", sorted(recording.PAYLOADS.glob("*/*.json")), ids=lambda p: p.name)
def test_every_recorded_payload_is_recorded_once(file: Path) -> None:
    recording.put(file.read_bytes(), PLACE, harness=file.parent.name)
    recording.record()
    (entry,) = recording.records(spec_dir())
    event = payload.normalise(file.read_bytes(), file.parent.name)
    assert entry["event"] == (event.event or "unknown")
    assert entry.get("command", "") == event.command
    assert entry.get("status", "") == event.status
    assert entry["workspace"] == PLACE
    writer = recorder.writer_id(event, {})
    assert entry["session_key"] == (places.session_key(writer) if writer else queue.NO_SESSION)


def test_an_unbound_session_on_a_shared_branch_has_its_own_bucket(repository: Path) -> None:
    recording.put(recording.payload("s1", "ls", repository / "missing"), repository)
    recording.put(recording.payload("s1", "pwd", repository), repository)
    recording.record()
    assert recording.commands(spec_dir(repository), "session-s1") == ["ls", "pwd"]


def test_an_unbound_session_elsewhere_writes_to_current(repository: Path, git: Callable[..., str]) -> None:
    git(repository, "switch", "-q", "-c", "feature")
    recording.put(recording.payload("s1", "ls", repository), repository)
    recording.record()
    assert recording.commands(spec_dir(repository), "current") == ["ls"]


def test_a_bound_session_writes_to_its_topic(repository: Path) -> None:
    recording.state(repository).bind("s1", "named")
    recording.put(recording.payload("s1", "ls", repository), repository)
    recording.put(recording.payload("s2", "pwd", repository), repository)
    recording.record()
    assert recording.commands(spec_dir(repository), "named") == ["ls"]
    assert recording.commands(spec_dir(repository), "session-s2") == ["pwd"]


def test_an_event_is_of_the_work_tree_around_its_directory(repository: Path) -> None:
    below = repository / "src/deep"
    below.mkdir(parents=True)
    recording.put(recording.payload("s1", "ls", below), below)
    recording.record()
    (entry,) = recording.records(spec_dir(repository))
    assert entry["workspace"] == str(repository)


def test_workspace_roots_come_before_everything(repository: Path) -> None:
    data = recording.payload("s1", "ls", "/elsewhere", workspace_roots=[str(repository)])
    recording.put(data, "/elsewhere")
    recording.record()
    assert recording.commands(spec_dir(repository)) == ["ls"]


def test_a_sub_agent_of_copilot_writes_to_its_parents_bucket() -> None:
    state = recording.state(PLACE)
    parent = "52eb0263-09df-4dd0-84a9-c749a498bd84"
    state.bind(parent, "parents-topic")
    data = (recording.PAYLOADS / "copilot/postToolUse.bash-in-subagent.json").read_bytes()
    recording.put(data, PLACE, harness="copilot")
    recording.record()
    (entry,) = recording.records(state.spec_dir, "parents-topic")
    assert (entry["command"], entry["session_key"]) == ("echo from-child", parent)


def test_the_variable_of_copilot_routes_writes_to_the_parent() -> None:
    spool.put(
        spool.location(recording.root()),
        recording.payload("child", "ls", PLACE),
        harness="copilot",
        event="",
        cwd=PLACE,
        env={"AGENT_MEMORY_SPEC_ROOT": recording.root(), "COPILOT_AGENT_SESSION_ID": "parent"},
    )
    recording.record()
    (entry,) = recording.records(spec_dir())
    assert entry["session_key"] == "parent"


def test_an_event_without_a_session_is_recorded_all_the_same() -> None:
    recording.put(b"no json at all, password: hunter2", PLACE)
    recording.put(b"", PLACE)
    recording.put(b"  \n", PLACE)
    recording.record()
    (entry,) = recording.records(spec_dir(), "current")
    assert entry["session_key"] == queue.NO_SESSION
    assert entry["event"] == "unknown"
    assert entry["output"] == "no json at all, password: [redacted:password]"


def test_an_event_without_a_session_never_goes_to_another_sessions_bucket(repository: Path) -> None:
    state = recording.state(repository)
    recording.put(recording.payload("S1", "mine", repository), repository)
    recording.put(
        b'{"tool_name": "Bash", "tool_input": {"command": "nobody"}, "tool_response": ""}', repository
    )
    recording.record()
    assert recording.commands(state.spec_dir, "session-S1") == ["mine"]
    assert recording.commands(state.spec_dir, "current") == ["nobody"]
    state.set_pointer("fix")
    recording.put(
        b'{"tool_name": "Bash", "tool_input": {"command": "again"}, "tool_response": ""}', repository
    )
    recording.record()
    assert recording.commands(state.spec_dir, "fix") == ["again"]


def test_a_time_is_the_arrival_and_not_the_recording() -> None:
    put("ls")
    (name,) = os.listdir(spool.location(recording.root()))
    os.utime(os.path.join(spool.location(recording.root()), name), (1_767_225_600, 1_767_225_600))
    recording.record()
    (entry,) = recording.records(spec_dir())
    assert entry["ts"] == "2026-01-01T00:00:00.000Z"


def test_an_override_of_the_root_within_the_workspace_is_not_believed(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = tmp_path / "default"
    default.mkdir(mode=0o700)
    monkeypatch.setattr(places, "DEFAULT_ROOT", str(default))
    inside = repository / ".specs"
    spool.put(
        spool.location(str(default)),
        recording.payload("s1", "ls", repository),
        harness="claude",
        event="",
        cwd=str(repository),
        env={"AGENT_MEMORY_SPEC_ROOT": str(inside)},
    )
    recording.record(str(default))
    assert recording.commands(places.spec_dir(str(default), str(repository))) == ["ls"]
    assert not inside.exists()


# ---------------------------------------------------------------- the same event twice


def both(first: dict[str, object], second: dict[str, object], apart: float = 0.5) -> list[object]:
    """Commands recorded of two deliveries that arrive ``apart`` seconds apart."""
    directory = spool.location(recording.root())
    for number, fields in enumerate((first, second)):
        recording.put(json.dumps({"session_id": "s", "cwd": PLACE, **fields}).encode(), PLACE)
        moment = 1_767_225_600 + number * apart
        (name,) = (n for n in os.listdir(directory) if n.endswith(spool.EVENT))
        os.utime(os.path.join(directory, name), (moment, moment))
        recording.record()
    return recording.commands(spec_dir())


CAMEL = {
    "hook_event_name": "postToolUse",
    "toolName": "bash",
    "toolArgs": {"command": "ls"},
    "toolResult": {"resultType": "success", "textResultForLlm": "a\n<shellId: 0 completed with exit code 0>"},
}
PASCAL = {
    "hook_event_name": "PostToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_result": {
        "result_type": "success",
        "text_result_for_llm": "a\n<shellId: 0 completed with exit code 0>",
    },
}


def test_one_event_under_two_names_is_recorded_once() -> None:
    assert both(CAMEL, PASCAL) == ["ls"]


def test_which_of_the_two_names_comes_first_does_not_matter() -> None:
    assert both(PASCAL, CAMEL, 1.99) == ["ls"]


def test_two_seconds_later_it_is_another_event() -> None:
    assert both(CAMEL, PASCAL, 2.1) == ["ls", "ls"]


def test_the_same_command_again_under_the_same_name_is_another_event() -> None:
    assert both(PASCAL, PASCAL) == ["ls", "ls"]


def test_other_content_under_the_other_name_is_another_event() -> None:
    assert both(CAMEL, {**PASCAL, "tool_input": {"command": "pwd"}}) == ["ls", "pwd"]


def test_the_same_call_is_recorded_once_however_late() -> None:
    call = {**PASCAL, "tool_use_id": "call_1"}
    assert both(call, call, 3600) == ["ls"]


def test_the_same_call_under_two_names_is_recorded_once_whatever_else_differs() -> None:
    other = {**CAMEL, "tool_use_id": "call_1", "toolResult": {"resultType": "success"}}
    assert both({**PASCAL, "tool_use_id": "call_1"}, other, 3600) == ["ls"]


def test_different_calls_are_different_events() -> None:
    assert both({**PASCAL, "tool_use_id": "call_1"}, {**CAMEL, "tool_use_id": "call_2"}) == ["ls", "ls"]


def test_call_ids_that_start_over_lose_nothing() -> None:
    failed = {
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest"},
        "error": "Exit code 1",
        "tool_use_id": "call_1",
    }
    clean = {**PASCAL, "tool_input": {"command": "pytest"}, "tool_use_id": "call_1"}
    assert both(failed, clean) == ["pytest", "pytest"]


def test_two_sessions_never_share_an_event() -> None:
    assert both({**PASCAL, "tool_use_id": "c"}, {**CAMEL, "tool_use_id": "c", "session_id": "t"}) == [
        "ls",
        "ls",
    ]


def test_only_ends_of_tools_are_compared() -> None:
    assert both({"hook_event_name": "Stop"}, {"hook_event_name": "stop"}) == [None, None]


def test_what_arrived_lately_holds_no_text_and_is_bounded() -> None:
    for number in range(70):
        put(f"very secret command {number}")
    recording.record()
    path = Path(queue.directory(spec_dir(), SESSION), ".recent")
    assert "secret" not in path.read_text().replace("toolu", "").replace(f"{SESSION}_very secret", "")
    assert len(json.loads(path.read_bytes())) == 64
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", [b"", b"{", b"{}", b"[1, [2]]", b"\xff"])
def test_a_damaged_memory_of_what_arrived_loses_nothing(damage: bytes) -> None:
    put("one")
    recording.record()
    Path(queue.directory(spec_dir(), SESSION), ".recent").write_bytes(damage)
    put("two")
    recording.record()
    assert recording.commands(spec_dir()) == ["one", "two"]


def test_an_event_recorded_before_is_no_duplicate_of_itself(tmp_path: Path) -> None:
    event = payload.normalise(json.dumps({**PASCAL, "tool_use_id": "c"}).encode())
    queue_dir = tmp_path / "queue/session"
    assert not duplicates.is_duplicate(str(queue_dir), event, "id-1", 1.0)
    assert not duplicates.is_duplicate(str(queue_dir), event, "id-1", 1.0)
    assert duplicates.is_duplicate(str(queue_dir), event, "id-2", 1.0)


# ---------------------------------------------------------------- what goes wrong


def test_a_backlog_larger_than_the_queue_is_recorded_in_order() -> None:
    state = recording.state(PLACE)
    state.bind(SESSION, "t")
    for number in range(300):
        put(f"c{number}")
    recording.record()
    assert recording.commands(spec_dir(), "t") == [f"c{number}" for number in range(100, 300)]
    assert queue.pending(spec_dir()) == []
    assert ledger.entries(spec_dir()) == []


def test_an_event_that_a_full_queue_refuses_is_in_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MAX_EVENTS", 2)
    state = recording.state(PLACE)
    Path(state.worklog_path("current")).mkdir(mode=0o700)
    for number in range(3):
        put(f"c{number}")
    put("export A_TOKEN=abcdef; " + "x" * 5000)
    recording.record()
    assert len(queue.pending(state.spec_dir)) == 2
    refused = ledger.open_errors(state.spec_dir, SESSION)
    assert [entry["kind"] for entry in refused] == ["refused", "refused"]
    record = refused[1]["record"]
    assert isinstance(record, dict)
    assert str(record["command"]).startswith("export A_TOKEN=[redacted:token]")
    assert len(str(record["command"])) <= entries.COMMAND_LIMIT
    assert spool.waiting(spool.location(state.root)) == 0
    result = recorder.settle(state, SESSION)
    assert result.pending == 2
    assert len(result.errors) == 2
    assert result.errors[1].endswith("the event was not queued (2 times)")


def test_an_event_that_not_even_the_ledger_can_take_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MAX_EVENTS", 0)
    state = recording.state(PLACE)
    Path(state.spec_dir, ledger.FILE).mkdir()
    put("one")
    recording.record()
    assert spool.waiting(spool.location(state.root)) == 1


@pytest.mark.parametrize("plant", ["symlink", "writable", "file"])
def test_an_unsafe_directory_is_not_written_and_its_events_wait(
    plant: str, tmp_path: Path, repository: Path
) -> None:
    target = Path(spec_dir())
    target.parent.mkdir(parents=True, mode=0o700)
    for level in (Path(recording.root()), *target.parents):
        if str(level).startswith(recording.root()):
            level.chmod(0o700)
    if plant == "symlink":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        target.symlink_to(tmp_path / "elsewhere")
    elif plant == "writable":
        target.mkdir()
        target.chmod(0o777)
    else:
        target.write_text("")
    put("one")
    put("two")
    recording.put(recording.payload("s1", "elsewhere", repository), repository)
    recording.record()
    assert recording.commands(spec_dir(repository)) == ["elsewhere"]
    assert spool.waiting(spool.location(recording.root())) == 2
    assert plant != "symlink" or os.listdir(tmp_path / "elsewhere") == []
    (entry,) = ledger.entries(recording.root())
    assert entry["kind"] == "deferred"
    assert ledger.open_errors(recording.root()) == []
    if plant == "writable":
        target.chmod(0o700)
    else:
        target.unlink()
    recording.record()
    assert recording.commands(spec_dir()) == ["one", "two"]


def test_a_bug_in_understanding_a_payload_costs_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    def trip(*_: object) -> None:
        raise RuntimeError("bug")

    monkeypatch.setattr(payload, "normalise", trip)
    put("one")
    recording.record()
    (entry,) = recording.records(spec_dir())
    assert "one" in str(entry["output"])
    assert entry["error"] == "the payload was not understood (RuntimeError)"


def test_a_bug_in_recording_an_event_blocks_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    real = entries.tool_entry

    def trip(event: payload.Event, **keywords: object) -> dict[str, object]:
        if event.command == "bad":
            raise RuntimeError("bug")
        return real(event, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(entries, "tool_entry", trip)
    for command in ("one", "bad", "two"):
        put(command)
    recording.record()
    assert recording.commands(spec_dir()) == ["one", "two"]
    (entry,) = ledger.open_errors(recording.root())
    assert entry["kind"] == "unrecorded"
    assert "RuntimeError: bug" in str(entry["message"])
    assert '"bad"' in json.dumps(entry["record"]).replace("\\", "")
    assert spool.waiting(spool.location(recording.root())) == 0


def test_a_bug_that_not_even_the_ledger_can_keep_leaves_the_event(monkeypatch: pytest.MonkeyPatch) -> None:
    def trip(*_: object, **__: object) -> None:
        raise RuntimeError("bug")

    monkeypatch.setattr(entries, "tool_entry", trip)
    Path(recording.root()).mkdir(mode=0o700, exist_ok=True)
    Path(recording.root(), ledger.FILE).mkdir()
    put("one")
    recording.record()
    assert spool.waiting(spool.location(recording.root())) == 1


def test_an_event_that_waited_seven_days_is_kept_in_the_ledger_of_the_root() -> None:
    state = recording.state(PLACE)
    os.chmod(state.spec_dir, 0o777)
    put("curl -H 'Authorization: Bearer abcdefghijklmnop1234' x")
    (event,) = Path(spool.location(recording.root())).glob("*.event")
    os.utime(event, (1_000, 1_000))
    recording.record()
    assert spool.waiting(spool.location(recording.root())) == 0
    (entry,) = ledger.open_errors(recording.root())
    assert str(entry["message"]).startswith("an event was given up after seven days in the spool: ")
    kept = json.dumps(entry["record"])
    assert "curl -H" in kept
    assert "abcdefghijklmnop1234" not in kept


# ---------------------------------------------------------------- settle


def test_settling_records_what_waits_and_says_that_nothing_is_left() -> None:
    state = recording.state(PLACE)
    put("one")
    result = recorder.settle(state, SESSION, timeout=1)
    assert result.clean
    assert recording.commands(spec_dir()) == ["one"]
    assert recorder.settle(state).clean


def test_settling_without_a_directory_or_spool(tmp_path: Path) -> None:
    state = State("/w", str(tmp_path / "none/w"), str(tmp_path / "none"))
    assert recorder.settle(state).clean
    assert recorder.settle(state, drain_only=True).clean


def test_settling_counts_what_it_could_not_record_of_this_session_only() -> None:
    state = recording.state(PLACE)
    put("one")
    put("other", session="s2")
    with locks.activity(state.spec_dir, exclusive=True):
        mine = recorder.settle(state, SESSION, timeout=0, drain_only=True)
        everything = recorder.settle(state, timeout=0, drain_only=True)
        nobody = recorder.settle(state, "s3", timeout=0, drain_only=True)
    assert (mine.pending, everything.pending, nobody.pending) == (1, 2, 0)
    assert mine.errors
    assert not nobody.errors
    assert recorder.settle(state).clean


def test_settling_does_not_count_what_was_given_up(repository: Path, tmp_path: Path) -> None:
    """Neither for its own workspace nor, taken off from what is left, for another."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    os.chmod(recording.state(elsewhere).spec_dir, 0o777)
    for session in ("old", "new"):
        recording.put(recording.payload(session, session, elsewhere), elsewhere)
    recording.put(recording.payload("s1", "unreadable", repository), repository)
    # In the order in which this process named them: clocks of file systems are coarse.
    (old, _, open_to_others) = sorted(
        Path(spool.location(recording.root())).glob("*.event"), key=lambda path: int(path.stem.split("-")[1])
    )
    os.utime(old, (1_000, 1_000))
    os.chmod(open_to_others, 0o644)
    result = recorder.settle(recording.state(repository), timeout=1)
    assert result.pending == 1
    assert any("is open to others (mode 0644)" in error for error in result.errors)
    os.chmod(open_to_others, 0o600)
    assert recorder.settle(recording.state(repository), timeout=1).clean
    assert spool.waiting(spool.location(recording.root())) == 1
    messages = [str(entry["message"]) for entry in ledger.open_errors(recording.root())]
    assert sum("given up after seven days" in message for message in messages) == 1


def test_settling_while_others_record_says_so() -> None:
    state = recording.state(PLACE)
    put("one")
    with files.locked(os.path.join(spool.location(state.root), ".lock")):
        result = recorder.settle(state, SESSION, timeout=0)
    assert result.pending == 1
    assert "being recorded" in result.errors[0]


def test_settling_with_a_spool_that_is_not_safe_says_so() -> None:
    state = recording.state(PLACE)
    put("one")
    os.chmod(spool.location(state.root), 0o755)
    result = recorder.settle(state, SESSION)
    assert result.pending == 1
    assert "the spool cannot be read" in result.errors[0]


def test_a_session_start_that_must_not_wait_does_not(repository: Path) -> None:
    state = recording.state(repository)
    recording.put(recording.payload("s1", "ls", repository), repository)
    with locks.activity(state.spec_dir, exclusive=True):
        assert recorder.settle(state, "s1", timeout=0).pending == 1
    assert recorder.settle(state, "s1", timeout=0).clean


def test_what_a_session_start_could_not_wait_for_is_left_to_the_background_flusher(
    repository: Path,
) -> None:
    state = recording.state(repository)
    recording.put(recording.payload("s1", "ls", repository), repository)
    with locks.activity(state.spec_dir, exclusive=True):
        assert recorder.settle(state, "s1", timeout=0, background=True).pending == 1
    recording.wait_for(lambda: recording.commands(state.spec_dir) == ["ls"])
    assert recorder.settle(state, "s1", timeout=PATIENCE, background=True).clean


def test_what_a_lock_kept_from_the_worklog_is_for_the_next_recorder_of_any_workspace(
    repository: Path, tmp_path: Path
) -> None:
    state = recording.state(repository)
    recording.put(recording.payload("s1", "ls", repository), repository)
    with locks.target_lock(state.spec_dir, "session-s1"):
        assert recorder.settle(state, timeout=0).pending == 1
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    recording.put(recording.payload("s2", "elsewhere", elsewhere), elsewhere)
    recording.record()
    assert recording.commands(state.spec_dir) == ["ls"]
    assert recording.commands(recording.state(elsewhere).spec_dir) == ["elsewhere"]
    assert spool.waiting(spool.location(recording.root())) == 0


def test_what_a_session_start_has_no_time_for_is_left_to_the_background(repository: Path) -> None:
    state = recording.state(repository)
    for number in range(3):
        recording.put(recording.payload("s1", f"c{number}", repository), repository)
    assert recorder.settle(state, "s1", timeout=1, budget=0.0, background=True).pending == 3
    recording.wait_for(lambda: recording.commands(state.spec_dir) == ["c0", "c1", "c2"])


def test_cleaning_that_fails_keeps_no_event_from_being_recorded(repository: Path) -> None:
    state = recording.state(repository)
    old = Path(queue.directory(state.spec_dir, "old"))
    for path in (old.parent, old, old / ".odd"):
        path.mkdir(mode=0o700)
    for path in (old, old.parent):
        os.utime(path, (0, 0))
    recording.put(recording.payload("s1", "ls", repository), repository)
    recording.record()
    assert recording.commands(state.spec_dir) == ["ls"]
    assert spool.waiting(spool.location(recording.root())) == 0
    (entry,) = ledger.entries(state.spec_dir)
    assert str(entry["message"]).startswith("cleaning up failed: ")
    assert not ledger.open_errors(state.spec_dir)


def test_a_flusher_that_cannot_be_started_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert recorder.start_flusher(recording.state(PLACE)) == 0


# ---------------------------------------------------------------- the program


def run(*arguments: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-I", "-S", str(RECORDER), *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, **env},
        cwd=os.environ["HOME"],
        timeout=PATIENCE,
    )


def test_the_program_records_the_payload_on_stdin() -> None:
    done = run("--harness", "claude", stdin=recording.payload("s1", "ls", PLACE))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert recording.commands(spec_dir()) == ["ls"]


def test_the_program_drains_ten_megabytes_and_echoes_nothing() -> None:
    data = recording.payload("s1", "ls", PLACE, tool_response={"stdout": "line\n" * 2_000_000})
    done = run("--harness=claude", stdin=data)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (entry,) = recording.records(spec_dir())
    assert len(str(entry["output"])) <= entries.OUTPUT_LIMIT


def test_the_program_fails_open_and_tells_where_the_harness_keeps_it_from_the_user(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bad = str(tmp_path / "root")
    Path(bad).mkdir(mode=0o700)
    Path(bad, spool.DIRECTORY).write_text("")
    for harness, lines in (("claude", 1), ("gemini", 0)):
        done = run("--harness", harness, stdin=b"{}", AGENT_MEMORY_SPEC_ROOT=bad)
        assert done.returncode == 0
        assert done.stdout == b""
        assert done.stderr.count(b"\n") == lines
        assert done.stderr.startswith(b"[agent-memory] worklog_recorder: ") or not lines


def test_the_program_is_the_background_flusher() -> None:
    state = recording.state(PLACE)
    queue.enqueue(state.spec_dir, "s1", {"ts": "2026", "topic": "t", "command": "x"}, "i")
    done = run("--flush", state.spec_dir)
    assert done.returncode == 0
    assert recording.commands(state.spec_dir, "t") == ["x"]


def test_the_program_says_when_an_event_had_to_stay() -> None:
    Path(recording.root()).mkdir(mode=0o700)
    for level in ("home", "home/user"):
        Path(recording.root(), level).mkdir(mode=0o700)
    Path(spec_dir()).mkdir(mode=0o700)
    Path(spec_dir()).chmod(0o777)
    done = run("--harness", "claude", stdin=recording.payload("s1", "ls", PLACE))
    assert done.returncode == 0
    assert b"[agent-memory] an event stays in the spool" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_the_recorder_imports_nothing_heavy() -> None:
    """What the spool, the queue and the worklog need, and for this payload nothing else."""
    recording.put(recording.payload("s1", "ls", PLACE), PLACE)
    script = (
        "import sys, runpy\n"
        f"sys.argv = [{str(RECORDER)!r}, '--spool', {spool.location(recording.root())!r}]\n"
        "try:\n    runpy_free = compile(open(sys.argv[0]).read(), sys.argv[0], 'exec')\n"
        "    exec(runpy_free, {'__name__': '__main__', '__file__': sys.argv[0]})\n"
        "except SystemExit:\n    pass\n"
        "print(sorted(sys.modules))\n"
    ).replace("import sys, runpy", "import sys")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, timeout=PATIENCE
    )
    assert recording.commands(spec_dir()) == ["ls"], done.stderr
    loaded = set(done.stdout.strip().strip("[]").replace("'", "").split(", "))
    heavy = {
        *(
            "re",
            "json",
            "subprocess",
            "typing",
            "dataclasses",
            "enum",
            "collections",
            "contextlib",
            "pathlib",
        ),
        *("datetime", "argparse", "hashlib", "unicodedata", "site", "signal", "tempfile", "shutil"),
    }
    assert not heavy & loaded
    assert "agent_memory.queue" in loaded
    assert not {"agent_memory.mirror", "agent_memory.moves", "agent_memory.context"} & loaded


# ---------------------------------------------------------------- the same, in this process


def test_the_ways_to_name_what_to_do(tmp_path: Path) -> None:
    data = recording.payload("s1", "ls", PLACE)
    env = {"AGENT_MEMORY_SPEC_ROOT": recording.root()}
    arguments = ["--unknown", "--harness=claude", "--event", "PostToolUse"]
    assert recorder.run(arguments, env=env, cwd=str(tmp_path), stdin=data) == ""
    recording.put(recording.payload("s1", "pwd", PLACE), PLACE)
    recorder.run([f"--spool={spool.location(recording.root())}"], env={}, cwd="/", stdin=None)
    assert recording.commands(spec_dir()) == ["ls", "pwd"]
    queue.enqueue(spec_dir(), "s1", {"ts": "2026", "topic": "t", "command": "x"}, "i")
    assert recorder.run(["--flush", spec_dir()], env={}, cwd="/", stdin=None) == ""
    assert recording.commands(spec_dir(), "t") == ["x"]
    assert recorder.run(["--harness"], env=env, cwd=os.environ["HOME"], stdin=None) == ""


def test_a_command_line_names_an_event_that_had_to_stay(tmp_path: Path) -> None:
    recording.state(PLACE)
    os.chmod(spec_dir(), 0o777)
    env = {"AGENT_MEMORY_SPEC_ROOT": recording.root()}
    data = recording.payload("s1", "ls", PLACE)
    line = recorder.run([], env=env, cwd=str(tmp_path), stdin=data)
    assert line.startswith("an event stays in the spool")


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Call the program's ``main`` here; what it wrote to stderr."""
    from hooks import _entry, worklog_recorder

    monkeypatch.setattr(worklog_recorder, "_detach", lambda: None)
    monkeypatch.setattr(os, "umask", lambda _: 0)

    def call(*arguments: str, stdin: bytes = b"") -> str:
        monkeypatch.setattr(_entry, "read_stdin", lambda: stdin)
        assert worklog_recorder.main(list(arguments)) == 0
        out, err = capfd.readouterr()
        assert out == ""
        return err

    return call


def test_the_entry_point_fails_open(
    program: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert program("--harness", "claude", stdin=recording.payload("s1", "ls", PLACE)) == ""
    assert recording.commands(spec_dir()) == ["ls"]

    def trip(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(recorder, "run", trip)
    assert program("--harness", "claude") == "[agent-memory] worklog_recorder: KeyboardInterrupt: \n"
    assert program("--harness", "gemini") == ""
    assert program("--harness=gemini") == ""
    assert program("--spool", "/x") == ""


def test_the_entry_point_survives_a_missing_directory_and_a_closed_stderr(
    program: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> str:
        raise FileNotFoundError

    real = os.write

    def closed(descriptor: int, data: bytes) -> int:
        if descriptor == 2:
            raise BrokenPipeError
        return real(descriptor, data)

    monkeypatch.setattr(os, "getcwd", gone)
    monkeypatch.setattr(os, "write", closed)
    monkeypatch.setattr(recorder, "run", lambda *_, cwd, **__: f"a line about {cwd}")
    assert program() == ""


def test_detaching_makes_a_session_and_bounds_the_life() -> None:
    script = (
        "import os, sys\n"
        f"sys.path.insert(0, {str(RECORDER.parents[1])!r})\n"
        "from hooks import worklog_recorder\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    worklog_recorder._detach()\n"
        "    import signal\n"
        "    ok = os.getsid(0) == os.getpid() and 0 < signal.alarm(0) <= 120\n"
        "    worklog_recorder._detach()\n"  # leads a session already
        "    sys.modules['_signal'] = None\n"
        "    worklog_recorder._detach()\n"
        "    os._exit(0 if ok else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-c", script], timeout=PATIENCE).returncode == 0


def test_fingerprints_without_the_interpreters_own_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    event = payload.normalise(json.dumps(PASCAL).encode())
    expected = duplicates._fingerprint(event)
    monkeypatch.setitem(sys.modules, "_blake2", None)
    assert duplicates._fingerprint(event) == expected
