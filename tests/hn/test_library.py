"""The library's stable names and its page in the documentation."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import ai_kb.hn
from ai_kb.hn.fields import is_path, is_repository_path

ROOT = Path(__file__).resolve().parents[2]


def test_every_example_of_the_library_page_gives_what_the_page_shows() -> None:
    results = doctest.testfile(str(ROOT / "docs" / "library.md"), module_relative=False, encoding="utf-8")
    assert results.attempted > 20
    assert results.failed == 0


@pytest.mark.parametrize("name", ai_kb.hn.__all__)
def test_every_stable_name_is_there_and_is_loaded_when_used(name: str) -> None:
    value = getattr(ai_kb.hn, name)
    assert value is getattr(ai_kb.hn, name)
    assert value.__name__ == name
    assert name in dir(ai_kb.hn)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'"):
        ai_kb.hn.nonsense  # noqa: B018


def test_a_path_for_a_flag_or_filter_can_name_something_in_a_commit() -> None:
    assert is_repository_path("a/..b/c")
    assert is_path("../a")
    assert not is_repository_path("../a")
    assert not is_repository_path("/a")
