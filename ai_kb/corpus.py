"""Both stores as one list of judged capsules: what commands list, count, compare and export.

Every record of every stream is verified and projected at the store's own query commit (HEAD of the
repository, ``main`` of the home store). Not for hooks: those ask the private index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ai_kb import stores
from ai_kb.capsule import Capsule
from ai_kb.errors import NotFound
from ai_kb.hn.envelope import VerifiedMemory
from ai_kb.hn.eventstore import collect_events
from ai_kb.hn.facts import RepositoryFacts
from ai_kb.hn.gitstore import ObjectReader
from ai_kb.hn.policy import Policy, parse_policy
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.projection import ACTIVE, APPLICABLE, RESOLVED, project
from ai_kb.hn.projection_types import Query, Row
from ai_kb.hn.streams import Collection, collect
from ai_kb.likeness import Known
from ai_kb.stores import Store

SHORTEST_PREFIX = 8  # hex digits that may stand for an id
WIDE_SCOPES = ("domain", "universal")  # where a capsule made by an agent goes only once approved
_NO_COMMIT = "0" * 40


@dataclass(frozen=True, slots=True)
class Held:
    """One record of a store, judged, and read as a capsule. ``changed``: anchored paths that are no
    longer what they were."""

    store: str
    row: Row
    capsule: Capsule
    changed: tuple[str, ...] = ()

    @property
    def left_out(self) -> str:
        """Why default recall leaves it out, in one word; ``""`` when it does not."""
        row = self.row
        for found, wanted in (
            (row.lifecycle, ACTIVE),
            (row.trust, "qualified"),
            (row.applicability, APPLICABLE),
            (row.evidence, RESOLVED),
        ):
            if found != wanted:
                return found if wanted != RESOLVED else f"evidence-{found}"
        return ""

    @property
    def needs_approval(self) -> bool:
        """Whether an approval would change where the capsule is injected."""
        return not self.left_out and self.capsule.by == "agent" and self.capsule.scope in WIDE_SCOPES


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
        at = reader.head() or "0" * repo.hash_length
        data = store.policy_bytes()
        policy = None if data is None else parse_policy(data)
        facts = RepositoryFacts(
            repo, reader, collection.memories, lambda: collect_events(repo, reader, prefixes=prefixes)
        )
        facts.prepare(collection.memories.values(), at)
        projection = project(collection.memories.values(), Query(at, policy), facts)
        rows = sorted(projection.rows.values(), key=lambda row: (row.signed_timestamp, row.id), reverse=True)
        changed = _changed(reader, rows, at) if sources else {}
    held = [
        Held(store.name, row, Capsule(row.kind, row.data.content, row.data.topics), changed.get(row.id, ()))
        for row in rows
    ]
    return Reading(store, collection, held, policy, at)


def _changed(reader: ObjectReader, rows: Iterable[Row], at: str) -> dict[str, tuple[str, ...]]:
    """Anchored paths whose blob at the query commit is another one, by record."""
    asked = [(row.id, entry.path, entry.blob) for row in rows for entry in row.data.anchor.paths]
    if not asked or set(at) == {"0"}:
        return {}
    now = dict.fromkeys(path for _, path, _ in asked)
    blobs = dict(zip(now, reader.path_blobs(at, list(now)), strict=True))
    found: dict[str, tuple[str, ...]] = {}
    for memory_id, path, blob in asked:
        if blobs[path] is not None and blobs[path] != blob:
            found[memory_id] = (*found.get(memory_id, ()), path)
    return found


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


def full_id(text: str, ids: Iterable[str]) -> str:
    """The one id of ``ids`` that ``text`` names: whole, or by at least 8 hex digits of its beginning.

    Raises:
        NotFound: none is, or several are (they are named).
    """
    prefix = text.strip().lower().removeprefix("sha256:")
    if len(prefix) < SHORTEST_PREFIX or not set(prefix) <= set("0123456789abcdef"):
        raise NotFound(
            f"{text[:80]!r} is no memory id: at least {SHORTEST_PREFIX} hex digits are expected",
            ",ai-kb list shows the ids",
        )
    found = sorted({i for i in ids if i.startswith("sha256:" + prefix)})
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(
            f"{text[:80]!r} fits {len(found)} memories: {', '.join(found[:4])}", "give more digits"
        )
    raise NotFound(f"there is no memory {text[:80]!r} in the stores at hand", ",ai-kb list shows the ids")
