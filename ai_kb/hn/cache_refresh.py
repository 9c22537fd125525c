"""Bringing the private index up to date: what changed is read, verified and judged; nothing else.

1. streams that are gone, rewound or rewritten go out, whole
2. new commits of every stream are verified and go in, in chunks
3. events, objects that were missing, a moved shallow boundary
4. the query commit
5. the caller's extension
6. the state row: from here on the index is current

Each step, and each chunk of (2), is a transaction that leaves a true index of a part of the
repository; only (6) says that it is the whole. A process that is killed, or a hook that runs out of
time, loses at most a chunk.

memory-v0, "Disposable local index".
"""

from __future__ import annotations

import time

from ai_kb.hn import cache_bits as bits
from ai_kb.hn import cache_context, cache_judge, cache_records, cache_rows
from ai_kb.hn.cache_file import DamagedIndex
from ai_kb.hn.cache_objects import arrived, event_refs, relevant_refs, shallow_state
from ai_kb.hn.streamrefs import Source, parse_ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ai_kb.hn.cache import IndexExtension
    from ai_kb.hn.cache_records import IndexedRecord
    from ai_kb.hn.gitstore import ObjectReader, Repository
    from ai_kb.hn.verification import Checkpoint, Entry

# Commits of a stream that one process need not list: an append sees one or two.
_SHORT_WALK = 8
_HOOK_CHUNK = 512
_EXTENSION_CHUNK = 2048
# What a hook gives to an index with much to verify, before it leaves the rest to another process.
_IMPATIENT_SECONDS = 1.0


class OutOfTime(Exception):
    """The deadline passed between two transactions; what was done stays."""


class Refresh:
    """One refresh of one index. ``conn`` is writable, and nobody else refreshes meanwhile."""

    def __init__(
        self,
        conn: sqlite3.Connection,
        repo: Repository,
        reader: ObjectReader,
        refs: Mapping[str, str],
        *,
        extension: IndexExtension | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        patient: bool = True,
    ) -> None:
        self.conn = conn
        self.repo = repo
        self.reader = reader
        self.refs = refs
        self.extension = extension
        self.progress = progress
        self.stop_at = None if patient else time.monotonic() + _IMPATIENT_SECONDS
        if repo.hook and repo.deadline is not None:
            self.stop_at = repo.deadline if self.stop_at is None else min(self.stop_at, repo.deadline)
        self.facts = cache_judge.StoredFacts(conn, reader)
        self.staged = bits.Staged()

    def run(self, commit: str) -> None:
        """All steps. Raises HnError for an invalid stream or policy, OutOfTime in a hook."""
        sources = [(source, head) for source, head in self._sources() if source is not None]
        self._remove(sources)
        for source, head in sources:
            self._advance(source, head)
        with _Transaction(self.conn):
            self._surroundings()
            cache_context.update(self.conn, self.repo, self.reader, commit)
            self.conn.execute("UPDATE state SET refs = ?, change = change + 1", (relevant_refs(self.refs),))
        self._extend()

    def _sources(self) -> list[tuple[Source | None, str]]:
        return [(parse_ref(ref), head) for ref, head in sorted(self.refs.items())]

    # (1) --------------------------------------------------------------------------------------

    def _remove(self, sources: Sequence[tuple[Source, str]]) -> None:
        """Take out the streams of refs that are gone, or whose head no longer descends from what is known."""
        wanted = {source.ref: (source, head) for source, head in sources}
        doomed: set[int] = set()
        for ref, sid, head in self.conn.execute("SELECT ref, sid, head FROM source").fetchall():
            found = wanted.get(ref)
            if found is None or (found[1] != head and not self._descends(found[1], head)):
                doomed.add(sid)
        for sid in sorted(doomed):
            self._remove_stream(sid)

    def _descends(self, head: str, known: str) -> bool:
        """Whether the chain of ``head`` runs through ``known``. A long one is left to git."""
        commit: str | None = head
        for _ in range(_SHORT_WALK):
            commit = self._parent(commit) if commit else None
            if commit == known:
                return True
            if commit is None:
                return False
        outside = self.repo.not_reachable([known], head) if self.reader.types([known])[0] else None
        return outside is not None and not outside

    def _parent(self, commit: str) -> str | None:
        from ai_kb.hn.gitstore import parse_commit

        found = self.reader.read(commit)
        if found is None or found[0] != "commit":
            return None
        try:
            parents = parse_commit(found[1])[1]
        except ValueError:
            return None
        return parents[0] if len(parents) == 1 else None

    def _remove_stream(self, sid: int) -> None:
        with _Transaction(self.conn):
            memories = self.conn.execute(
                "SELECT number, id, target FROM memory WHERE sid = ?", (sid,)
            ).fetchall()
            numbers = [number for number, _, _ in memories]
            lifecycles, evidence = cache_judge.touched_by(self.conn, memories)
            removed = [cache_rows.delete(self.conn, self.staged, number) for number in numbers]
            self.staged.flush(self.conn)
            gone = set(numbers)
            cache_judge.judge_lifecycles(self.conn, self.staged, lifecycles - gone)
            self.staged.flush(self.conn)
            cache_judge.rejudge(self.conn, self.staged, self.facts, evidence - gone)
            self.conn.execute("DELETE FROM source WHERE sid = ?", (sid,))
            self.conn.execute(
                "DELETE FROM missing WHERE value LIKE 'git:%' AND value NOT IN (SELECT value FROM need)"
            )
            # The sets of query commits may hold numbers that are gone.
            self.conn.execute("UPDATE state SET epoch = epoch + 1, refs = NULL, change = change + 1")
            records = [record for record in removed if record is not None]
            self._shrink_extensions(records)

    def _shrink_extensions(self, removed: Sequence[IndexedRecord]) -> None:
        """The caller's extension forgets what is gone; others are made again when they are next used."""
        name = "" if self.extension is None else self.extension.name
        self.conn.execute("UPDATE extension SET version = -1 WHERE name <> ?", (name,))
        row = self._extension_row()
        if self.extension is not None and row is not None and row[0] == self.extension.version:
            known = [record for record in removed if record.number < row[1]]
            for start in range(0, len(known), _EXTENSION_CHUNK):
                self.extension.apply(self.conn, [], known[start : start + _EXTENSION_CHUNK])

    # (2) --------------------------------------------------------------------------------------

    def _advance(self, source: Source, head: str) -> None:
        """Verify what ``source`` has beyond what is known, chunk by chunk."""
        from ai_kb.hn.verification import advance

        row = self.conn.execute("SELECT sid, head FROM source WHERE ref = ?", (source.ref,)).fetchone()
        if row is not None and row[1] == head:
            return
        with _Transaction(self.conn):
            sid = cache_rows.stream_number(self.conn, source.actor, source.stream)

        def known(commit: str) -> Checkpoint | None:
            return self._checkpoint(sid, commit)

        boundary = None if row is None else row[1]
        for stop, done, total in self._stops(sid, head, boundary):
            self._pause("verifying records", done, total)
            entries, _ = advance(self.repo, self.reader, source, stop, known, boundary)
            self._take_in(source, sid, stop, entries)
            boundary = stop

    def _checkpoint(self, sid: int, commit: str) -> Checkpoint | None:
        from ai_kb.hn.verification import Checkpoint

        row = self.conn.execute(
            cache_records.SELECT + " JOIN entry e ON e.number = m.number WHERE e.oid = ? AND m.sid = ?",
            (bytes.fromhex(commit), sid),
        ).fetchone()
        if row is None:
            return None
        record = cache_records.read(row)
        signed = [record.envelope[name] for name in ("actor", "stream", "sequence")]
        if signed != [record.actor, record.stream, record.sequence]:  # nothing is verified upon such a row
            raise DamagedIndex("the private index holds a record in a place that is not its own")
        return Checkpoint(commit, record.sequence, record.id)

    def _stops(self, sid: int, head: str, boundary: str | None) -> Iterator[tuple[str, int, int]]:
        """(commit to go to, commits before it, commits in all): where the chunks of a stream end."""
        commit: str | None = head
        for _ in range(_SHORT_WALK):
            if commit is None or self._checkpoint(sid, commit):
                yield head, 0, 1
                return
            commit = self._parent(commit)
        known = [f"^{boundary}"] if boundary else []
        status, out, _ = self.repo.run("rev-list", "--reverse", head, *known)
        commits = out.decode("ascii", "replace").split() if status == 0 else []
        chunk = _HOOK_CHUNK if self.repo.hook else bits.BLOCK
        (next_number,) = self.conn.execute("SELECT next FROM state").fetchone()
        end = chunk - next_number % chunk  # so that a chunk fills whole blocks of the sets
        start = 0
        while end < len(commits):
            yield commits[end - 1], start, len(commits)
            start, end = end, end + chunk
        yield head, start, len(commits)

    def _take_in(self, source: Source, sid: int, head: str, entries: Sequence[Entry]) -> None:
        conn, staged = self.conn, self.staged
        with _Transaction(conn):
            (number,) = conn.execute("SELECT next FROM state").fetchone()
            new = cache_rows.insert(conn, staged, entries, sid, number)
            cache_judge.judge_new(conn, staged, self.facts, new)
            lifecycles, evidence = cache_judge.touched_by(conn, [(n.number, n.raw, n.target) for n in new])
            fresh = {n.number for n in new}
            cache_judge.judge_lifecycles(conn, staged, lifecycles - fresh)
            staged.flush(conn)
            cache_judge.rejudge(conn, staged, self.facts, evidence - fresh)
            conn.execute("INSERT OR REPLACE INTO source VALUES (?, ?, ?)", (source.ref, sid, head))
            conn.execute(
                "UPDATE state SET next = ?, refs = NULL, change = change + 1",
                (new[-1].number + 1 if new else number,),
            )

    def _pause(self, label: str, done: int, total: int) -> None:
        if self.progress is not None and total > 1:
            self.progress(label, done, total)
        if self.stop_at is not None and time.monotonic() >= self.stop_at:
            raise OutOfTime

    # (3) --------------------------------------------------------------------------------------

    def _surroundings(self) -> None:
        """What the records depend on outside their streams."""
        moved = self._events()
        found = arrived(self.conn, self.reader, hook=self.repo.hook)
        numbers = cache_judge.waiting_for(self.conn, found)
        numbers.update(number for (number,) in self.conn.execute("SELECT number FROM unsettled"))
        self.conn.executemany("DELETE FROM missing WHERE value = ?", [(value,) for value in found])
        moved = cache_judge.rejudge(self.conn, self.staged, self.facts, numbers) or moved
        shallow = shallow_state(self.repo)
        if self.conn.execute("SELECT shallow FROM state").fetchone()[0] != shallow:
            self.conn.execute("UPDATE state SET shallow = ?", (shallow,))
            moved = True
        if moved:
            self.conn.execute("UPDATE state SET epoch = epoch + 1")

    def _events(self) -> bool:
        """Collect the collaboration events again when their refs moved and a record needs one."""
        wanted = event_refs(self.refs)
        needed = self.conn.execute(
            "SELECT 1 FROM need WHERE value >= 'event:' AND value < 'event;' LIMIT 1"
        ).fetchone()
        (known,) = self.conn.execute("SELECT events FROM state").fetchone()
        if known == wanted or needed is None:
            return False
        from ai_kb.hn.eventstore import collect_events

        events = collect_events(self.repo, self.reader, refs=self.refs)
        before = {found for (found,) in self.conn.execute("SELECT id FROM event")}
        self.conn.executemany("DELETE FROM event WHERE id = ?", [(value,) for value in before - events])
        self.conn.executemany("INSERT INTO event VALUES (?)", [(value,) for value in sorted(events - before)])
        self.conn.execute("UPDATE state SET events = ?", (wanted,))
        changed = [f"event:{value}" for value in before ^ events]
        return cache_judge.rejudge(
            self.conn, self.staged, self.facts, cache_judge.waiting_for(self.conn, changed)
        )

    # (5) --------------------------------------------------------------------------------------

    def _extension_row(self) -> tuple[int, int] | None:
        """(version, first number it lacks) of the caller's extension."""
        if self.extension is None:
            return None
        row = self.conn.execute(
            "SELECT version, upto FROM extension WHERE name = ?", (self.extension.name,)
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def _extend(self) -> None:
        """Give the caller's extension the records that it does not have."""
        extension = self.extension
        if extension is None:
            return
        (next_number,) = self.conn.execute("SELECT next FROM state").fetchone()
        row = self._extension_row()
        if row is None or row[0] != extension.version:
            self._make_extension(extension)
            row = (extension.version, 0)
        upto = row[1]
        while upto < next_number:
            self._pause("preparing search", upto, next_number)
            with _Transaction(self.conn):
                rows = self.conn.execute(
                    cache_records.SELECT
                    + " WHERE m.number >= ? AND m.kind IS NOT NULL ORDER BY m.number LIMIT ?",
                    (upto, _EXTENSION_CHUNK),
                ).fetchall()
                added = [cache_records.read(found) for found in rows]
                if added:
                    extension.apply(self.conn, added, [])
                upto = added[-1].number + 1 if len(added) == _EXTENSION_CHUNK else next_number
                self.conn.execute("UPDATE extension SET upto = ? WHERE name = ?", (upto, extension.name))

    def _make_extension(self, extension: IndexExtension) -> None:
        with _Transaction(self.conn):
            tables = self.conn.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE ? ESCAPE '\\'"
                # The shadow tables of a virtual table go with it.
                " ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'",
                (extension.name.replace("_", "\\_") + "\\_%",),
            ).fetchall()
            for (name,) in tables:
                self.conn.execute(f'DROP TABLE IF EXISTS "{name}"')
            extension.create(self.conn)
            self.conn.execute(
                "INSERT OR REPLACE INTO extension VALUES (?, ?, 0)", (extension.name, extension.version)
            )


class _Transaction:
    """BEGIN IMMEDIATE to COMMIT, or ROLLBACK when an exception passes."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def __enter__(self) -> None:
        self._conn.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._conn.execute("COMMIT")
        elif self._conn.in_transaction:
            self._conn.execute("ROLLBACK")
