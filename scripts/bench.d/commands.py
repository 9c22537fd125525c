"""What a person or an agent waits for: verbs of ``,ai-kb`` as processes, their index current.

Every size against the smallest: what a verb costs is what it shows, not what the store holds. And every
verb against a bare interpreter, where the store is smallest: what starting it costs.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import recordslib
from benchlib import BARE, PYTHON, ROOT, Bench, case

LARGEST_TO_SMALLEST = 1.5
_NOTES = 10


def command(module: str) -> tuple[str, ...]:
    """One of the suite's commands, as the installed script starts it."""
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from {module} import entry; sys.exit(entry())"
    return (PYTHON, "-I", "-c", start)


KB, HN, MEMORY = command("ai_kb.cli"), command("ai_kb.hn.cli"), command("agent_memory.cli")


class Place:
    """A store of ``size`` records as workspace, its index current; a worklog; a record that is in it."""

    def __init__(self, bench: Bench, size: int) -> None:
        self.bench = bench
        folder = bench.scratch()
        self.work: Path = recordslib.made_once(bench.cache, size)
        self.env = bench.environment(folder)
        self.worklog = folder / "notes.worklog.jsonl"
        newest = json.loads(self.output("list", "--json", "--limit", "20"))
        self.memory = newest[-1]["id"]
        notes = [
            {"event": "note", "note_kind": "gotcha", "topic": "notes", "text": f"{h['title']}\n{h['body']} x"}
            for h in newest[:_NOTES]
        ]
        self.worklog.write_text("".join(json.dumps(note) + "\n" for note in notes))

    def output(self, *argv: str) -> bytes:
        return subprocess.run(
            (*KB, *argv), env=self.env, cwd=self.work, stdout=subprocess.PIPE, check=True
        ).stdout

    def verbs(self) -> dict[str, tuple[str, ...]]:
        """Command lines by what they are called."""
        text = ("--title", "Retry only idempotent requests", "--body", "A POST that timed out may be done.")
        return {
            ",ai-kb remember --dry-run": (*KB, "remember", "--dry-run", "--kind", "gotcha", *text),
            ",ai-kb list": (*KB, "list"),
            ",ai-kb list --kind --scope": (*KB, "list", "--kind", "gotcha", "--scope", "project"),
            ",ai-kb status": (*KB, "status"),
            ",ai-kb harvest": (*KB, "harvest", "--worklog", str(self.worklog)),
            ",ai-kb show": (*KB, "show", self.memory[7:17]),
            "hn memory show": (*HN, "memory", "show", self.memory[7:17]),
        }

    def run(self, argv: tuple[str, ...]) -> Callable[[], float]:
        """Seconds of one run of ``argv``."""
        return lambda: self.bench.seconds(argv, self.env, self.work)


@case("commands")
def sizes(bench: Bench) -> None:
    """Verbs over stores of every size, against the smallest; over the smallest, against an interpreter."""
    places = {size: Place(bench, size) for size in bench.sizes}
    smallest = places[bench.sizes[0]]
    for name, argv in smallest.verbs().items():
        bench.compare(
            f"{name}, {bench.sizes[0]:,} records", smallest.run(argv),
            "bare interpreter", smallest.run(BARE),
        )  # fmt: skip
        for size in bench.sizes[1:]:
            bench.compare(
                f"{name}, {size:,} records", places[size].run(places[size].verbs()[name]),
                f"{bench.sizes[0]:,} records", smallest.run(argv),
                target=LARGEST_TO_SMALLEST,
            )  # fmt: skip


@case("commands")
def starts(bench: Bench) -> None:
    """Commands that have nothing to do, against a bare interpreter: what their imports cost."""
    folder = bench.scratch()
    env = bench.environment(folder)
    for name, argv in {
        ",ai-kb --help": (*KB, "--help"),
        ",ai-kb list --help": (*KB, "list", "--help"),
        ",agent-memory status": (*MEMORY, "status"),
        "hn help": (*HN, "help"),
    }.items():
        bench.compare(
            name, lambda argv=argv: bench.seconds(argv, env, folder),  # type: ignore[misc]
            "bare interpreter", lambda: bench.seconds(BARE, env, folder),
        )  # fmt: skip
