"""What the tests of session memory share: the command and the hooks, run in this process."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from agent_base.cli import string_console
from agent_memory import queue, worklog
from agent_memory.cli import main
from agent_memory.entries import tool_entry
from agent_memory.payload import Event
from agent_memory.topics import State
from agent_memory.workspace import session_key

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
SESSION = "8ea6ecb4-4eb8-4de4-a753-3c09537fdf1b"
OTHER = "11111111-2222-4333-8444-555555555555"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def memory(
    workspace: Path, *argv: str, stdin: str = "", now: datetime = NOW, env: Mapping[str, str] | None = None
) -> Ran:
    """Run ``,agent-memory`` with its working directory in ``workspace``."""
    console = string_console({**os.environ, **(env or {})}, stdin=stdin, now=lambda: now, cwd=str(workspace))
    code = main(list(argv), console)
    return Ran(code, console.stdout.getvalue(), console.stderr.getvalue())  # type: ignore[attr-defined]


def ok(workspace: Path, *argv: str, **keywords: Any) -> Ran:
    """The same, and it has to end with 0."""
    ran = memory(workspace, *argv, **keywords)
    assert ran.code == 0, ran
    return ran


def state_of(workspace: Path) -> State:
    """State of a workspace in the test's environment, its directory made."""
    state = State.of(os.environ, str(workspace.resolve()), hook=False)
    state.ensure()
    return state


def record(workspace: Path, session: str, command: str, *, at: float | None = None, **fields: str) -> str:
    """Record a tool event as the recorder does, and flush it; its worklog_id."""
    state = state_of(workspace)
    key = session_key(session)
    event = Event("claude")
    event.event = event.name = "PostToolUse"
    event.tool_name, event.command, event.status = "Bash", command, "ok"
    for name, value in fields.items():
        setattr(event, name, value)
    topic = state.topic_of_session(key)[0]
    moment = NOW.timestamp() if at is None else at
    worklog_id = queue.new_id()
    entry = tool_entry(event, ts=moment, workspace=state.workspace, topic=topic)
    queue.enqueue(state.spec_dir, key, entry, worklog_id)
    result = queue.flush(state.spec_dir, key)
    assert result.clean, result.errors
    return worklog_id


def commands_of(workspace: Path, topic: str) -> list[str]:
    """Commands (and texts of notes) in a topic's worklog."""
    records = worklog.read(state_of(workspace).worklog_path(topic))
    return [str(entry.get("command", entry.get("text"))) for entry in records]


def age_files(workspace: Path, topic: str, moment: float) -> None:
    """Give a topic's files a time."""
    state = state_of(workspace)
    for path in (state.spec_path(topic), state.worklog_path(topic)):
        if os.path.exists(path):
            os.utime(path, (moment, moment))


def write_spec(workspace: Path, topic: str, text: str) -> None:
    """Write a spec as a person would."""
    state = state_of(workspace)
    Path(state.spec_path(topic)).write_text(text)
    os.chmod(state.spec_path(topic), 0o600)
