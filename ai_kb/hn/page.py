"""One page of recall or grep: which records, in which order, within which bounds.

Works on sets of record numbers. The order is lifecycle, signed timestamp descending as text, id
(all that is listed applies, so applicability does not tell records apart). A page costs what it
returns, not what there is: few matches are sorted, many are met by walking the index in
that order.

memory-v0, "Bounded recall"; docs/protocol.md, "Private index, recall, cursors".
"""

from __future__ import annotations

from ai_kb.hn import cache_bits as bits
from ai_kb.hn.cache_records import full_id
from ai_kb.hn.errors import HnError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

# What the byte bound of a page counts, as a column of the index.
CONTENT_BYTES = "content_bytes"
DATA_BYTES = "data_bytes"

_LOOKUPS = 500


class Place:
    """Where a record stands in the order of a page."""

    __slots__ = ("id", "lifecycle", "timestamp")

    def __init__(self, lifecycle: str, timestamp: str, id: bytes) -> None:
        self.lifecycle = lifecycle
        self.timestamp = timestamp
        self.id = id


def place_of(conn: sqlite3.Connection, raw_id: bytes) -> Place | None:
    """Where the record with that id stands; None where there is no such record."""
    row = conn.execute(
        "SELECT lifecycle, timestamp FROM memory WHERE id = ? AND kind IS NOT NULL", (raw_id,)
    ).fetchone()
    return None if row is None else Place(row[0], row[1], raw_id)


def in_order(
    conn: sqlite3.Connection, matched: int, lifecycles: Sequence[str], after: Place | None = None
) -> Iterator[int]:
    """Numbers of ``matched`` in the order of a page, from behind ``after`` on.

    ``lifecycles`` are those that ``matched`` may hold, in order.
    """
    for lifecycle in lifecycles:
        if after is not None and after.lifecycle in lifecycles:
            position = lifecycles.index(after.lifecycle)
            if lifecycles.index(lifecycle) < position:
                continue
            start = after if lifecycle == after.lifecycle else None
        else:
            start = None
        members = matched & bits.read(conn, bits.LIFECYCLE + lifecycle)
        if members:
            yield from _newest(conn, members, start)


def _newest(conn: sqlite3.Connection, members: int, start: Place | None) -> Iterator[int]:
    """``members`` by timestamp descending, then id."""
    count = members.bit_count()
    (total,) = conn.execute("SELECT next FROM state").fetchone()
    # Sorting looks at every member; walking meets a member every total/count steps.
    if count * count <= 64 * total or count <= _LOOKUPS:
        yield from _sorted(conn, members, start)
    else:
        yield from _walked(conn, members, start)


def _sorted(conn: sqlite3.Connection, members: int, start: Place | None) -> Iterator[int]:
    keys: list[tuple[str, bytes, int]] = []
    for chunk in _chunks(bits.members(members)):
        marks = ",".join("?" * len(chunk))
        keys.extend(
            conn.execute(f"SELECT timestamp, id, number FROM memory WHERE number IN ({marks})", chunk)
        )
    keys.sort(key=lambda key: key[1])
    keys.sort(key=lambda key: key[0], reverse=True)  # stable: ids stay ascending
    for timestamp, raw, number in keys:
        if start is None or timestamp < start.timestamp or (timestamp == start.timestamp and raw > start.id):
            yield number


def _chunks(numbers: Iterable[int]) -> Iterator[list[int]]:
    chunk: list[int] = []
    for number in numbers:
        chunk.append(number)
        if len(chunk) == _LOOKUPS:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _walked(conn: sqlite3.Connection, members: int, start: Place | None) -> Iterator[int]:
    data = members.to_bytes((members.bit_length() + 7) // 8, "little")
    size = len(data)
    order = " ORDER BY timestamp DESC, id"
    select = "SELECT number FROM memory INDEXED BY memory_newest WHERE kind IS NOT NULL"
    if start is None:
        passes = [conn.execute(select + order)]
    else:
        passes = [
            conn.execute(select + " AND timestamp = ? AND id > ? ORDER BY id", (start.timestamp, start.id)),
            conn.execute(select + " AND timestamp < ?" + order, (start.timestamp,)),
        ]
    for rows in passes:
        for (number,) in rows:
            index = number >> 3
            if index < size and data[index] >> (number & 7) & 1:
                yield number


def oversized(
    conn: sqlite3.Connection, matched: int, lifecycles: Sequence[str], column: str, bound: int
) -> str | None:
    """Id of the first record of ``matched``, in order, that alone exceeds ``bound``; None where none does."""
    large = matched & bits.union(_over(conn, matched, column, bound))
    for number in in_order(conn, large, lifecycles):
        (raw,) = conn.execute("SELECT id FROM memory WHERE number = ?", (number,)).fetchone()
        return full_id(raw)
    return None


def _over(conn: sqlite3.Connection, matched: int, column: str, bound: int) -> Iterator[int]:
    """Numbers over the bound, those of ``matched`` at least: looked up where they are few, else by the
    index of the column, in which hardly any is over a bound that somebody would choose."""
    if matched.bit_count() > _LOOKUPS:
        rows = conn.execute(f"SELECT number FROM memory WHERE kind IS NOT NULL AND {column} > ?", (bound,))
        yield from (number for (number,) in rows)
        return
    for chunk in _chunks(bits.members(matched)):
        marks = ",".join("?" * len(chunk))
        rows = conn.execute(
            f"SELECT number FROM memory WHERE number IN ({marks}) AND {column} > ?", (*chunk, bound)
        )
        yield from (number for (number,) in rows)


def cut(
    conn: sqlite3.Connection, numbers: Iterator[int], column: str, max_records: int, max_bytes: int
) -> tuple[list[int], bool]:
    """(the page, whether there is more): records as long as count and bytes stay within the bounds."""
    page: list[int] = []
    used = 0
    for number in numbers:
        (size,) = conn.execute(f"SELECT {column} FROM memory WHERE number = ?", (number,)).fetchone()
        if len(page) == max_records or used + size > max_bytes:
            return page, True
        page.append(number)
        used += size
    return page, False


def too_large(memory: str, what: str) -> HnError:
    """The refusal of a page with a record that alone exceeds the byte bound."""
    return HnError(f"memory {memory} encoded {what} exceeds maxContentBytes; raise the explicit bound")
