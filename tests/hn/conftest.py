"""What the tests of ``ai_kb.hn`` share: protocol vectors, fixed throw-away keys, envelope mappings."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ai_kb.hn import keys
from ai_kb.hn.envelope import default_stream

VECTORS = Path(__file__).resolve().parent.parent / "data" / "vectors"


class Person:
    """A test identity. Its key is public: seeds 00..1f (Alice), 20..3f (Bob), 40..5f (Carol)."""

    def __init__(self, name: str, first: int) -> None:
        self.name = name
        self.private_key = keys.private_key_of_seed(bytes(range(first, first + 32)))
        self.public_key = self.private_key[32:]
        self.actor = keys.actor_of(self.public_key)
        self.stream = default_stream(self.actor)


@pytest.fixture(scope="session")
def alice() -> Person:
    return Person("Alice Agent", 0x00)


@pytest.fixture(scope="session")
def bob() -> Person:
    return Person("Bob Agent", 0x20)


@pytest.fixture(scope="session")
def carol() -> Person:
    return Person("Carol <Agent>", 0x40)


@pytest.fixture(scope="session")
def wire() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((VECTORS / "wire.json").read_text())
    return data


@pytest.fixture(scope="session")
def unicode_tables() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((VECTORS / "unicode.json").read_text())
    return data


@pytest.fixture
def make(alice: Person) -> Callable[..., dict[str, Any]]:
    """``make(record={...}, **fields)``: the mapping of a valid record envelope with fields replaced;
    a field given as ``...`` is left out."""

    def build(*, by: Person = alice, record: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        base: dict[str, Any] = {
            "protocol": "hn-memory/0",
            "operation": "record",
            "actor": by.actor,
            "actorName": by.name,
            "publicKey": keys.encode_b64(by.public_key),
            "stream": by.stream,
            "sequence": 1,
            "timestamp": "2026-08-30T12:34:56Z",
            "record": {
                "kind": "decision",
                "content": "Memory content remains inert data.",
                "anchor": {"commit": "a" * 40},
                "applicability": {"mode": "exact"},
                "topics": [],
                "evidence": [],
                **(record or {}),
            },
            **fields,
        }
        base["record"] = {k: v for k, v in base["record"].items() if v is not ...} if base["record"] else None
        return copy.deepcopy({k: v for k, v in base.items() if v is not ...})

    return build
