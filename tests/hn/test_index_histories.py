"""Whatever happened to a repository, the private index answers as a projection from scratch does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ai_kb.hn import index as protocol_index
from ai_kb.hn.cache import Index, discard, locate, open_index
from ai_kb.hn.recall import recall
from ai_kb.hn.request import Request
from ai_kb.hn.rowjson import row_object
from tests.hn.conftest import Person
from tests.hn.scratch import History, Scratch, row_mapping

SEEDS = range(int(os.environ.get("HN_HISTORIES", "6")))
STEPS = 45


def _open(history: History, at: str) -> Index:
    repo = locate(str(history.directory), os.environ)
    assert repo is not None
    with repo.objects() as reader:
        return open_index(repo, at=reader.resolve_commit(at))


def _without_cursor(value: dict[str, object]) -> dict[str, object]:
    return {name: entry for name, entry in value.items() if name != "nextCursor"}


def _check(history: History, request: Request, said: str) -> None:
    with _open(history, request.at) as index:
        scratch = Scratch(history.repo, index.at_commit, request.subject, request.path)
        got = _without_cursor(recall(index, request).as_object())
        wanted = scratch.recall(request)
        # What is lost between two questions is noticed where it would be shown, not where it is counted.
        got_count, wanted_count = got.pop("matched"), wanted.pop("matched")
        if index.gone or history.lost:
            assert isinstance(got_count, int)
            assert isinstance(wanted_count, int)
            assert got_count >= wanted_count, said
            got.pop("truncated"), wanted.pop("truncated")
        else:
            assert got_count == wanted_count, said
        assert got == wanted, said


@pytest.mark.parametrize("seed", SEEDS)
def test_after_any_history_recall_is_what_it_would_be_from_scratch(
    seed: int, tmp_path: Path, alice: Person, bob: Person, carol: Person
) -> None:
    history = History(tmp_path / "work", [alice, bob, carol], seed)
    said: list[str] = []
    for number in range(STEPS):
        said.append(history.step())
        if number % 3 == 0:
            _check(history, history.request(), f"seed {seed}: {said}")
    _check(history, Request(lifecycle=["all"], include_untrusted=True, max_records=10_000), f"seed {seed}")


@pytest.mark.parametrize("seed", SEEDS)
def test_after_any_history_every_row_of_the_index_is_that_of_the_projection(
    seed: int, tmp_path: Path, alice: Person, bob: Person, carol: Person
) -> None:
    history = History(tmp_path / "work", [alice, bob, carol], 1000 + seed)
    for number in range(STEPS):
        history.step()
        if number % 9 == 8:
            request = history.request()
            with _open(history, request.at) as index:
                rows = protocol_index.rows(index, request.subject, request.path)
                got = [row_object(row, nulls=True) for row in rows]
                scratch = Scratch(history.repo, index.at_commit, request.subject, request.path)
            wanted = [row_mapping(row) for _, row in sorted(scratch.projection.rows.items())]
            assert got == wanted, seed


@pytest.mark.parametrize("seed", SEEDS)
def test_an_index_that_grew_answers_as_one_made_anew(
    seed: int, tmp_path: Path, alice: Person, bob: Person
) -> None:
    history = History(tmp_path / "work", [alice, bob], 2000 + seed)
    requests = []
    for _ in range(STEPS):
        history.step()
        requests.append(history.request())
        with _open(history, "HEAD"):
            pass
    grown = []
    for request in requests[-8:]:
        with _open(history, request.at) as index:
            grown.append(recall(index, request).as_object())
    repo = locate(str(history.directory), os.environ)
    assert repo is not None
    discard(repo)
    for request, before in zip(requests[-8:], grown, strict=True):
        with _open(history, request.at) as index:
            made = recall(index, request).as_object()
        if not history.lost:
            assert made == before, seed
