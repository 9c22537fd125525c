"""The recorded two-actor and sync scenarios, replayed: the same exits, texts, refs and selections.

What is not reproduced is named in tests/data/fixtures/README.md; where the recorded text of a failed
verification differs from ours, everything around it is compared.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hn.fixture_repos import Run, load, restore, runs
from tests.replication.world import ALICE, BOB, CAROL, FIXTURES, World, all_refs, forget, git, hn

SCENARIOS = load("sync-scenarios")
BUNDLE = FIXTURES / "sync-scenarios.bundle"
# Ours says why in its own words, after the recorded beginning.
_OWN_WORDS = re.compile(r"(is structurally invalid): .*")
# Rewinds are refused here; what needs the other implementation's own fault injection is tested elsewhere.
NOT_REPRODUCED = {74, *range(117, 138)}
# A broken stream, told in our own words.
OWN_WORDS = {150, 151}
KEEPS_REFS = "local stream cannot be pushed (remote ref diverged)"


_TRANSACTION = re.compile(r"txn-\d+")


def _private(directory: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Modes of replication's private files, and texts, by name as recorded: all receipts have one name.

    ``lock`` is ours alone.
    """
    modes: dict[str, str] = {}
    texts: dict[str, list[str]] = {}
    root = directory / ".git" / "hn" / "replication"
    for path in (root, *root.rglob("*")):
        name = _TRANSACTION.sub("txn-<N>", str(path.relative_to(directory / ".git")))
        if path.name != "lock":
            modes[f"{name}/" if path.is_dir() else name] = oct(stat.S_IMODE(path.lstat().st_mode))
        if path.is_file():
            texts.setdefault(name, []).append(_TRANSACTION.sub("txn-<N>", path.read_text()))
    return modes, texts


def _check_private(directory: Path, run: Run) -> None:
    wanted = {
        name: entry
        for name, entry in run.data["private_state_after"].items()
        if name.startswith("hn/replication/")
    }
    modes, texts = _private(directory)
    assert modes == {name: entry["mode"] for name, entry in wanted.items()}, run.number
    for name, entry in wanted.items():
        if "/transactions/txn-" in name:
            assert any(_same(json.loads(text), json.loads(entry["text"])) for text in texts[name]), (
                run.number,
                texts[name],
            )
        elif "text" in entry:
            assert texts[name] == [entry["text"]], run.number


def _same(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether our receipt is the recorded one, but for our own words and two lists of objects.

    The recorded receiver still held objects of the scenarios before, so fewer were pending. It lists the
    accepted objects of whole histories, ours those beyond the heads that were accepted before.
    """
    for receipt in (ours, theirs):
        for outcome in receipt["outcomes"] or ():
            if "diagnostic" in outcome:
                outcome["diagnostic"] = _OWN_WORDS.sub(r"\1", outcome["diagnostic"])
    if list(ours) != list(theirs):
        return False
    pending = set(ours.pop("pendingObjects")) >= set(theirs.pop("pendingObjects"))
    known = [move for move in theirs.get("promotions", ()) if "oldOid" in move]
    accepted = [set(receipt.pop("acceptedObjects")) for receipt in (ours, theirs)]
    return pending and ours == theirs and (accepted[0] < accepted[1] if known else accepted[0] == accepted[1])


def _check(directory: Path, run: Run) -> None:
    result = hn(directory, *run.argv, stdin=run.stdin, now=run.data.get("now"))
    assert _OWN_WORDS.sub(r"\1", result.stdout) == _OWN_WORDS.sub(r"\1", run.stdout), run.number
    assert result.exit == run.exit, (run.number, result.stderr)
    # A hint may follow what was recorded, in parentheses.
    if run.number in OWN_WORDS:
        assert result.stderr.startswith("hn: memory source refs/hn/memory/"), (run.number, result.stderr)
    else:
        assert result.stderr.startswith(run.stderr.rstrip("\n")), (run.number, result.stderr)
    refs = {ref: oid for ref, oid in all_refs(directory).items() if ref.startswith("refs/hn/")}
    assert refs == run.data.get("refs_after", {}), run.number
    if "hn/replication/" in run.data.get("private_state_after", {}):
        _check_private(directory, run)


def test_two_actors_and_an_untrusted_third_exchange_exactly_as_recorded(tmp_path: Path) -> None:
    world = World(tmp_path)
    clones = {person: world.clone(person) for person in ("alice", "bob", "carol")}
    steps = list(runs(load("sync-two-actors"), "steps"))
    assert len(steps) == 41
    for run in steps:
        _check(clones[run.data["who"]], run)


def _scenarios() -> list[tuple[dict[str, Any], list[Run]]]:
    """Each scenario with its steps of the receiver, as far as refs are replaced before each."""
    steps = {run.number: run for run in runs(SCENARIOS, "steps")}
    found: list[tuple[dict[str, Any], list[Run]]] = []
    for number, step in enumerate(SCENARIOS["steps"]):
        if "scenario" in step:
            found.append((step, []))
        elif found and steps[number].data["who"] == "recv" and number not in NOT_REPRODUCED:
            found[-1][1].append(steps[number])
    return [(scenario, done) for scenario, done in found if done]


ALL = _scenarios()
_LAST = next(number for number, (scenario, _) in enumerate(ALL) if scenario["scenario"] == KEEPS_REFS)


@pytest.mark.parametrize("number", range(_LAST), ids=lambda n: str(ALL[n][0]["scenario"]))
def test_a_receiver_judges_a_prepared_remote_as_recorded(number: int, receiver: tuple[World, Path]) -> None:
    world, clone = receiver
    scenario, steps = ALL[number]
    forget(clone)
    world.advertise(scenario["bundle_refs"], BUNDLE)
    for run in steps:
        _check(clone, run)


@pytest.fixture
def receiver(tmp_path: Path) -> tuple[World, Path]:
    """The recorded remote, and a clone of it that is Bob's."""
    world = World(tmp_path)
    return world, world.clone("recv", "bob")


def _diverged(world: World, clone: Path) -> None:
    """The remote's ref of the receiver's stream is a commit of the code."""
    stream = next(run for run in ALL[_LAST][1] if run.argv[0] == "replication").argv[4]
    git(world.remote, "update-ref", f"refs/hn/memory/{BOB}/{stream[7:]}", "main~1")


def _refs(*names: str) -> Callable[[World, Path], None]:
    """Refs of the receiver that name a commit of the code; those of the step before are gone."""

    def make(_: World, clone: Path) -> None:
        for ref, oid in all_refs(clone, "refs/hn").items():
            if git(clone, "rev-parse", "main~1") == oid:
                git(clone, "update-ref", "-d", ref)
        for name in names:
            git(clone, "update-ref", name, "main~1")

    return make


def _broken(world: World, clone: Path) -> None:
    """A local stream whose memory is another actor's."""
    _refs()(world, clone)
    git(clone, "fetch", "-q", str(BUNDLE), f"refs/scenario/01/memory/{ALICE}/*:refs/x/*")
    (head,) = all_refs(clone, "refs/x").values()
    git(clone, "update-ref", f"refs/hn/memory/{CAROL}/{'a' * 64}", head)


def _unreachable(world: World, clone: Path) -> None:
    git(clone, "update-ref", "-d", f"refs/hn/memory/{CAROL}/{'a' * 64}")
    git(clone, "remote", "add", "gone", str(world.base / "gone.git"))


# What was done before each scenario of the receiver that keeps its refs.
KEPT = {
    KEEPS_REFS: _diverged,
    "malformed local memory ref": _refs("refs/hn/memory/x/y"),
    "malformed accepted memory ref": _refs("refs/hn/remotes/origin/memory/x"),
    "other refs below refs/hn are ignored": _refs(
        "refs/hn/remotes/origin/other/x", "refs/hn/quarantine/memory/x"
    ),
    "broken local stream: recall and show fail closed": _broken,
    "remote does not exist / unreachable": _unreachable,
}


def test_a_receiver_that_keeps_its_refs_meets_what_was_recorded(receiver: tuple[World, Path]) -> None:
    world, clone = receiver
    start, steps = ALL[_LAST - 1]
    world.advertise(start["bundle_refs"], BUNDLE)
    for run in steps:
        _check(clone, run)
    _check(clone, next(run for run in runs(SCENARIOS, "steps") if run.number == 137))
    seen = []
    for scenario, steps in ALL[_LAST:]:
        KEPT[scenario["scenario"]](world, clone)
        seen.append(scenario["scenario"])
        for run in steps:
            _check(clone, run)
    assert seen == list(KEPT)


FAILURES = load("repo-a.failures")
# Help is in our own words.
_OWN_HELP = ("select all advertised Hubnot refs", "select all refs/hn/… that the remote advertises")
_USAGE = {114, 118, 124, 125, 128, 129, 130}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """repo-a, which has no remote; the tests that share it change nothing in it."""
    return restore("repo-a", tmp_path_factory.mktemp("a") / "work")


@pytest.mark.parametrize(
    "run",
    [run for run in runs(FAILURES) if run.argv[:1] in (["replication"], ["sync"])],
    ids=lambda run: f"{run.number}-{'-'.join(run.argv)[:40]}",
)
def test_recorded_command_lines_are_answered_as_recorded(run: Run, alone: Path) -> None:
    result = hn(alone, *run.argv)
    if "-h" in run.argv:
        assert result.exit == 0
        assert "--max-total-bytes" in result.stdout
    else:
        said = run.stderr.replace(*_OWN_HELP)
        assert result == (2 if run.number in _USAGE else run.exit, run.stdout, said)
    assert not (alone / ".git" / "hn" / "replication").exists()
