"""Records as the private index holds them: read without the protocol's types, for a hook's sake."""

from __future__ import annotations

from agent_base import lightjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence


class IndexedRecord:
    """One verified record or supersede as the index holds it.

    Attributes:
        number: small dense integer, never used twice in one file.
        id: ``sha256:`` and 64 hex digits.
        timestamp: as signed.
        payload: exact ``memory.json``; its SHA-256 is the id.
    """

    __slots__ = (
        "_data",
        "actor",
        "id",
        "number",
        "operation",
        "payload",
        "sequence",
        "stream",
        "timestamp",
    )

    def __init__(
        self,
        number: int,
        id: str,
        actor: str,
        stream: str,
        sequence: int,
        timestamp: str,
        operation: str,
        payload: bytes,
    ) -> None:
        self.number = number
        self.id = id
        self.actor = actor
        self.stream = stream
        self.sequence = sequence
        self.timestamp = timestamp
        self.operation = operation
        self.payload = payload
        self._data: dict[str, object] | None = None

    @property
    def data(self) -> dict[str, object]:
        """The record's JSON object: kind, content, anchor, applicability, topics, evidence (as signed),
        attemptOutcome and handoff where it has them."""
        if self._data is None:
            envelope = lightjson.loads(self.payload.decode())
            self._data = envelope["record"]
        assert self._data is not None
        return self._data


def raw_id(memory_id: str) -> bytes:
    """The 32 bytes of a ``sha256:`` id."""
    return bytes.fromhex(memory_id[7:])


def full_id(raw: bytes) -> str:
    """The ``sha256:`` id of 32 bytes."""
    return "sha256:" + raw.hex()


SELECT = (
    "SELECT m.number, m.id, s.actor, s.stream, m.sequence, m.timestamp, m.operation, p.data"
    " FROM memory m JOIN stream s ON s.sid = m.sid JOIN payload p ON p.number = m.number"
)


def read(row: Sequence[object]) -> IndexedRecord:
    """The record of one row of ``SELECT``."""
    number, raw, actor, stream, sequence, timestamp, operation, payload = row
    assert isinstance(number, int)
    assert isinstance(raw, bytes)
    assert isinstance(payload, bytes)
    assert isinstance(sequence, int)
    return IndexedRecord(
        number, full_id(raw), str(actor), str(stream), sequence, str(timestamp), str(operation), payload
    )


def load(conn: sqlite3.Connection, numbers: Iterable[int]) -> list[IndexedRecord]:
    """The records of ``numbers`` in that order; numbers without a record are passed over."""
    out = []
    for number in numbers:
        row = conn.execute(SELECT + " WHERE m.number = ? AND m.kind IS NOT NULL", (number,)).fetchone()
        if row is not None:
            out.append(read(row))
    return out
