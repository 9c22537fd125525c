"""Verified prefixes of streams, remembered in the user's cache so that the next run need not verify again.

One SQLite file per repository below ``$XDG_CACHE_HOME``: for every verified memory its place in
its stream, its commit, the blob of its payload and its id. What it can be trusted for:

- a commit id stands for all of its history, so a row says "everything up to here was valid"
  wherever that very commit is reached again, in this repository or another, and says nothing
  about any other commit: a stream that was rewound, rewritten or replaced finds no row;
- a payload that is read through a row counts only if it hashes to the row's id;
- a row counts only with its checksum: on a row that a disk has changed nothing is signed or verified.

Deleting the file changes nothing but time. A file that is damaged, of another version, or unsafe
(a symlink, somebody else's, writable by others) is not used; where none can be written, nothing is
remembered. The rules of verification are part of the version.
"""

from __future__ import annotations

import os
from contextlib import suppress
from zlib import crc32

from agent_base.digests import sha256_hex
from agent_base.env import SUITE, xdg
from agent_base.errors import SuiteError
from agent_base.files import FILE_MODE, check_private, ensure_private_dir
from ai_kb.hn.cache_file import GARBAGE, is_damage, sqlite
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.streamrefs import Source
from ai_kb.hn.verification import Checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    Placed = tuple[str, str, str]

# Raise it when a rule of verification or a table changes: older files are thrown away.
VERSION = 2
FILE_NAME = "prefixes.sqlite"

_LOCK_SECONDS = 2.0
_FAULTS: tuple[type[Exception], ...] = (sqlite().Error, *GARBAGE)
_SCHEMA = """
CREATE TABLE stream (number INTEGER PRIMARY KEY, actor TEXT, id TEXT, UNIQUE (actor, id));
CREATE TABLE member (
    stream INTEGER, sequence INTEGER, commit_id BLOB, payload BLOB, memory BLOB, checksum INTEGER,
    PRIMARY KEY (stream, sequence)
) WITHOUT ROWID;
CREATE UNIQUE INDEX member_commit ON member (stream, commit_id);
CREATE INDEX member_memory ON member (memory);
"""


def _checksum(actor: str, stream: str, sequence: int, *ids: bytes) -> int:
    return crc32(b" ".join((f"{actor} {stream} {sequence:d}".encode(), *ids)))


class Member:
    """One remembered memory: sequence, commit, blob of the payload, id. ValueError: not as it was written."""

    __slots__ = ("actor", "commit", "memory_id", "payload_oid", "sequence", "stream")

    def __init__(
        self,
        actor: str,
        stream: str,
        sequence: int,
        commit: bytes,
        payload: bytes,
        memory: bytes,
        checksum: int,
    ) -> None:
        if checksum != _checksum(actor, stream, sequence, commit, payload, memory):
            raise ValueError("a remembered memory is not what it was")
        self.actor = actor
        self.stream = stream
        self.sequence = sequence
        self.commit = commit.hex()
        self.payload_oid = payload.hex()
        self.memory_id = "sha256:" + memory.hex()


def cache_path(repo: Repository, workspace: str | None = None) -> str:
    """Where the prefixes of ``repo`` are kept; ``workspace`` as in ``agent_base.env.xdg``."""
    digest = sha256_hex(os.fsencode(os.path.realpath(repo.common_dir)))[:32]
    return os.path.join(_suite_directory(repo, workspace), "hn", digest, FILE_NAME)


def _suite_directory(repo: Repository, workspace: str | None) -> str:
    return os.path.join(xdg(repo.env, "XDG_CACHE_HOME", workspace), SUITE)


class PrefixStore:
    """Remembered prefixes. A context manager; every method is without effect once the file failed."""

    def __init__(self, connection: sqlite3.Connection | None, path: str | None) -> None:
        self._connection = connection
        self._path = path

    @classmethod
    def open(cls, repo: Repository, workspace: str | None = None) -> PrefixStore:
        """The store of ``repo``, made when missing; an empty one that forgets where that cannot be."""
        path = cache_path(repo, workspace)
        store = cls(None, path)
        try:
            ensure_private_dir(os.path.dirname(path), below=_suite_directory(repo, workspace))
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(path, flags, FILE_MODE)
            try:
                check_private(path, os.fstat(fd))
            finally:
                os.close(fd)
            store._connect()
        except (OSError, SuiteError):
            store._connection = None
        except _FAULTS as error:
            store._drop(error)
        return store

    def _connect(self) -> None:
        assert self._path is not None
        connection = sqlite().connect(self._path, timeout=_LOCK_SECONDS, isolation_level=None)
        self._connection = connection
        connection.execute("PRAGMA synchronous = OFF")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == VERSION:
            return
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            ).fetchall():
                connection.execute(f'DROP TABLE "{name}"')
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")

    def __enter__(self) -> PrefixStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _drop(self, error: Exception) -> None:
        """Go on without the file after ``error``, and remove it where it is damaged: not where it is locked,
        or the disk is full."""
        self.close()
        if is_damage(error) and self._path is not None:
            for name in (self._path, self._path + "-journal"):
                with suppress(OSError):
                    os.unlink(name)

    def _query(self, statement: str, values: Sequence[object]) -> list[tuple[object, ...]]:
        if self._connection is None:
            return []
        try:
            return self._connection.execute(statement, values).fetchall()
        except _FAULTS as error:
            self._drop(error)
        return []

    def _members(self, condition: str, values: Sequence[object]) -> list[Member]:
        rows = self._query(
            "SELECT actor, id, sequence, commit_id, payload, memory, checksum FROM member "
            f"JOIN stream ON stream.number = member.stream WHERE {condition}",
            values,
        )
        try:
            return [Member(*row) for row in rows]  # type: ignore[arg-type]
        except GARBAGE as error:
            self._drop(error)
            return []

    def position(self, source: Source, commit: str) -> Checkpoint | None:
        """What was verified of ``source``'s stream up to exactly ``commit``."""
        found = self._members(
            "actor = ? AND id = ? AND commit_id = ?", (source.actor, source.stream, bytes.fromhex(commit))
        )
        return Checkpoint(commit, found[0].sequence, found[0].memory_id) if found else None

    def latest(self, source: Source) -> Checkpoint | None:
        """The longest prefix known of ``source``'s stream."""
        found = self._members(
            "actor = ? AND id = ? ORDER BY sequence DESC LIMIT 1", (source.actor, source.stream)
        )
        return Checkpoint(found[0].commit, found[0].sequence, found[0].memory_id) if found else None

    def members(self, source: Source, through: int) -> list[Member]:
        """The memories of ``source``'s stream with sequence 1 to ``through``, in order."""
        return self._members(
            "actor = ? AND id = ? AND sequence <= ? ORDER BY sequence", (source.actor, source.stream, through)
        )

    def find(self, start: str) -> list[Member]:
        """Every place where a memory was verified whose id is or starts with ``start`` (hex digits, with or
        without ``sha256:``), whether or not a ref still leads there."""
        digits = start.removeprefix("sha256:")
        first, last = (bytes.fromhex(digits.ljust(64, fill)) for fill in "0f")
        return self._members("memory BETWEEN ? AND ? ORDER BY memory, actor, id", (first, last))

    def extend(self, source: Source, below: Checkpoint | None, placed: Sequence[Placed]) -> None:
        """Remember what follows ``below`` (None: from the root on). What was known above it goes.

        Args:
            placed: (commit, blob of the payload, id) of each verified memory or event, in order.
        """
        if self._connection is None or not placed:
            return
        start = below.sequence if below else 0
        rows = []
        for sequence, (commit, payload, memory_id) in enumerate(placed, start + 1):
            ids = bytes.fromhex(commit), bytes.fromhex(payload), bytes.fromhex(memory_id[7:])
            rows.append((sequence, *ids, _checksum(source.actor, source.stream, sequence, *ids)))
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            number = self._number(source)
            # Another process may have replaced what ``below`` rests on: then there is nothing to extend.
            if below is None or self._rests_on(number, below):
                self._connection.execute(
                    "DELETE FROM member WHERE stream = ? AND sequence > ?", (number, start)
                )
                self._connection.executemany(
                    f"INSERT INTO member VALUES ({number}, ?, ?, ?, ?, ?)",
                    rows,
                )
            self._connection.execute("COMMIT")
        except _FAULTS as error:
            self._drop(error)

    def _number(self, source: Source) -> int:
        assert self._connection is not None
        values = (source.actor, source.stream)
        self._connection.execute("INSERT OR IGNORE INTO stream (actor, id) VALUES (?, ?)", values)
        row = self._connection.execute(
            "SELECT number FROM stream WHERE actor = ? AND id = ?", values
        ).fetchone()
        return int(row[0])

    def _rests_on(self, number: int, below: Checkpoint) -> bool:
        assert self._connection is not None
        row = self._connection.execute(
            "SELECT commit_id FROM member WHERE stream = ? AND sequence = ?", (number, below.sequence)
        ).fetchone()
        return row is not None and row[0] == bytes.fromhex(below.commit)

    def forget(self, source: Source) -> None:
        """Remember nothing of ``source``'s stream."""
        self._query(
            "DELETE FROM member WHERE stream IN (SELECT number FROM stream WHERE actor = ? AND id = ?)",
            (source.actor, source.stream),
        )
