"""What was recorded is whole, and each part of it is somebody's test.

The tests that play it take what they find; here stands how much that must be, and which test it is.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.hn.fixture_repos import FIXTURES, load, runs

DATA = FIXTURES.parent

# Lists of each file: how many entries. All of vectors is played by test_vectors, test_tokens, test_pattern.
SIZES: dict[str, dict[str, int]] = {
    "vectors/wire.json": {
        "valid": 115,
        "invalid": 326,
        "signatures": 15,
        "tokens": 35,
        "tokens_bytes": 1,
        "fingerprints": 10,
        "queries": 5,
        "cursors": 5,
        "cursor_decode": 17,
        "policies": 28,
        "topics_normalization": 12,
        "timestamp_order": 1,
    },
    "vectors/wire-large.json": {"valid": 5, "invalid": 8},
    "vectors/unicode.json": {"control": 2, "letter_or_number": 778, "lower": 1488, "space": 10},
    "vectors/grep-patterns.json": {"cases": 228, "texts": 20},
    # test_git_fixtures
    "fixtures/repo-a.build.json": {"steps": 35},
    # test_git_fixtures (show), test_recall_fixtures (recall, index)
    "fixtures/repo-a.expected.json": {"runs": 157, "cursor_walks": 3},
    "fixtures/repo-b-alice.expected.json": {"runs": 20},
    "fixtures/repo-b-bob.expected.json": {"runs": 20},
    "fixtures/repo-c.expected.json": {"runs": 17, "build": 2},
    # test_git_commands, test_recall_fixtures, replication/test_recorded
    "fixtures/repo-a.failures.json": {"runs": 132},
    # test_recall_fixtures
    "fixtures/repo-a.index.json": {"runs": 34},
    "fixtures/repo-a.index-rebuild-head.json": {"records": 28, "tokens": 85},
    "fixtures/repo-a.index-recall-c1-subject.json": {"records": 28, "tokens": 85},
    "fixtures/repo-a.index-recall-nopolicy.json": {"records": 28, "tokens": 85},
    "fixtures/repo-b-alice.index-head.json": {"records": 5, "tokens": 17},
    "fixtures/repo-b-bob.index-head.json": {"records": 5, "tokens": 17},
    "fixtures/repo-c.index-head.json": {"records": 2, "tokens": 9},
    # test_git_commands
    "fixtures/side-observations.json": {"paths": 9, "names": 8},
    # replication/test_recorded; the memory commands of the second also test_git_fixtures
    "fixtures/sync-scenarios.json": {"steps": 155},
    "fixtures/sync-two-actors.json": {"steps": 41},
    # figures of that implementation, which docs/protocol.md cites
    "fixtures/timings.json": {"results": 5},
}


def _lists(path: Path) -> dict[str, int]:
    value: dict[str, Any] = json.loads(path.read_text())
    # In a file of runs, ``texts`` holds what their outputs are put together from.
    skipped = {"texts"} if path.parent == FIXTURES else set()
    return {name: len(v) for name, v in value.items() if isinstance(v, list) and name not in skipped}


def test_every_recorded_file_is_known() -> None:
    found = {f"{path.parent.name}/{path.name}" for path in DATA.glob("*/*.json")}
    assert {name for name in found if name.startswith(("vectors/", "fixtures/"))} == SIZES.keys()


@pytest.mark.parametrize("name", SIZES)
def test_a_recorded_file_holds_all_that_was_recorded(name: str) -> None:
    assert _lists(DATA / name) == SIZES[name]


def test_every_recorded_run_belongs_to_a_test() -> None:
    """By its first words: those of the verbs that the tests named above select."""
    names = [name[len("fixtures/") : -len(".json")] for name, lists in SIZES.items() if "runs" in lists]
    found = Counter(
        (name.split(".")[1], *run.argv[: 2 if run.argv[:1] == ["memory"] else 1])
        for name in names
        for run in runs(load(name))
    )
    assert found == {
        ("expected", "memory", "show"): 59,
        ("expected", "memory", "recall"): 152,
        ("expected", "memory", "index"): 3,
        ("index", "memory", "recall"): 16,
        ("index", "memory", "index"): 18,
        # Help and version, whose text is our own.
        ("failures",): 1,
        ("failures", "help"): 1,
        ("failures", "version"): 1,
        # test_git_commands
        ("failures", "init"): 2,
        ("failures", "identity"): 5,
        ("failures", "memory"): 1,
        ("failures", "memory", "record"): 51,
        ("failures", "memory", "handoff"): 5,
        ("failures", "memory", "supersede"): 3,
        ("failures", "memory", "retract"): 8,
        ("failures", "memory", "challenge"): 6,
        ("failures", "memory", "show"): 1,
        # test_recall_fixtures
        ("failures", "memory", "recall"): 25,
        ("failures", "memory", "index"): 3,
        # replication/test_recorded
        ("failures", "replication"): 13,
        ("failures", "sync"): 6,
    }
