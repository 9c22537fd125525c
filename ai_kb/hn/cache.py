"""The private index that serves queries: one SQLite file per repository, derived and disposable.

``open_index`` gives an ``Index`` that is current: bound to the exact heads of all memory
streams, to the query commit and to the policy at that commit. What changed since the
file was written is looked at, and nothing else: new commits of a stream are read and
verified, a new query commit costs its difference to the last one, objects that were
missing are asked for again. Every answer is the one a projection from scratch gives.

Warm, it imports the standard library only and starts one ``git for-each-ref`` (none when
the caller passes ``refs``) and at most one ``git cat-file``, which also answers HEAD and
checks the evidence and anchors of the records about to be returned.

The file lives below ``$XDG_CACHE_HOME`` (0700/0600, this user's own, no symlink), keyed by the
repository's common directory. Deleting it, or finding it damaged or of another version,
changes nothing but time. Where it cannot be written, the index is built in memory.

memory-v0, "Disposable local index" and "Bounded recall"; the protocol's own
``index-v0.json`` is ``index.py``.
"""

from __future__ import annotations

from agent_base.errors import SuiteError

# What ``refs`` must hold: every memory stream and every collaboration chain, local and accepted.
REF_PREFIXES = ("refs/hn/memory", "refs/hn/remotes", "refs/hn/actors")

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Protocol

    from agent_base.gitproc import CatFile

    class IndexExtension(Protocol):
        """Tables of a caller that live in the same file and change in the same transactions.

        Its tables are dropped and made again (``create``, then ``apply`` of everything) when
        ``version`` differs from the one in the file. Table names start with ``name + "_"``.
        ``number`` of a record is a small dense integer, never reused within one file: use it as rowid.
        """

        name: str
        version: int

        def create(self, conn: sqlite3.Connection) -> None:
            """Make the extension's tables; they do not exist."""

        def apply(
            self, conn: sqlite3.Connection, added: Sequence[IndexedRecord], removed: Sequence[IndexedRecord]
        ) -> None:
            """Take in a batch (at most some thousands) of new and of vanished records.

            Every verified ``record`` and ``supersede`` comes here, whatever its lifecycle, trust or
            applicability: those are asked of ``Index.gate`` at query time.
            """


class IndexUnavailable(SuiteError):
    """The index could not be brought up to date in the time a hook has; what was verified is kept."""

    code = "index-unavailable"


class IndexedRecord:
    """One verified record or supersede as the index holds it.

    ``data`` is the JSON object of the record (kind, content, anchor, applicability, topics,
    evidence, attemptOutcome?, handoff?) with topics and evidence in signed order.
    """

    __slots__ = ("actor", "data", "id", "number", "operation", "payload", "sequence", "stream", "timestamp")

    number: int
    id: str  # sha256:<64 hex>
    actor: str
    stream: str
    sequence: int
    timestamp: str  # as signed
    operation: str
    payload: bytes  # exact memory.json; hashing it gives id
    data: dict[str, object]


class Judged:
    """A record with the judgments of one query commit and policy, for what is injected or listed."""

    __slots__ = ("challengers", "lifecycle", "record", "trust")

    record: IndexedRecord
    lifecycle: str
    trust: str
    challengers: list[str]


class Location:
    """Where a repository is, found without starting git.

    ``where`` are the arguments that select it for git: ``("-C", root)`` or ``("--git-dir", dir)``.
    """

    __slots__ = ("common_dir", "git_dir", "where")

    def __init__(self, git_dir: str, common_dir: str, where: tuple[str, ...]) -> None:
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.where = where


class Index:
    """A current index, open for questions. A context manager; close it.

    Bit sets are Python integers: bit ``n`` is the record with number ``n``.
    """

    conn: sqlite3.Connection
    reader: CatFile
    at_commit: str
    policy_digest: str
    policy_trusts: tuple[frozenset[str], frozenset[str]] | None  # actors, kinds; None: no memory section
    fingerprint: str  # sourceFingerprint of the protocol

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and the reader that this index started."""
        raise NotImplementedError

    def gate(
        self,
        *,
        lifecycle: Iterable[str] = ("active",),
        trust: Iterable[str] = ("qualified",),
        topics: Iterable[str] = (),
        kinds: Iterable[str] = (),
        actors: Iterable[str] = (),
        subject: str = "",
        path: str = "",
    ) -> int:
        """Bit set of the records that are applicable, with resolved evidence, and pass the filters.

        An empty filter filters nothing. The defaults are those of recall, and so of every injection.
        """
        raise NotImplementedError

    def judged(self, numbers: Iterable[int], *, recheck: bool = True) -> list[Judged]:
        """The records of ``numbers``, in that order, without those that fail a fresh look.

        With ``recheck`` their anchors and ``git:`` evidence are asked of the repository again in one
        batch; a record whose evidence or anchor is gone is left out. The payload is hashed against its id.
        """
        raise NotImplementedError


def locate(path: str) -> Location | None:
    """The repository that holds ``path`` (a work tree, something in it, or a bare repository), or None."""
    raise NotImplementedError


def open_index(
    location: Location,
    *,
    env: Mapping[str, str],
    at: str = "HEAD",
    hook: bool = False,
    extension: IndexExtension | None = None,
    refs: Mapping[str, str] | None = None,
    reader: CatFile | None = None,
    deadline: float | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    workspace: str | None = None,
) -> Index:
    """The index of a repository, brought up to date.

    Args:
        at: the query commit: a full commit id, ``HEAD``, or a full ref name.
        hook: hardened git, only trusted cache directories (``workspace``), short waits for locks.
        extension: a caller's tables, kept in step.
        refs: answer of ``for_each_ref(where, REF_PREFIXES)`` when the caller has it already.
        reader: a ``CatFile`` of the repository to share; the index starts its own when it needs one.
        deadline: ``time.monotonic()`` value after which a hook gives up; what was verified is kept.
        progress: called with a label, done, total, at most a few times a second.

    Raises:
        IndexUnavailable: the deadline passed, or another process held the file's lock until then.
        HnError: an invalid stream, an invalid policy, no such commit.
    """
    raise NotImplementedError
