"""What the rest of the repository says about the records of the private index.

Lifecycle comes from the edges in the index, evidence and anchors from the objects, events
and memories that are there. The functions that decide are those of ``projection``; this
module finds out which records to ask them about, and answers their questions in bulk:
one round trip of ``git cat-file`` for a batch, whatever its size.

What is missing is remembered, and asked for again whenever the index is opened: a fetch
can bring it. What was there is asked for again only for the records about to be shown.
"""

from __future__ import annotations

from ai_kb.hn import cache_bits as bits
from ai_kb.hn.cache_objects import ANCHOR, GIT
from ai_kb.hn.cache_records import IndexedRecord, load, raw_id, relations
from ai_kb.hn.envelope_codec import read_record
from ai_kb.hn.projection import (
    ANCHOR_MISSING,
    MISSING,
    anchor_state,
    evidence_class,
    evidence_details,
    lifecycle_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from ai_kb.hn.cache_rows import New
    from ai_kb.hn.envelope_types import Record
    from ai_kb.hn.gitstore import ObjectReader

# Object types remembered during one refresh; more are forgotten together.
_REMEMBERED = 200_000


class StoredFacts:
    """``projection.Facts`` from the index and one ``cat-file``; ``prefetch`` saves round trips."""

    def __init__(self, conn: sqlite3.Connection, reader: ObjectReader) -> None:
        self._conn = conn
        self._reader = reader
        self._types: dict[str, str | None] = {}
        self._paths: dict[tuple[str, str], str | None] = {}

    def prefetch(self, records: Iterable[Record]) -> None:
        """Look up every object that judging ``records`` will ask for."""
        if len(self._types) > _REMEMBERED:
            self._types = {}
        wanted: dict[str, None] = {}
        places: dict[str, dict[str, None]] = {}
        for record in records:
            wanted[record.anchor.commit] = None
            for value in record.evidence:
                if value.startswith(GIT):
                    wanted[value[4:]] = None
            for entry in record.anchor.paths:
                places.setdefault(record.anchor.commit, {})[entry.path] = None
        self._look_up([oid for oid in wanted if oid not in self._types])
        self._paths = {}
        for commit, paths in places.items():
            if self._types.get(commit) == "commit":
                found = self._reader.path_blobs(commit, list(paths))
                self._paths.update(zip(((commit, path) for path in paths), found, strict=True))

    def _look_up(self, oids: Sequence[str]) -> None:
        self._types.update(zip(oids, self._reader.types(oids), strict=True))

    def object_type(self, oid: str) -> str | None:
        if oid not in self._types:
            self._look_up([oid])
        return self._types[oid]

    def is_ancestor(self, ancestor: str, descendant: str) -> bool | None:
        raise NotImplementedError("ancestry is a matter of a query commit: cache_context")

    def path_blob(self, commit: str, path: str) -> str | None:
        if (commit, path) not in self._paths:
            self._paths[commit, path] = self._reader.path_blobs(commit, [path])[0]
        return self._paths[commit, path]

    def event_known(self, event_id: str) -> bool:
        return self._conn.execute("SELECT 1 FROM event WHERE id = ?", (event_id,)).fetchone() is not None

    def memory_known(self, memory_id: str) -> bool:
        found = self._conn.execute("SELECT 1 FROM memory WHERE id = ?", (raw_id(memory_id),))
        return found.fetchone() is not None


def _lifecycle(
    conn: sqlite3.Connection, number: int, raw: bytes, operation: str, target: bytes | None
) -> str:
    missing = operation == "supersede" and (
        conn.execute("SELECT 1 FROM memory WHERE id = ?", (target,)).fetchone() is None
    )
    if conn.execute("SELECT 1 FROM edge WHERE target = ? LIMIT 1", (raw,)).fetchone() is None:
        return lifecycle_of(missing, (), ())
    successors, retractions, _ = relations(conn, raw, number)
    return lifecycle_of(missing, successors, retractions)


def touched_by(
    conn: sqlite3.Connection, memories: Iterable[tuple[int, bytes, bytes | None]]
) -> tuple[set[int], set[int]]:
    """Records whose (lifecycle, evidence) may change because ``memories`` have come, or are to go.

    Each is (number, id, target). Themselves may be among the answers.
    """
    lifecycles: set[int] = set()
    evidence: set[int] = set()
    for _, raw, target in memories:
        if target is not None:
            rows = conn.execute("SELECT number FROM memory WHERE id = ? AND kind IS NOT NULL", (target,))
            lifecycles.update(found for (found,) in rows)
        rows = conn.execute(
            "SELECT m.number FROM edge e JOIN memory m ON m.number = e.source"
            " WHERE e.target = ? AND m.kind IS NOT NULL",
            (raw,),
        )
        lifecycles.update(found for (found,) in rows)
        rows = conn.execute("SELECT number FROM need WHERE value = ?", (f"memory:sha256:{raw.hex()}",))
        evidence.update(found for (found,) in rows)
    return lifecycles, evidence


def judge_lifecycles(conn: sqlite3.Connection, staged: bits.Staged, numbers: Iterable[int]) -> None:
    """Bring the lifecycle of ``numbers`` up to date."""
    for number in sorted(numbers):
        raw, operation, target = conn.execute(
            "SELECT id, operation, target FROM memory WHERE number = ?", (number,)
        ).fetchone()
        value = _lifecycle(conn, number, raw, operation, target)
        _set(conn, staged, number, "lifecycle", bits.LIFECYCLE, value)


def judge_new(
    conn: sqlite3.Connection, staged: bits.Staged, facts: StoredFacts, memories: Sequence[New]
) -> None:
    """Judge the records among ``memories``, which have just been written, for the first time."""
    facts.prefetch(new.record for new in memories if new.record is not None)
    judgments: list[tuple[str, str, str, int]] = []
    for new in memories:
        if new.record is None or new.indexed is None:
            continue
        lifecycle = _lifecycle(conn, new.number, new.raw, new.operation, new.target)
        evidence, state = _judge(conn, facts, new.indexed, new.record)
        judgments.append((lifecycle, evidence, state, new.number))
        staged.add(new.number, bits.LIFECYCLE + lifecycle, bits.EVIDENCE + evidence, bits.ANCHORED + state)
    conn.executemany(
        "UPDATE memory SET lifecycle = ?, evidence = ?, anchored = ? WHERE number = ?", judgments
    )


def judge_objects(
    conn: sqlite3.Connection,
    staged: bits.Staged,
    facts: StoredFacts,
    records: Sequence[IndexedRecord],
) -> bool:
    """Bring evidence and anchor of ``records`` up to date. Says whether an anchor changed: then what was
    computed for query commits no longer holds."""
    read = [(record, read_record(record.data)) for record in records]
    facts.prefetch(record for _, record in read)
    moved = False
    for indexed, record in read:
        evidence, state = _judge(conn, facts, indexed, record)
        _set(conn, staged, indexed.number, "evidence", bits.EVIDENCE, evidence)
        before = _set(conn, staged, indexed.number, "anchored", bits.ANCHORED, state)
        if before != state:
            moved = True
            if before == ANCHOR_MISSING:
                conn.execute("DELETE FROM unsettled WHERE number = ?", (indexed.number,))
    return moved


def _judge(
    conn: sqlite3.Connection, facts: StoredFacts, indexed: IndexedRecord, record: Record
) -> tuple[str, str]:
    """(evidence class, state of the anchor) of a record; what is missing for them is written down."""
    details = evidence_details(indexed.id, record.evidence, facts)
    state = anchor_state(record.anchor, facts)
    gone = [GIT + d.requested for d in details if d.type == "git" and d.status == MISSING]
    if state == ANCHOR_MISSING:
        if facts.object_type(record.anchor.commit) is None:
            gone.append(ANCHOR + record.anchor.commit)
        else:  # a tree on the way to a path; which one is not known, so the record is asked about again
            conn.execute("INSERT OR IGNORE INTO unsettled VALUES (?)", (indexed.number,))
    if gone:
        conn.executemany("INSERT OR IGNORE INTO missing VALUES (?)", [(value,) for value in gone])
    return evidence_class(details), state


def _set(
    conn: sqlite3.Connection, staged: bits.Staged, number: int, column: str, kind: str, value: str
) -> str | None:
    """Write one judgment where it changed; gives what it was."""
    (before,) = conn.execute(f"SELECT {column} FROM memory WHERE number = ?", (number,)).fetchone()
    if before != value:
        conn.execute(f"UPDATE memory SET {column} = ? WHERE number = ?", (value, number))
        if before is not None:
            staged.remove(number, kind + before)
        staged.add(number, kind + value)
    return None if before is None else str(before)


def waiting_for(conn: sqlite3.Connection, values: Iterable[str]) -> set[int]:
    """Records that need one of the ``missing`` values."""
    numbers: set[int] = set()
    for value in values:
        if value.startswith(ANCHOR):
            row = conn.execute("SELECT number FROM anchor WHERE oid = ?", (value.removeprefix(ANCHOR),))
            for (anchor,) in row.fetchall():
                numbers.update(bits.members(bits.read(conn, bits.key_of(bits.ANCHOR, str(anchor)))))
        else:
            rows = conn.execute("SELECT number FROM need WHERE value = ?", (value,))
            numbers.update(number for (number,) in rows)
    return numbers


def rejudge(
    conn: sqlite3.Connection, staged: bits.Staged, facts: StoredFacts, numbers: Iterable[int]
) -> bool:
    """``judge_objects`` of records that are in the index already, in batches."""
    ordered = sorted(numbers)
    moved = False
    for start in range(0, len(ordered), 1024):
        batch = load(conn, ordered[start : start + 1024])
        moved = judge_objects(conn, staged, facts, batch) or moved
        staged.flush(conn)
    return moved
