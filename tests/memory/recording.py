"""What tests of recording are made of: payloads, spooled events, worklogs."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from agent_memory import queue, recorder, spool, worklog
from agent_memory import workspace as places
from agent_memory.topics import State
from tests.conftest import PATIENCE

PAYLOADS = Path(__file__).parents[1] / "data/payloads"


def payload(session: str, command: str, cwd: str | Path, **fields: object) -> bytes:
    """A Claude Code payload of a shell command that worked; ``fields`` replace or add."""
    whole = json.loads((PAYLOADS / "claude/PostToolUse.Bash.json").read_bytes())
    whole.update(
        session_id=session,
        cwd=str(cwd),
        tool_input={"command": command},
        tool_use_id=f"toolu_{session}_{command}",
    )
    whole.update(fields)
    return json.dumps({k: v for k, v in whole.items() if v is not None}).encode()


def root() -> str:
    """The spec root of the isolated environment."""
    return os.environ["AGENT_MEMORY_SPEC_ROOT"]


def state(workspace: str | Path) -> State:
    """The session memory of a workspace, its directory made."""
    found = State(str(workspace), places.spec_dir(root(), str(workspace)), root())
    found.ensure()
    return found


def put(data: bytes, cwd: str | Path = "/", *, harness: str = "claude", base: str | None = None) -> None:
    """Spool a payload as the dispatcher does."""
    where = base or root()
    spool.put(
        spool.location(where),
        data,
        harness=harness,
        event="",
        cwd=str(cwd),
        env={"AGENT_MEMORY_SPEC_ROOT": where},
    )


def record(base: str | None = None) -> None:
    """Run the recorder on the spool, as the dispatcher starts it."""
    recorder.run(["--spool", spool.location(base or root())], env={}, cwd="/", stdin=None)


def records(spec_dir: str, topic: str | None = None) -> list[dict[str, object]]:
    """Records of one topic's worklog, or of all worklogs; none where nothing was recorded yet."""
    there = os.listdir(spec_dir) if os.path.isdir(spec_dir) else []
    names = sorted(n for n in there if n.endswith(worklog.SUFFIX)) if topic is None else []
    paths = [worklog.path(spec_dir, topic)] if topic else [os.path.join(spec_dir, n) for n in names]
    return [entry for path in paths for entry in worklog.read(path)]


def commands(spec_dir: str, topic: str | None = None) -> list[object]:
    """Commands of the records, in order."""
    return [entry.get("command") for entry in records(spec_dir, topic)]


def assert_settled(spec_dir: str, expected: list[str], topic: str | None = None) -> None:
    """Each expected command is recorded exactly once, in order; nothing is torn, pending or left."""
    assert commands(spec_dir, topic) == expected
    for name in os.listdir(spec_dir):
        if name.endswith(worklog.SUFFIX):
            data = Path(spec_dir, name).read_bytes()
            assert data.endswith(b"\n")
            for line in data.splitlines():
                entry = json.loads(line)
                assert {"ts", "worklog_id", "session_key", "worklog_seq"} <= set(entry)
    everything = records(spec_dir)
    ids = [entry["worklog_id"] for entry in everything]
    assert len(set(ids)) == len(ids)
    places_in_queue = [(entry["session_key"], entry["worklog_seq"]) for entry in everything]
    assert len(set(places_in_queue)) == len(places_in_queue)
    assert queue.pending(spec_dir) == []


def wait_for(condition: object, seconds: float = PATIENCE) -> None:
    """Until ``condition()`` is true; fails when it does not become so."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.01)
