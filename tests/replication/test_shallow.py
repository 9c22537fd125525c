"""Streams that a shallow boundary cuts fail closed, are recorded, and are recovered exactly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.replication.people import ALICE, BOB, CAROL, STREAMS, Chain, accepted, maker
from tests.replication.world import World, all_refs, git, hn, recalled, select, statuses, sync


@pytest.fixture
def cut(world: World) -> Path:
    """A shallow clone whose accepted streams (Alice's and Bob's) end at a boundary."""
    for person in (ALICE, BOB):
        maker(world.remote, person).bulk(5)
    clone = world.clone("carol", None, f"file://{world.remote}", "--depth=1")
    git(clone, "fetch", "-q", "--depth=2", "origin", "+refs/hn/memory/*:refs/hn/remotes/origin/memory/*")
    return clone


def boundary(clone: Path) -> set[str]:
    path = clone / ".git" / "shallow"
    return set(path.read_text().split()) if path.exists() else set()


def test_a_cut_stream_fails_closed_and_the_gap_is_recorded(world: World, cut: Path) -> None:
    recall = hn(cut, "memory", "recall", "--include-untrusted")
    assert recall.exit == 1
    assert "--recover-shallow" in recall.stderr
    select(cut, "alice")
    refused = sync(cut, ok=False)["outcomes"][0]
    assert (refused["status"], refused["detail"]) == ("dependency-missing", "shallow-cut")
    assert "hn sync origin --recover-shallow" in refused["recovery"]
    gaps = json.loads((cut / ".git" / "hn" / "shallow-gap.json").read_text())["gaps"]
    assert [(gap["remote"], gap["kind"], gap["id"]) for gap in gaps] == [
        ("origin", "memory", STREAMS["alice"])
    ]
    assert gaps[0]["commit"] in boundary(cut)


def test_recovery_fetches_just_the_recorded_stream_and_leaves_other_boundaries(
    world: World, cut: Path
) -> None:
    select(cut, "alice", "bob")
    sync(cut, ok=False)
    before = boundary(cut)
    select(cut, "alice")
    sync(cut, ok=False)
    result = sync(cut, "--recover-shallow")
    assert statuses(result) == {STREAMS["alice"]: "promoted"}
    assert result["publications"] == []
    gone = before - boundary(cut)
    assert len(gone) == 1
    assert git(cut, "rev-list", "--count", accepted("alice")) == "5"
    assert git(cut, "rev-list", "--count", accepted("bob")) == "2"
    assert git(cut, "rev-list", "--count", "HEAD") == "1"
    assert not (cut / ".git" / "hn" / "shallow-gap.json").exists()
    select(cut, "alice", "bob")
    assert statuses(sync(cut, ok=False)) == {
        STREAMS["alice"]: "promoted",
        STREAMS["bob"]: "dependency-missing",
    }
    assert statuses(sync(cut, "--recover-shallow")) == {STREAMS["bob"]: "promoted"}
    assert len(recalled(cut)) == 5
    assert git(cut, "fsck", "--connectivity-only", "--no-dangling") == ""


def test_recovery_takes_in_what_the_stream_gained_meanwhile(world: World, cut: Path) -> None:
    select(cut, "alice")
    sync(cut, ok=False)
    made = maker(world.remote, ALICE)
    made.bulk(0)
    git(cut, "config", "user.name", "x")
    assert statuses(sync(cut, "--recover-shallow")) == {STREAMS["alice"]: "promoted"}
    head = all_refs(cut)[accepted("alice")]
    assert head == all_refs(world.remote)[f"refs/hn/memory/{ALICE.actor}/{STREAMS['alice'][7:]}"]


def test_recovery_says_what_it_lacks(world: World, cut: Path) -> None:
    whole = world.clone("whole", "bob")
    refused = hn(whole, "sync", "--recover-shallow")
    assert (refused.exit, refused.stderr) == (
        1,
        "hn: selected shallow recovery requires a shallow repository\n",
    )
    no_selection = hn(cut, "sync", "--recover-shallow")
    assert no_selection.exit == 1
    assert "requires a saved exact selection" in no_selection.stderr
    assert hn(cut, "replication", "select", "--all").exit == 0
    assert "requires a saved exact selection" in hn(cut, "sync", "--recover-shallow").stderr
    select(cut, "alice")
    nothing = hn(cut, "sync", "--recover-shallow")
    assert nothing.exit == 1
    assert "no shallow gap was recorded for remote origin" in nothing.stderr
    sync(cut, ok=False)
    select(cut, "bob")
    outside = hn(cut, "sync", "--recover-shallow")
    assert outside.exit == 1
    assert "outside its saved selection" in outside.stderr


def test_a_damaged_record_of_gaps_is_refused_and_made_anew_by_a_sync(world: World, cut: Path) -> None:
    select(cut, "alice")
    sync(cut, ok=False)
    path = cut / ".git" / "hn" / "shallow-gap.json"
    for damage in ("{", '{"version": 2}', '{"version": 1, "gaps": [{}]}'):
        path.write_text(damage)
        refused = hn(cut, "sync", "--recover-shallow")
        assert refused.exit == 1
        assert "damaged" in refused.stderr
    sync(cut, ok=False)
    assert statuses(sync(cut, "--recover-shallow")) == {STREAMS["alice"]: "promoted"}


def test_a_shallow_clone_without_cut_streams_synchronizes_as_any_other(world: World) -> None:
    made = maker(world.remote)
    made.bulk(3)
    clone = world.clone("carol", None, f"file://{world.remote}", "--depth=1")
    assert statuses(sync(clone)) == {STREAMS["alice"]: "promoted"}
    made.add()
    result = sync(clone)
    assert statuses(result) == {STREAMS["alice"]: "promoted"}
    assert result["outcomes"][0]["measurements"]["Objects"] == 4
    assert len(recalled(clone)) == 4


def test_an_anchor_beyond_the_boundary_of_the_code_is_a_missing_dependency(world: World) -> None:
    work = world.clone("alice")
    old = git(work, "rev-parse", "HEAD")
    git(work, "commit", "-q", "--allow-empty", "-m", "more")
    git(work, "push", "-q", "origin", "main")
    made = maker(world.remote)
    made.anchor = old
    made.add()
    clone = world.clone("carol", None, f"file://{world.remote}", "--depth=1")
    refused = sync(clone, ok=False)["outcomes"][0]
    assert (refused["status"], refused["dependencyKind"], refused["missingId"]) == (
        "dependency-missing",
        "anchor-commit",
        old,
    )


def test_a_remote_that_is_itself_cut_is_reported_as_that(world: World) -> None:
    maker(world.remote).bulk(4)
    maker(world.remote, BOB).bulk(1)
    half = world.base / "half.git"
    git(world.base, "init", "-q", "--bare", str(half))
    git(half, "fetch", "-q", "--depth=2", f"file://{world.remote}", "+refs/*:refs/*")
    clone = world.clone("carol")
    git(clone, "remote", "set-url", "origin", f"file://{half}")
    result = sync(clone, ok=False)
    assert statuses(result) == {STREAMS["alice"]: "dependency-missing", STREAMS["bob"]: "promoted"}
    refused = next(o for o in result["outcomes"] if o["id"] == STREAMS["alice"])
    assert refused["detail"] == "shallow-cut"
    assert "on remote origin" in refused["diagnostic"]
    git(clone, "remote", "set-url", "origin", str(world.remote))
    assert set(statuses(sync(clone)).values()) == {"promoted"}
    assert not (clone / ".git" / "hn" / "shallow-gap.json").exists()


def test_a_cut_chain_of_events_is_recovered_too(world: World) -> None:
    chain = Chain(world.remote, CAROL)
    for _ in range(4):
        chain.add()
    clone = world.clone("alice", None, f"file://{world.remote}", "--depth=1")
    ref = f"refs/hn/remotes/origin/actors/{CAROL.actor}"
    git(clone, "fetch", "-q", "--depth=2", "origin", f"+{chain.ref}:{ref}")
    assert hn(clone, "replication", "select", "--actor", CAROL.actor).exit == 0
    assert statuses(sync(clone, ok=False)) == {CAROL.actor: "dependency-missing"}
    result = sync(clone, "--recover-shallow")
    assert statuses(result) == {CAROL.actor: "promoted"}
    assert git(clone, "rev-list", "--count", ref) == "4"


def test_a_local_stream_that_is_cut_is_recovered_from_its_remote(world: World) -> None:
    maker(world.remote).bulk(5)
    clone = world.clone("alice", None, f"file://{world.remote}", "--depth=1")
    ref = f"refs/hn/memory/{ALICE.actor}/{STREAMS['alice'][7:]}"
    git(clone, "fetch", "-q", "--depth=2", "origin", f"+{ref}:{ref}")
    select(clone, "alice")
    assert statuses(sync(clone, ok=False)) == {STREAMS["alice"]: "dependency-missing"}
    assert statuses(sync(clone, "--recover-shallow")) == {STREAMS["alice"]: "promoted"}
    assert git(clone, "rev-list", "--count", ref) == "5"
    assert len(recalled(clone)) == 5
