"""Verified memories as rows of the private index, and out of it again.

Only what a memory says by itself is written here: fields, payload, edges, the sets
it belongs to. What the rest of the repository says about it is ``cache_judge``.
"""

from __future__ import annotations

from ai_kb.hn import cache_bits as bits
from ai_kb.hn import canonical
from ai_kb.hn.cache_records import IndexedRecord, load, raw_id
from ai_kb.hn.rowjson import data_object, search_units
from ai_kb.hn.tokens import index_tokens, indexed_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from ai_kb.hn.envelope_types import Record
    from ai_kb.hn.verification import Entry


def static_keys(record: dict[str, object], actor: str, anchor: int) -> list[str]:
    """The sets that a record belongs to by what it says: tokens, topics, paths, subject and so on."""
    anchored = record["anchor"]
    mode = record["applicability"]
    assert isinstance(anchored, dict)
    assert isinstance(mode, dict)
    topics = record["topics"]
    assert isinstance(topics, list)
    tokens = index_tokens(indexed_text(str(record["content"]), topics))
    keys = [bits.TOKEN + t if len(t) < bits.MAX_KEY else bits.key_of(bits.TOKEN, t) for t in tokens]
    keys.extend(bits.key_of(bits.TOPIC, topic) for topic in topics)
    keys.extend(bits.key_of(bits.PATH, entry["path"]) for entry in anchored.get("paths", ()))
    if anchored.get("subject"):
        keys.append(bits.key_of(bits.SUBJECT, anchored["subject"]))
    keys.append(bits.key_of(bits.KIND, str(record["kind"])))
    keys.append(bits.key_of(bits.ACTOR, actor))
    keys.append(bits.key_of(bits.MODE, mode["mode"]))
    keys.append(bits.key_of(bits.ANCHOR, str(anchor)))
    return keys


def anchor_number(conn: sqlite3.Connection, commit: str) -> int:
    """The number of an anchor commit, given out when it is first seen."""
    row = conn.execute("SELECT number FROM anchor WHERE oid = ?", (commit,)).fetchone()
    if row is None:
        return conn.execute("INSERT INTO anchor (oid) VALUES (?)", (commit,)).lastrowid or 0
    number: int = row[0]
    return number


def stream_number(conn: sqlite3.Connection, actor: str, stream: str) -> int:
    """The number of a stream, given out when it is first seen."""
    row = conn.execute("SELECT sid FROM stream WHERE actor = ? AND stream = ?", (actor, stream)).fetchone()
    if row is None:
        made = conn.execute("INSERT INTO stream (actor, stream) VALUES (?, ?)", (actor, stream))
        return made.lastrowid or 0
    number: int = row[0]
    return number


class New:
    """A memory that has just been written. ``indexed`` and ``record`` are None for what is no record."""

    __slots__ = ("indexed", "number", "operation", "raw", "record", "target")

    def __init__(self, number: int, entry: Entry) -> None:
        envelope = entry.memory.envelope
        self.number = number
        self.raw = raw_id(entry.memory.id)
        self.operation = envelope.operation
        self.target = raw_id(envelope.target) if envelope.target else None
        self.record: Record | None = envelope.record
        self.indexed: IndexedRecord | None = None
        if envelope.record is not None:
            decoded = canonical.parse(entry.memory.payload)
            assert isinstance(decoded, dict)
            self.indexed = IndexedRecord(
                number,
                entry.memory.id,
                envelope.actor,
                envelope.stream,
                envelope.sequence,
                envelope.timestamp,
                envelope.operation,
                entry.memory.payload,
                decoded,
            )


def insert(
    conn: sqlite3.Connection, staged: bits.Staged, entries: Iterable[Entry], sid: int, number: int
) -> list[New]:
    """Write ``entries`` of one stream from ``number`` on; gives those that are new.

    A memory that another ref brought before keeps its number and gets another commit.
    """
    memories: list[tuple[object, ...]] = []
    payloads: list[tuple[int, bytes]] = []
    commits: list[tuple[bytes, int]] = []
    needs: list[tuple[str, int]] = []
    anchors: dict[str, int] = {}
    added: list[New] = []
    for entry in entries:
        envelope = entry.memory.envelope
        known = conn.execute("SELECT number FROM memory WHERE id = ?", (raw_id(entry.memory.id),)).fetchone()
        commits.append((bytes.fromhex(entry.commit), number if known is None else known[0]))
        if known is not None:
            continue
        new = New(number, entry)
        columns: tuple[object, ...] = (None,) * 5
        if new.record is not None and new.indexed is not None:
            commit = new.record.anchor.commit
            if commit not in anchors:
                anchors[commit] = anchor_number(conn, commit)
            data = new.indexed.data
            staged.add(number, *static_keys(data, envelope.actor, anchors[commit]))
            needs.extend((value, number) for value in new.record.evidence)
            columns = (
                new.record.kind,
                anchors[commit],
                len(canonical.encode(new.record.content)),
                len(canonical.encode(data_object(data, nulls=True))),
                search_units(data),
            )
        memories.append(
            (
                number,
                new.raw,
                sid,
                envelope.sequence,
                envelope.timestamp,
                envelope.operation,
                new.target,
                *columns,
            )
        )
        payloads.append((number, entry.memory.payload))
        added.append(new)
        number += 1
    conn.executemany(
        "INSERT INTO memory (number, id, sid, sequence, timestamp, operation, target,"
        " kind, anchor, content_bytes, data_bytes, units) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        memories,
    )
    conn.executemany("INSERT INTO payload VALUES (?, ?)", payloads)
    conn.executemany("INSERT OR IGNORE INTO entry VALUES (?, ?)", commits)
    edges = [(new.target, new.number) for new in added if new.target is not None]
    conn.executemany("INSERT OR IGNORE INTO edge VALUES (?, ?)", edges)
    conn.executemany("INSERT OR IGNORE INTO need VALUES (?, ?)", needs)
    return added


def delete(conn: sqlite3.Connection, staged: bits.Staged, number: int) -> IndexedRecord | None:
    """Take one memory out, with every set and edge it is in; gives it back when it was a record."""
    row = conn.execute(
        "SELECT id, target, anchor, lifecycle, evidence, anchored FROM memory WHERE number = ?", (number,)
    ).fetchone()
    _, target, anchor, lifecycle, evidence, anchored = row
    record = next(iter(load(conn, [number])), None)
    if record is not None:
        keys = static_keys(record.data, record.actor, anchor)
        keys += [bits.LIFECYCLE + lifecycle, bits.EVIDENCE + evidence, bits.ANCHORED + anchored]
        staged.remove(number, *keys)
        values = record.data["evidence"]
        assert isinstance(values, list)
        conn.executemany(
            "DELETE FROM need WHERE value = ? AND number = ?", [(value, number) for value in values]
        )
    if target is not None:
        conn.execute("DELETE FROM edge WHERE target = ? AND source = ?", (target, number))
    for table in ("memory", "payload", "entry", "unsettled"):
        conn.execute(f"DELETE FROM {table} WHERE number = ?", (number,))
    return record
