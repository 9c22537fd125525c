"""Sets of record numbers, in blocks: what makes a query over 100,000 records cheap.

A set is kept in blocks of 4,096 numbers. A block with few members is a list of 16-bit offsets,
a full one a bitmap of 512 bytes; the length tells which. Read, a set is one Python
integer (bit n is number n), so that intersections and counts take microseconds.

Two tables: ``flag`` for the few sets that every query needs (a set's blocks lie together),
``posting`` for the many (tokens, topics, paths: a block's keys lie together, so that a
new record touches one region of the file only).
"""

from __future__ import annotations

import sys

from agent_base.digests import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

BLOCK = 4096
_BITMAP_BYTES = BLOCK // 8
_SPARSE_MEMBERS = 200
MAX_KEY = 96

# First character of a key: which kind of set it is.
TOKEN = "w"
TOPIC = "t"
PATH = "p"
SUBJECT = "s"
ANCHOR = "c"
KIND = "k"
ACTOR = "a"
MODE = "m"
LIFECYCLE = "l"
EVIDENCE = "e"
ANCHORED = "v"
DESCENDS = "x"
_FLAGS = frozenset({KIND, ACTOR, MODE, LIFECYCLE, EVIDENCE, ANCHORED, DESCENDS})


def key_of(kind: str, value: str) -> str:
    """The key of one set; a long value is named by its digest."""
    if len(value) > MAX_KEY:
        # A token holds no colon, and the others are checked forms: no short value looks like this.
        return f"{kind}:{sha256_hex(value.encode())}"
    return kind + value


def members(bits: int) -> Iterator[int]:
    """Numbers in a set, ascending."""
    data = bits.to_bytes(-(-bits.bit_length() // 64) * 8, sys.byteorder)
    words = memoryview(data).cast("Q")
    for index, word in enumerate(words if sys.byteorder == "little" else reversed(words)):
        while word:
            low = word & -word
            yield index * 64 + low.bit_length() - 1
            word ^= low


def union(numbers: Iterable[int]) -> int:
    """The set of ``numbers``."""
    out = bytearray()
    for number in numbers:
        index = number >> 3
        if index >= len(out):
            out.extend(bytes(index + 1 - len(out)))
        out[index] |= 1 << (number & 7)
    return int.from_bytes(out, "little")


def _pack(bitmap: bytes | bytearray) -> bytes:
    """The shorter stored form of a 512-byte bitmap; empty for the empty set."""
    value = int.from_bytes(bitmap, "little")
    if value.bit_count() > _SPARSE_MEMBERS:
        return bytes(bitmap)
    return _pack_sparse(members(value))


def _pack_sparse(offsets: Iterable[int]) -> bytes:
    """Ascending ``offsets`` as 16-bit numbers in the machine's own order: the file stays on it."""
    from array import array

    return array("H", offsets).tobytes()


def read(conn: sqlite3.Connection, key: str) -> int:
    """The set stored under ``key``; 0 where there is none."""
    if key[0] in _FLAGS:
        rows = conn.execute("SELECT block, bits FROM flag WHERE key = ?", (key,))
    else:
        rows = conn.execute(
            "SELECT p.block, p.bits FROM block b CROSS JOIN posting p ON p.block = b.block AND p.key = ?",
            (key,),
        )
    out = bytearray()
    for block, data in rows:
        start = block * _BITMAP_BYTES
        if len(out) < start + _BITMAP_BYTES:
            out.extend(bytes(start + _BITMAP_BYTES - len(out)))
        if len(data) == _BITMAP_BYTES:
            out[start : start + _BITMAP_BYTES] = data
        else:
            for offset in memoryview(data).cast("H"):
                out[start + (offset >> 3)] |= 1 << (offset & 7)
    return int.from_bytes(out, "little")


class Staged:
    """Changes to many sets, written together. ``flush`` inside the caller's transaction."""

    __slots__ = ("_added", "_removed")

    def __init__(self) -> None:
        self._added: dict[int, dict[str, list[int]]] = {}
        self._removed: dict[int, dict[str, list[int]]] = {}

    def add(self, number: int, *keys: str) -> None:
        """Put ``number`` into the sets ``keys``. After a ``remove`` of the same number: flush between."""
        _stage(self._added, number, keys)

    def remove(self, number: int, *keys: str) -> None:
        """Take ``number`` out of the sets ``keys``."""
        _stage(self._removed, number, keys)

    def flush(self, conn: sqlite3.Connection) -> None:
        """Removals first, then additions."""
        known = {block for (block,) in conn.execute("SELECT block FROM block")}
        fresh = sorted({*self._removed, *self._added} - known)
        conn.executemany("INSERT INTO block VALUES (?)", [(block,) for block in fresh])
        for staged, present in ((self._removed, False), (self._added, True)):
            for block in sorted(staged):
                _change(conn, block, staged[block], present=present, fresh=block in fresh)
        self._added = {}
        self._removed = {}


def _stage(staged: dict[int, dict[str, list[int]]], number: int, keys: Iterable[str]) -> None:
    changes = staged.setdefault(number // BLOCK, {})
    offset = number % BLOCK
    for key in keys:
        if key in changes:
            changes[key].append(offset)
        else:
            changes[key] = [offset]


def _change(
    conn: sqlite3.Connection, block: int, changes: dict[str, list[int]], *, present: bool, fresh: bool
) -> None:
    """Write the changed sets of one block, in the order in which they lie in the file."""
    written: dict[str, list[tuple[int, str, bytes]]] = {"flag": [], "posting": []}
    emptied: dict[str, list[tuple[int, str]]] = {"flag": [], "posting": []}
    for key in sorted(changes):
        table = "flag" if key[0] in _FLAGS else "posting"
        stored = None
        # A block that did not exist holds nothing yet; flags of a query commit may be there all the same.
        if not fresh or table == "flag":
            row = conn.execute(
                f"SELECT bits FROM {table} WHERE block = ? AND key = ?", (block, key)
            ).fetchone()
            stored = None if row is None else row[0]
        data = _changed(stored, changes[key], present=present)
        if data:
            written[table].append((block, key, data))
        elif stored is not None:
            emptied[table].append((block, key))
    for table, rows in written.items():
        conn.executemany(f"INSERT OR REPLACE INTO {table} (block, key, bits) VALUES (?, ?, ?)", rows)
    for table, places in emptied.items():
        conn.executemany(f"DELETE FROM {table} WHERE block = ? AND key = ?", places)


def _changed(stored: bytes | None, offsets: list[int], *, present: bool) -> bytes:
    """The stored form of a block with ``offsets`` put in (``present``) or taken out."""
    if stored is None and present and len(offsets) == 1:
        return offsets[0].to_bytes(2, sys.byteorder)  # most words of a block stand in one record
    if stored is None or len(stored) < _BITMAP_BYTES:
        kept = set(memoryview(stored).cast("H")) if stored else set()
        kept = kept.union(offsets) if present else kept.difference(offsets)
        if len(kept) <= _SPARSE_MEMBERS:
            return _pack_sparse(sorted(kept))
        bits = union(kept)
    else:
        bits = int.from_bytes(stored, "little")
        change = union(offsets)
        bits = bits | change if present else bits & ~change
    return _pack(bits.to_bytes(_BITMAP_BYTES, "little"))


def write(conn: sqlite3.Connection, key: str, bits: int) -> None:
    """Store ``bits`` whole under the flag ``key``, in place of what was there."""
    assert key[0] in _FLAGS
    conn.execute("DELETE FROM flag WHERE key = ?", (key,))
    data = bits.to_bytes(-(-max(bits.bit_length(), 1) // BLOCK) * _BITMAP_BYTES, "little")
    rows = []
    for start in range(0, len(data), _BITMAP_BYTES):
        packed = _pack(data[start : start + _BITMAP_BYTES])
        if packed:
            rows.append((key, start // _BITMAP_BYTES, packed))
    conn.executemany("INSERT INTO flag VALUES (?, ?, ?)", rows)
