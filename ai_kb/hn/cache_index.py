"""A current index, open for questions: sets of records, and the records themselves.

Sets are Python integers (bit n is the record with number n), so that filters are ``&`` and counts
``bit_count``, whatever the number of records. On the path of every hook: standard library only.

memory-v0, "Bounded recall"; docs/protocol.md, "Projection" and "Private index, recall, cursors".
"""

from __future__ import annotations

from ai_kb.hn import cache_bits as bits
from ai_kb.hn import cache_context, cache_records
from ai_kb.hn.cache_objects import vanished

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ai_kb.hn.cache_records import IndexedRecord
    from ai_kb.hn.gitstore import ObjectReader, Repository

# Below this, looking records up one by one is cheaper than walking over all of them.
_FEW = 2_000
_KINDS = ("assumption", "attempt", "decision", "handoff", "observation", "verification")


class Judged:
    """A record with the judgments of one query commit and policy, for what is injected or listed."""

    __slots__ = ("challengers", "lifecycle", "record", "trust")

    def __init__(self, record: IndexedRecord, lifecycle: str, trust: str, challengers: list[str]) -> None:
        self.record = record
        self.lifecycle = lifecycle
        self.trust = trust
        self.challengers = challengers


class Index:
    """A current index, open for questions, all answered from one state. A context manager.

    Bit sets are Python integers: bit ``n`` is the record with number ``n``.

    Attributes:
        conn: the database, read only.
        reader: one ``cat-file`` of the repository.
        refs: the refs the index is bound to.
        at_commit: the query commit.
        policy_digest: of the policy there.
        context: number of the query commit in the file.
        trusted: (actors, kinds) of its memory section; None where there is none.
        gone: numbers of the records that a fresh look found without anchor or evidence.
        note: why the index is in memory only; empty when it is not.
    """

    def __init__(
        self,
        conn: sqlite3.Connection,
        repo: Repository,
        reader: ObjectReader,
        refs: Mapping[str, str],
        context: cache_context.Context,
        path: str,
        *,
        own_reader: bool,
        note: str = "",
    ) -> None:
        self.conn = conn
        self.repo = repo
        self.reader = reader
        self.refs = refs
        self.at_commit = context.commit
        self.policy_digest = context.policy_digest
        self.trusted = context.trusted
        self.note = note
        self.path = path
        self.context = context.id
        self._own_reader = own_reader
        self.gone: set[int] = set()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and the reader if this index started it."""
        self.conn.close()
        if self._own_reader:
            self.reader.close()

    @property
    def fingerprint(self) -> str:
        """``sourceFingerprint`` of the protocol: policy digest and the head of every memory stream."""
        from ai_kb.hn.cursor import source_fingerprint
        from ai_kb.hn.streamrefs import sources_of

        sources = [(source.ref, head) for source, head in sources_of(self.refs)]
        return source_fingerprint(self.policy_digest, sources)

    @property
    def change(self) -> int:
        """A number that differs whenever anything about the records of this file changed."""
        (number,) = self.conn.execute("SELECT change FROM state").fetchone()
        return int(number)

    def read_set(self, kind: str, value: str) -> int:
        """One stored set, ``kind`` and ``value`` as in ``cache_bits``."""
        return bits.read(self.conn, bits.key_of(kind, value))

    def any_of(self, kind: str, values: Iterable[str]) -> int:
        """Union of stored sets."""
        out = 0
        for value in values:
            out |= self.read_set(kind, value)
        return out

    def applicable(self, subject: str = "", path: str = "") -> int:
        """Records whose anchor holds and that apply at the query commit, and to ``subject`` and ``path``.

        docs/protocol.md, "Projection": exact, descendants or subject; a query's subject and path must be
        anchored by the record.
        """
        exact = self.read_set(bits.MODE, "exact")
        if exact:
            row = self.conn.execute("SELECT number FROM anchor WHERE oid = ?", (self.at_commit,)).fetchone()
            exact &= 0 if row is None else self.read_set(bits.ANCHOR, str(row[0]))
        out = exact | (
            self.read_set(bits.MODE, "descendants")
            & bits.read(self.conn, cache_context.descendants_key(self.context))
        )
        if subject:
            anchored = self.read_set(bits.SUBJECT, subject)
            out = (out | self.read_set(bits.MODE, "subject")) & anchored
        if path:
            out &= self.read_set(bits.PATH, path)
        return out & self.read_set(bits.ANCHORED, "applicable")

    def trusted_as(self, trust: str) -> int:
        """Records of one trust class: policy-missing, actor-untrusted, kind-untrusted or qualified."""
        everything = self.any_of(bits.KIND, _KINDS)
        if self.trusted is None:
            return everything if trust == "policy-missing" else 0
        if trust == "policy-missing":
            return 0
        actors = self.any_of(bits.ACTOR, self.trusted[0])
        if trust == "actor-untrusted":
            return everything & ~actors
        kinds = self.any_of(bits.KIND, self.trusted[1])
        return actors & (kinds if trust == "qualified" else ~kinds)

    def gate(
        self,
        *,
        lifecycle: Collection[str] = ("active",),
        trust: Collection[str] = ("qualified",),
        topics: Iterable[str] = (),
        kinds: Collection[str] = (),
        actors: Collection[str] = (),
        subject: str = "",
        path: str = "",
    ) -> int:
        """Bit set of the records that are applicable, with resolved evidence, and pass the filters.

        An empty filter filters nothing; ``topics`` must all be there. The defaults are those of
        recall, and so of every injection.
        """
        out = self.applicable(subject, path) & self.read_set(bits.EVIDENCE, "resolved")
        if lifecycle:
            out &= self.any_of(bits.LIFECYCLE, lifecycle)
        if trust:
            classes = 0
            for name in trust:
                classes |= self.trusted_as(name)
            out &= classes
        for topic in topics:
            out &= self.read_set(bits.TOPIC, topic)
        if kinds:
            out &= self.any_of(bits.KIND, kinds)
        if actors:
            out &= self.any_of(bits.ACTOR, actors)
        return out & ~bits.union(self.gone) if self.gone else out

    def trust_of(self, actor: str, kind: str) -> str:
        """Trust class of one actor and kind under the policy of the query commit."""
        if self.trusted is None:
            return "policy-missing"
        if actor not in self.trusted[0]:
            return "actor-untrusted"
        return "qualified" if kind in self.trusted[1] else "kind-untrusted"

    def records(self, numbers: Iterable[int]) -> list[IndexedRecord]:
        """The records of ``numbers`` in that order. Raises DamagedIndex when one is not what it was."""
        return cache_records.load(self.conn, numbers)

    def recheck(self, records: Sequence[IndexedRecord]) -> set[int]:
        """Numbers of those ``records`` whose anchor or ``git:`` evidence is gone, asked in one batch.

        From then on ``gate`` of this index leaves them out.
        """
        gone = vanished(self.reader, records)
        self.gone |= gone
        return gone

    def judged(self, numbers: Iterable[int], *, recheck: bool = True) -> list[Judged]:
        """The records of ``numbers``, in that order, without those that fail a fresh look.

        With ``recheck`` their anchors and ``git:`` evidence are asked of the repository again in one
        batch; a record whose evidence or anchor is gone is left out.
        """
        found = self.records(numbers)
        gone = self.recheck(found) if recheck and found else set()
        return [self._judged(record) for record in found if record.number not in gone]

    def _judged(self, record: IndexedRecord) -> Judged:
        lifecycle, challengers = self.lifecycle_of(record.number), self.relations(record)[2]
        trust = self.trust_of(record.actor, str(record.data["kind"]))
        return Judged(record, lifecycle, trust, challengers)

    def lifecycle_of(self, number: int) -> str:
        """Lifecycle class of a record."""
        row = self.conn.execute("SELECT lifecycle FROM memory WHERE number = ?", (number,)).fetchone()
        return str(row[0])

    def relations(self, record: IndexedRecord) -> tuple[list[str], list[str], list[str]]:
        """(successors, retractions, challengers) of a record, ids ascending."""
        return cache_records.relations(self.conn, cache_records.raw_id(record.id), record.number)

    def each(self, numbers: int) -> Iterator[IndexedRecord]:
        """Every record of a set, by number; one at a time in memory."""
        chunk = 256
        members = list(bits.members(numbers))
        for start in range(0, len(members), chunk):
            yield from self.records(members[start : start + chunk])

    def count(self) -> int:
        """How many records there are, whatever their judgments."""
        return self.any_of(bits.KIND, _KINDS).bit_count()

    def total(self, column: str, numbers: int) -> int:
        """Sum of an integer column over a set."""
        if numbers.bit_count() <= _FEW:
            query = f"SELECT {column} FROM memory WHERE number = ?"
            return sum(self.conn.execute(query, (number,)).fetchone()[0] for number in bits.members(numbers))
        data = numbers.to_bytes((numbers.bit_length() + 7) // 8, "little")
        size = len(data)
        out = 0
        for number, value in self.conn.execute(f"SELECT number, {column} FROM memory WHERE kind IS NOT NULL"):
            index = number >> 3
            if index < size and data[index] >> (number & 7) & 1:
                out += value
        return out
