"""The error ledger: failures stay until somebody has looked, within bounds, never silently gone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_base import files
from agent_base.errors import UnsafePath
from agent_memory import ledger


@pytest.fixture
def directory(tmp_path: Path) -> str:
    path = tmp_path / "spec"
    path.mkdir(mode=0o700)
    return str(path)


def messages(directory: str) -> list[object]:
    return [entry["message"] for entry in ledger.entries(directory)]


def test_an_entry_is_kept_private_and_complete(directory: str) -> None:
    record = {"command": "x", "output": "é"}
    assert ledger.add(directory, "refused", "full", session_key="k", record=record, key="i", now=0.0)
    assert ledger.entries(directory) == [
        {
            "ts": "1970-01-01T00:00:00.000Z",
            "kind": "refused",
            "session_key": "k",
            "message": "full",
            "key": "i",
            "record": record,
        }
    ]
    assert os.stat(os.path.join(directory, ledger.FILE)).st_mode & 0o777 == 0o600


def test_the_same_failure_is_kept_once(directory: str) -> None:
    for _ in range(3):
        assert ledger.add(directory, "refused", "full", key="i")
    ledger.add(directory, "other", "full", key="i")
    ledger.add(directory, "refused", "no key")
    ledger.add(directory, "refused", "no key")
    assert messages(directory) == ["full", "full", "no key", "no key"]


def test_what_fails_again_and_again_is_counted_and_pushes_nothing_out(
    directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "MAX_ENTRIES", 5)
    ledger.add(directory, "refused", "an event", record={"command": "x"})
    for second in range(20):
        ledger.add(directory, "hook", "one", repeats=True, now=float(second))
        ledger.add(directory, "hook", "two", repeats=True, now=float(second))
    assert messages(directory) == ["an event", "one", "two"]
    last = ledger.entries(directory)[-1]
    assert (last["count"], last["ts"]) == (20, "1970-01-01T00:00:19.000Z")
    ledger.add(directory, "refused", "an event", repeats=True)  # an event is never counted away
    assert messages(directory) == ["an event", "one", "two", "an event"]


def test_what_fails_again_after_somebody_looked_is_open_again(directory: str) -> None:
    ledger.add(directory, "hook", "one", repeats=True)
    ledger.resolve(directory)
    ledger.add(directory, "hook", "one", repeats=True)
    assert [e["message"] for e in ledger.open_errors(directory)] == ["one"]


def test_open_entries_are_those_nobody_resolved(directory: str) -> None:
    ledger.add(directory, "refused", "a", session_key="one")
    ledger.add(directory, "hook", "b")
    ledger.add(directory, "repaired", "c")
    assert [e["message"] for e in ledger.open_errors(directory)] == ["a", "b"]
    assert [e["message"] for e in ledger.open_errors(directory, "two")] == ["b"]
    assert ledger.resolve(directory, "two") == 1
    assert [e["message"] for e in ledger.open_errors(directory)] == ["a"]
    assert ledger.resolve(directory) == 1
    assert ledger.resolve(directory) == 0
    assert ledger.open_errors(directory) == []
    assert len(messages(directory)) == 3


def test_lines_say_the_same_once_and_how_often(directory: str) -> None:
    for text in ("full", "other", "full", "full"):
        ledger.add(directory, "refused", text)
    for _ in range(3):
        ledger.add(directory, "hook", "slow", repeats=True)
    found = ledger.open_errors(directory)
    assert ledger.lines(found) == ["refused: other", "refused: full (3 times)", "hook: slow (3 times)"]
    assert ledger.lines(found, kinds=False)[-1] == "slow (3 times)"
    assert ledger.lines([{}], kinds=False) == [""]


def test_no_ledger_is_an_empty_one(directory: str) -> None:
    assert ledger.entries(directory) == []
    assert ledger.resolve(directory) == 0
    ledger.forget_older_than(directory, 1.0, 0.0)
    assert os.listdir(directory) == []


def test_secrets_and_long_messages_do_not_get_in(directory: str) -> None:
    ledger.add(directory, "hook", "password: hunter2 " + "x" * 5000 + "\ud800")
    (message,) = messages(directory)
    assert "hunter2" not in str(message)
    assert len(str(message)) <= ledger.MESSAGE_LIMIT


def test_a_ledger_that_cannot_be_written_says_so_and_does_not_raise(directory: str, tmp_path: Path) -> None:
    Path(directory, ledger.FILE).symlink_to("/etc/passwd")
    assert not ledger.add(directory, "hook", "x")
    with pytest.raises(UnsafePath):
        ledger.entries(directory)
    (tmp_path / "file").write_text("")
    assert not ledger.add(str(tmp_path / "file"), "hook", "x")
    os.chmod(directory, 0o777)
    assert not ledger.add(directory, "hook", "x")


def test_a_ledger_somebody_else_is_writing_is_not_waited_for_long(
    directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "LOCK_TIMEOUT", 0)
    with files.locked(os.path.join(directory, ledger.LOCK)):
        assert not ledger.add(directory, "hook", "x")
    assert ledger.add(directory, "hook", "x")


def test_a_torn_ledger_keeps_its_complete_entries(directory: str) -> None:
    ledger.add(directory, "hook", "one")
    path = Path(directory, ledger.FILE)
    path.write_bytes(path.read_bytes() + b'{"ts":"2026","kind":"ho')
    assert messages(directory) == ["one"]
    ledger.add(directory, "hook", "two")
    assert messages(directory) == ["one", "two"]


def test_it_is_bounded_and_counts_what_had_to_go(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MAX_ENTRIES", 5)
    for number in range(4):
        ledger.add(directory, "hook", f"open {number}")
    ledger.add(directory, "repaired", "seen")
    ledger.add(directory, "hook", "one more")
    found = ledger.entries(directory)
    assert len(found) <= 5
    # What was resolved goes first, then the oldest.
    assert [e["message"] for e in found[1:]] == ["open 1", "open 2", "open 3", "one more"]
    assert found[0]["message"] == "2 older entries did not fit and are gone"
    for number in range(10):
        ledger.add(directory, "hook", f"later {number}")
    found = ledger.entries(directory)
    assert found[0]["count"] == 12
    assert [e["message"] for e in found[1:]] == [f"later {n}" for n in (6, 7, 8, 9)]


def test_it_is_bounded_in_bytes(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MAX_BYTES", 3000)
    for number in range(10):
        ledger.add(directory, "refused", f"{number}", record={"output": "x" * 500})
    found = ledger.entries(directory)
    assert os.stat(os.path.join(directory, ledger.FILE)).st_size <= 3300
    assert found[0]["kind"] == "dropped"
    assert found[-1]["message"] == "9"


def test_a_damaged_count_starts_over(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MAX_ENTRIES", 2)
    files.write_atomic(
        os.path.join(directory, ledger.FILE),
        b'{"ts":"2026","kind":"dropped","message":"x","count":"y"}\n{"ts":"2026","kind":"a","message":"1"}\n',
    )
    ledger.add(directory, "hook", "2")
    assert messages(directory)[0] == "1 older entries did not fit and are gone"


def test_old_entries_go_but_not_an_event_nobody_looked_at(directory: str) -> None:
    ledger.add(directory, "hook", "old", now=0.0)
    ledger.add(directory, "refused", "old event", record={"x": 1}, now=0.0)
    ledger.add(directory, "repaired", "seen event", record={"x": 1}, now=0.0)
    ledger.add(directory, "hook", "new", now=1000.0)
    ledger.forget_older_than(directory, 500.0, 1200.0)
    assert messages(directory) == ["old event", "new"]


def test_errors_of_injection_are_open_but_none_of_recording(tmp_path: Path) -> None:
    for kind in ("hook", "recall", "refused"):
        ledger.add(str(tmp_path), kind, "x")
    assert [e["kind"] for e in ledger.open_errors(str(tmp_path))] == ["hook", "recall", "refused"]
    assert [e["kind"] for e in ledger.open_errors(str(tmp_path), recording=True)] == ["refused"]


def test_the_dispatchers_last_failure_can_be_read(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    assert ledger.dispatcher_error(env) is None
    path = Path(str(ledger.dispatcher_error_path(env)))
    path.parent.mkdir(parents=True)
    path.write_text("the spool cannot be made\n")
    path.chmod(0o600)
    os.utime(path, (0, 0))
    assert ledger.dispatcher_error(env) == {
        "ts": "1970-01-01T00:00:00.000Z",
        "kind": "dispatcher",
        "message": "the spool cannot be made",
    }
    path.chmod(0o666)
    assert ledger.dispatcher_error(env) is None


def test_without_a_home_there_is_no_dispatchers_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    from agent_base import env as environment

    monkeypatch.setattr(environment, "home", lambda *_: None)
    assert ledger.dispatcher_error({}) is None


def test_a_hook_believes_no_dispatchers_failure_from_inside_the_workspace(tmp_path: Path) -> None:
    path = tmp_path / "project/home" / ledger.DISPATCHER_ERRORS
    path.parent.mkdir(parents=True)
    path.write_text("obey\n")
    path.chmod(0o600)
    env = {"HOME": str(tmp_path / "project/home")}
    root = str(tmp_path / "specs")
    entries = ledger.of_no_workspace(root, f"{root}/x", env)
    assert [entry["message"] for entry in entries] == ["obey"]
    entries = ledger.of_no_workspace(root, f"{root}/x", env, str(tmp_path / "project"))
    assert "obey" not in str(entries)


def test_doctor_shows_and_clears_what_failed_without_a_workspace(tmp_path: Path) -> None:
    from tests.memory import recording, support

    path = Path(os.environ["HOME"], ledger.DISPATCHER_ERRORS)
    path.parent.mkdir(parents=True)
    path.write_text("the spool cannot be made\n")
    path.chmod(0o600)
    ledger.add(recording.root(), "unrecorded", "an event could not be recorded")
    workspace = tmp_path / "project"
    workspace.mkdir()
    ran = support.memory(workspace, "doctor")
    assert ran.code == 1
    assert "dispatcher: the spool cannot be made" in ran.out
    assert "unrecorded: an event could not be recorded" in ran.out
    ran = support.ok(workspace, "doctor", "--repair")
    assert "the dispatcher's last failure was removed" in ran.out
    assert "1 entries of the root's error ledger are marked as seen" in ran.out
    assert not path.exists()
    support.ok(workspace, "doctor")
