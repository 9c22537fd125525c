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

SEEDS = range(int(os.environ.get("HN_HISTORIES", "4")))
STEPS = 36


def _open(history: History, at: str) -> Index:
    repo = locate(str(history.directory), os.environ)
    assert repo is not None
    with repo.objects() as reader:
        return open_index(repo, at=reader.resolve_commit(at))


def _without_cursor(value: dict[str, object]) -> dict[str, object]:
    return {name: entry for name, entry in value.items() if name != "nextCursor"}


def _answers(history: History, request: Request) -> tuple[dict[str, object], dict[str, object]]:
    """(from the index, from scratch), without cursors."""
    with _open(history, request.at) as index:
        scratch = Scratch(history.repo, index.at_commit, request.subject, request.path)
        return _without_cursor(recall(index, request).as_object()), scratch.recall(request)


@pytest.mark.parametrize("seed", SEEDS)
def test_after_any_history_recall_is_what_it_would_be_from_scratch(
    seed: int, tmp_path: Path, alice: Person, bob: Person, carol: Person
) -> None:
    history = History(tmp_path / "work", [alice, bob, carol], seed)
    said: list[str] = []
    everything = Request(lifecycle=["all"], include_untrusted=True, max_records=10_000)
    for number in range(STEPS):
        said.append(history.step())
        if number % 3 == 0:
            got, wanted = _answers(history, history.request())
            assert got == wanted, (seed, said)
    got, wanted = _answers(history, everything)
    assert got == wanted, (seed, said)
    assert history.ids


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_collected_as_garbage_is_not_shown_though_it_may_be_counted(
    seed: int, tmp_path: Path, alice: Person, bob: Person
) -> None:
    history = History(tmp_path / "work", [alice, bob], 3000 + seed, losing=True)
    for number in range(STEPS):
        history.step()
        if number % 3 == 0:
            got, wanted = _answers(history, history.request())
            # It is noticed where it would be shown, not where it is counted.
            matched, truth = got.pop("matched"), wanted.pop("matched")
            got.pop("truncated")
            wanted.pop("truncated")
            assert got == wanted, seed
            assert isinstance(matched, int)
            assert isinstance(truth, int)
            assert matched >= truth


@pytest.mark.parametrize("seed", SEEDS)
def test_after_every_event_the_stored_judgments_are_those_of_the_projection(
    seed: int, tmp_path: Path, alice: Person, bob: Person, carol: Person
) -> None:
    history = History(tmp_path / "work", [alice, bob, carol], 4000 + seed)
    seen: set[str] = set()
    for _ in range(STEPS):
        said = history.step()
        with _open(history, "HEAD") as index:
            rows = Scratch(history.repo, index.at_commit).projection.rows
            stored = index.conn.execute(
                "SELECT id, lifecycle, evidence, anchored FROM memory WHERE kind IS NOT NULL"
            )
            for raw, lifecycle, evidence, anchored in stored.fetchall():
                row = rows.pop("sha256:" + raw.hex())
                assert (lifecycle, evidence) == (row.lifecycle, row.evidence), (seed, said)
                applies = row.applicability in ("applicable", "inapplicable")
                assert anchored == ("applicable" if applies else row.applicability), (seed, said)
                seen.update((lifecycle, evidence, anchored))
            assert not rows, (seed, said)
    assert {"active", "resolved", "applicable"} <= seen


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
        assert made == before, seed
