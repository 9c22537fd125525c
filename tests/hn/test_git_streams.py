"""Streams are verified whole, in bulk, and refused with the reason; nothing else moves or is printed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ai_kb.hn import keys
from ai_kb.hn.errors import HnError, InvalidStream
from ai_kb.hn.gitstore import ObjectReader, Repository
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.streams import (
    Collection,
    StreamGap,
    accepted_ref,
    collect,
    find_memory,
    is_remote_name,
    is_stream_id,
    memory_ref,
    parse_ref,
    sources_of,
)
from ai_kb.hn.verification import Checkpoint, advance, verify_stream
from tests.hn.fixture_repos import all_refs, git, give_identity, hn
from tests.hn.stream_maker import SECRET, Maker


@pytest.fixture
def work(repository: Path) -> Path:
    give_identity(repository / ".git", "alice")
    return repository


@pytest.fixture
def maker(work: Path, alice: Any) -> Maker:
    return Maker(work, alice)


def gather(work: Path, *, remember: bool = False) -> Collection:
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader:
        if not remember:
            return collect(repo, reader)
        with PrefixStore.open(repo) as prefixes:
            return collect(repo, reader, prefixes=prefixes)


def refuse(work: Path, *words: str) -> None:
    """Collection fails with ``words`` in its message, moves no ref and prints nothing of a payload."""
    before = all_refs(work)
    for remember in (False, True):
        with pytest.raises(InvalidStream) as caught:
            gather(work, remember=remember)
        for word in words:
            assert word in caught.value.message
        assert SECRET not in caught.value.message
    result = hn(work, "memory", "show", "sha256:" + "0" * 64)
    assert result.exit == 1
    assert result.stdout == ""
    assert result.stderr.startswith("hn: ")
    assert SECRET not in result.stderr
    assert all_refs(work) == before


# --- a valid stream -----------------------------------------------------------------------------


def test_a_stream_written_by_plain_git_is_read(work: Path, maker: Maker) -> None:
    commits = [maker.add() for _ in range(3)]
    found = gather(work)
    assert found.sources == [(maker.ref, commits[-1])]
    positions = sorted((p.sequence, p.commit, p.ref) for p in found.positions.values())
    assert positions == [(n, commit, maker.ref) for n, commit in enumerate(commits, 1)]


def test_message_name_and_date_of_a_commit_are_not_compared(work: Path, maker: Maker) -> None:
    payload = maker.payload()
    tree = maker.tree(payload, maker.signature(payload))
    commit = git(
        work,
        "commit-tree",
        tree,
        "-m",
        "x",
        GIT_AUTHOR_NAME="Mallory",
        GIT_AUTHOR_DATE="2001-01-01T00:00:00Z",
    )
    git(work, "update-ref", maker.ref, commit)
    assert len(gather(work).memories) == 1


def test_a_long_stream_is_read_with_few_processes(work: Path, maker: Maker) -> None:
    maker.bulk(700)  # more than one batch, and more than the commits that are walked singly
    maker.add()
    repo = Repository.open(str(work), os.environ)
    spawned = _count_spawns(lambda: _verify(repo))
    assert spawned <= 3  # refs, the list of commits, the objects
    assert len(gather(work).memories) == 701


def _verify(repo: Repository) -> None:
    with repo.objects() as reader:
        collect(repo, reader)


def _count_spawns(action: Callable[[], None]) -> int:
    count = 0
    real = os.posix_spawn

    def counting(*args: Any, **keywords: Any) -> int:
        nonlocal count
        count += 1
        return real(*args, **keywords)

    os.posix_spawn = counting  # type: ignore[assignment]
    try:
        action()
    finally:
        os.posix_spawn = real
    return count


def test_a_stream_that_is_local_and_accepted_is_shown_as_local(work: Path, maker: Maker, bob: Any) -> None:
    first = maker.add()
    maker.add()
    git(work, "update-ref", accepted_ref("origin", maker.person.actor, maker.stream), first)
    git(work, "update-ref", accepted_ref("other", maker.person.actor, maker.stream), str(maker.head))
    theirs = Maker(work, bob)
    theirs.add()
    git(work, "update-ref", accepted_ref("origin", bob.actor, bob.stream), str(theirs.head))
    git(work, "update-ref", "-d", theirs.ref)
    for _ in range(2):
        found = gather(work, remember=True)
        assert len(found.sources) == 4
        assert len(found.memories) == 3
        refs = {p.ref for p in found.positions.values()}
        assert refs == {maker.ref, accepted_ref("origin", bob.actor, bob.stream)}


# --- what is refused ----------------------------------------------------------------------------


def trees(maker: Maker) -> dict[str, Callable[[bytes, bytes], tuple[str, str]]]:
    """Name of a corruption → (tree made of payload and signature text, words of the reason)."""

    def blobs(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.blob(payload), maker.blob(text)

    mode = "with mode 100644"
    exactly = "tree must contain exactly memory.json and signature"

    def missing(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.raw_tree(("100644", "memory.json", maker.blob(payload))), exactly

    def missing_payload(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.raw_tree(("100644", "signature", maker.blob(text))), exactly

    def empty(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.raw_tree(), exactly

    def extra(payload: bytes, text: bytes) -> tuple[str, str]:
        one, two = blobs(payload, text)
        return (
            maker.raw_tree(
                ("100644", "memory.json", one), ("100644", "notes", one), ("100644", "signature", two)
            ),
            exactly,
        )

    def nested(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.raw_tree(("40000", "memory", maker.tree(payload, text))), exactly

    def duplicate(payload: bytes, text: bytes) -> tuple[str, str]:
        one, two = blobs(payload, text)
        names = (("100644", "memory.json", one), ("100644", "memory.json", one), ("100644", "signature", two))
        return maker.raw_tree(*names), exactly

    def unsorted(payload: bytes, text: bytes) -> tuple[str, str]:
        one, two = blobs(payload, text)
        return maker.raw_tree(("100644", "signature", two), ("100644", "memory.json", one)), exactly

    def executable(payload: bytes, text: bytes) -> tuple[str, str]:
        one, two = blobs(payload, text)
        return maker.raw_tree(("100755", "memory.json", one), ("100644", "signature", two)), mode

    def link(payload: bytes, text: bytes) -> tuple[str, str]:
        one, two = blobs(payload, text)
        return maker.raw_tree(("100644", "memory.json", one), ("120000", "signature", two)), mode

    def padded_mode(payload: bytes, text: bytes) -> tuple[str, str]:
        one, two = blobs(payload, text)
        return maker.raw_tree(("0100644", "memory.json", one), ("100644", "signature", two)), mode

    def not_a_blob(payload: bytes, text: bytes) -> tuple[str, str]:
        one, two = blobs(payload, text)
        inner = maker.raw_tree(("100644", "x", one))
        return maker.raw_tree(("100644", "memory.json", inner), ("100644", "signature", two)), "is not a blob"

    def lost_blob(payload: bytes, text: bytes) -> tuple[str, str]:
        two = maker.blob(text)
        tree = maker.raw_tree(("100644", "memory.json", "5" * 40), ("100644", "signature", two))
        return tree, "blob memory.json is not available"

    def padded(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.tree(payload, text + b"=="), "not canonical unpadded base64"

    def bad_base64(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.tree(payload, b"!" + text[1:]), "not canonical unpadded base64"

    def not_ascii(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.tree(payload, "é".encode() + text[2:]), "not canonical unpadded base64"

    def line_break(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.tree(payload, text + b"\n"), "not canonical unpadded base64"

    def loose_bits(payload: bytes, text: bytes) -> tuple[str, str]:
        last = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        return maker.tree(payload, text[:-1] + last[last.index(text[-1:]) | 1 :][:1]), "base64"

    def short(payload: bytes, text: bytes) -> tuple[str, str]:
        raw = keys.decode_b64(text.decode())[:63]
        return maker.tree(payload, keys.encode_b64(raw).encode()), "invalid memory signature"

    def changed(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.tree(payload.replace(SECRET.encode(), SECRET.upper().encode()), text), "signature"

    def wide_signature(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.tree(payload, text * 2), "signature exceeds 128 bytes"

    def wide_payload(payload: bytes, text: bytes) -> tuple[str, str]:
        return maker.tree(payload + b" " * 600_000, text), "memory.json exceeds 524288 bytes"

    def spaced(payload: bytes, text: bytes) -> tuple[str, str]:
        other = payload + b"\n"
        return maker.tree(other, maker.signature(other)), "memory JSON is not canonical"

    def no_json(payload: bytes, text: bytes) -> tuple[str, str]:
        other = SECRET.encode()
        return maker.tree(other, maker.signature(other)), "invalid memory JSON"

    def unknown(payload: bytes, text: bytes) -> tuple[str, str]:
        other = payload.replace(b"hn-memory/0", b"hn-memory/1")
        return maker.tree(other, maker.signature(other)), "memory protocol is unsupported"

    def key_mismatch(payload: bytes, text: bytes) -> tuple[str, str]:
        other = payload.replace(maker.person.actor.encode(), b"0" * 64)
        return maker.tree(other, maker.signature(other)), "memory actor does not match publicKey"

    return {name: make for name, make in locals().items() if callable(make) and name != "blobs"}


@pytest.mark.parametrize("place", ["first", "later"])
@pytest.mark.parametrize("kind", sorted(trees(Maker(Path(), None, "sha256:"))))  # type: ignore[arg-type]
def test_a_damaged_tree_or_file_is_refused(work: Path, maker: Maker, kind: str, place: str) -> None:
    if place == "later":
        maker.add()
        maker.add()
    payload = maker.payload()
    tree, reason = trees(maker)[kind](payload, maker.signature(payload))
    commit = maker.place(tree, payload)
    refuse(work, f"memory source {maker.ref}: memory commit {commit}", reason)


def test_an_actor_that_is_not_the_owner_of_the_ref_is_refused(work: Path, maker: Maker, bob: Any) -> None:
    theirs = Maker(work, bob)
    head = theirs.add()
    git(work, "update-ref", "-d", theirs.ref)
    git(work, "update-ref", memory_ref(maker.person.actor, bob.stream), head)
    refuse(work, "actor does not match the ref's owner")


def test_a_stream_grafted_from_another_is_refused(work: Path, maker: Maker) -> None:
    head = maker.add()
    git(work, "update-ref", memory_ref(maker.person.actor, "sha256:" + "1" * 64), head)
    refuse(work, "stream does not match the ref")


def test_a_signature_by_another_key_is_refused(work: Path, maker: Maker, bob: Any) -> None:
    payload = maker.payload()
    maker.place(maker.tree(payload, maker.signature(payload, by=bob)), payload)
    refuse(work, "invalid memory signature")


@pytest.mark.parametrize(
    ("sequence", "words"),
    [(0, "sequence"), (4, "sequence is 4, expected 3"), (2, "sequence is 2, expected 3"), (1, "sequence")],
)
def test_a_sequence_that_does_not_count_is_refused(
    work: Path, maker: Maker, sequence: int, words: str
) -> None:
    maker.add()
    maker.add()
    changes: dict[str, Any] = {"sequence": sequence}
    if sequence <= 1:
        changes["previous"] = ...
    if sequence == 0:
        payload = maker.payload().replace(b'"sequence":3', b'"sequence":0')
        maker.place(maker.tree(payload, maker.signature(payload)), payload)
    else:
        maker.add(**changes)
    refuse(work, words)


def test_a_stream_that_starts_after_one_is_refused(work: Path, maker: Maker) -> None:
    maker.add(sequence=2, previous="sha256:" + "2" * 64)
    refuse(work, "sequence is 2, expected 1")


def test_a_previous_that_names_another_memory_is_refused(work: Path, maker: Maker) -> None:
    maker.add()
    maker.add(previous="sha256:" + "2" * 64)
    refuse(work, "previous does not name the memory before it")


def test_a_merge_is_refused(work: Path, maker: Maker) -> None:
    first = maker.add()
    maker.add(parents=(first, git(work, "rev-parse", "HEAD")))
    refuse(work, "is a merge")


def test_a_missing_parent_is_refused_and_says_which(work: Path, maker: Maker) -> None:
    maker.add()
    payload = maker.payload()
    tree = maker.tree(payload, maker.signature(payload))
    lost = "7" * 40
    data = f"tree {tree}\nparent {lost}\nauthor x <x> 0 +0000\ncommitter x <x> 0 +0000\n\nx\n".encode()
    head = git(work, "hash-object", "-w", "-t", "commit", "--stdin", "--literally", stdin=data)
    git(work, "update-ref", maker.ref, head)
    refuse(work, f"parent {lost} of memory commit {head} is not available")
    with pytest.raises(StreamGap) as caught:
        gather(work)
    assert (caught.value.commit, caught.value.missing) == (head, lost)


def test_lost_objects_are_refused(work: Path, maker: Maker) -> None:
    head = maker.add()
    tree = git(work, "rev-parse", f"{head}^{{tree}}")
    for oid, words in ((tree, "tree is not available"), (head, f"head {head} is not available")):
        (work / ".git/objects" / oid[:2] / oid[2:]).unlink()
        repo = Repository.open(str(work), os.environ)
        with repo.objects() as reader, pytest.raises(StreamGap, match="is not available") as caught:
            collect(repo, reader, refs={maker.ref: head})
        assert words in caught.value.message


@pytest.mark.parametrize("kind", ["blob", "tree", "tag"])
def test_a_head_that_is_no_commit_is_refused(work: Path, maker: Maker, kind: str) -> None:
    commit = maker.add()
    if kind == "tag":
        git(work, "tag", "-a", "-m", "x", "t", commit)
        target = git(work, "rev-parse", "t")
    else:
        target = git(work, "rev-parse", f"{commit}:memory.json" if kind == "blob" else f"{commit}^{{tree}}")
    git(work, "update-ref", maker.ref, target)
    refuse(work, f"memory commit {target} is not a commit")


@pytest.mark.parametrize("data", [b"tree", b"nonsense\n", b"tree " + b"1" * 40 + b"\nparent 12"])
def test_a_malformed_commit_is_refused(work: Path, maker: Maker, data: bytes) -> None:
    maker.add()
    head = git(work, "hash-object", "-w", "-t", "commit", "--stdin", "--literally", stdin=data)
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader, pytest.raises(InvalidStream, match="is malformed"):
        collect(repo, reader, refs={maker.ref: head})


@pytest.mark.parametrize("data", [b"100644 memory.json", b"100644 memory.json\0short"])
def test_a_malformed_tree_is_refused(work: Path, maker: Maker, data: bytes) -> None:
    payload = maker.payload()
    tree = git(work, "hash-object", "-w", "-t", "tree", "--stdin", "--literally", stdin=data)
    body = f"tree {tree}\nauthor x <x> 0 +0000\ncommitter x <x> 0 +0000\n\nx\n".encode()
    head = git(work, "hash-object", "-w", "-t", "commit", "--stdin", "--literally", stdin=body)
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader, pytest.raises(InvalidStream, match="tree is malformed"):
        collect(repo, reader, refs={maker.ref: head})
    blob = maker.blob(payload)
    body = f"tree {blob}\nauthor x <x> 0 +0000\ncommitter x <x> 0 +0000\n\nx\n".encode()
    head = git(work, "hash-object", "-w", "-t", "commit", "--stdin", "--literally", stdin=body)
    with repo.objects() as reader, pytest.raises(InvalidStream, match="tree is malformed"):
        collect(repo, reader, refs={maker.ref: head})


def test_a_bad_commit_deep_in_a_long_stream_is_found(work: Path, maker: Maker) -> None:
    maker.bulk(300)
    bad = maker.payload(timestamp="2026-08-30T12:34:57Z")
    maker.place(maker.tree(bad, maker.signature(maker.payload())), bad)
    maker.bulk(300)
    refuse(work, "invalid memory signature")


def test_messages_of_any_length_cost_only_the_bulk(
    work: Path, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where listing commits in one go would print too much, each is read by its id."""
    from ai_kb.hn import verification

    maker.bulk(60)
    monkeypatch.setattr(verification, "_BULK_BYTES", 0)
    assert len(gather(work).memories) == 60
    monkeypatch.setattr(verification, "_BULK_BYTES", 4096)
    monkeypatch.setattr(verification, "_BULK", 7)
    assert len(gather(work).memories) == 60


def test_grafts_and_replacements_are_not_followed(work: Path, maker: Maker) -> None:
    """A ``.git`` from somewhere else may pretend another history: what commits themselves say counts."""
    maker.bulk(40)
    honest = gather(work)
    second = git(work, "rev-parse", f"{maker.ref}~1")
    fourth = git(work, "rev-parse", f"{maker.ref}~3")
    (work / ".git/info").mkdir(exist_ok=True)
    (work / ".git/info/grafts").write_text(f"{second} {fourth}\n")
    git(work, "replace", str(maker.head), fourth)
    assert gather(work).memories.keys() == honest.memories.keys()


def test_one_invalid_stream_fails_the_collection_of_all(work: Path, maker: Maker, bob: Any) -> None:
    maker.add()
    theirs = Maker(work, bob)
    theirs.add(sequence=2, previous="sha256:" + "2" * 64)
    refuse(work, bob.actor)


# --- refs ---------------------------------------------------------------------------------------

A, S = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    "ref",
    [
        f"refs/hn/memory/{A}",
        f"refs/hn/memory/{A}/{S}/x",
        f"refs/hn/memory/{A.upper()}/{S}",
        f"refs/hn/memory/{A}/{S[:-1]}",
        f"refs/hn/memory/{A}/sha256-{S}",
        "refs/hn/memory",
        f"refs/hn/remotes/origin/memory/{A}",
        "refs/hn/remotes/origin/memory",
        f"refs/hn/remotes/-x/memory/{A}/{S}",
        f"refs/hn/remotes/x@y/memory/{A}/{S}",
        f"refs/hn/remotes/{'r' * 129}/memory/{A}/{S}",
    ],
)
def test_a_malformed_ref_in_a_memory_namespace_is_refused(ref: str) -> None:
    with pytest.raises(InvalidStream, match=r"malformed (?:accepted )?memory ref"):
        parse_ref(ref)
    with pytest.raises(InvalidStream):
        sources_of({ref: "0" * 40})


def test_a_malformed_ref_in_the_repository_fails_collection(work: Path, maker: Maker) -> None:
    head = maker.add()
    git(work, "update-ref", "refs/hn/memory/é\u202e", head)
    before = all_refs(work)
    with pytest.raises(InvalidStream, match=r"malformed (?:accepted )?memory ref") as caught:
        gather(work)
    assert "\u202e" not in caught.value.message
    assert all_refs(work) == before


@pytest.mark.parametrize("content", [b"", b"garbage\n", b"0" * 40 + b"\n", bytes(41)])
def test_a_ref_that_holds_no_object_id_is_refused_and_not_passed_over(
    content: bytes, work: Path, maker: Maker
) -> None:
    """What a power cut may leave of a file. git ignores it; then the stream would begin anew."""
    maker.bulk(3)
    git(work, "pack-refs", "--all")
    path = work / ".git" / maker.ref
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    give_identity(work / ".git", "alice")
    flags = ("--kind", "observation", "--at", "HEAD", "--applies", "exact", "--content", "x")
    for argv in (
        ("memory", "recall"),
        ("memory", "grep", "x"),
        ("memory", "show", "0" * 64),
        ("memory", "index", "rebuild"),
        ("memory", "record", *flags),
    ):
        result = hn(work, *argv)
        assert (result.exit, result.stdout) == (1, ""), argv
        assert f"hn: memory source {maker.ref}: the ref is broken: it holds no object id" in result.stderr
    assert path.read_bytes() == content
    # One that would be malformed with any content is malformed; one elsewhere is no concern of ours.
    path.rename(path.with_name("x"))
    assert "malformed memory ref" in hn(work, "memory", "recall").stderr
    other = work / ".git" / "refs/hn/remotes/origin/issues/1"
    other.parent.mkdir(parents=True)
    path.with_name("x").rename(other)
    assert hn(work, "memory", "recall").exit == 0
    assert len(gather(work).memories) == 3


@pytest.mark.parametrize(
    "ref",
    ["refs/heads/main", f"refs/hn/actors/{A}", f"refs/hn/remotes/origin/actors/{A}", "refs/hn/memories/x"],
)
def test_refs_elsewhere_are_ignored(ref: str) -> None:
    assert parse_ref(ref) is None


def test_refs_of_streams_are_taken_apart_and_put_together() -> None:
    local = parse_ref(memory_ref(A, f"sha256:{S}"))
    assert local is not None
    assert (local.actor, local.stream, local.remote) == (A, f"sha256:{S}", "")
    accepted = parse_ref(accepted_ref("up.stream", A, f"sha256:{S}"))
    assert accepted is not None
    assert accepted.remote == "up.stream"
    assert is_stream_id(f"sha256:{S}")
    assert not is_stream_id(S)


@pytest.mark.parametrize("name", ["origin", "a.b", "_x", "9", "r" * 128, "a-b_c"])
def test_remote_names_that_are_taken(name: str) -> None:
    assert is_remote_name(name)


@pytest.mark.parametrize("name", ["", ".a", "-a", "a..b", "a.", "a.lock", "a/b", "a b", "r" * 129, "é"])
def test_remote_names_that_are_refused(name: str) -> None:
    assert not is_remote_name(name)


# --- verified prefixes --------------------------------------------------------------------------


@pytest.fixture
def opened(work: Path) -> Iterator[tuple[Repository, ObjectReader, PrefixStore]]:
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader, PrefixStore.open(repo) as prefixes:
        yield repo, reader, prefixes


def test_only_what_is_new_is_verified_again(
    work: Path, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ai_kb.hn import verification

    verified: list[int] = []
    real = verification.verify_memory

    def counting(payload: bytes, signature: bytes) -> Any:
        memory = real(payload, signature)
        verified.append(memory.envelope.sequence)
        return memory

    monkeypatch.setattr(verification, "verify_memory", counting)
    maker.bulk(30)
    assert len(gather(work, remember=True).memories) == 30
    maker.add()
    verified.clear()
    found = gather(work, remember=True)
    assert verified == [31]
    assert found.memories.keys() == gather(work).memories.keys()


def test_what_is_remembered_is_not_trusted_across_a_changed_prefix(work: Path, maker: Maker) -> None:
    for _ in range(4):
        maker.add()
    gather(work, remember=True)
    # The same length, another third record, then a last one whose signature is somebody else's.
    base = git(work, "rev-parse", f"{maker.ref}~2")
    maker.head, maker.sequence = base, 2
    maker.previous = next(m.id for m in gather(work).memories.values() if m.envelope.sequence == 2)
    bad = maker.payload(timestamp="2026-08-30T12:34:57Z")
    maker.place(maker.tree(bad, maker.signature(maker.payload())), bad)
    maker.add()
    refuse(work, "invalid memory signature")


def test_a_stream_rewound_to_a_verified_commit_is_short_again(work: Path, maker: Maker) -> None:
    first = maker.add()
    maker.add()
    gather(work, remember=True)
    git(work, "update-ref", maker.ref, first)
    for _ in range(2):
        assert len(gather(work, remember=True).memories) == 1


def test_a_rewritten_stream_is_verified_from_where_it_parts(work: Path, maker: Maker) -> None:
    maker.bulk(20)
    gather(work, remember=True)
    maker.head = git(work, "rev-parse", f"{maker.ref}~5")
    entries = gather(work).memories.values()
    maker.sequence = 15
    maker.previous = next(m.id for m in entries if m.envelope.sequence == 15)
    maker.add(timestamp="2026-08-30T13:00:00Z")
    expected = gather(work).memories.keys()
    assert gather(work, remember=True).memories.keys() == expected
    assert gather(work, remember=True).memories.keys() == expected


def test_a_payload_that_is_no_longer_what_was_verified_is_not_used(work: Path, maker: Maker) -> None:
    """An object store that lies about an old blob is found out by the id, then by full verification."""
    maker.add()
    maker.add()
    gather(work, remember=True)
    blob = git(work, "rev-parse", f"{maker.ref}~1:memory.json")
    other = maker.blob(b"{}")
    path = work / ".git/objects" / blob[:2] / blob[2:]
    path.chmod(0o600)
    path.write_bytes((work / ".git/objects" / other[:2] / other[2:]).read_bytes())
    with pytest.raises(InvalidStream):
        gather(work, remember=True)
    with pytest.raises(InvalidStream):
        gather(work)


def test_an_expected_prefix_that_is_not_there_is_told(
    work: Path, maker: Maker, opened: tuple[Repository, ObjectReader, PrefixStore]
) -> None:
    repo, reader, _ = opened
    first = maker.add()
    second = maker.add()
    source = parse_ref(maker.ref)
    assert source is not None
    ids = [entry.memory.id for entry in verify_stream(repo, reader, source, second)]
    known = {first: Checkpoint(first, 1, ids[0])}
    entries, below = advance(repo, reader, source, second, known.get, first)
    assert [entry.commit for entry in entries] == [second]
    assert below is known[first]
    entries, below = advance(repo, reader, source, second, {}.get, "9" * 40)
    assert len(entries) == 2
    assert below is None


def test_a_forged_checkpoint_cannot_make_a_wrong_stream_right(
    maker: Maker, opened: tuple[Repository, ObjectReader, PrefixStore]
) -> None:
    repo, reader, _ = opened
    first = maker.add()
    second = maker.add()
    source = parse_ref(maker.ref)
    assert source is not None
    with pytest.raises(InvalidStream, match="sequence"):
        advance(repo, reader, source, second, {first: Checkpoint(first, 7, "sha256:" + "0" * 64)}.get)
    with pytest.raises(InvalidStream, match="previous"):
        advance(repo, reader, source, second, {first: Checkpoint(first, 1, "sha256:" + "0" * 64)}.get)


def test_a_memory_is_found_by_id_with_and_without_a_cache(work: Path, maker: Maker, bob: Any) -> None:
    maker.bulk(20)
    theirs = Maker(work, bob)
    theirs.add()
    wanted = next(m for m in gather(work).memories.values() if m.envelope.sequence == 7)
    repo = Repository.open(str(work), os.environ)
    nowhere = Repository.open(str(work), {**os.environ, "XDG_CACHE_HOME": "/dev/null"})
    for where in (repo, nowhere, repo):
        with where.objects() as reader, PrefixStore.open(where) as prefixes:
            found = find_memory(where, reader, wanted.id, prefixes)
            assert found == wanted
            assert find_memory(where, reader, "sha256:" + "0" * 64, prefixes) is None


def test_a_memory_above_a_rewound_head_is_not_found(work: Path, maker: Maker) -> None:
    first = maker.add()
    maker.add()
    last = maker.previous
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader, PrefixStore.open(repo) as prefixes:
        assert find_memory(repo, reader, last, prefixes) is not None
        git(work, "update-ref", maker.ref, first)
        assert find_memory(repo, reader, last, prefixes) is None


def test_a_found_memory_must_still_hash_to_its_id(work: Path, maker: Maker) -> None:
    maker.add()
    wanted = maker.previous
    maker.add()
    gather(work, remember=True)
    blob = git(work, "rev-parse", f"{maker.ref}~1:memory.json")
    other = maker.blob(b"{}")
    path = work / ".git/objects" / blob[:2] / blob[2:]
    path.chmod(0o600)
    path.write_bytes((work / ".git/objects" / other[:2] / other[2:]).read_bytes())
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader, PrefixStore.open(repo) as prefixes, pytest.raises(HnError):
        find_memory(repo, reader, wanted, prefixes)


def test_verification_needs_no_more_than_git(work: Path, maker: Maker) -> None:
    """Without git in PATH nothing works, and says so."""
    maker.add()
    repo = Repository.open(str(work), os.environ)
    blind = Repository.bare(repo.git_dir, {"PATH": "/nowhere"})
    with blind.objects() as reader, pytest.raises(Exception, match="git was not found"):
        collect(blind, reader)
    assert subprocess.run(["git", "-C", str(work), "fsck"], capture_output=True).returncode == 0
