"""Damage that SQLite does not notice: values that were never written change nothing but time either."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from agent_base.cli import string_console
from ai_kb import cli as kb
from ai_kb.hn import cli as hn
from ai_kb.hn import prefixes
from ai_kb.hn.cache_file import index_path, is_damage, twice
from ai_kb.hn.streams import collect
from tests.kb.kbworld import NOW, World

DAMAGES = [
    "UPDATE memory SET timestamp = CAST(x'ff80' AS TEXT)",
    "UPDATE memory SET lifecycle = x'00'",
    "UPDATE memory SET id = number",
    "UPDATE memory SET sid = sid + 1000",
    "UPDATE payload SET data = 'text'",
    "UPDATE payload SET data = x'00'",
    "DELETE FROM payload",
    "UPDATE flag SET bits = 'text'",
    "UPDATE flag SET bits = x'ff'",
    "UPDATE flag SET block = -3",
    "UPDATE posting SET bits = x'010203'",
    "UPDATE posting SET bits = 7",
    "UPDATE state SET next = -5",
    "DELETE FROM state",
    "UPDATE context SET policy = 'nothing'",
    "UPDATE policy SET actors = 3, kinds = x'ff'",
    "DELETE FROM policy",
    "UPDATE source SET sid = 'text'",
    "UPDATE entry SET oid = number",
]


@pytest.fixture
def world(repository: Path, isolated: dict[str, str]) -> World:
    world = World(repository, isolated)
    world.trust_this_clone()
    for number in range(3):
        world.remember(f"Thing {number} of retries", f"What is said of number {number}.", store="home")
        world.remember(f"Part {number} of sockets", f"Something to read about {number}.", store="repo")
    return world


Main = Callable[..., int]


def run(world: World, main: Main, *argv: str) -> tuple[int, str, str]:
    console = string_console(world.env, now=lambda: NOW, cwd=str(world.workspace))
    status = main(list(argv), console)
    return status, console.stdout.getvalue(), console.stderr.getvalue()  # type: ignore[attr-defined]


def questions(world: World) -> list[tuple[int, str, str]]:
    """What every way of asking says."""
    return [
        run(world, kb.main, "search", "retries and sockets", "--json"),
        run(world, kb.main, "recall", "--json"),
        run(world, kb.main, "grep", "--json", "of"),
        run(world, hn.main, "memory", "recall", "--query", "sockets", "--json"),
        run(world, hn.main, "memory", "index", "rebuild"),
    ]


def damage(path: str, statement: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = 1")
    connection.execute(statement)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


@pytest.mark.parametrize("statement", DAMAGES)
def test_every_question_is_answered_as_before(world: World, statement: str) -> None:
    before = questions(world)
    paths = [index_path(s.repo.common_dir, world.env, None) for s in (world.home(), world.repo())]
    for number, expected in enumerate(before):
        for path in paths:
            damage(path, statement)
        found = questions(world)[number]
        assert "internal error" not in found[1] + found[2], found
        assert found[0] == expected[0], found


def test_what_cannot_be_read_is_made_again_in_both_stores_at_once(world: World) -> None:
    before = questions(world)
    for store in (world.home(), world.repo()):
        damage(index_path(store.repo.common_dir, world.env, None), "UPDATE payload SET data = 'text'")
    assert questions(world) == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE member SET commit_id = sequence",
        "UPDATE member SET payload = NULL",
        "UPDATE member SET memory = 7",
        "UPDATE stream SET actor = CAST(x'ff80' AS TEXT)",
        "DROP TABLE stream",
    ],
)
def test_damaged_prefixes_are_thrown_away(world: World, statement: str) -> None:
    expected = run(world, kb.main, "list", "--json")
    for store in (world.home(), world.repo()):
        damage(prefixes.cache_path(store.repo), statement)
    assert run(world, kb.main, "list", "--json") == expected
    assert world.remember("One more", "Something that was not said before.")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE member SET sequence = sequence + 1 WHERE sequence = (SELECT max(sequence) FROM member)",
        "UPDATE member SET memory = (SELECT memory FROM member WHERE sequence = 1) WHERE sequence = 3",
        "UPDATE member SET commit_id = zeroblob(20) WHERE sequence = 2",
        "UPDATE stream SET id = 'sha256:' || hex(zeroblob(32))",
        "DELETE FROM member WHERE sequence = 2",
    ],
)
def test_nothing_is_signed_upon_a_remembered_place_that_is_wrong(world: World, statement: str) -> None:
    for store in (world.home(), world.repo()):
        damage(prefixes.cache_path(store.repo), statement)
        world.remember(f"After damage in {store.name}", f"Said to the {store.name} store.", store=store.name)
        assert run(world, hn.main, "memory", "recall", "--json")[0] == 0
        with store.repo.objects() as reader:
            held = collect(store.repo, reader)  # from nothing: raises for a stream with a gap
        assert len(held.memories) == 4


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memory SET sequence = sequence + 1",
        "UPDATE stream SET actor = stream",
        "UPDATE stream SET stream = 'sha256:' || hex(zeroblob(32))",
    ],
)
def test_nothing_is_verified_upon_an_indexed_place_that_is_wrong(world: World, statement: str) -> None:
    run(world, hn.main, "memory", "recall")
    damage(index_path(world.repo().repo.common_dir, world.env, None), statement)
    new = run(
        world, hn.main, "memory", "record", "--kind", "decision", "--at", "HEAD", "--applies", "descendants",
        "--content", "after the damage",
    )  # fmt: skip
    assert new[0] == 0
    status, out, err = run(world, hn.main, "memory", "recall", "--query", "damage", "--json")
    assert (status, err) == (0, "")
    assert '"matched":1' in out


def test_what_a_file_made_anew_does_not_mend_is_an_error() -> None:
    made: list[str] = []

    def work() -> None:
        raise TypeError("a defect")

    with pytest.raises(TypeError):
        twice(work, lambda: made.append("again"))
    assert made == ["again"]


def test_a_lock_is_no_damage_and_text_that_is_none_is() -> None:
    with closing(sqlite3.connect(":memory:")) as conn, pytest.raises(sqlite3.OperationalError) as found:
        conn.execute("SELECT CAST(x'ff80' AS TEXT)").fetchone()
    assert is_damage(found.value)
    assert not is_damage(OSError("the disk"))
    assert not is_damage(KeyboardInterrupt())
