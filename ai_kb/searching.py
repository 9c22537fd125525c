"""``search`` over both stores for people and scripts: ranked, judged, with what hooks would leave out.

Reads the same private index as the hooks, brought up to date first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import ExitStack

from agent_base.frozen import dataclass
from ai_kb import stores
from ai_kb.capsule import Capsule
from ai_kb.hn import cache_bits as bits
from ai_kb.hn.cache import Index, Judged, discard, open_index
from ai_kb.hn.cache_file import twice
from ai_kb.hn.progress import listener
from ai_kb.hn.projection import ACTIVE, LIFECYCLES
from ai_kb.search import EXTENSION, Source, search
from ai_kb.stores import REPO


@dataclass(frozen=True, slots=True)
class Hit:
    """A capsule that a search found."""

    store: str
    judged: Judged
    capsule: Capsule
    score: float
    changed: tuple[str, ...]


def find(
    query: str,
    workspace: str,
    env: Mapping[str, str],
    *,
    only: str = "",
    limit: int = 10,
    untrusted: bool = False,
    every_lifecycle: bool = False,
    kinds: Collection[str] = (),
    scopes: Collection[str] = (),
    domains: Collection[str] = (),
) -> list[Hit]:
    """Capsules that fit ``query`` best, best first.

    Args:
        only: one store.
        untrusted: also records that policy does not qualify.
        every_lifecycle: also what is superseded, retracted, branching.
        kinds, scopes: only capsules of one of these.
        domains: only capsules with one of these domain tags.

    Raises:
        HnError, IndexUnavailable: a store that cannot be read.
    """

    def answer() -> list[Hit]:
        indexes: dict[str, Index] = {}
        with ExitStack() as stack:
            sources: list[Source] = []
            for store in stores.stores(workspace, env, only):
                index = open_index(store.repo, extension=EXTENSION, unborn=True, progress=listener())
                stack.enter_context(index)
                indexes[store.name] = index
                allowed = index.gate(
                    lifecycle=LIFECYCLES if every_lifecycle else (ACTIVE,),
                    trust=() if untrusted else ("qualified",),
                )
                for prefix, values in (("kind/", kinds), ("scope/", scopes), ("domain/", domains)):
                    if values:
                        allowed &= index.any_of(bits.TOPIC, [prefix + value for value in values])
                sources.append(Source(store.name, index.conn, allowed))
            found: list[Hit] = []
            # A record may name several kinds or scopes; which one counts is the capsule's to say.
            for hit in search(sources, query, limit=2 * limit if kinds or scopes else limit):
                for judged in indexes[hit.source].judged([hit.number]):
                    data = judged.record.data
                    topics = data["topics"]
                    assert isinstance(topics, list)
                    capsule = Capsule(str(data["kind"]), str(data["content"]), topics)
                    if (not scopes or capsule.scope in scopes) and (not kinds or capsule.kind in kinds):
                        changed = _changed(indexes[hit.source], judged) if hit.source == REPO else ()
                        found.append(Hit(hit.source, judged, capsule, hit.score, changed))
            return found[:limit]

    def make_again() -> None:
        for store in stores.stores(workspace, env, only):
            discard(store.repo)

    return twice(answer, make_again)


def _changed(index: Index, judged: Judged) -> tuple[str, ...]:
    anchor = judged.record.data["anchor"]
    assert isinstance(anchor, dict)
    entries = anchor.get("paths") or []
    paths = [entry["path"] for entry in entries]
    now = index.reader.path_blobs(index.at_commit, paths) if paths else []
    return tuple(
        entry["path"] for entry, blob in zip(entries, now, strict=True) if blob not in (None, entry["blob"])
    )
