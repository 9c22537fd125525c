"""From the commits of one memory stream to verified memories: the only way there.

A stream is valid when, from the root on:

1. every commit has at most one parent, and the walk reaches a root or a verified commit;
2. its tree holds exactly ``memory.json`` and ``signature``, blobs of mode 100644;
3. the signature text is canonical unpadded base64 of 64 bytes and verifies over the payload;
4. the payload is a valid envelope of the ref's actor and stream;
5. the sequence counts 1, 2, 3 … and ``previous`` names the memory before.

Message, name and date of a commit are not compared. Objects are read in bulk, by exact id, and
what a commit itself says is what counts: no graft and no replacement is followed. A commit id
stands for its whole history, so one that was verified vouches for all below it (``Checkpoint``)
and for nothing else.

memory-v0, "Identity, objects, and streams"; docs/protocol.md, "Git objects and refs".
"""

from __future__ import annotations

from agent_base.gitproc import TooLarge, TooMuchOutput
from ai_kb.hn import keys
from ai_kb.hn.envelope import VerifiedMemory, verify_memory
from ai_kb.hn.errors import HnError, InvalidStream
from ai_kb.hn.gitstore import ObjectReader, Repository, parse_commit, parse_tree
from ai_kb.hn.streamrefs import PAYLOAD_NAME, SIGNATURE_NAME, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

PAYLOAD_LIMIT = 524_288
SIGNATURE_LIMIT = 128

# A commit or tree of the protocol is a few hundred bytes, however long the message is.
OBJECT_LIMIT = 1 << 20

_BATCH = 256
_PAYLOAD_ENTRY = f"100644 {PAYLOAD_NAME}\0".encode()
_SIGNATURE_ENTRY = f"100644 {SIGNATURE_NAME}\0".encode()
# Commits walked one by one before history is listed in bulk: an append sees one or none.
_SHORT_WALK = 4
# Commits listed by one process, and how much of its output each may take on average.
_BULK = 20_000
_BULK_BYTES = 4_096


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

    @property
    def placed(self) -> tuple[str, str, str]:
        """(commit, blob of the payload, id): what is remembered of it."""
        return self.commit, self.payload_oid, self.memory.id


def advance(
    repo: Repository,
    reader: ObjectReader,
    source: Source,
    head: str,
    known: Callable[[str], Checkpoint | None] | None = None,
    boundary: str | None = None,
    listing: Listing | None = None,
) -> tuple[list[Entry], Checkpoint | None]:
    """Verify ``source`` from ``head`` down to the root, or to the first commit that is ``known``.

    Args:
        known: a commit's checkpoint if it was verified before, for this actor and stream.
        boundary: a commit that ``known`` knows and that ``head`` probably descends from; only a hint.
        listing: instead of it, what is read ahead for several streams at once; only a hint too.

    Returns:
        (the entries above the checkpoint, oldest first; that checkpoint, None when they start at
        the root). A checkpoint other than the one expected means that the stream was rewound or
        rewritten above it.

    Raises:
        InvalidStream (StreamGap when history is missing): the first rule that fails, with the commit.
    """
    if listing is None:
        listing = Listing(repo, [head], [boundary] if boundary else [])
    links, checkpoint = _lineage(reader, source, head, known, listing)
    sequence = checkpoint.sequence if checkpoint else 0
    previous = checkpoint.memory_id if checkpoint else ""
    entries: list[Entry] = []
    for start in range(0, len(links), _BATCH):
        for entry in _verified(reader, source, links[start : start + _BATCH]):
            sequence += 1
            _check_place(source, entry, sequence, previous)
            previous = entry.memory.id
            entries.append(entry)
    return entries, checkpoint


class Listing:
    """Commits read ahead: the raw commits below some heads, listed by one process when it pays.

    A hint for ``advance``, to be shared by the streams of one collection. What git lists is used only
    where it is the commit that was asked for, and shows that commit's own parents, whatever grafts
    say; every other commit is read by its id.

    Args:
        heads: commits that will be asked for.
        known: verified commits, at which the list may end.
    """

    def __init__(self, repo: Repository, heads: Iterable[str], known: Iterable[str] = ()) -> None:
        self._repo = repo
        self._heads = list(heads)
        self._known = list(known)
        self._commits: dict[str, bytes] = {}
        self._failed = False

    def take(self, commit: str) -> bytes | None:
        """The raw commit if it was listed. Each is given once."""
        return self._commits.pop(commit, None)

    def load(self, commit: str) -> None:
        """List what is below ``commit`` and, the first time, below all heads."""
        if self._failed:
            return
        ends = [f"^{oid}" for oid in self._known]
        if not self._list([commit, *self._heads], ends) and not self._list([commit], []):
            self._failed = True
        self._heads = []

    def _list(self, heads: list[str], ends: list[str]) -> bool:
        names = "".join(f"{name}\n" for name in (*heads, *ends)).encode("ascii")
        command = ("rev-list", "--header", f"--max-count={_BULK}", "--stdin")
        try:
            status, out, _ = self._repo.run(*command, stdin=names, limit=_BULK * _BULK_BYTES)
        except TooMuchOutput:  # messages far longer than any that is written here
            return False
        for record in out.split(b"\0"):
            name, _, data = record.partition(b"\n")
            self._commits[name.decode("ascii", "replace")] = data
        return status == 0


class _Chain:
    """Commits of a stream from the head down, each named by the one above it."""

    __slots__ = ("_alone", "_listing", "_reader", "_source")

    def __init__(self, reader: ObjectReader, source: Source, listing: Listing) -> None:
        self._reader = reader
        self._source = source
        self._listing = listing
        self._alone = 0

    def read(self, commit: str, above: str) -> tuple[str, str | None]:
        """(tree, parent or None) of ``commit``, which ``above`` names as its parent."""
        where = f"memory source {self._source.ref}: memory commit {commit}"
        data = self._ahead(commit)
        if data is None:
            self._alone += 1
            found = self._reader.content(commit, OBJECT_LIMIT)
            if found is None:
                message = f"memory source {self._source.ref}: {_missing(commit, above)} is not available"
                raise StreamGap(message, above, commit)
            if found[1] != "commit":
                raise InvalidStream(f"{where} is not a commit")
            data = found[2]
        try:
            tree, parents = parse_commit(data)
        except ValueError as error:
            raise InvalidStream(f"{where} is malformed") from error
        if len(parents) > 1:
            raise InvalidStream(f"{where} is a merge: a memory stream has one parent per commit")
        return tree, parents[0] if parents else None

    def _ahead(self, commit: str) -> bytes | None:
        """The commit from the listing, which is made once a few had to be read singly."""
        data = self._listing.take(commit)
        if data is None and self._alone >= _SHORT_WALK:
            self._alone = 0
            self._listing.load(commit)
            data = self._listing.take(commit)
        return data


def _missing(commit: str, above: str) -> str:
    return f"head {commit}" if commit == above else f"parent {commit} of memory commit {above}"


def _lineage(
    reader: ObjectReader,
    source: Source,
    head: str,
    known: Callable[[str], Checkpoint | None] | None,
    listing: Listing,
) -> tuple[list[tuple[str, str]], Checkpoint | None]:
    """(commit, tree) from the oldest unknown commit to ``head``, and the checkpoint below them."""
    chain = _Chain(reader, source, listing)
    links: list[tuple[str, str]] = []
    checkpoint: Checkpoint | None = None
    commit: str | None = head
    above = head
    while commit is not None:
        checkpoint = known(commit) if known else None
        if checkpoint:
            break
        tree, parent = chain.read(commit, above)
        links.append((commit, tree))
        above, commit = commit, parent
    links.reverse()
    return links, checkpoint


def _verified(reader: ObjectReader, source: Source, links: Sequence[tuple[str, str]]) -> Iterator[Entry]:
    """Read and verify a batch of commits; sequence and predecessor are not looked at here."""
    blobs: list[str] = []
    for (commit, _), found in zip(
        links, reader.contents([tree for _, tree in links], OBJECT_LIMIT), strict=True
    ):
        blobs.extend(_payload_and_signature(reader, source, commit, found))
    contents = reader.contents(blobs, PAYLOAD_LIMIT)
    for number, (commit, _) in enumerate(links):
        where = f"memory source {source.ref}: memory commit {commit}"
        payload = _blob(where, PAYLOAD_NAME, contents, PAYLOAD_LIMIT)
        text = _blob(where, SIGNATURE_NAME, contents, SIGNATURE_LIMIT)
        try:
            signature = keys.decode_signature(text)
        except ValueError as error:
            raise InvalidStream(f"{where} signature is not canonical unpadded base64") from error
        try:
            memory = verify_memory(payload, signature)
        except HnError as error:
            raise InvalidStream(f"{where}: {error.message}") from error
        yield Entry(memory, commit, blobs[2 * number])
    next(contents, None)  # it has ended: git may go on to the next batch


def _payload_and_signature(
    reader: ObjectReader, source: Source, commit: str, found: tuple[str, str, bytes] | None
) -> tuple[str, str]:
    """Blob ids of the two files, or the reason why the tree is not that of a memory."""
    where = f"memory source {source.ref}: memory commit {commit}"
    if found is None:
        raise StreamGap(f"{where} tree is not available", commit, commit)
    try:
        if found[1] != "tree":
            raise ValueError("not a tree")
        plain = _plain_tree(found[2], reader.hash_length // 2)
        if plain is not None:
            return plain
        entries = parse_tree(found[2], reader.hash_length // 2)
    except ValueError as error:
        raise InvalidStream(f"{where} tree is malformed") from error
    if [entry.name for entry in entries] != [PAYLOAD_NAME.encode(), SIGNATURE_NAME.encode()]:
        raise InvalidStream(f"{where} tree must contain exactly {PAYLOAD_NAME} and {SIGNATURE_NAME}")
    raise InvalidStream(f"{where} tree must hold {PAYLOAD_NAME} and {SIGNATURE_NAME} with mode 100644")


def _plain_tree(data: bytes, hash_bytes: int) -> tuple[str, str] | None:
    """Blob ids of the two files when the tree is byte for byte as it must be; None: it breaks a rule."""
    second = len(_PAYLOAD_ENTRY) + hash_bytes
    end = second + len(_SIGNATURE_ENTRY)
    if (
        len(data) == end + hash_bytes
        and data.startswith(_PAYLOAD_ENTRY)
        and data.startswith(_SIGNATURE_ENTRY, second)
    ):
        return data[len(_PAYLOAD_ENTRY) : second].hex(), data[end:].hex()
    return None


def _blob(where: str, name: str, contents: Iterator[tuple[str, str, bytes] | None], limit: int) -> bytes:
    """The next of ``contents``, which must be the blob ``name``."""
    try:
        found = next(contents)
    except TooLarge as error:
        raise InvalidStream(f"{where} {name} exceeds {limit} bytes") from error
    if found is None:
        raise InvalidStream(f"{where} blob {name} is not available")
    if found[1] != "blob":
        raise InvalidStream(f"{where} {name} is not a blob")
    if len(found[2]) > limit:
        raise InvalidStream(f"{where} {name} exceeds {limit} bytes")
    return found[2]


def _check_place(source: Source, entry: Entry, sequence: int, previous: str) -> None:
    """The rules that tie a memory to its ref and to the memory before it."""
    envelope = entry.memory.envelope
    where = f"memory source {source.ref}: memory commit {entry.commit}"
    if envelope.actor != source.actor:
        raise InvalidStream(f"{where} actor does not match the ref's owner")
    if envelope.stream != source.stream:
        raise InvalidStream(f"{where} stream does not match the ref")
    if envelope.sequence != sequence:
        raise InvalidStream(f"{where} sequence is {envelope.sequence}, expected {sequence}")
    if envelope.previous != previous:
        raise InvalidStream(f"{where} previous does not name the memory before it")


def verify_stream(repo: Repository, reader: ObjectReader, source: Source, head: str) -> list[Entry]:
    """Every entry of ``source`` from sequence 1 on, verified from the root. Raises InvalidStream."""
    return advance(repo, reader, source, head)[0]
