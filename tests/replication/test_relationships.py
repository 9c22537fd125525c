"""What a stream refers to must be there and may not be contradicted; failures spread to dependents only."""

from __future__ import annotations

from pathlib import Path

import pytest

from ai_kb.hn.envelope import memory_id
from tests.hn.stream_maker import Maker
from tests.replication.people import ALICE, BOB, STREAMS, maker, stream
from tests.replication.world import World, all_refs, git, hn, record, select, statuses, sync


def add_record(made: Maker, *evidence: str, **anchor: object) -> str:
    """Append a record with this evidence; its id."""
    content = f"record {made.sequence + 1} of {made.stream[7:15]}"
    value = {
        "kind": "observation",
        "content": content,
        "anchor": {"commit": made.anchor, **anchor},
        "applicability": {"mode": "descendants"},
        "topics": [],
        "evidence": list(evidence),
    }
    payload = made.payload(record=value)
    made.place(made.tree(payload, made.signature(payload)), payload)
    return memory_id(payload)


def add_edge(made: Maker, operation: str, target: str, *evidence: str) -> str:
    """Append a retract or challenge; its id."""
    more = {"evidence": list(evidence)} if evidence else {}
    payload = made.payload(operation=operation, record=..., target=target, reason="incorrect", **more)
    made.place(made.tree(payload, made.signature(payload)), payload)
    return memory_id(payload)


def test_a_chain_of_dependents_fails_with_its_first_link_and_no_other(world: World) -> None:
    links = [maker(world.remote, number=number) for number in range(6)]
    first = add_record(links[0], "git:" + "9" * 40)
    for made in links[1:]:
        first = add_record(made, f"memory:{first}")
    other = maker(world.remote, BOB)
    add_record(other)
    carol = world.clone("carol")
    found = statuses(sync(carol, ok=False))
    assert {found[stream(number)] for number in range(6)} == {"dependency-missing"}
    assert found[STREAMS["bob"]] == "promoted"
    assert len(all_refs(carol, "refs/hn")) == 1


def test_streams_that_need_each_other_come_in_together_or_not_at_all(world: World) -> None:
    left, right = maker(world.remote, ALICE), maker(world.remote, BOB)
    first = add_record(left)
    second = add_record(right, f"memory:{first}")
    add_record(left, f"memory:{second}")
    carol = world.clone("carol")
    for alone in ("alice", "bob"):
        select(carol, alone)
        assert set(statuses(sync(carol, ok=False)).values()) == {"dependency-missing"}
        assert all_refs(carol, "refs/hn") == {}
    select(carol, "alice", "bob")
    assert set(statuses(sync(carol)).values()) == {"promoted"}


def test_what_was_accepted_before_supplies_what_comes_later(world: World) -> None:
    left = maker(world.remote, ALICE)
    first = add_record(left)
    carol = world.clone("carol")
    select(carol, "alice")
    sync(carol)
    right = maker(world.remote, BOB)
    add_record(right, f"memory:{first}")
    add_edge(right, "challenge", first)
    select(carol, "bob")
    assert statuses(sync(carol)) == {STREAMS["bob"]: "promoted"}


@pytest.mark.parametrize("cached", [True, False], ids=["remembered", "forgotten"])
def test_a_local_memory_supplies_too(world: World, cached: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    carol = world.clone("carol")
    own = record(carol, "mine")
    made = maker(world.remote, BOB)
    add_edge(made, "challenge", own)
    if not cached:
        monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert statuses(sync(carol)) == {STREAMS["bob"]: "promoted"}


def test_evidence_of_the_streams_own_objects_resolves(world: World) -> None:
    made = maker(world.remote)
    add_record(made)
    add_record(made, f"git:{made.head}")
    assert statuses(sync(world.clone("bob"))) == {STREAMS["alice"]: "promoted"}


def test_objects_of_a_refused_stream_supply_nothing(world: World) -> None:
    bad = maker(world.remote, number=1)
    add_record(bad, "git:" + "9" * 40)
    made = maker(world.remote, BOB)
    add_record(made, f"git:{bad.head}")
    bob = world.clone("carol")
    found = sync(bob, ok=False)
    assert set(statuses(found).values()) == {"dependency-missing"}
    assert git_has(bob, str(bad.head)) is False


def git_has(clone: Path, oid: str) -> bool:
    answer = git(clone, "cat-file", "--batch-check", stdin=f"{oid}\n".encode())
    return not answer.endswith("missing")


def test_a_contradiction_is_told_before_what_is_missing(world: World) -> None:
    made = maker(world.remote, BOB)
    add_record(made, "git:" + "9" * 40)
    challenge = add_edge(made, "challenge", "sha256:" + "1" * 64)
    add_edge(made, "challenge", challenge)
    result = sync(world.clone("carol"), ok=False)
    assert result["outcomes"][0]["status"] == "relationship-invalid"
    assert result["outcomes"][0]["detail"] == "wrong-target-kind"


def test_an_absent_path_and_its_blob_are_checked_at_the_anchor(world: World) -> None:
    readme = git(world.remote, "rev-parse", "main:README.md")
    for number, (path, blob, wanted) in enumerate(
        [
            ("README.md", readme, "promoted"),
            ("nowhere.txt", "absent", "promoted"),
            ("README.md", "absent", "relationship-invalid"),
            (":/README.md", readme, "relationship-invalid"),
            ("nowhere.txt", readme, "relationship-invalid"),
        ]
    ):
        add_record(maker(world.remote, number=number), paths=[{"path": path, "blob": blob}])
        found = sync(world.clone(f"clone{number}", "bob"), ok=wanted == "promoted" and number < 2)
        assert statuses(found)[stream(number)] == wanted


def test_an_invalid_local_stream_keeps_nothing_out_that_does_not_need_it(world: World) -> None:
    first = maker(world.remote, BOB)
    target = add_record(first)
    carol = world.clone("carol")
    git(carol, "update-ref", "refs/hn/memory/x/y", "HEAD")
    second = maker(world.remote, ALICE)
    add_edge(second, "challenge", "sha256:" + "1" * 64)
    result = sync(carol, ok=False)
    assert statuses(result) == {STREAMS["bob"]: "promoted", STREAMS["alice"]: "relationship-invalid"}
    assert "cannot inspect accepted memory projection" in next(
        o["diagnostic"] for o in result["outcomes"] if o["id"] == STREAMS["alice"]
    )
    assert target


def test_one_key_on_two_machines_that_forked_is_read_from_both(world: World) -> None:
    """The same actor's stream in two versions, accepted from two remotes: both verify, both supply."""
    second = world.base / "second.git"
    git(world.base, "clone", "-q", "--bare", str(world.remote), str(second))
    left, right = maker(world.remote), maker(second)
    one = add_record(left)
    right.add(timestamp="2026-08-30T12:34:57Z")
    two = right.previous
    carol = world.clone("carol")
    git(carol, "remote", "add", "second", str(second))
    sync(carol)
    sync(carol, "second")
    made = maker(world.remote, BOB)
    add_edge(made, "challenge", one)
    add_edge(made, "challenge", two)
    assert statuses(sync(carol))[STREAMS["bob"]] == "promoted"


def test_a_dependency_in_an_unselected_stream_of_the_actor_names_the_command(world: World) -> None:
    supplier = maker(world.remote, number=1)
    target = add_record(supplier)
    add_edge(maker(world.remote), "retract", target)
    bob = world.clone("bob")
    select(bob, "alice")
    refused = sync(bob, ok=False)["outcomes"][0]
    assert refused["requiredSelectors"] == [f"memory:{stream(1)}"]
    assert f"hn replication select origin --memory {stream(1)}" in refused["recovery"]
    words = [word for s in (STREAMS["alice"], stream(1)) for word in ("--memory", s)]
    assert hn(bob, "replication", "select", *words).exit == 0
    assert set(statuses(sync(bob)).values()) == {"promoted"}
