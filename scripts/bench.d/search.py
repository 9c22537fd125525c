"""Search and selection over a current index: the largest store against the smallest of the run.

In one process with the index open, so that only ranking is measured; and ``,ai-kb search`` as a
whole process. Queries are the evaluation prompts: short ones, and pasted logs and stack traces.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import recordslib
from benchlib import ROOT, Bench, case

from ai_kb.hn.cache import Index, locate, open_index
from ai_kb.relevance import select_relevant
from ai_kb.search import EXTENSION, Source, search

_START = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ai_kb.cli import entry; sys.exit(entry())"
COMMAND = (sys.executable, "-I", "-c", _START)
LARGEST_TO_SMALLEST = 1.5
_HUGE = 200_000  # characters


def evaluation_prompts() -> list[str]:
    """The texts of the evaluation prompts."""
    path = ROOT / "tests/data/eval/prompts_dev.json"
    return [prompt["prompt"] for prompt in json.loads(path.read_text(encoding="utf-8"))]


def queries() -> dict[str, list[str]]:
    """Queries by what they are: short, pasted, and one of 200,000 characters."""
    prompts = evaluation_prompts()
    pasted = [prompt for prompt in prompts if prompt.count("\n") > 8]
    return {
        "short prompts": [prompt for prompt in prompts if "\n" not in prompt],
        "pasted logs": pasted,
        f"a prompt of {_HUGE:,} characters": [("\n".join(pasted) * 40)[:_HUGE]],
    }


def open_source(bench: Bench, size: int) -> tuple[Index, Source]:
    """The index of a store of ``size`` records, current and open, as a source."""
    repo = locate(str(recordslib.made_once(bench.cache, size)), bench.environment(bench.scratch()))
    assert repo is not None
    index = open_index(repo, extension=EXTENSION)
    return index, Source("repo", index.conn, index.gate())


def ranking(
    rank: Callable[[str, Sequence[Source]], object], texts: list[str], source: Source
) -> Callable[[], float]:
    """Seconds of one query, each time the next one of ``texts``."""
    turn = itertools.cycle(texts)

    def one() -> float:
        text = next(turn)
        start = time.perf_counter()
        rank(text, [source])
        return time.perf_counter() - start

    return one


@case("search")
def ranked(bench: Bench) -> None:
    """Search and selection, index open: every size against the smallest."""
    opened = {size: open_source(bench, size) for size in bench.sizes}
    smallest = bench.sizes[0]
    ranks: dict[str, Callable[[str, Sequence[Source]], object]] = {
        "search": lambda text, sources: search(sources, text),
        "selection": select_relevant,
    }
    rounds, bench.rounds = bench.rounds, 5 * bench.rounds
    for name, rank in ranks.items():
        for label, texts in queries().items():
            for size in bench.sizes[1:]:
                bench.compare(
                    f"{name}, {label}, {size:,} records", ranking(rank, texts, opened[size][1]),
                    f"{smallest:,} records", ranking(rank, texts, opened[smallest][1]),
                )  # fmt: skip
    bench.rounds = rounds
    for index, _ in opened.values():
        index.close()


@case("search")
def command(bench: Bench) -> None:
    """``,ai-kb search`` as a process: every size against the smallest."""
    query = "alter table waits for a lock while the migration runs"
    sides: dict[int, Callable[[], float]] = {}
    for size in bench.sizes:
        workspace: Path = recordslib.made_once(bench.cache, size)
        env = bench.environment(bench.scratch())
        argv = (*COMMAND, "search", "--workspace", str(workspace), query)
        bench.seconds(argv, env, workspace)  # builds the index
        sides[size] = lambda argv=argv, env=env, workspace=workspace: bench.seconds(argv, env, workspace)
    smallest = bench.sizes[0]
    for size in bench.sizes[1:]:
        bench.compare(
            f",ai-kb search, {size:,} records", sides[size], f"{smallest:,} records", sides[smallest],
            target=LARGEST_TO_SMALLEST,
        )  # fmt: skip
