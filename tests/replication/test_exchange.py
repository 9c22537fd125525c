"""What two and three clones exchange, and what they never do."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from ai_kb.hn.replication.quarantine import Quarantine
from tests.replication.people import ACTORS, STREAMS, Chain, accepted, maker, memory_ref
from tests.replication.world import World, all_refs, git, hn, recalled, record, select, statuses, sync


def test_a_record_reaches_another_clone_and_is_recalled_there(world: World) -> None:
    alice, bob = world.clone("alice"), world.clone("bob")
    record(alice, "keep streams apart")
    assert [p["status"] for p in sync(alice)["publications"]] == ["published"]
    result = sync(bob)  # nothing saved: all
    assert statuses(result) == {STREAMS["alice"]: "promoted"}
    assert recalled(bob) == {"keep streams apart"}
    assert sync(bob)["outcomes"][0]["detail"] == "unchanged"


def test_nothing_but_memory_is_published(world: World) -> None:
    alice = world.clone("alice")
    (alice / "unpushed").write_text("x")
    git(alice, "add", ".")
    git(alice, "commit", "-q", "-m", "local work")
    git(alice, "tag", "-a", "-m", "local", "v1")
    git(alice, "branch", "feature")
    before = all_refs(world.remote)
    record(alice, "one")
    sync(alice)
    after = all_refs(world.remote)
    assert {ref: oid for ref, oid in after.items() if not ref.startswith("refs/hn/")} == before
    assert set(after) - set(before) == {memory_ref("alice")}


def test_configured_mirrors_and_hooks_take_no_part(world: World) -> None:
    alice = world.clone("alice")
    git(alice, "config", "remote.origin.mirror", "true")
    git(alice, "config", "push.followTags", "true")
    hook = alice / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    record(alice, "one")
    sync(alice)
    assert set(all_refs(world.remote)) == {"refs/heads/main", memory_ref("alice")}


def test_a_challenge_crosses_between_actors_both_ways(world: World) -> None:
    alice, bob = world.clone("alice"), world.clone("bob")
    target = record(alice, "the cache is safe")
    sync(alice)
    sync(bob)
    done = hn(bob, "memory", "challenge", target, "--reason", "incorrect", "--json")
    assert done.exit == 0, done.stderr
    sync(bob)
    assert statuses(sync(alice))[STREAMS["bob"]] == "promoted"
    shown = json.loads(hn(alice, "memory", "show", target, "--json").stdout)
    assert shown["projection"]["challengers"] == [json.loads(done.stdout)["memoryId"]]
    assert shown["projection"]["lifecycle"] == "active"


def test_trust_is_each_clones_own_policy(world: World) -> None:
    carol, alice = world.clone("carol"), world.clone("alice")
    record(carol, "from somebody untrusted")
    sync(carol)
    sync(alice)
    assert json.loads(hn(alice, "memory", "recall", "--json").stdout)["memories"] == []
    assert recalled(alice) == {"from somebody untrusted"}
    policy = alice / ".hn" / "policy.json"
    value = json.loads(policy.read_text())
    value["memory"]["trustedActors"] = sorted([*value["memory"]["trustedActors"], ACTORS["carol"]])
    policy.write_text(json.dumps(value))
    git(alice, "commit", "-q", "-am", "trust carol here")
    rows = json.loads(hn(alice, "memory", "recall", "--json").stdout)["memories"]
    assert [row["trust"] for row in rows] == ["qualified"]
    assert json.loads(hn(carol, "memory", "recall", "--json").stdout)["memories"] == []


def test_a_clone_cannot_author_as_another_actor(world: World) -> None:
    alice, bob = world.clone("alice"), world.clone("bob")
    target = record(alice, "mine")
    sync(alice)
    sync(bob)
    for verb in (("retract", target, "--reason", "incorrect"), ("supersede", target, "--content", "x")):
        words = ("--kind", "decision", "--at", "HEAD", "--applies", "exact") if verb[0] == "supersede" else ()
        refused = hn(bob, "memory", *verb, *words)
        assert refused.exit == 1
        assert "only the target author may" in refused.stderr
    keys = list((bob / ".git" / "hn" / "identities").iterdir())
    assert [path.stem for path in keys] == [ACTORS["bob"]]
    # A forged continuation of Alice's stream, signed by Bob, is refused by everybody.
    record(bob, "forged")
    git(bob, "push", "-q", str(world.remote), f"+{memory_ref('bob')}:{memory_ref('alice')}")
    result = sync(alice, ok=False)
    assert statuses(result)[STREAMS["alice"]] == "structurally-invalid"


def test_the_publishers_index_and_identity_do_not_travel(world: World) -> None:
    alice, bob = world.clone("alice"), world.clone("bob")
    record(alice, "one")
    hn(alice, "memory", "index", "rebuild")
    sync(alice)
    sync(bob)
    assert not (bob / ".git" / "hn" / "memory").exists()
    rebuilt = hn(bob, "memory", "index", "rebuild")
    assert "records 1" in rebuilt.stdout


def test_an_actor_only_selection_imports_no_memory(world: World) -> None:
    alice, bob = world.clone("alice"), world.clone("bob")
    record(alice, "one")
    sync(alice)
    assert hn(bob, "replication", "select", "--actor", ACTORS["alice"]).exit == 0
    result = sync(bob, ok=False)
    assert statuses(result) == {ACTORS["alice"]: "dependency-missing"}
    Chain(alice).add()
    sync(alice)
    assert statuses(sync(bob)) == {ACTORS["alice"]: "promoted"}
    assert list(all_refs(bob, "refs/hn")) == [f"refs/hn/remotes/origin/actors/{ACTORS['alice']}"]


def test_a_diverged_remote_keeps_its_line_and_is_reported_with_both_heads(world: World) -> None:
    alice, twin = world.clone("alice"), world.clone("twin", "alice")
    record(alice, "first")
    record(twin, "another first")
    sync(alice)
    select(twin, "bob")
    done = hn(twin, "sync")
    assert done.exit == 1
    ours, theirs = all_refs(twin)[memory_ref("alice")], all_refs(world.remote)[memory_ref("alice")]
    assert f"diverged (local {ours}, remote {theirs}); nothing was overwritten" in done.stderr
    assert all_refs(world.remote)[memory_ref("alice")] == all_refs(alice)[memory_ref("alice")]
    publication = sync(twin, ok=False)["publications"][0]
    assert (publication["status"], publication["local"], publication["remote"]) == ("diverged", ours, theirs)


def test_a_stream_that_is_ahead_on_the_remote_is_no_failure(world: World) -> None:
    alice = world.clone("alice")
    record(alice, "first")
    sync(alice)
    twin = world.clone("twin", "alice")
    git(twin, "fetch", "-q", "origin", f"{memory_ref('alice')}:{memory_ref('alice')}")
    record(alice, "second")
    sync(alice)
    result = sync(twin)
    assert [p["status"] for p in result["publications"]] == ["behind"]
    assert "bring it forward" in result["notes"][0]


def test_a_broken_local_stream_is_not_published_and_hinders_no_other(world: World) -> None:
    alice = world.clone("alice")
    record(alice, "fine")
    broken = f"refs/hn/memory/{ACTORS['bob']}/{'a' * 64}"
    git(alice, "update-ref", broken, all_refs(alice)[memory_ref("alice")])
    git(alice, "update-ref", "refs/hn/memory/x/y", "HEAD")
    done = hn(alice, "sync")
    assert done.exit == 1
    assert "it was not sent" in done.stderr
    assert set(all_refs(world.remote, "refs/hn")) == {memory_ref("alice")}


def test_local_refs_with_odd_names_are_told_and_spoil_no_answer(world: World) -> None:
    alice = world.clone("alice")
    record(alice, "fine")
    head = all_refs(alice)[memory_ref("alice")]
    for name in (b"memory/x\xff/y", "memory/\u202ex/y".encode(), b"memory/top", b"actors/\xfe"):
        path = os.fsencode(alice / ".git/refs/hn") + b"/" + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(os.fsdecode(path)).write_text(f"{head}\n")
    found = {p["id"]: p["status"] for p in sync(alice, ok=False)["publications"]}
    assert found == {
        STREAMS["alice"]: "published",
        r"refs/hn/memory/x\udcff/y": "invalid",
        r"refs/hn/memory/\u202ex/y": "invalid",
        "refs/hn/memory/top": "invalid",
        r"refs/hn/actors/\udcfe": "invalid",
    }
    done = hn(alice, "sync")
    assert done.exit == 1
    assert "\u202e" not in done.stderr
    assert r"memory refs/hn/memory/\u202ex/y: it was not sent: malformed memory ref" in done.stderr
    assert set(all_refs(world.remote, "refs/hn")) == {memory_ref("alice")}


def test_what_was_fetched_lies_in_the_quarantine_below_its_own_names(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker(world.remote).bulk(1)
    Chain(world.remote).add()
    seen: list[str] = []
    leave = Quarantine.__exit__

    def look(self: Quarantine, *error: object) -> None:
        seen.extend(all_refs(Path(self.path)))
        leave(self, *error)

    monkeypatch.setattr(Quarantine, "__exit__", look)
    sync(world.clone("bob"))
    actor, stream = ACTORS["alice"], STREAMS["alice"][7:]
    assert seen == [f"refs/hn/quarantine/actors/{actor}", f"refs/hn/quarantine/memory/{actor}/{stream}"]


def test_replication_works_from_a_subdirectory_and_from_a_linked_worktree(world: World) -> None:
    alice, bob = world.clone("alice"), world.clone("bob")
    record(alice, "one")
    sync(alice)
    select(bob, "alice")
    linked = world.base / "linked tree é"
    git(bob, "worktree", "add", "-q", "-b", "other", str(linked))
    (linked / "deep").mkdir()
    result = sync(linked / "deep")
    assert statuses(result) == {STREAMS["alice"]: "promoted"}
    assert recalled(bob) == recalled(linked) == {"one"}
    assert not (bob / ".git" / "worktrees" / linked.name / "hn").exists()


def test_a_worktree_with_a_selection_of_its_own_uses_it(world: World) -> None:
    bob = world.clone("bob")
    select(bob, "alice")
    linked = world.base / "linked"
    git(bob, "worktree", "add", "-q", "-b", "other", str(linked))
    own = bob / ".git" / "worktrees" / "linked" / "hn" / "replication" / "selections"
    own.mkdir(parents=True, mode=0o700)
    text = (bob / ".git" / "hn" / "replication" / "selections" / "b3JpZ2lu.json").read_text()
    (own / "b3JpZ2lu.json").write_text(text.replace(STREAMS["alice"], STREAMS["carol"]))
    (own / "b3JpZ2lu.json").chmod(0o600)
    assert STREAMS["carol"] in hn(linked, "replication", "show").stdout
    assert STREAMS["alice"] in hn(bob, "replication", "show").stdout


def test_bare_repositories_synchronize_too(world: World) -> None:
    alice = world.clone("alice")
    record(alice, "one")
    sync(alice)
    bare = world.base / "bare.git"
    git(world.base, "init", "-q", "--bare", str(bare))
    git(bare, "remote", "add", "origin", str(world.remote))
    git(bare, "fetch", "-q", "origin", "main:main")
    assert statuses(sync(bare)) == {STREAMS["alice"]: "promoted"}


def test_sha256_repositories_exchange_with_sha256_remotes(tmp_path: Path) -> None:
    world = World(tmp_path, bundle=None, object_format="sha256")
    alice, bob = world.clone("alice"), world.clone("bob")
    record(alice, "one")
    sync(alice)
    record(alice, "two")
    sync(alice)
    result = sync(bob)
    assert statuses(result) == {STREAMS["alice"]: "promoted"}
    assert len(all_refs(bob)[accepted("alice")]) == 64
    record(alice, "three")
    sync(alice)
    sync(bob)
    assert recalled(bob) == {"one", "two", "three"}


def test_another_object_format_is_refused_with_the_reason(tmp_path: Path) -> None:
    world = World(tmp_path, bundle=None, object_format="sha256")
    alice = world.clone("alice")
    record(alice, "one")
    sync(alice)
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", "-b", "main", str(other))
    git(other, "commit", "-q", "--allow-empty", "-m", "x")
    git(other, "remote", "add", "origin", str(world.remote))
    done = hn(other, "sync")
    assert done.exit == 1
    assert "advertisement failed" in done.stderr
    assert "format" in done.stderr


def test_the_private_files_have_exactly_the_modes(world: World) -> None:
    alice = world.clone("alice")
    select(alice)
    record(alice, "one")
    before = os.umask(0)
    try:
        sync(alice)
    finally:
        os.umask(before)
    root = alice / ".git" / "hn" / "replication"
    for path in (root, *root.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
    floors = list(Path(os.environ["XDG_STATE_HOME"]).rglob("accepted-heads.json"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in floors] == []  # nothing was accepted yet
    assert list((root / "quarantine").iterdir()) == []
    assert list((root / "anchors").iterdir()) == []


def test_receipts_do_not_grow_without_end(world: World) -> None:
    alice = world.clone("alice")
    for _ in range(22):
        sync(alice)
    receipts = list((alice / ".git" / "hn" / "replication" / "transactions").iterdir())
    assert len(receipts) == 20


def test_unknown_remotes_and_names_are_refused_before_anything_is_made(world: World) -> None:
    alice = world.clone("alice")
    for name in ("nope", "--upload-pack=x", "a..b", ".hidden", "x y", "a.lock", "x" * 129):
        done = hn(alice, "sync", "--", name)
        assert done.exit == 1, name
        assert not (alice / ".git" / "hn" / "replication").exists()
    assert hn(alice, "sync", "nope").stderr == 'hn: remote "nope" does not exist\n'


def test_two_remotes_are_kept_apart(world: World) -> None:
    alice, bob = world.clone("alice"), world.clone("bob")
    record(alice, "one")
    sync(alice)
    second = world.base / "second.git"
    git(world.base, "init", "-q", "--bare", str(second))
    git(bob, "remote", "add", "up.stream", str(second))
    sync(bob)
    assert statuses(sync(bob, "up.stream")) == {}
    record(bob, "bob's")
    sync(bob, "up.stream")
    assert set(all_refs(second)) == {memory_ref("bob")}
    assert set(all_refs(bob, "refs/hn/remotes")) == {accepted("alice")}


def test_a_partial_clone_takes_in_streams_without_fetching_what_it_left_out(world: World) -> None:
    work = world.clone("seed-more", "alice")
    (work / "big.bin").write_bytes(os.urandom(5000))
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "a blob")
    blob = git(work, "rev-parse", "HEAD:big.bin")
    git(work, "push", "-q", "origin", "main")
    git(world.remote, "config", "uploadpack.allowFilter", "true")
    git(world.remote, "config", "uploadpack.allowAnySHA1InWant", "true")
    made = maker(world.remote)
    made.bulk(20)
    partial = world.base / "partial"
    git(
        world.base,
        "clone",
        "-q",
        "--filter=blob:none",
        "--no-checkout",
        f"file://{world.remote}",
        str(partial),
    )
    assert statuses(sync(partial)) == {STREAMS["alice"]: "promoted"}
    assert len(recalled(partial)) == 20
    missing = git(partial, "rev-list", "--objects", "--missing=print", "main").split("\n")
    assert f"?{blob}" in missing
    # What evidence names may be fetched: it is one object, and was asked for.
    record(work, "about a blob", "--evidence", f"git:{blob}")
    git(world.remote, "update-ref", "-d", memory_ref("alice"))
    shutil.rmtree(os.environ["XDG_STATE_HOME"])
    git(partial, "update-ref", "-d", accepted("alice"))
    sync(work)
    assert statuses(sync(partial)) == {STREAMS["alice"]: "promoted"}
