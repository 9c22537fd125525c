"""The highest heads that were ever accepted, kept outside the repository.

An accepted head moves forward only. The ref alone cannot see to that: a ``.git`` that was restored
from a backup, rewound or cloned anew in the same place has an older one, or none. So the highest
accepted head of each ref is also kept in one private file below ``$XDG_STATE_HOME``, keyed by the
repository's path, and what a remote offers must descend from that too.

The file is this user's own; where it is damaged or unsafe nothing is accepted until somebody has
looked at it. docs/protocol.md, "Where this differs from the first implementation", 2.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress

from agent_base.env import SUITE, xdg
from agent_base.errors import SuiteError
from agent_base.files import FILE_MODE, ensure_private_dir, read_private, write_atomic
from ai_kb.hn.gitstore import Repository, is_oid
from ai_kb.hn.replication.state import ReplicationError

MAX_BYTES = 64 << 20
FILE_NAME = "accepted-heads.json"
_VERSION = 1


class Floor:
    """An accepted head, and how many events end in it (0: not known)."""

    __slots__ = ("events", "head")

    def __init__(self, head: str, events: int) -> None:
        self.head = head
        self.events = events


class Floors:
    """The floors of one repository, by accepted ref."""

    def __init__(self, repo: Repository) -> None:
        base = os.path.join(xdg(repo.env, "XDG_STATE_HOME"), SUITE)
        digest = hashlib.sha256(os.fsencode(os.path.realpath(repo.common_dir))).hexdigest()[:32]
        self._base = base
        self._repository = repo.common_dir
        self.path = os.path.join(base, "hn", digest, FILE_NAME)
        self._heads = self._load()
        self._changed = False

    def get(self, ref: str) -> Floor | None:
        """The highest head accepted as ``ref``."""
        return self._heads.get(ref)

    def raise_to(self, ref: str, head: str, events: int) -> None:
        """``head``, which descends from the floor so far, is the highest now."""
        known = self._heads.get(ref)
        if known is None or known.head != head or known.events != events:
            self._heads[ref] = Floor(head, events)
            self._changed = True

    def save(self) -> None:
        """Write what was raised. Raises SuiteError or OSError when that cannot be."""
        if not self._changed:
            return
        heads = {
            ref: {"head": floor.head, "events": floor.events} for ref, floor in sorted(self._heads.items())
        }
        value = {"version": _VERSION, "repository": self._repository, "heads": heads}
        ensure_private_dir(os.path.dirname(self.path), below=self._base)
        write_atomic(self.path, json.dumps(value, indent=1).encode("ascii") + b"\n", mode=FILE_MODE)
        self._changed = False

    def _load(self) -> dict[str, Floor]:
        try:
            data = read_private(self.path, MAX_BYTES)
        except FileNotFoundError:
            return {}
        except SuiteError as error:
            raise self._unusable(error.message) from error
        with suppress(ValueError, RecursionError, KeyError, TypeError, AttributeError):
            value = json.loads(data)
            if value["version"] == _VERSION:
                heads = {
                    str(ref): Floor(str(entry["head"]), int(entry["events"]))
                    for ref, entry in value["heads"].items()
                }
                if all(is_oid(floor.head) for floor in heads.values()):
                    return heads
        raise self._unusable("it is damaged")

    def _unusable(self, why: str) -> ReplicationError:
        return ReplicationError(
            f"the record of the highest accepted heads cannot be used: {why}; nothing was changed",
            f"look at {self.path!r}; removing it lets a remote rewind what was accepted",
        )
