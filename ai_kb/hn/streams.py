"""The verified set of a repository, and one more memory at the end of a stream.

One invalid stream fails the whole collection. Nothing here moves a ref but ``append``, which
moves one, forward, if nobody else did.

What was verified before may be resumed from (``prefixes``). Nothing rests on that but time: a
remembered prefix counts only where the same commit is reached again, and a payload read from it
must hash to the id that was verified.

memory-v0, "Identity, objects, and streams"; docs/protocol.md, "Git objects and refs".
"""

from __future__ import annotations

from datetime import UTC

from ai_kb.hn import keys
from ai_kb.hn.envelope import (
    PROTOCOL,
    Envelope,
    Record,
    VerifiedMemory,
    decode_envelope,
    default_stream,
    envelope_to_bytes,
    memory_id,
)
from ai_kb.hn.errors import InvalidRequest, InvalidStream
from ai_kb.hn.gitstore import ObjectReader, Repository
from ai_kb.hn.gitwrite import update_ref, write_memory
from ai_kb.hn.streamrefs import (
    LOCAL_PREFIX,
    MEMORY_PREFIXES,
    REMOTES_PREFIX,
    Source,
    accepted_ref,
    is_remote_name,
    is_stream_id,
    memory_ref,
    parse_ref,
    sources_of,
)
from ai_kb.hn.verification import Checkpoint, Entry, Listing, StreamGap, advance, verify_stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from ai_kb.hn.identity import Identity
    from ai_kb.hn.prefixes import PrefixStore

MAX_SEQUENCE = 2**64 - 1


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
    collection = Collection()
    sources = sources_of(repo.refs(*MEMORY_PREFIXES) if refs is None else refs)
    listing = _listing(repo, sources, prefixes)
    chains: dict[tuple[str, str], _Chain] = {}
    for source, head in sources:
        key = source.actor, source.stream
        chain = chains.setdefault(key, _Chain(prefixes))
        entries = chain.read(repo, reader, source, head, listing)
        collection.sources.append((source.ref, head))
        for sequence, entry in enumerate(entries, 1):
            if entry.memory.id not in collection.memories:
                collection.memories[entry.memory.id] = entry.memory
                collection.positions[entry.memory.id] = Position(source.ref, sequence, entry.commit)
    return collection


def _listing(
    repo: Repository, sources: Sequence[tuple[Source, str]], prefixes: PrefixStore | None
) -> Listing:
    """What will have to be read of ``sources``: what is not known up to its head."""
    heads: list[str] = []
    known: list[str] = []
    for source, head in sources:
        latest = prefixes.latest(source) if prefixes is not None else None
        if latest is None or latest.commit != head:
            heads.append(head)
        if latest is not None:
            known.append(latest.commit)
    return Listing(repo, heads, known)


class _Chain:
    """The entries of one actor's stream as one ref has them, shared with the next ref that has it too."""

    __slots__ = ("_entries", "_prefixes", "_sequence_of")

    def __init__(self, prefixes: PrefixStore | None) -> None:
        self._prefixes = prefixes
        self._entries: list[Entry] = []
        self._sequence_of: dict[str, int] = {}

    def read(
        self, repo: Repository, reader: ObjectReader, source: Source, head: str, listing: Listing
    ) -> list[Entry]:
        """Every entry of ``source``, from sequence 1 to ``head``."""
        added, checkpoint = advance(repo, reader, source, head, self._known(source), listing=listing)
        below: list[Entry] = []
        if checkpoint is not None:
            remembered = self._below(reader, source, checkpoint)
            if remembered is None:  # what is there is no longer what was verified
                added, checkpoint = verify_stream(repo, reader, source, head), None
            else:
                below = remembered
        if self._prefixes is not None:
            self._prefixes.extend(source, checkpoint, [entry.placed for entry in added])
        self._entries = [*below, *added]
        self._sequence_of = {entry.commit: number for number, entry in enumerate(self._entries, 1)}
        return self._entries

    def _known(self, source: Source) -> Callable[[str], Checkpoint | None]:
        def known(commit: str) -> Checkpoint | None:
            sequence = self._sequence_of.get(commit)
            if sequence is not None:
                return Checkpoint(commit, sequence, self._entries[sequence - 1].memory.id)
            return self._prefixes.position(source, commit) if self._prefixes else None

        return known

    def _below(self, reader: ObjectReader, source: Source, checkpoint: Checkpoint) -> list[Entry] | None:
        """The entries up to ``checkpoint``; None when a payload is gone or not the one verified."""
        if checkpoint.commit in self._sequence_of:
            return self._entries[: checkpoint.sequence]
        assert self._prefixes is not None
        members = self._prefixes.members(source, checkpoint.sequence)
        entries: list[Entry] = []
        for member, found in zip(members, reader.contents([m.payload_oid for m in members]), strict=True):
            if found is None or memory_id(found[2]) != member.memory_id:
                self._prefixes.forget(source)
                return None
            memory = VerifiedMemory(member.memory_id, decode_envelope(found[2]), found[2])
            entries.append(Entry(memory, member.commit, member.payload_oid))
        return entries if len(entries) == checkpoint.sequence else None


def find_memory(
    repo: Repository, reader: ObjectReader, identifier: str, prefixes: PrefixStore
) -> VerifiedMemory | None:
    """The memory with exactly this id, if a verified local or accepted stream holds it.

    Costs and raises what ``find_starting`` does.
    """
    return find_starting(repo, reader, identifier[len("sha256:") :], prefixes).get(identifier)


def find_starting(
    repo: Repository, reader: ObjectReader, digits: str, prefixes: PrefixStore
) -> dict[str, VerifiedMemory]:
    """The memories whose ids start with ``digits`` (lowercase hex) in verified streams, by id.

    Verifies what is new in every stream and then looks the ids up: the cost does not grow with the
    length of streams whose prefix is known. Raises InvalidStream as ``collect`` does.
    """
    refs = repo.refs(*MEMORY_PREFIXES)
    heads: list[Checkpoint | None] = []
    sources = sources_of(refs)
    listing = _listing(repo, sources, prefixes)
    for source, head in sources:
        _tip(repo, reader, source, head, prefixes, listing)
        heads.append(prefixes.position(source, head))
    if None in heads:  # nothing can be remembered here
        return _starting(collect(repo, reader, refs=refs), digits)
    memories: dict[str, VerifiedMemory] = {}
    for member in prefixes.find(digits):
        for (source, _), tip in zip(sources, heads, strict=True):
            if (source.actor, source.stream) != (member.actor, member.stream):
                continue
            found = reader.content(member.payload_oid)
            if tip is not None and member.sequence <= tip.sequence and found is not None:
                if memory_id(found[2]) != member.memory_id:
                    prefixes.forget(source)
                    return _starting(collect(repo, reader, refs=refs), digits)
                memories[member.memory_id] = VerifiedMemory(
                    member.memory_id, decode_envelope(found[2]), found[2]
                )
    return memories


def _starting(collection: Collection, digits: str) -> dict[str, VerifiedMemory]:
    start = f"sha256:{digits}"
    return {key: memory for key, memory in collection.memories.items() if key.startswith(start)}


def timestamp_text(now: datetime) -> str:
    """``now`` as an envelope carries it: RFC 3339 in UTC, ``Z``, no trailing zeros in the fraction."""
    if now.utcoffset():
        now = now.astimezone(UTC)
    text = now.isoformat().removesuffix("+00:00")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text + "Z"


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
    # (1) The stream as it is, verified.
    stream = stream or default_stream(identity.actor)
    if not is_stream_id(stream):
        raise InvalidRequest("invalid memory stream")
    source = Source(memory_ref(identity.actor, stream), identity.actor, stream)
    head = repo.refs(source.ref).get(source.ref)
    tip = None if head is None else _tip(repo, reader, source, head, prefixes)
    if tip is not None and tip.sequence >= MAX_SEQUENCE:
        raise InvalidStream(f"memory source {source.ref}: the stream is full")
    # (2) The next envelope, valid and signed.
    envelope = Envelope(
        protocol=PROTOCOL,
        operation=operation,
        actor=identity.actor,
        actor_name=identity.name,
        public_key=keys.encode_b64(identity.public_key),
        stream=stream,
        sequence=tip.sequence + 1 if tip else 1,
        timestamp=timestamp_text(now),
        previous=tip.memory_id if tip else "",
        record=record,
        target=target,
        reason=reason,
        evidence=tuple(evidence),
    )
    payload = envelope_to_bytes(envelope)
    identifier = memory_id(payload)
    # (3) Objects that nothing refers to yet, then the one step that counts.
    commit, payload_oid = write_memory(
        repo,
        payload=payload,
        signature=keys.encode_b64(keys.sign(identity.private_key, payload)).encode("ascii"),
        memory_id=identifier,
        parent=head,
        actor=envelope.actor,
        actor_name=envelope.actor_name,
        timestamp=envelope.timestamp,
    )
    update_ref(repo, source.ref, commit, head)
    if prefixes is not None:
        prefixes.extend(source, tip, [(commit, payload_oid, identifier)])
    return Appended(identifier, commit, source.ref, stream, envelope)


def _tip(
    repo: Repository,
    reader: ObjectReader,
    source: Source,
    head: str,
    prefixes: PrefixStore | None,
    listing: Listing | None = None,
) -> Checkpoint:
    """The verified position of ``head``."""
    if prefixes is None:
        entries, checkpoint = verify_stream(repo, reader, source, head), None
    else:
        if listing is None:
            listing = _listing(repo, [(source, head)], prefixes)
        entries, checkpoint = advance(
            repo, reader, source, head, lambda commit: prefixes.position(source, commit), listing=listing
        )
        prefixes.extend(source, checkpoint, [entry.placed for entry in entries])
    if not entries:
        assert checkpoint is not None
        return checkpoint
    sequence = (checkpoint.sequence if checkpoint else 0) + len(entries)
    return Checkpoint(head, sequence, entries[-1].memory.id)


__all__ = [
    "LOCAL_PREFIX",
    "MEMORY_PREFIXES",
    "REMOTES_PREFIX",
    "Appended",
    "Checkpoint",
    "Collection",
    "Entry",
    "Position",
    "Source",
    "StreamGap",
    "accepted_ref",
    "advance",
    "append",
    "collect",
    "find_memory",
    "find_starting",
    "is_remote_name",
    "is_stream_id",
    "memory_ref",
    "parse_ref",
    "sources_of",
    "timestamp_text",
    "verify_stream",
]
