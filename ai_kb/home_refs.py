"""Refs of the home store read from its files: one git process less before every prompt.

The home store is this suite's own repository with git's files backend; whatever is unusual in it (another
backend, symbolic refs, a file that is no ref, a promotion that was interrupted) is left to ``git
for-each-ref``. Loose refs are read before the packed ones, as git does, so that none is missed while it is
being packed. Standard library only.
"""

from __future__ import annotations

import os

from ai_kb.hn.unsettled import pending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HEX = frozenset("0123456789abcdef")
_PACKED_LIMIT = 1 << 26


def read_refs(git_dir: str, prefixes: Sequence[str]) -> dict[str, str] | None:
    """Ref to object id of every ref that is, or is below, one of ``prefixes``; None: ask git."""
    if os.path.lexists(os.path.join(git_dir, "reftable")) or pending(git_dir):
        return None
    found: dict[str, str] = {}
    try:
        for prefix in prefixes:
            if not _read_loose(git_dir, prefix, found):
                return None
        packed = _read_packed(git_dir)
    except OSError:
        return None
    if packed is None:
        return None
    for name, oid in packed.items():
        if any(name == p or name.startswith(p + "/") for p in prefixes):
            found.setdefault(name, oid)
    return dict(sorted(found.items()))


def _read_loose(git_dir: str, name: str, found: dict[str, str]) -> bool:
    path = os.path.join(git_dir, name)
    try:
        entries = os.listdir(path)
    except NotADirectoryError:
        with open(path, "rb") as file:
            oid = file.read(128).decode("ascii", "replace").removesuffix("\n")
        if len(oid) != 40 or not _HEX.issuperset(oid):
            return False
        found[name] = oid
        return True
    except FileNotFoundError:
        return True
    return all(
        _read_loose(git_dir, f"{name}/{entry}", found) for entry in entries if not entry.endswith(".lock")
    )


def _read_packed(git_dir: str) -> dict[str, str] | None:
    try:
        with open(os.path.join(git_dir, "packed-refs"), "rb") as file:
            data = file.read(_PACKED_LIMIT + 1)
    except FileNotFoundError:
        return {}
    if len(data) > _PACKED_LIMIT:
        return None
    found: dict[str, str] = {}
    for line in data.decode("utf-8", "surrogateescape").split("\n"):
        if not line or line[0] in "#^":
            continue
        oid, space, name = line.partition(" ")
        if not space or len(oid) != 40 or not _HEX.issuperset(oid):
            return None
        found[name] = oid
    return found
