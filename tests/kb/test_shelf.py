"""A store asked through its index says what reading all of it says."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ai_kb import consulted, corpus, searching, shelf
from ai_kb.capsule import KINDS, SCOPES
from ai_kb.held import Held, digits_of
from ai_kb.hn import cache_records
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.policy import TRUST_CLASSES
from ai_kb.hn.projection import LIFECYCLES
from ai_kb.shelf import Shelf
from ai_kb.stores import HOME, REPO, Store
from tests.hn import scratch
from tests.hn.conftest import Person
from tests.hn.fixture_repos import git
from tests.hn.scratch import History
from tests.hn.stream_maker import Maker

SEEDS = range(int(os.environ.get("HN_HISTORIES", "3")))
TOPICS = (
    "by/agent", "domain/git", "kind/decision", "kind/fact", "kind/gotcha", "kind/rumour", "scope/domain",
    "scope/nowhere", "scope/project", "scope/universal", "scope/workspace", "ß",
)  # fmt: skip


HEAVY = (
    "dataclasses", "filelock", "git", "hashlib", "nacl", "numpy", "orjson", "rank_bm25", "sqlite3.dbapi2",
    "subprocess", "tempfile",
)  # fmt: skip


def people() -> list[Person]:
    return [Person("Alice", 0x00), Person("Bob", 0x20)]


class Rich(History):
    """Histories whose records have the topics of capsules."""

    def record(self) -> dict[str, Any]:
        topics = sorted(set(self.rng.choices(TOPICS, k=self.rng.randint(0, 5))), key=str.encode)
        return {**super().record(), "topics": topics}


def ids(held: Iterable[Held]) -> list[str]:
    return [h.row.id for h in held]


def plain(held: Iterable[Held]) -> list[tuple[object, ...]]:
    return [(h.store, h.row, h.changed, h.capsule.title, h.capsule.kind, h.capsule.scope) for h in held]


def compare(asked: Shelf, held: list[Held], rng: random.Random) -> None:
    """Everything that a shelf can be asked against ``held``, which is everything that there is."""

    def these(members: int) -> list[str]:
        return sorted(asked.ids(members))

    assert these(asked.everything()) == sorted(ids(held))
    for kind in KINDS:
        assert these(asked.kind(kind)) == sorted(ids(h for h in held if h.capsule.kind == kind)), kind
    for scope in SCOPES:
        assert these(asked.scope(scope)) == sorted(ids(h for h in held if h.capsule.scope == scope)), scope
    for lifecycle in LIFECYCLES:
        assert these(asked.lifecycle(lifecycle)) == sorted(
            ids(h for h in held if h.row.lifecycle == lifecycle)
        )
    for trust in TRUST_CLASSES:
        assert these(asked.index.trusted_as(trust)) == sorted(ids(h for h in held if h.row.trust == trust))
    for topic in (*TOPICS, "nowhere", "x" * 200, "\ud800"):
        assert these(asked.topic(topic)) == sorted(ids(h for h in held if topic in h.row.data.topics))
    left_out = {name: these(members) for name, members in asked.left_out().items()}
    assert left_out == {
        reason: sorted(ids(h for h in held if h.left_out == reason))
        for reason in {h.left_out for h in held} - {""}
    }
    assert these(asked.index.gate()) == sorted(ids(h for h in held if not h.left_out))
    assert these(asked.changed()) == sorted(ids(h for h in held if h.changed))
    approved = {h.row.id for h in held if rng.random() < 0.3} | {"no id", "sha256:" + "0" * 64}
    waiting = sorted(ids(h for h in held if h.needs_approval and h.row.id not in approved))
    assert these(asked.waiting(approved)) == waiting
    assert these(asked.numbers(approved)) == sorted(approved.intersection(ids(held)))
    for limit in (1, 5, len(held) + 1):
        assert plain(asked.newest(asked.everything(), limit)) == plain(held[:limit])
    some = asked.lifecycle("active") & asked.topic("ß")
    assert plain(asked.newest(some, 3)) == plain([h for h in held if h.row.id in these(some)][:3])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [REPO, HOME])
def test_after_any_history_it_answers_as_reading_everything_does(
    seed: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "_FEW", 7)  # so that both ways are gone
    history = Rich(tmp_path / "work", people(), 6000 + seed)
    store = Store(name, history.repo)
    seen: Counter[str] = Counter()
    for number in range(40):
        history.step()
        if number % 13 == 12:
            held = corpus.read_store(store).held
            shelf.ask(store, lambda asked, held=held: compare(asked, held, history.rng))  # type: ignore[misc]
            seen.update(h.left_out for h in held)
    assert len(seen) > 2


def test_before_the_first_commit_it_holds_what_there_is_and_recalls_nothing(tmp_path: Path) -> None:
    history = Rich(tmp_path / "work", people(), 3)
    for _ in range(12):
        history.memory()
    empty = tmp_path / "empty"
    git(tmp_path, "init", "-q", "-b", "main", str(empty))
    store = Store(REPO, Repository.open(str(empty), os.environ))
    for refs in ("refs/hn/memory/*:refs/hn/memory/*", "refs/heads/*:refs/remotes/x/*"):
        git(empty, "fetch", "-q", str(history.directory), refs)
        held = corpus.read_store(store).held
        assert {h.left_out for h in held} >= {"policy-missing"}
        found = searching.find(
            "alpha", str(empty), os.environ, only=REPO, untrusted=True, every_lifecycle=True
        )
        assert found == []
        shelf.ask(store, lambda asked, held=held: compare(asked, held, history.rng))  # type: ignore[misc]


@pytest.mark.parametrize("depth", ["1", "3"])
def test_in_a_shallow_clone_it_says_of_what_nobody_can_know(depth: str, tmp_path: Path) -> None:
    history = Rich(tmp_path / "work", people(), 11)
    for _ in range(12):
        history.memory()
        history.commit()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", depth, f"file://{history.directory}", str(clone))
    git(clone, "fetch", "-q", "origin", "refs/hn/memory/*:refs/hn/memory/*")
    # Anchors that are here, beyond where history is cut off.
    older = git(history.directory, "rev-list", "--max-count=1", "--skip=8", "main")
    git(clone, "fetch", "-q", "--depth", "1", "origin", older)
    store = Store(REPO, Repository.open(str(clone), os.environ))
    held = corpus.read_store(store).held
    assert "anchor-missing" in {h.left_out for h in held}
    shelf.ask(store, lambda asked: compare(asked, held, history.rng))


def test_a_memory_is_named_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    history = Rich(tmp_path / "work", people(), 12)
    for _ in range(16):
        history.memory()
    store = Store(REPO, history.repo)
    memories = corpus.read_store(store).collection.memories

    def check(asked: Shelf) -> None:
        for memory_id, memory in memories.items():
            assert asked.starting(digits_of(memory_id[:17].upper())) == {memory_id: memory}
        assert asked.starting("") == asked.starting("0" * 64) == {}

    shelf.ask(store, check)
    answer = consulted.consult(store, [*memories, "abc", "\ud800"], "no", "thing")
    assert answer.named == memories
    for memory_id, memory in memories.items():
        assert (answer.capsule(memory_id) is None) == (memory.envelope.record is None)
    assert answer.capsule("sha256:" + "0" * 64) is None


def test_what_is_asked_reads_what_it_shows_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "work"
    git(tmp_path, "init", "-q", "-b", "main", str(directory))
    git(directory, "commit", "-q", "--allow-empty", "-m", "first")
    maker = Maker(directory, people()[0])
    maker.anchor = git(directory, "rev-parse", "HEAD")
    store = Store(REPO, Repository.open(str(directory), os.environ))
    reads: list[object] = []
    read = cache_records.read

    def counting(row: Any) -> Any:
        reads.append(row)
        return read(row)

    def everything(asked: Shelf) -> tuple[int, ...]:
        asked.index.gate()
        for ask in (asked.left_out, asked.changed, lambda: asked.waiting(()), asked.everything):
            assert isinstance(ask(), dict | int)
        counted = len(reads)
        asked.newest(asked.everything(), 10)
        shown = len(reads)
        asked.starting(maker.previous[7:17])
        return counted, shown, len(reads)

    monkeypatch.setattr(cache_records, "read", counting)
    counts = []
    for more in (40, 400):
        maker.bulk(more)
        shelf.ask(store, lambda _: None)
        reads.clear()
        counts.append(shelf.ask(store, everything))
    assert counts[0] == counts[1] == (0, 10, 11)


def test_commands_that_read_import_no_library_that_they_do_not_use(tmp_path: Path) -> None:
    directory = tmp_path / "work"
    git(tmp_path, "init", "-q", "-b", "main", str(directory))
    git(directory, "commit", "-q", "--allow-empty", "-m", "first")
    maker = Maker(directory, people()[0])
    maker.anchor = git(directory, "rev-parse", "HEAD")
    maker.bulk(2)
    worklog = tmp_path / "x.worklog.jsonl"
    note = {"event": "note", "note_kind": "gotcha", "topic": "x", "text": "One thing that is so\nand why"}
    worklog.write_text(json.dumps(note) + "\n")
    code = (
        "import json, sys\n"
        "from ai_kb import cli\n"
        "from ai_kb.hn import cli as hn\n"
        "for name, words in json.loads(sys.argv[1]):\n"
        "    assert {'kb': cli, 'hn': hn}[name].main(words) == 0, words\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    lines = [
        ("kb", ["list"]),
        ("kb", ["status"]),
        ("kb", ["remember", "--dry-run", "--title", "Some title", "--body", "some body"]),
        ("kb", ["harvest", "--worklog", str(worklog)]),
        ("kb", ["show", maker.previous]),
        ("hn", ["memory", "show", maker.previous]),
    ]
    # What is new is verified by the first; the second finds everything current.
    for expected in (None, "[]"):
        done = subprocess.run(
            [sys.executable, "-c", code, json.dumps(lines)], cwd=directory, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(Path(shelf.__file__).parents[1])}, check=True,
        )  # fmt: skip
        assert expected is None or done.stderr.splitlines()[-1] == expected
    assert "gotcha" in done.stdout


def test_the_records_of_these_histories_are_rich(tmp_path: Path) -> None:
    assert scratch.TOPICS != TOPICS
    history = Rich(tmp_path / "work", people(), 1)
    assert {topic for _ in range(40) for topic in history.record()["topics"]} == set(TOPICS)
