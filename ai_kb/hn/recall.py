"""Bounded recall: a normalized request in, the version-0 result out.

``recall`` answers from the private index. What it returns was checked again a moment ago:
anchors and ``git:`` evidence of the page are asked of the repository in one batch, and a record
whose evidence is gone is left out, the page drawn again. Nothing is written, fetched or executed.

memory-v0, "Bounded recall"; docs/protocol.md, "Private index, recall, cursors".
"""

from __future__ import annotations

from ai_kb.hn import cache_bits as bits
from ai_kb.hn import cursor as cursors
from ai_kb.hn import page as pages
from ai_kb.hn.cache_records import raw_id
from ai_kb.hn.errors import HnError, InvalidCursor
from ai_kb.hn.rendering import WARNING, readable
from ai_kb.hn.rowjson import RowFacts, row_object
from ai_kb.hn.tokens import index_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ai_kb.hn.cache_index import Index
    from ai_kb.hn.cache_records import IndexedRecord
    from ai_kb.hn.request import Request

_REASONS = {"git": "exact-object", "event": "accepted-event", "memory": "accepted-memory"}


class Result:
    """One page of recall or grep.

    Attributes:
        matched: records that match, on all pages.
        rows: those of this page.
        next_cursor: where the next page starts; "" on the last.
    """

    __slots__ = ("matched", "next_cursor", "query_digest", "rows")

    def __init__(self, query_digest: str, matched: int, rows: Sequence[RowFacts], next_cursor: str) -> None:
        self.query_digest = query_digest
        self.matched = matched
        self.rows = rows
        self.next_cursor = next_cursor

    def as_object(self) -> dict[str, object]:
        """The version-0 JSON result: the warning stands outside author data."""
        out: dict[str, object] = {
            "version": 0,
            "warning": WARNING,
            "queryDigest": self.query_digest,
            "matched": self.matched,
            "returned": len(self.rows),
            "truncated": bool(self.next_cursor),
        }
        if self.next_cursor:
            out["nextCursor"] = self.next_cursor
        out["memories"] = [row_object(row, nulls=True) for row in self.rows]
        out["missingDependencies"] = missing_dependencies(self.rows)
        return out

    def as_lines(self, body: Callable[[RowFacts], Sequence[str]]) -> list[str]:
        """The result for a terminal; ``body`` gives the lines below each record's heading."""
        returned, truncated = len(self.rows), "true" if self.next_cursor else "false"
        lines = [WARNING, f"Matched: {self.matched}; returned: {returned}; truncated: {truncated}"]
        for row in self.rows:
            lines.append(
                f"{row.id}  actor={row.actor}  kind={row.record['kind']}  lifecycle={row.lifecycle}"
                f"  applicability={row.applicability}  evidence={row.evidence}  trust={row.trust}"
            )
            lines.extend(body(row))
        if self.next_cursor:
            lines.append(f"Next cursor: {self.next_cursor}")
        return lines


def content_lines(row: RowFacts) -> list[str]:
    """What recall shows of a record on a terminal: its content, inert."""
    return [f"  {readable(str(row.record['content']))}"]


def indented_lines(row: RowFacts) -> list[str]:
    """The same, every line of it indented: none can look like the heading of a record."""
    return [f"  {line}".rstrip() for line in readable(str(row.record["content"])).split("\n")]


def missing_dependencies(rows: Sequence[RowFacts]) -> list[dict[str, object]]:
    """What the rows of a page name that is not there; sorted, each once."""
    found: dict[tuple[str, ...], dict[str, object]] = {}
    for row in rows:
        for dependency in row.dependencies:
            found[dependency_key(dependency)] = dependency
    return [found[key] for key in sorted(found)]


def dependency_key(dependency: Mapping[str, object]) -> tuple[str, ...]:
    """Sort key of a list of dependencies: that of ``projection.dependency_order``."""
    names = ("missingId", "kind", "operation", "ownerId", "reason")
    return tuple(str(dependency.get(name, "")) for name in names)


def query_tokens(query: str) -> list[str]:
    """The lexical terms of a query. Raises HnError when it has none."""
    tokens = index_tokens(query)
    if not tokens:
        raise HnError("memory index query has no lexical terms")
    return tokens


def recall(index: Index, request: Request) -> Result:
    """The page that ``request`` asks for.

    Raises HnError: a record over the byte bound; InvalidCursor.
    """
    tokens = None if request.query is None else query_tokens(request.query)

    def matching() -> int:
        out = eligible(index, request)
        for token in tokens or ():
            out &= index.read_set(bits.TOKEN, token)
        return out

    digest = cursors.query_digest(
        request.mapping(index.at_commit), index.fingerprint, index.policy_digest, kind=cursors.RECALL
    )
    return draw(
        index,
        request,
        matching,
        digest,
        kind=cursors.RECALL,
        column=pages.CONTENT_BYTES,
        what="content",
    )


def eligible(index: Index, request: Request) -> int:
    """Records that pass the filters of ``request`` but for query and pattern."""
    return index.gate(
        lifecycle=request.lifecycles,
        trust=request.trust,
        topics=request.topics,
        kinds=request.kinds,
        actors=request.actors,
        subject=request.subject,
        path=request.path,
    )


def draw(
    index: Index,
    request: Request,
    matching: Callable[[], int],
    digest: str,
    *,
    kind: str,
    column: str,
    what: str,
) -> Result:
    """One page of the set that ``matching`` gives, asked again whenever a record of it proves gone."""
    after = None
    if request.cursor:
        last = cursors.decode_cursor(request.cursor, digest, kind=kind)
        after = pages.place_of(index.conn, raw_id(last))
        if after is None or after.lifecycle not in request.lifecycles:
            raise InvalidCursor(
                f"{kind} cursor does not match the normalized query, sources, policy, or bounds",
                "start again without --cursor",
            )
    while True:
        matched = matching()
        large = pages.oversized(index.conn, matched, request.lifecycles, column, request.max_content_bytes)
        if large is not None:
            raise pages.too_large(large, what)
        numbers, more = pages.cut(
            index.conn,
            pages.in_order(index.conn, matched, request.lifecycles, after),
            column,
            request.max_records,
            request.max_content_bytes,
        )
        records = index.records(numbers)
        if not index.recheck(records):
            break
    rows = [row_of(index, record) for record in records]
    following = cursors.encode_cursor(digest, rows[-1].id, kind=kind) if more else ""
    return Result(digest, matched.bit_count(), rows, following)


def row_of(index: Index, record: IndexedRecord) -> RowFacts:
    """The row of a record that applies and whose evidence is there."""
    row = RowFacts()
    row.id = record.id
    row.stream = record.stream
    row.actor = record.actor
    row.timestamp = record.timestamp
    row.record = record.data
    row.lifecycle = index.lifecycle_of(record.number)
    row.successors, row.retractions, row.challengers = index.relations(record)
    row.applicability = "applicable"
    row.evidence = "resolved"
    evidence = record.data["evidence"]
    assert isinstance(evidence, list)
    row.details = []
    for value in sorted(evidence):
        type_, _, requested = value.partition(":")
        row.details.append(
            {
                "type": type_,
                "requested": requested,
                "ownerId": record.id,
                "status": "resolved",
                "reason": _REASONS[type_],
            }
        )
    row.dependencies = []
    if row.lifecycle == "dependency-missing":
        row.dependencies.append(missing_target(record))
    row.trust = index.trust_of(record.actor, str(record.data["kind"]))
    return row


def missing_target(record: IndexedRecord) -> dict[str, object]:
    """The dependency of a record that supersedes something that is not there."""
    return {
        "kind": "lifecycle-target",
        "ownerId": record.id,
        "stream": record.stream,
        "operation": record.operation,
        "missingId": record.target,
        "reason": "target-unavailable",
    }
