"""Killed at any moment, a refresh of the private index leaves the old index or the new one, never a third.

SQLite's own progress callback is the clock: the writer counts it once to the end, and is then killed
at a number of ticks spread over its work. What the next reader answers is compared with a projection
from scratch.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ai_kb.hn import cache_file
from ai_kb.hn.cache import discard, locate, open_index
from ai_kb.hn.recall import recall
from ai_kb.hn.request import Request
from tests.hn.conftest import Person
from tests.hn.scratch import History, Scratch

EVERYTHING = Request(lifecycle=["all"], include_untrusted=True, max_records=10_000)
KILLS = 12


def _answer(history: History) -> dict[str, object]:
    repo = locate(str(history.directory), os.environ)
    assert repo is not None
    with repo.objects() as reader, open_index(repo, at=reader.resolve_commit("HEAD")) as index:
        answer = recall(index, EVERYTHING).as_object()
        return {name: entry for name, entry in answer.items() if name != "nextCursor"}


def _refresh_in_a_child(history: History, at: int) -> int:
    """Answer in a forked child that dies at tick ``at``; its ticks, or minus the signal."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 9
        try:
            ticks = 0
            real = cache_file.connect

            def tick() -> int:
                nonlocal ticks
                ticks += 1
                if ticks == at:
                    os.kill(os.getpid(), 9)
                return 0

            def connect(*args: Any, **keywords: Any) -> Any:
                conn = real(*args, **keywords)
                if conn is not None:
                    conn.set_progress_handler(tick, 20)
                return conn

            cache_file.connect = connect
            _answer(history)
            os.write(writer, str(ticks).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return int(text) if status == 0 else status


@pytest.mark.parametrize("fresh", [True, False], ids=["a new index", "an index that grows"])
def test_a_refresh_killed_anywhere_is_made_up_for_by_the_next_reader(
    tmp_path: Path, alice: Person, bob: Person, fresh: bool
) -> None:
    history = History(tmp_path / "work", [alice, bob], 77)
    repo = locate(str(history.directory), os.environ)
    assert repo is not None

    def build() -> None:
        discard(repo)
        if not fresh:
            _answer(history)
        for _ in range(6):
            history.step()

    for _ in range(12):
        history.step()
    build()
    total = _refresh_in_a_child(history, 0)
    assert total > KILLS
    killed = 0
    for number in range(KILLS):
        build()
        status = _refresh_in_a_child(history, 1 + number * total // KILLS)
        killed += status == -9
        got = _answer(history)
        with repo.objects() as reader:
            head = reader.resolve_commit("HEAD")
        assert got == Scratch(history.repo, head).recall(EVERYTHING)
    assert killed > KILLS // 2
