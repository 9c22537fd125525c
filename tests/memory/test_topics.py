"""Which topic a session writes to and reads from; buckets; specs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_base.errors import SuiteError, UnsafePath
from agent_memory import topics
from agent_memory.topics import State
from tests.memory.support import state_of, write_spec

Git = Callable[..., str]


class TestTopicOfASession:
    def test_is_its_binding(self, repository: Path) -> None:
        state = state_of(repository)
        state.bind("k", "fix")
        assert state.topic_of_session("k") == ("fix", topics.BINDING)

    @pytest.mark.parametrize("name", ["main", "master", "dev", "develop", "trunk"])
    def test_on_a_shared_branch_is_a_bucket_of_its_own(self, repository: Path, git: Git, name: str) -> None:
        git(repository, "branch", "-q", "-M", name)
        assert state_of(repository).topic_of_session("k") == ("session-k", topics.SESSION)

    @pytest.mark.parametrize("name", ["feature/x", "mainline", "Main"])
    def test_on_another_branch_is_current(self, repository: Path, git: Git, name: str) -> None:
        git(repository, "switch", "-q", "-c", name)
        assert state_of(repository).topic_of_session("k") == ("current", topics.CURRENT)

    def test_outside_a_repository_is_current(self, tmp_path: Path) -> None:
        assert state_of(tmp_path).topic_of_session("k") == ("current", topics.CURRENT)

    def test_is_not_the_pointer(self, repository: Path) -> None:
        state = state_of(repository)
        state.set_pointer("fix")
        assert state.topic_of_session("k") == ("session-k", topics.SESSION)

    @pytest.mark.parametrize(
        "content", ["", "current\n", "session-x\n", "../x\n", "a b\n", "\xff\n", "x" * 5000]
    )
    def test_is_not_what_a_damaged_binding_says(self, repository: Path, content: str) -> None:
        state = state_of(repository)
        path = Path(state.binding_path("k"))
        path.write_text(content)
        path.chmod(0o600)
        assert state.binding("k") is None

    def test_is_not_read_through_a_symlink(self, repository: Path, tmp_path: Path) -> None:
        state = state_of(repository)
        (tmp_path / "planted").write_text("fix\n")
        os.symlink(tmp_path / "planted", state.binding_path("k"))
        with pytest.raises(UnsafePath):
            state.binding("k")


class TestTopicOfACommandWithoutASession:
    def test_is_the_pointer(self, repository: Path) -> None:
        state = state_of(repository)
        state.set_pointer("fix")
        assert state.topic_of_command() == ("fix", topics.POINTED)

    def test_on_a_shared_branch_is_the_latest_fallback_bucket(self, repository: Path) -> None:
        state = state_of(repository)
        for number, name in enumerate(("session-old", "session-new", "named")):
            write_spec(repository, name, "x")
            os.utime(state.spec_path(name), (1000 + number, 1000 + number))
        assert state.topic_of_command() == ("session-new", topics.SESSION)

    def test_is_current_at_last(self, repository: Path) -> None:
        assert state_of(repository).topic_of_command() == ("current", topics.CURRENT)

    def test_in_a_feature_worktree_is_current(self, repository: Path, git: Git) -> None:
        write_spec(repository, "session-old", "x")
        git(repository, "switch", "-q", "-c", "feature")
        assert state_of(repository).topic_of_command() == ("current", topics.CURRENT)


class TestBuckets:
    def test_are_sorted_by_the_later_of_spec_and_worklog(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        times = {"a": (100, 400), "b": (300, 200), "c": (350, None)}
        for name, (spec, log) in times.items():
            write_spec(tmp_path, name, "x")
            os.utime(state.spec_path(name), (spec, spec))
            if log is not None:
                Path(state.worklog_path(name)).write_text("{}\n")
                os.chmod(state.worklog_path(name), 0o600)
                os.utime(state.worklog_path(name), (log, log))
        assert [(b.topic, b.modified) for b in state.buckets()] == [("a", 400), ("c", 350), ("b", 300)]
        assert [b.has_worklog for b in state.buckets()] == [True, False, True]

    def test_are_not_made_of_control_files_or_of_what_is_not_safe(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        state.bind("k", "fix")
        state.set_pointer("fix")
        write_spec(tmp_path, "good", "x")
        os.symlink("/etc/passwd", state.spec_path("linked"))
        write_spec(tmp_path, "loose", "x")
        os.chmod(state.spec_path("loose"), 0o666)
        os.mkdir(state.spec_path("directory"))
        Path(state.path("no topic.txt")).write_text("x")
        Path(state.path(".hidden.txt")).write_text("x")
        assert [b.topic for b in state.buckets()] == ["good"]

    def test_of_a_directory_that_is_not_there_are_none(self, tmp_path: Path) -> None:
        state = State("/w", str(tmp_path / "no/where"), str(tmp_path))
        assert state.buckets() == []
        assert state.bindings() == {}
        assert not state.exists()


class TestFiles:
    def test_are_private(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        state.bind("k", "fix")
        state.set_pointer("fix")
        state.write_spec("fix", "x")
        for path in (state.binding_path("k"), state.path(topics.POINTER), state.spec_path("fix")):
            assert os.stat(path).st_mode & 0o777 == 0o600
        assert os.stat(state.spec_dir).st_mode & 0o777 == 0o700

    def test_of_bindings_are_read_back(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        state.bind("k1", "fix")
        state.bind("k2", "other")
        assert state.bindings() == {"k1": "fix", "k2": "other"}
        os.unlink(state.binding_path("k1"))
        assert state.bindings() == {"k2": "other"}

    def test_never_bind_to_a_reserved_topic(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        for name in ("current", "session-x"):
            with pytest.raises(SuiteError):
                state.bind("k", name)
            with pytest.raises(SuiteError):
                state.set_pointer(name)

    def test_of_a_spec_may_hold_a_mebibyte(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        state.write_spec("fix", "x" * topics.SPEC_LIMIT)
        with pytest.raises(SuiteError, match="nothing was changed"):
            state.write_spec("fix", "x" * (topics.SPEC_LIMIT + 1))
        assert len(state.read_spec("fix") or "") == topics.SPEC_LIMIT

    def test_of_a_spec_with_bad_bytes_are_read_as_far_as_they_go(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        Path(state.spec_path("fix")).write_bytes(b"ok \xff\n")
        os.chmod(state.spec_path("fix"), 0o600)
        assert state.read_spec("fix") == "ok \ufffd\n"

    def test_remember_what_was_merged(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        assert state.merged_into() == {}
        state.note_merged("a", "b")
        state.note_merged("a", "b")
        state.note_merged("c", "b")
        state.note_merged("c", None)
        assert state.merged_into() == {"a": "b"}
        Path(state.path(topics.MERGED)).write_text("[broken")
        assert state.merged_into() == {}
