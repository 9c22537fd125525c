"""Sets of record numbers, in blocks: what makes a query over 100,000 records cheap.

A set is kept in blocks of 4,096 numbers. A block with few members is a list of 16-bit offsets,
a full one a bitmap of 512 bytes; the length tells which. Read, a set is one Python
integer (bit n is number n), so that intersections and counts take microseconds.

Two tables: ``flag`` for the few sets that every query needs (a set's blocks lie together),
``posting`` for the many (tokens, topics, paths: a block's keys lie together, so that a
new record touches one region of the file only).
"""

from __future__ import annotations

from ai_kb.hn.cache_file import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

BLOCK = 4096
_BITMAP_BYTES = BLOCK // 8
_SPARSE_MEMBERS = 200
_MAX_KEY = 96

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
    if len(value) > _MAX_KEY:
        # A token holds no colon, and the others are checked forms: no short value looks like this.
        return f"{kind}:{sha256_hex(value.encode())}"
    return kind + value


def members(bits: int) -> Iterator[int]:
    """Numbers in a set, ascending."""
    data = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    for index, byte in enumerate(data):
        while byte:
            low = byte & -byte
            yield index * 8 + low.bit_length() - 1
            byte ^= low


def union(numbers: Iterable[int]) -> int:
    """The set of ``numbers``."""
    out = bytearray()
    for number in numbers:
        index = number >> 3
        if index >= len(out):
            out.extend(bytes(index + 1 - len(out)))
        out[index] |= 1 << (number & 7)
    return int.from_bytes(out, "little")


def _unpack(data: bytes) -> bytearray:
    """The 512-byte bitmap of a stored block."""
    if len(data) == _BITMAP_BYTES:
        return bytearray(data)
    out = bytearray(_BITMAP_BYTES)
    for index in range(0, len(data), 2):
        offset = data[index] | data[index + 1] << 8
        out[offset >> 3] |= 1 << (offset & 7)
    return out


def _pack(bitmap: bytes | bytearray) -> bytes:
    """The shorter stored form of a 512-byte bitmap; empty for the empty set."""
    value = int.from_bytes(bitmap, "little")
    if value.bit_count() > _SPARSE_MEMBERS:
        return bytes(bitmap)
    return b"".join(offset.to_bytes(2, "little") for offset in members(value))


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
        out[start : start + _BITMAP_BYTES] = _unpack(data)
    return int.from_bytes(out, "little")


class Staged:
    """Changes to many sets, written together. ``flush`` inside the caller's transaction."""

    __slots__ = ("_added", "_removed", "count")

    def __init__(self) -> None:
        self._added: dict[tuple[int, str], list[int]] = {}
        self._removed: dict[tuple[int, str], list[int]] = {}
        self.count = 0

    def add(self, key: str, number: int) -> None:
        """Put ``number`` into the set ``key``. After a ``remove`` of the same number: flush between."""
        self._added.setdefault((number // BLOCK, key), []).append(number % BLOCK)
        self.count += 1

    def remove(self, key: str, number: int) -> None:
        """Take ``number`` out of the set ``key``."""
        self._removed.setdefault((number // BLOCK, key), []).append(number % BLOCK)
        self.count += 1

    def flush(self, conn: sqlite3.Connection) -> None:
        """Removals first, then additions."""
        blocks = {place[0] for changes in (self._removed, self._added) for place in changes}
        known = {block for (block,) in conn.execute("SELECT block FROM block")}
        conn.executemany("INSERT INTO block VALUES (?)", [(block,) for block in sorted(blocks - known)])
        fresh = blocks - known
        for changes, present in ((self._removed, False), (self._added, True)):
            for place in sorted(changes):
                _change(conn, place, changes[place], present=present, fresh=place[0] in fresh)
        self._added = {}
        self._removed = {}
        self.count = 0


def _change(
    conn: sqlite3.Connection, place: tuple[int, str], offsets: list[int], *, present: bool, fresh: bool
) -> None:
    block, key = place
    table = "flag" if key[0] in _FLAGS else "posting"
    # A block that did not exist holds nothing yet; flags of a later context may be there all the same.
    stored = None
    if not fresh or table == "flag":
        row = conn.execute(f"SELECT bits FROM {table} WHERE block = ? AND key = ?", (block, key)).fetchone()
        stored = None if row is None else row[0]
    if present and stored is None and len(offsets) <= _SPARSE_MEMBERS:
        data = b"".join(offset.to_bytes(2, "little") for offset in sorted(set(offsets)))
    else:
        bitmap = bytearray(_BITMAP_BYTES) if stored is None else _unpack(stored)
        for offset in offsets:
            if present:
                bitmap[offset >> 3] |= 1 << (offset & 7)
            else:
                bitmap[offset >> 3] &= ~(1 << (offset & 7)) & 0xFF
        data = _pack(bitmap)
    if data:
        conn.execute(
            f"INSERT OR REPLACE INTO {table} (block, key, bits) VALUES (?, ?, ?)", (block, key, data)
        )
    elif stored is not None:
        conn.execute(f"DELETE FROM {table} WHERE block = ? AND key = ?", (block, key))


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
