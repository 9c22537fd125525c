"""Tool events: the dispatcher against a shell that only reads, the recorder against a bare interpreter."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from benchlib import BARE, PYTHON, ROOT, Bench, case

DISPATCHER = ("/bin/sh", str(ROOT / "hooks/worklog_dispatcher.sh"), "--harness", "claude")
RECORDER = (PYTHON, "-I", "-S", str(ROOT / "hooks/worklog_recorder.py"))
READER = ("/bin/sh", "-c", "cat >/dev/null")
READER_LABEL = "sh -c 'cat >/dev/null'"
LARGE = 10_000_000


def event(folder: Path, number: int, output: str = "12 passed in 0.31s\n") -> bytes:
    """A PostToolUse payload of Claude Code."""
    return json.dumps(
        {"session_id": "bench", "cwd": str(folder / "project"), "hook_event_name": "PostToolUse",
         "tool_name": "Bash", "tool_input": {"command": f"make test-{number}"},
         "tool_response": {"stdout": output, "stderr": "", "interrupted": False},
         "tool_use_id": f"toolu_{number}", "duration_ms": 12}
    ).encode()  # fmt: skip


def settled(folder: Path) -> None:
    """Until no recorder has work left, so that none runs into the next sample."""
    spool = folder / "specs/.spool-v1"
    while any(path.suffix in (".event", ".claimed") for path in spool.iterdir()):
        time.sleep(0.002)
    time.sleep(0.01)


def prepare(bench: Bench) -> tuple[Path, dict[str, str]]:
    folder = bench.scratch()
    (folder / "project").mkdir()
    return folder, bench.environment(folder)


def dispatched(
    bench: Bench, folder: Path, env: Mapping[str, str], output: str = "12 passed in 0.31s\n"
) -> Callable[[], float]:
    """One event per call, each its own; the background recorder's end is waited for, and not counted."""
    numbers = itertools.count()

    def run() -> float:
        taken = bench.seconds(DISPATCHER, env, folder / "project", event(folder, next(numbers), output))
        settled(folder)
        return taken

    return run


@case("hooks")
def dispatcher(bench: Bench) -> None:
    """The dispatcher on a usual event."""
    folder, env = prepare(bench)
    payload = event(folder, 0)
    bench.compare(
        "dispatcher",
        dispatched(bench, folder, env),
        READER_LABEL,
        lambda: bench.seconds(READER, env, folder / "project", payload),
    )


@case("hooks")
def dispatcher_large(bench: Bench) -> None:
    """The dispatcher on a payload of ten megabytes."""
    folder, env = prepare(bench)
    output = "some output of a tool\n" * (LARGE // 22)
    payload = event(folder, 0, output)
    bench.compare(
        "dispatcher, 10 MB",
        dispatched(bench, folder, env, output),
        f"{READER_LABEL}, 10 MB",
        lambda: bench.seconds(READER, env, folder / "project", payload),
    )


@case("hooks")
def recorder(bench: Bench) -> None:
    """CPU of the recorder from payload to worklog (at its cap of 200 records)."""
    folder, env = prepare(bench)
    numbers = itertools.count()

    def run() -> float:
        return bench.cpu_seconds(RECORDER, env, folder / "project", event(folder, next(numbers)))

    for _ in range(210):
        run()
    bench.compare(
        "recorder, CPU",
        run,
        "bare interpreter, CPU",
        lambda: bench.cpu_seconds(BARE, env, folder / "project"),
    )
