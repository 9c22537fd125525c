"""Both stores as one list of judged capsules: for what looks at all of them, as a report does.

Every record of every stream is read and projected at the store's own query commit (HEAD of the
repository, ``main`` of the home store): what that costs grows with every record. What asks for some
records, or for counts, asks the private index (``shelf``), which ``doctor`` compares with this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ai_kb import stores
from ai_kb.held import Held, full_id, held_of
from ai_kb.hn.envelope import VerifiedMemory
from ai_kb.hn.eventstore import collect_events
from ai_kb.hn.facts import RepositoryFacts
from ai_kb.hn.policy import Policy, parse_policy
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.projection import ACTIVE, project
from ai_kb.hn.projection_types import Query
from ai_kb.hn.streams import Collection, collect
from ai_kb.likeness import Known
from ai_kb.stores import Store

__all__ = ["Held", "Reading", "full_id", "known", "read_all", "read_store"]


class Reading:
    """What a store held when it was read: the verified set, its rows, and the policy in force."""

    def __init__(
        self, store: Store, collection: Collection, held: list[Held], policy: Policy | None, at: str
    ) -> None:
        self.store = store
        self.collection = collection
        self.held = held
        self.policy = policy
        self.at = at

    def memory(self, memory_id: str) -> VerifiedMemory | None:
        """A verified memory of any operation."""
        return self.collection.memories.get(memory_id)


def read_store(store: Store, *, sources: bool = True) -> Reading:
    """Verify and project everything in ``store``. Raises HnError for an invalid stream or policy.

    Args:
        sources: also find out which anchored files changed since.
    """
    repo = store.repo
    with repo.objects() as reader, PrefixStore.open(repo) as prefixes:
        collection = collect(repo, reader, prefixes=prefixes)
        at = reader.head() or ""
        data = store.policy_bytes()
        policy = None if data is None else parse_policy(data)
        facts = RepositoryFacts(
            repo, reader, collection.memories, lambda: collect_events(repo, reader, prefixes=prefixes)
        )
        facts.prepare(collection.memories.values(), at)
        projection = project(collection.memories.values(), Query(at, policy), facts)
        rows = sorted(projection.rows.values(), key=lambda row: (row.signed_timestamp, row.id), reverse=True)
        held = held_of(store.name, rows, reader, at if sources else "")
    return Reading(store, collection, held, policy, at or "0" * repo.hash_length)


def read_all(workspace: str, env: Mapping[str, str], only: str = "") -> list[Reading]:
    """Every store that is there, home first."""
    return [read_store(store) for store in stores.stores(workspace, env, only)]


def known(readings: Iterable[Reading], *, active_only: bool = False) -> list[Known]:
    """The capsules of ``readings`` in the form in which texts are compared."""
    return [
        Known(held.row.id, held.capsule.title, held.capsule.body, held.row.lifecycle, held.store)
        for reading in readings
        for held in reading.held
        if not active_only or held.row.lifecycle == ACTIVE
    ]
