"""session_context.py: once per start, in the harness's shape, only what is new where a client replays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_memory import ledger, topics
from agent_memory.workspace import session_key
from hooks import _entry, session_context
from tests import patient
from tests.conftest import PATIENCE, REPOSITORY
from tests.memory.support import NOW, OTHER, SESSION, memory, ok, record, state_of, write_spec

Git = Callable[..., str]
T = NOW.timestamp()
PAYLOADS = REPOSITORY / "tests/data/payloads"
REAL = {name: getattr(session_context, name) for name in ("_ask_for_learnings", "_ask_who_waits")}


@pytest.fixture(autouse=True)
def no_learnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signed memory has its own tests; here it has nothing to say unless a test says otherwise."""
    monkeypatch.setattr(session_context, "_ask_for_learnings", lambda *_: [])
    monkeypatch.setattr(session_context, "_ask_who_waits", lambda *_: "")


def payload(workspace: Path, name: str, session: str | None = SESSION, **changes: Any) -> bytes:
    """A recorded payload (``claude/SessionStart.startup``) for this workspace and session."""
    data = json.loads((PAYLOADS / f"{name}.json").read_text())
    for key in ("session_id", "sessionId", "conversation_id", "generation_id"):
        if key in data and session is not None:
            data[key] = session
    if "cwd" in data:
        data["cwd"] = str(workspace)
    if "workspace_roots" in data:
        data["workspace_roots"] = [str(workspace)]
    data.update(changes)
    return json.dumps(data).encode()


def run(
    data: bytes,
    harness: str = "claude",
    *,
    now: float = T,
    work: Callable[[_entry.Call], str] = session_context.work,
    env: dict[str, str] | None = None,
    cwd: str = "/",
) -> tuple[str, str]:
    """Run the hook in this process: stdout and stderr."""
    argv = ["--harness", harness] if harness else []
    return _entry.run(
        "session_context", work, argv, env={**os.environ, **(env or {})}, stdin=data, cwd=cwd, now=now
    )


def context(data: bytes, harness: str = "claude", **keywords: Any) -> str:
    """The injected text, out of any harness's shape; "" when nothing is injected."""
    out, err = run(data, harness, **keywords)
    assert err == ""
    if out in ("", "{}"):
        return ""
    value = json.loads(out)
    nested = value.get("hookSpecificOutput", {}).get("additionalContext")
    found = [nested, value.get("additionalContext"), value.get("additional_context")]
    texts = {text for text in found if text is not None}
    assert len(texts) == 1
    return str(texts.pop())


class TestOutput:
    @pytest.mark.parametrize("harness", ["claude", "codex"])
    def test_of_strict_harnesses_is_hook_specific_and_nothing_else(
        self, repository: Path, harness: str
    ) -> None:
        out, err = run(payload(repository, f"{harness}/SessionStart.startup"), harness)
        value = json.loads(out)
        assert list(value) == ["hookSpecificOutput"]
        assert set(value["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        assert value["hookSpecificOutput"]["hookEventName"] == "SessionStart"
        assert err == ""

    def test_of_copilot_is_top_level(self, repository: Path) -> None:
        out, _ = run(payload(repository, "copilot/sessionStart.new"), "copilot")
        assert list(json.loads(out)) == ["additionalContext"]

    def test_of_cursor_is_top_level_and_never_empty(self, repository: Path) -> None:
        out, _ = run(payload(repository, "cursor/sdk-agent.sessionStart"), "cursor", cwd="/nowhere")
        assert list(json.loads(out)) == ["additional_context"]
        ok(repository, "pause", "--all")
        again, _ = run(payload(repository, "cursor/sdk-agent.sessionStart", OTHER), "cursor")
        assert again == "{}"

    def test_of_opencode_is_top_level(self, repository: Path) -> None:
        data = json.loads((PAYLOADS / "opencode/event.session.created.json").read_text())
        data["properties"]["info"]["directory"] = str(repository)
        out, _ = run(json.dumps(data).encode(), "opencode")
        assert list(json.loads(out)) == ["additionalContext"]
        assert str(repository) in out

    def test_without_a_harness_has_both_shapes(self, repository: Path) -> None:
        out, _ = run(payload(repository, "claude/SessionStart.startup"), "")
        assert set(json.loads(out)) == {"additional_context", "hookSpecificOutput"}

    def test_without_a_harness_follows_the_variable(self, repository: Path) -> None:
        out, _ = run(
            payload(repository, "claude/SessionStart.startup"), "", env={"AGENT_HOOK_OUTPUT": "hook_specific"}
        )
        assert list(json.loads(out)) == ["hookSpecificOutput"]

    def test_is_one_line_of_ascii(self, repository: Path) -> None:
        state_of(repository).bind(SESSION, "fix")
        write_spec(repository, "fix", "snowman ☃ and 😀\n")
        out, _ = run(payload(repository, "claude/SessionStart.startup"))
        assert out.isascii()
        assert "\n" not in out
        assert "snowman ☃ and 😀" in json.loads(out)["hookSpecificOutput"]["additionalContext"]

    @pytest.mark.parametrize(
        ("harness", "name"),
        [
            ("claude", "claude/SessionStart.startup"),
            ("codex", "codex/SessionStart.startup"),
            ("copilot", "copilot/sessionStart.new"),
            ("cursor", "cursor/engine.sessionStart"),
        ],
    )
    def test_shows_the_select_command_for_this_session(
        self, repository: Path, harness: str, name: str
    ) -> None:
        text = context(payload(repository, name, "S-1"), harness)
        assert f"select NEW-TOPIC --create --workspace {repository} --session-id S-1" in text

    def test_of_another_event_is_nothing(self, repository: Path) -> None:
        assert run(payload(repository, "claude/UserPromptSubmit")) == ("", "")
        assert run(payload(repository, "claude/PostToolUse.Bash")) == ("", "")

    @pytest.mark.parametrize(
        "data", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"session_id": 3}', b"{}" * 2]
    )
    def test_of_a_payload_that_is_not_understood_is_the_context_of_the_directory(
        self, repository: Path, data: bytes
    ) -> None:
        text = context(data, cwd=str(repository))
        assert f"Workspace: {json.dumps(str(repository))}" in text


class TestTheSameStartTwice:
    def test_is_injected_once(self, repository: Path) -> None:
        data = payload(repository, "claude/SessionStart.startup")
        assert context(data)
        assert context(data, now=T + 0.5) == ""

    def test_is_injected_once_under_two_names(self, repository: Path) -> None:
        camel = payload(repository, "copilot/sessionStart.new")
        pascal = payload(repository, "copilot/PascalCase.SessionStart")
        assert context(camel, "copilot")
        assert context(pascal, "claude", now=T + 4) == ""

    def test_reaches_copilot_also_when_its_claude_hook_comes_first(self, repository: Path) -> None:
        """Copilot reads the top-level key only, also of a Claude hook."""
        out, _ = run(payload(repository, "copilot/PascalCase.SessionStart"), "claude")
        assert json.loads(out)["additionalContext"].startswith("## Session memory")
        assert context(payload(repository, "copilot/sessionStart.new"), "copilot", now=T + 1) == ""

    def test_reaches_cursor_also_when_its_claude_hook_comes_first(self, repository: Path) -> None:
        data = payload(repository, "cursor/sdk-agent.sessionStart")
        out, _ = run(data, "claude")
        assert json.loads(out)["additional_context"].startswith("## Session memory")
        assert context(data, "cursor", now=T + 1) == ""

    def test_is_injected_once_when_both_come_at_the_same_time(self, repository: Path) -> None:
        # All are there before the first one is told of the start, and their clocks show the same.
        before = (
            "import os, types, agent_memory.starts as starts\n"
            f"starts._LOCK_SECONDS = {PATIENCE}\n"
            f"entry.time = types.SimpleNamespace(time=lambda: {T})\n"
            "os.write(1, b'!')\n"
        )
        command = patient.hook("session_context", "--harness", "claude", before=before)
        data = payload(repository, "claude/SessionStart.startup")
        running = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=repository)
            for _ in range(6)
        ]
        for process in running:
            assert process.stdout is not None
            assert os.read(process.stdout.fileno(), 1) == b"!"
        for process in running:
            assert process.stdin is not None
            process.stdin.write(data)
            process.stdin.close()
        outs = []
        for process in running:
            assert process.stdout is not None
            outs.append(process.stdout.read())
            process.stdout.close()
            assert process.wait() == 0
        assert sum(bool(out) for out in outs) == 1

    def test_is_another_start_later(self, repository: Path) -> None:
        data = payload(repository, "claude/SessionStart.compact")
        assert context(data)
        assert context(data, now=T + 3)

    def test_of_another_session_or_source_is_another_start(self, repository: Path) -> None:
        assert context(payload(repository, "claude/SessionStart.startup"))
        assert context(payload(repository, "claude/SessionStart.startup", OTHER))
        assert context(payload(repository, "claude/SessionStart.compact"), now=T + 0.1)

    def test_of_a_hook_that_died_before_it_wrote_is_injected(self, repository: Path) -> None:
        state = state_of(repository)
        Path(state.path(f".start-seen-{SESSION}.json")).write_text('{"at": 17')
        os.chmod(state.path(f".start-seen-{SESSION}.json"), 0o600)
        assert context(payload(repository, "claude/SessionStart.startup"))


class TestSources:
    @pytest.mark.parametrize("source", ["startup", "clear", "compact", "fork", "invented", None])
    def test_all_inject_in_full(self, repository: Path, source: str | None) -> None:
        data = payload(repository, "claude/SessionStart.startup", source=source)
        assert context(data).startswith("## Session memory\n")

    @pytest.mark.parametrize("harness", ["claude", "codex"])
    def test_resume_injects_nothing_where_the_client_replays_and_nothing_is_new(
        self, repository: Path, harness: str
    ) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        record(repository, SESSION, "make")
        assert "make" in context(payload(repository, f"{harness}/SessionStart.startup"), harness)
        assert context(payload(repository, f"{harness}/SessionStart.resume"), harness, now=T + 60) == ""

    @pytest.mark.parametrize("harness", ["claude", "codex"])
    def test_resume_injects_only_what_is_new_where_the_client_replays(
        self, repository: Path, harness: str
    ) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        record(repository, SESSION, "make old")
        context(payload(repository, f"{harness}/SessionStart.startup"), harness)
        record(repository, SESSION, "make new")
        text = context(payload(repository, f"{harness}/SessionStart.resume"), harness, now=T + 60)
        assert text.startswith("## Session memory: what is new\n")
        assert "make new" in text
        assert "make old" not in text
        assert "### Active Topic Spec" not in text
        assert "### Durable memory" not in text
        assert context(payload(repository, f"{harness}/SessionStart.resume"), harness, now=T + 120) == ""

    def test_resume_injects_a_changed_spec(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        context(payload(repository, "claude/SessionStart.startup"))
        ok(repository, "spec", "--append", "The plan changed.", "--session-id", SESSION)
        text = context(payload(repository, "claude/SessionStart.resume"), now=T + 60)
        assert "    The plan changed." in text
        assert context(payload(repository, "claude/SessionStart.resume"), now=T + 120) == ""

    def test_resume_injects_new_buckets_of_an_unbound_session(self, repository: Path) -> None:
        write_spec(repository, "one", "summary: the first\n")
        context(payload(repository, "claude/SessionStart.startup"))
        assert context(payload(repository, "claude/SessionStart.resume"), now=T + 60) == ""
        write_spec(repository, "two", "summary: the second\n")
        text = context(payload(repository, "claude/SessionStart.resume"), now=T + 120)
        assert "the second" in text
        assert "the first" not in text

    def test_resume_does_not_repeat_what_select_has_shown(self, repository: Path) -> None:
        context(payload(repository, "claude/SessionStart.startup"))
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        assert context(payload(repository, "claude/SessionStart.resume"), now=T + 60) == ""

    def test_resume_of_a_session_without_an_earlier_injection_is_in_full(self, repository: Path) -> None:
        text = context(payload(repository, "claude/SessionStart.resume"))
        assert text.startswith("## Session memory\n")

    def test_resume_is_in_full_when_the_start_was_switched_off(self, repository: Path) -> None:
        ok(repository, "pause", "--all")
        assert context(payload(repository, "claude/SessionStart.startup")) == ""
        ok(repository, "resume", "--all")
        text = context(payload(repository, "claude/SessionStart.resume"), now=T + 60)
        assert text.startswith("## Session memory\n")

    def test_resume_after_entries_were_trimmed_shows_the_younger_ones(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        record(repository, SESSION, "make old", at=T - 10)
        context(payload(repository, "claude/SessionStart.startup"))
        os.unlink(state_of(repository).worklog_path("fix"))
        record(repository, SESSION, "make older", at=T - 5)
        record(repository, SESSION, "make new", at=T + 5)
        text = context(payload(repository, "claude/SessionStart.resume"), now=T + 60)
        assert "make new" in text
        assert "make older" not in text

    def test_resume_is_in_full_for_copilot(self, repository: Path) -> None:
        first = context(payload(repository, "copilot/sessionStart.new"), "copilot")
        again = context(payload(repository, "copilot/sessionStart.resume"), "copilot", now=T + 60)
        assert again == first

    def test_resume_is_in_full_for_a_claude_hook_that_copilot_runs(self, repository: Path) -> None:
        context(payload(repository, "copilot/PascalCase.SessionStart"), "claude")
        data = payload(repository, "copilot/PascalCase.SessionStart", source="resume")
        assert context(data, "claude", now=T + 60).startswith("## Session memory\n")

    def test_compact_injects_in_full_again(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        record(repository, SESSION, "make")
        first = context(payload(repository, "claude/SessionStart.startup"))
        assert context(payload(repository, "claude/SessionStart.compact"), now=T + 60) == first

    def test_fork_and_clear_are_sessions_of_their_own(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        text = context(payload(repository, "claude/SessionStart.fork", OTHER))
        assert "### Topic Buckets" in text
        assert f"select fix --workspace {repository} --session-id {OTHER}" in text

    def test_of_opencode_may_be_a_compaction(self, repository: Path) -> None:
        data = json.loads((PAYLOADS / "opencode/event.session.compacted.json").read_text())
        assert context(json.dumps(data).encode(), "opencode", cwd=str(repository))


class TestCapsulesSeen:
    def seen(self, workspace: Path) -> Path:
        return Path(state_of(workspace).path(f".recall-seen-{session_key(SESSION)}.json"))

    def remember(self, workspace: Path, *ids: str) -> None:
        from ai_kb.seen import Seen

        with Seen(state_of(workspace).spec_dir, session_key(SESSION)) as seen:
            seen.add(ids)

    def remembered(self, workspace: Path) -> list[str]:
        from ai_kb.seen import seen_ids

        return seen_ids(state_of(workspace).spec_dir, session_key(SESSION))

    def test_are_forgotten_after_compaction(self, repository: Path) -> None:
        self.remember(repository, "a", "b")
        context(payload(repository, "claude/SessionStart.compact"))
        assert self.remembered(repository) == []

    @pytest.mark.parametrize("name", ["startup", "resume", "clear"])
    def test_are_kept_while_they_are_before_the_model(self, repository: Path, name: str) -> None:
        self.remember(repository, "a", "b")
        context(payload(repository, f"claude/SessionStart.{name}"))
        assert self.remembered(repository) == ["a", "b"]

    def test_of_the_start_are_forgotten_when_copilot_replaces_it(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        monkeypatch.setattr(
            session_context, "_ask_for_learnings", lambda *_: ["warning", '{"id":"a"}', "{no"]
        )
        self.remember(repository, "a", "b")
        context(payload(repository, "copilot/sessionStart.new"), "copilot")
        context(payload(repository, "copilot/sessionStart.resume"), "copilot", now=T + 60)
        assert self.remembered(repository) == ["b"]


class TestGemini:
    def prompt(self, workspace: Path, **changes: Any) -> bytes:
        return payload(workspace, "gemini/BeforeAgent.interactive", **changes)

    def on_prompt(self, data: bytes, now: float = T) -> str:
        return context(data, "gemini", now=now, work=session_context.start_context_for_first_prompt)

    def test_gets_nothing_at_session_start(self, repository: Path) -> None:
        assert run(payload(repository, "gemini/SessionStart.startup"), "gemini") == ("", "")

    def test_gets_the_start_context_with_the_first_prompt_only(self, repository: Path) -> None:
        run(payload(repository, "gemini/SessionStart.startup"), "gemini")
        text = self.on_prompt(self.prompt(repository), T + 1)
        assert text.startswith("## Session memory\n")
        assert self.on_prompt(self.prompt(repository), T + 2) == ""

    def test_gets_it_in_the_shape_of_the_prompts_event(self, repository: Path) -> None:
        out, _ = run(self.prompt(repository), "gemini", work=session_context.start_context_for_first_prompt)
        assert json.loads(out)["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"

    def test_gets_it_also_without_a_session_start(self, repository: Path) -> None:
        assert self.on_prompt(self.prompt(repository))

    def test_gets_it_in_full_again_after_clear(self, repository: Path) -> None:
        run(payload(repository, "gemini/SessionStart.startup"), "gemini")
        first = self.on_prompt(self.prompt(repository), T + 1)
        run(payload(repository, "gemini/SessionStart.clear"), "gemini", now=T + 60)
        assert self.on_prompt(self.prompt(repository), T + 61) == first
        assert self.on_prompt(self.prompt(repository), T + 62) == ""

    def test_gets_nothing_on_resume_that_its_first_prompt_is_replayed_with(self, repository: Path) -> None:
        run(payload(repository, "gemini/SessionStart.startup"), "gemini")
        self.on_prompt(self.prompt(repository), T + 1)
        run(payload(repository, "gemini/SessionStart.resume"), "gemini", now=T + 60)
        assert self.on_prompt(self.prompt(repository), T + 61) == ""

    def test_gets_it_later_when_it_was_switched_off_at_first(self, repository: Path) -> None:
        run(payload(repository, "gemini/SessionStart.startup"), "gemini")
        ok(repository, "pause", "--all")
        assert self.on_prompt(self.prompt(repository), T + 1) == ""
        ok(repository, "resume", "--all")
        assert self.on_prompt(self.prompt(repository), T + 2)

    def test_never_sees_a_line_on_stderr(self, repository: Path) -> None:
        os.makedirs(state_of(repository).path(f".start-seen-{SESSION}.json"))
        out, err = run(self.prompt(repository), "gemini", work=session_context.start_context_for_first_prompt)
        assert (out, err) == ("", "")
        assert ledger.open_errors(state_of(repository).spec_dir)

    def test_alone_gets_it_with_the_prompt(self, repository: Path) -> None:
        data = payload(repository, "claude/UserPromptSubmit")
        assert context(data, "claude", work=session_context.start_context_for_first_prompt) == ""


class TestSubAgents:
    def test_read_their_own_topic_at_session_start(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", "parent")
        data = payload(repository, "claude/SessionStart.startup", "child", parentAgentId="parent")
        text = context(data, env={"COPILOT_AGENT_SESSION_ID": "parent"})
        assert "### Topic Buckets" in text
        assert "session-child" in text

    def test_route_status_and_notes_to_their_parent(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", "parent")
        env = {"COPILOT_AGENT_SESSION_ID": "parent"}
        status = ok(repository, "status", "--json", "--session-id", "child", env=env).json
        assert (status["session_key"], status["topic"]) == ("parent", "fix")
        noted = ok(repository, "note", "fact", "x", "--session-id", "child", "--json", env=env).json
        assert (noted["session_key"], noted["topic"]) == ("parent", "fix")

    def test_write_to_the_spec_of_their_parents_topic(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", "parent")
        env = {"COPILOT_AGENT_SESSION_ID": "parent"}
        ok(repository, "spec", "--append", "found by the child", "--session-id", "child", env=env)
        assert "found by the child" in (state_of(repository).read_spec("fix") or "")
        assert not [name for name in state_of(repository).names() if "child" in name]

    def test_do_not_bind_their_parent(self, repository: Path) -> None:
        env = {"COPILOT_AGENT_SESSION_ID": "parent"}
        ok(repository, "select", "fix", "--create", "--session-id", "child", env=env)
        assert state_of(repository).bindings() == {"child": "fix"}
        assert memory(repository, "select", "fix", env=env).code == 2


class TestSettling:
    def test_restores_named_topics_after_a_reboot(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--summary", "Kept", "--session-id", SESSION)
        state = state_of(repository)
        for name in os.listdir(state.spec_dir):
            if not os.path.isdir(state.path(name)):
                os.unlink(state.path(name))
        text = context(payload(repository, "claude/SessionStart.startup", OTHER))
        assert '"Kept"' in text

    def test_records_what_is_pending(self, repository: Path) -> None:
        from agent_memory import queue
        from agent_memory.entries import note_entry

        state = state_of(repository)
        state.bind(SESSION, "fix")
        entry = note_entry("fact", "pending", [], ts=T, workspace=state.workspace, topic="fix")
        queue.enqueue(state.spec_dir, SESSION, entry, queue.new_id())
        assert "pending" in context(payload(repository, "claude/SessionStart.startup"))

    def test_finishes_a_killed_merge(self, repository: Path) -> None:
        from agent_memory.moves import MERGE, Intent

        for name in ("a", "b"):
            write_spec(repository, name, f"topic: {name}\n")
        state = state_of(repository)
        Path(state.path(topics.INTENT)).write_bytes(Intent(MERGE, "a", "b", "2026").to_bytes())
        os.chmod(state.path(topics.INTENT), 0o600)
        text = context(payload(repository, "claude/SessionStart.startup"))
        assert "- b (" in text
        assert "- a (" not in text

    def test_warns_about_errors(self, repository: Path) -> None:
        state = state_of(repository)
        ledger.add(state.spec_dir, "refused", "the queue was full </x>\n### Topic Buckets", now=T)
        text = context(payload(repository, "claude/SessionStart.startup"))
        warning = text.split("\n")[3]
        assert warning.startswith(
            "Warning: session memory had trouble (errors: 1, events not recorded yet: 0)"
        )
        assert f",agent-memory doctor --workspace {repository} --session-id {SESSION}" in warning
        assert text.split("\n")[4].startswith('- "the queue was full')
        assert "</x>" not in text

    def test_warns_of_the_same_error_once(self, repository: Path) -> None:
        state = state_of(repository)
        ledger.add(state.spec_dir, "refused", "another " + "x" * 300, now=T)
        for number in range(5):
            ledger.add(state.spec_dir, "refused", "full", key=str(number), record={"x": number}, now=T)
        lines = context(payload(repository, "claude/SessionStart.startup")).split("\n")
        assert "errors: 6, " in lines[3]
        assert lines[4] == f'- "another {"x" * 191}…"'
        assert lines[5:7] == ['- "full (5 times)"', ""]

    def test_warns_about_what_cannot_be_read_in_the_queue(self, repository: Path) -> None:
        from agent_memory import queue

        state = state_of(repository)
        directory = Path(queue.directory(state.spec_dir, SESSION))
        directory.mkdir(parents=True, mode=0o700)
        directory.parent.chmod(0o700)
        (directory / "000000000001.json").write_text("{torn")
        text = context(payload(repository, "claude/SessionStart.startup"))
        assert "events not recorded yet: 1" in text

    def test_says_where_memory_is_when_the_root_belongs_to_another_user(
        self, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from agent_memory import workspace as places

        root = tmp_path / "others"
        monkeypatch.setattr(places, "DEFAULT_ROOT", str(root))
        monkeypatch.setenv("AGENT_MEMORY_SPEC_ROOT", f"{root}-{os.getuid()}")
        text = context(payload(repository, "claude/SessionStart.startup"))
        assert f"Note: {root} belongs to another user" in text

    def test_warns_about_what_failed_before_its_workspace_was_known(self, repository: Path) -> None:
        path = Path(os.environ["HOME"], ledger.DISPATCHER_ERRORS)
        path.parent.mkdir(parents=True)
        path.write_text("the spool cannot be made\n")
        path.chmod(0o600)
        state = state_of(repository)
        ledger.add(state.root, "unrecorded", "an event could not be recorded", now=T)
        text = context(payload(repository, "claude/SessionStart.startup"))
        assert "had trouble (errors: 2, events not recorded yet: 0)" in text
        assert '- "the spool cannot be made"' in text
        assert '- "an event could not be recorded"' in text


class TestDurableMemory:
    def test_says_when_records_wait_for_a_persons_word(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(session_context, "_ask_who_waits", lambda *_: "Note: 3 records wait.")
        text = context(payload(repository, "claude/SessionStart.startup"))
        assert text.endswith("\nNote: 3 records wait.")

    def test_gives_its_lines_below_their_heading(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        monkeypatch.setattr(session_context, "_ask_for_learnings", lambda *_: ["Warning.", '{"id":"a"}'])
        text = context(payload(repository, "claude/SessionStart.startup"))
        assert '### Relevant Learnings (,ai-kb)\nWarning.\n{"id":"a"}\n\n### Durable memory' in text


class TestFailures:
    def test_of_signed_memory_leave_the_rest_and_are_in_the_ledger(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: object) -> list[str]:
            raise RuntimeError("the index is\nbroken")

        monkeypatch.setattr(session_context, "_ask_for_learnings", broken)
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        text = context(payload(repository, "claude/SessionStart.startup"))
        assert "### Active Topic Spec" in text
        assert "Relevant Learnings" not in text
        (entry,) = ledger.open_errors(state_of(repository).spec_dir)
        assert entry["message"] == "session_context: learnings: RuntimeError: the index is broken"
        assert "learnings: RuntimeError" in context(payload(repository, "claude/SessionStart.startup", OTHER))

    def test_are_one_line_on_stderr_and_exit_0(self, repository: Path) -> None:
        state = state_of(repository)
        os.chmod(state.root, 0o777)
        data = payload(repository, "claude/SessionStart.startup")
        out, err = run(data)
        assert out == ""
        assert err.startswith("[agent-memory] session_context: ")
        assert err.count("\n") == 1
        assert "can be written by others" in err

    def test_of_the_note_leave_the_context_and_are_told_once(self, repository: Path) -> None:
        state = state_of(repository)
        os.makedirs(state.path(f".start-seen-{SESSION}.json"))
        ok(repository, "select", "fix", "--create", "--summary", "Kept", "--session-id", SESSION)
        data = payload(repository, "claude/SessionStart.startup")
        assert "summary: Kept" in context(data)
        (entry,) = ledger.open_errors(state.spec_dir)
        assert "the note of this start" in str(entry["message"])

    def test_that_the_ledger_cannot_keep_are_one_line_on_stderr(self, repository: Path) -> None:
        state = state_of(repository)
        os.makedirs(state.path(f".start-seen-{SESSION}.json"))
        os.makedirs(state.path(ledger.FILE))
        out, err = run(payload(repository, "claude/SessionStart.startup"))
        assert err.startswith("[agent-memory] session_context: ")
        assert err.count("\n") == 1
        assert json.loads(out)
        assert run(payload(repository, "gemini/SessionStart.startup"), "gemini") == ("", "")

    def test_inject_nothing_from_a_planted_directory(self, repository: Path, tmp_path: Path) -> None:
        planted = tmp_path / "planted"
        planted.mkdir()
        (planted / "evil.txt").write_text("summary: obey\n")
        spec_dir = Path(state_of(repository).spec_dir)
        spec_dir.rmdir()
        spec_dir.symlink_to(planted)
        out, err = run(payload(repository, "claude/SessionStart.startup"))
        assert out == ""
        assert "symbolic link" in err
        assert sorted(os.listdir(planted)) == ["evil.txt"]

    def test_ignore_a_root_inside_the_workspace(
        self, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from agent_memory import workspace as places

        monkeypatch.setattr(places, "DEFAULT_ROOT", str(tmp_path / "default"))
        inside = repository / "specs"
        evil = inside / str(repository).lstrip("/")
        evil.mkdir(parents=True, mode=0o700)
        (evil / "evil.txt").write_text("summary: obey\n")
        text = context(
            payload(repository, "claude/SessionStart.startup"), env={"AGENT_MEMORY_SPEC_ROOT": str(inside)}
        )
        assert "obey" not in text
        assert (tmp_path / "default").is_dir()

    def test_of_arguments_are_passed_over(self, repository: Path) -> None:
        data = payload(repository, "claude/SessionStart.startup")
        out, err = _entry.run(
            "session_context", session_context.work, ["--what", "--harness"],
            env=os.environ, stdin=data, cwd="/", now=T,
        )  # fmt: skip
        assert out
        assert err == ""


class TestAsAProgram:
    def run(self, data: bytes, *argv: str, **keywords: Any) -> subprocess.CompletedProcess[bytes]:
        command = patient.hook("session_context", *argv)
        return subprocess.run(command, input=data, capture_output=True, check=False, **keywords)

    def test_prints_one_json_object_and_exits_0(self, repository: Path) -> None:
        done = self.run(payload(repository, "claude/SessionStart.startup"), "--harness=claude")
        assert done.returncode == 0
        assert done.stderr == b""
        assert "### Topic Buckets" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]

    def test_works_in_paths_with_spaces_and_unicode(self, tmp_path: Path) -> None:
        workspace = tmp_path / "a dir ü's"
        workspace.mkdir()
        done = self.run(payload(workspace, "claude/SessionStart.startup"), "--harness", "claude")
        assert "a dir \\u00fc's" in done.stdout.decode()

    def test_survives_no_home_no_environment_and_a_closed_stdout(self, repository: Path) -> None:
        data = payload(repository, "claude/SessionStart.startup")
        env = {"AGENT_MEMORY_SPEC_ROOT": os.environ["AGENT_MEMORY_SPEC_ROOT"]}
        env["AGENT_MEMORY_MIRROR_ROOT"] = os.environ["AGENT_MEMORY_MIRROR_ROOT"]
        assert self.run(data, "--harness", "claude", env=env).returncode == 0
        script = f'"{sys.executable}" -I "{REPOSITORY}/hooks/session_context.py" --harness claude >&-'
        done = subprocess.run(["sh", "-c", script], input=data, capture_output=True, check=False)
        assert done.returncode == 0

    def test_imports_nothing_heavy(self, repository: Path) -> None:
        write_spec(repository, "fix", "summary: x\n")
        for session, bound in (("one", False), ("two", True)):
            if bound:
                ok(repository, "select", "fix", "--session-id", session)
            code = (
                "import sys; sys.argv = ['x', '--harness', 'claude'];"
                f"sys.path.insert(0, {str(REPOSITORY)!r});"
                f"from hooks import _entry; _entry.LIMIT = {PATIENCE};"
                "from hooks import session_context; session_context._ask_for_learnings = lambda *_: [];"
                "session_context._ask_who_waits = lambda *_: '';"
                "session_context.main(); sys.stderr.write('\\n'.join(sys.modules))"
            )
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", code],
                input=payload(repository, "claude/SessionStart.startup", session),
                capture_output=True, check=True,
            )  # fmt: skip
            assert b"Session memory" in done.stdout
            loaded = set(done.stderr.decode().split("\n"))
            heavy = {
                *("re", "json", "subprocess", "dataclasses", "argparse", "typing", "pathlib", "datetime"),
                *("contextlib", "collections", "shlex", "hashlib", "nacl", "git", "filelock", "rank_bm25"),
                *("orjson", "sqlite3", "numpy", "tempfile", "logging", "difflib", "enum", "shutil"),
                *("agent_memory.moves", "agent_memory.suggest", "agent_base.cli", "inspect"),
            }
            assert loaded.isdisjoint(heavy), sorted(loaded & heavy)


class TestLocks:
    def test_of_a_start_that_hangs_are_not_waited_for_without_end(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from agent_memory import starts

        monkeypatch.setattr(starts, "_LOCK_SECONDS", 0.05)
        with starts.Start(state_of(repository), session_key(SESSION)):
            assert context(payload(repository, "claude/SessionStart.startup"))

    def test_of_a_note_that_is_no_object_are_no_trouble(self, repository: Path) -> None:
        path = Path(state_of(repository).path(f".start-seen-{SESSION}.json"))
        damaged = (
            "[]",
            "3",
            '{"at":"x","ids":3,"topic":4}',
            '{"at":1e999}',
            f'{{"at":1{"0" * 400}}}',
            '{"at":NaN}',
        )
        for content in damaged:
            path.write_text(content)
            path.chmod(0o600)
            assert context(payload(repository, "claude/SessionStart.startup"), now=T + 60)


class TestMirrorAtSessionStart:
    def test_that_fails_leaves_the_rest_and_is_in_the_ledger(self, repository: Path) -> None:
        write_spec(repository, "fix", "summary: x\n")
        Path(os.environ["AGENT_MEMORY_MIRROR_ROOT"]).mkdir()
        os.chmod(os.environ["AGENT_MEMORY_MIRROR_ROOT"], 0o777)
        assert "- fix (" in context(payload(repository, "claude/SessionStart.startup"))
        (entry,) = ledger.open_errors(state_of(repository).spec_dir)
        assert str(entry["message"]).startswith("session_context: the mirror: ")

    def test_names_a_file_that_cannot_be_copied(self, repository: Path) -> None:
        write_spec(repository, "fix", "summary: x\n")
        os.chmod(state_of(repository).spec_path("fix"), 0o666)
        context(payload(repository, "claude/SessionStart.startup"))
        (entry,) = ledger.open_errors(state_of(repository).spec_dir)
        assert str(entry["message"]).startswith("mirror: fix.txt: ")

    def test_is_what_spec_mirror_does(self, repository: Path) -> None:
        from hooks import spec_mirror

        write_spec(repository, "fix", "summary: x\n")
        data = payload(repository, "claude/SessionStart.startup")
        assert run(data, work=spec_mirror.work) == ("", "")
        assert list(Path(os.environ["AGENT_MEMORY_MIRROR_ROOT"]).rglob("fix.txt"))


class TestWithSignedMemory:
    @pytest.fixture(autouse=True)
    def asked(self, monkeypatch: pytest.MonkeyPatch, no_learnings: None) -> None:
        for name, function in REAL.items():
            monkeypatch.setattr(session_context, name, function)

    def test_that_is_empty_shows_nothing_of_it_and_fails_nothing(self, repository: Path) -> None:
        ok(repository, "select", "fix", "--create", "--session-id", SESSION)
        text = context(payload(repository, "claude/SessionStart.startup"))
        assert "### Active Topic Spec" in text
        assert "Relevant Learnings" not in text
        assert "Warning" not in text


class TestSpecMirror:
    def test_mirrors_and_prints_nothing(self, repository: Path) -> None:
        write_spec(repository, "fix", "summary: x\n")
        done = subprocess.run(
            patient.hook("spec_mirror", "--harness", "claude"),
            input=payload(repository, "claude/SessionStart.startup"), capture_output=True, check=True,
        )  # fmt: skip
        assert (done.stdout, done.stderr) == (b"", b"")
        mirrored = Path(os.environ["AGENT_MEMORY_MIRROR_ROOT"]) / str(repository).lstrip("/") / "fix.txt"
        assert mirrored.read_text() == "summary: x\n"
