"""A record of a store as commands see it: judged, read as a capsule, named by a few digits of its id."""

from __future__ import annotations

from collections.abc import Iterable

from agent_base.frozen import dataclass
from ai_kb.capsule import Capsule
from ai_kb.errors import NotFound
from ai_kb.gates import waits
from ai_kb.hn.gitobjects import ObjectReader
from ai_kb.hn.projection import ACTIVE, APPLICABLE, RESOLVED
from ai_kb.hn.projection_types import Row

SHORTEST_PREFIX = 8  # hex digits that may stand for an id
_HEX = frozenset("0123456789abcdef")


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
        return not self.left_out and waits(self.capsule, self.store)


def held_of(store: str, rows: Iterable[Row], reader: ObjectReader, at: str) -> list[Held]:
    """``rows`` of a store as commands see them; ``at``: the query commit, empty for none."""
    rows = list(rows)
    changed = _changed(reader, rows, at)
    return [
        Held(store, row, Capsule(row.kind, row.data.content, row.data.topics), changed.get(row.id, ()))
        for row in rows
    ]


def _changed(reader: ObjectReader, rows: Iterable[Row], at: str) -> dict[str, tuple[str, ...]]:
    """Anchored paths whose blob at the query commit is another one, by record."""
    asked = [(row.id, entry.path, entry.blob) for row in rows for entry in row.data.anchor.paths]
    if not asked or not at:
        return {}
    now = dict.fromkeys(path for _, path, _ in asked)
    blobs = dict(zip(now, reader.path_blobs(at, list(now)), strict=True))
    found: dict[str, tuple[str, ...]] = {}
    for memory_id, path, blob in asked:
        if blobs[path] is not None and blobs[path] != blob:
            found[memory_id] = (*found.get(memory_id, ()), path)
    return found


def digits_of(text: str) -> str:
    """The hex digits with which a memory is named; ``""`` for what names none."""
    digits = text.strip().lower().removeprefix("sha256:")
    return digits if SHORTEST_PREFIX <= len(digits) <= 64 and _HEX.issuperset(digits) else ""


def full_id(text: str, ids: Iterable[str], *, reading: bool = False) -> str:
    """The one id of ``ids`` that ``text`` names: whole, or by at least 8 hex digits of its beginning.

    Args:
        reading: nothing was to be changed, so nothing is said about that.

    Raises:
        NotFound: none is, or several are (they are named).
    """
    unchanged = "" if reading else "; nothing was changed"
    prefix = text.strip().lower().removeprefix("sha256:")
    if len(prefix) < SHORTEST_PREFIX or not _HEX.issuperset(prefix):
        raise NotFound(
            f"{text[:80]!r} is no memory id: at least {SHORTEST_PREFIX} hex digits are expected{unchanged}",
            ",ai-kb list shows the ids",
        )
    found = sorted({i for i in ids if i.startswith("sha256:" + prefix)})
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(
            f"{text[:80]!r} fits {len(found)} memories: {', '.join(found[:4])}{unchanged}", "give more digits"
        )
    raise NotFound(
        f"there is no memory {text[:80]!r} in the stores at hand{unchanged}", ",ai-kb list shows the ids"
    )
