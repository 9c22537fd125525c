"""Collaboration chains in a repository: what counts as an event, and what ends a chain."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ai_kb.hn import keys
from ai_kb.hn.eventstore import collect_events, read_chain
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.streams import Source
from tests.hn.fixture_repos import ALICE, git, hn, load, restore


class Chain:
    """An actor's chain of events, made by plain git commands."""

    def __init__(self, work: Path, person: Any, ref: str = "") -> None:
        self.work = work
        self.person = person
        self.ref = ref or f"refs/hn/actors/{person.actor}"
        self.head: str | None = None
        self.previous = ""
        self.sequence = 0
        self.ids: list[str] = []

    def payload(self, **changes: Any) -> bytes:
        value: dict[str, Any] = {
            "protocol": "hn/0",
            "kind": "issue.open",
            "actor": self.person.actor,
            "publicKey": keys.encode_b64(self.person.public_key),
            "sequence": self.sequence + 1,
            "timestamp": "2026-08-30T12:01:00.5Z",
            "title": "t",
            **changes,
        }
        if self.previous:
            value["previous"] = self.previous
        return json.dumps(value).encode()

    def blob(self, data: bytes) -> str:
        return git(self.work, "hash-object", "-w", "--stdin", stdin=data)

    def add(
        self,
        *,
        files: Callable[[dict[str, str]], dict[str, str]] = lambda files: files,
        mode: str = "100644",
        parents: tuple[str, ...] | None = None,
        **changes: Any,
    ) -> str:
        payload = self.payload(**changes)
        signature = keys.encode_b64(keys.sign(self.person.private_key, payload)).encode()
        present = files({"event.json": self.blob(payload), "signature": self.blob(signature)})
        lines = "".join(f"{mode} blob {oid}\t{name}\n" for name, oid in present.items())
        tree = git(self.work, "mktree", stdin=lines.encode())
        above = (() if self.head is None else (self.head,)) if parents is None else parents
        words = [word for parent in above for word in ("-p", parent)]
        self.head = git(self.work, "commit-tree", tree, *words, "-m", "x")
        git(self.work, "update-ref", self.ref, self.head)
        self.previous = "sha256:" + hashlib.sha256(payload).hexdigest()
        self.sequence += 1
        self.ids.append(self.previous)
        return self.previous


def events(work: Path, *, remember: bool = False) -> set[str]:
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader:
        if not remember:
            return collect_events(repo, reader)
        with PrefixStore.open(repo) as prefixes:
            return collect_events(repo, reader, prefixes=prefixes)


def test_the_recorded_chain_is_read(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    assert events(work) == {load("repo-a.build")["memories"]["event"]}


def test_local_and_accepted_chains_count_and_other_refs_do_not(
    repository: Path, alice: Any, bob: Any
) -> None:
    one, two = Chain(repository, alice), Chain(repository, bob, f"refs/hn/remotes/origin/actors/{bob.actor}")
    for chain in (one, two):
        chain.add()
        chain.add(kind="review.submit")
    git(repository, "update-ref", "refs/hn/actors/nobody", str(one.head))
    git(repository, "update-ref", f"refs/hn/remotes/origin/other/{alice.actor}", str(one.head))
    expected = {*one.ids, *two.ids}
    assert events(repository) == expected
    for _ in range(2):
        assert events(repository, remember=True) == expected
    more = one.add()
    assert events(repository, remember=True) == {*expected, more}
    assert events(repository, remember=True) == {*expected, more}


def test_a_rewound_or_rewritten_chain_forgets_what_is_gone(repository: Path, alice: Any) -> None:
    chain = Chain(repository, alice)
    first = chain.add()
    start = chain.head
    chain.add()
    assert len(events(repository, remember=True)) == 2
    git(repository, "update-ref", chain.ref, str(start))
    assert events(repository, remember=True) == {first}
    chain.head, chain.previous, chain.sequence = start, first, 1
    other = chain.add(title="another second")
    for _ in range(2):
        assert events(repository, remember=True) == {first, other}


def test_a_run_result_carries_its_log_and_nothing_else_does(repository: Path, alice: Any) -> None:
    chain = Chain(repository, alice)

    def with_log(files: dict[str, str]) -> dict[str, str]:
        return {**files, "log.txt": chain.blob(b"log")}

    good = chain.add(kind="run.result", files=with_log)
    chain.add(kind="issue.open", files=with_log)
    assert events(repository) == {good}


@pytest.mark.parametrize(
    "broken",
    [
        {"files": lambda files: {"event.json": files["event.json"]}},
        {"files": lambda files: {"signature": files["signature"]}},
        {"files": lambda files: {**files, "signature": files["event.json"]}},
        {"mode": "100755"},
        {"actor": "0" * 64},
        {"sequence": 5},
        {"kind": "issue.close"},
        {"protocol": "hn/1"},
        {"timestamp": "yesterday"},
    ],
)
def test_what_breaks_a_rule_ends_the_chain_and_what_came_before_stands(
    repository: Path, alice: Any, broken: dict[str, Any]
) -> None:
    chain = Chain(repository, alice)
    good = [chain.add(), chain.add()]
    chain.add(**broken)
    chain.add()
    for remember in (False, True, True):
        assert events(repository, remember=remember) == set(good)


def test_a_merge_ends_the_chain(repository: Path, alice: Any) -> None:
    chain = Chain(repository, alice)
    first = chain.add()
    base = str(chain.head)
    chain.add(parents=(base, git(repository, "rev-parse", "HEAD")))
    assert events(repository) <= {first}


def test_lost_or_odd_objects_end_the_chain(repository: Path, alice: Any) -> None:
    chain = Chain(repository, alice)
    chain.add()
    repo = Repository.open(str(repository), os.environ)
    source = Source(chain.ref, alice.actor, "hn/0")
    blob = git(repository, "rev-parse", f"{chain.head}:event.json")
    with repo.objects() as reader:
        assert len(read_chain(repo, reader, source, str(chain.head))) == 1
        assert read_chain(repo, reader, source, blob) == []
        assert read_chain(repo, reader, source, "9" * 40) == []
    odd = b"tree " + blob.encode() + b"\nauthor x <x> 0 +0000\ncommitter x <x> 0 +0000\n\nx\n"
    head = git(repository, "hash-object", "-w", "-t", "commit", "--stdin", "--literally", stdin=odd)
    bad = git(repository, "hash-object", "-w", "-t", "tree", "--stdin", "--literally", stdin=b"100644 x\0y")
    body = f"tree {bad}\nauthor x <x> 0 +0000\ncommitter x <x> 0 +0000\n\nx\n".encode()
    other = git(repository, "hash-object", "-w", "-t", "commit", "--stdin", "--literally", stdin=body)
    with repo.objects() as reader:
        assert read_chain(repo, reader, source, head) == []
        assert read_chain(repo, reader, source, other) == []
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert events(repository) == set()
    tree = git(repository, "rev-parse", f"{chain.head}^{{tree}}")
    (repository / ".git/objects" / tree[:2] / tree[2:]).unlink()
    assert events(repository) == set()


def test_evidence_that_points_to_an_event_resolves(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    resolved = load("repo-a.build")["memories"]["m15-event-evidence-resolved"]
    assert (
        json.loads(hn(work, "memory", "show", resolved, "--json").stdout)["projection"]["evidence"]
        == "resolved"
    )
    git(work, "update-ref", "-d", f"refs/hn/actors/{ALICE}")
    shown = json.loads(hn(work, "memory", "show", resolved, "--json").stdout)
    assert shown["projection"]["evidence"] == "missing"
    assert shown["missingDependencies"][0]["reason"] == "event-unavailable"
