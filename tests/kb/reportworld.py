"""What the tests of the report stand on: stores in which everything happened that can happen."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent_memory import ledger
from agent_memory.topics import State
from ai_kb import report, stores
from ai_kb.hn import keys
from ai_kb.hn.envelope import Anchor, Applicability, Handoff, PathAnchor, Record
from ai_kb.hn.gitwrite import object_id
from ai_kb.hn.identity import Identity
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.streams import append
from ai_kb.report_data import Report
from ai_kb.seen import Seen
from ai_kb.stores import Store
from tests.kb.kbworld import World

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)

LESSONS = (
    (
        "gotcha",
        "Retry only idempotent requests",
        "A POST that timed out may have been carried out by the server.",
    ),
    (
        "fact",
        "The test database listens on port 5433",
        "5432 is taken by the shared one; `make db` starts it.",
    ),
    (
        "pattern",
        "One transaction for each message",
        "Acknowledge after commit; then a crash repeats and loses nothing.",
    ),
    ("decision", "Times are UTC everywhere", "Converted where a person reads them, nowhere else."),
    (
        "anti_pattern",
        "Caching the token in a module variable",
        "It outlived the tenant and answered for the next one.",
    ),
    (
        "recipe",
        "Rebuild the search index",
        "1. stop the worker\n2. `make reindex`\n3. start it again\n\nTakes ten minutes.",
    ),
    ("principle", "A migration can be undone or is two migrations", "Add first, remove a release later."),
    ("gotcha", "macOS sed wants an argument after -i", "Use `perl -pi -e` in scripts that both have to run."),
    (
        "fact",
        "CI has no network after the install step",
        "Whatever a test fetches has to be vendored or skipped.",
    ),
    (
        "gotcha",
        "Docker caches the COPY of an empty directory",
        "Touch a file in it, or the layer never changes.",
    ),
    ("pattern", "Name a queue after its consumer", "The producer does not care; whoever is on call does."),
    ("fact", "The staging bucket is emptied every Sunday", "Keep nothing there that a Monday needs."),
)


class ReportWorld(World):
    """A workspace with a home store and a repository's store, and authors that write where they like."""

    def author(self, name: str, seed: int) -> Identity:
        private = keys.private_key_of_seed(random.Random(seed).randbytes(32))
        return Identity(name, private)

    def say(self, store: Store, who: Identity, operation: str, when: datetime, **fields: Any) -> str:
        """One memory, signed by ``who`` at ``when``, as the protocol takes it; its id."""
        with store.repo.objects() as reader, PrefixStore.open(store.repo) as prefixes:
            return append(
                store.repo, reader, who, operation=operation, now=when, prefixes=prefixes, **fields
            ).id

    def record(
        self,
        store: Store,
        title: str,
        body: str = "",
        *,
        kind: str = "gotcha",
        scope: str = "project",
        topics: Sequence[str] = (),
        paths: Sequence[str] = (),
        **more: Any,
    ) -> Record:
        """A capsule's record, anchored where the store is."""
        content = "\n\n".join(
            part for part in (title, body, more.pop("trailers", "Confidence: high")) if part
        )
        with store.repo.objects() as reader:
            commit = stores.HOME_ROOT if store.name == "home" else reader.head()
        assert commit is not None
        anchors = tuple(PathAnchor(p, self.blob(p)) for p in sorted(paths))
        own = () if kind == "handoff" else (f"kind/{kind}",)
        every = sorted({*own, f"scope/{scope}", *topics}, key=str.encode)
        fields: dict[str, Any] = {
            "kind": {
                "decision": "decision",
                "principle": "decision",
                "anti_pattern": "attempt",
                "handoff": "handoff",
            }.get(kind, "observation"),
            "anchor": Anchor(commit, anchors),
            "applicability": Applicability("descendants"),
            "attempt_outcome": "rejected" if kind == "anti_pattern" else "",
            **more,
        }
        return Record(content=content, topics=tuple(every), **fields)

    def blob(self, path: str) -> str:
        return object_id("blob", (self.workspace / path).read_bytes(), "sha1")

    def commit_file(self, path: str, text: str) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        self.git("add", path)
        self.git("commit", "-q", "-m", f"Change {path}")

    @property
    def state(self) -> State:
        return State.of(self.env, str(self.workspace.resolve()), hook=False)

    def seen(self, session: str, ids: Sequence[str], when: datetime) -> None:
        self.state.ensure()
        with Seen(self.state.spec_dir, session) as seen:
            seen.add(ids, when.timestamp())
        path = Path(self.state.spec_dir) / f".recall-seen-{session}.json"
        os.utime(path, (when.timestamp(), when.timestamp()))

    def report(self, **more: Any) -> Report:
        return report.gather(self.state, self.env, NOW, **more)


def days() -> Iterator[datetime]:
    """Times of the last months, a few hours to a few days apart."""
    rng = random.Random(3)
    when = NOW - timedelta(days=75)
    while True:
        when += timedelta(hours=rng.choice((2, 5, 9, 30, 80, 140)), minutes=rng.randrange(60))
        yield min(when, NOW - timedelta(minutes=5))


def eventful(world: ReportWorld) -> dict[str, str]:
    """Fill both stores with twenty capsules of everything that can happen; ids by a name."""
    world.commit_file("src/retry.py", "retries = 3\n")
    world.commit_file("src/queue.py", "size = 10\n")
    actor = world.trust_this_clone(world.author("Mika Laine", 7).actor)
    world.accept()
    home, repo = world.home(), world.repo()
    me, self_ = repo.identity(), home.identity()
    assert me.actor == actor
    mika, eve = world.author("Mika Laine", 7), world.author("eve", 8)
    when = days()
    ids: dict[str, str] = {}

    def add(
        name: str, store: Store, who: Identity, number: int, operation: str = "record", **more: Any
    ) -> str:
        kind, title, body = LESSONS[number % len(LESSONS)]
        target = {"target": more.pop("target")} if "target" in more else {}
        title = more.pop("title", title)
        body = more.pop("body", body)
        made = world.record(store, title, body, kind=kind, **more)
        ids[name] = world.say(store, who, operation, next(when), record=made, **target)
        return ids[name]

    def act(name: str, store: Store, who: Identity, operation: str, target: str, reason: str) -> None:
        ids[name] = world.say(store, who, operation, next(when), target=ids[target], reason=reason)

    add(
        "retry", repo, me, 0, paths=["src/retry.py"], topics=["domain/http"], evidence=(f"git:{head(world)}",)
    )
    add("port", repo, me, 1)
    add("message", repo, mika, 2, paths=["src/queue.py"])
    add("utc", home, self_, 3, scope="universal")
    add("token", repo, mika, 4)
    add("index", repo, me, 5)
    act("challenge", repo, mika, "challenge", "port", "port-is-5434-now")
    add(
        "port2",
        repo,
        me,
        1,
        "supersede",
        target=ids["port"],
        title="The test database listens on port 5434",
        body="5432 and 5433 are taken by the shared ones.",
    )
    add("migration", home, self_, 6, scope="universal", topics=["by/agent"])
    add("sed", home, self_, 7, scope="domain", topics=["domain/shell"])
    add("network", repo, mika, 8)
    act("retraction", repo, mika, "retract", "network", "no-longer-so")
    add("eve", repo, eve, 9, title="Always run the installer as root", body="It is faster.")
    act("doubt", repo, eve, "challenge", "message", "i-doubt-it")
    act("theft", repo, eve, "retract", "retry", "mine-now")
    add("queue", repo, mika, 10)
    add(
        "queue2",
        repo,
        mika,
        10,
        "supersede",
        target=ids["queue"],
        title="Name a queue after its consumer’s team",
    )
    add(
        "queue3", repo, mika, 10, "supersede", target=ids["queue"], title="Name a queue after what it carries"
    )
    add("bucket", home, self_, 11, scope="domain", topics=["domain/ops"])
    add(
        "orphan",
        repo,
        me,
        2,
        "supersede",
        target="sha256:" + "ab" * 32,
        title="Commit before you acknowledge",
    )
    add(
        "evidence",
        repo,
        me,
        3,
        title="The parser is quadratic in the depth",
        body="Measured, see the evidence.",
        evidence=("git:" + "c" * 40,),
    )
    handoff = Handoff(("The retry loop is written",), ("The server is idempotent",), (), ("Measure it",))
    made = world.record(repo, "Retries: where it stands", kind="handoff", handoff=handoff)
    ids["handoff"] = world.say(repo, me, "record", next(when), record=made)
    world.commit_file("src/retry.py", "retries = 5\n")
    world.git("rm", "-q", "src/queue.py")
    world.git("commit", "-q", "-m", "No queue")
    inject(world, ids)
    return ids


def inject(world: ReportWorld, ids: dict[str, str]) -> None:
    """Three sessions with injections, and a ledger with failures."""
    world.seen("8ea6ecb4-4eb8-4de4-a753-3c09537fdf1b", [ids["retry"], ids["utc"]], NOW - timedelta(hours=3))
    world.seen("8ea6ecb4-4eb8-4de4-a753-3c09537fdf1b", [ids["message"]], NOW - timedelta(hours=2))
    world.seen("0b1f3c77-aaaa", [ids["retry"], "sha256:" + "0" * 64], NOW - timedelta(days=1))
    world.state.bind("8ea6ecb4-4eb8-4de4-a753-3c09537fdf1b", "retries")
    spec = world.state.spec_dir
    ledger.add(
        spec,
        "recall",
        "nothing was injected: recall took longer than 6 s",
        session_key="0b1f3c77-aaaa",
        now=(NOW - timedelta(hours=30)).timestamp(),
    )
    ledger.add(
        spec, "repaired", "a torn record was put back together", now=(NOW - timedelta(days=2)).timestamp()
    )


def head(world: ReportWorld) -> str:
    return world.git("rev-parse", "HEAD")
