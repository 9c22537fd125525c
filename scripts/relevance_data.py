"""Capsules and prompts of tests/data/eval as the relevance gate meets them, for eval and fitting.

A store is an SQLite file in memory with the tables of ``ai_kb.search``, filled through the same
extension that the private index calls.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from ai_kb.hn.cache_records import IndexedRecord
from ai_kb.search import EXTENSION, Source

DATA = Path(__file__).resolve().parent.parent / "tests/data/eval"


def load(name: str) -> list[dict]:
    """One JSON list of the evaluation data."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def record(number: int, capsule: dict) -> IndexedRecord:
    """A capsule of the evaluation data as the index would hold it."""
    data = {
        "kind": "observation",
        "content": f"{capsule['title']}\n\n{capsule['body']}\n\nConfidence: medium",
        "topics": [f"kind/{capsule['kind']}", "scope/universal", *capsule["topics"]],
    }
    payload = json.dumps({"record": data}).encode()
    return IndexedRecord(number, capsule["id"], "", "", number, "", "record", payload)


class _Closing(sqlite3.Connection):
    """A connection that closes itself with its last user: Python 3.13 complains of others."""

    def __del__(self) -> None:
        self.close()


class Store:
    """Some capsules in a store of their own."""

    def __init__(self, capsules: Sequence[dict]) -> None:
        self.ids = [capsule["id"] for capsule in capsules]
        conn = sqlite3.connect(":memory:", factory=_Closing)
        EXTENSION.create(conn)
        EXTENSION.apply(conn, [record(number, c) for number, c in enumerate(capsules)], [])
        self.source = Source("home", conn, (1 << len(capsules)) - 1)

    def without(self, ids: set[str]) -> Source:
        """The same store with some capsules kept back (they still count as records)."""
        allowed = sum(1 << number for number, known in enumerate(self.ids) if known not in ids)
        return Source("home", self.source.conn, allowed)
