"""Single memories in the index, with everything that a projection of the whole set says of them.

Rows, relationships and missing dependencies are those of ``projection.project``, made by its functions,
for the memories asked about and no others: what they cost does not grow with the number of records.
Anchors and evidence are asked of the repository afresh, in bulk.

memory-v0, "Lifecycle and the five independent judgments"; docs/protocol.md, "Projection".
"""

from __future__ import annotations

from ai_kb.hn import cache_bits as bits
from ai_kb.hn import cache_context, cache_records
from ai_kb.hn.cache_judge import StoredFacts
from ai_kb.hn.envelope import VerifiedMemory, decode_envelope
from ai_kb.hn.facts import RepositoryFacts
from ai_kb.hn.policy import MemoryPolicy, Policy, ProposalPolicy
from ai_kb.hn.projection import (
    Dependency,
    Edge,
    Query,
    Relations,
    Row,
    dependency_order,
    relate,
    row_of,
)
from ai_kb.hn.streamrefs import sources_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ai_kb.hn.cache_index import Index
    from ai_kb.hn.envelope_types import Record

_ID_DIGITS = 64


class QueryFacts(StoredFacts):
    """Facts of the index with the ancestry of its query commit; types and trees asked afresh."""

    def __init__(self, index: Index) -> None:
        super().__init__(index.conn, index.reader)
        self._index = index
        self._commit = query_commit(index)
        self._ancestors = bits.read(index.conn, cache_context.ancestors_key(index.context))
        self._asked = RepositoryFacts(index.repo, index.reader, (), tuple)

    def object_type(self, oid: str) -> str | None:
        if oid == self._commit:
            return "commit" if oid else None
        return super().object_type(oid)

    def is_ancestor(self, ancestor: str, descendant: str) -> bool | None:
        if ancestor == descendant or self._is_known_ancestor(ancestor):
            return True
        return self._asked.is_ancestor(ancestor, descendant)

    def prefetch(self, records: Iterable[Record]) -> None:
        records = list(records)
        self._index.reader.load_directories(
            (record.anchor.commit, entry.path.rpartition("/")[0])
            for record in records
            for entry in record.anchor.paths
        )
        super().prefetch(records)
        if self._commit:
            unsure = {
                record.anchor.commit
                for record in records
                if record.applicability.mode == "descendants"
                and not self._is_known_ancestor(record.anchor.commit)
                and self.object_type(record.anchor.commit) == "commit"
            }
            self._asked.prepare_ancestry(unsure - {self._commit}, self._commit)

    def _is_known_ancestor(self, oid: str) -> bool:
        row = self._index.conn.execute("SELECT number FROM anchor WHERE oid = ?", (oid,)).fetchone()
        return row is not None and bool(self._ancestors >> row[0] & 1)


def query_commit(index: Index) -> str:
    """The query commit as projection takes it: empty where HEAD names none yet."""
    return "" if cache_context.is_unborn(index.at_commit) else index.at_commit


# --- which ---------------------------------------------------------------------------------------


def ids_starting(index: Index, digits: str) -> list[str]:
    """Ids of the memories, of any operation, that start with ``digits`` (lowercase hex); ascending."""
    first, last = (bytes.fromhex(digits.ljust(_ID_DIGITS, fill)) for fill in "0f")
    rows = index.conn.execute("SELECT id FROM memory WHERE id BETWEEN ? AND ? ORDER BY id", (first, last))
    return [cache_records.full_id(raw) for (raw,) in rows]


def memory_of(index: Index, memory_id: str) -> VerifiedMemory | None:
    """The memory with that id, of any operation. Raises DamagedIndex when it is not what it was."""
    row = index.conn.execute(
        cache_records.SELECT + " WHERE m.id = ?", (cache_records.raw_id(memory_id),)
    ).fetchone()
    if row is None:
        return None
    payload = cache_records.read(row).payload
    return VerifiedMemory(memory_id, decode_envelope(payload), payload)


def commit_of(index: Index, memory_id: str) -> str:
    """The commit in which a memory was found: that of the local stream where an accepted one has it too."""
    rows = index.conn.execute(
        "SELECT e.oid, s.actor, s.stream FROM memory m JOIN entry e ON e.number = m.number"
        " JOIN stream s ON s.sid = m.sid WHERE m.id = ? ORDER BY e.oid",
        (cache_records.raw_id(memory_id),),
    ).fetchall()
    commits: list[str] = [oid.hex() for oid, _, _ in rows]
    if len(commits) > 1:
        for source, head in sources_of(index.refs):
            if (source.actor, source.stream) == rows[0][1:]:
                answers = index.repo.ancestry(commits, head)
                held = [oid for oid in commits if answers[oid]]
                if held:
                    return held[0]
    return commits[0]


# --- what is said of them ------------------------------------------------------------------------


def rows(index: Index, memories: Sequence[VerifiedMemory]) -> dict[str, Row]:
    """The rows of those of ``memories`` that are records, by id, judged at the query commit."""
    facts = QueryFacts(index)
    records = [(memory, memory.envelope.record) for memory in memories if memory.envelope.record is not None]
    facts.prefetch(record for _, record in records)
    query = Query(query_commit(index), _policy(index))
    return {
        memory.id: row_of(memory, record, _relations(index, memory), query, facts)
        for memory, record in records
    }


def _policy(index: Index) -> Policy | None:
    """The policy of the query commit, as far as trust goes."""
    if index.trusted is None:
        return None
    actors, kinds = index.trusted
    memory = MemoryPolicy(tuple(sorted(actors)), tuple(sorted(kinds)))
    return Policy(index.policy_digest, (), ProposalPolicy(0, 0, (), False), {}, memory)


def _relations(index: Index, memory: VerifiedMemory) -> Relations:
    relations = Relations()
    raw = cache_records.raw_id(memory.id)
    (number,) = index.conn.execute("SELECT number FROM memory WHERE id = ?", (raw,)).fetchone()
    successors, retractions, challengers = cache_records.relations(index.conn, raw, number)
    relations.successors.update(successors)
    relations.retractions.update(retractions)
    relations.challengers.update(challengers)
    if memory.envelope.operation == "supersede":
        missing = relate(memory, memory_of(index, memory.envelope.target))
        relations.missing_target = missing if isinstance(missing, Dependency) else None
    return relations


def edges_of(index: Index, memory: VerifiedMemory) -> list[Edge]:
    """The valid relationships that lead from or to ``memory``, sorted."""
    found: set[Edge] = set()
    if memory.envelope.operation != "record":
        own = relate(memory, memory_of(index, memory.envelope.target))
        found.update([own] if isinstance(own, Edge) else ())
    for source in _pointing_at(index, memory.id):
        edge = relate(source, memory)
        found.update([edge] if isinstance(edge, Edge) else ())
    return sorted(found)


def _pointing_at(index: Index, memory_id: str) -> list[VerifiedMemory]:
    found = index.conn.execute(
        "SELECT m.id FROM edge e JOIN memory m ON m.number = e.source WHERE e.target = ?",
        (cache_records.raw_id(memory_id),),
    ).fetchall()
    memories = [memory_of(index, cache_records.full_id(raw)) for (raw,) in found]
    return [memory for memory in memories if memory is not None]


def dependencies_of(index: Index, memory: VerifiedMemory, row: Row | None) -> list[Dependency]:
    """What ``memory`` (whose row is ``row``) waits for, and who else waits for its missing target; sorted."""
    found: set[Dependency] = set() if row is None else set(row.dependencies)
    target = memory.envelope.target
    if target and memory_of(index, target) is None:
        for source in _pointing_at(index, target):
            relation = relate(source, None)
            assert isinstance(relation, Dependency)
            found.add(relation)
        needing = index.conn.execute(
            "SELECT m.id FROM need n JOIN memory m ON m.number = n.number WHERE n.value = ?",
            (f"memory:{target}",),
        ).fetchall()
        others = [memory_of(index, cache_records.full_id(raw)) for (raw,) in needing]
        for other in rows(index, [m for m in others if m is not None]).values():
            found.update(d for d in other.dependencies if d.missing == target)
    return sorted(found, key=dependency_order)
