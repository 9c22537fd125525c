"""The recorded two-actor and sync scenarios, replayed: the same exits, texts, refs and selections.

What is not reproduced is named in tests/data/fixtures/README.md; where the recorded text of a failed
verification differs from ours, everything around it is compared.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.hn.fixture_repos import Run, load, runs
from tests.replication.world import FIXTURES, World, all_refs, forget, hn

SCENARIOS = load("sync-scenarios")
BUNDLE = FIXTURES / "sync-scenarios.bundle"
# Ours says why in its own words, after the recorded beginning.
_OWN_WORDS = re.compile(r"(is structurally invalid): .*")
# Rewinds are refused here; what needs the other implementation's own fault injection is tested elsewhere.
NOT_REPRODUCED = {74, *range(119, 137)}
KEEPS_REFS = "local stream cannot be pushed (remote ref diverged)"


def _private(directory: Path) -> dict[str, str]:
    folder = directory / ".git" / "hn" / "replication" / "selections"
    return {path.name: path.read_text() for path in folder.glob("*.json")} if folder.is_dir() else {}


def _check(directory: Path, run: Run) -> None:
    result = hn(directory, *run.argv, stdin=run.stdin, now=run.data.get("now"))
    assert _OWN_WORDS.sub(r"\1", result.stdout) == _OWN_WORDS.sub(r"\1", run.stdout), run.number
    assert result.exit == run.exit, (run.number, result.stderr)
    # A hint may follow what was recorded, in parentheses.
    assert result.stderr.startswith(run.stderr.rstrip("\n")), (run.number, result.stderr)
    refs = {ref: oid for ref, oid in all_refs(directory).items() if ref.startswith("refs/hn/")}
    assert refs == run.data.get("refs_after", {}), run.number
    for name, entry in run.data.get("private_state_after", {}).items():
        if "/selections/" in name and "text" in entry:
            assert _private(directory)[Path(name).name] == entry["text"], run.number


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
