"""Reboot survival."""

from __future__ import annotations

import errno
import os
import shutil
import time
from pathlib import Path

import pytest

from agent_base import files
from agent_base.errors import UnsafePath
from agent_memory import locks, topics
from agent_memory.mirror import Mirror
from tests.memory.support import NOW, SESSION, memory, ok, record, state_of, write_spec

T = NOW.timestamp()


def mirror_of(workspace: Path) -> Mirror:
    found = Mirror.of(state_of(workspace), os.environ, hook=False)
    assert found is not None
    return found


def mirrored(workspace: Path) -> dict[str, str]:
    """Name → content of everything in the mirror."""
    directory = Path(mirror_of(workspace).directory)
    if not directory.is_dir():
        return {}
    return {path.name: path.read_text() for path in directory.iterdir()}


def reboot(workspace: Path) -> None:
    """What a reboot does to /tmp."""
    shutil.rmtree(state_of(workspace).root)


class TestMirrorHolds:
    def test_named_topics_and_the_pointer(self, tmp_path: Path) -> None:
        ok(tmp_path, "select", "fix", "--create", "--session-id", SESSION)
        ok(tmp_path, "note", "fact", "x", "--session-id", SESSION)
        ok(tmp_path, "use", "fix")
        assert set(mirrored(tmp_path)) == {"fix.txt", "fix.worklog.jsonl", "_active_topic.txt"}

    def test_the_sentinel_of_a_topic(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "x\n")
        ok(tmp_path, "pause", "fix")
        assert "fix.no_context" in mirrored(tmp_path)

    def test_never_current_sessions_bindings_or_queues(self, repository: Path) -> None:
        record(repository, SESSION, "make")
        for name in ("current", f"session-{SESSION}"):
            write_spec(repository, name, "x\n")
        state_of(repository).bind("k", "fix")
        ok(repository, "pause", "--topic", "current")
        ok(repository, "pause", "--all")
        ok(repository, "status")
        assert mirrored(repository) == {}

    def test_private_files_in_private_directories(self, tmp_path: Path) -> None:
        ok(tmp_path, "select", "fix", "--create", "--session-id", SESSION)
        directory = Path(mirror_of(tmp_path).directory)
        assert directory.stat().st_mode & 0o777 == 0o700
        assert (directory / "fix.txt").stat().st_mode & 0o777 == 0o600

    def test_what_status_select_use_note_merge_and_spec_changed(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "by-hand", "x\n")
        ok(tmp_path, "status")
        assert "by-hand.txt" in mirrored(tmp_path)
        ok(tmp_path, "select", "fix", "--create", "--session-id", SESSION)
        assert "fix.txt" in mirrored(tmp_path)
        ok(tmp_path, "use", "fix")
        assert mirrored(tmp_path)["_active_topic.txt"] == "fix\n"
        ok(tmp_path, "note", "fact", "noted", "--session-id", SESSION)
        assert "noted" in mirrored(tmp_path)["fix.worklog.jsonl"]
        ok(tmp_path, "spec", "--append", "appended", "--session-id", SESSION)
        assert "appended" in mirrored(tmp_path)["fix.txt"]
        ok(tmp_path, "merge", "by-hand", "fix")
        assert "merged from by-hand" in mirrored(tmp_path)["fix.txt"]
        assert "by-hand.txt" not in mirrored(tmp_path)

    def test_a_copy_of_what_changed_only(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "one\n")
        write_spec(tmp_path, "other", "one\n")
        assert mirror_of(tmp_path).sync(T).copied == ["fix.txt", "other.txt"]
        assert mirror_of(tmp_path).sync(T).copied == []
        write_spec(tmp_path, "fix", "two\n")
        assert mirror_of(tmp_path).sync(T).copied == ["fix.txt"]

    def test_nothing_and_makes_nothing_for_a_workspace_without_memory(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        os.rmdir(state.spec_dir)
        assert mirror_of_path(state).sync(T).copied == []
        assert not os.path.exists(os.environ["AGENT_MEMORY_MIRROR_ROOT"])


def mirror_of_path(state: topics.State) -> Mirror:
    found = Mirror.of(state, os.environ, hook=False)
    assert found is not None
    return found


class TestRestore:
    def test_brings_back_what_a_reboot_took(self, tmp_path: Path) -> None:
        ok(tmp_path, "select", "fix", "--create", "--summary", "Kept", "--session-id", SESSION)
        ok(tmp_path, "note", "fact", "noted", "--session-id", SESSION)
        ok(tmp_path, "use", "fix")
        before = mirrored(tmp_path)
        reboot(tmp_path)
        assert ok(tmp_path, "status", "--json").json["topic"] == "fix"
        assert "Kept" in ok(tmp_path, "list").out
        assert "noted" in ok(tmp_path, "log").out
        assert mirrored(tmp_path) == before

    def test_keeps_the_age_of_files(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "x\n")
        os.utime(state_of(tmp_path).spec_path("fix"), (1000, 1000))
        mirror_of(tmp_path).sync(T)
        reboot(tmp_path)
        assert mirror_of(tmp_path).sync(T).restored == ["fix.txt"]
        assert os.stat(state_of(tmp_path).spec_path("fix")).st_mtime == 1000

    def test_never_overwrites_what_is_there(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "old\n")
        mirror_of(tmp_path).sync(T)
        write_spec(tmp_path, "fix", "newer\n")
        assert mirror_of(tmp_path).sync(T).restored == []
        assert mirrored(tmp_path)["fix.txt"] == "newer\n"

    def test_yields_to_a_file_made_at_the_same_time(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_spec(tmp_path, "fix", "old\n")
        there = mirror_of(tmp_path)
        there.sync(T)
        os.unlink(state_of(tmp_path).spec_path("fix"))
        link = os.link

        def late(source: str, target: str) -> None:
            write_spec(tmp_path, "fix", "recorded meanwhile\n")
            link(source, target)

        monkeypatch.setattr(os, "link", late)
        assert there.sync(T).restored == []
        assert state_of(tmp_path).read_spec("fix") == "recorded meanwhile\n"
        assert not [name for name in os.listdir(state_of(tmp_path).spec_dir) if name.endswith(".tmp")]

    def test_works_without_hard_links(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write_spec(tmp_path, "fix", "old\n")
        there = mirror_of(tmp_path)
        there.sync(T)
        os.unlink(state_of(tmp_path).spec_path("fix"))

        def unsupported(*_: str) -> None:
            raise OSError(errno.EPERM, "no hard links here")

        monkeypatch.setattr(os, "link", unsupported)
        assert there.sync(T).restored == ["fix.txt"]
        assert state_of(tmp_path).read_spec("fix") == "old\n"

    def test_restores_no_file_that_the_suite_would_not_mirror(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "x\n")
        there = mirror_of(tmp_path)
        there.sync(T)
        for name in (
            "current.txt",
            "session-x.txt",
            ".session-topic-k.txt",
            "evil.sh",
            "_no_session_context",
        ):
            files.write_atomic(there.path(name), b"x")
        assert there.sync(T).restored == []

    def test_names_what_cannot_be_restored_and_goes_on(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "x\n")
        write_spec(tmp_path, "good", "x\n")
        there = mirror_of(tmp_path)
        there.sync(T)
        for name in ("fix", "good"):
            os.unlink(state_of(tmp_path).spec_path(name))
        os.chmod(there.path("fix.txt"), 0o666)
        result = there.sync(T)
        assert result.restored == ["good.txt"]
        assert "fix.txt" in result.errors[0]
        assert "can be written by others" in result.errors[0]


class TestForgotten:
    def test_topics_that_were_wiped_never_come_back(self, tmp_path: Path) -> None:
        ok(tmp_path, "select", "fix", "--create", "--session-id", SESSION)
        ok(tmp_path, "note", "fact", "x", "--session-id", SESSION)
        ok(tmp_path, "pause", "fix")
        ok(tmp_path, "wipe-current", "--session-id", SESSION)
        assert mirrored(tmp_path) == {}
        for _ in range(2):
            ok(tmp_path, "status")
            assert not state_of(tmp_path).bucket_exists("fix")

    def test_topics_that_were_merged_never_come_back(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            write_spec(tmp_path, name, f"topic: {name}\n")
        ok(tmp_path, "pause", "a")
        ok(tmp_path, "status")
        ok(tmp_path, "merge", "a", "b")
        assert set(mirrored(tmp_path)) == {"b.txt"}
        ok(tmp_path, "status")
        reboot(tmp_path)
        ok(tmp_path, "status")
        assert [b.topic for b in state_of(tmp_path).buckets()] == ["b"]

    def test_a_sentinel_that_was_lifted_does_not_come_back(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "x\n")
        ok(tmp_path, "pause", "fix")
        ok(tmp_path, "resume", "fix")
        ok(tmp_path, "status")
        assert not os.path.exists(state_of(tmp_path).no_context_path("fix"))

    def test_a_pointer_that_was_reset_does_not_come_back(self, tmp_path: Path) -> None:
        ok(tmp_path, "use", "fix")
        ok(tmp_path, "use", "--none")
        assert ok(tmp_path, "status", "--json").json["topic"] == "current"
        ok(tmp_path, "use", "fix")
        ok(tmp_path, "wipe-current", "--reset-active")
        assert ok(tmp_path, "status", "--json").json["topic"] == "current"

    def test_nothing_is_synchronised_while_a_merge_is_unfinished(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "x\n")
        there = mirror_of(tmp_path)
        there.sync(T)
        os.unlink(state_of(tmp_path).spec_path("fix"))
        Path(state_of(tmp_path).path(topics.INTENT)).write_text("{}")
        assert there.sync(T).restored == []


class TestSafety:
    def test_a_planted_mirror_is_refused(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "x\n")
        there = mirror_of(tmp_path)
        os.makedirs(there.root, mode=0o700)
        os.symlink(tmp_path, os.path.join(there.root, "tmp"))
        there.directory = os.path.join(there.root, "tmp")
        with pytest.raises(UnsafePath):
            there.sync(T)
        ran = memory(tmp_path, "status")
        assert ran.code == 0

    def test_a_mirror_that_cannot_be_written_is_a_warning(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "x\n")
        os.chmod(Path(os.environ["AGENT_MEMORY_MIRROR_ROOT"]).parent, 0o700)
        Path(os.environ["AGENT_MEMORY_MIRROR_ROOT"]).write_text("a file in its place")
        ran = memory(tmp_path, "status")
        assert ran.code == 0
        assert "the mirror could not be brought up to date" in ran.err

    def test_without_a_home_directory_nothing_is_mirrored(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def nobody(_: int) -> object:
            raise KeyError("no such user")

        monkeypatch.setattr("pwd.getpwuid", nobody)
        env = {"AGENT_MEMORY_MIRROR_ROOT": "", "HOME": ""}
        assert ok(tmp_path, "select", "fix", "--create", "--session-id", SESSION, env=env)
        assert ok(tmp_path, "wipe-current", "--session-id", SESSION, env=env)
        assert "nothing survives a reboot" in memory(tmp_path, "doctor", env=env).out

    def test_leftovers_of_a_killed_copy_are_removed_after_an_hour(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "x\n")
        there = mirror_of(tmp_path)
        there.sync(T)
        old, young = there.path(".fix.txt.1.2.tmp"), there.path(".fix.txt.3.4.tmp")
        for path, moment in ((old, T - 4000), (young, T - 10)):
            files.write_atomic(path, b"half")
            os.utime(path, (moment, moment))
        there.sync(T)
        assert not os.path.exists(old)
        assert os.path.exists(young)

    def test_a_worklog_is_copied_under_the_lock_of_its_writers(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ok(tmp_path, "select", "fix", "--create", "--session-id", SESSION)
        record(tmp_path, SESSION, "make")
        spec_dir = state_of(tmp_path).spec_dir
        there = mirror_of(tmp_path)
        held = locks.target_lock(spec_dir, "fix")
        refused: list[str] = []

        def impatient(spec_dir: str, topic: str, timeout: float | None) -> files.locked:
            """Tried once while somebody writes, then as it is."""
            with pytest.raises(files.LockTimeout), locks_target(spec_dir, topic, 0):
                pass
            assert not os.path.exists(there.path("fix.worklog.jsonl"))
            refused.append(topic)
            held.__exit__()
            return locks_target(spec_dir, topic, timeout)

        locks_target = locks.target_lock
        held.__enter__()
        monkeypatch.setattr(locks, "target_lock", impatient)
        assert there.sync(T).copied == ["fix.worklog.jsonl"]
        assert refused == ["fix"]

    def test_a_change_that_a_coarse_clock_does_not_show_is_copied(self, tmp_path: Path) -> None:
        there = mirror_of(tmp_path)
        moment = time.time() + 1000
        for text in ("one\n", "two\n", "six\n"):
            write_spec(tmp_path, "fix", text)
            os.utime(state_of(tmp_path).spec_path("fix"), (moment, moment))
            assert there.sync(T).copied == ["fix.txt"]
            assert mirrored(tmp_path)["fix.txt"] == text
            assert there.sync(T).copied == []
