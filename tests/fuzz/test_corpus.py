"""Every reader of untrusted bytes over the corpus: seeds, and inputs that a fuzzer found once."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

CORPUS = REPOSITORY / "tests/data/corpus"
_spec = importlib.util.spec_from_file_location("fuzz_targets", REPOSITORY / "scripts/fuzz_targets.py")
assert _spec is not None
assert _spec.loader is not None
fuzz_targets = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fuzz_targets)


def test_every_target_has_a_corpus_and_every_corpus_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(fuzz_targets.TARGETS)


@pytest.mark.parametrize(
    "path", sorted(CORPUS.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_the_corpus_breaks_no_promise(path: Path) -> None:
    fuzz_targets.TARGETS[path.parent.name](path.read_bytes())


def test_a_broken_promise_is_a_finding() -> None:
    with pytest.raises(fuzz_targets.Finding):
        fuzz_targets._need(False, "nothing holds")
