"""Chains of collaboration events travel like streams, so that evidence resolves in another clone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hn.fixture_repos import restore
from tests.replication.people import ALICE, BOB, STREAMS, Chain
from tests.replication.world import World, all_refs, git, hn, record, statuses, sync


def accepted_chain(actor: str) -> str:
    return f"refs/hn/remotes/origin/actors/{actor}"


def evidence_of(clone: Path, memory: str) -> str:
    shown = json.loads(hn(clone, "memory", "show", memory, "--json").stdout)
    return str(shown["projection"]["evidence"])


def test_evidence_of_an_event_resolves_where_its_chain_was_selected(world: World) -> None:
    alice, bob = world.clone("alice"), world.clone("bob")
    event = Chain(alice).add("issue.open", title="a bug")
    memory = record(alice, "fixed", "--evidence", f"event:{event}")
    published = {p["kind"]: p["status"] for p in sync(alice)["publications"]}
    assert published == {"memory": "published", "actor": "published"}
    stream = STREAMS["alice"]
    assert hn(bob, "replication", "select", "--memory", stream).exit == 0
    refused = sync(bob, ok=False)["outcomes"][0]
    assert (refused["status"], refused["dependencyKind"]) == ("dependency-missing", "evidence-event")
    assert hn(bob, "replication", "select", "--memory", stream, "--actor", ALICE.actor).exit == 0
    result = sync(bob)
    assert statuses(result) == {ALICE.actor: "promoted", stream: "promoted"}
    assert result["events"] == 1
    assert hn(bob, "sync").stdout.endswith(
        "Synchronized 1 verified events with origin; promoted 2 selections\n"
    )
    assert evidence_of(bob, memory) == "resolved"


def test_the_recorded_repository_reaches_another_clone_with_its_chain(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    git(work, "remote", "add", "origin", str(remote))
    git(work, "push", "-q", "origin", "--all")
    done = hn(work, "sync")
    assert "Publication" not in done.stdout
    assert set(all_refs(work, "refs/hn/actors")) <= set(all_refs(remote))
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(remote), str(other))
    result = json.loads(hn(other, "sync", "--json").stdout)
    assert result["events"] == 1
    assert all_refs(other)[accepted_chain(ALICE.actor)] == all_refs(work)[f"refs/hn/actors/{ALICE.actor}"]


def test_a_growing_chain_comes_in_piece_by_piece(world: World) -> None:
    chain = Chain(world.remote)
    chain.add()
    bob = world.clone("bob")
    assert sync(bob)["events"] == 1
    for number in range(2, 5):
        chain.add()
        result = sync(bob)
        assert result["events"] == number
        measured = result["outcomes"][0]["measurements"]
        assert (measured["Events"], measured["Objects"]) == (number, 4)
    assert all_refs(bob)[accepted_chain(ALICE.actor)] == chain.head


@pytest.mark.parametrize(
    "broken",
    [
        {"sequence": 7},
        {"actor": BOB.actor},
        {"kind": "unknown.kind"},
        {"timestamp": "yesterday"},
        {"protocol": "hn/1"},
        {"previous": "sha256:" + "0" * 64},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_a_chain_that_breaks_a_rule_anywhere_is_refused_whole(
    world: World, broken: dict[str, object]
) -> None:
    chain = Chain(world.remote)
    chain.add()
    chain.add(**broken)
    other = Chain(world.remote, BOB)
    other.add()
    carol = world.clone("carol")
    result = sync(carol, ok=False)
    assert statuses(result) == {ALICE.actor: "structurally-invalid", BOB.actor: "promoted"}
    refused = next(o for o in result["outcomes"] if o["id"] == ALICE.actor)
    assert "event 2 of the chain" in refused["diagnostic"]
    assert list(all_refs(carol, "refs/hn")) == [accepted_chain(BOB.actor)]


def test_a_log_belongs_to_results_of_runs_alone(world: World) -> None:
    chain = Chain(world.remote)
    chain.add("run.result", log=b"passed\n")
    chain.add("issue.comment", log=b"not here")
    bob = world.clone("bob")
    assert statuses(sync(bob, ok=False)) == {ALICE.actor: "structurally-invalid"}
    git(world.remote, "update-ref", chain.ref, f"{chain.head}~1")
    assert statuses(sync(bob)) == {ALICE.actor: "promoted"}


def test_a_rewound_chain_is_refused(world: World) -> None:
    chain = Chain(world.remote)
    chain.add()
    chain.add()
    bob = world.clone("bob")
    sync(bob)
    git(world.remote, "update-ref", chain.ref, f"{chain.head}~1")
    refused = sync(bob, ok=False)["outcomes"][0]
    assert (refused["status"], refused["detail"]) == ("structurally-invalid", "rewound")
    assert all_refs(bob)[accepted_chain(ALICE.actor)] == chain.head


def test_a_stream_fails_with_the_chain_that_it_cites(world: World) -> None:
    alice = world.clone("alice")
    chain = Chain(alice)
    event = chain.add("issue.open")
    record(alice, "fixed", "--evidence", f"event:{event}")
    sync(alice)
    broken = Chain(world.remote)
    broken.ids, broken.head = chain.ids, chain.head
    broken.add(kind="unknown.kind")
    bob = world.clone("bob")
    result = sync(bob, ok=False)
    assert statuses(result) == {ALICE.actor: "structurally-invalid", STREAMS["alice"]: "dependency-missing"}
    assert all_refs(bob, "refs/hn") == {}


def test_proposals_are_kept_shown_and_reported_as_not_supported(world: World) -> None:
    alice, bob = world.clone("alice"), world.clone("bob")
    proposal = Chain(alice).add("proposal.open")
    record(alice, "one")
    sync(alice)
    words = ("--proposal", proposal, "--memory", STREAMS["alice"])
    shown = hn(bob, "replication", "select", *words)
    assert f"proposal: {proposal}\n" in shown.stdout
    assert f"proposal: {proposal}\n" in hn(bob, "replication", "show").stdout
    result = sync(bob, ok=False)
    assert statuses(result)[STREAMS["alice"]] == "promoted"
    refused = next(o for o in result["outcomes"] if o["kind"] == "proposal")
    assert refused["detail"] == "not-supported"
    assert "not supported" in refused["diagnostic"]
    assert "not supported" in hn(bob, "sync").stderr


def test_all_discovers_memory_and_actors(world: World) -> None:
    alice = world.clone("alice")
    Chain(alice).add()
    record(alice, "one")
    sync(alice)
    bob = world.clone("bob")
    assert hn(bob, "replication", "select", "--all").exit == 0
    assert {o["kind"] for o in sync(bob)["outcomes"]} == {"actor", "memory"}


def test_a_broken_local_chain_is_not_published(world: World) -> None:
    alice = world.clone("alice")
    Chain(alice).add(kind="unknown.kind")
    done = hn(alice, "sync")
    assert done.exit == 1
    assert "an event of the chain breaks a rule" in done.stderr
    assert all_refs(world.remote, "refs/hn") == {}
