"""Appending: one compare-and-swap, one winner, the same cost at any length, the bytes git would write."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from ai_kb.hn import streams
from ai_kb.hn.envelope import Anchor, Applicability, Record
from ai_kb.hn.errors import HnError, InvalidEnvelope, InvalidRequest, InvalidStream, LostRace
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.gitwrite import clean_name, commit_bytes, git_date, object_id, update_ref, write_objects
from ai_kb.hn.identity import Identity
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.streams import Appended, append, collect, timestamp_text
from tests.hn.fixture_repos import all_refs, git, give_identity, hn
from tests.hn.stream_maker import Maker

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def work(repository: Path) -> Path:
    give_identity(repository / ".git", "alice")
    return repository


@pytest.fixture
def maker(work: Path, alice: Any) -> Maker:
    return Maker(work, alice)


def say(work: Path, who: Any, content: str = "x", **options: Any) -> Appended:
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader, PrefixStore.open(repo) as prefixes:
        return append(
            repo,
            reader,
            Identity(who.name, who.private_key),
            operation="record",
            now=datetime(2026, 8, 30, 12, 34, 56, tzinfo=UTC),
            record=Record("observation", content, Anchor("a" * 40), Applicability("exact")),
            **{"prefixes": prefixes, **options},
        )


def test_appends_follow_each_other(work: Path, alice: Any) -> None:
    made = [say(work, alice, f"{n}") for n in range(3)]
    assert [m.envelope.sequence for m in made] == [1, 2, 3]
    assert [m.envelope.previous for m in made] == ["", made[0].id, made[1].id]
    assert git(work, "rev-list", "--reverse", made[0].ref).split() == [m.commit for m in made]
    without = say(work, alice, "3", prefixes=None)
    assert without.envelope.sequence == 4


def test_append_to_a_stream_somebody_else_wrote_verifies_it_first(
    work: Path, maker: Maker, alice: Any
) -> None:
    maker.bulk(20)
    assert say(work, alice).envelope.sequence == 21
    bad = maker.payload()
    maker.head, maker.sequence = git(work, "rev-parse", maker.ref), 21
    maker.place(maker.tree(bad, maker.signature(bad)), bad)
    before = all_refs(work)
    with pytest.raises(InvalidStream):
        say(work, alice)
    assert all_refs(work) == before


def test_what_is_no_valid_envelope_is_refused_before_anything_is_written(work: Path, alice: Any) -> None:
    before = _objects(work)
    with pytest.raises(InvalidEnvelope):
        say(work, alice, " ")
    with pytest.raises(InvalidRequest, match="invalid memory stream"):
        say(work, alice, stream="x")
    assert _objects(work) == before
    assert all_refs(work, "refs/hn") == {}


def _objects(work: Path) -> list[str]:
    return sorted(str(path) for path in (work / ".git/objects").rglob("*"))


def test_a_full_stream_takes_nothing_more(work: Path, alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    say(work, alice)
    monkeypatch.setattr(streams, "MAX_SEQUENCE", 1)
    with pytest.raises(InvalidStream, match="the stream is full"):
        say(work, alice)


# --- races --------------------------------------------------------------------------------------


def test_a_lost_race_says_reload_and_retry_and_changes_nothing(
    work: Path, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(work, alice)
    real = streams.write_memory
    winner: list[Appended] = []

    def late(*args: Any, **keywords: Any) -> tuple[str, str]:
        monkeypatch.setattr(streams, "write_memory", real)
        winner.append(say(work, alice, "first"))
        return real(*args, **keywords)

    monkeypatch.setattr(streams, "write_memory", late)
    with pytest.raises(LostRace, match=r"reload and retry with a newly signed envelope"):
        say(work, alice, "second")
    assert all_refs(work, "refs/hn") == {winner[0].ref: winner[0].commit}
    assert say(work, alice, "second").envelope.sequence == 3


def test_a_race_for_the_first_place_is_lost_too(
    work: Path, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = streams.write_memory

    def late(*args: Any, **keywords: Any) -> tuple[str, str]:
        monkeypatch.setattr(streams, "write_memory", real)
        say(work, alice, "first")
        return real(*args, **keywords)

    monkeypatch.setattr(streams, "write_memory", late)
    with pytest.raises(LostRace):
        say(work, alice, "second")


def test_a_ref_that_stays_locked_is_an_error_that_names_it(
    work: Path, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ai_kb.hn import gitwrite

    monkeypatch.setattr(gitwrite, "_RACE_WAIT", 0.1)
    made = say(work, alice)
    lock = work / ".git" / f"{made.ref}.lock"
    lock.touch()
    with pytest.raises(HnError, match="nothing was changed") as caught:
        say(work, alice)
    assert not isinstance(caught.value, LostRace)
    lock.unlink()
    assert say(work, alice).envelope.sequence == 2


def test_a_ref_that_cannot_be_made_is_an_error(work: Path, alice: Any) -> None:
    head = git(work, "rev-parse", "HEAD")
    git(work, "update-ref", f"refs/hn/memory/{alice.actor}", head)
    with pytest.raises(HnError, match="nothing was changed"):
        say(work, alice)


def test_a_symbolic_ref_leads_nowhere_else(work: Path, alice: Any, maker: Maker) -> None:
    """A stream's ref that points at a branch is replaced by the stream; the branch stays."""
    first = maker.add()
    git(work, "update-ref", "refs/heads/innocent", first)
    git(work, "update-ref", "-d", maker.ref)
    git(work, "symbolic-ref", maker.ref, "refs/heads/innocent")
    made = say(work, alice)
    assert all_refs(work)["refs/heads/innocent"] == first
    assert all_refs(work)[maker.ref] == made.commit


WRITER = """
import sys, time
sys.path.insert(0, {root!r})
from ai_kb.hn.cli import main
done = 0
while done < {count}:
    code = main(["memory", "record", "--kind", "observation", "--at", "HEAD", "--applies", "exact",
                 "--content", sys.argv[1] + " " + str(done)])
    done += code == 0
"""


def test_two_processes_that_append_at_once_lose_nothing_and_fork_nothing(work: Path) -> None:
    count = 6
    script = WRITER.format(root=str(ROOT), count=count)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script, name],
            cwd=work,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    for writer in writers:
        _, err = writer.communicate()
        assert writer.returncode == 0, err
        for line in err.splitlines():  # overtaken, or the other one holds the ref's lock for long
            assert "nothing was changed" in line
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader:
        memories = collect(repo, reader).memories.values()
    said = sorted(m.envelope.record.content for m in memories if m.envelope.record)
    assert said == sorted(f"{name} {n}" for name in ("one", "two") for n in range(count))
    assert sorted(m.envelope.sequence for m in memories) == list(range(1, 2 * count + 1))


# --- cost ---------------------------------------------------------------------------------------


def _spawned(action: Callable[[], object]) -> list[str]:
    commands: list[str] = []
    real = os.posix_spawn

    def listening(path: str, argv: list[str], *args: Any, **keywords: Any) -> int:
        commands.append(" ".join(argv[1:]))
        return real(path, argv, *args, **keywords)

    os.posix_spawn = listening  # type: ignore[assignment]
    try:
        action()
    finally:
        os.posix_spawn = real
    return commands


def _appended(work: Path) -> None:
    flags = (
        "--kind",
        "observation",
        "--at",
        "HEAD",
        "--applies",
        "exact",
        "--content",
        "x",
        "--path",
        "README.md",
    )
    assert hn(work, "memory", "record", *flags).exit == 0


def test_an_append_starts_few_processes_and_as_many_at_any_length(work: Path, maker: Maker) -> None:
    _appended(work)
    short = _spawned(lambda: _appended(work))
    maker.head = git(work, "rev-parse", maker.ref)
    for memory in _memories(work):
        maker.sequence = max(maker.sequence, memory.envelope.sequence)
        if memory.envelope.sequence == maker.sequence:
            maker.previous = memory.id
    maker.bulk(600)
    _appended(work)
    long = _spawned(lambda: _appended(work))
    assert len(long) == len(short) <= 5, long


def _memories(work: Path) -> list[Any]:
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader:
        return list(collect(repo, reader).memories.values())


def test_a_retraction_reads_no_more_of_a_long_stream_than_of_a_short_one(
    work: Path, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ai_kb.hn import envelope

    maker.bulk(400)
    _appended(work)
    target = _memories(work)[5].id
    decoded = 0
    real = envelope.decode_envelope

    def counting(payload: bytes) -> Any:
        nonlocal decoded
        decoded += 1
        return real(payload)

    monkeypatch.setattr(streams, "decode_envelope", counting)
    monkeypatch.setattr(envelope, "decode_envelope", counting)
    assert hn(work, "memory", "retract", target, "--reason", "x").exit == 0
    assert decoded <= 2


# --- bytes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 8, 30, 12, 34, 56, tzinfo=UTC), "2026-08-30T12:34:56Z"),
        (datetime(2026, 8, 30, 12, 34, 56, 250000, tzinfo=UTC), "2026-08-30T12:34:56.25Z"),
        (datetime(2026, 8, 30, 12, 34, 56, 1, tzinfo=UTC), "2026-08-30T12:34:56.000001Z"),
        (
            datetime(2026, 8, 30, 14, 34, 56, tzinfo=timezone(timedelta(hours=2))),
            "2026-08-30T12:34:56Z",
        ),
        (datetime(2026, 8, 30, 12, 34, 50, tzinfo=UTC), "2026-08-30T12:34:50Z"),
    ],
)
def test_the_signed_time_is_utc_without_trailing_zeros(moment: datetime, text: str) -> None:
    assert timestamp_text(moment) == text


@pytest.mark.parametrize(
    "timestamp",
    [
        "2026-08-30T12:34:56Z",
        "2026-08-30T12:34:56.999999999Z",
        "2026-08-30T12:34:56+05:30",
        "2026-08-30T12:34:56-03:00",
        "1970-01-02T00:00:00Z",
    ],
)
def test_dates_are_those_that_git_makes_of_the_timestamp(repository: Path, timestamp: str) -> None:
    tree = git(repository, "rev-parse", "HEAD^{tree}")
    commit = git(repository, "commit-tree", tree, "-m", "x", GIT_AUTHOR_DATE=timestamp)
    assert git(repository, "log", "-1", "--format=%ad", "--date=raw", commit) == git_date(timestamp)


def test_times_that_git_cannot_carry_are_refused() -> None:
    for timestamp in ("1969-12-31T23:59:59Z", "2100-01-01T00:00:00Z"):
        with pytest.raises(HnError, match="outside what a Git commit can carry"):
            git_date(timestamp)
    with pytest.raises(HnError, match="timestamp is invalid"):
        git_date("yesterday")


@pytest.mark.parametrize(
    "name",
    [
        "a<b>",
        "Carol <Agent>",
        " .x. ",
        "é",
        "a\nb",
        "'quoted'",
        '"q"',
        "x;",
        "a.b",
        "\x01x\x02",
        "Ünï (x)",
        "\\x\\",
    ],
)
def test_names_are_cleaned_as_git_cleans_them(repository: Path, name: str) -> None:
    tree = git(repository, "rev-parse", "HEAD^{tree}")
    commit = git(repository, "commit-tree", tree, "-m", "x", GIT_AUTHOR_NAME=name)
    raw = git(repository, "cat-file", "-p", commit).splitlines()
    author = next(line for line in raw if line.startswith("author "))
    assert author.removeprefix("author ").partition(" <test@")[0] == clean_name(name)


@pytest.mark.parametrize("name", [".", "<>", "", " , "])
def test_names_of_which_nothing_is_left_are_refused(name: str) -> None:
    assert clean_name(name) == ""
    with pytest.raises(HnError, match="does not accept"):
        commit_bytes(
            tree="a" * 40,
            parent=None,
            memory_id="sha256:x",
            actor="a" * 64,
            actor_name=name,
            timestamp="2026-08-30T12:34:56Z",
        )


def test_objects_of_any_size_are_stored_with_the_ids_git_gives(repository: Path) -> None:
    repo = Repository.open(str(repository), os.environ)
    blobs = [b"", b"x", b"y" * 15, b"z" * 16, os.urandom(3000), b"w" * 600_000]
    ids = write_objects(repo, [("blob", data) for data in blobs])
    for data, oid in zip(blobs, ids, strict=True):
        assert oid == object_id("blob", data, "sha1") == git(repository, "hash-object", "--stdin", stdin=data)
        assert git(repository, "cat-file", "-s", oid) == str(len(data))
    assert write_objects(repo, [("blob", b"x")]) == [ids[1]]


def test_a_disk_that_cannot_be_written_is_an_error(repository: Path) -> None:
    repo = Repository.open(str(repository), os.environ)
    shadow = repository / ".git" / "objects"
    shadow.rename(repository / "objects")
    with pytest.raises(HnError, match="nothing was changed"):
        write_objects(repo, [("blob", b"new")])
    (repository / "objects").rename(shadow)


def test_a_ref_is_moved_only_from_where_it_was(repository: Path) -> None:
    repo = Repository.open(str(repository), os.environ)
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "commit", "-q", "--allow-empty", "-m", "x")
    other = git(repository, "rev-parse", "HEAD")
    update_ref(repo, "refs/x/y", head, None)
    with pytest.raises(LostRace):
        update_ref(repo, "refs/x/y", other, None)
    with pytest.raises(LostRace):
        update_ref(repo, "refs/x/y", other, other)
    update_ref(repo, "refs/x/y", other, head)
    with pytest.raises(HnError, match="nothing was changed"):
        update_ref(repo, "refs/x/z", "9" * 40, None)
    assert all_refs(repository, "refs/x") == {"refs/x/y": other}
