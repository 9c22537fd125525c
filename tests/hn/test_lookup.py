"""One memory looked up in the index is what a projection of the whole set says of it."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ai_kb.hn import cache, cache_records, lookup
from ai_kb.hn.cache import Index, locate, open_index
from ai_kb.hn.commands.show import Shown, edge_object, look, row_object
from ai_kb.hn.envelope import VerifiedMemory
from ai_kb.hn.errors import HnError
from ai_kb.hn.eventstore import collect_events
from ai_kb.hn.facts import RepositoryFacts
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.policy import parse_policy
from ai_kb.hn.projection import Projection, Query, project
from ai_kb.hn.projection_types import dependency_object
from ai_kb.hn.streams import Collection, collect
from tests.hn.conftest import Person
from tests.hn.fixture_repos import git, hn
from tests.hn.scratch import History

SEEDS = range(int(os.environ.get("HN_HISTORIES", "2")))


class Whole:
    """Everything in a repository, verified and projected, and what ``show`` says from that."""

    def __init__(self, repo: Repository) -> None:
        with repo.objects() as reader:
            head = reader.head() or ""
            data = cache.cache_context.read_policy(reader, head) if head else None
            self.collection: Collection = collect(repo, reader)
            memories = self.collection.memories
            facts = RepositoryFacts(repo, reader, memories, lambda: collect_events(repo, reader))
            facts.prepare(memories.values(), head)
            query = Query(head, None if data is None else parse_policy(data))
            self.projection: Projection = project(memories.values(), query, facts)

    def shown(self, memory: VerifiedMemory) -> dict[str, Any]:
        target = memory.envelope.target
        row, aimed = self.projection.rows.get(memory.id), self.projection.rows.get(target)
        return {
            "commit": self.collection.positions[memory.id].commit,
            "row": row and row_object(row),
            "target": aimed and row_object(aimed),
            "edges": [edge_object(e) for e in self.projection.edges if memory.id in (e.source, e.target)],
            "dependencies": [
                dependency_object(d)
                for d in self.projection.missing_dependencies
                if d.owner == memory.id or (target and d.missing == target)
            ],
        }


def _plain(shown: Shown) -> dict[str, Any]:
    return {
        "commit": shown.commit,
        "row": shown.row and row_object(shown.row),
        "target": shown.target and row_object(shown.target),
        "edges": [edge_object(edge) for edge in shown.edges],
        "dependencies": [dependency_object(dependency) for dependency in shown.dependencies],
    }


def _index(directory: Path, **more: Any) -> Index:
    repo = locate(str(directory), os.environ)
    assert repo is not None
    return open_index(repo, **more)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("losing", [False, True])
def test_after_any_history_every_memory_is_shown_as_the_whole_projection_has_it(
    seed: int, losing: bool, tmp_path: Path, alice: Person, bob: Person
) -> None:
    history = History(tmp_path / "work", [alice, bob], 5000 + seed, losing=losing)
    for number in range(28):
        history.step()
        if number % 14 == 13:
            whole = Whole(history.repo)
            with _index(history.directory) as index:
                for memory in whole.collection.memories.values():
                    assert _plain(Shown(index, memory)) == whole.shown(memory), (seed, number)
                    assert lookup.memory_of(index, memory.id) == memory
                    assert lookup.ids_starting(index, memory.id[7:15]) == [memory.id]
    assert history.ids


def test_rows_of_a_page_are_judged_together_as_each_by_itself(
    tmp_path: Path, alice: Person, bob: Person
) -> None:
    history = History(tmp_path / "work", [alice, bob], 77)
    for _ in range(40):
        history.step()
    whole = Whole(history.repo)
    with _index(history.directory) as index:
        memories = list(whole.collection.memories.values())
        assert lookup.rows(index, memories) == whole.projection.rows


def test_before_the_first_commit_nothing_applies_and_nobody_is_trusted(tmp_path: Path) -> None:
    full, empty = tmp_path / "full", tmp_path / "empty"
    for directory in (full, empty):
        git(tmp_path, "init", "-q", "-b", "main", str(directory))
    git(full, "commit", "-q", "--allow-empty", "-m", "first")
    assert hn(full, "init", "--name", "Someone").exit == 0
    flags = ("--kind", "decision", "--at", "HEAD", "--applies", "descendants", "--json")
    done = hn(full, "memory", "record", *flags, "--content", "x")
    assert hn(full, "memory", "record", *flags, "--content", "y").exit == 0
    memory = json.loads(done.stdout)["memoryId"]
    git(empty, "fetch", "-q", str(full), "refs/hn/memory/*:refs/hn/memory/*")
    for fetched in (False, True):
        for _ in range(2):  # made, and found as it was made
            value = json.loads(hn(empty, "memory", "show", memory, "--json").stdout)
            row = value["projection"]
            assert (row["applicability"], row["trust"]) == ("anchor-missing", "policy-missing")
            (missing,) = value["missingDependencies"]
            assert missing["kind"] == ("query-commit" if fetched else "anchor-commit")
        git(empty, "fetch", "-q", str(full), "main:refs/remotes/full/main")
    git(empty, "update-ref", "HEAD", "refs/remotes/full/main")
    value = json.loads(hn(empty, "memory", "show", memory, "--json").stdout)
    assert value["projection"]["applicability"] == "applicable"


def test_an_unborn_query_commit_is_asked_for_by_nobody_else(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", str(tmp_path / "empty"))
    for at in ("HEAD", "0" * 40):
        with pytest.raises(HnError):
            _index(tmp_path / "empty", at=at)
    with _index(tmp_path / "empty", unborn=True) as index:
        assert index.count() == 0
        assert lookup.query_commit(index) == ""


def test_in_a_shallow_clone_what_is_within_its_depth_applies(tmp_path: Path, alice: Person) -> None:
    work, clone = tmp_path / "work", tmp_path / "clone"
    git(tmp_path, "init", "-q", "-b", "main", str(work))
    assert hn(work, "init", "--name", "Someone").exit == 0
    flags = ("--kind", "decision", "--at", "HEAD", "--applies", "descendants")
    for number in range(4):
        git(work, "commit", "-q", "--allow-empty", "-m", f"{number}")
        assert hn(work, "memory", "record", *flags, "--content", f"{number}").exit == 0
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{work}", str(clone))
    git(clone, "fetch", "-q", "origin", "refs/hn/memory/*:refs/hn/memory/*")
    # An anchor that is here, but beyond where history is cut off.
    git(clone, "fetch", "-q", "--depth", "1", "origin", git(work, "rev-parse", "main~3"))
    whole = Whole(Repository.open(str(clone), os.environ))
    wanted = {row.data.content: row.applicability for row in whole.projection.rows.values()}
    assert wanted == {"0": "anchor-missing", "1": "anchor-missing", "2": "applicable", "3": "applicable"}
    with _index(clone) as index:
        memories = list(whole.collection.memories.values())
        got = {row.data.content: row.applicability for row in lookup.rows(index, memories).values()}
        assert got == wanted
        applies = {str(record.data["content"]) for record in index.each(index.applicable())}
        assert applies == {"2", "3"}


def test_a_prefix_that_fits_two_memories_is_refused(tmp_path: Path, alice: Person) -> None:
    history = History(tmp_path / "work", [alice], 6)
    history.memory()
    history.memory()
    with _index(history.directory) as index:
        path = index.path
    alike = [bytes.fromhex("a" * 63 + last) for last in "12"]
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("UPDATE memory SET id = ? WHERE number = 0", (alike[0],))
        conn.execute("UPDATE memory SET id = ? WHERE number = 1", (alike[1],))
        conn.commit()
    repo = locate(str(history.directory), os.environ)
    assert repo is not None
    with pytest.raises(HnError, match="is ambiguous: 2 ids start so"):
        look(repo, "a" * 8)
    with _index(history.directory) as index:
        assert lookup.ids_starting(index, "a" * 63 + "2") == ["sha256:" + alike[1].hex()]
        assert lookup.ids_starting(index, "b" * 9) == []


def test_what_one_memory_costs_does_not_grow_with_the_others(
    tmp_path: Path, alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(tmp_path / "work", [alice, bob], 5)
    while len(history.ids) < 12:
        history.memory()
    read = cache_records.read
    counts: list[int] = []
    for more in (0, 30):
        for _ in range(more):
            history.memory()
        with _index(history.directory):
            pass
        calls: list[object] = []

        def counting(row: Any, calls: list[object] = calls) -> Any:
            calls.append(row)
            return read(row)

        repo = locate(str(history.directory), os.environ)
        assert repo is not None
        with monkeypatch.context() as patched:
            patched.setattr(cache_records, "read", counting)
            look(repo, history.ids[0])
        counts.append(len(calls))
    assert 0 < counts[1] <= counts[0] + 4, counts
