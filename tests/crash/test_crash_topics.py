"""Select, merge, wipe and mirror, killed anywhere or on a full disk: a second run ends it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from agent_base import files
from agent_memory import moves, queue, topics, worklog
from agent_memory import workspace as places
from agent_memory.entries import note_entry
from agent_memory.mirror import Mirror
from agent_memory.topics import State
from tests.crash import harness

WORKSPACE = "/home/user/project"
MOMENT = "2026-11-30T12:00:00Z"
NOW = 1_796_040_000.0


def state(base: Path) -> State:
    root = str(base / "specs")
    found = State(WORKSPACE, places.spec_dir(root, WORKSPACE), root)
    found.ensure()
    return found


def mirror(base: Path) -> Mirror:
    return Mirror(state(base), str(base / "mirror"))


def sync(base: Path) -> None:
    result = mirror(base).sync(NOW)
    assert result.errors == []


def enqueue(base: Path, key: str, text: str, topic: str, second: int) -> None:
    where = state(base)
    entry = note_entry("fact", text, [], ts=NOW + second, workspace=WORKSPACE, topic=topic)
    queue.enqueue(where.spec_dir, key, entry, queue.new_id())


def texts(base: Path, topic: str) -> list[object]:
    return [entry["text"] for entry in worklog.read(state(base).worklog_path(topic))]


def contents(directory: str) -> dict[str, bytes]:
    """Every file that carries memory, with its content (no queues, locks, leftovers, notes about merges)."""
    if not os.path.isdir(directory):
        return {}
    return {
        name: Path(directory, name).read_bytes()
        for name in os.listdir(directory)
        if os.path.isfile(os.path.join(directory, name)) and not name.startswith(".")
    }


# ---------------------------------------------------------------- merge


def build_merge(base: Path) -> None:
    where = state(base)
    where.write_spec("src", "topic: src\nplan of src\n")
    where.write_spec("dst", "topic: dst\nplan of dst\n")
    where.bind("one", "src")
    where.bind("two", "dst")
    where.set_pointer("src")
    enqueue(base, "one", "src 1", "src", 1)
    enqueue(base, "two", "dst 2", "dst", 2)
    queue.flush(where.spec_dir)
    files.write_atomic(where.no_context_path("src"), b"")
    sync(base)
    enqueue(base, "one", "src 3", "src", 3)  # pending when the merge begins


def merge(base: Path) -> None:
    moves.merge(state(base), mirror(base), "src", "dst", moment=MOMENT)


def check_merged(base: Path) -> None:
    where = state(base)
    assert texts(base, "dst") == ["src 1", "dst 2", "src 3"]
    spec = where.read_spec("dst") or ""
    assert spec.startswith("topic: dst\nplan of dst\n\n--- merged from src on ")
    assert spec.count("plan of src") == 1
    assert spec.endswith("---\ntopic: src\nplan of src\n")
    assert where.bindings() == {"one": "dst", "two": "dst"}
    assert where.pointer() == "dst"
    assert not moves.unfinished(where)
    assert not where.bucket_exists("src")
    assert not os.path.exists(where.no_context_path("src"))
    assert not os.path.exists(where.no_context_path("dst"))
    assert queue.pending(where.spec_dir) == []
    sync(base)
    assert not where.bucket_exists("src"), "it came back from the mirror"
    assert set(contents(mirror(base).directory)) == {"dst.txt", "dst.worklog.jsonl", topics.POINTER}
    assert contents(mirror(base).directory).items() <= contents(where.spec_dir).items()


def check_untouched(base: Path) -> None:
    where = state(base)
    assert texts(base, "src") in (["src 1"], ["src 1", "src 3"])
    assert texts(base, "dst") == ["dst 2"]
    assert where.read_spec("src") == "topic: src\nplan of src\n"
    assert where.read_spec("dst") == "topic: dst\nplan of dst\n"
    assert where.bindings() == {"one": "src", "two": "dst"}
    assert where.pointer() == "src"
    assert os.path.exists(where.no_context_path("src"))


def test_a_merge_killed_anywhere_is_finished_by_a_second_run(fast_tmp: Path) -> None:
    runs = harness.explore(fast_tmp, build_merge, merge, merge, check_merged)
    assert runs > 200


def test_a_merge_killed_anywhere_is_all_or_nothing_for_whoever_comes_next(fast_tmp: Path) -> None:
    def next_hook(base: Path) -> None:
        moves.recover(state(base), mirror(base))
        sync(base)

    def check(base: Path) -> None:
        if state(base).bucket_exists("src"):
            check_untouched(base)
        else:
            check_merged(base)

    outcomes = harness.explore(
        fast_tmp, build_merge, merge, next_hook, check, modes=[harness.BEFORE, harness.AFTER, harness.TORN]
    )
    assert outcomes > 100


def test_a_merge_killed_again_while_it_is_finished(fast_tmp: Path) -> None:
    clean = fast_tmp / "count"
    clean.mkdir()
    build_merge(clean)
    total = harness.points(lambda: merge(clean))
    for at in range(1, total + 1, 3):
        for again in range(1, total + 1, 5):
            base = fast_tmp / f"{at}-{again}"
            base.mkdir()
            build_merge(base)
            harness.run(lambda b=base: merge(b), at, harness.AFTER)  # type: ignore[misc]
            harness.run(lambda b=base: merge(b), again, harness.BEFORE)  # type: ignore[misc]
            merge(base)
            check_merged(base)
            shutil.rmtree(base)


def test_what_is_recorded_between_the_kill_and_the_second_run_is_kept(fast_tmp: Path) -> None:
    clean = fast_tmp / "count"
    clean.mkdir()
    build_merge(clean)
    total = harness.points(lambda: merge(clean))
    for at in range(1, total + 1):
        base = fast_tmp / str(at)
        base.mkdir()
        build_merge(base)
        harness.run(lambda b=base: merge(b), at, harness.AFTER)  # type: ignore[misc]
        topic = state(base).topic_of_session("one")[0]
        enqueue(base, "one", "later", topic, 4)
        queue.flush(state(base).spec_dir)
        merge(base)
        if moves.unfinished(state(base)) or state(base).bucket_exists("src"):
            merge(base)
        assert texts(base, "dst") == ["src 1", "dst 2", "src 3", "later"], at
        shutil.rmtree(base)


# ---------------------------------------------------------------- select


def build_select(base: Path) -> None:
    where = state(base)
    where.bind("two", "other")
    where.write_spec("other", "topic: other\n")
    where.write_spec("session-one", "Written before.\n")
    enqueue(base, "one", "before 1", "session-one", 1)
    queue.flush(where.spec_dir)
    sync(base)
    enqueue(base, "one", "before 2", "session-one", 2)


def select(base: Path) -> None:
    moves.select(state(base), mirror(base), "one", "fix", create=True, summary="A fix", moment=MOMENT)


def check_selected(base: Path) -> None:
    where = state(base)
    assert where.bindings() == {"one": "fix", "two": "other"}
    assert texts(base, "fix") == ["before 1", "before 2"]
    spec = where.read_spec("fix") or ""
    assert spec.startswith("topic: fix\nsummary: A fix\n")
    assert spec.count("Written before.") == 1
    assert not where.bucket_exists("session-one")
    assert not moves.unfinished(where)
    assert queue.pending(where.spec_dir) == []
    sync(base)
    assert set(contents(mirror(base).directory)) == {"fix.txt", "fix.worklog.jsonl", "other.txt"}


def test_a_select_killed_anywhere_is_finished_by_a_second_run(fast_tmp: Path) -> None:
    runs = harness.explore(fast_tmp, build_select, select, select, check_selected)
    assert runs > 150


def test_a_select_killed_anywhere_is_all_or_nothing_for_whoever_comes_next(fast_tmp: Path) -> None:
    def check(base: Path) -> None:
        if "one" in state(base).bindings():
            check_selected(base)
        else:
            where = state(base)
            assert not where.bucket_exists("fix")
            assert texts(base, "session-one") in (["before 1"], ["before 1", "before 2"])
            assert where.read_spec("session-one") == "Written before.\n"

    def next_hook(base: Path) -> None:
        moves.recover(state(base), mirror(base))
        sync(base)

    harness.explore(
        fast_tmp, build_select, select, next_hook, check, modes=[harness.BEFORE, harness.AFTER, harness.TORN]
    )


# ---------------------------------------------------------------- wipe


def build_wipe(base: Path) -> None:
    build_merge(base)


def wipe(base: Path) -> None:
    moves.wipe(state(base), mirror(base), "src", reset_pointer=True)


def check_wiped(base: Path) -> None:
    where = state(base)
    sync(base)
    assert not where.bucket_exists("src")
    assert where.pointer() is None
    assert not os.path.exists(where.no_context_path("src"))
    assert texts(base, "dst") == ["dst 2"]
    assert set(contents(mirror(base).directory)) == {"dst.txt", "dst.worklog.jsonl"}


def test_a_wipe_killed_anywhere_is_finished_by_a_second_run(fast_tmp: Path) -> None:
    harness.explore(fast_tmp, build_wipe, wipe, wipe, check_wiped)


# ---------------------------------------------------------------- mirror


def build_mirror(base: Path) -> None:
    where = state(base)
    for name in ("old", "gone", "changed"):
        where.write_spec(name, f"topic: {name}\n")
        enqueue(base, "one", f"event of {name}", name, 1)
    queue.flush(where.spec_dir)
    where.set_pointer("old")
    sync(base)
    for suffix in (topics.SPEC_SUFFIX, topics.WORKLOG_SUFFIX):
        os.unlink(where.path("gone" + suffix))
    os.unlink(where.path(topics.POINTER))
    where.write_spec("changed", "topic: changed\nmore\n")
    where.write_spec("new", "topic: new\n")
    files.write_atomic(where.no_context_path("new"), b"")


def check_mirror(base: Path) -> None:
    where = state(base)
    here = contents(where.spec_dir)
    there = contents(mirror(base).directory)
    for directory in (where.spec_dir, mirror(base).directory):
        assert not [name for name in os.listdir(directory) if name.endswith(".tmp")]
    assert here == there
    assert {name for name in there if name.endswith(".txt")} == {
        *("old.txt", "gone.txt", "changed.txt", "new.txt", topics.POINTER)
    }
    assert there["changed.txt"] == b"topic: changed\nmore\n"
    assert texts(base, "gone") == ["event of gone"]
    assert where.pointer() == "old"


def test_the_mirror_killed_anywhere_is_finished_by_the_next(fast_tmp: Path) -> None:
    def later(base: Path) -> None:
        assert mirror(base).sync(NOW).errors == []
        # Temporary files of the killed one go once they are old enough.
        assert mirror(base).sync(files_age()).errors == []

    def action(base: Path) -> None:
        mirror(base).sync(NOW)

    runs = harness.explore(fast_tmp, build_mirror, action, later, check_mirror)
    assert runs > 100


def files_age() -> float:
    """A moment at which everything written so far is older than an hour."""
    import time

    return time.time() + 4000


def test_a_mirror_on_a_full_disk_names_what_it_could_not_copy(fast_tmp: Path) -> None:
    build_mirror(fast_tmp)

    def action() -> None:
        errors = mirror(fast_tmp).sync(NOW).errors
        if errors:
            raise OSError(errors[0])

    status, _ = harness.run(action, 4, harness.FULL)
    assert status == 3


@pytest.mark.parametrize("verb", ["bind", "pointer", "spec"])
def test_single_files_are_old_or_new_whatever_is_killed(fast_tmp: Path, verb: str) -> None:
    def build(base: Path) -> None:
        where = state(base)
        where.bind("one", "old")
        where.set_pointer("old")
        where.write_spec("fix", "old\n")

    def action(base: Path) -> None:
        where = state(base)
        if verb == "bind":
            where.bind("one", "new")
        elif verb == "pointer":
            where.set_pointer("new")
        else:
            where.write_spec("fix", "new\n")

    def check(base: Path) -> None:
        where = state(base)
        assert where.binding("one") in ("old", "new")
        assert where.pointer() in ("old", "new")
        assert where.read_spec("fix") in ("old\n", "new\n")

    harness.explore(fast_tmp, build, action, lambda base: None, check)
