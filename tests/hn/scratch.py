"""Recall computed from scratch: the verified set, ``project``, and plain Python; no index anywhere.

What the private index must agree with, record for record. And ``History``, which does to a
repository what people and other clones do to it.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from ai_kb.hn import canonical, keys
from ai_kb.hn.cache_context import read_policy
from ai_kb.hn.cursor import query_digest, source_fingerprint
from ai_kb.hn.envelope import encode_envelope, memory_id, record_mapping
from ai_kb.hn.eventstore import collect_events
from ai_kb.hn.facts import RepositoryFacts
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.gitwrite import write_memory
from ai_kb.hn.policy import parse_policy, policy_digest
from ai_kb.hn.projection import LIFECYCLES, Dependency, Query, Row, project
from ai_kb.hn.rendering import WARNING
from ai_kb.hn.request import Request
from ai_kb.hn.streams import collect
from ai_kb.hn.tokens import index_tokens, indexed_text
from tests.hn.conftest import Person
from tests.hn.fixture_repos import git


def _dependency(dependency: Dependency) -> dict[str, object]:
    out: dict[str, object] = {
        "kind": dependency.kind,
        "ownerId": dependency.owner,
        "stream": dependency.stream,
    }
    if dependency.operation:
        out["operation"] = dependency.operation
    return {**out, "missingId": dependency.missing, "reason": dependency.reason}


def row_mapping(row: Row) -> dict[str, object]:
    """A projected row as recall prints it."""
    data = record_mapping(row.data)
    data["topics"] = list(row.data.topics) or None
    data["evidence"] = sorted(row.data.evidence) or None
    return {
        "id": row.id,
        "stream": row.stream,
        "actor": row.actor,
        "signedTimestamp": row.signed_timestamp,
        "kind": row.kind,
        "contentDigest": row.content_digest,
        "anchor": record_mapping(row.data)["anchor"],
        "signature": row.signature,
        "lifecycle": row.lifecycle,
        "challengers": list(row.challengers) or None,
        "successors": list(row.successors) or None,
        "retractions": list(row.retractions) or None,
        "applicability": row.applicability,
        "evidence": row.evidence,
        "evidenceDetails": [
            {
                "type": detail.type,
                "requested": detail.requested,
                "ownerId": detail.owner,
                "status": detail.status,
                "reason": detail.reason,
            }
            for detail in row.evidence_details
        ]
        or None,
        "dependencies": [_dependency(d) for d in row.dependencies] or None,
        "trust": row.trust,
        "data": data,
    }


class Scratch:
    """The projection of a repository at one commit, subject and path, and recall over it."""

    def __init__(self, repo: Repository, commit: str, subject: str = "", path: str = "") -> None:
        with repo.objects() as reader:
            data = read_policy(reader, commit)
            policy = None if data is None else parse_policy(data)
            collection = collect(repo, reader)
            facts = RepositoryFacts(repo, reader, collection.memories, lambda: collect_events(repo, reader))
            facts.prepare(collection.memories.values(), commit)
            query = Query(commit, policy, subject, path)
            self.projection = project(collection.memories.values(), query, facts)
        self.commit = commit
        self.policy_digest = policy_digest(data)
        self.fingerprint = source_fingerprint(self.policy_digest, collection.sources)

    def recall(self, request: Request) -> dict[str, object]:
        """The first page, as a JSON object."""
        wanted = [row for row in self.projection.rows.values() if self._matches(row, request)]
        wanted.sort(key=lambda row: row.id)
        wanted.sort(key=lambda row: row.signed_timestamp, reverse=True)
        wanted.sort(key=lambda row: LIFECYCLES.index(row.lifecycle))
        page: list[Row] = []
        used = 0
        for row in wanted:
            used += len(canonical.encode(row.data.content))
            if len(page) == request.max_records or used > request.max_content_bytes:
                break
            page.append(row)
        missing = {
            (d.missing, d.kind, d.operation, d.owner, d.reason): _dependency(d)
            for row in page
            for d in row.dependencies
        }
        return {
            "version": 0,
            "warning": WARNING,
            "queryDigest": query_digest(request.mapping(self.commit), self.fingerprint, self.policy_digest),
            "matched": len(wanted),
            "returned": len(page),
            "truncated": len(page) < len(wanted),
            "memories": [row_mapping(row) for row in page],
            "missingDependencies": [missing[key] for key in sorted(missing)],
        }

    @staticmethod
    def _matches(row: Row, request: Request) -> bool:
        tokens = set(index_tokens(indexed_text(row.data.content, row.data.topics)))
        return (
            row.applicability == "applicable"
            and row.evidence == "resolved"
            and row.lifecycle in request.lifecycles
            and (not request.trust or row.trust in request.trust)
            and set(request.topics) <= set(row.data.topics)
            and (not request.kinds or row.kind in request.kinds)
            and (not request.actors or row.actor in request.actors)
            and (request.query is None or set(index_tokens(request.query)) <= tokens)
        )


WORDS = "alpha beta gamma stream isolation git python docker Überraschung 記憶 retry http2 x".split()
TOPICS = ("alpha", "domain/git", "kind/gotcha", "ß")
SUBJECTS = ("issue:sha256:" + "1" * 64, "run:sha256:" + "2" * 64)
PATHS = ("README.md", "src/app.py", "gone.txt")
KINDS = ("observation", "decision", "assumption")


class History:
    """Random events in one repository: memories of all kinds, commits, policies, lost and found objects."""

    def __init__(self, directory: Path, people: list[Person], seed: int, *, losing: bool = False) -> None:
        self.directory = directory
        self.people = people
        self.rng = random.Random(seed)
        self.heads: dict[str, list[tuple[str, str]]] = {}
        self.ids: list[str] = []
        self.later: list[bytes] = []
        self.loose: list[str] = []
        self.losing = losing
        self.lost = False
        self.saved: list[tuple[str, list[tuple[str, str]]]] = []
        self.clock = 0
        self.committed = 0
        directory.mkdir()
        git(directory, "init", "-q", "-b", "main")
        for name in PATHS[:2]:
            path = directory / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(name)
        self.policy()
        self.repo = Repository.open(str(directory), os.environ)

    # what happens --------------------------------------------------------------------------

    def step(self) -> str:
        """One random event; its name."""
        choices = (
            (self.memory, 12),
            (self.commit, 3),
            (self.branch, 1),
            (self.switch, 2),
            (self.policy, 1),
            (self.accept, 2),
            (self.rewind, 2),
            (self.drop, 2),
            (self.bring_back, 3),
            (self.find, 2),
            (self.lose, 2 if self.losing else 0),
        )
        event = self.rng.choices([c[0] for c in choices], [c[1] for c in choices])[0]
        event()
        return event.__name__

    def memory(self) -> None:
        """Another memory of somebody's stream, of any operation, target and anchor."""
        person = self.rng.choice(self.people)
        ref = f"refs/hn/memory/{person.actor}/{person.stream.removeprefix('sha256:')}"
        chain = self.heads.setdefault(ref, [])
        self.clock += self.rng.randint(0, 90)
        mapping: dict[str, Any] = {
            "protocol": "hn-memory/0",
            "operation": "record",
            "actor": person.actor,
            "actorName": person.name,
            "publicKey": keys.encode_b64(person.public_key),
            "stream": person.stream,
            "sequence": len(chain) + 1,
            "timestamp": f"2026-08-30T{10 + self.clock // 3600:02}:{self.clock // 60 % 60:02}:"
            f"{self.clock % 60:02}{self.rng.choice(('', '.5', '.25'))}Z",
            "previous": chain[-1][1] if chain else None,
        }
        operation = self.rng.choices(("record", "supersede", "retract", "challenge"), (8, 4, 2, 2))[0]
        mapping["operation"] = operation
        if operation != "record":
            unknown = "sha256:" + self.rng.randbytes(32).hex()
            own = [memory for _, memory in chain[-6:]] if operation != "challenge" else []
            mapping["target"] = self.rng.choice([*self.ids[-8:], *own, *own, unknown])
        if operation in ("record", "supersede"):
            mapping["record"] = self.record()
        else:
            mapping["reason"] = "incorrect"
        payload = encode_envelope(mapping)
        memory = memory_id(payload)
        commit, _ = write_memory(
            self.repo,
            payload=payload,
            signature=keys.encode_b64(keys.sign(person.private_key, payload)).encode(),
            memory_id=memory,
            parent=chain[-1][0] if chain else None,
            actor=person.actor,
            actor_name=person.name,
            timestamp="2026-08-30T12:00:00Z",
        )
        git(self.directory, "update-ref", ref, commit)
        chain.append((commit, memory))
        self.ids.append(memory)

    def record(self) -> dict[str, Any]:
        rng = self.rng
        commits = git(self.directory, "rev-list", "--all", "--max-count=40", "--", ".").split()
        blob = git(self.directory, "rev-parse", "HEAD:README.md")
        anchor: dict[str, Any] = {"commit": rng.choice([*commits, *commits, blob, rng.randbytes(20).hex()])}
        if rng.random() < 0.3:
            names = sorted(rng.sample(PATHS, rng.randint(1, 2)))
            anchor["paths"] = [{"path": name, "blob": self._blob(anchor["commit"], name)} for name in names]
        mode = rng.choice(("descendants", "descendants", "exact", "subject"))
        if mode == "subject" or rng.random() < 0.2:
            anchor["subject"] = rng.choice(SUBJECTS)
        applicability = {"mode": mode}
        if mode == "subject":
            applicability["subject"] = anchor["subject"]
        return {
            "kind": rng.choice(KINDS),
            "content": " ".join(rng.choices(WORDS, k=rng.randint(2, 9))),
            "anchor": anchor,
            "applicability": applicability,
            "topics": sorted(set(rng.choices(TOPICS, k=rng.randint(0, 2)))),
            "evidence": sorted(set(self._evidence())),
        }

    def _blob(self, commit: str, name: str) -> str:
        try:
            return git(self.directory, "rev-parse", "--verify", "-q", f"{commit}:{name}")
        except AssertionError:
            return self.rng.choice(("absent", "b" * 40))

    def _evidence(self) -> list[str]:
        out = []
        for _ in range(self.rng.choice((0, 0, 1, 1, 2))):
            kind = self.rng.randrange(5)
            if kind == 0:
                out.append("git:" + git(self.directory, "rev-parse", "HEAD"))
            elif kind == 1:  # an object that somebody will bring later
                data = self.rng.randbytes(12)
                self.later.append(data)
                out.append("git:" + git(self.directory, "hash-object", "-t", "blob", "--stdin", stdin=data))
            elif kind == 2:
                data = self.rng.randbytes(12)
                oid = git(self.directory, "hash-object", "-w", "-t", "blob", "--stdin", stdin=data)
                self.loose.append(oid)
                out.append("git:" + oid)
            elif kind == 3 and self.ids:
                out.append("memory:" + self.rng.choice(self.ids))
            else:
                out.append(f"{self.rng.choice(('memory', 'event'))}:sha256:" + self.rng.randbytes(32).hex())
        return out

    def commit(self) -> None:
        """Another commit on the branch that is checked out."""
        path = self.directory / self.rng.choice(PATHS[:2])
        path.write_text(f"{self.rng.random()}")
        self._commit("-am", "change")

    def _commit(self, *words: str) -> None:
        """Commit by a clock of its own: ids, and git's order, are those of the seed."""
        self.committed += 1
        date = f"{1_700_000_000 + self.committed} +0000"
        git(self.directory, "commit", "-q", *words, GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)

    def branch(self) -> None:
        """A new branch from some older commit."""
        commits = git(self.directory, "rev-list", "HEAD").split()
        name = f"b{self.rng.randrange(10**9)}"
        git(self.directory, "checkout", "-q", "-b", name, self.rng.choice(commits))

    def switch(self) -> None:
        """Another branch is checked out."""
        names = git(self.directory, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        git(self.directory, "checkout", "-q", self.rng.choice(names))

    def policy(self) -> None:
        """The policy changes, or goes."""
        path = self.directory / ".hn" / "policy.json"
        path.parent.mkdir(exist_ok=True)
        trusted = sorted(p.actor for p in self.people if self.rng.random() < 0.7)
        policy: dict[str, Any] = {
            "version": "hn.policy/0",
            "maintainers": [self.people[0].actor],
            "proposals": {
                "requiredApprovals": 0,
                "requiredAccepts": 1,
                "trustedReviewers": [],
                "allowAuthorApproval": True,
            },
            "pipelines": {},
            "memory": {"trustedActors": trusted, "trustedKinds": sorted(self.rng.sample(KINDS, 2))},
        }
        if self.rng.random() < 0.15:
            del policy["memory"]
        path.write_bytes(canonical.encode(policy) + b"\n" * self.rng.randint(1, 5))
        git(self.directory, "add", ".")
        self._commit("--allow-empty", "-m", "policy")

    def accept(self) -> None:
        """What is local is accepted from a remote as well, as far as it goes there."""
        if self.heads:
            ref = self.rng.choice(sorted(self.heads))
            chain = self.heads[ref]
            if chain:
                accepted = ref.replace("refs/hn/memory", "refs/hn/remotes/origin/memory")
                git(self.directory, "update-ref", accepted, self.rng.choice(chain)[0])

    def rewind(self) -> None:
        """A stream loses its newest memories."""
        if self.heads:
            ref = self.rng.choice(sorted(self.heads))
            chain = self.heads[ref]
            keep = self.rng.randint(1, max(1, len(chain)))
            if chain and keep < len(chain):
                self.saved.append((ref, list(chain)))
                del chain[keep:]
                git(self.directory, "update-ref", ref, chain[-1][0])

    def drop(self) -> None:
        """A stream is gone."""
        if self.heads:
            ref = self.rng.choice(sorted(self.heads))
            self.saved.append((ref, self.heads.pop(ref)))
            git(self.directory, "update-ref", "-d", ref)

    def bring_back(self) -> None:
        """A stream that was rewound or gone is as it was."""
        if self.saved:
            ref, chain = self.saved.pop(self.rng.randrange(len(self.saved)))
            if chain:
                self.heads[ref] = chain
                git(self.directory, "update-ref", ref, chain[-1][0])

    def find(self) -> None:
        """An object that was missing arrives."""
        if self.later:
            data = self.later.pop(self.rng.randrange(len(self.later)))
            git(self.directory, "hash-object", "-w", "-t", "blob", "--stdin", stdin=data)

    def lose(self) -> None:
        """An object that was evidence is collected as garbage."""
        if self.loose:
            oid = self.loose.pop(self.rng.randrange(len(self.loose)))
            path = self.directory / ".git" / "objects" / oid[:2] / oid[2:]
            self.lost = self.lost or path.exists()
            path.unlink(missing_ok=True)

    # what is asked ---------------------------------------------------------------------------

    def request(self) -> Request:
        """A random request; bounds that no record exceeds."""
        rng = self.rng
        commits = git(self.directory, "rev-list", "--all", "--max-count=30", "--", ".").split()
        return Request(
            at=rng.choice([*commits, *["HEAD"] * len(commits)]),
            subject=rng.choice(("", "", *SUBJECTS)),
            path=rng.choice(("", "", "", *PATHS[:2])),
            topics=rng.sample(TOPICS, rng.choice((0, 0, 0, 1))),
            kinds=rng.sample(KINDS, rng.choice((0, 0, 1, 2))),
            actors=[rng.choice(self.people).actor] if rng.random() < 0.2 else (),
            lifecycle=rng.choice(((), ("all",), ("all",), ("superseded", "retracted"))),
            include_untrusted=rng.random() < 0.6,
            query=" ".join(rng.choices(WORDS, k=rng.randint(1, 2))) if rng.random() < 0.4 else None,
            max_records=rng.choice((1, 3, 20, 1000)),
            max_content_bytes=rng.choice((400, 65_536)),
        )
