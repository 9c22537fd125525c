"""Stores of capsules for the tests of search and relevance: the tables of search, in memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ai_kb.hn.cache_records import IndexedRecord
from ai_kb.search import EXTENSION, Found, Source

EVAL = Path(__file__).resolve().parent.parent / "data/eval"


def evaluation_capsules() -> list[dict[str, Any]]:
    """The capsules of the evaluation data."""
    capsules: list[dict[str, Any]] = json.loads((EVAL / "capsules.json").read_text(encoding="utf-8"))
    return capsules


def record(number: int, title: str, body: str = "", topics: Sequence[str] = ()) -> IndexedRecord:
    """A record as the private index hands it over."""
    content = "\n\n".join(part for part in (title, body, "Confidence: medium") if part)
    data = {"kind": "observation", "content": content, "topics": ["kind/gotcha", *topics]}
    payload = json.dumps({"record": data}).encode()
    return IndexedRecord(number, f"sha256:{number:064x}", "", "", number, "", "record", payload)


class _Closing(sqlite3.Connection):
    """A connection that closes itself with its last user: Python 3.13 complains of others."""

    def __del__(self) -> None:
        self.close()


class Store:
    """Records with the numbers 0, 1, …, or the given ones."""

    def __init__(self, records: Sequence[IndexedRecord] = (), name: str = "home") -> None:
        self.name = name
        self.conn = sqlite3.connect(":memory:", factory=_Closing)
        self.numbers = 0
        EXTENSION.create(self.conn)
        self.apply(records)

    @classmethod
    def of(cls, *capsules: tuple[str, ...], name: str = "home") -> Store:
        """A store of ``(title, body, topic, …)``."""
        records = [
            record(number, capsule[0], "".join(capsule[1:2]), capsule[2:])
            for number, capsule in enumerate(capsules)
        ]
        return cls(records, name)

    def apply(self, added: Sequence[IndexedRecord] = (), removed: Sequence[IndexedRecord] = ()) -> None:
        EXTENSION.apply(self.conn, added, removed)
        self.numbers = max([self.numbers, *(r.number + 1 for r in added)])

    def source(self, allowed: int | None = None) -> Source:
        everything = (1 << self.numbers) - 1
        return Source(self.name, self.conn, everything if allowed is None else allowed)

    def rows(self) -> dict[str, list[Any]]:
        """What the plain tables hold."""
        return {
            table: self.conn.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            for table in ("search_docs", "search_terms", "search_totals")
        }


def numbers(found: Sequence[Found]) -> list[int]:
    return [hit.number for hit in found]
