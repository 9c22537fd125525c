"""Remotes that lie, rewind, rewrite, flood or hang, and directories that others could change."""

from __future__ import annotations

import base64
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ai_kb.hn.gitstore import Repository
from ai_kb.hn.replication import process
from ai_kb.hn.replication.budgets import transfer_cap
from ai_kb.hn.replication.remote import Remote
from ai_kb.hn.replication.selection import Budgets
from ai_kb.hn.replication.sync import synchronize
from tests.replication.people import ACTORS, ALICE, BOB, STREAMS, Chain, accepted, maker, memory_ref, stream
from tests.replication.servers import listening
from tests.replication.world import (
    World,
    all_refs,
    git,
    hn,
    outcome,
    recalled,
    record,
    select,
    statuses,
    sync,
)

# --- rollback and forks -------------------------------------------------------------------------


def test_a_rewound_stream_is_refused_with_both_heads_and_the_accepted_head_stays(world: World) -> None:
    alice, bob = world.clone("alice"), world.clone("bob")
    record(alice, "one")
    first = all_refs(alice)[memory_ref("alice")]
    record(alice, "two")
    sync(alice)
    sync(bob)
    second = all_refs(bob)[accepted("alice")]
    git(world.remote, "update-ref", memory_ref("alice"), first)
    done = hn(bob, "sync")
    assert done.exit == 1
    assert first in done.stdout
    assert second in done.stdout
    assert all_refs(bob)[accepted("alice")] == second
    assert recalled(bob) == {"one", "two"}
    assert outcome(sync(bob, ok=False), STREAMS["alice"])["detail"] == "rewound"


def test_a_rewritten_stream_is_refused_with_both_heads(world: World) -> None:
    made = maker(world.remote)
    made.bulk(3)
    bob = world.clone("bob")
    sync(bob)
    old = made.head
    other = maker(world.remote)
    other.add(timestamp="2026-08-30T12:34:57Z")
    other.bulk(5)
    result = sync(bob, ok=False)
    refused = outcome(result, STREAMS["alice"])
    assert (refused["status"], refused["detail"]) == ("structurally-invalid", "forked")
    assert str(old) in refused["diagnostic"]
    assert str(other.head) in refused["diagnostic"]
    assert all_refs(bob)[accepted("alice")] == old


def test_a_fork_above_the_accepted_head_is_taken_and_one_below_it_is_not(world: World) -> None:
    made = maker(world.remote)
    made.bulk(2)
    bob = world.clone("bob")
    sync(bob)
    made.add()
    assert statuses(sync(bob)) == {STREAMS["alice"]: "promoted"}
    git(world.remote, "update-ref", made.ref, f"{made.head}~2")
    assert outcome(sync(bob, ok=False), STREAMS["alice"])["detail"] == "rewound"


@pytest.mark.parametrize("cached", [True, False], ids=["with what is remembered", "without"])
def test_a_restored_git_directory_does_not_lower_the_floor(world: World, cached: bool) -> None:
    made = maker(world.remote)
    made.bulk(2)
    bob = world.clone("bob")
    shutil.copytree(bob / ".git", world.base / "before", symlinks=True)
    sync(bob)
    shutil.copytree(bob / ".git", world.base / "early", symlinks=True)
    early = made.head
    made.bulk(3)
    sync(bob)
    for backup in ("before", "early"):
        shutil.rmtree(bob / ".git")
        shutil.copytree(world.base / backup, bob / ".git", symlinks=True)
        if not cached:
            shutil.rmtree(os.environ["XDG_CACHE_HOME"])
        git(world.remote, "update-ref", made.ref, str(early))
        refused = outcome(sync(bob, ok=False), STREAMS["alice"])
        assert refused["detail"] == "rewound"
        assert str(made.head) in refused["diagnostic"]
        assert str(early) in refused["diagnostic"]
        assert "accepted-heads.json" in refused["diagnostic"]
        rewritten = maker(world.remote)
        rewritten.add(timestamp="2026-08-30T12:34:57Z")
        rewritten.bulk(8)
        assert outcome(sync(bob, ok=False), STREAMS["alice"])["detail"] == "forked"
        git(world.remote, "update-ref", made.ref, str(made.head))
        assert statuses(sync(bob)) == {STREAMS["alice"]: "promoted"}
        assert all_refs(bob)[accepted("alice")] == made.head
    made.add()
    assert statuses(sync(bob)) == {STREAMS["alice"]: "promoted"}


def test_a_rewound_accepted_ref_does_not_lower_the_floor(world: World) -> None:
    made = maker(world.remote)
    made.bulk(3)
    bob = world.clone("bob")
    sync(bob)
    git(bob, "update-ref", accepted("alice"), f"{made.head}~1")
    git(world.remote, "update-ref", made.ref, f"{made.head}~1")
    assert outcome(sync(bob, ok=False), STREAMS["alice"])["detail"] == "rewound"
    git(world.remote, "update-ref", made.ref, str(made.head))
    sync(bob)
    assert all_refs(bob)[accepted("alice")] == made.head


@pytest.mark.parametrize("damage", ["not json", '{"version": 2}', '{"version": 1, "heads": {"x": {}}}', "[]"])
def test_a_damaged_record_of_floors_stops_the_sync(world: World, damage: str) -> None:
    maker(world.remote).bulk(1)
    bob = world.clone("bob")
    sync(bob)
    (path,) = Path(os.environ["XDG_STATE_HOME"]).rglob("accepted-heads.json")
    path.write_text(damage)
    done = hn(bob, "sync")
    assert done.exit == 1
    assert "highest accepted heads cannot be used" in done.stderr
    assert str(path) in done.stderr


def test_a_state_directory_that_cannot_be_written_is_told_and_hinders_nothing(world: World) -> None:
    maker(world.remote).bulk(1)
    bob = world.clone("bob")
    suite = Path(os.environ["XDG_STATE_HOME"]) / "agent-hook-suite"
    suite.mkdir(parents=True)
    suite.chmod(0o777)
    done = hn(bob, "sync")
    assert done.exit == 0
    assert "could not be kept in the state directory" in done.stderr
    assert recalled(bob)


# --- odd refs -----------------------------------------------------------------------------------


def test_odd_refs_are_passed_over_and_counted(world: World) -> None:
    maker(world.remote).bulk(1)
    main = git(world.remote, "rev-parse", "main")
    for ref in (
        "refs/hn/memory/x/y",
        f"refs/hn/memory/{ACTORS['bob']}/short",
        f"refs/hn/memory/{ACTORS['bob'].upper()}/{'a' * 64}",
        f"refs/hn/memory/{ACTORS['bob']}/{'a' * 64}x",
        "refs/hn/actors/nobody",
        "refs/hn/memory/-é \u202e".replace(" ", "_") + "/x",
        "refs/hn/remotes/origin/memory/x/y",
        "refs/hn/quarantine/memory/x",
    ):
        git(world.remote, "update-ref", ref, main)
    bob = world.clone("bob")
    result = sync(bob)
    assert statuses(result) == {STREAMS["alice"]: "promoted"}
    assert result["notes"] == ["remote origin has 6 malformed refs below refs/hn/; they were passed over"]
    assert recalled(bob)
    assert set(all_refs(bob, "refs/hn")) == {accepted("alice")}


def test_hundreds_of_streams_come_in_with_a_bad_one_among_them(world: World) -> None:
    lines = b""
    for number in range(300):
        made = maker(world.remote, number=number)
        if number == 0:
            made.bulk(1)
            valid = made.head
        lines += f"create {made.ref} {valid}\n".encode()
    # Each of them but the first has a head that says it is the first: all are refused, one by one.
    git(
        world.remote,
        "update-ref",
        "--stdin",
        stdin=lines.replace(f"create {maker(world.remote, number=0).ref} {valid}\n".encode(), b""),
    )
    bob = world.clone("bob")
    result = sync(bob, ok=False)
    found = statuses(result)
    assert len(found) == 300
    assert found[stream(0)] == "promoted"
    assert set(found.values()) == {"promoted", "structurally-invalid"}
    assert set(all_refs(bob, "refs/hn")) == {f"refs/hn/remotes/origin/memory/{ALICE.actor}/{stream(0)[7:]}"}


# --- what cannot be fetched, or is too much ---------------------------------------------------------


def test_a_stream_whose_objects_the_remote_lost_hinders_no_other(world: World) -> None:
    made = [maker(world.remote, number=number) for number in range(5)]
    for one in made:
        one.add()
    lost = git(world.remote, "rev-parse", f"{made[2].head}:memory.json")
    (world.remote / "objects" / lost[:2] / lost[2:]).unlink()
    bob = world.clone("bob")
    result = sync(bob, ok=False)
    assert sorted(statuses(result).values()) == ["dependency-missing"] + ["promoted"] * 4
    assert outcome(result, stream(2))["detail"] == "not-fetched"
    assert len(all_refs(bob, "refs/hn")) == 4
    assert len(recalled(bob)) == 1  # all four have the same content


def test_a_huge_blob_is_refused_before_it_is_read(world: World) -> None:
    made = maker(world.remote)
    payload = made.payload()
    big = git(world.remote, "hash-object", "-w", "--stdin", stdin=os.urandom(3 << 20))
    tree = made.raw_tree(("100644", "memory.json", big), ("100644", "signature", made.blob(b"x")))
    made.place(tree, payload)
    bob = world.clone("bob")
    assert hn(bob, "replication", "select", "--all", "--max-object-bytes", str(1 << 20)).exit == 0
    refused = outcome(sync(bob, ok=False), STREAMS["alice"])
    assert refused["status"] == "over-budget"
    assert refused["detail"] == "max-object-bytes"
    assert hn(bob, "replication", "select", "--all").exit == 0
    refused = outcome(sync(bob, ok=False), STREAMS["alice"])
    assert (refused["status"], "exceeds 524288 bytes" in refused["diagnostic"]) == (
        "structurally-invalid",
        True,
    )


def test_a_transfer_beyond_the_budget_is_stopped_and_leaves_nothing(world: World) -> None:
    made = maker(world.remote)
    payload = made.payload()
    entries = []
    for number in range(6):
        blob = git(world.remote, "hash-object", "-w", "--stdin", stdin=os.urandom(2 << 20))
        entries.append(("100644", f"x{number}", blob))
    made.place(made.raw_tree(*entries), payload)
    maker(world.remote, BOB).bulk(1)
    carol = world.clone("carol")
    words = ("--max-total-bytes", "100000", "--max-objects", "50")
    assert hn(carol, "replication", "select", "--all", *words).exit == 0
    result = sync(carol, ok=False)
    assert outcome(result, STREAMS["alice"])["status"] == "over-budget"
    assert "max-total-bytes" in outcome(result, STREAMS["alice"])["diagnostic"]
    assert statuses(result)[STREAMS["bob"]] == "promoted"
    assert list((carol / ".git" / "hn" / "replication" / "quarantine").iterdir()) == []
    objects = git(carol, "count-objects", "-v")
    assert int(objects.split("size-pack: ")[1].split()[0]) < 100


def test_every_stream_may_be_as_large_as_its_budget_whatever_comes_beside_it(world: World) -> None:
    """Three streams that are each within the cap on a transfer, and together beyond it."""
    random = Random(7)
    for number in range(3):
        made = maker(world.remote, number=number)

        def record(anchor: str = made.anchor) -> dict[str, object]:
            return {
                "kind": "observation",
                "content": base64.b64encode(random.randbytes(48_000)).decode(),
                "anchor": {"commit": anchor},
                "applicability": {"mode": "descendants"},
                "topics": [],
                "evidence": [],
            }

        made.bulk(25, record)
    bob = world.clone("bob")
    budgets = Budgets(total_bytes=1_800_000, objects=200)
    words = ("--max-total-bytes", str(budgets.total_bytes), "--max-objects", str(budgets.objects))
    assert hn(bob, "replication", "select", "--all", *words).exit == 0
    result = sync(bob)
    sizes = [outcome["measurements"]["TotalBytes"] for outcome in result["outcomes"]]
    assert max(sizes) < budgets.total_bytes
    assert sum(sizes[:2]) > transfer_cap(budgets)
    assert result["promoted"] == 3


def test_a_history_deeper_than_its_budget_is_refused_by_the_count(world: World) -> None:
    maker(world.remote).bulk(600)
    bob = world.clone("bob")
    assert hn(bob, "replication", "select", "--all", "--max-events", "599").exit == 0
    refused = outcome(sync(bob, ok=False), STREAMS["alice"])
    assert refused["diagnostic"].endswith("exceeded max-events budget: configured=599 measured=600")
    assert hn(bob, "replication", "select", "--all", "--max-events", "600").exit == 0
    assert statuses(sync(bob)) == {STREAMS["alice"]: "promoted"}


def test_each_budget_is_inclusive_and_the_first_exceeded_one_decides(world: World) -> None:
    made = maker(world.remote)
    made.bulk(2)
    bob = world.clone("bob")
    objects = git(world.remote, "rev-list", "--objects", str(made.head)).split("\n")
    names = "\n".join(line.split()[0] for line in objects)
    sizes = [
        int(line.split()[2])
        for line in git(world.remote, "cat-file", "--batch-check", stdin=names.encode()).split("\n")
    ]
    exact = {
        "--max-events": 2,
        "--max-objects": len(sizes),
        "--max-object-bytes": max(sizes),
        "--max-total-bytes": sum(sizes),
    }
    for below, flag in enumerate(exact):
        bounds = {name: value - (number >= below) for number, (name, value) in enumerate(exact.items())}
        words = [word for name, value in bounds.items() for word in (name, str(value))]
        assert hn(bob, "replication", "select", "--all", *words).exit == 0
        refused = outcome(sync(bob, ok=False), STREAMS["alice"])
        assert (refused["status"], refused["detail"]) == ("over-budget", flag[2:])
    words = [word for name, value in exact.items() for word in (name, str(value))]
    assert hn(bob, "replication", "select", "--all", *words).exit == 0
    assert statuses(sync(bob)) == {STREAMS["alice"]: "promoted"}
    # Beyond the accepted head only what is new counts; events count whole.
    made.add()
    assert outcome(sync(bob, ok=False), STREAMS["alice"])["detail"] == "max-events"
    assert hn(bob, "replication", "select", "--all", *words[2:], "--max-events", "3").exit == 0
    assert statuses(sync(bob)) == {STREAMS["alice"]: "promoted"}


def test_the_budget_of_attachments_bounds_logs_of_runs(world: World) -> None:
    chain = Chain(world.remote)
    chain.add()
    chain.add("run.result", log=b"x" * 1000)
    bob = world.clone("bob")
    actor = ("--actor", ALICE.actor, "--max-attachment-bytes")
    assert hn(bob, "replication", "select", *actor, "999").exit == 0
    refused = outcome(sync(bob, ok=False), ALICE.actor)
    assert (refused["status"], refused["detail"]) == ("over-budget", "max-attachment-bytes")
    assert hn(bob, "replication", "select", *actor, "1000").exit == 0
    assert statuses(sync(bob)) == {ALICE.actor: "promoted"}


# --- remotes that hang ------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["git", "http"])
def test_a_remote_that_hangs_is_given_up_and_nothing_is_left_running(world: World, scheme: str) -> None:
    alice = world.clone("alice")
    record(alice, "one")
    before = _children()
    with listening() as port:
        git(alice, "remote", "set-url", "origin", f"{scheme}://127.0.0.1:{port}/x.git")
        done = hn(alice, "sync", "--timeout", "1")
    assert done.exit == 1
    assert "did not answer" in done.stderr
    assert "publication phase failed" in done.stderr
    with listening() as port:
        git(alice, "remote", "set-url", "origin", f"{scheme}://127.0.0.1:{port}/x.git")
        (publication,) = sync(alice, "--timeout", "1", ok=False)["publications"]
    assert (publication["status"], "does not answer" in publication["reason"]) == ("not-sent", True)
    assert _children() <= before


def _children() -> set[int]:
    """Processes that this one started and that still run (Linux)."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.add(int(status.parent.name))
    return found


def test_a_remote_that_stops_in_the_middle_of_a_transfer_is_given_up(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker(world.remote).bulk(2)
    bob = world.clone("bob")
    stuck = tmp_path / "upload-pack"
    # It advertises, and hangs when a pack is asked for.
    stuck.write_text(
        "#!/bin/sh\n"
        'if [ -e "$0.advertised" ]; then sleep 600; fi\n'
        'touch "$0.advertised"\nexec git-upload-pack "$@"\n'
    )
    stuck.chmod(0o755)
    git(bob, "config", "remote.origin.uploadpack", str(stuck))
    run = process.run

    def patient(arguments: Sequence[str], *, idle: float, **options: Any) -> process.Done:
        assert idle == 1
        return run(arguments, idle=idle if "fetch" in arguments else None, **options)

    with monkeypatch.context() as patched:
        patched.setattr(process, "run", patient)  # with a remote that is slow, and does not hang
        done = hn(bob, "sync", "--timeout", "1")
    assert done.exit == 1
    assert "nothing came for 1 s" in done.stderr
    assert "failed (dependency-missing)" in done.stdout
    assert all_refs(bob, "refs/hn") == {}
    assert list((bob / ".git" / "hn" / "replication" / "quarantine").iterdir()) == []
    git(bob, "config", "--unset", "remote.origin.uploadpack")
    assert statuses(sync(bob)) == {STREAMS["alice"]: "promoted"}


def _upload_pack(clone: Path, script: Path, body: str) -> None:
    """Make origin run ``body`` before it serves a clone. ``$n``: how often it did so before."""
    script.write_text(
        "#!/bin/sh\nn=0\n"
        'while ! mkdir "$0.$n" 2>/dev/null; do n=$((n + 1)); done\n'
        f'{body}\nexec git-upload-pack "$@"\n'
    )
    script.chmod(0o755)
    git(clone, "config", "remote.origin.uploadpack", str(script))


# It goes on for ever, and shows it.
_ENDLESS = "while :; do echo more >&2; sleep 0.1; done"


@pytest.mark.parametrize("endless", [1, 2])
def test_a_history_that_never_ends_leaves_time_for_the_others(
    endless: int, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fetch of both never ends, or that of the first alone does not either."""
    maker(world.remote).bulk(2)
    maker(world.remote, BOB).bulk(2)
    carol = world.clone("carol")
    script = tmp_path / "upload-pack"
    marker = tmp_path / "endless"
    _upload_pack(carol, script, f"[ ! -e {marker} ] || {_ENDLESS}")
    shares: list[float] = []
    fetch = Remote.fetch

    def impatient(self: Remote, *arguments: Any, share: float, **options: Any) -> bool:
        shares.append(share)
        if len(shares) > endless:
            return fetch(self, *arguments, share=share, **options)
        marker.touch()
        try:
            return fetch(self, *arguments, share=0.0005, **options)
        finally:
            marker.unlink()

    monkeypatch.setattr(Remote, "fetch", impatient)
    result = sync(carol, ok=endless == 1)
    first = "promoted" if endless == 1 else "dependency-missing"
    assert sorted(statuses(result).values()) == [first, "promoted"]
    assert shares == [0.5, 0.5, 0.5]
    if endless == 2:
        (refused,) = [each for each in result["outcomes"] if each["status"] == "dependency-missing"]
        assert refused["detail"] == "not-fetched"
        assert "it took too long altogether" in refused["diagnostic"]


def test_a_history_that_never_ends_takes_all_of_the_time_alone_and_no_more(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker(world.remote).bulk(1)
    carol = world.clone("carol")
    _upload_pack(carol, tmp_path / "upload-pack", f"[ $n -ne 1 ] || {_ENDLESS}")
    advertise = Remote.advertise

    def soon_out_of_time(self: Remote) -> dict[str, str]:
        found = advertise(self)
        self.deadline = time.monotonic() + 1
        return found

    monkeypatch.setattr(Remote, "advertise", soon_out_of_time)
    repo = Repository.open(str(carol), os.environ)
    error = synchronize(repo).import_error
    assert error is not None
    assert (error.code, "too long altogether" in error.message) == ("remote-timeout", True)


def test_a_stream_that_moves_while_it_is_fetched_is_not_taken(world: World, tmp_path: Path) -> None:
    made = maker(world.remote)
    made.bulk(3)
    maker(world.remote, BOB).bulk(1)
    carol = world.clone("carol")
    move = f"git -C {world.remote} update-ref {made.ref} {made.head}~1"
    _upload_pack(carol, tmp_path / "upload-pack", f"[ $n -eq 0 ] || {move}")
    result = sync(carol, ok=False)
    refused = outcome(result, STREAMS["alice"])
    assert (refused["status"], refused["detail"]) == ("dependency-missing", "not-fetched")
    earlier = git(world.remote, "rev-parse", made.ref)
    assert f"advertised {made.head}, fetched {earlier}; sync again" in refused["diagnostic"]
    assert statuses(result)[STREAMS["bob"]] == "promoted"
    assert accepted("alice") not in all_refs(carol)
    assert statuses(sync(carol))[STREAMS["alice"]] == "promoted"


def test_a_stream_that_goes_while_it_is_fetched_hinders_no_other(world: World, tmp_path: Path) -> None:
    made = maker(world.remote)
    made.bulk(1)
    maker(world.remote, BOB).bulk(1)
    carol = world.clone("carol")
    _upload_pack(
        carol, tmp_path / "upload-pack", f"[ $n -eq 0 ] || git -C {world.remote} update-ref -d {made.ref}"
    )
    result = sync(carol, ok=False)
    assert outcome(result, STREAMS["alice"])["detail"] == "not-fetched"
    assert statuses(result)[STREAMS["bob"]] == "promoted"
    assert outcome(sync(carol), STREAMS["bob"])["detail"] == "unchanged"


def test_a_remote_cannot_send_git_to_another_server(world: World) -> None:
    """Pack URIs, which a person's own configuration may allow, take no part."""
    made = maker(world.remote)
    made.bulk(1)
    blob = git(world.remote, "rev-parse", f"{made.head}:memory.json")
    elsewhere = f"{blob} {'1' * 40} http://127.0.0.1:1/x.pack"
    git(world.remote, "config", "uploadpack.blobPackfileUri", elsewhere)
    git(world.remote, "config", "uploadpack.allowSidebandAll", "true")  # without it none is offered
    bob = world.clone("bob")
    git(bob, "config", "--global", "fetch.uriProtocols", "http")
    git(bob, "config", "--global", "protocol.version", "2")
    assert statuses(sync(bob)) == {STREAMS["alice"]: "promoted"}


def test_terminal_sequences_of_a_remote_are_not_passed_on(world: World, tmp_path: Path) -> None:
    bob = world.clone("bob")
    loud = tmp_path / "upload-pack"
    loud.write_text("#!/bin/sh\nprintf 'fatal: \\033[31mred\\033[0m\\n' >&2\nexit 1\n")
    loud.chmod(0o755)
    git(bob, "config", "remote.origin.uploadpack", str(loud))
    done = hn(bob, "sync")
    assert done.exit == 1
    assert "\x1b" not in done.stdout + done.stderr
    assert "red" in done.stderr


# --- directories ------------------------------------------------------------------------------------


def _symlinked(clone: Path) -> None:
    (clone / ".git" / "hn").rename(clone / "elsewhere")
    (clone / ".git" / "hn").symlink_to(clone / "elsewhere")


def _writable(clone: Path) -> None:
    (clone / ".git" / "hn").chmod(0o770)


def _writable_inside(clone: Path) -> None:
    folder = clone / ".git" / "hn" / "replication"
    folder.mkdir()
    folder.chmod(0o777)


def _linked_inside(clone: Path) -> None:
    (clone / ".git" / "hn" / "replication").symlink_to(clone / ".git")


@pytest.mark.parametrize("spoil", [_symlinked, _writable, _writable_inside, _linked_inside])
def test_a_directory_that_others_could_change_is_refused(world: World, spoil: object) -> None:
    maker(world.remote).bulk(1)
    bob = world.clone("bob")
    spoil(bob)  # type: ignore[operator]
    for words in (("sync",), ("replication", "select", "--all"), ("replication", "show")):
        done = hn(bob, *words)
        assert done.exit == 1, words
        assert "it was not used" in done.stderr, words
    assert all_refs(bob, "refs/hn") == {}


@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [
        ("{}", 0o600, "version is unsupported"),
        ("not json", 0o600, "invalid JSON"),
        ('{"version": 1, "remote": "other"}', 0o600, "another remote"),
        ('{"version": 1, "remote": "origin", "more": 1}', 0o600, "unknown field"),
        (None, 0o666, "can be written by others"),
    ],
)
def test_a_damaged_selection_is_refused(world: World, content: str | None, mode: int, says: str) -> None:
    bob = world.clone("bob")
    select(bob, "alice")
    path = bob / ".git" / "hn" / "replication" / "selections" / "b3JpZ2lu.json"
    if content is not None:
        path.write_text(content)
    path.chmod(mode)
    for words in (("sync",), ("replication", "show")):
        done = hn(bob, *words)
        assert done.exit == 1
        assert says in done.stderr
