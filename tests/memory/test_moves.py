"""Select, merge and wipe: all or nothing, and nobody else's."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from agent_base import files
from agent_base.errors import SuiteError
from agent_memory import moves, queue, topics, worklog
from agent_memory.entries import note_entry
from agent_memory.moves import MERGE, SELECT, Intent
from tests.memory.support import (
    NOW,
    OTHER,
    SESSION,
    commands_of,
    memory,
    ok,
    record,
    state_of,
    write_spec,
)

T = NOW.timestamp()


def enqueue(workspace: Path, key: str, text: str, topic: str) -> None:
    """Leave an event pending in a session's queue."""
    state = state_of(workspace)
    entry = note_entry("fact", text, [], ts=T, workspace=state.workspace, topic=topic)
    queue.enqueue(state.spec_dir, key, entry, queue.new_id())


class TestSelect:
    def test_binds_the_session(self, repository: Path) -> None:
        write_spec(repository, "fix", "topic: fix\n")
        ok(repository, "select", "fix", "--session-id", SESSION)
        status = ok(repository, "status", "--json", "--session-id", SESSION).json
        assert (status["topic"], status["topic_source"]) == ("fix", "binding")

    def test_with_create_makes_a_bucket_with_a_seed_spec(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        assert state_of(repository).read_spec("fix") == "topic: fix\nsummary: \n"
        ok(repository, "select", "other", "--create", "--summary", "A\nB", "--session-id", SESSION)
        assert state_of(repository).read_spec("other") == "topic: other\nsummary: A B\n"

    def test_flushes_what_was_pending_before_it_was_bound(self, repository: Path) -> None:
        enqueue(repository, SESSION, "pending", f"session-{SESSION}")
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        assert commands_of(repository, "fix") == ["pending"]
        assert queue.pending(state_of(repository).spec_dir) == []

    def test_folds_earlier_events_into_the_topic_in_time_order(self, repository: Path) -> None:
        state_of(repository).bind(OTHER, "fix")
        for number in (1, 3, 5):
            record(repository, OTHER, f"other {number}", at=T + number)
        for number in (2, 4):
            record(repository, SESSION, f"mine {number}", at=T + number)
        ran = ok(repository, "select", "fix", "--session-id", SESSION)
        assert "it brought 2 earlier events along" in ran.out
        assert commands_of(repository, "fix") == ["other 1", "mine 2", "other 3", "mine 4", "other 5"]
        assert not state_of(repository).bucket_exists(f"session-{SESSION}")
        records = worklog.read(state_of(repository).worklog_path("fix"))
        assert {r["topic"] for r in records} == {"fix"}

    def test_never_changes_another_sessions_binding_or_bucket(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", OTHER)
        record(repository, "third", "theirs")
        ok(repository, "select", "mine", "--create", "--session-id", SESSION)
        ok(repository, "select", "fix", "--session-id", SESSION)
        assert state_of(repository).bindings() == {OTHER: "fix", SESSION: "fix"}
        assert commands_of(repository, "session-third") == ["theirs"]

    def test_leaves_events_of_an_earlier_topic_there(self, repository: Path) -> None:
        ok(repository, "select", "one", "--create", "--session-id", SESSION)
        record(repository, SESSION, "of one")
        ok(repository, "select", "two", "--create", "--session-id", SESSION)
        record(repository, SESSION, "of two")
        assert commands_of(repository, "one") == ["of one"]
        assert commands_of(repository, "two") == ["of two"]

    def test_folds_the_spec_of_the_fallback_bucket_too(self, repository: Path) -> None:
        ok(repository, "spec", "--append", "Written before.", "--session-id", SESSION)
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        text = state_of(repository).read_spec("fix") or ""
        assert text.startswith("topic: fix\n")
        assert f"--- merged from session-{SESSION} on 2026-11-30T12:00:00Z (" in text
        assert "Written before." in text

    def test_is_whole_beside_control_files_that_others_could_write(self, repository: Path) -> None:
        """Made by hand, under the umask of a group."""
        write_spec(repository, "fix", "the plan\n")
        state = state_of(repository)
        for path in (state.path(topics.POINTER), state.no_context_path("fix")):
            Path(path).write_text("fix\n")
            os.chmod(path, 0o664)
        ok(repository, "select", "fix", "--session-id", SESSION)
        assert not moves.unfinished(state)
        assert state.binding(SESSION) == "fix"

    def test_leaves_current_alone(self, tmp_path: Path) -> None:
        record(tmp_path, SESSION, "shared by all")
        ok(tmp_path, "select", "fix", "--create", "--session-id", SESSION)
        assert commands_of(tmp_path, "current") == ["shared by all"]

    def test_refuses_a_topic_that_is_not_there_and_names_similar_ones(self, repository: Path) -> None:
        write_spec(repository, "fix-retries", "x\n")
        ran = memory(repository, "select", "fix-retry", "--session-id", SESSION)
        assert ran.code == 1
        assert "there is no topic 'fix-retry'" in ran.err
        assert "fix-retries" in ran.err
        assert state_of(repository).bindings() == {}

    def test_with_create_refuses_a_topic_that_is_there(self, repository: Path) -> None:
        write_spec(repository, "fix", "mine\n")
        ran = memory(repository, "select", "fix", "--create", "--session-id", SESSION)
        assert ran.code == 1
        assert "exists already" in ran.err
        assert state_of(repository).read_spec("fix") == "mine\n"
        assert state_of(repository).bindings() == {}

    def test_says_whether_it_made_the_topic(self, repository: Path) -> None:
        argv = ("select", "fix", "--create", "--session-id", SESSION, "--json")
        assert [ok(repository, *argv).json["created"] for _ in range(2)] == [True, False]
        assert not ok(repository, "select", "fix", "--session-id", "other", "--json").json["created"]

    def test_can_be_repeated(self, repository: Path) -> None:
        for _ in range(2):
            ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        ok(repository, "select", "fix", "--session-id", SESSION)

    def test_prints_a_reviews_context_clean(self, repository: Path) -> None:
        write_spec(repository, "review-7", "target: the client\nVerdict: no\n")
        out = ok(repository, "select", "review-7", "--session-id", SESSION).out
        assert "target: the client" in out
        assert "Verdict" not in out

    def test_prints_no_context_that_is_switched_off(self, repository: Path) -> None:
        write_spec(repository, "fix", "secret plan\n")
        ok(repository, "pause", "fix")
        out = ok(repository, "select", "fix", "--session-id", SESSION).out
        assert "secret plan" not in out
        assert "No context is shown (fix.no_context)." in out


class TestMerge:
    def prepare(self, workspace: Path) -> None:
        state = state_of(workspace)
        write_spec(workspace, "src", "topic: src\nplan of src\n")
        write_spec(workspace, "dst", "topic: dst\nplan of dst\n")
        state.bind(SESSION, "src")
        state.bind(OTHER, "dst")
        for number in (1, 3):
            record(workspace, SESSION, f"src {number}", at=T + number)
        record(workspace, OTHER, "dst 2", at=T + 2)

    def test_folds_worklog_spec_bindings_and_pointer(self, repository: Path) -> None:
        self.prepare(repository)
        state = state_of(repository)
        state.set_pointer("src")
        ok(repository, "merge", "src", "dst")
        assert commands_of(repository, "dst") == ["src 1", "dst 2", "src 3"]
        text = state.read_spec("dst") or ""
        assert text.startswith("topic: dst\nplan of dst\n\n--- merged from src on 2026-11-30T12:00:00Z (")
        assert text.endswith("---\ntopic: src\nplan of src\n")
        assert state.bindings() == {SESSION: "dst", OTHER: "dst"}
        assert state.pointer() == "dst"
        assert not state.bucket_exists("src")

    def test_flushes_first(self, repository: Path) -> None:
        self.prepare(repository)
        enqueue(repository, SESSION, "pending of src", "src")
        ok(repository, "merge", "src", "dst")
        assert "pending of src" in commands_of(repository, "dst")
        assert queue.pending(state_of(repository).spec_dir) == []

    def test_keeps_the_newest_200_entries(self, repository: Path) -> None:
        self.prepare(repository)
        for topic, offset in (("src", 0), ("dst", 1)):
            lines = [
                json.dumps({"ts": f"2026-12-01T00:{n // 60:02d}:{n % 60:02d}Z", "worklog_id": f"{topic}{n}"})
                for n in range(offset, 300, 2)
            ]
            path = Path(state_of(repository).worklog_path(topic))
            path.write_text("".join(line + "\n" for line in lines))
        ok(repository, "merge", "src", "dst")
        records = worklog.read(state_of(repository).worklog_path("dst"))
        assert len(records) == 200
        assert [r["worklog_id"] for r in records[-2:]] == ["src298", "dst299"]

    def test_deletes_the_sentinel_of_the_source_without_handing_it_on(self, repository: Path) -> None:
        self.prepare(repository)
        ok(repository, "pause", "src")
        ok(repository, "merge", "src", "dst")
        state = state_of(repository)
        assert not os.path.exists(state.no_context_path("src"))
        assert not os.path.exists(state.no_context_path("dst"))

    def test_keeps_the_sentinel_of_the_target(self, repository: Path) -> None:
        self.prepare(repository)
        ok(repository, "pause", "dst")
        ok(repository, "merge", "src", "dst")
        assert os.path.exists(state_of(repository).no_context_path("dst"))

    def test_as_a_dry_run_changes_nothing(self, repository: Path) -> None:
        self.prepare(repository)
        enqueue(repository, SESSION, "pending", "src")
        before = sorted(os.listdir(state_of(repository).spec_dir))
        plan = ok(repository, "merge", "src", "dst", "--dry-run", "--json").json
        assert plan == {
            "dry_run": True,
            "source": "src",
            "target": "dst",
            "worklog_entries": 2,
            "dropped_by_cap": 0,
            "pending": 1,
            "spec": True,
            "bindings": [SESSION],
            "pointer": False,
            "no_context": False,
        }
        assert "Would merge src into dst" in ok(repository, "merge", "src", "dst", "--dry-run").out
        assert sorted(os.listdir(state_of(repository).spec_dir)) == before

    def test_refuses_what_is_not_there(self, repository: Path) -> None:
        write_spec(repository, "dst", "x\n")
        for arguments in (("no", "dst"), ("dst", "no"), ("dst", "dst")):
            ran = memory(repository, "merge", *arguments)
            assert ran.code == 1, ran
            assert "nothing was changed" in ran.err
        assert memory(repository, "merge", "dst", "current").code == 2
        assert memory(repository, "merge", "../x", "dst").code == 2

    def test_can_fold_current_and_fallback_buckets_away(self, repository: Path) -> None:
        self.prepare(repository)
        record(repository, "loose", "unbound")
        ok(repository, "merge", "session-loose", "dst")
        assert "unbound" in commands_of(repository, "dst")

    def test_that_is_repeated_says_so_and_does_nothing(self, repository: Path) -> None:
        self.prepare(repository)
        ok(repository, "merge", "src", "dst")
        before = state_of(repository).read_spec("dst")
        assert "is merged into dst already" in ok(repository, "merge", "src", "dst").out
        assert state_of(repository).read_spec("dst") == before
        assert memory(repository, "select", "src", "--session-id", "new").err.endswith(
            "(it was merged into dst)\n"
        )

    def test_refuses_a_spec_that_would_be_too_long_before_anything_changes(self, repository: Path) -> None:
        self.prepare(repository)
        write_spec(repository, "dst", "x" * (topics.SPEC_LIMIT - 10))
        assert memory(repository, "merge", "src", "dst").code == 1
        assert memory(repository, "merge", "src", "dst", "--dry-run").code == 1
        assert state_of(repository).bindings()[SESSION] == "src"
        assert not moves.unfinished(state_of(repository))

    def test_leaves_an_unreadable_queue_record_pending_and_says_so(self, repository: Path) -> None:
        self.prepare(repository)
        directory = Path(queue.directory(state_of(repository).spec_dir, SESSION))
        (directory / "000000000099.json").write_text("{torn")
        ran = ok(repository, "merge", "src", "dst")
        assert "1 event not recorded yet" in ran.err
        assert commands_of(repository, "dst") == ["src 1", "dst 2", "src 3"]


class TestFilesThatOthersCouldWrite:
    """Refused before anything has changed, not found half-way."""

    def prepare(self, workspace: Path) -> None:
        for name, session in (("src", SESSION), ("dst", OTHER)):
            ok(workspace, "select", name, "--create", "--session-id", session)
            record(workspace, session, f"of {name}")
        record(workspace, "loose", "of nobody")
        ok(workspace, "spec", "--append", "mine", "--session-id", "loose")

    def contents(self, workspace: Path) -> dict[str, bytes]:
        directory = Path(state_of(workspace).spec_dir)
        return {
            str(path.relative_to(directory)): path.read_bytes()
            for path in directory.rglob("*")
            if path.is_file() and ".worklog-locks-v1" not in path.parts
        }

    @pytest.mark.parametrize(
        ("argv", "name"),
        [
            (("merge", "src", "dst"), "src.txt"),
            (("merge", "src", "dst"), "src.worklog.jsonl"),
            (("merge", "src", "dst"), "dst.txt"),
            (("merge", "src", "dst"), "dst.worklog.jsonl"),
            (("merge", "src", "dst"), topics.POINTER),
            (("select", "dst", "--session-id", "loose"), "dst.txt"),
            (("select", "dst", "--session-id", "loose"), "dst.worklog.jsonl"),
            (("select", "dst", "--session-id", "loose"), "session-loose.txt"),
            (("select", "dst", "--session-id", "loose"), "session-loose.worklog.jsonl"),
        ],
        ids=lambda value: value if isinstance(value, str) else value[0],
    )
    def test_stop_a_move_before_it_begins(self, repository: Path, argv: tuple[str, ...], name: str) -> None:
        self.prepare(repository)
        ok(repository, "use", "src")
        path = state_of(repository).path(name)
        os.chmod(path, 0o666)
        before = self.contents(repository)
        ran = memory(repository, *argv)
        assert ran.code == 1
        assert "can be written by others (mode 0666); it was not used; nothing was changed" in ran.err
        assert f"(chmod go-w {path})" in ran.err
        assert self.contents(repository) == before
        assert not moves.unfinished(state_of(repository))
        os.chmod(path, 0o600)
        ok(repository, *argv)

    def test_in_the_mirrors_directory_stop_what_has_to_be_forgotten_there(self, repository: Path) -> None:
        self.prepare(repository)
        os.chmod(os.environ["AGENT_MEMORY_MIRROR_ROOT"], 0o777)
        before = self.contents(repository)
        ran = memory(repository, "merge", "src", "dst")
        assert ran.code == 1
        assert "nothing was changed" in ran.err
        assert self.contents(repository) == before
        ok(repository, "select", "dst", "--session-id", "loose")
        assert commands_of(repository, "dst") == ["of dst", "of nobody"]

    def test_among_sentinels_are_not_mirrored_and_stop_nothing(self, repository: Path) -> None:
        self.prepare(repository)
        ok(repository, "pause", "dst")
        sentinel = state_of(repository).no_context_path("dst")
        os.chmod(sentinel, 0o666)
        ran = ok(repository, "merge", "src", "dst")
        assert "could not be brought up to date: dst.no_context: " in ran.err
        assert commands_of(repository, "dst") == ["of dst", "of src"]
        assert os.path.exists(sentinel)

    def test_that_turn_up_later_are_named_with_the_move_that_waits_for_them(self, repository: Path) -> None:
        self.prepare(repository)
        intent = Intent(MERGE, "src", "dst", "2026")
        files.write_atomic(state_of(repository).path(topics.INTENT), intent.to_bytes())
        os.chmod(state_of(repository).worklog_path("dst"), 0o666)
        ran = memory(repository, "status")
        assert ran.code == 1
        assert "an unfinished merge of 'src' into 'dst' cannot be finished: " in ran.err
        assert "chmod go-w" in ran.err
        os.chmod(state_of(repository).worklog_path("dst"), 0o600)
        ok(repository, "status")
        assert commands_of(repository, "dst") == ["of dst", "of src"]

    def test_are_not_shown_by_select_which_binds_all_the_same(self, repository: Path) -> None:
        write_spec(repository, "fix", "the plan\n")
        os.chmod(state_of(repository).spec_path("fix"), 0o666)
        ran = ok(repository, "select", "fix", "--session-id", "new")
        assert ran.out == "Session new is bound to topic fix.\n"
        assert "its context is not shown: " in ran.err
        assert ran.err.count("the mirror could not be brought up to date") == 1
        value = ok(repository, "select", "fix", "--session-id", "new", "--json").json
        assert value["context"] == ""
        assert state_of(repository).binding("new") == "fix"


class TestWhereTheMirrorCannotBeWritten:
    """A home directory on a read-only file system, say: a warning, no failure, and no move half done."""

    @pytest.fixture(autouse=True)
    def nowhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        real = os.mkdir

        def mkdir(path: str, *rest: object, **keywords: object) -> None:
            if os.fspath(path).startswith(os.environ["AGENT_MEMORY_MIRROR_ROOT"]):
                raise OSError(errno.EROFS, "Read-only file system", path)
            real(path, *rest, **keywords)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "mkdir", mkdir)

    def test_topics_are_selected_noted_used_paused_merged_and_wiped(self, repository: Path) -> None:
        record(repository, SESSION, "before", at=T - 1)
        warning = "the mirror could not be brought up to date: "
        for argv in (
            ("select", "src", "--create", "--session-id", SESSION),
            ("select", "dst", "--create", "--session-id", OTHER),
            ("use", "src"),
            ("use", "--none"),
            ("pause", "src"),
            ("resume", "src"),
            ("note", "fact", "noted", "--session-id", OTHER),
            ("merge", "src", "dst"),
            ("status", "--session-id", SESSION),
        ):
            ran = ok(repository, *argv)
            assert (argv, ran.err.count(warning)) == (argv, 1)
            assert not moves.unfinished(state_of(repository))
        assert commands_of(repository, "dst") == ["before", "noted"]
        assert state_of(repository).topic_of_session(SESSION)[0] == "dst"
        ok(repository, "wipe-current", "--session-id", SESSION)
        assert state_of(repository).buckets() == []


class TestWhereTheMirrorHoldsWhatCannotBeRemoved:
    @pytest.mark.parametrize(
        "argv",
        [("merge", "src", "dst"), ("wipe-current",), ("use", "--none"), ("resume", "src")],
        ids=lambda argv: argv[0],
    )
    def test_what_it_would_bring_back_is_refused_while_nothing_has_changed(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...]
    ) -> None:
        write_spec(repository, "src", "topic: src\n")
        write_spec(repository, "dst", "topic: dst\n")
        ok(repository, "pause", "src")
        ok(repository, "use", "src")
        state = state_of(repository)
        with monkeypatch.context() as patch:
            patch.setattr(os, "access", lambda *_: False)
            ran = memory(repository, *argv)
        assert ran.code == 1
        assert ran.err.count("cannot be written, and would bring it back; nothing was changed") == 1
        assert (state.read_spec("src"), state.pointer()) == ("topic: src\n", "src")
        assert os.path.exists(state.no_context_path("src"))
        assert not moves.unfinished(state)
        ok(repository, *argv)

    def test_an_unfinished_one_says_what_it_waits_for(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_spec(repository, "src", "topic: src\n")
        write_spec(repository, "dst", "topic: dst\n")
        ok(repository, "status")
        directory = Path(os.environ["AGENT_MEMORY_MIRROR_ROOT"])
        real = os.unlink

        def unlink(path: str, *rest: object, **keywords: object) -> None:
            if os.fspath(path).startswith(str(directory)):
                raise OSError(errno.EROFS, "Read-only file system", path)
            real(path, *rest, **keywords)  # type: ignore[arg-type]

        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", unlink)
            assert memory(repository, "merge", "src", "dst").code == 1
            ran = memory(repository, "status")
        assert ran.code == 1
        assert "an unfinished merge of 'src' into 'dst' cannot be finished: " in ran.err
        assert "Read-only file system" in ran.err
        ok(repository, "status")
        assert [bucket.topic for bucket in state_of(repository).buckets()] == ["dst"]


class TestIntents:
    def leave(self, workspace: Path, intent: Intent) -> None:
        files.write_atomic(state_of(workspace).path(topics.INTENT), intent.to_bytes())

    def test_are_carried_out_by_whoever_comes_next(self, repository: Path) -> None:
        for name in ("a", "b"):
            write_spec(repository, name, f"topic: {name}\n")
        for argv in (("status",), ("list",), ("log",), ("spec", "--topic", "b"), ("suggest", "x")):
            write_spec(repository, "a", "topic: a\n")
            self.leave(repository, Intent(MERGE, "a", "b", "2026-01-01T00:00:00Z"))
            ok(repository, *argv)
            assert not state_of(repository).bucket_exists("a"), argv
            assert not moves.unfinished(state_of(repository))

    @pytest.mark.parametrize(
        "argv",
        [
            ("status",), ("list",), ("log",), ("spec", "--topic", "b"), ("suggest", "x"), ("use", "b"),
            ("note", "fact", "x"), ("pause",), ("resume",), ("merge", "a", "b"), ("doctor", "--repair"),
            ("select", "b", "--session-id", SESSION), ("wipe-current",),
        ],
        ids=lambda argv: argv[0],
    )  # fmt: skip
    def test_whoever_carries_them_out_the_source_stays_away(
        self, repository: Path, argv: tuple[str, ...]
    ) -> None:
        for name in ("a", "b"):
            write_spec(repository, name, f"topic: {name}\n")
        ok(repository, "status")  # both are in the mirror now
        self.leave(repository, Intent(MERGE, "a", "b", "2026-01-01T00:00:00Z"))
        ok(repository, *argv)
        assert not moves.unfinished(state_of(repository))
        ok(repository, "status")
        assert not state_of(repository).bucket_exists("a"), "it came back from the mirror"

    def test_of_a_select_are_carried_out_as_well(self, repository: Path) -> None:
        record(repository, SESSION, "before")
        self.leave(
            repository,
            Intent(SELECT, f"session-{SESSION}", "fix", "2026", SESSION, "topic: fix\nsummary: \n"),
        )
        status = ok(repository, "status", "--json", "--session-id", SESSION).json
        assert status["topic"] == "fix"
        assert commands_of(repository, "fix") == ["before"]

    def test_add_nothing_twice(self, repository: Path) -> None:
        for name in ("a", "b"):
            write_spec(repository, name, f"topic: {name}\n")
        intent = Intent(MERGE, "a", "b", "2026")
        self.leave(repository, intent)
        ok(repository, "status")
        once = state_of(repository).read_spec("b")
        write_spec(repository, "a", "topic: a\n")  # killed between the two specs
        self.leave(repository, intent)
        ok(repository, "status")
        assert state_of(repository).read_spec("b") == once

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{}",
            b"[1]",
            b"{torn",
            b'{"verb":"merge","source":"../x","target":"b","moment":"","key":"","seed":""}',
            b'{"verb":"merge","source":"a","target":"current","moment":"","key":"","seed":""}',
            b'{"verb":"wipe","source":"a","target":"b","moment":"","key":"","seed":""}',
            b'{"verb":"select","source":"session-x","target":"b","moment":"","key":"y","seed":""}',
        ],
    )
    def test_that_are_damaged_are_refused_and_doctor_removes_them(
        self, repository: Path, content: bytes
    ) -> None:
        write_spec(repository, "a", "topic: a\n")
        files.write_atomic(state_of(repository).path(topics.INTENT), content)
        ran = memory(repository, "status")
        assert ran.code == 1
        assert "doctor --repair" in ran.err
        assert memory(repository, "doctor").code == 1
        assert memory(repository, "doctor", "--repair").code == 0
        assert ok(repository, "status")
        assert state_of(repository).read_spec("a") == "topic: a\n"

    def test_that_are_whole_are_not_discarded(self, repository: Path) -> None:
        self.leave(repository, Intent(MERGE, "a", "b", "2026"))
        assert not moves.discard_intent(state_of(repository))
        assert moves.unfinished(state_of(repository))


class TestWipeCurrent:
    def test_deletes_spec_worklog_and_sentinel(self, tmp_path: Path) -> None:
        record(tmp_path, SESSION, "make")
        write_spec(tmp_path, "current", "x\n")
        ok(tmp_path, "pause", "--topic", "current")
        ran = ok(tmp_path, "wipe-current")
        assert "current.txt" in ran.out
        names = [n for n in state_of(tmp_path).names() if not n.startswith(".")]
        assert names == []

    def test_on_a_shared_branch_deletes_the_latest_fallback_bucket(self, repository: Path) -> None:
        for number, name in enumerate(("old", "new")):
            record(repository, name, "make")
            path = state_of(repository).worklog_path(f"session-{name}")
            os.utime(path, (1000 + number, 1000 + number))
        ok(repository, "wipe-current")
        assert not state_of(repository).bucket_exists("session-new")
        assert state_of(repository).bucket_exists("session-old")

    def test_with_a_session_deletes_that_sessions_topic(self, repository: Path) -> None:
        record(repository, "one", "make")
        record(repository, "two", "make")
        ok(repository, "wipe-current", "--session-id", "one")
        assert not state_of(repository).bucket_exists("session-one")
        assert state_of(repository).bucket_exists("session-two")

    def test_takes_pending_events_with_it(self, tmp_path: Path) -> None:
        enqueue(tmp_path, SESSION, "pending", "current")
        ok(tmp_path, "wipe-current")
        assert commands_of(tmp_path, "current") == []
        ok(tmp_path, "note", "fact", "later", "--session-id", SESSION)
        assert commands_of(tmp_path, "current") == ["later"]

    def test_as_a_dry_run_changes_nothing(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "current", "x\n")
        ran = ok(tmp_path, "wipe-current", "--dry-run")
        assert ran.out == "Would delete of topic current: current.txt\n"
        assert state_of(tmp_path).read_spec("current") == "x\n"

    def test_with_reset_active_deletes_the_pointer(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "x\n")
        ok(tmp_path, "use", "fix")
        removed = ok(tmp_path, "wipe-current", "--reset-active", "--json").json["removed"]
        assert removed == ["fix.txt", "_active_topic.txt"]
        assert state_of(tmp_path).pointer() is None

    def test_keeps_bindings(self, tmp_path: Path) -> None:
        ok(tmp_path, "select", "fix", "--create", "--session-id", SESSION)
        ok(tmp_path, "wipe-current", "--session-id", SESSION)
        assert state_of(tmp_path).bindings() == {SESSION: "fix"}

    def test_of_nothing_says_so(self, tmp_path: Path) -> None:
        assert ok(tmp_path, "wipe-current").out == "Topic current has nothing to delete.\n"


def test_two_sessions_that_create_the_same_topic_do_not_both_make_it(repository: Path) -> None:
    ok(repository, "select", "fix", "--create", "--session-id", "one")
    with pytest.raises(SuiteError, match="exists already"):
        moves.select(state_of(repository), None, "two", "fix", create=True, summary="", moment="2026")


def test_notes_that_are_written_while_topics_are_merged_are_all_kept(repository: Path) -> None:
    for name in ("src", "dst"):
        write_spec(repository, name, f"topic: {name}\n")
    writers, notes = 6, 6
    for writer in range(writers):
        state_of(repository).bind(f"w{writer}", "src")
    children = []
    for writer in range(writers):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                for number in range(notes):
                    ok(repository, "note", "fact", f"{writer}.{number}", "--session-id", f"w{writer}")
                status = 0
            finally:
                os._exit(status)
        children.append(pid)
    ok(repository, "merge", "src", "dst")
    for pid in children:
        assert os.waitpid(pid, 0)[1] == 0
    found = commands_of(repository, "dst")
    assert sorted(found) == sorted(f"{w}.{n}" for w in range(writers) for n in range(notes))
    for writer in range(writers):
        mine = [text for text in found if text.startswith(f"{writer}.")]
        assert mine == sorted(mine)
    assert not state_of(repository).bucket_exists("src")


def test_sessions_that_select_at_the_same_time_bind_themselves_only(repository: Path) -> None:
    sessions = [f"s{number}" for number in range(8)]
    for number, session in enumerate(sessions):
        record(repository, session, f"of {session}", at=T + number)
    ok(repository, "select", "shared", "--create", "--session-id", "first")
    children = []
    for session in sessions:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                ok(repository, "select", "shared", "--session-id", session)
                status = 0
            finally:
                os._exit(status)
        children.append(pid)
    for pid in children:
        assert os.waitpid(pid, 0)[1] == 0
    assert state_of(repository).bindings() == dict.fromkeys([*sessions, "first"], "shared")
    assert commands_of(repository, "shared") == [f"of {session}" for session in sessions]
