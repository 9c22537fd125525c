"""Streams made object by object, right or wrong in exactly one respect, by plain git commands.

Independent of ``ai_kb.hn.gitwrite``: what is read back was not written by the code under test.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ai_kb.hn import keys
from ai_kb.hn.envelope import encode_envelope
from tests.hn.fixture_repos import git

SECRET = "do-not-print-me"


class Maker:
    """Appends commits to a stream of ``person`` in the repository ``work``."""

    def __init__(self, work: Path, person: Any, stream: str | None = None) -> None:
        self.work = work
        self.person = person
        self.stream = stream or person.stream
        self.head: str | None = None
        self.previous = ""
        self.sequence = 0
        self.anchor = "a" * 40

    @property
    def ref(self) -> str:
        return f"refs/hn/memory/{self.person.actor}/{self.stream[7:]}"

    def payload(self, **changes: Any) -> bytes:
        """The canonical payload for the next place, fields replaced by ``changes`` (``...`` removes)."""
        fields: dict[str, Any] = {
            "protocol": "hn-memory/0",
            "operation": "record",
            "actor": self.person.actor,
            "actorName": self.person.name,
            "publicKey": keys.encode_b64(self.person.public_key),
            "stream": self.stream,
            "sequence": self.sequence + 1,
            "timestamp": "2026-08-30T12:34:56Z",
            "previous": self.previous or None,
            "record": {
                "kind": "observation",
                "content": f"{SECRET} {self.sequence + 1}",
                "anchor": {"commit": self.anchor},
                "applicability": {"mode": "descendants"},
                "topics": [],
                "evidence": [],
            },
            **changes,
        }
        return encode_envelope({k: v for k, v in fields.items() if v is not ...})

    def signature(self, payload: bytes, by: Any = None) -> bytes:
        return keys.encode_b64(keys.sign((by or self.person).private_key, payload)).encode()

    def blob(self, data: bytes) -> str:
        return git(self.work, "hash-object", "-w", "--stdin", stdin=data)

    def tree(self, payload: bytes, signature: bytes) -> str:
        return self.raw_tree(
            ("100644", "memory.json", self.blob(payload)), ("100644", "signature", self.blob(signature))
        )

    def raw_tree(self, *entries: tuple[str, str, str]) -> str:
        """A tree exactly as given: any order, any modes, names twice."""
        data = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(oid) for mode, name, oid in entries)
        return git(self.work, "hash-object", "-w", "-t", "tree", "--stdin", "--literally", stdin=data)

    def commit(self, tree: str, *parents: str | None) -> str:
        words = [word for parent in parents if parent for word in ("-p", parent)]
        return git(self.work, "commit-tree", tree, *words, "-m", "any message")

    def add(
        self, tree: str | None = None, parents: tuple[str | None, ...] | None = None, **changes: Any
    ) -> str:
        """Append one commit and move the ref to it; the commit's id."""
        payload = self.payload(**changes)
        tree = tree or self.tree(payload, self.signature(payload))
        return self.place(tree, payload, parents)

    def place(self, tree: str, payload: bytes, parents: tuple[str | None, ...] | None = None) -> str:
        self.head = self.commit(tree, *((self.head,) if parents is None else parents))
        self.previous = "sha256:" + hashlib.sha256(payload).hexdigest()
        self.sequence += 1
        git(self.work, "update-ref", self.ref, self.head)
        return self.head

    def bulk(self, count: int, record: Callable[[], dict[str, Any]] | None = None) -> None:
        """Append ``count`` valid records by one ``git fast-import``: its own writer, quick.

        ``record`` gives what is in each of them.
        """
        out = bytearray()
        first = self.head
        for number in range(count):
            payload = self.payload(**({"record": record()} if record else {}))
            parent = f"from {first}\n" if number == 0 and first else ""
            out += f"commit {self.ref}\ncommitter x <x@x> {1700000000 + self.sequence} +0000\n".encode()
            out += b"data 1\nx\n" + parent.encode()
            for name, data in (("memory.json", payload), ("signature", self.signature(payload))):
                out += f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n"
            self.previous = "sha256:" + hashlib.sha256(payload).hexdigest()
            self.sequence += 1
        git(self.work, "fast-import", "--quiet", "--force", stdin=bytes(out))
        self.head = git(self.work, "rev-parse", self.ref)


def content_of(payload: bytes) -> str:
    """The content that a payload carries."""
    value: str = json.loads(payload)["record"]["content"]
    return value
