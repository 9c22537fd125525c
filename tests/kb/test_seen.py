"""Seen state: each capsule once per session, whoever runs at the same time and whatever the file holds."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from agent_base.errors import UnsafePath
from agent_base.files import LockTimeout
from ai_kb.seen import Seen, injections, seen_ids, state_path
from tests.conftest import PATIENCE

KEY = "session-1"


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "specs"
    path.mkdir(mode=0o700)
    return str(path)


def test_what_was_added_is_seen_by_the_next(spec: str) -> None:
    with Seen(spec, KEY) as seen:
        assert seen.ids == set()
        seen.add(["a", "b", "a"])
    with Seen(spec, KEY) as seen:
        assert seen.ids == {"a", "b"}
    assert seen_ids(spec, KEY) == ["a", "b"]
    assert seen_ids(spec, "other") == []
    assert stat.S_IMODE(os.stat(state_path(spec, KEY)).st_mode) == 0o600


def test_nothing_is_written_when_nothing_changed_or_the_block_failed(spec: str) -> None:
    with Seen(spec, KEY) as seen:
        seen.add([])
        seen.forget()
    assert not os.path.exists(state_path(spec, KEY))
    with pytest.raises(RuntimeError):
        _add_and_fail(spec)
    assert not os.path.exists(state_path(spec, KEY))


def _add_and_fail(spec: str) -> None:
    with Seen(spec, KEY) as seen:
        seen.add(["a"])
        raise RuntimeError


def test_all_or_some_can_be_forgotten(spec: str) -> None:
    with Seen(spec, KEY) as seen:
        seen.add(["a", "b", "c"])
        assert seen.first_time("p", 100.0)
    with Seen(spec, KEY) as seen:
        seen.forget(["b", "x"])
        seen.forget(["x"])
    assert seen_ids(spec, KEY) == ["a", "c"]
    with Seen(spec, KEY) as seen:
        seen.forget()
        assert seen.ids == set()
    assert seen_ids(spec, KEY) == []


def test_when_something_was_injected_is_kept_also_after_it_was_forgotten(spec: str) -> None:
    with Seen(spec, KEY) as seen:
        seen.add(["a", "b"], 100.0)
        seen.add(["a", "x"])  # nobody said when
    with Seen(spec, KEY) as seen:
        seen.forget()
    with Seen(spec, KEY) as seen:
        seen.add(["a"], 200.5)
    assert seen_ids(spec, KEY) == ["a"]
    assert injections(spec, KEY) == [("a", 100.0), ("b", 100.0), ("a", 200.5)]
    assert injections(spec, "other") == []


def test_only_the_latest_times_are_kept_and_only_such_as_can_be(spec: str) -> None:
    with Seen(spec, KEY) as seen:
        seen.add((f"id-{i}" for i in range(300)), 1.0)
    assert [memory_id for memory_id, _ in injections(spec, KEY)] == [f"id-{i}" for i in range(100, 300)]
    path = Path(state_path(spec, KEY))
    bad = '[["a", true], ["a", -1], ["a", NaN], ["a", 1e99], ["a"], [1, 1], "a", ["ok", 5]]'
    path.write_text(f'{{"version": 1, "injected": {bad}}}')
    assert injections(spec, KEY) == [("ok", 5.0)]


def test_the_same_prompt_again_at_once_is_the_same_event(spec: str) -> None:
    with Seen(spec, KEY) as seen:
        assert seen.first_time("p", 100.0)
    with Seen(spec, KEY) as seen:
        assert not seen.first_time("p", 101.0)
        assert seen.first_time("q", 101.0)
    with Seen(spec, KEY) as seen:
        assert seen.first_time("p", 200.0)
    with Seen(spec, KEY) as seen:
        assert seen.first_time("p", 150.0)  # the clock was set back


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"version": 2, "seen": ["a"]}', b'{"version": 1, "seen": {"a": 1}, "prompts": []}',
     b'{"version": 1, "seen": [1, null], "prompts": {"p": true, "q": "x"}}', b"[" * 100_000,
     b"x" * (1 << 21)],
)  # fmt: skip
def test_a_damaged_file_counts_as_empty(spec: str, content: bytes) -> None:
    path = Path(state_path(spec, KEY))
    path.write_bytes(content)
    path.chmod(0o600)
    with Seen(spec, KEY) as seen:
        assert seen.ids == set()
        seen.add(["a"])
    assert seen_ids(spec, KEY) == ["a"]


def test_a_file_that_others_could_have_written_is_refused(spec: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "planted"
    elsewhere.write_text(json.dumps({"version": 1, "seen": ["a"]}))
    os.symlink(elsewhere, state_path(spec, KEY))
    with pytest.raises(UnsafePath), Seen(spec, KEY):
        pass
    with Seen(spec, "other", timeout=0):  # the lock of the first was let go
        pass
    os.unlink(state_path(spec, KEY))
    with Seen(spec, KEY, timeout=0) as seen:
        seen.add(["b"])
    os.chmod(state_path(spec, KEY), 0o666)
    with pytest.raises(UnsafePath):
        seen_ids(spec, KEY)


def test_only_so_many_are_kept_the_oldest_go(spec: str) -> None:
    with Seen(spec, KEY) as seen:
        seen.add(f"id-{i}" for i in range(5_010))
    kept = seen_ids(spec, KEY)
    assert (len(kept), kept[0]) == (5_000, "id-10")


def test_whoever_waits_too_long_gives_up(spec: str) -> None:
    with Seen(spec, KEY):
        context = multiprocessing.get_context("fork")
        results = context.Queue()
        process = context.Process(target=_try, args=(spec, results))
        process.start()
        assert results.get(timeout=PATIENCE) == "LockTimeout"
        process.join()


def _try(spec: str, results: multiprocessing.Queue[str]) -> None:
    try:
        with Seen(spec, KEY, timeout=0.05):
            results.put("got it")
    except LockTimeout as error:
        results.put(type(error).__name__)


def _claim(spec: str, start: object, results: multiprocessing.Queue[list[str]]) -> None:
    mine: list[str] = []
    start.wait()  # type: ignore[attr-defined]
    for number in range(20):
        with Seen(spec, KEY) as seen:
            name = f"id-{number}"
            if name not in seen.ids:
                seen.add([name])
                mine.append(name)
    results.put(mine)


def test_processes_at_the_same_time_never_show_the_same_twice(spec: str) -> None:
    context = multiprocessing.get_context("fork")
    start, results = context.Event(), context.Queue()
    processes = [context.Process(target=_claim, args=(spec, start, results)) for _ in range(4)]
    for process in processes:
        process.start()
    start.set()
    claimed = [name for _ in processes for name in results.get(timeout=PATIENCE)]
    for process in processes:
        process.join()
    assert sorted(claimed) == sorted(f"id-{n}" for n in range(20))
