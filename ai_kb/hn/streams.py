"""Memory streams: from refs and commits to verified memories, and one more at the end.

Only ``advance`` turns commits into ``Entry`` objects. A stream is valid when, from the root on:

1. every commit has at most one parent, and the walk reaches a root or a verified commit;
2. its tree holds exactly ``memory.json`` and ``signature``, blobs of mode 100644;
3. the signature text is canonical unpadded base64 of 64 bytes and verifies over the payload;
4. the payload is a valid envelope of the ref's actor and stream;
5. the sequence counts 1, 2, 3 … and ``previous`` names the memory before.

One invalid stream fails the whole collection; nothing here moves a ref but ``append``, which
moves one, forward, if nobody else did. Message, name and date of a commit are not compared.

What was verified may be resumed from (``prefixes``): a commit id stands for its whole history, so
a verified commit vouches for everything below it and for nothing else.

memory-v0, "Identity, objects, and streams"; PROTOCOL, "Git objects and refs".
"""

from __future__ import annotations

from ai_kb.hn import keys
from ai_kb.hn.envelope import (
    Envelope,
    Record,
    VerifiedMemory,
    decode_envelope,
    default_stream,
    envelope_to_bytes,
    memory_id,
    verify_memory,
)
from ai_kb.hn.errors import HnError, InvalidStream
from ai_kb.hn.gitstore import ObjectReader, Repository, is_oid, parse_commit, parse_tree
from ai_kb.hn.gitwrite import PAYLOAD_NAME, SIGNATURE_NAME, update_ref, write_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from ai_kb.hn.identity import Identity
    from ai_kb.hn.prefixes import PrefixStore

LOCAL_PREFIX = "refs/hn/memory"
REMOTES_PREFIX = "refs/hn/remotes"
MEMORY_PREFIXES = (LOCAL_PREFIX, REMOTES_PREFIX)

PAYLOAD_LIMIT = 524_288
SIGNATURE_LIMIT = 128
MAX_SEQUENCE = 2**64 - 1

_BATCH = 256
# Commits walked one by one before history is listed in bulk: an append sees one or none.
_SHORT_WALK = 16
_REMOTE_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


class StreamGap(InvalidStream):
    """A commit of the chain is not in this repository: a shallow boundary, or lost objects.

    Attributes:
        commit: the commit whose parent is missing, or the head itself.
        missing: the id that is missing.
    """

    code = "stream-gap"

    def __init__(self, message: str, commit: str, missing: str) -> None:
        super().__init__(message, "fetch the missing history, or sync with --recover-shallow")
        self.commit = commit
        self.missing = missing


class Source:
    """A memory ref taken apart. ``remote`` is ``""`` for a local stream."""

    __slots__ = ("actor", "ref", "remote", "stream")

    def __init__(self, ref: str, actor: str, stream: str, remote: str = "") -> None:
        self.ref = ref
        self.actor = actor
        self.stream = stream
        self.remote = remote


class Checkpoint:
    """A verified position of a stream: everything up to and including ``commit`` was valid."""

    __slots__ = ("commit", "memory_id", "sequence")

    def __init__(self, commit: str, sequence: int, memory_id: str) -> None:
        self.commit = commit
        self.sequence = sequence
        self.memory_id = memory_id


class Entry:
    """One verified memory and where it stands: its commit and the blob of its payload."""

    __slots__ = ("commit", "memory", "payload_oid")

    def __init__(self, memory: VerifiedMemory, commit: str, payload_oid: str) -> None:
        self.memory = memory
        self.commit = commit
        self.payload_oid = payload_oid


class Position:
    """Where a memory of a collection was found."""

    __slots__ = ("commit", "ref", "sequence")

    def __init__(self, ref: str, sequence: int, commit: str) -> None:
        self.ref = ref
        self.sequence = sequence
        self.commit = commit


class Collection:
    """The verified set of a repository.

    Attributes:
        sources: (ref, head) of every memory stream, sorted by ref.
        memories: every verified memory by id.
        positions: where each was found; the local stream's commit where both have it.
    """

    __slots__ = ("memories", "positions", "sources")

    def __init__(self) -> None:
        self.sources: list[tuple[str, str]] = []
        self.memories: dict[str, VerifiedMemory] = {}
        self.positions: dict[str, Position] = {}


class Appended:
    """What ``append`` made."""

    __slots__ = ("commit", "envelope", "id", "ref", "stream")

    def __init__(self, id: str, commit: str, ref: str, stream: str, envelope: Envelope) -> None:
        self.id = id
        self.commit = commit
        self.ref = ref
        self.stream = stream
        self.envelope = envelope


# --- refs ---------------------------------------------------------------------------------------


def is_stream_id(text: str) -> bool:
    """Whether ``text`` is a full ``sha256:`` id."""
    return text.startswith("sha256:") and is_oid(text[7:], 64)


def is_remote_name(text: str) -> bool:
    """Whether ``text`` may name a remote in a ref (PROTOCOL, "Git objects and refs")."""
    return (
        1 <= len(text) <= 128
        and _REMOTE_CHARACTERS.issuperset(text)
        and text[0] not in "-."
        and ".." not in text
        and not text.endswith((".", ".lock"))
    )


def memory_ref(actor: str, stream: str) -> str:
    """The local ref of ``actor``'s ``stream`` (a full ``sha256:`` id)."""
    return f"{LOCAL_PREFIX}/{actor}/{stream.removeprefix('sha256:')}"


def accepted_ref(remote: str, actor: str, stream: str) -> str:
    """The ref under which a stream accepted from ``remote`` is kept."""
    return f"{REMOTES_PREFIX}/{remote}/memory/{actor}/{stream.removeprefix('sha256:')}"


def parse_ref(ref: str) -> Source | None:
    """The source that ``ref`` names; None for a ref outside the memory namespaces.

    Raises InvalidStream for a malformed ref inside one.
    """
    parts = ref.split("/")
    if parts[:3] == ["refs", "hn", "memory"]:
        rest, remote = parts[3:], ""
    elif parts[:3] == ["refs", "hn", "remotes"] and parts[4:5] == ["memory"]:
        rest, remote = parts[5:], parts[3]
        if not is_remote_name(remote):
            raise _malformed(ref)
    else:
        return None
    if len(rest) != 2 or not is_oid(rest[0], 64) or not is_oid(rest[1], 64):
        raise _malformed(ref)
    return Source(ref, rest[0], "sha256:" + rest[1], remote)


def _malformed(ref: str) -> InvalidStream:
    from ai_kb.hn.gitstore import quoted

    return InvalidStream(f"malformed memory ref {quoted(ref[:200])}")


def sources_of(refs: Mapping[str, str]) -> list[tuple[Source, str]]:
    """(source, head) of every memory stream among ``refs``, sorted by ref. Raises InvalidStream."""
    found = [(parse_ref(ref), head) for ref, head in sorted(refs.items())]
    return [(source, head) for source, head in found if source is not None]


# --- verification -------------------------------------------------------------------------------


def advance(
    repo: Repository,
    reader: ObjectReader,
    source: Source,
    head: str,
    known: Callable[[str], Checkpoint | None] | None = None,
    boundary: str | None = None,
) -> tuple[list[Entry], Checkpoint | None]:
    """Verify ``source`` from ``head`` down to the root, or to the first commit that is ``known``.

    Args:
        known: a commit's checkpoint if it was verified before, for this actor and stream.
        boundary: a commit that ``known`` knows and that ``head`` probably descends from; only a hint.

    Returns:
        (the entries above the checkpoint, oldest first; that checkpoint, None when they start at
        the root). A checkpoint other than the one expected means that the stream was rewound or
        rewritten above it.

    Raises:
        InvalidStream (StreamGap when history is missing): the first rule that fails, with the commit.
    """
    raise NotImplementedError


def verify_stream(repo: Repository, reader: ObjectReader, source: Source, head: str) -> list[Entry]:
    """Every entry of ``source`` from sequence 1 on, verified from the root. Raises InvalidStream."""
    return advance(repo, reader, source, head)[0]


# --- collection ---------------------------------------------------------------------------------


def collect(
    repo: Repository,
    reader: ObjectReader,
    *,
    refs: Mapping[str, str] | None = None,
    prefixes: PrefixStore | None = None,
) -> Collection:
    """The verified set: every local and accepted stream, or InvalidStream and nothing.

    Args:
        refs: what ``repo.refs(*MEMORY_PREFIXES)`` gave, if the caller has it already.
        prefixes: verified prefixes to resume from and to extend.
    """
    raise NotImplementedError


# --- append -------------------------------------------------------------------------------------


def append(
    repo: Repository,
    reader: ObjectReader,
    identity: Identity,
    *,
    operation: str,
    now: datetime,
    stream: str = "",
    record: Record | None = None,
    target: str = "",
    reason: str = "",
    evidence: Sequence[str] = (),
    prefixes: PrefixStore | None = None,
) -> Appended:
    """Sign one memory for the next sequence of the identity's stream and move its ref there.

    What it says is validated as an envelope; whether targets, anchors or evidence exist is the
    caller's business. Costs the same at any length of a stream whose prefix is known.

    Args:
        now: the signed time.
        stream: full id of one of the identity's streams; its default stream when empty.

    Raises:
        InvalidEnvelope: the fields break a rule. InvalidStream: the stream so far is damaged.
        LostRace: another writer was first. In every case nothing was changed.
    """
    raise NotImplementedError
