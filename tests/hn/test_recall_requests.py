"""What recall is asked, normalized; how its pages are drawn; what a terminal and a waiting person see."""

from __future__ import annotations

import io
import itertools
import json
import os
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ai_kb.hn import cache_bits as bits
from ai_kb.hn import cache_context, page, progress
from ai_kb.hn.cache import locate, open_index
from ai_kb.hn.cache_file import connect
from ai_kb.hn.errors import HnError, InvalidRequest
from ai_kb.hn.recall import recall
from ai_kb.hn.request import LIFECYCLES, REQUEST_FIELDS, Request, from_input
from tests.hn.conftest import Person
from tests.hn.fixture_repos import git, hn, restore
from tests.hn.scratch import History

COMMIT = "a" * 40


# --- requests -----------------------------------------------------------------------------------


def test_a_request_is_normalized() -> None:
    request = Request(
        topics=["  Beta ", "ALPHA", "beta"],
        kinds=["handoff", "decision", "decision"],
        lifecycle=["superseded", "active", "active"],
        trust=["qualified", "kind-untrusted"],
    )
    assert request.topics == ["alpha", "beta"]
    assert request.kinds == ["decision", "handoff"]
    assert request.lifecycle == ["active", "superseded"]
    assert request.trust == ["kind-untrusted", "qualified"]
    assert request.at == "HEAD"
    mapping = request.mapping(COMMIT)
    assert mapping["atCommit"] == COMMIT
    assert (mapping["maxRecords"], mapping["maxContentBytes"]) == (20, 65_536)


def test_defaults_are_active_and_qualified_and_untrusted_ones_only_when_asked_for() -> None:
    assert (Request().lifecycle, Request().trust) == (["active"], ["qualified"])
    assert Request(include_untrusted=True).trust == []
    assert Request(include_untrusted=True, trust=["qualified"]).trust == ["qualified"]
    assert list(Request(lifecycle=["all"]).lifecycles) == list(LIFECYCLES)
    assert Request(lifecycle=["all"]).mapping(COMMIT)["lifecycle"] == []
    assert Request(lifecycle=["branching", "active"]).lifecycles == ["active", "branching"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"max_records": 0}, "bounds must be positive"),
        ({"max_content_bytes": -1}, "bounds must be positive"),
        ({"subject": "issue:1"}, "invalid subject filter"),
        ({"path": "a/../b"}, "invalid path filter"),
        ({"path": "/a"}, "invalid path filter"),
        ({"path": "../a"}, "invalid path filter"),
        ({"path": "a\udcffb"}, "invalid path filter"),
        ({"topics": [""]}, "invalid topic filter"),
        ({"topics": ["a\udcffb"]}, "invalid topic filter"),
        ({"topics": ["x" * 129]}, "invalid topic filter"),
        ({"kinds": ["note"]}, "invalid kind filter"),
        ({"actors": ["A" * 64]}, "invalid actor filter"),
        ({"lifecycle": ["all", "active"]}, "invalid lifecycle filter"),
        ({"lifecycle": ["gone"]}, "invalid lifecycle filter"),
        ({"trust": ["all"]}, "invalid trust filter"),
    ],
)
def test_a_filter_that_breaks_a_rule_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        Request(**fields)


def _input(**fields: object) -> Request:
    return from_input(json.dumps({"version": 0, "atCommit": COMMIT, **fields}).encode())


# A value that each field of a request may have.
_ANY: dict[str, object] = {
    "version": 0,
    "atCommit": COMMIT,
    "subject": "run:sha256:" + "1" * 64,
    "path": "a",
    "topic": ["a"],
    "kind": ["decision"],
    "actor": ["b" * 64],
    "lifecycle": ["all"],
    "trust": ["qualified"],
    "query": "one",
    "maxRecords": 1,
    "maxContentBytes": 1,
    "includeUntrusted": True,
    "cursor": "c",
}


def test_machine_input_states_every_field() -> None:
    request = _input(
        subject="run:sha256:" + "1" * 64,
        path="src/a.py",
        topic=["B", "a"],
        kind=["decision"],
        actor=["b" * 64],
        lifecycle=["all"],
        trust=["qualified"],
        query="one two",
        maxRecords=3,
        maxContentBytes=9,
        cursor="c",
        includeUntrusted=True,
    )
    assert (request.at, request.exact, request.cursor) == (COMMIT, True, "c")
    assert request.topics == ["a", "b"]
    assert request.mapping(COMMIT) == {
        "version": 0,
        "atCommit": COMMIT,
        "subject": "run:sha256:" + "1" * 64,
        "path": "src/a.py",
        "topic": ["a", "b"],
        "kind": ["decision"],
        "actor": ["b" * 64],
        "lifecycle": [],
        "trust": ["qualified"],
        "query": "one two",
        "maxRecords": 3,
        "maxContentBytes": 9,
        "includeUntrusted": True,
    }


def test_what_may_be_asked_is_what_is_digested_and_the_cursor() -> None:
    assert tuple(Request().mapping(COMMIT)) == REQUEST_FIELDS
    for name in (*REQUEST_FIELDS, "cursor"):
        assert from_input(json.dumps({"version": 0, "atCommit": COMMIT, name: _ANY[name]}).encode())
        with pytest.raises(InvalidRequest, match=r"must be|positive|integer"):
            from_input(json.dumps({"version": 0, "atCommit": COMMIT, name: {}}).encode())


def test_an_absent_and_a_null_field_are_the_same_and_the_case_of_keys_does_not_count() -> None:
    plain = _input().mapping(COMMIT)
    assert _input(topic=None, query=None, lifecycle=None, includeUntrusted=None).mapping(COMMIT) == plain
    assert from_input(b'{"VERSION": 0, "AtCommit": "%b"}' % COMMIT.encode()).mapping(COMMIT) == plain


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"version": 0}',
        b'{"version": 1, "atCommit": "%b"}' % COMMIT.encode(),
        b'{"version": 0, "atCommit": "%b", "x": 1}' % COMMIT.encode(),
        b'{"version": 0, "atCommit": "%b", "atCommit": "%b"}' % (COMMIT.encode(), COMMIT.encode()),
        b'{"version": 0, "atCommit": "%b"} x' % COMMIT.encode(),
        b'{"version": 0, "atCommit": "\xff"}',
        *(
            json.dumps({"version": 0, "atCommit": COMMIT, **extra}).encode()
            for extra in (
                {"maxRecords": None},
                {"maxRecords": 1.0},
                {"maxRecords": "1"},
                {"maxRecords": 0},
                {"maxContentBytes": 2**63},
                {"topic": "a"},
                {"topic": [1]},
                {"query": 1},
                {"includeUntrusted": 1},
            )
        ),
        json.dumps({"version": 0, "atCommit": COMMIT[:39]}).encode(),
        json.dumps({"version": 0, "atCommit": "HEAD"}).encode(),
        b" " * (1 << 20) + b"{}",
    ],
)
def test_machine_input_is_strict(data: bytes) -> None:
    with pytest.raises(HnError):
        from_input(data)


@pytest.mark.parametrize(
    "flags",
    [
        ("--at", "HEAD"),
        ("--query", ""),
        ("--max-records", "20"),
        ("--topic", "x"),
        ("--include-untrusted",),
        ("--cursor", ""),
    ],
)
def test_machine_input_and_flags_exclude_each_other(flags: tuple[str, ...], tmp_path: Path) -> None:
    work = restore("repo-c", tmp_path / "work")
    result = hn(work, "memory", "recall", "--input", "-", "--json", *flags, stdin=b"{}")
    assert result.exit == 1
    assert "--input requires --json and cannot be combined with recall flags" in result.stderr


def test_machine_input_is_read_from_a_file(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    commit = git(work, "rev-parse", "HEAD")
    (work / "request.json").write_text(json.dumps({"version": 0, "atCommit": commit}))
    by_file = hn(work, "memory", "recall", "--input", "request.json", "--json")
    assert by_file == hn(work, "memory", "recall", "--json")
    assert hn(work, "memory", "recall", "--input", "nowhere", "--json").exit == 1
    assert hn(work, "memory", "recall", "--input", ".", "--json").exit == 1


# --- sets -----------------------------------------------------------------------------------------

_OPENED: list[sqlite3.Connection] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """What a test opened is closed behind it: Python 3.13 complains of the rest."""
    yield
    while _OPENED:
        _OPENED.pop().close()


@pytest.mark.parametrize("seed", range(4))
def test_stored_sets_are_the_sets_that_were_put_in_and_taken_out(seed: int) -> None:
    rng = random.Random(seed)
    conn = connect(":memory:", write=True, timeout=0)
    assert conn is not None
    _OPENED.append(conn)
    keys = [bits.KIND + "a", bits.TOKEN + "word", bits.key_of(bits.TOKEN, "long" * 60), bits.TOPIC + "é"]
    wanted: dict[str, set[int]] = {key: set() for key in keys}
    for _ in range(12):
        staged = bits.Staged()
        for key in keys:
            gone = set(rng.sample(sorted(wanted[key]), len(wanted[key]) // 3))
            come = {rng.randrange(3 * bits.BLOCK) for _ in range(rng.choice((1, 30, 3000)))} - wanted[key]
            for number in gone:
                staged.remove(number, key)
            for number in come:
                staged.add(number, key)
            wanted[key] = (wanted[key] - gone) | come
        staged.flush(conn)
        for key in keys:
            assert list(bits.members(bits.read(conn, key))) == sorted(wanted[key])
            assert bits.read(conn, key) == bits.union(wanted[key])
    assert bits.read(conn, bits.TOKEN + "none") == 0
    bits.write(conn, bits.DESCENDS + "x", bits.union(wanted[keys[0]]))
    assert bits.read(conn, bits.DESCENDS + "x") == bits.union(wanted[keys[0]])
    bits.write(conn, bits.DESCENDS + "x", 0)
    assert bits.read(conn, bits.DESCENDS + "x") == 0


def test_a_long_value_is_never_taken_for_a_short_one() -> None:
    long = "x" * 5000
    key = bits.key_of(bits.TOKEN, long)
    assert len(key) < 80
    assert key != bits.key_of(bits.TOKEN, long + "x")
    assert key != bits.key_of(bits.TOPIC, long)


# --- pages ----------------------------------------------------------------------------------------


def _fill(count: int, seed: int) -> Any:
    """An index of ``count`` rows with few different times, and what order they belong in."""
    rng = random.Random(seed)
    conn = connect(":memory:", write=True, timeout=0)
    assert conn is not None
    _OPENED.append(conn)
    rows = []
    staged = bits.Staged()
    for number in range(count):
        lifecycle = rng.choice(("active", "active", "superseded"))
        timestamp = f"2026-08-30T12:00:{rng.randrange(30):02}{rng.choice(('', '.5'))}Z"
        raw = rng.randbytes(32)
        rows.append((number, raw, timestamp, lifecycle, rng.randrange(1, 400)))
        staged.add(number, bits.LIFECYCLE + lifecycle)
    conn.executemany(
        "INSERT INTO memory (number, id, sid, sequence, timestamp, operation, kind, lifecycle, content_bytes)"
        " VALUES (?, ?, 1, 1, ?, 'record', 'decision', ?, ?)",
        rows,
    )
    conn.execute("UPDATE state SET next = ?", (count,))
    staged.flush(conn)
    ordered = sorted(rows, key=lambda row: row[1])
    ordered.sort(key=lambda row: row[2], reverse=True)
    ordered.sort(key=lambda row: ("active", "superseded").index(row[3]))
    return conn, [row[0] for row in ordered], {row[0]: row for row in rows}


@pytest.mark.parametrize(("count", "part"), [(40, 1.0), (3000, 1.0), (3000, 0.4), (3000, 0.01)])
def test_few_matches_and_many_come_in_the_same_order_from_any_place_on(count: int, part: float) -> None:
    rng = random.Random(count)
    conn, ordered, rows = _fill(count, count)
    chosen = {number for number in ordered if rng.random() < part}
    wanted = [number for number in ordered if number in chosen]
    lifecycles = ("active", "superseded")
    matched = bits.union(chosen)
    assert list(page.in_order(conn, matched, lifecycles)) == wanted
    for place in {0, len(wanted) // 2, len(wanted) - 1} if wanted else ():
        after = page.place_of(conn, rows[wanted[place]][1])
        assert list(page.in_order(conn, matched, lifecycles, after)) == wanted[place + 1 :]
    assert list(page.in_order(conn, matched, ("superseded",))) == [
        n for n in wanted if rows[n][3] != "active"
    ]


def test_pages_by_any_bound_join_to_the_whole() -> None:
    conn, ordered, rows = _fill(700, 3)
    matched = bits.union(ordered)
    lifecycles = ("active", "superseded")
    for max_records, max_bytes in ((1, 400), (7, 1000), (100, 400), (1000, 10**6)):
        walked: list[int] = []
        after = None
        while True:
            numbers = page.in_order(conn, matched, lifecycles, after)
            got, more = page.cut(conn, numbers, page.CONTENT_BYTES, max_records, max_bytes)
            assert 1 <= len(got) <= max_records
            assert sum(rows[number][4] for number in got) <= max_bytes
            walked += got
            if not more:
                break
            after = page.place_of(conn, rows[got[-1]][1])
        assert walked == ordered


def test_the_first_in_order_of_those_that_are_too_large_is_named() -> None:
    conn, ordered, rows = _fill(300, 5)
    matched = bits.union(ordered)
    first = next(number for number in ordered if rows[number][4] > 200)
    named = page.oversized(conn, matched, ("active", "superseded"), page.CONTENT_BYTES, 200)
    assert named == "sha256:" + rows[first][1].hex()
    assert page.oversized(conn, matched, ("active", "superseded"), page.CONTENT_BYTES, 400) is None


# --- query commits --------------------------------------------------------------------------------


def test_only_a_few_query_commits_are_kept_and_any_is_answered(
    tmp_path: Path, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_context, "_KEPT", 3)
    history = History(tmp_path / "work", [alice], 31)
    for _ in range(10):
        history.memory()
        history.commit()
    repo = locate(str(history.directory), os.environ)
    assert repo is not None
    commits = git(history.directory, "rev-list", "HEAD").split()
    answers = {}
    for commit in itertools.chain(commits, reversed(commits)):
        with open_index(repo, at=commit) as index:
            answers.setdefault(commit, index.gate(trust=()))
            assert index.gate(trust=()) == answers[commit]
            assert index.conn.execute("SELECT count(*) FROM context").fetchone()[0] <= 3
    assert len(set(answers.values())) > 1


def test_commits_without_anything_in_common_are_asked_about_at_once(
    tmp_path: Path, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(tmp_path / "work", [alice], 32)
    for _ in range(8):
        history.memory()
        history.commit()
    repo = locate(str(history.directory), os.environ)
    assert repo is not None
    commits = git(history.directory, "rev-list", "HEAD").split()
    with open_index(repo, at=commits[0]), open_index(repo, at=commits[-1]) as index:
        by_difference = index.gate(trust=())
    monkeypatch.setattr(cache_context, "_MAX_DIFFERENCE", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    with open_index(repo.__class__.open(str(history.directory), os.environ), at=commits[0]):
        pass
    fresh = locate(str(history.directory), os.environ)
    assert fresh is not None
    with open_index(fresh, at=commits[-1]) as index:
        assert index.gate(trust=()) == by_difference


def test_a_repository_without_a_commit_has_no_query_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "empty")
    result = hn(tmp_path / "empty", "memory", "recall")
    assert result.exit == 1
    assert result.stderr == 'hn: Git revision "HEAD" is not a commit\n'


# --- what is shown --------------------------------------------------------------------------------


def test_author_text_cannot_write_to_a_terminal(tmp_path: Path) -> None:
    work = restore("repo-c", tmp_path / "work")
    content = "a\x1b[2Jb\u202ec\u2066d\x9be\x00f\x7fg\u200fh"
    flags = ("--kind", "observation", "--at", "HEAD", "--applies", "exact", "--input", "-", "--json")
    commit = git(work, "rev-parse", "HEAD")
    request = {
        "version": 0,
        "kind": "observation",
        "content": content,
        "anchor": {"commit": commit},
        "applicability": {"mode": "exact"},
        "topics": [],
        "evidence": [],
    }
    done = hn(work, "memory", "record", *flags[-3:], stdin=json.dumps(request).encode())
    assert done.exit == 0, done.stderr
    for verb in (("recall",), ("grep", "")):
        shown = hn(work, "memory", verb[0], "--include-untrusted", *verb[1:]).stdout
        assert not set(shown) & set("\x1b\u202e\u2066\x9b\x00\x7f\u200f"), verb
        assert "Matched: " in shown


def test_the_next_cursor_is_shown_on_a_terminal_too(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    lines = hn(work, "memory", "recall", "--max-records", "1").stdout.splitlines()
    assert lines[1] == "Matched: 10; returned: 1; truncated: true"
    name, _, cursor = lines[-1].partition(": ")
    assert name == "Next cursor"
    assert hn(work, "memory", "recall", "--max-records", "1", "--cursor", cursor).exit == 0


def test_a_query_without_words_fails_before_any_index_is_made(
    tmp_path: Path, isolated: dict[str, str]
) -> None:
    work = restore("repo-a", tmp_path / "work")
    result = hn(work, "memory", "recall", "--query", "---")
    assert (result.exit, result.stderr) == (1, "hn: memory index query has no lexical terms\n")
    assert not (Path(isolated["XDG_CACHE_HOME"]) / "agent-hook-suite" / "index").exists()


def test_what_was_gone_when_the_page_was_drawn_is_left_out_and_the_page_filled(tmp_path: Path) -> None:
    work = restore("repo-c", tmp_path / "work")
    data = b"evidence that will not last"
    oid = git(work, "hash-object", "-w", "--stdin", stdin=data)
    record = ("memory", "record", "--kind", "observation", "--at", "HEAD", "--applies", "exact", "--content")
    first, second = "2026-11-30T12:00:00Z", "2026-11-30T12:00:01Z"
    assert hn(work, *record, "stays", now=first).exit == 0
    assert hn(work, *record, "goes", "--evidence", f"git:{oid}", now=second).exit == 0
    repo = locate(str(work), os.environ)
    assert repo is not None
    request = Request(include_untrusted=True, max_records=1)

    def contents() -> list[object]:
        with open_index(repo) as index:
            return [row.record["content"] for row in recall(index, request).rows]

    assert contents() == ["goes"]
    (work / ".git/objects" / oid[:2] / oid[2:]).unlink()
    assert contents() == ["stays"]
    git(work, "hash-object", "-w", "--stdin", stdin=data)
    assert contents() == ["goes"]


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_progress_is_silent_for_a_second_and_then_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock()
    monkeypatch.setattr(progress, "time", clock)
    stream = io.StringIO()
    report = progress.Progress(stream, terminal=False)
    for step in range(301):
        clock.now = step / 100
        report("verifying records", step * 1000, 300_000)
    lines = stream.getvalue().splitlines()
    assert 4 <= len(lines) <= 9
    assert lines[0] == "verifying records: 100,000 of 300,000"
    report.close()
    assert stream.getvalue().splitlines() == lines


def test_progress_on_a_terminal_leaves_an_empty_line(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock()
    monkeypatch.setattr(progress, "time", clock)
    stream = io.StringIO()
    report = progress.Progress(stream, terminal=True)
    clock.now = 2
    report("verifying records", 1, 2)
    report.close()
    report.close()
    assert stream.getvalue() == "\rverifying records: 1 of 2\r" + " " * 25 + "\r"


def test_progress_can_be_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0)
    work = restore("repo-a", tmp_path / "work")
    result = hn(work, "memory", "index", "rebuild", "--progress")
    assert result.exit == 0
    assert "verifying records: 0 of " in result.stderr
    for verb in (("recall", "--at", "side"), ("grep", "--at", "v1", "x")):
        assert hn(work, "memory", verb[0], "--progress", *verb[1:]).exit == 0
