"""Every recorded payload of the six harnesses gives the right event."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_base.lightjson import dumps
from agent_memory.entries import tool_entry
from agent_memory.payload import HARNESSES, Event, canonical_event, normalise

PAYLOADS = Path(__file__).parents[1] / "data/payloads"
ALL = sorted(PAYLOADS.glob("*/*.json"))


def event_of(path: str) -> Event:
    file = PAYLOADS / path
    return normalise(file.read_bytes(), file.parent.name)


def some(event: Event, *names: str) -> tuple[object, ...]:
    return tuple(getattr(event, name) for name in names)


# file → event, tool, command, output, error, status
TOOLS = {
    "claude/PostToolUse.Bash.json": ("PostToolUse", "Bash", "echo hello", "hello", "", "ok"),
    "claude/PostToolUse.Bash-in-subagent.json": (
        "PostToolUse",
        "Bash",
        "echo from-sub",
        "from-sub",
        "",
        "ok",
    ),
    "claude/PostToolUse.Edit.json": (
        "PostToolUse",
        "Edit",
        "/home/user/project/a.txt",
        " alpha\n-beta\n+gamma",
        "",
        "ok",
    ),
    "claude/PostToolUse.Write.json": (
        "PostToolUse",
        "Write",
        "/home/user/project/a.txt",
        "alpha\nbeta\n",
        "",
        "ok",
    ),
    "claude/PostToolUse.Read.json": (
        "PostToolUse",
        "Read",
        "/home/user/project/a.txt",
        "alpha\ngamma\n",
        "",
        "ok",
    ),
    "claude/PostToolUseFailure.Bash.json": (
        "PostToolUseFailure",
        "Bash",
        "echo out; echo err >&2; exit 3",
        "",
        "Exit code 3\nout\nerr",
        "failed",
    ),
    "claude/PostToolUseFailure.Read.json": (
        "PostToolUseFailure",
        "Read",
        "/nonexistent/x",
        "",
        "File does not exist. Note: your current working directory is /home/user/project.",
        "failed",
    ),
    "codex/PostToolUse.Bash.json": ("PostToolUse", "Bash", "echo hello", "hello\n", "", ""),
    # Codex does not show a shell command's exit code.
    "codex/PostToolUse.Bash-exit3.json": (
        "PostToolUse",
        "Bash",
        "echo out; echo err >&2; exit 3",
        "err\nout\n",
        "",
        "",
    ),
    "codex/PostToolUse.Bash-in-subagent.json": (
        "PostToolUse",
        "Bash",
        "echo from-child",
        "from-child\n",
        "",
        "",
    ),
    "codex/PostToolUse.apply_patch.json": (
        "PostToolUse",
        "apply_patch",
        "*** Begin Patch\n*** Add File: a.txt\n+alpha\n*** End Patch",
        "Success. Updated the following files:\nA a.txt\n",
        "",
        "ok",
    ),
    "copilot/postToolUse.bash.json": ("PostToolUse", "bash", "echo hello", "hello", "", "ok"),
    "copilot/postToolUse.bash-exit3.json": (
        "PostToolUse",
        "bash",
        "echo out; echo err >&2; exit 3",
        "out\nerr",
        "Exit code 3",
        "failed",
    ),
    "copilot/postToolUse.bash-in-subagent.json": (
        "PostToolUse",
        "bash",
        "echo from-child",
        "from-child",
        "",
        "ok",
    ),
    "copilot/postToolUse.apply_patch.json": (
        "PostToolUse",
        "apply_patch",
        "*** Begin Patch\n*** Add File: a.txt\n+alpha\n*** End Patch",
        "Added 1 file(s): /home/user/project/a.txt",
        "",
        "ok",
    ),
    "copilot/postToolUse.task.json": ("PostToolUse", "task", "sub", "All done.", "", "ok"),
    "copilot/postToolUseFailure.view.json": (
        "PostToolUseFailure",
        "view",
        "/home/user/project/a.txt",
        "",
        "Path does not exist",
        "failed",
    ),
    "copilot/PascalCase.PostToolUse.json": ("PostToolUse", "Bash", "echo hello", "hello", "", "ok"),
    "cursor/engine.postToolUse.json": ("PostToolUse", "Shell", "echo hello", "hello\n", "", "ok"),
    "cursor/engine.postToolUseFailure.json": (
        "PostToolUseFailure",
        "Shell",
        "exit 3",
        "",
        "Command failed with exit code 3",
        "failed",
    ),
    "gemini/AfterTool.run_shell_command.json": (
        "PostToolUse",
        "run_shell_command",
        "echo hello",
        "hello",
        "",
        "ok",
    ),
    "gemini/AfterTool.run_shell_command-exit3.json": (
        "PostToolUse",
        "run_shell_command",
        "echo out; echo err >&2; exit 3",
        "out\nerr",
        "Exit code 3",
        "failed",
    ),
    "gemini/AfterTool.run_shell_command-in-subagent.json": (
        "PostToolUse",
        "run_shell_command",
        "echo from-child",
        "from-child",
        "",
        "ok",
    ),
    "gemini/AfterTool.read_file.json": ("PostToolUse", "read_file", "a.txt", "alpha\n", "", "ok"),
    "gemini/AfterTool.write_file.json": (
        "PostToolUse",
        "write_file",
        "a.txt",
        "Successfully created and wrote to new file: /home/user/project/a.txt. "
        "Here is the updated code:\nalpha\n",
        "",
        "ok",
    ),
    "gemini/AfterTool.replace.json": (
        "PostToolUse",
        "replace",
        "a.txt",
        "Successfully modified file: /home/user/project/a.txt (1 replacements). "
        "Here is the updated code:\nbeta\n",
        "",
        "ok",
    ),
    "gemini/AfterTool.invoke_agent.json": (
        "PostToolUse",
        "invoke_agent",
        "child [[run: echo from-child]]",
        "Subagent 'generalist' finished.\nTermination Reason: ERROR_NO_COMPLETE_TASK_CALL\nResult:\n"
        "Agent stopped calling tools but did not call 'complete_task'.",
        "",
        "ok",
    ),
    "opencode/tool.execute.after.bash.json": ("PostToolUse", "bash", "echo hello", "hello\n", "", "ok"),
    "opencode/tool.execute.after.bash-in-subagent.json": (
        "PostToolUse",
        "bash",
        "echo from-child",
        "from-child\n",
        "",
        "ok",
    ),
    "opencode/tool.execute.after.edit.json": (
        "PostToolUse",
        "edit",
        "/home/user/project/a.txt",
        "Edit applied successfully.",
        "",
        "ok",
    ),
    "opencode/tool.execute.after.write.json": (
        "PostToolUse",
        "write",
        "/home/user/project/a.txt",
        "Wrote file successfully.",
        "",
        "ok",
    ),
}


@pytest.mark.parametrize("path", TOOLS)
def test_a_tool_event_is_understood(path: str) -> None:
    event = event_of(path)
    assert some(event, "event", "tool_name", "command", "output", "error", "status") == TOOLS[path]
    assert event.raw_ok


def test_every_recorded_tool_event_is_in_the_table() -> None:
    ended = {"PostToolUse", "PostToolUseFailure"}
    found = {f"{p.parent.name}/{p.name}" for p in ALL if event_of(f"{p.parent.name}/{p.name}").event in ended}
    unlisted = {
        "claude/PostToolUse.Agent-launch.json",
        "codex/PostToolUse.spawn_agent.json",
        "opencode/tool.execute.after.task.json",
    }
    assert found == set(TOOLS) | unlisted


# file → session id (what the session key is made of), parent, agent
SESSIONS = {
    "claude/PostToolUse.Bash.json": ("8ea6ecb4-4eb8-4de4-a753-3c09537fdf1b", "", ""),
    "claude/PostToolUse.Bash-in-subagent.json": (
        "8679aad9-de97-40fc-ae63-b4aa3714963a",
        "",
        "a89d3fdeae7ae3fc8",
    ),
    "codex/PostToolUse.Bash-in-subagent.json": (
        "01a22bc7-47e8-7641-adb8-958acacba682",
        "",
        "01a22bc7-4888-7fa2-b070-9da9d2f11ab7",
    ),
    "copilot/postToolUse.bash.json": ("b8af5663-ba64-46a4-aeb4-1c3329b90eaf", "", ""),
    "copilot/postToolUse.bash-in-subagent.json": (
        "c852d6c0-d9ab-415c-a420-54af36c0c830",
        "52eb0263-09df-4dd0-84a9-c749a498bd84",
        "c852d6c0-d9ab-415c-a420-54af36c0c830",
    ),
    "copilot/PascalCase.PostToolUse.json": ("7967cf28-4242-4e08-81cc-ed5143a796ae", "", ""),
    "cursor/engine.postToolUse.json": ("11111111-aaaa-4bbb-8ccc-222222222222", "", ""),
    "cursor/sdk-agent.sessionStart.json": ("agent-12afef3a-29a0-4f0d-994b-c55c48933566", "", ""),
    "gemini/AfterTool.run_shell_command.json": ("1c6fc8d9-b76c-46ef-94c1-db7ac2c76414", "", ""),
    "opencode/tool.execute.after.bash.json": ("ses_dd4424b2dffer841vYA7AqlXDE", "", ""),
    "opencode/event.session.created.subagent.json": (
        "ses_dd431dddfffekyD7GNxtqP5Adb",
        "ses_dd431e2e1ffe2hbVuX79Bqdeuk",
        "",
    ),
    "opencode/event.session.compacted.json": ("ses_dd4326fc8fferO7a2U1kNKrtRt", "", ""),
}


@pytest.mark.parametrize("path", SESSIONS)
def test_the_session_of_an_event_is_found(path: str) -> None:
    assert some(event_of(path), "session_id", "parent_id", "agent_id") == SESSIONS[path]


def test_every_recorded_payload_names_a_session_but_the_plugins_start() -> None:
    without = [p.name for p in ALL if not normalise(p.read_bytes(), p.parent.name).session_id]
    assert without == ["plugin-init.json"]


# file → canonical event, name as delivered
EVENTS = {
    "claude/SessionStart.startup.json": ("SessionStart", "SessionStart"),
    "claude/PreCompact.json": ("PreCompact", "PreCompact"),
    "claude/PostToolBatch.json": ("PostToolBatch", "PostToolBatch"),
    "claude/Stop.json": ("Stop", "Stop"),
    "codex/SessionEnd.json": ("SessionEnd", "SessionEnd"),
    "codex/PreToolUse.apply_patch-failed-no-post.json": ("PreToolUse", "PreToolUse"),
    "copilot/sessionStart.new.json": ("SessionStart", "sessionStart"),
    "copilot/userPromptSubmitted.json": ("UserPromptSubmit", "userPromptSubmitted"),
    "copilot/userPromptTransformed.json": ("userPromptTransformed", "userPromptTransformed"),
    "copilot/preToolUse.bash.json": ("PreToolUse", "preToolUse"),
    "copilot/agentStop.json": ("Stop", "agentStop"),
    "copilot/sessionEnd.json": ("SessionEnd", "sessionEnd"),
    "copilot/subagentStart.json": ("SubagentStart", "subagentStart"),
    "copilot/subagentStop.json": ("SubagentStop", "subagentStop"),
    "copilot/notification.json": ("Notification", "Notification"),
    "copilot/PascalCase.SessionStart.json": ("SessionStart", "SessionStart"),
    "cursor/engine.sessionStart.json": ("SessionStart", "sessionStart"),
    "cursor/engine.beforeSubmitPrompt.json": ("UserPromptSubmit", "beforeSubmitPrompt"),
    "cursor/sdk-agent.stop.json": ("Stop", "stop"),
    "gemini/BeforeAgent.interactive.json": ("UserPromptSubmit", "BeforeAgent"),
    "gemini/AfterAgent.json": ("Stop", "AfterAgent"),
    "gemini/BeforeTool.run_shell_command.json": ("PreToolUse", "BeforeTool"),
    "gemini/PreCompress.json": ("PreCompact", "PreCompress"),
    "opencode/event.session.created.json": ("SessionStart", "session.created"),
    "opencode/event.session.idle.json": ("Stop", "session.idle"),
    "opencode/event.session.compacted.json": ("PostCompact", "session.compacted"),
    "opencode/session.compacting.json": ("PreCompact", "session.compacting"),
    "opencode/chat.message.json": ("UserPromptSubmit", "chat.message"),
    "opencode/tool.execute.before.bash.json": ("PreToolUse", "tool.execute.before"),
    "opencode/plugin-init.json": ("", ""),
}


@pytest.mark.parametrize("path", EVENTS)
def test_an_event_has_one_name_whatever_the_harness_calls_it(path: str) -> None:
    assert some(event_of(path), "event", "name") == EVENTS[path]


# file → prompt, whether the user wrote it
PROMPTS = {
    "claude/UserPromptSubmit.json": ("Say hello [[run: echo hello]]", True),
    "codex/UserPromptSubmit.json": ("Say hello [[run: echo hello]]", True),
    "codex/UserPromptSubmit.in-subagent.json": ("child [[run: echo from-child]]", False),
    "copilot/userPromptSubmitted.json": ("Say hello [[run: echo hello]]", True),
    "copilot/PascalCase.UserPromptSubmit.json": ("Say hello [[run: echo hello]]", True),
    "cursor/engine.beforeSubmitPrompt.json": ("Say hello", True),
    "gemini/BeforeAgent.headless.json": ("Say hello [[run: echo hello]]", True),
    "gemini/BeforeAgent.interactive.json": ("first [[run: echo one]]", True),
    "opencode/chat.message.json": ("Say hello [[run: echo hello]]", True),
    "opencode/chat.message.subagent.json": ("child [[run: echo from-child]]", False),
}


@pytest.mark.parametrize("path", PROMPTS)
def test_a_prompt_is_what_the_user_wrote(path: str) -> None:
    assert some(event_of(path), "prompt", "prompt_is_users") == PROMPTS[path]


@pytest.mark.parametrize(
    "path", ["claude/UserPromptSubmit.task-notification.json", "copilot/userPromptSubmitted.in-subagent.json"]
)
def test_a_prompt_that_the_client_wrote_is_not_the_users(path: str) -> None:
    event = event_of(path)
    assert event.prompt
    assert not event.prompt_is_users


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("claude/SessionStart.startup.json", "startup"),
        ("claude/SessionStart.resume.json", "resume"),
        ("claude/SessionStart.clear.json", "clear"),
        ("claude/SessionStart.compact.json", "compact"),
        ("claude/SessionStart.fork.json", "fork"),
        ("codex/SessionStart.compact.json", "compact"),
        ("copilot/sessionStart.new.json", "startup"),
        ("copilot/sessionStart.resume.json", "resume"),
        ("cursor/engine.sessionStart.json", "startup"),
        ("opencode/event.session.created.json", "startup"),
        ("claude/Stop.json", ""),
    ],
)
def test_the_source_of_a_start_is_one_of_five(path: str, source: str) -> None:
    assert event_of(path).source == source


def test_an_unknown_source_counts_as_startup() -> None:
    data = b'{"hook_event_name": "SessionStart", "session_id": "s", "source": "teleported"}'
    assert normalise(data).source == "startup"


def test_other_fields_of_recorded_payloads() -> None:
    assert event_of("claude/PostToolUse.Bash.json").duration == 20
    assert event_of("claude/PostToolUse.Bash.json").call_id == "toolu_mock0000100001"
    assert event_of("claude/PostToolUse.Bash.json").cwd == "/home/user/project"
    assert event_of("codex/PostToolUse.Bash.json").model == "mock-model"
    assert event_of("codex/PostToolUse.apply_patch.json").paths == ("a.txt",)
    assert event_of("cursor/engine.postToolUse.json").workspace_roots == ("/home/user/project",)
    assert event_of("opencode/tool.execute.after.bash.json").call_id == "call_mock0000100003"
    assert event_of("opencode/chat.message.json").model == "mock-model"
    assert event_of("opencode/event.session.created.json").cwd == "/home/user/project"
    assert event_of("claude/PostToolUse.Edit.json").paths == ("/home/user/project/a.txt",)


def test_names_tell_camel_case_from_pascal_case() -> None:
    assert event_of("copilot/postToolUse.bash.json").style == "camel"
    assert event_of("copilot/PascalCase.PostToolUse.json").style == "pascal"
    assert event_of("cursor/engine.postToolUse.json").style == "camel"
    assert event_of("opencode/tool.execute.after.bash.json").style == "dotted"


@pytest.mark.parametrize("harness", [*HARNESSES, None, "nonsense"])
def test_the_harness_is_what_the_adapter_says_and_changes_nothing_else(harness: str | None) -> None:
    for path in ALL:
        expected = dict(normalise(path.read_bytes(), path.parent.name).fields())
        found = dict(normalise(path.read_bytes(), harness).fields())
        assert found.pop("harness") == (harness if harness in HARNESSES else "")
        expected.pop("harness")
        assert found == expected


def test_the_adapters_event_name_wins() -> None:
    data = (PAYLOADS / "copilot/postToolUseFailure.view.json").read_bytes()
    assert normalise(data, "copilot", "postToolUseFailure").name == "postToolUseFailure"
    assert normalise(b"{}", "copilot", "sessionStart").event == "SessionStart"


# ---------------------------------------------------------------- shapes that were not recorded


def tool(**fields: object) -> Event:
    return normalise(json.dumps({"hook_event_name": "PostToolUse", "session_id": "s", **fields}).encode())


def test_a_failed_tool_of_opencode_is_a_failure() -> None:
    part = {
        "type": "tool",
        "tool": "read",
        "callID": "call_1",
        "sessionID": "ses_1",
        "state": {
            "status": "error",
            "input": {"filePath": "/x/missing.txt"},
            "error": "File not found: /x/missing.txt",
            "time": {"start": 1000, "end": 1012},
        },
    }
    event = normalise(
        json.dumps(
            {"type": "message.part.updated", "properties": {"part": part}, "parentID": "ses_0"}
        ).encode()
    )
    assert some(event, "event", "tool_name", "command", "error", "status", "call_id", "session_id") == (
        "PostToolUseFailure",
        "read",
        "/x/missing.txt",
        "File not found: /x/missing.txt",
        "failed",
        "call_1",
        "ses_1",
    )
    assert event.duration == 12
    assert event.parent_id == "ses_0"


def test_a_part_of_opencode_that_did_not_fail_is_no_tool_event() -> None:
    part = {"type": "tool", "tool": "read", "sessionID": "s", "state": {"status": "running"}}
    event = normalise(json.dumps({"type": "message.part.updated", "properties": {"part": part}}).encode())
    assert not event.is_tool_event


def test_a_failed_shell_command_of_opencode() -> None:
    event = normalise(
        json.dumps(
            {
                "input": {"tool": "bash", "sessionID": "s", "callID": "c", "args": {"command": "exit 3"}},
                "output": {"title": "x", "output": "boom", "metadata": {"exit": 3}},
            }
        ).encode()
    )
    assert some(event, "status", "error", "output") == ("failed", "Exit code 3", "boom")


def test_an_exit_code_in_the_output_of_a_gemini_command_is_not_its_exit_code() -> None:
    content = "<untrusted_context>\nOutput: Exit Code: 9\nfine\nProcess Group PGID: 25\n</untrusted_context>"
    event = tool(
        tool_name="run_shell_command",
        tool_input={"command": "cat log"},
        tool_response={"llmContent": content, "returnDisplay": ""},
    )
    assert some(event, "status", "output") == ("ok", "Exit Code: 9\nfine")


def test_labels_of_an_older_gemini() -> None:
    content = (
        "Command: false\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 1\nSignal: (none)\n"
        "Background PIDs: (none)\nProcess Group PGID: 23"
    )
    event = tool(
        tool_name="run_shell_command", tool_input={"command": "false"}, tool_response={"llmContent": content}
    )
    assert some(event, "status", "error", "output") == ("failed", "Exit code 1", "")


def test_a_killed_gemini_command_failed() -> None:
    content = "Output: x\nError: spawn ENOENT\nSignal: 9"
    event = tool(tool_name="run_shell_command", tool_response={"llmContent": content})
    assert some(event, "status", "error") == ("failed", "Error: spawn ENOENT")


def test_a_gemini_tool_error_is_a_failure() -> None:
    event = tool(
        tool_name="read_file", tool_response={"llmContent": "nope", "error": {"message": "no such file"}}
    )
    assert some(event, "status", "error") == ("failed", "no such file")


def test_an_interrupted_command_is_neither_ok_nor_failed() -> None:
    assert tool(tool_name="Bash", tool_response={"stdout": "", "interrupted": True}).status == "interrupted"
    data = {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "is_interrupt": True, "error": "x"}
    assert normalise(json.dumps(data).encode()).status == "interrupted"


def test_a_background_command_has_no_status_yet() -> None:
    assert tool(tool_name="Bash", tool_response={"stdout": "", "backgroundTaskId": "b1"}).status == ""


def test_both_streams_are_output() -> None:
    assert tool(tool_name="Bash", tool_response={"stdout": "a\n", "stderr": "b\n"}).output == "a\nb"


def test_copilot_results_that_are_no_success() -> None:
    denied = {"toolName": "bash", "sessionId": "s", "toolArgs": {"command": "x"}}
    event = normalise(
        json.dumps({**denied, "toolResult": {"resultType": "denied", "textResultForLlm": "no"}}).encode()
    )
    assert some(event, "event", "status", "error") == ("PostToolUse", "failed", "no")
    running = {"resultType": "success", "textResultForLlm": "x\n<shellId: 1 is still running>"}
    assert normalise(json.dumps({**denied, "toolResult": running}).encode()).status == ""
    only = {"resultType": "success", "textResultForLlm": "<shellId: 0 completed with exit code 1>"}
    event = normalise(json.dumps({**denied, "toolResult": only}).encode())
    assert some(event, "output", "status") == ("", "failed")


def test_copilot_arguments_as_a_json_string() -> None:
    data = {"sessionId": "s", "toolName": "bash", "toolArgs": '{"command": "ls"}', "toolResult": {}}
    assert normalise(json.dumps(data).encode()).command == "ls"
    data["toolArgs"] = '{"command": broken'
    assert normalise(json.dumps(data).encode()).command == '{"command": broken'


def test_cursors_events_of_one_kind_of_tool() -> None:
    shell = {"hook_event_name": "afterShellExecution", "command": "ls", "output": "a\n", "duration": 3.7}
    event = normalise(json.dumps(shell).encode(), "cursor")
    assert some(event, "event", "tool_name", "command", "output", "duration") == (
        "PostToolUse",
        "Shell",
        "ls",
        "a\n",
        3,
    )
    edit = {"hook_event_name": "afterFileEdit", "file_path": "/x/a.py", "edits": []}
    event = normalise(json.dumps(edit).encode(), "cursor")
    assert some(event, "tool_name", "command", "paths") == ("Edit", "/x/a.py", ("/x/a.py",))
    mcp = {"hook_event_name": "afterMCPExecution", "tool_name": "mcp:x", "tool_input": '{"query": "q"}'}
    assert normalise(json.dumps(mcp).encode(), "cursor").command == "q"


def test_a_cursor_command_that_failed_by_its_exit_code() -> None:
    event = tool(tool_name="Shell", tool_input={"command": "x"}, tool_output='{"output":"e","exitCode":2}')
    assert some(event, "status", "output", "error") == ("failed", "e", "Exit code 2")
    event = tool(tool_name="Read", tool_output='{"content": "x"}')
    assert event.output == '{"content": "x"}'


def test_commands_given_as_words() -> None:
    assert tool(tool_input={"command": ["bash", "-lc", "ls -l"]}).command == "ls -l"
    assert tool(tool_input={"command": ["git", "commit", "-m", "a b"]}).command == "git commit -m 'a b'"
    assert tool(tool_name="Grep", tool_input={"pattern": "x+", "path": "src"}).command == "x+ src"
    assert tool(tool_name="T", tool_input={"command": [1, 2], "files": ["a", "b", 3]}).command == "a b"
    assert tool(tool_name="T", tool_input={"paths": ["a", "b", 3]}).paths == ("a", "b")


def test_results_in_other_shapes() -> None:
    assert tool(tool_name="T", tool_response=[{"type": "text", "text": "a"}, "b", 3]).output == "a\nb"
    assert tool(tool_name="T", tool_response={"is_error": True, "content": "bad"}).status == "failed"
    assert tool(tool_name="T", tool_response={"a": [1, 2]}).output == '{"a":[1,2]}'
    assert tool(tool_name="T", tool_response=[1, 2]).output == "[1,2]"
    assert tool(tool_name="T", tool_response=None).output == ""
    assert tool(tool_name="T", tool_response=True).output == "true"
    assert tool(tool_name="T", tool_response="x", error="went wrong").status == "failed"
    assert tool(tool_name="T", tool_response={"structuredPatch": [3, {"lines": None}], "x": 1}).output == ""
    assert tool(tool_name="Bash", tool_response={"stdout": "x", "exitCode": "3"}).status == "failed"
    assert tool(tool_name="T", tool_response="Exit code: 2\nWall time: 0 s\nOutput:\nbad").status == "failed"
    assert tool(tool_name="T", tool_response="Exit code: 2\nWall time: 0 s\n").output.startswith("Exit")


def test_failures_in_other_shapes() -> None:
    def failure(**fields: object) -> Event:
        return normalise(json.dumps({"hook_event_name": "PostToolUseFailure", **fields}).encode())

    assert failure(error={"message": "m"}).error == "m"
    assert failure(error={"name": "n"}).error == "n"
    assert failure(error={"other": "n"}).error == "failed"
    assert failure(failure_type="timeout").error == "timeout"
    assert failure(error=["a"], tool_response={"stdout": "x"}).output == '{"stdout":"x"}'


def test_an_event_without_a_name_is_told_by_its_shape() -> None:
    def implied(**fields: object) -> str:
        return normalise(json.dumps(fields).encode()).event

    assert implied(tool_name="Bash", tool_response="x", session_id="s") == "PostToolUse"
    assert implied(toolName="bash", error="x") == "PostToolUseFailure"
    assert implied(tool_name="bash") == "PreToolUse"
    assert implied(prompt="x") == "UserPromptSubmit"
    assert implied(source="new") == "SessionStart"
    assert implied(reason="done") == "SessionEnd"
    assert implied(stopReason="end") == "Stop"
    assert implied(input={"x": 1}, output={"message": {}}) == "UserPromptSubmit"
    assert implied(input={"x": 1}, output={"y": 1}) == ""
    assert implied() == ""


def test_session_ids_in_order_of_preference() -> None:
    def session(**fields: str) -> str:
        return normalise(json.dumps(fields).encode()).session_id

    every = {"generationId": "g", "sessionId": "s", "conversationId": "c"}
    assert session(**every) == "c"
    del every["conversationId"]
    assert session(**every) == "s"
    del every["sessionId"]
    assert session(**every) == "g"
    assert session(session_id="", generation_id="g") == "g"


def test_workspace_roots_may_be_uris() -> None:
    data = {"workspace_roots": ["file:///home/a%20b", 3, "", "/x"]}
    assert normalise(json.dumps(data).encode()).workspace_roots == ("/home/a b", "/x")
    assert normalise(b'{"workspace_roots": "x"}').workspace_roots == ()


def test_quoted_prompts_of_opencode_run() -> None:
    def said(text: str) -> str:
        data = {"input": {"sessionID": "s"}, "output": {"parts": [{"type": "text", "text": text}, 3]}}
        return normalise(json.dumps(data).encode()).prompt

    assert said('"say \\"hi\\" now"') == 'say "hi" now'
    assert said('"a" and "b"') == '"a" and "b"'
    assert said("plain") == "plain"
    assert said('"') == '"'


def test_parts_that_a_plugin_added_are_no_prompt() -> None:
    parts = [{"type": "text", "text": "mine"}, {"type": "text", "text": "context", "synthetic": True}]
    data = {"hook": "chat.message", "input": {"sessionID": "s"}, "output": {"parts": parts}}
    assert normalise(json.dumps(data).encode()).prompt == "mine"
    assert normalise(b'{"hook": "chat.message", "parts": 3}').prompt == ""


def test_names_that_are_not_known_stay() -> None:
    assert canonical_event("afterAgentThought") == "afterAgentThought"
    assert canonical_event("POST_TOOL_USE") == "PostToolUse"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b"[1, 2]",
        b"3",
        b'"text"',
        b"\xff\xfe{}",
        b'{"a": ' + b"[" * 200_000,
        b"\xef\xbb\xbfnope",
        b'{"session_id": "s", "tool_name": "Bash", "tool_input": {"comm',
    ],
)
def test_a_payload_that_is_no_object_is_kept_as_output(data: bytes) -> None:
    event = normalise(data, "claude")
    assert not event.raw_ok
    assert event.output == data.decode("utf-8", "replace")


def test_a_cut_payload_still_belongs_to_its_session() -> None:
    whole = (PAYLOADS / "claude/PostToolUse.Bash.json").read_bytes()
    event = normalise(whole[:-200])
    assert some(event, "session_id", "cwd", "event", "tool_name") == (
        "8ea6ecb4-4eb8-4de4-a753-3c09537fdf1b",
        "/home/user/project",
        "PostToolUse",
        "Bash",
    )
    event = normalise(b'log line first\n{"session_id": "a\\"b", "cwd": 3, "tool_name": "x')
    assert some(event, "session_id", "cwd", "tool_name") == ('a"b', "", "")
    assert normalise(b'x "session_id" y "cwd": "\\u12"').session_id == ""


def test_a_byte_order_mark_and_bad_bytes_do_not_lose_an_event() -> None:
    event = normalise(b'\xef\xbb\xbf{"session_id": "s\xff", "hook_event_name": "Stop"}')
    assert event.session_id == "s�"
    assert event.event == "Stop"


@pytest.mark.parametrize("value", [None, True, 3, 3.5, "x", [], {}, [{}], {"x": {}}, float("inf")])
@pytest.mark.parametrize(
    "key",
    [
        "session_id",
        "cwd",
        "workspace_roots",
        "tool_name",
        "tool_input",
        "toolArgs",
        "tool_response",
        "toolResult",
        "tool_output",
        "error",
        "prompt",
        "model",
        "source",
        "duration",
        "input",
        "output",
        "properties",
        "type",
        "hook_event_name",
        "tool_use_id",
        "part",
    ],
)
def test_no_value_anywhere_makes_the_normaliser_raise(key: str, value: object) -> None:
    for path in ALL:
        changed = {**json.loads(path.read_bytes()), key: value}
        event = normalise(json.dumps(changed).encode(), path.parent.name)
        assert isinstance(event.output, str)
        assert isinstance(event.command, str)
        assert isinstance(event.error, str)


HOSTILE = (
    None,
    "",
    "\ud800",
    "\u00b2",
    "--5",
    "5" * 5_000,
    "\0",
    '{"a":',
    [[], None, {"text": 5}],
    {"x": {}},
    10**30,
)


def paths_of(value: object) -> list[tuple[object, ...]]:
    """Where something stands in a JSON value, at any depth."""
    items: list[tuple[object, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [path for key, inner in items for path in [(key,), *((key, *rest) for rest in paths_of(inner))]]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: repr(value)[:12])
def test_no_value_at_any_depth_keeps_a_payload_from_being_recorded(value: object) -> None:
    for file in ALL:
        data = file.read_bytes()
        for path in paths_of(json.loads(data)):
            changed = json.loads(data)
            place = changed
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            event = normalise(json.dumps(changed).encode(), file.parent.name)
            record = tool_entry(event, ts=0.0, workspace="/w", topic="t")
            assert dumps(record, ascii_only=False).encode()


@pytest.mark.parametrize(
    ("code", "status"), [("3", "failed"), ("-1", "failed"), ("0", "ok"), ("\u00b2", "ok")]
)
def test_an_exit_code_may_be_text(code: str, status: str) -> None:
    assert tool(tool_name="T", tool_response={"output": "x", "exitCode": code}).status == status
