"""One record as JSON: the ``data`` object, and the fields of a row of recall and of ``index-v0.json``.

Both sort ``data.evidence``. Recall prints ``null`` for an empty list of a row and of ``data``'s topics
and evidence, the index prints ``[]`` for all but ``evidenceDetails`` and ``dependencies``; the four
lists of a handoff are lists in both. Everything is built from the JSON form of a verified
record, so that a query needs none of the protocol's types.

docs/protocol.md, "Command line" and "Private index, recall, cursors".
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def data_object(record: Mapping[str, object], *, nulls: bool) -> dict[str, object]:
    """The ``data`` of a row: ``record`` in its own field order, evidence sorted."""
    out = dict(record)
    for name in ("topics", "evidence"):
        values = record[name]
        assert isinstance(values, list)
        out[name] = sorted(values) if values or not nulls else None
    return out


def searchable(record: Mapping[str, object]) -> list[tuple[str, str]]:
    """(label, text) of every field that grep looks at, each by itself: content, topics, handoff items.

    memory-v0, "Explicit regex fallback".
    """
    fields = [("content", str(record["content"]))]
    fields.extend((f"topics[{place}]", topic) for place, topic in enumerate(_texts(record.get("topics"))))
    handoff = record.get("handoff")
    if isinstance(handoff, dict):
        for name in ("completed", "assumptions", "blockers", "nextActions"):
            items = _texts(handoff.get(name))
            fields.extend((f"handoff.{name}[{place}]", item) for place, item in enumerate(items))
    return fields


def _texts(value: object) -> Sequence[str]:
    return value if isinstance(value, list) else []


def search_units(record: Mapping[str, object]) -> int:
    """What a record adds to grep's work: for every field its UTF-8 bytes and one."""
    return sum(len(text.encode()) + 1 for _, text in searchable(record))


class RowFacts:
    """The judgments of one row, as plain values; ``details`` and ``dependencies`` as JSON objects."""

    __slots__ = (
        "actor",
        "applicability",
        "challengers",
        "dependencies",
        "details",
        "evidence",
        "id",
        "lifecycle",
        "record",
        "retractions",
        "stream",
        "successors",
        "timestamp",
        "trust",
    )

    id: str
    stream: str
    actor: str
    timestamp: str
    record: Mapping[str, object]
    lifecycle: str
    challengers: list[str]
    successors: list[str]
    retractions: list[str]
    applicability: str
    evidence: str
    details: list[dict[str, object]]
    dependencies: list[dict[str, object]]
    trust: str


def row_object(row: RowFacts, *, nulls: bool) -> dict[str, object]:
    """A row, its fields in the order in which they are printed."""
    from agent_base.digests import sha256_hex

    def listed(values: Iterable[str]) -> list[str] | None:
        return sorted(values) or (None if nulls else [])

    record = row.record
    return {
        "id": row.id,
        "stream": row.stream,
        "actor": row.actor,
        "signedTimestamp": row.timestamp,
        "kind": record["kind"],
        "contentDigest": "sha256:" + sha256_hex(str(record["content"]).encode()),
        "anchor": record["anchor"],
        "signature": "valid",
        "lifecycle": row.lifecycle,
        "challengers": listed(row.challengers),
        "successors": listed(row.successors),
        "retractions": listed(row.retractions),
        "applicability": row.applicability,
        "evidence": row.evidence,
        "evidenceDetails": row.details or None,
        "dependencies": row.dependencies or None,
        "trust": row.trust,
        "data": data_object(record, nulls=nulls),
    }
