"""A store asked through its private index: newest first, counted, by id, by likeness.

Every answer is bounded by what is asked for, not by what the store holds: filters and counts are sets of
record numbers, and only the records that are shown are read. Records that are shown are judged afresh;
counts are what the index holds, so an object that was deleted since is noticed where its record is shown.

The answers are those of ``corpus``, which reads everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ai_kb.capsule import BY_AGENT, KINDS, SCOPES
from ai_kb.gates import WIDE_SCOPES
from ai_kb.held import Held, held_of
from ai_kb.hn import cache_bits as bits
from ai_kb.hn import lookup
from ai_kb.hn.cache import ask as ask_index
from ai_kb.hn.cache_index import Index
from ai_kb.hn.cache_records import full_id, raw_id
from ai_kb.hn.envelope import VerifiedMemory, decode_envelope
from ai_kb.hn.envelope_types import KINDS as RECORD_KINDS
from ai_kb.hn.fields import is_digest
from ai_kb.hn.policy import TRUST_CLASSES
from ai_kb.hn.progress import listener
from ai_kb.hn.projection import (
    ACTIVE,
    ANCHOR_INVALID,
    ANCHOR_MISSING,
    APPLICABLE,
    INAPPLICABLE,
    INVALID,
    LIFECYCLES,
    MISSING,
)
from ai_kb.search import EXTENSION
from ai_kb.stores import HOME, Store

T = TypeVar("T")
_FEW = 500  # records that are rather sorted than met by walking all


def ask(store: Store, question: Callable[[Shelf], T]) -> T:
    """``question`` of a store, once its index is current; asked again where the index proves damaged.

    Raises HnError for an invalid stream or policy, IndexUnavailable.
    """
    return ask_index(
        store.repo,
        lambda index: question(Shelf(store, index)),
        extension=EXTENSION,
        unborn=True,
        progress=listener(),
    )


class Shelf:
    """A store and its current index. Sets are those of ``Index``: bit n is the record with number n."""

    def __init__(self, store: Store, index: Index) -> None:
        self.store = store
        self.index = index

    # ------------------------------------------------------------ sets

    def everything(self) -> int:
        """All records."""
        return self.index.any_of(bits.KIND, RECORD_KINDS)

    def lifecycle(self, name: str) -> int:
        """Records of one lifecycle."""
        return self.index.read_set(bits.LIFECYCLE, name)

    def topic(self, topic: str) -> int:
        """Records with a topic."""
        try:
            topic.encode()
        except UnicodeEncodeError:
            return 0
        return self.index.read_set(bits.TOPIC, topic)

    def kind(self, kind: str) -> int:
        """Capsules of a kind: by the first topic that names one, else by the record's own kind."""
        # Topics are sorted, so the first that names a kind is the least.
        before = self.index.any_of(bits.TOPIC, (f"kind/{k}" for k in KINDS if k < kind))
        found = self.topic(f"kind/{kind}") & ~before
        if kind in RECORD_KINDS:
            own = self.index.read_set(bits.KIND, kind)
            found |= own & ~self.index.any_of(bits.TOPIC, (f"kind/{k}" for k in KINDS))
        return found

    def scope(self, scope: str) -> int:
        """Capsules of a scope: the narrowest that a topic names."""
        narrower = SCOPES[: SCOPES.index(scope)]
        return self.topic(f"scope/{scope}") & ~self.index.any_of(bits.TOPIC, (f"scope/{s}" for s in narrower))

    def numbers(self, ids: Iterable[str]) -> int:
        """Those records whose ids are named; what is no id names none."""
        return bits.union(
            number
            for memory_id in ids
            if is_digest(memory_id)
            for (number,) in self.index.conn.execute(
                "SELECT number FROM memory WHERE id = ? AND kind IS NOT NULL", (raw_id(memory_id),)
            )
        )

    def waiting(self, approved: Iterable[str]) -> int:
        """Recalled capsules whose place an approval would change (``gates.waits``), without ``approved``."""
        scopes = {scope: self.scope(scope) for scope in SCOPES}
        found = 0
        for scope in WIDE_SCOPES:
            found |= scopes[scope] & self.topic(BY_AGENT)
        if self.store.name == HOME:
            unsaid = self.everything()
            for members in scopes.values():
                unsaid &= ~members
            found |= unsaid
        found &= self.index.gate()
        return found & ~self.numbers(approved) if found else 0

    def changed(self) -> int:
        """Records with an anchored path that is another blob at the query commit."""
        at = lookup.query_commit(self.index)
        if not at:
            return 0
        conn = self.index.conn
        paths = [path for (path,) in conn.execute("SELECT DISTINCT path FROM search_paths")]
        now = self.index.reader.path_blobs(at, paths) if paths else []
        return bits.union(
            number
            for path, blob in zip(paths, now, strict=True)
            if blob is not None
            for (number,) in conn.execute(
                "SELECT number FROM search_paths WHERE path = ? AND blob <> ?", (path, blob)
            )
        )

    def left_out(self) -> dict[str, int]:
        """What default recall leaves out, by the first reason: as ``Held.left_out`` words it."""
        rest = self.lifecycle(ACTIVE)
        found = {name: self.lifecycle(name) for name in LIFECYCLES if name != ACTIVE}
        for trust in TRUST_CLASSES:
            if trust != "qualified":
                found[trust] = rest & self.index.trusted_as(trust)
        rest &= self.index.trusted_as("qualified")
        for state in (ANCHOR_MISSING, ANCHOR_INVALID):
            found[state] = rest & self.index.read_set(bits.ANCHORED, state)
        elsewhere = rest & self.index.read_set(bits.ANCHORED, APPLICABLE) & ~self.index.applicable()
        unknown = self._unknown(elsewhere)
        found[ANCHOR_MISSING] |= unknown
        found[INAPPLICABLE] = elsewhere & ~unknown
        rest &= self.index.applicable()
        for state in (MISSING, INVALID):
            found[f"evidence-{state}"] = rest & self.index.read_set(bits.EVIDENCE, state)
        return {name: members for name, members in found.items() if members}

    def _unknown(self, elsewhere: int) -> int:
        """Those of ``elsewhere`` (records that do not apply, though their anchor holds) of which nobody can
        say whether they would: there is no commit yet, or history is cut off before their anchor."""
        at = lookup.query_commit(self.index)
        if not at:
            return elsewhere
        if not self.index.repo.is_shallow():
            return 0
        anchors: dict[str, list[int]] = {}
        for record in self.index.each(elsewhere & self.index.read_set(bits.MODE, "descendants")):
            anchor = record.data["anchor"]
            assert isinstance(anchor, dict)
            anchors.setdefault(anchor["commit"], []).append(record.number)
        answers = self.index.repo.ancestry(anchors, at)
        return bits.union(
            n for commit, members in anchors.items() if answers[commit] is None for n in members
        )

    # ------------------------------------------------------------ records

    def newest(self, members: int, limit: int) -> list[Held]:
        """The newest ``limit`` records of a set, newest first, judged."""
        numbers: list[int] = []
        for number in self._newest(members):
            if len(numbers) == limit:
                break
            numbers.append(number)
        memories = [
            VerifiedMemory(record.id, decode_envelope(record.payload), record.payload)
            for record in self.index.records(numbers)
        ]
        rows = lookup.rows(self.index, memories)
        at = lookup.query_commit(self.index)
        return held_of(self.store.name, (rows[m.id] for m in memories), self.index.reader, at)

    def _newest(self, members: int) -> Iterator[int]:
        """A set by signed time and id, descending."""
        order = " ORDER BY timestamp DESC, id DESC"
        if members.bit_count() <= _FEW:
            found = list(bits.members(members))
            marks = ",".join("?" * len(found))
            rows = self.index.conn.execute(
                f"SELECT number FROM memory WHERE number IN ({marks})" + order, found
            )
            yield from (number for (number,) in rows)
            return
        data = members.to_bytes(members.bit_length() // 8 + 1, "little")
        rows = self.index.conn.execute(
            "SELECT number FROM memory INDEXED BY memory_newest WHERE kind IS NOT NULL" + order
        )
        for (number,) in rows:
            if number >> 3 < len(data) and data[number >> 3] >> (number & 7) & 1:
                yield number

    def starting(self, digits: str) -> dict[str, VerifiedMemory]:
        """The memories, of any operation, whose ids start with ``digits``, by id; none for no digits."""
        ids = lookup.ids_starting(self.index, digits) if digits else []
        found = {memory_id: lookup.memory_of(self.index, memory_id) for memory_id in ids}
        return {memory_id: memory for memory_id, memory in found.items() if memory is not None}

    def ids(self, members: int) -> list[str]:
        """The ids of a set, by number."""
        return [
            full_id(raw)
            for number in bits.members(members)
            for (raw,) in self.index.conn.execute("SELECT id FROM memory WHERE number = ?", (number,))
        ]
