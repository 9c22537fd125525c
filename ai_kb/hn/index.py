"""``index-v0.json``: the protocol's private index, byte for byte.

Derived from the verified set at one query commit, subject and path; disposable, never transported.
``export`` writes it piece by piece, so that its size, not the number of records, is what is bounded.
The file is for other programs that read the protocol; queries here are served by ``cache``.

memory-v0, "Disposable local index"; docs/protocol.md, "Private index, recall, cursors".
"""

from __future__ import annotations

from array import array

from ai_kb.hn import cache_context, canonical
from ai_kb.hn.cache_judge import StoredFacts
from ai_kb.hn.cache_records import SELECT, read
from ai_kb.hn.envelope_codec import read_record
from ai_kb.hn.facts import RepositoryFacts
from ai_kb.hn.projection import (
    Query,
    anchor_state,
    applicability_of,
    evidence_class,
    evidence_dependencies,
    evidence_details,
)
from ai_kb.hn.projection_types import dependency_object, detail_object
from ai_kb.hn.recall import dependency_key, missing_target
from ai_kb.hn.rowjson import RowFacts, row_object
from ai_kb.hn.tokens import index_tokens, indexed_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ai_kb.hn.cache_index import Index
    from ai_kb.hn.cache_records import IndexedRecord
    from ai_kb.hn.envelope_types import Record

_CHUNK = 512


class _QueryFacts(StoredFacts):
    """Facts of the index with the ancestry of its query commit, types and trees asked afresh."""

    def __init__(self, index: Index) -> None:
        super().__init__(index.conn, index.reader)
        self._commit = index.at_commit
        self._ancestors = cache_context.ancestor_oids(index.conn, index.context)
        self._asked = RepositoryFacts(index.repo, index.reader, (), tuple)

    def is_ancestor(self, ancestor: str, descendant: str) -> bool | None:
        if ancestor == descendant or ancestor in self._ancestors:
            return True
        return self._asked.is_ancestor(ancestor, descendant)

    def prefetch(self, records: Iterable[Record]) -> None:
        records = list(records)
        super().prefetch(records)
        self._asked.prepare_ancestry(
            {
                record.anchor.commit
                for record in records
                if record.anchor.commit not in self._ancestors
                and self.object_type(record.anchor.commit) == "commit"
            },
            self._commit,
        )


def rows(index: Index, subject: str = "", path: str = "") -> Iterator[RowFacts]:
    """Every record as a row, judged afresh for the index's query commit and ``subject``, ``path``; by id."""
    facts = _QueryFacts(index)
    query = Query(index.at_commit, None, subject, path)
    after = b""
    while True:
        found = index.conn.execute(
            SELECT + " WHERE m.id > ? AND m.kind IS NOT NULL ORDER BY m.id LIMIT ?", (after, _CHUNK)
        ).fetchall()
        if not found:
            return
        after = found[-1][1]
        records = [(record, read_record(record.data)) for record in map(read, found)]
        facts.prefetch(record for _, record in records)
        for indexed, record in records:
            yield _row(index, indexed, record, query, facts)


def _row(index: Index, indexed: IndexedRecord, record: Record, query: Query, facts: _QueryFacts) -> RowFacts:
    row = RowFacts()
    row.id = indexed.id
    row.stream = indexed.stream
    row.actor = indexed.actor
    row.timestamp = indexed.timestamp
    row.record = indexed.data
    row.lifecycle = index.lifecycle_of(indexed.number)
    row.successors, row.retractions, row.challengers = index.relations(indexed)
    state = anchor_state(record.anchor, facts)
    row.applicability, missing = applicability_of(indexed.id, indexed.stream, record, state, query, facts)
    details = evidence_details(indexed.id, record.evidence, facts)
    row.evidence = evidence_class(details)
    row.details = [detail_object(detail) for detail in details]
    dependencies = [dependency_object(d) for d in (*missing, *evidence_dependencies(details, indexed.stream))]
    if row.lifecycle == "dependency-missing":
        dependencies.append(missing_target(indexed))
    row.dependencies = sorted(dependencies, key=dependency_key)
    row.trust = index.trust_of(indexed.actor, record.kind)
    return row


def export(
    index: Index,
    subject: str = "",
    path: str = "",
    progress: Callable[[str, int, int], None] | None = None,
) -> Iterator[bytes]:
    """The bytes of ``index-v0.json``, in pieces."""
    yield (
        b'{\n  "version": 0,\n  "sourceFingerprint": '
        + canonical.encode(index.fingerprint)
        + b',\n  "records": '
    )
    total = index.count()
    ids: list[str] = []
    postings: dict[str, array[int]] = {}

    def records() -> Iterator[object]:
        for row in rows(index, subject, path):
            if progress is not None and len(ids) % _CHUNK == 0:
                progress("writing index-v0.json", len(ids), total)
            topics = row.record["topics"]
            assert isinstance(topics, list)
            for token in index_tokens(indexed_text(str(row.record["content"]), topics)):
                postings.setdefault(token, array("I")).append(len(ids))
            ids.append(row.id)
            yield row_object(row, nulls=False)

    yield from _list(records())
    yield b',\n  "tokens": '
    yield from _list(
        {"token": token, "memoryIds": [ids[place] for place in postings[token]]} for token in sorted(postings)
    )
    yield b"\n}\n"


def _list(items: Iterable[object]) -> Iterator[bytes]:
    """A list that stands in a field of the outer object, indented as the rest."""
    first = True
    for item in items:
        # A line break in encoded JSON is one between tokens: those of strings are escaped.
        piece = canonical.encode_indented(item).replace(b"\n", b"\n    ")
        yield (b"[\n    " if first else b",\n    ") + piece
        first = False
    yield b"[]" if first else b"\n  ]"


def consistent_tokens(value: dict[str, object]) -> bool:
    """Whether the postings in a decoded index are those of the records in it."""
    postings: dict[str, list[str]] = {}
    records, tokens = value["records"], value["tokens"]
    assert isinstance(records, list)
    assert isinstance(tokens, list)
    for record in records:
        data = record["data"]
        for token in index_tokens(indexed_text(data["content"], data["topics"])):
            postings.setdefault(token, []).append(record["id"])
    return tokens == [{"token": token, "memoryIds": postings[token]} for token in sorted(postings)]
