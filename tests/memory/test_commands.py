"""The ,agent-memory verbs: what they print, what their JSON has, how they fail."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent_base import files
from agent_base.cli import string_console
from agent_memory import doctor, ledger, moves, queue, spool, topics
from agent_memory.cli import VERBS, main
from agent_memory.topics import State
from tests.conftest import REPOSITORY
from tests.memory import recording
from tests.memory.support import (
    NOW,
    OTHER,
    SESSION,
    age_files,
    commands_of,
    memory,
    ok,
    record,
    state_of,
    write_spec,
)

Git = Callable[..., str]
STATUS_FIELDS = {
    *("workspace", "session_key", "topic", "topic_source", "selected_topic", "spec_file", "spec_exists"),
    *("worklog", "pending", "errors", "no_context"),
}


class TestStatus:
    def test_has_the_fields_that_scripts_rely_on(self, repository: Path) -> None:
        value = ok(repository, "status", "--json").json
        assert set(value) >= STATUS_FIELDS
        assert value["workspace"] == str(repository)
        assert value["session_key"] is None
        assert value["topic"] == value["selected_topic"] == "current"
        assert value["spec_file"].endswith(f"{repository}/current.txt")
        assert value["spec_exists"] is False
        assert value["worklog"].endswith("/current.worklog.jsonl")
        assert (value["pending"], value["errors"], value["no_context"]) == (0, [], False)

    def test_adds_the_session_key_for_adapters(self, repository: Path) -> None:
        assert (
            ok(repository, "status", "--json", "--session-id", "a/b").json["session_key"].startswith("a-b--")
        )

    @pytest.mark.parametrize(
        ("prepare", "arguments", "topic", "source"),
        [
            ((), (), "current", "current"),
            ((), ("--session-id", SESSION), f"session-{SESSION}", "session"),
            (("use", "fix"), (), "fix", "pointer"),
            (("use", "fix"), ("--session-id", SESSION), f"session-{SESSION}", "session"),
            (
                ("select", "fix", "--create", "--session-id", SESSION),
                ("--session-id", SESSION),
                "fix",
                "binding",
            ),
            (("use", "fix"), ("--topic", "other"), "other", "argument"),
        ],
    )
    def test_says_where_the_topic_comes_from(
        self, repository: Path, prepare: tuple[str, ...], arguments: tuple[str, ...], topic: str, source: str
    ) -> None:
        if prepare:
            ok(repository, *prepare)
        value = ok(repository, "status", "--json", *arguments).json
        assert (value["topic"], value["topic_source"]) == (topic, source)
        assert f"topic      {topic} (" in ok(repository, "status", *arguments).out

    def test_says_that_a_command_without_a_session_goes_to_the_latest_bucket(self, repository: Path) -> None:
        ok(repository, "note", "fact", "The queue is slow", "--session-id", SESSION)
        out = ok(repository, "status").out
        assert f"topic      session-{SESSION} (the latest session's bucket, as no session is named: " in out
        named = ok(repository, "status", "--session-id", SESSION).out
        assert f"topic      session-{SESSION} (fallback bucket on a shared branch)" in named

    def test_counts_what_is_pending_and_names_errors(self, repository: Path) -> None:
        state = state_of(repository)
        directory = Path(queue.directory(state.spec_dir, SESSION))
        directory.mkdir(parents=True, mode=0o700)
        directory.parent.chmod(0o700)
        (directory / "000000000001.json").write_text("{torn")
        ledger.add(state.spec_dir, "refused", "an event was refused", session_key=SESSION)
        value = ok(repository, "status", "--json", "--session-id", SESSION).json
        assert value["pending"] == 1
        assert len(value["errors"]) == 2
        assert "error      refused: an event was refused" in ok(repository, "status").out
        assert ok(repository, "status", "--json", "--session-id", OTHER).json["pending"] == 0

    def test_says_when_context_is_off(self, repository: Path) -> None:
        ok(repository, "pause", "--all")
        assert ok(repository, "status", "--json").json["no_context"] is True
        assert "context    off (_no_session_context)" in ok(repository, "status").out

    def test_finds_the_workspace_of_a_sub_directory(self, repository: Path) -> None:
        (repository / "src").mkdir()
        assert ok(repository / "src", "status", "--json").json["workspace"] == str(repository)
        other = ok(Path("/"), "status", "--json", "--workspace", str(repository / "src")).json
        assert other["workspace"] == str(repository)
        relative = ok(repository.parent, "status", "--json", "--workspace", repository.name).json
        assert relative["workspace"] == str(repository)

    def test_takes_a_session_key_for_an_id(self, repository: Path) -> None:
        key = ok(repository, "status", "--json", "--session-id", "a/b").json["session_key"]
        ok(repository, "select", "fix", "--create", "--session-key", key)
        assert ok(repository, "status", "--json", "--session-id", "a/b").json["topic"] == "fix"
        assert memory(repository, "status", "--session-key", "../x").code == 2

    def test_shows_hostile_text_escaped(self, tmp_path: Path) -> None:
        evil = tmp_path / "a\x1b[2J\n\u202eb"
        evil.mkdir()
        out = ok(evil, "status").out
        assert not set("\x1b\u202e").intersection(out)
        assert "a\\u001b[2J" in out


class TestList:
    def test_names_are_one_on_a_line(self, repository: Path) -> None:
        for number, name in enumerate(("b", "a")):
            write_spec(repository, name, "x\n")
            age_files(repository, name, NOW.timestamp() + number)
        record(repository, SESSION, "x")
        assert ok(repository, "list", "--names").out == "a\nb\n"
        assert f"session-{SESSION}" in ok(repository, "list", "--names", "--all").out.split()
        assert memory(repository, "list", "--names", "--json").code == 2

    def test_shows_topics_newest_first(self, repository: Path) -> None:
        write_spec(repository, "old", "summary: The old one\n")
        write_spec(repository, "new", "target: x\n")
        age_files(repository, "old", NOW.timestamp() - 7200)
        age_files(repository, "new", NOW.timestamp() - 60)
        ok(repository, "use", "new")
        ok(repository, "pause", "old")
        state_of(repository).bind("k", "old")
        assert ok(repository, "list").out == (
            "new (1 minute old, pointer): x\nold (2 hours old, 1 bound, paused)\n"
        )
        rows = ok(repository, "list", "--json").json
        assert [row["topic"] for row in rows] == ["new", "old"]
        assert rows[1]["sessions"] == 1
        assert rows[1]["paused"] is True

    def test_shows_the_rest_of_a_workspace_with_files_that_could_be_planted(self, repository: Path) -> None:
        write_spec(repository, "fix", "summary: kept\n")
        age_files(repository, "fix", NOW.timestamp())
        state = state_of(repository)
        for name in ("fix.worklog.jsonl", topics.POINTER, f"{topics.BINDING_PREFIX}S.txt"):
            os.symlink("/etc/passwd", state.path(name))
        ran = ok(repository, "list")
        assert ran.out.startswith("fix (just now): kept")
        assert "symbolic link" in ran.err

    def test_shows_fallback_buckets_when_asked(self, repository: Path) -> None:
        record(repository, SESSION, "make")
        assert "no topics yet" in ok(repository, "list").out
        (row,) = ok(repository, "list", "--all", "--json").json
        assert (row["topic"], row["named"], row["entries"]) == (f"session-{SESSION}", False, 1)


class TestNote:
    def test_is_a_worklog_entry_with_kind_text_and_refs(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        value = ok(
            repository, "note", "gotcha", " Retry once ", "--ref", "a.py:1", "--ref", "b.py:2",
            "--session-id", SESSION, "--json",
        ).json  # fmt: skip
        assert value["topic"] == "fix"
        (entry,) = ok(repository, "log", "--json", "--session-id", SESSION).json["entries"]
        assert entry == {
            "ts": "2026-11-30T12:00:00.000Z",
            "workspace": str(repository),
            "topic": "fix",
            "event": "note",
            "note_kind": "gotcha",
            "text": "Retry once",
            "refs": ["a.py:1", "b.py:2"],
            "worklog_id": value["worklog_id"],
            "session_key": SESSION,
            "worklog_seq": 1,
        }

    @pytest.mark.parametrize(
        "kind",
        [
            "fact",
            "gotcha",
            "pattern",
            "recipe",
            "principle",
            "decision",
            "anti_pattern",
            "question",
            "Anti-Pattern",
        ],
    )
    def test_may_be_of_any_capsule_kind_a_question_or_a_decision(self, tmp_path: Path, kind: str) -> None:
        value = ok(tmp_path, "note", kind, "x", "--json").json
        assert value["note_kind"] == kind.lower().replace("-", "_")

    @pytest.mark.parametrize("arguments", [("idea", "x"), ("fact", " "), ("fact", ""), ("fact",), ()])
    def test_of_another_kind_or_without_text_is_refused(
        self, tmp_path: Path, arguments: tuple[str, ...]
    ) -> None:
        assert memory(tmp_path, "note", *arguments).code == 2
        assert not os.path.exists(state_of(tmp_path).worklog_path("current"))

    def test_without_a_session_goes_to_the_pointers_topic(self, repository: Path) -> None:
        ok(repository, "use", "fix")
        ok(repository, "note", "fact", "x")
        assert commands_of(repository, "fix") == ["x"]

    def test_goes_to_the_topic_that_is_named(self, repository: Path) -> None:
        ok(repository, "note", "fact", "x", "--topic", "fix", "--session-id", SESSION)
        assert commands_of(repository, "fix") == ["x"]

    def test_comes_after_what_was_spooled_before_it(self, repository: Path) -> None:
        from agent_memory import spool

        state = state_of(repository)
        data = json.loads((REPOSITORY / "tests/data/payloads/claude/PostToolUse.Bash.json").read_text())
        data.update({"session_id": SESSION, "cwd": str(repository)})
        spool.put(
            spool.location(state.root),
            json.dumps(data).encode(),
            harness="claude",
            event="",
            cwd="/",
            env=os.environ,
        )
        ok(repository, "note", "fact", "later", "--session-id", SESSION)
        assert commands_of(repository, f"session-{SESSION}") == ["echo hello", "later"]

    def test_reads_standard_input(self, tmp_path: Path) -> None:
        ok(tmp_path, "note", "fact", "-", stdin="from a pipe\n")
        assert commands_of(tmp_path, "current") == ["from a pipe"]

    def test_loses_credentials_and_says_so(self, tmp_path: Path) -> None:
        token = "ghp_" + "a1B2" * 9
        out = ok(tmp_path, "note", "fact", f"the token is {token}").out
        assert "looks like a credential was replaced" in out
        assert token not in Path(state_of(tmp_path).worklog_path("current")).read_text()

    def test_of_more_than_2000_characters_is_shortened_and_says_so(self, tmp_path: Path) -> None:
        assert "was shortened" in ok(tmp_path, "note", "fact", "x " * 1500).out
        (text,) = commands_of(tmp_path, "current")
        assert len(text) <= 2000
        assert "characters cut" in text

    def test_is_taken_when_a_flush_makes_room(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from agent_memory.entries import note_entry

        state = state_of(tmp_path)
        monkeypatch.setattr(queue, "MAX_EVENTS", 2)
        for text in ("one", "two"):
            entry = note_entry("fact", text, [], ts=0, workspace=state.workspace, topic="current")
            queue.enqueue(state.spec_dir, SESSION, entry, queue.new_id())
        ok(tmp_path, "note", "fact", "three", "--session-id", SESSION)
        assert commands_of(tmp_path, "current") == ["one", "two", "three"]

    def test_is_taken_though_the_error_ledger_cannot_be_read(self, repository: Path) -> None:
        state = state_of(repository)
        os.symlink("/etc/passwd", state.path(ledger.FILE))
        ran = ok(repository, "note", "fact", "kept", "--session-id", SESSION)
        assert "the error ledger cannot be read" in ran.err
        assert commands_of(repository, f"session-{SESSION}") == ["kept"]
        assert ok(repository, "status", "--session-id", SESSION, "--json").json["errors"]

    def test_that_the_queue_cannot_take_is_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(queue, "MAX_EVENTS", 0)
        ran = memory(tmp_path, "note", "fact", "x", "--json")
        assert ran.code == 1
        assert ran.json["error"]["code"] == "queue-full"


class TestSpec:
    def test_is_shown_as_it_is(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "a\\b\tc <d>\n\x1b[2J\u202e\n")
        assert ok(tmp_path, "spec", "--topic", "fix").out == "a\\b\tc <d>\n\\u001b[2J\\u202e\n"
        assert ok(tmp_path, "spec", "--topic", "fix", "--json").json["text"] == "a\\b\tc <d>\n\x1b[2J\u202e\n"

    def test_that_is_missing_is_an_error(self, tmp_path: Path) -> None:
        ran = memory(tmp_path, "spec", "--topic", "fix")
        assert ran.code == 1
        assert "has no spec yet" in ran.err
        assert ok(tmp_path, "spec", "--topic", "fix", "--json").json["text"] is None

    def test_is_appended_to(self, tmp_path: Path) -> None:
        ok(tmp_path, "spec", "--append", "one", "--topic", "fix")
        ok(tmp_path, "spec", "--append", "-", "--topic", "fix", stdin="two\nthree\n")
        assert state_of(tmp_path).read_spec("fix") == "topic: fix\nsummary: \n\none\n\ntwo\nthree\n"

    def test_gets_a_summary(self, tmp_path: Path) -> None:
        ok(tmp_path, "spec", "--summary", "One\nline", "--topic", "fix")
        assert state_of(tmp_path).read_spec("fix") == "topic: fix\nsummary: One line\n"
        write_spec(tmp_path, "b", "topic: b\nplan\n")
        ok(tmp_path, "spec", "--summary", "S", "--append", "more", "--topic", "b")
        assert state_of(tmp_path).read_spec("b") == "topic: b\nsummary: S\nplan\n\nmore\n"
        write_spec(tmp_path, "c", "plan\nSummary: old\n")
        ok(tmp_path, "spec", "--summary", "S", "--topic", "c")
        assert state_of(tmp_path).read_spec("c") == "plan\nsummary: S\n"

    def test_says_when_it_is_too_long_to_be_injected(self, tmp_path: Path) -> None:
        ran = ok(tmp_path, "spec", "--append", "x" * 2600, "--topic", "fix")
        assert "more than 2500 characters" in ran.out

    def test_of_nothing_is_not_appended(self, tmp_path: Path) -> None:
        assert memory(tmp_path, "spec", "--append", " \n").code == 2
        assert memory(tmp_path, "spec", "--append", "x", "--edit").code == 2
        assert memory(tmp_path, "spec", "--show", "--summary", "x").code == 2

    def editor(self, tmp_path: Path, body: str) -> dict[str, str]:
        path = tmp_path / "an editor"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return {"VISUAL": f"'{path}' --wait"}

    def test_is_edited_in_an_editor(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "one\n")
        env = self.editor(tmp_path, 'printf "two\\n" >> "$2"')
        ok(tmp_path, "spec", "--edit", "--topic", "fix", env=env)
        assert state_of(tmp_path).read_spec("fix") == "one\ntwo\n"
        assert not [n for n in state_of(tmp_path).names() if "edit" in n]

    def test_keeps_nobody_waiting_while_a_person_edits_it(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "one\n")
        state_of(tmp_path).bind(SESSION, "fix")
        run = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); import agent_memory.cli as c; c.entry()"
        where = f"--session-id {SESSION} --workspace '{tmp_path}'"
        note = f"timeout 600 '{sys.executable}' -c \"{run}\" note fact seen {where}"
        env = self.editor(tmp_path, f'{note} >/dev/null || exit 5; echo two >> "$2"')
        ok(tmp_path, "spec", "--edit", "--topic", "fix", env=env)
        assert state_of(tmp_path).read_spec("fix") == "one\ntwo\n"
        assert commands_of(tmp_path, "fix") == ["seen"]

    def test_that_others_changed_while_it_was_edited_is_not_overwritten(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "one\n")
        spec = state_of(tmp_path).spec_path("fix")
        env = self.editor(tmp_path, f"echo theirs >> '{spec}'; echo mine >> \"$2\"")
        ran = memory(tmp_path, "spec", "--edit", "--topic", "fix", env=env)
        assert ran.code == 1
        assert state_of(tmp_path).read_spec("fix") == "one\ntheirs\n"
        kept = ran.err.strip().removesuffix(")").rpartition("your text is in ")[2]
        assert Path(kept).read_text() == "one\nmine\n"

    def test_that_cannot_be_taken_from_the_editor_is_kept_for_the_person(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "one\n")
        env = self.editor(tmp_path, 'echo mine >> "$2"; chmod 666 "$2"')
        ran = memory(tmp_path, "spec", "--edit", "--topic", "fix", env=env)
        assert (ran.code, state_of(tmp_path).read_spec("fix")) == (1, "one\n")
        assert "can be written by others" in ran.err
        assert "your text is in " in ran.err
        ran = memory(tmp_path, "spec", "--edit", "--topic", "fix", env=self.editor(tmp_path, 'rm "$2"'))
        assert (ran.code, state_of(tmp_path).read_spec("fix")) == (1, "one\n")

    def test_is_left_alone_by_an_editor_that_fails(self, tmp_path: Path) -> None:
        write_spec(tmp_path, "fix", "one\n")
        env = self.editor(tmp_path, 'echo spoilt > "$2"; exit 3')
        ran = memory(tmp_path, "spec", "--edit", "--topic", "fix", env=env)
        assert ran.code == 1
        assert "ended with 3; the spec was not changed" in ran.err
        ran = memory(tmp_path, "spec", "--edit", "--topic", "fix", env={"VISUAL": "/no/such/editor"})
        assert "could not be run" in ran.err
        assert state_of(tmp_path).read_spec("fix") == "one\n"


class TestCompletion:
    def test_offers_the_topics_of_the_workspace(self, repository: Path, tmp_path: Path) -> None:
        """In a real bash, with the script that the command prints."""
        for name in ("fix-retries", "fix-locks", "docs"):
            write_spec(repository, name, f"topic: {name}\n")
        record(repository, SESSION, "of nobody")
        console = string_console(dict(os.environ), cwd=str(repository))
        assert main(["--print-completion", "bash"], console) == 0
        script = tmp_path / "completion"
        script.write_text(console.stdout.getvalue())  # type: ignore[attr-defined]
        program = tmp_path / "bin/,agent-memory"
        program.parent.mkdir()
        program.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -c "import sys; sys.path.insert(0, {str(REPOSITORY)!r});'
            ' from agent_memory.cli import entry; entry()" "$@"\n'
        )
        program.chmod(0o755)
        asked = (
            "select fix-", "use d", "merge docs fix-l", "pause fix-r", "resume d", "status --topic fix-l",
            "log --topic session",
        )  # fmt: skip
        lines = [f'. "{script}"'] + [
            f"COMP_WORDS=(,agent-memory {words}) COMP_CWORD={len(words.split())} COMPREPLY=();"
            f' _shtab__agent_memory ,agent-memory {words.split()[-1]} x; echo "${{COMPREPLY[*]}}"'
            for words in asked
        ]
        done = subprocess.run(
            ["bash", "--norc", "-c", "\n".join(lines)], cwd=repository, capture_output=True, text=True,
            check=True, env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
        )  # fmt: skip
        assert [set(line.split()) for line in done.stdout.splitlines()] == [
            {"fix-locks", "fix-retries"}, {"docs"}, {"fix-locks"}, {"fix-retries"}, {"docs"}, {"fix-locks"},
            set(),
        ]  # fmt: skip

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_asks_the_command_in_every_shell(self, repository: Path, shell: str) -> None:
        console = string_console(dict(os.environ), cwd=str(repository))
        assert main(["--print-completion", shell], console) == 0
        assert ",agent-memory list --names 2>/dev/null" in console.stdout.getvalue()  # type: ignore[attr-defined]


class TestLog:
    def test_shows_entries_for_people(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        record(repository, SESSION, "make\x1b check", status="failed", error="one\ntwo")
        ok(repository, "note", "gotcha", "Retry once", "--ref", "a.py:1", "--session-id", SESSION)
        out = ok(repository, "log", "--session-id", SESSION).out
        assert out.split("\n")[:2] == [
            "2026-11-30T12:00:00.000Z  Bash  failed  make\\u001b check",
            "2026-11-30T12:00:00.000Z  note gotcha  Retry once  [a.py:1]",
        ]
        assert "    one\n    two\n" in ok(repository, "log", "--full", "--session-id", SESSION).out

    def test_shows_the_newest_and_how_many_are_older(self, tmp_path: Path) -> None:
        for number in range(4):
            record(tmp_path, SESSION, f"make {number}")
        out = ok(tmp_path, "log", "-n", "2").out
        assert out.startswith("(2 older entries; -n 0 shows all)\n")
        assert "make 2" in out
        assert "make 1" not in out
        assert len(ok(tmp_path, "log", "-n", "0", "--json").json["entries"]) == 4
        assert memory(tmp_path, "log", "-n", "-1").code == 2

    def test_of_nothing_says_so(self, tmp_path: Path) -> None:
        assert ok(tmp_path, "log").out == "topic current has no worklog yet\n"


class TestUse:
    def test_points_commands_without_a_session_at_a_topic(self, repository: Path) -> None:
        out = ok(repository, "use", "fix").out
        assert "It has neither spec nor worklog yet." in out
        assert ok(repository, "status", "--json").json["topic_source"] == "pointer"
        write_spec(repository, "fix", "x\n")
        assert "neither" not in ok(repository, "use", "fix").out
        assert ok(repository, "use", "--none", "--json").json["pointer"] is None

    @pytest.mark.parametrize("name", ["current", "session-x", "../x", "a b", ""])
    def test_rejects_current_and_names_that_are_not_safe(self, repository: Path, name: str) -> None:
        assert memory(repository, "use", name).code == 2
        assert state_of(repository).pointer() is None

    def test_needs_one_of_topic_and_none(self, repository: Path) -> None:
        assert memory(repository, "use").code == 2
        assert memory(repository, "use", "fix", "--none").code == 2


class TestPauseAndResume:
    def test_are_for_a_topic_or_for_the_workspace(self, repository: Path) -> None:
        ok(repository, "use", "fix")
        assert ok(repository, "pause").out == "Context is off for topic fix.\n"
        assert ok(repository, "status", "--json").json["no_context"] is True
        assert ok(repository, "resume").out == "Context is on for topic fix.\n"
        assert ok(repository, "pause", "--all").out == "Context is off for the whole workspace.\n"
        ran = ok(repository, "resume", "fix")
        assert "still off: the whole workspace is paused (`,agent-memory resume --all` ends that)" in ran.err
        assert ok(repository, "resume", "--all", "--json").json["paused"] is False
        assert ok(repository, "status", "--json").json["no_context"] is False

    def test_take_one_topic(self, repository: Path) -> None:
        assert memory(repository, "pause", "a", "--topic", "b").code == 2
        assert memory(repository, "pause", "a", "--all").code == 2

    def test_do_not_stop_recording(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        ok(repository, "pause", "fix")
        record(repository, SESSION, "make")
        assert commands_of(repository, "fix") == ["make"]


class TestSuggest:
    def prepare(self, workspace: Path) -> None:
        write_spec(workspace, "fix-retries", "summary: Retry storms in the sync client\n")
        write_spec(workspace, "login-page", "summary: Redesign of the sign-in form\ntarget: web/login.tsx\n")
        write_spec(workspace, "docs", "summary: User manual\n")

    @pytest.mark.parametrize(
        ("request_", "topic"),
        [
            ("the retry storm is back", "fix-retries"),
            ("please fix the syncing client's retries", "fix-retries"),
            ("make the sign-in form prettier", "login-page"),
            ("loginPage crashes", "login-page"),
            ("update the docs", "docs"),
        ],
    )
    def test_says_when_exactly_one_topic_matches(self, repository: Path, request_: str, topic: str) -> None:
        self.prepare(repository)
        value = ok(repository, "suggest", request_, "--json", "--session-id", SESSION).json
        assert value["verdict"] == "one"
        assert [match["topic"] for match in value["matches"]] == [topic]
        where = f"--workspace {repository} --session-id {SESSION}"
        assert value["matches"][0]["command"] == f",agent-memory select {topic} {where}"
        out = ok(repository, "suggest", request_).out
        assert out.startswith(f"Exactly one topic matches:\n- {topic}: ")

    @pytest.mark.parametrize("request_", ["upgrade the database driver", "fix the problem", "!!!"])
    def test_says_when_none_does(self, repository: Path, request_: str) -> None:
        self.prepare(repository)
        assert ok(repository, "suggest", request_, "--json").json["verdict"] == "none"
        assert "--create" in ok(repository, "suggest", request_).out

    def test_says_when_several_do(self, repository: Path) -> None:
        self.prepare(repository)
        write_spec(repository, "retry-docs", "summary: Chapter on retry storms\n")
        value = ok(repository, "suggest", "-", "--json", stdin="retry storms again").json
        assert value["verdict"] == "several"
        assert {match["topic"] for match in value["matches"]} == {"fix-retries", "retry-docs"}

    def test_reads_notes_but_not_the_findings_of_reviews(self, repository: Path) -> None:
        ok(repository, "note", "fact", "the flux capacitor leaks", "--topic", "one")
        write_spec(repository, "review-9", "target: x\nFindings:\nthe flux capacitor leaks\n")
        value = ok(repository, "suggest", "flux capacitor leak", "--json").json
        assert [match["topic"] for match in value["matches"]] == ["one"]

    def test_in_an_empty_workspace_says_none(self, repository: Path) -> None:
        assert ok(repository, "suggest", "x", "--json").json["verdict"] == "none"
        assert memory(repository, "suggest", " ").code == 2


class TestDoctor:
    def test_finds_nothing_wrong_where_nothing_is(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        value = ok(repository, "doctor", "--json").json
        assert value["ok"] is True
        assert {row["status"] for row in value["checks"]} == {"ok"}
        assert set(value["checks"][0]) == {"name", "status", "detail", "hint", "milliseconds"}

    def test_finds_and_repairs_what_cannot_be_read(self, repository: Path) -> None:
        record(repository, SESSION, "make")
        state = state_of(repository)
        directory = Path(queue.directory(state.spec_dir, SESSION))
        (directory / "000000000099.json").write_text("{torn")
        ledger.add(state.spec_dir, "refused", "an event was refused")
        path = Path(state.binding_path("k"))
        path.write_text("../x\n")
        path.chmod(0o600)
        ran = memory(repository, "doctor")
        assert ran.code == 1
        for text in (
            "1 event not recorded yet",
            "an event was refused",
            ".session-topic-k.txt names no topic",
        ):
            assert text in ran.out
        ran = memory(repository, "doctor", "--repair")
        assert ran.code == 0, ran
        assert "repaired" in ran.out
        assert ok(repository, "doctor", "--json").json["ok"] is True
        assert commands_of(repository, f"session-{SESSION}") == ["make"]

    def test_says_of_what_works_and_should_be_known_that_it_is_so(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        ok(repository, "pause", "--all")
        paused = ok(repository, "doctor").out
        assert "warn context: nothing is injected in this workspace (_no_session_context) (" in paused
        assert "(,agent-memory resume --all)" in paused
        ok(repository, "resume", "--all")
        off = ok(repository, "doctor", env={"AGENT_HOOK_CONTEXT": "0"}).out
        assert "warn context: nothing is injected in this workspace (AGENT_HOOK_CONTEXT) (unset AGENT" in off

    def test_records_what_is_pending(self, repository: Path) -> None:
        from agent_memory.entries import note_entry

        state = state_of(repository)
        entry = note_entry("fact", "x", [], ts=0, workspace=state.workspace, topic="fix")
        queue.enqueue(state.spec_dir, SESSION, entry, queue.new_id())
        assert memory(repository, "doctor").code == 1
        assert "1 pending event recorded" in ok(repository, "doctor", "--repair").out
        assert commands_of(repository, "fix") == ["x"]

    def test_finds_files_of_others(self, repository: Path) -> None:
        os.symlink("/etc/passwd", state_of(repository).spec_path("evil"))
        ran = memory(repository, "doctor")
        assert ran.code == 1
        assert "is a symbolic link" in ran.out

    def test_says_that_a_directory_is_not_safe(self, repository: Path) -> None:
        os.chmod(state_of(repository).root, 0o777)
        ran = memory(repository, "doctor", "--json")
        assert ran.code == 1
        assert "can be written by others" in ran.json["checks"][0]["detail"]
        assert memory(repository, "status").code == 1

    @pytest.mark.parametrize("name", [".worklog-locks-v1/activity.lock", ".worklog-queue-v1/S/.sequence"])
    def test_finds_files_of_others_in_locks_and_queues(self, repository: Path, name: str) -> None:
        state = state_of(repository)
        record(repository, "S", "make")
        Path(state.path(name)).unlink()
        os.symlink("/etc/passwd", state.path(name))
        ran = memory(repository, "doctor")
        assert ran.code == 1
        assert f"{name}' is a symbolic link" in ran.out

    def test_tells_of_events_that_no_recorder_comes_for_and_records_them(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        state_dir = State.of(os.environ, str(repository), hook=False).spec_dir
        recording.put(recording.payload(SESSION, "waits", repository), repository)
        assert "1 event of all workspaces about to be recorded" in ok(repository, "doctor").out
        (event,) = Path(spool.location(recording.root())).glob("*.event")
        moment = time.time()
        os.utime(event, (moment - 3_690,) * 2)
        monkeypatch.setattr(doctor, "time", SimpleNamespace(time=lambda: moment))
        ran = memory(repository, "doctor")
        assert ran.code == 1
        assert "1 event of all workspaces not recorded yet, since 61 minutes" in ran.out
        assert not os.path.exists(state_dir)
        ok(repository, "doctor", "--repair")
        assert commands_of(repository, f"session-{SESSION}") == ["waits"]

    def test_warns_of_a_mirror_that_cannot_be_written(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = os.environ["AGENT_MEMORY_MIRROR_ROOT"]
        asked: list[str] = []

        def access(path: str, _: int) -> bool:
            asked.append(path)
            return False

        monkeypatch.setattr(os, "access", access)
        ran = ok(repository, "doctor")
        assert f"warn mirror: {root}{repository} cannot be written" in ran.out
        assert asked == [os.path.dirname(root)]

    def test_says_why_an_event_stays(self, repository: Path) -> None:
        recording.put(recording.payload(SESSION, "waits", repository), repository)
        where = Path(spool.location(recording.root()))
        os.chmod(where, 0o755)
        ran = memory(repository, "doctor")
        assert ran.code == 1
        assert "1 event of all workspaces not recorded: " in ran.out
        assert f"{where}' is open to others (mode 0755); it was not used (chmod go= {where})" in ran.out
        os.chmod(where, 0o700)
        (event,) = where.glob("*.event")
        os.chmod(event, 0o644)
        ran = memory(repository, "doctor", "--repair")
        assert f"an event stays in the spool: '{event}' is open to others (mode 0644)" in ran.err
        os.chmod(event, 0o600)
        assert ok(repository, "doctor", "--repair").err == ""
        assert commands_of(repository, f"session-{SESSION}") == ["waits"]

    def test_repairs_the_rest_when_a_move_cannot_be_finished(self, repository: Path) -> None:
        record(repository, SESSION, "x")
        write_spec(repository, "a", "topic: a\n")
        state = state_of(repository)
        intent = moves.Intent(moves.MERGE, "a", "b", "2026")
        files.write_atomic(state.path(topics.INTENT), intent.to_bytes())
        write_spec(repository, "b", "topic: b\n")
        os.chmod(state.spec_path("b"), 0o666)
        Path(state.path(topics.BINDING_PREFIX + "s.txt")).write_text("../x")
        ran = memory(repository, "doctor", "--repair")
        assert ran.code == 1
        assert "an unfinished merge of 'a' into 'b' cannot be finished: " in ran.err
        assert "named no topic and was removed" in ran.out
        assert moves.unfinished(state)
        os.chmod(state.spec_path("b"), 0o600)
        assert "was carried out" in ok(repository, "doctor", "--repair").out

    @pytest.mark.parametrize("place", ["workspace", "root"])
    def test_of_an_error_ledger_that_could_be_planted_says_so_and_the_rest(
        self, repository: Path, place: str
    ) -> None:
        state = state_of(repository)
        directory = state.root if place == "root" else state.spec_dir
        Path(directory, ledger.FILE).write_text("")
        os.chmod(Path(directory, ledger.FILE), 0o666)
        for argv in (("doctor",), ("doctor", "--repair")):
            ran = memory(repository, *argv)
            assert ran.code == 1
            assert "error ledger cannot be read" in ran.out
            assert "mirror: " in ran.out

    @pytest.mark.parametrize("name", ["AGENT_MEMORY_SPEC_ROOT", "AGENT_MEMORY_MIRROR_ROOT"])
    def test_finds_a_root_that_hooks_ignore(self, repository: Path, name: str) -> None:
        ran = memory(repository, "doctor", env={name: str(repository / "inside")})
        assert ran.code == 1
        assert f"hooks ignore {name}='{repository}/inside'" in ran.out

    def test_finds_a_prefix_that_is_too_long(self, repository: Path, tmp_path: Path) -> None:
        (tmp_path / "long.txt").write_text("p" * 3001)
        env = {"AGENT_MEMORY_PREFIX": str(tmp_path / "long.txt")}
        assert "too long" in memory(repository, "doctor", env=env).out


class TestCommandLine:
    @pytest.mark.parametrize("verb", list(VERBS))
    def test_help_teaches_with_examples(self, tmp_path: Path, verb: str) -> None:
        out = ok(tmp_path, verb, "--help").out
        assert out.startswith(f"usage: ,agent-memory {verb}")
        assert "examples:\n  ,agent-memory " in out

    def test_help_lists_every_verb(self, tmp_path: Path) -> None:
        out = ok(tmp_path, "--help").out
        for verb in VERBS:
            assert re.search(rf"^    {verb}\b", out, re.M)

    def test_an_unknown_verb_or_option_is_a_usage_error(self, tmp_path: Path) -> None:
        for argv in ((), ("nope",), ("status", "--nope"), ("select", "x", "--session-i", "y")):
            ran = memory(tmp_path, *argv)
            assert ran.code == 2
            assert ran.err.startswith(",agent-memory: ")
            assert ran.err.count("\n") == 1

    @pytest.mark.parametrize(
        "argv",
        [
            *(
                "status",
                "list",
                "list --all",
                "suggest x",
                "select fix --session-id s",
                "log",
                "spec",
                "merge a b",
            ),
            *("merge a b --dry-run", "resume", "resume --all", "use --none", "wipe-current"),
            *("wipe-current --dry-run", "doctor", "doctor --repair"),
        ],
    )
    def test_every_verb_knows_a_workspace_without_memory(self, repository: Path, argv: str) -> None:
        ran = memory(repository, *argv.split())
        refused = argv.split()[0] in ("select", "spec", "merge")
        assert ran.code == refused, ran
        if refused:
            assert ran.err.startswith(",agent-memory: t")  # "there is no topic …", "topic … has no spec yet"

    def test_errors_are_json_when_json_was_asked_for(self, tmp_path: Path) -> None:
        ran = memory(tmp_path, "select", "a b", "--json", "--session-id", "x")
        assert ran.code == 2
        assert ran.json["error"]["code"] == "unsafe-topic"
        assert "a-b" in ran.json["error"]["hint"]
        assert ran.err == ""
        assert memory(tmp_path, "nope", "--json").json["error"]["code"] == "usage"

    def test_a_workspace_that_is_not_there_is_a_usage_error(self, tmp_path: Path) -> None:
        ran = memory(tmp_path, "status", "--workspace", str(tmp_path / "no"))
        assert ran.code == 2
        assert "is no directory" in ran.err

    def test_an_empty_session_id_is_a_usage_error(self, tmp_path: Path) -> None:
        assert memory(tmp_path, "status", "--session-id", "").code == 2
        assert memory(tmp_path, "status", "--session-id", "a", "--session-key", "b").code == 2

    def test_a_select_without_a_session_is_a_usage_error(self, tmp_path: Path) -> None:
        ran = memory(tmp_path, "select", "fix")
        assert ran.code == 2
        assert "needs --session-id" in ran.err
        assert memory(tmp_path, "select", "x", "--summary", "s", "--session-id", "a").code == 2

    @pytest.mark.parametrize("name", [",agent-memory", "agent-memory"])
    def test_is_installed_under_both_names(self, tmp_path: Path, name: str) -> None:
        path = Path(sys.executable).parent / name
        if not path.exists():
            pytest.skip("not installed here")
        env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        done = subprocess.run(
            [str(path), "status", "--json"], capture_output=True, check=True, cwd=tmp_path, env=env
        )
        assert json.loads(done.stdout)["workspace"] == str(tmp_path)

    @pytest.mark.parametrize("name", ["agent-memory", "ai-kb"])
    @pytest.mark.parametrize("linked", [False, True])
    def test_the_comma_leads_to_the_command_beside_it(self, tmp_path: Path, name: str, linked: bool) -> None:
        folder = tmp_path / "an environment" / "bin"
        folder.mkdir(parents=True)
        (folder / name).write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
        (folder / name).chmod(0o755)
        path = folder / f",{name}"
        shutil.copy(REPOSITORY / "scripts/commands" / f",{name}", path)
        if linked:
            (tmp_path / "link").symlink_to(path)
            path = tmp_path / "link"
        done = subprocess.run([str(path), "a b", ""], capture_output=True, check=True)
        assert done.stdout == b"<a b><>"

    def test_every_json_output_is_json(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION, "--json")
        write_spec(repository, "dup", "x\n")
        for argv in (
            ("status",),
            ("list",),
            ("select", "fix", "--session-id", SESSION),
            ("note", "fact", "x"),
            ("spec", "--topic", "fix"),
            ("log",),
            ("use", "fix"),
            ("suggest", "x"),
            ("pause", "fix"),
            ("resume", "fix"),
            ("merge", "dup", "fix", "--dry-run"),
            ("merge", "dup", "fix"),
            ("wipe-current", "--dry-run"),
            ("wipe-current",),
            ("doctor",),
        ):
            ran = ok(repository, *argv, "--json")
            json.loads(ran.out)
            assert ran.out.isascii()

    def test_a_closed_pipe_ends_quietly(self, repository: Path) -> None:
        code = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); import agent_memory.cli as c; c.entry()"
        reader, writer = os.pipe()
        os.close(reader)  # nobody reads, from the beginning
        done = subprocess.run(
            [sys.executable, "-c", code, "status"], stdin=subprocess.DEVNULL, stdout=writer,
            stderr=subprocess.PIPE, cwd=repository, check=False,
        )  # fmt: skip
        os.close(writer)
        assert (done.returncode, done.stderr) == (141, b"")
