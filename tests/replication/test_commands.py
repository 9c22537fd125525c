"""``hn replication`` and ``hn sync`` as commands: help, JSON, progress, real processes."""

from __future__ import annotations

import json
import os
import pty
import select as polling
import subprocess
from pathlib import Path

import pytest

from ai_kb.hn import unsettled
from ai_kb.hn.replication.progress import TransferProgress
from ai_kb.hn.replication.publish import Publication
from ai_kb.hn.replication.result import Result
from ai_kb.hn.replication.state import ReplicationError
from tests.replication.people import ACTORS, STREAMS, accepted, maker, memory_ref
from tests.replication.world import HN, World, all_refs, git, hn, record, select, sync


@pytest.mark.parametrize(
    "words", [("sync",), ("replication",), ("replication", "select"), ("replication", "show")]
)
def test_every_command_teaches(world: World, words: tuple[str, ...]) -> None:
    clone = world.clone("alice")
    done = hn(clone, *words, "--help")
    assert done.exit == 0
    assert "examples:" in done.stdout
    assert done.stderr == ""


def test_show_as_json_says_what_is_saved(world: World) -> None:
    clone = world.clone("alice")
    value = json.loads(hn(clone, "replication", "show", "--json").stdout)
    assert (value["saved"], value["all"], value["remote"]) == (False, True, "origin")
    words = ("--actor", ACTORS["bob"], "--memory", STREAMS["carol"], "--memory", STREAMS["bob"])
    assert hn(clone, "replication", "select", "origin", *words, "--max-events", "0x10").exit == 0
    value = json.loads(hn(clone, "replication", "show", "--json").stdout)
    assert value["actors"] == [ACTORS["bob"]]
    assert value["memories"] == sorted([STREAMS["bob"], STREAMS["carol"]])
    assert value["budgets"]["maxEvents"] == 16


def test_select_replaces_what_was_selected(world: World) -> None:
    clone = world.clone("alice")
    select(clone, "bob")
    select(clone, "carol")
    shown = hn(clone, "replication", "show").stdout
    assert STREAMS["bob"] not in shown
    assert STREAMS["carol"] in shown


def test_a_remote_other_than_origin_has_a_selection_of_its_own(world: World) -> None:
    clone = world.clone("alice")
    assert hn(clone, "replication", "select", "team", "--all").exit == 0
    assert "saved: true" in hn(clone, "replication", "show", "team").stdout
    assert "saved: false" in hn(clone, "replication", "show", "origin").stdout
    names = [path.name for path in (clone / ".git/hn/replication/selections").iterdir()]
    assert names == ["dGVhbQ.json"]


def test_json_tells_outcomes_publications_and_the_error(world: World) -> None:
    alice, bob = world.clone("alice"), world.clone("bob")
    record(alice, "one")
    sync(alice)
    git(bob, "config", "user.name", "x")
    record(bob, "two")
    words = ("--memory", STREAMS["alice"], "--memory", STREAMS["carol"])
    assert hn(bob, "replication", "select", *words).exit == 0
    value = sync(bob, ok=False)
    assert value["promoted"] == 1
    assert [(o["status"], o["detail"]) for o in value["outcomes"]] == [
        ("dependency-missing", "not-advertised"),
        ("promoted", "first"),
    ]
    head = all_refs(alice)[memory_ref("alice")]
    assert (value["outcomes"][1]["head"], value["outcomes"][1]["accepted"]) == (head, head)
    (publication,) = value["publications"]
    assert (publication["ref"], publication["status"]) == (memory_ref("bob"), "published")
    assert "one or more exact selections" in value["error"]["message"]


def test_both_phases_may_fail_and_both_are_told() -> None:
    diverged = Publication("memory", STREAMS["alice"], memory_ref("alice"), A, B, status="diverged")
    result = Result("origin", publications=[diverged], import_error=ReplicationError("no", "of this"))
    failure = result.failure()
    assert failure is not None
    assert failure.message.startswith("import phase failed: no; publication phase failed: ")
    assert failure.hint == f"of this; {diverged.described}"


@pytest.mark.parametrize("seconds", ["0", "-1", "86401"])
def test_a_timeout_that_makes_no_sense_is_wrong_usage(world: World, seconds: str) -> None:
    done = hn(world.clone("alice"), "sync", "--timeout", seconds)
    assert done.exit == 2
    assert "--timeout must be" in done.stderr


def test_without_a_terminal_nothing_is_said_of_progress(world: World) -> None:
    maker(world.remote).bulk(200)
    clone = world.clone("bob")
    done = subprocess.run([*HN, "sync"], cwd=clone, capture_output=True, check=True)
    assert done.stderr == b""
    assert done.stdout.endswith(b"promoted 1 selections\n")


def test_progress_is_shown_on_a_terminal_and_leaves_no_trace(world: World, tmp_path: Path) -> None:
    maker(world.remote).bulk(200)
    clone = world.clone("bob")
    slow = tmp_path / "upload-pack"
    slow.write_text(
        "#!/bin/sh\n"
        "for i in 10 50 90; do\n"
        "    printf 'remote: Counting objects: %d%% (%d/100)\\r' $i $i >&2; sleep 0.6\ndone\n"
        "printf 'Receiving objects:  42%% (84/200)\\r' >&2; sleep 0.6\n"
        'exec git-upload-pack "$@"\n'
    )
    slow.chmod(0o755)
    git(clone, "config", "remote.origin.uploadpack", str(slow))
    ours, theirs = pty.openpty()
    child = subprocess.Popen([*HN, "sync"], cwd=clone, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    while True:
        ended = child.poll() is not None  # what it said before that is there now
        ready, _, _ = polling.select([ours], [], [], 0.2)
        if ready:
            try:
                data = os.read(ours, 4096)
            except OSError:
                break
            if not data:
                break
            seen += data
        elif ended:
            break
    os.close(ours)
    assert child.wait() == 0
    assert b"objects: " in seen
    assert b" of 100" in seen or b" of 200" in seen
    last = seen.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n")
    assert last[-1] == b"Synchronized 0 verified events with origin; promoted 1 selections"


def test_what_a_remote_says_is_parsed_and_not_repeated() -> None:
    shown: list[tuple[str, int, int]] = []
    progress = TransferProgress(lambda *step: shown.append(step))
    progress.feed(b"remote: \x1b]0;owned\x07 hello\nremote: Enumerating objects: 5, done.\n")
    progress.feed(b"Receiving objects:  50% (1")
    progress.feed(b"/2)\rReceiving objects: 100% (2/2), 1.00 KiB, done.\n")
    progress.feed(b"Writing objects: 100% (3/3)\r" + b"x" * 100_000)
    progress.feed(b"\xff\xfe\nfatal: no\n")
    assert shown == [("receiving objects", 1, 2), ("receiving objects", 2, 2), ("sending objects", 3, 3)]
    assert progress.other_lines == progress.error_lines == []


# --- readers and promotions that are not complete ------------------------------------------------------


def plant(clone: Path, receipt: dict[str, object] | None, anchor: object = ...) -> None:
    root = clone / ".git" / "hn" / "replication"
    for name in ("anchors", "transactions"):
        (root / name).mkdir(parents=True, exist_ok=True, mode=0o700)
    value = (
        {"version": 1, "id": "txn-1", "remote": "origin", "pendingObjects": []} if anchor is ... else anchor
    )
    (root / "anchors" / "txn-1.json").write_text(json.dumps(value))
    (root / "anchors" / "txn-1.json").chmod(0o600)
    if receipt is not None:
        (root / "transactions" / "txn-1.json").write_text(json.dumps(receipt))
        (root / "transactions" / "txn-1.json").chmod(0o600)


def settled(clone: Path, refs: dict[str, str]) -> dict[str, str]:
    common = str(clone / ".git")
    return unsettled.settle(common, unsettled.pending(common), refs)


A, B, C = "a" * 40, "b" * 40, "c" * 40
REF, OTHER = "refs/hn/remotes/origin/memory/x/y", "refs/hn/remotes/other/memory/x/y"


@pytest.mark.parametrize(
    ("promotion", "now", "read"),
    [
        ({"newOid": B}, B, None),  # first accepted by it: not read
        ({"newOid": B, "oldOid": A}, B, A),  # as before
        ({"newOid": B, "oldOid": A}, A, A),  # not moved yet
        ({"newOid": B, "oldOid": A}, C, None),  # moved by somebody else
        ({"newOid": A, "oldOid": A}, A, A),  # unchanged
    ],
)
def test_a_reader_takes_a_stream_as_it_was_before_the_promotion(
    world: World, promotion: dict[str, str], now: str, read: str | None
) -> None:
    clone = world.clone("alice")
    plant(clone, {"state": "validated", "promotions": [{"ref": REF, **promotion}]})
    wanted = {REF: read} if read else {}
    assert settled(clone, {REF: now, OTHER: C, "refs/heads/main": C}) == {
        **wanted,
        OTHER: C,
        "refs/heads/main": C,
    }


def test_a_completed_promotion_and_one_without_a_receipt_change_nothing(world: World) -> None:
    clone = world.clone("alice")
    refs = {REF: B, OTHER: C}
    plant(clone, None)
    assert settled(clone, refs) == refs
    plant(clone, {"state": "complete", "promotions": [{"ref": REF, "newOid": B}]})
    assert settled(clone, refs) == refs


@pytest.mark.parametrize(
    "receipt",
    [
        {"state": "validated", "promotions": [1]},
        {"state": "validated", "promotions": [{"ref": "refs/heads/main", "newOid": B}]},
        {"state": "validated", "promotions": [{"ref": REF}]},
        {"state": "validated", "promotions": {}},
        {"state": 1},
        {},
    ],
)
def test_a_receipt_that_cannot_be_understood_closes_the_remote(
    world: World, receipt: dict[str, object]
) -> None:
    clone = world.clone("alice")
    plant(clone, receipt)
    assert settled(clone, {REF: B, OTHER: C, memory_ref("alice"): A}) == {OTHER: C, memory_ref("alice"): A}
    plant(clone, receipt, anchor=[])
    assert settled(clone, {REF: B, OTHER: C, memory_ref("alice"): A}) == {memory_ref("alice"): A}


def test_local_streams_are_written_and_read_while_a_promotion_is_pending(world: World) -> None:
    alice = world.clone("alice")
    plant(alice, None, anchor="damaged")
    record(alice, "local")
    done = hn(alice, "memory", "recall", "--json")
    assert len(json.loads(done.stdout)["memories"]) == 1
    assert "acceptance pending" in done.stderr
    assert accepted("bob") not in all_refs(alice)


def test_reading_costs_one_listing_of_a_directory_when_nothing_is_pending(tmp_path: Path) -> None:
    assert unsettled.pending(str(tmp_path)) == []
    (tmp_path / "hn").write_text("")
    assert unsettled.pending(str(tmp_path)) == []
    assert unsettled.settle(str(tmp_path), [""], {REF: A, memory_ref("bob"): B}) == {memory_ref("bob"): B}
