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
changes nothing but time. Where it cannot be used, the index is built in memory.

memory-v0, "Disposable local index" and "Bounded recall"; the protocol's own
``index-v0.json`` is ``index.py``.
"""

from __future__ import annotations

import os
import time

from agent_base import gitdir
from agent_base.errors import SuiteError, UnsafePath
from ai_kb.hn import cache_context, cache_file
from ai_kb.hn.cache_index import Index, Judged
from ai_kb.hn.cache_objects import arrived, relevant_refs, shallow_state
from ai_kb.hn.cache_records import IndexedRecord
from ai_kb.hn.errors import HnError
from ai_kb.hn.gitstore import ObjectReader, Repository, configured_object_format, is_oid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol, TypeVar

    T = TypeVar("T")

    class IndexExtension(Protocol):
        """Tables of a caller that live in the same file and change in the same transactions.

        Its tables are dropped and made again (``create``, then ``apply`` of everything) when
        ``version`` differs from the one in the file. Table names start with ``name + "_"``.
        ``number`` of a record is a small dense integer, never reused within one file: use it as rowid.
        An extension that is a module's variable may say so in ``where`` (``package.module:NAME``): then a
        process that works behind a hook's back can find it.
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


__all__ = [
    "REF_PREFIXES",
    "Index",
    "IndexUnavailable",
    "IndexedRecord",
    "Judged",
    "ask",
    "discard",
    "locate",
    "open_index",
]

# What ``refs`` must hold: every memory stream and every collaboration chain, local and accepted.
REF_PREFIXES = ("refs/hn/memory", "refs/hn/remotes", "refs/hn/actors")

# Seconds to wait for another process: a hook must not, a command may.
_HOOK_WAIT = 0.25
_COMMAND_WAIT = 60.0
_CANNOT_WRITE = ("SQLITE_READONLY", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN")
_LOCKED = ("SQLITE_BUSY", "SQLITE_LOCKED")


class IndexUnavailable(SuiteError):
    """The index could not be brought up to date in the time there was; what was verified is kept."""

    code = "index-unavailable"


class _Unfinished(IndexUnavailable):
    """There was more to verify than time; the next one goes on."""


# --- where ---------------------------------------------------------------------------------------


def locate(
    path: str, env: Mapping[str, str], *, hook: bool = False, deadline: float | None = None
) -> Repository | None:
    """The repository that holds ``path`` (a work tree, something in it, or a bare repository), or None.

    Without a process: it looks for ``.git`` upwards. Git itself has the last word, since it is asked
    with ``-C`` (``safe.directory`` counts).
    """
    found = gitdir.find(path)
    if found is None:
        return None
    directory, git_dir = found
    common_dir = gitdir.common_dir(git_dir)
    return Repository(
        git_dir=git_dir,
        common_dir=common_dir,
        work_tree=directory,
        object_format=configured_object_format(common_dir),
        env=env,
        hook=hook,
        deadline=deadline,
    )


# --- open ----------------------------------------------------------------------------------------


def open_index(
    repo: Repository,
    *,
    at: str = "HEAD",
    extension: IndexExtension | None = None,
    refs: Mapping[str, str] | None = None,
    reader: ObjectReader | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    workspace: str | None = None,
    patient: bool = False,
    unborn: bool = False,
) -> Index:
    """The index of a repository, brought up to date.

    Args:
        repo: with ``hook``: hardened git, short waits for locks, and ``repo.deadline`` counts.
        at: the query commit: a full commit id, a revision, or a full ref name found in ``refs``.
        extension: a caller's tables, kept in step.
        refs: answer of ``repo.refs(*REF_PREFIXES)`` (and more) when the caller has it already.
        reader: an ``ObjectReader`` of the repository to share; the index starts its own when it needs one.
        progress: called with a label, done, total.
        workspace: in a hook: cache directories inside it are not believed.
        patient: in a hook: work until the deadline. Otherwise a hook that finds much to verify stops after
            a second and leaves the rest to a process of its own (``cache_background``).
        unborn: where HEAD names no commit yet, answer for that: nothing applies, no policy trusts.

    Raises:
        IndexUnavailable: the deadline passed, or another process held the file until then.
        HnError: an invalid stream, an invalid policy, no such commit.
    """
    own_reader = reader is None
    if reader is None:
        reader = repo.objects()
        reader.start()  # git loads while for-each-ref runs
    try:
        if refs is None:
            refs = repo.refs(*REF_PREFIXES)
        commit = _query_commit(reader, at, refs, unborn=unborn)
        opening = _Opening(repo, reader, refs, commit, extension, progress, own_reader)
        opening.patient = patient or not repo.hook
        try:
            return opening.index(cache_file.index_path(repo.common_dir, repo.env, workspace))
        except _Unfinished:
            if not opening.patient:
                from ai_kb.hn.cache_background import finish_later

                finish_later(repo, commit, extension, workspace)
            raise
    except BaseException:
        if own_reader:
            reader.close()
        raise


def ask(
    repo: Repository, question: Callable[[Index], T], *, workspace: str | None = None, **options: object
) -> T:
    """``question`` of ``open_index(repo, …)``; once more from a new file when the old one is damaged."""

    def answer() -> T:
        index = open_index(repo, workspace=workspace, **options)  # type: ignore[arg-type]
        try:
            return question(index)
        finally:
            index.close()

    return cache_file.twice(answer, lambda: discard(repo, workspace))


def discard(repo: Repository, workspace: str | None = None) -> None:
    """Remove the file of a repository's index; the next ``open_index`` makes it again.

    One that may not be used is left where it is. Raises LockTimeout when another process is at work on it.
    """
    path = cache_file.index_path(repo.common_dir, repo.env, workspace)
    try:
        if os.path.lexists(path):
            with cache_file.writer_lock(path, _HOOK_WAIT if repo.hook else _COMMAND_WAIT):
                cache_file.remove_file(path)
    except (OSError, UnsafePath):
        return


def _query_commit(reader: ObjectReader, at: str, refs: Mapping[str, str], *, unborn: bool) -> str:
    if is_oid(at, reader.hash_length):
        if cache_context.is_unborn(at):
            raise HnError(f"inspect memory policy at commit {at}")
        return at
    known = refs.get(at)
    if known is None and unborn:
        known = reader.head() or "0" * reader.hash_length
    return known if known is not None else reader.resolve_commit(at)


class _Opening:
    """One attempt at a current index: as it is on disk, else refreshed, else in memory."""

    def __init__(
        self,
        repo: Repository,
        reader: ObjectReader,
        refs: Mapping[str, str],
        commit: str,
        extension: IndexExtension | None,
        progress: Callable[[str, int, int], None] | None,
        own_reader: bool,
    ) -> None:
        self.repo = repo
        self.reader = reader
        self.refs = refs
        self.commit = commit
        self.extension = extension
        self.progress = progress
        self.own_reader = own_reader
        self.patient = True

    def index(self, path: str) -> Index:
        sqlite3 = cache_file.sqlite()
        try:
            current = self._current(path)
            return current if current is not None else self._refreshed(path)
        except cache_file.DamagedIndex:
            return self._remade(path)
        except UnsafePath as error:
            return self._in_memory(error.message)
        except OSError as error:
            return self._in_memory(f"{path!r}: {error.strerror}")
        except sqlite3.OperationalError as error:
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(_CANNOT_WRITE):
                return self._in_memory(f"{path!r}: {error}")
            if name.startswith(_LOCKED):
                raise self._busy() from error
            return self._remade(path)
        except (sqlite3.DatabaseError, *cache_file.GARBAGE):
            return self._remade(path)

    def _busy(self) -> IndexUnavailable:
        return IndexUnavailable(
            "the private index is in use by another process; nothing was changed", "try again in a moment"
        )

    def _wait(self) -> float:
        """Seconds that a lock may be waited for."""
        wait = _HOOK_WAIT if self.repo.hook else _COMMAND_WAIT
        if self.repo.deadline is not None:
            wait = max(0.0, min(wait, self.repo.deadline - time.monotonic()))
        return wait

    def _current(self, path: str) -> Index | None:
        """The index as it is on disk, if that is current."""
        conn = cache_file.open_file(path, write=False, timeout=self._wait())
        if conn is None:
            return None
        try:
            conn.execute("BEGIN")
            context = self._current_context(conn)
        except BaseException:
            conn.close()
            raise
        if context is None:
            conn.close()
            return None
        return self._made(conn, context, path)

    def _made(
        self, conn: sqlite3.Connection, context: cache_context.Context, path: str, note: str = ""
    ) -> Index:
        return Index(
            conn, self.repo, self.reader, self.refs, context, path, own_reader=self.own_reader, note=note
        )

    def _current_context(self, conn: sqlite3.Connection) -> cache_context.Context | None:
        refs, shallow, next_number = conn.execute("SELECT refs, shallow, next FROM state").fetchone()
        if refs != relevant_refs(self.refs) or shallow != shallow_state(self.repo):
            return None
        context = cache_context.find(conn, self.commit)
        if context is None:
            return None
        if self.extension is not None:
            row = conn.execute(
                "SELECT version, upto FROM extension WHERE name = ?", (self.extension.name,)
            ).fetchone()
            if row != (self.extension.version, next_number):
                return None
        if conn.execute("SELECT 1 FROM unsettled LIMIT 1").fetchone():
            return None
        return None if arrived(conn, self.reader, hook=self.repo.hook) else context

    def _refreshed(self, path: str) -> Index:
        """The index after a refresh by this process, or by the one that it waited for."""
        from agent_base.files import LockTimeout

        cache_file.prepare_directory(path)
        try:
            with cache_file.writer_lock(path, self._wait()):
                conn = cache_file.open_file(path, write=True, timeout=self._wait())
                assert conn is not None
                return self._refresh(conn, path)
        except LockTimeout as error:
            raise self._busy() from error

    def _refresh(self, conn: sqlite3.Connection, path: str, note: str = "") -> Index:
        from ai_kb.hn.cache_refresh import OutOfTime, Refresh

        try:
            refresh = Refresh(
                conn,
                self.repo,
                self.reader,
                self.refs,
                extension=self.extension,
                progress=self.progress,
                patient=self.patient or not path,
            )
            refresh.run(self.commit)
            conn.execute("PRAGMA query_only = 1")
            conn.execute("BEGIN")
            context = cache_context.find(conn, self.commit, just_updated=True)
            assert context is not None
            return self._made(conn, context, path, note)
        except OutOfTime:
            conn.close()
            raise _Unfinished(
                "the private index is not complete yet; what was verified is kept",
                "a later prompt or any reading command goes on from there",
            ) from None
        except BaseException:
            conn.close()
            raise

    def _remade(self, path: str) -> Index:
        """The index after the damaged file was removed; in memory when that does not help."""
        from agent_base.files import LockTimeout

        try:
            with cache_file.writer_lock(path, self._wait()):
                cache_file.remove_file(path)
                conn = cache_file.open_file(path, write=True, timeout=self._wait())
                assert conn is not None
                return self._refresh(conn, path)
        except LockTimeout as error:
            raise self._busy() from error
        except OSError as error:
            return self._in_memory(f"{path!r}: {error.strerror}")
        except cache_file.sqlite().DatabaseError as error:
            return self._in_memory(f"{path!r}: {error}")

    def _in_memory(self, why: str) -> Index:
        conn = cache_file.connect(":memory:", write=True, timeout=0)
        assert conn is not None
        return self._refresh(conn, "", f"the private index is kept in memory only: {why}")
