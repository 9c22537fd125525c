"""What a current index asks of the repository: its refs, what was missing, what is about to be shown.

On the path of every hook, so it imports nothing. ``cache_judge`` decides what follows from the answers.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from ai_kb.hn.cache_records import IndexedRecord
    from ai_kb.hn.gitstore import ObjectReader, Repository

GIT = "git:"
ANCHOR = "anchor:"

# A hook asks again for so many missing objects at most; what it does not ask for stays missing.
_HOOK_MISSING = 256


def relevant_refs(refs: Mapping[str, str]) -> str:
    """One line per memory or event ref, sorted: what the index is bound to.

    Malformed refs in the memory namespaces are in it as well, so that an index never becomes current
    without them being refused.
    """
    lines = []
    for ref in sorted(refs):
        parts = ref.split("/", 5)
        if parts[:2] != ["refs", "hn"]:
            continue
        if parts[2:3] != ["remotes"] or parts[4:5] in (["memory"], ["actors"]):
            lines.append(f"{refs[ref]} {ref}")
    return "\n".join(lines)


def event_refs(refs: Mapping[str, str]) -> str:
    """The lines of ``relevant_refs`` that are collaboration chains."""
    return "\n".join(line for line in relevant_refs(refs).split("\n") if "/actors/" in line)


def shallow_state(repo: Repository) -> str:
    """Names the shallow boundary of the repository; empty where its history is whole."""
    if not os.path.exists(os.path.join(repo.common_dir, "shallow")):
        return ""
    from agent_base.digests import sha256_hex

    return sha256_hex("\n".join(sorted(repo.shallow_commits())).encode())


def arrived(conn: sqlite3.Connection, reader: ObjectReader, *, hook: bool) -> list[str]:
    """Those of the values remembered as missing that the repository now has. One round trip."""
    rows = conn.execute("SELECT value FROM missing ORDER BY value LIMIT ?", (_HOOK_MISSING if hook else -1,))
    values = [value for (value,) in rows]
    if not values:
        return []
    found = reader.types([value.partition(":")[2] for value in values])
    return [value for value, kind in zip(values, found, strict=True) if kind is not None]


def vanished(reader: ObjectReader, records: Sequence[IndexedRecord]) -> set[int]:
    """Numbers of those ``records`` whose anchor commit or ``git:`` evidence is not there any more."""
    wanted: dict[str, None] = {}
    needs: list[tuple[int, list[str]]] = []
    for record in records:
        anchor, evidence = record.data["anchor"], record.data["evidence"]
        assert isinstance(anchor, dict)
        assert isinstance(evidence, list)
        oids = [anchor["commit"], *(value[4:] for value in evidence if value.startswith(GIT))]
        wanted.update(dict.fromkeys(oids))
        needs.append((record.number, oids))
    found = dict(zip(wanted, reader.types(list(wanted)), strict=True))
    return {number for number, oids in needs if any(found[oid] is None for oid in oids)}
