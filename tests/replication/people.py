"""The test identities as signers, and chains of collaboration events made by plain git."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ai_kb.hn import keys
from ai_kb.hn.envelope import default_stream
from tests.hn.conftest import Person
from tests.hn.fixture_repos import ACTORS, git
from tests.hn.stream_maker import Maker

__all__ = ["ACTORS", "ALICE", "BOB", "CAROL", "STREAMS", "Chain", "accepted", "maker", "memory_ref", "stream"]

ALICE = Person("Alice Agent", 0x00)
BOB = Person("Bob Agent", 0x20)
CAROL = Person("Carol <Agent>", 0x40)
STREAMS = {person: default_stream(actor) for person, actor in ACTORS.items()}


def memory_ref(person: str) -> str:
    """The local ref of a person's default stream."""
    return f"refs/hn/memory/{ACTORS[person]}/{STREAMS[person][7:]}"


def accepted(person: str, remote: str = "origin") -> str:
    """The ref under which a person's default stream is accepted."""
    return f"refs/hn/remotes/{remote}/memory/{ACTORS[person]}/{STREAMS[person][7:]}"


def stream(number: int) -> str:
    """The id of another stream than the default one."""
    return "sha256:" + hashlib.sha256(b"stream %d" % number).hexdigest()


def maker(directory: Path, person: Person = ALICE, number: int | None = None) -> Maker:
    """Appends to a stream of ``person`` in the repository ``directory``; records anchor its main branch."""
    made = Maker(directory, person, None if number is None else stream(number))
    made.anchor = git(directory, "rev-parse", "refs/heads/main")
    return made


class Chain:
    """Appends events to the chain of ``person`` in the repository ``work``."""

    def __init__(self, work: Path, person: Person = ALICE) -> None:
        self.work = work
        self.person = person
        self.ref = f"refs/hn/actors/{person.actor}"
        self.head = ""
        self.ids: list[str] = []

    def add(self, kind: str = "issue.comment", log: bytes | None = None, **fields: Any) -> str:
        """Append one event and move the ref; the event's id."""
        value = {
            "protocol": "hn/0",
            "kind": kind,
            "actor": self.person.actor,
            "publicKey": keys.encode_b64(self.person.public_key),
            "sequence": len(self.ids) + 1,
            **({"previous": self.ids[-1]} if self.ids else {}),
            "timestamp": "2026-08-30T12:00:00Z",
            "body": "inert",
            **fields,
        }
        payload = json.dumps(value).encode()
        signature = keys.encode_b64(keys.sign(self.person.private_key, payload)).encode()
        files = {"event.json": payload, "signature": signature}
        if log is not None:
            files["log.txt"] = log
        lines = ""
        for name, data in sorted(files.items()):
            oid = git(self.work, "hash-object", "-w", "--stdin", stdin=data)
            lines += f"100644 blob {oid}\t{name}\n"
        tree = git(self.work, "mktree", stdin=lines.encode())
        parent = ("-p", self.head) if self.head else ()
        self.head = git(self.work, "commit-tree", tree, *parent, "-m", "event")
        git(self.work, "update-ref", self.ref, self.head)
        self.ids.append("sha256:" + hashlib.sha256(payload).hexdigest())
        return self.ids[-1]
