"""Records as the private index holds them: read without the protocol's types, for a hook's sake."""

from __future__ import annotations

from agent_base import lightjson
from agent_base.digests import sha256_hex
from ai_kb.hn.cache_file import DamagedIndex

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
        "_envelope",
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
        envelope: dict[str, object] | None = None,
    ) -> None:
        self.number = number
        self.id = id
        self.actor = actor
        self.stream = stream
        self.sequence = sequence
        self.timestamp = timestamp
        self.operation = operation
        self.payload = payload
        self._envelope = envelope

    @property
    def envelope(self) -> dict[str, object]:
        """The whole signed envelope as its JSON object."""
        if self._envelope is None:
            self._envelope = lightjson.loads(self.payload.decode())
        assert self._envelope is not None
        return self._envelope

    @property
    def data(self) -> dict[str, object]:
        """The record's JSON object: kind, content, anchor, applicability, topics, evidence (as signed),
        attemptOutcome and handoff where it has them."""
        record = self.envelope["record"]
        assert isinstance(record, dict)
        return record

    @property
    def target(self) -> str:
        """Id of the record that this one supersedes; "" for a ``record``."""
        return str(self.envelope.get("target", ""))


def raw_id(memory_id: str) -> bytes:
    """The 32 bytes of a ``sha256:`` id."""
    return bytes.fromhex(memory_id[7:])


def full_id(raw: bytes) -> str:
    """The ``sha256:`` id of 32 bytes."""
    return "sha256:" + raw.hex()


SELECT = (
    "SELECT m.number, m.id, s.actor, s.stream, m.sequence, m.timestamp, m.operation, p.data"
    # What lacks its stream or its payload comes out, and is refused: no record is left out in silence.
    " FROM memory m LEFT JOIN stream s ON s.sid = m.sid LEFT JOIN payload p ON p.number = m.number"
)


def read(row: Sequence[object]) -> IndexedRecord:
    """The record of one row of ``SELECT``. Raises DamagedIndex when its payload does not hash to its id."""
    number, raw, actor, stream, sequence, timestamp, operation, payload = row
    whole = isinstance(raw, bytes) and isinstance(payload, bytes) and sha256_hex(payload) == raw.hex()
    texts = isinstance(actor, str) and isinstance(stream, str) and isinstance(timestamp, str)
    if not (whole and texts and isinstance(number, int) and isinstance(sequence, int)):
        raise DamagedIndex("the private index holds a record that is not what it was")
    assert isinstance(raw, bytes)
    assert isinstance(payload, bytes)
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


def relations(conn: sqlite3.Connection, raw: bytes, number: int) -> tuple[list[str], list[str], list[str]]:
    """(successors, retractions, challengers) of the record with id ``raw``: the edges that count.

    The rules are those of ``projection.relate`` for a target that exists and is a record.
    """
    found: dict[str, list[str]] = {"supersede": [], "retract": [], "challenge": []}
    rows = conn.execute(
        "SELECT m.id, m.operation, m.number, s.actor, t.actor FROM edge e"
        " JOIN memory m ON m.number = e.source JOIN stream s ON s.sid = m.sid"
        " JOIN memory n ON n.number = ? JOIN stream t ON t.sid = n.sid WHERE e.target = ? ORDER BY m.id",
        (number, raw),
    )
    for source, operation, source_number, actor, owner in rows:
        if source_number != number and (operation == "challenge" or actor == owner):
            found[operation].append(full_id(source))
    return found["supersede"], found["retract"], found["challenge"]
