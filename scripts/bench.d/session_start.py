"""Session start against a bare interpreter: unbound, bound, resumed with nothing new, and switched off."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from benchlib import BARE, PYTHON, ROOT, Bench, case

HOOK = (PYTHON, "-I", str(ROOT / "hooks/session_context.py"), "--harness", "claude")
BARE_LABEL = "bare interpreter"
BUCKETS = 8
ENTRIES = 200


def memory(folder: Path, env: Mapping[str, str], *argv: str, stdin: bytes = b"") -> None:
    """Run ``,agent-memory`` in the bench's project."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from agent_memory.cli import entry; entry()"
    command = [PYTHON, "-I", "-c", code, *argv]
    subprocess.run(
        command, env=dict(env), cwd=folder / "project", input=stdin, capture_output=True, check=True
    )


def prepare(bench: Bench) -> tuple[Path, dict[str, str]]:
    """A project on ``main`` with eight topics, one of them with a full worklog and a bound session."""
    folder = bench.scratch()
    env = bench.environment(folder)
    project = folder / "project"
    project.mkdir()
    for arguments in (("init", "-q", "-b", "main"), ("commit", "-q", "--allow-empty", "-m", "First")):
        subprocess.run(["git", *arguments], cwd=project, env=env, check=True)
    for number in range(BUCKETS):
        memory(folder, env, "select", f"topic-{number}", "--create", "--summary", f"Part {number}",
               "--session-id", f"maker-{number}")  # fmt: skip
    memory(folder, env, "select", "topic-0", "--session-id", "bound")
    worklog = folder / "specs" / str(project).lstrip("/") / "topic-0.worklog.jsonl"
    lines = [
        json.dumps({"ts": "2026-11-30T12:00:00.000Z", "event": "PostToolUse", "tool_name": "Bash",
                    "command": f"make test-{n}", "status": "ok", "output": "12 passed in 0.31s\n" * 4,
                    "worklog_id": f"id-{n}", "session_key": "bound", "worklog_seq": n})
        for n in range(ENTRIES)
    ]  # fmt: skip
    worklog.write_text("".join(line + "\n" for line in lines))
    worklog.chmod(0o600)
    return folder, env


def payload(folder: Path, session: str, source: str) -> bytes:
    """A SessionStart payload of Claude Code."""
    return json.dumps(
        {"session_id": session, "cwd": str(folder / "project"), "hook_event_name": "SessionStart",
         "source": source, "transcript_path": "/dev/null"}
    ).encode()  # fmt: skip


def starts(
    bench: Bench, folder: Path, env: Mapping[str, str], source: str, session: str
) -> Callable[[], float]:
    """One start per call: of a new session (``session`` ending in ``-``), or of the same one again."""
    count = 0

    def run() -> float:
        nonlocal count
        count += 1
        name = f"{session}{count}" if session.endswith("-") else session
        return bench.seconds(HOOK, env, folder / "project", payload(folder, name, source))

    return run


def bare(bench: Bench, folder: Path, env: Mapping[str, str]) -> Callable[[], float]:
    """A bare interpreter of the same environment."""
    return lambda: bench.seconds(BARE, env, folder / "project")


@case("hooks")
def unbound(bench: Bench) -> None:
    """A new session on ``main``: the index of eight topics."""
    folder, env = prepare(bench)
    value = starts(bench, folder, env, "startup", "new-")
    bench.compare("session start, unbound", value, BARE_LABEL, bare(bench, folder, env))


@case("hooks")
def bound(bench: Bench) -> None:
    """A session bound to a topic with 200 worklog entries, after a compaction (always in full)."""
    folder, env = prepare(bench)
    value = starts(bench, folder, env, "compact", "bound")
    bench.compare("session start, bound", value, BARE_LABEL, bare(bench, folder, env))


@case("hooks")
def resumed(bench: Bench) -> None:
    """A session that is resumed where nothing is new."""
    folder, env = prepare(bench)
    starts(bench, folder, env, "startup", "bound")()
    value = starts(bench, folder, env, "resume", "bound")
    bench.compare("session start, resume", value, BARE_LABEL, bare(bench, folder, env))


@case("hooks")
def switched_off(bench: Bench) -> None:
    """Injection switched off: recording goes on, nothing is said."""
    folder, env = prepare(bench)
    value = starts(bench, folder, {**env, "AGENT_HOOK_CONTEXT": "0"}, "startup", "off-")
    bench.compare("session start, switched off", value, BARE_LABEL, bare(bench, folder, env))
