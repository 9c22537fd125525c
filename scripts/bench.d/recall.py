"""Recall, grep and the private index: warm at every size against the smallest, and kept current.

The floor of a cold rebuild is the same bytes read, hashed and verified once (``streams``); that
of one more record or commit is a bare interpreter: what is measured there is a process that opens
the index and closes it. Recall and grep are whole commands.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import recordslib
from benchlib import BARE, PYTHON, ROOT, Bench, case

_HN = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ai_kb.hn.cli import entry; sys.exit(entry())"
COMMAND = (PYTHON, "-I", "-c", _HN, "memory")
_OPEN = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); import os;"
    " from ai_kb.hn.cache import locate, open_index; open_index(locate(os.getcwd(), os.environ)).close()"
)
OPEN = (PYTHON, "-I", "-c", _OPEN)

LARGEST_TO_SMALLEST = 1.5
PLUS_ONE = 6.0
PEAK_MEGABYTES = 100.0
_QUICK = 20_000

QUESTIONS = {
    "recall": ("recall", "--json"),
    "recall of common words": ("recall", "--query", "the when", "--json"),
    "recall of a rare word": ("recall", "--query", "surefire", "--json"),
    "recall by topic and kind": ("recall", "--topic", "domain/git", "--kind", "decision", "--json"),
}
GREP = ("grep", "--max-records", "5", "--topic", "surefire", "(?i)junit|tests run")


class Store:
    """A copy of a repository of ``size`` records, with a cache of its own that is current."""

    def __init__(self, bench: Bench, size: int) -> None:
        self.folder = bench.scratch()
        self.work = self.folder / "work"
        shutil.copytree(recordslib.made_once(bench.cache, size), self.work, symlinks=True)
        self.env = bench.environment(self.folder)
        self.bench = bench
        self.open()

    def open(self) -> float:
        """Seconds of a process that brings the index up to date."""
        return self.bench.seconds(OPEN, self.env, self.work)

    def command(self, *argv: str) -> float:
        """Seconds of one command."""
        return self.bench.seconds((*COMMAND, *argv), self.env, self.work)

    def forget(self) -> None:
        """Remove the index."""
        shutil.rmtree(self.folder / "home" / ".cache")

    def author(self) -> recordslib.Author:
        """An author of the repository, ready for the next memory of its stream."""
        author = recordslib.Author(0, 1)
        payload = self.git("cat-file", "blob", f"{author.ref}:memory.json")
        author.sequence = json.loads(payload)["sequence"]
        author.previous = recordslib.memory_id(payload)
        return author

    def git(self, *argv: str) -> bytes:
        done = subprocess.run(
            ["git", "-C", str(self.work), *argv], env=self.env, capture_output=True, check=True
        )
        return done.stdout


def _after(prepare: Callable[[], object], measured: Callable[[], float]) -> Callable[[], float]:
    def run() -> float:
        prepare()
        return measured()

    return run


@case("index")
def kept_current(bench: Bench) -> None:
    """The index after one more record and one more commit: a process each, against a bare interpreter."""
    recordslib.isolated_git()
    for size in bench.sizes:
        store = Store(bench, size)
        author = store.author()
        events: dict[str, Callable[[], object]] = {
            "record": lambda store=store, author=author: recordslib.append(  # type: ignore[misc]
                store.work, author, author.sequence
            ),
            "commit": lambda store=store: recordslib.commit(store.work, "More"),  # type: ignore[misc]
        }
        for name, event in events.items():
            bench.compare(
                f"index after +1 {name}, {size:,} records", _after(event, store.open),
                "bare interpreter", lambda store=store: bench.seconds(BARE, store.env, store.work),  # type: ignore[misc]
                target=PLUS_ONE,
            )  # fmt: skip
        bench.compare(
            f"index found current, {size:,} records", store.open,
            "bare interpreter", lambda store=store: bench.seconds(BARE, store.env, store.work),  # type: ignore[misc]
        )  # fmt: skip


@case("index")
def cold(bench: Bench) -> None:
    """The index made from nothing, and the same records only verified."""
    rounds = bench.rounds
    for size in bench.sizes:
        bench.rounds = min(rounds, 3 if size <= _QUICK else 1)
        store = Store(bench, size)
        verify = (PYTHON, "-I", "-c", _VERIFY)
        bench.compare(
            f"index from nothing, {size:,} records", _after(store.forget, store.open),
            "verify them", lambda store=store, verify=verify: bench.seconds(verify, store.env, store.work),  # type: ignore[misc]
        )  # fmt: skip
    bench.rounds = rounds


_VERIFY = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); import os\n"
    "from ai_kb.hn.gitstore import Repository; from ai_kb.hn.streams import collect\n"
    "repo = Repository.open(os.getcwd(), os.environ)\n"
    "with repo.objects() as reader: collect(repo, reader)\n"
)


@case("recall")
def warm(bench: Bench) -> None:
    """Recall and grep as commands, index current: every size against the smallest."""
    stores = {size: Store(bench, size) for size in bench.sizes}
    smallest = bench.sizes[0]
    for label, argv in {**QUESTIONS, "grep within a topic": GREP}.items():
        for store in stores.values():
            store.command(*argv)  # a small store's index-v0.json is written by the first
        for size in bench.sizes[1:]:
            bench.compare(
                f"{label}, {size:,} records",
                lambda store=stores[size], argv=argv: store.command(*argv),  # type: ignore[misc]
                f"{smallest:,} records",
                lambda store=stores[smallest], argv=argv: store.command(*argv),  # type: ignore[misc]
                target=LARGEST_TO_SMALLEST if label != "grep within a topic" else None,
            )


@case("recall")
def memory(bench: Bench) -> None:
    """Peak memory of a warm recall, in megabytes, against a bare interpreter's."""
    for size in bench.sizes:
        store = Store(bench, size)
        argv = (*COMMAND, *QUESTIONS["recall of common words"])
        peak, bare = (peak_megabytes(command, store.env, store.work) for command in (argv, BARE))
        row = bench.add(
            f"peak memory of a warm recall, {size:,} records", peak, "bare interpreter", bare, unit="MB",
            target=PEAK_MEGABYTES / bare,
        )  # fmt: skip
        bench.say(f"  {row.label}: {peak:.0f} MB, at most {PEAK_MEGABYTES:.0f}")


def peak_megabytes(argv: tuple[str, ...], env: Mapping[str, str], cwd: Path) -> float:
    """Largest resident size of a process and of its children, whichever is larger."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [PYTHON, "-I", "-c", code, *argv], env=dict(env), cwd=cwd, capture_output=True, text=True, check=True
    )
    return int(done.stdout) / (1 << 20 if sys.platform == "darwin" else 1 << 10)
