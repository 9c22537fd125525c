"""Every reader of untrusted bytes over the corpus: seeds, and inputs that a fuzzer found once."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import REPOSITORY

CORPUS = REPOSITORY / "tests/data/corpus"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / f"scripts/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fuzz_targets = script("fuzz_targets")
property_tests = script("fuzz_properties").property_tests


def test_every_target_has_a_corpus_and_every_corpus_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(fuzz_targets.TARGETS)


@pytest.mark.parametrize("target", fuzz_targets.TARGETS)
def test_a_corpus_holds_what_is_taken_and_what_is_refused(target: str) -> None:
    """A target that refuses everything at its door tests nothing behind it."""
    seeds = [path.read_bytes() for path in (CORPUS / target).iterdir()]
    assert {fuzz_targets.TARGETS[target](seed) for seed in seeds} == {True, False}


@pytest.mark.parametrize(
    "path", sorted(CORPUS.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_the_corpus_breaks_no_promise(path: Path) -> None:
    fuzz_targets.TARGETS[path.parent.name](path.read_bytes())


def test_a_broken_promise_is_a_finding() -> None:
    with pytest.raises(fuzz_targets.Finding):
        fuzz_targets._need(False, "nothing holds")


def test_every_property_test_is_found() -> None:
    found = [test.partition("::")[0] for test in property_tests(REPOSITORY)]
    assert len(found) >= 40
    for path in REPOSITORY.glob("tests/**/test_*.py"):
        name = path.relative_to(REPOSITORY).as_posix()
        assert found.count(name) == len(re.findall(r"^ *@given\(", path.read_text(), re.M)), name


def test_a_property_test_is_found_wherever_it_stands(tmp_path: Path) -> None:
    (tmp_path / "tests/a").mkdir(parents=True)
    (tmp_path / "tests/a/test_b.py").write_text(
        "@given(x)\n@other\ndef test_one(): ...\n"
        "def test_two(): ...\n"
        "class TestThree:\n"
        "    @hypothesis.given\n    def test_four(self): ...\n"
        "    @pytest.mark.slow\n    def test_five(self): ...\n"
        "def test_six():\n    @settings()\n    @given()\n    def check(): ...\n    check()\n"
        "@given()\ndef helper(): ...\n"
    )
    names = ["test_one", "TestThree::test_four", "test_six"]
    assert property_tests(tmp_path) == [f"tests/a/test_b.py::{name}" for name in names]
