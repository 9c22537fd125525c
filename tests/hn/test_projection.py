"""Projection: the five judgments, each by itself, and that order never decides."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_kb.hn import keys
from ai_kb.hn.envelope import VerifiedMemory, default_stream, encode_envelope, verify_memory
from ai_kb.hn.policy import MemoryPolicy, Policy, ProposalPolicy
from ai_kb.hn.projection import (
    Dependency,
    Diagnostic,
    Edge,
    Projection,
    Query,
    Relations,
    Row,
    anchor_state,
    content_digest,
    evidence_class,
    is_row,
    project,
    row_of,
)
from ai_kb.hn.projection_types import EvidenceDetail
from tests.conftest import examples

Make = Callable[..., dict[str, Any]]

C0, C1, C2 = "0" * 40, "1" * 40, "2" * 40  # a line of three commits
SIDE, BLOB, TREE, TAG, GONE = "5" * 40, "b" * 40, "e" * 40, "7" * 40, "9" * 40
SUBJECT, OTHER_SUBJECT = "issue:sha256:" + "c" * 64, "run:sha256:" + "d" * 64
EVENT, UNKNOWN = "sha256:" + "e" * 64, "sha256:" + "4" * 64


class Repo:
    """A repository as plain data, as ``Facts``."""

    def __init__(self, memories: Iterable[VerifiedMemory] = (), *, shallow: bool = False) -> None:
        self.types = {
            C0: "commit",
            C1: "commit",
            C2: "commit",
            SIDE: "commit",
            BLOB: "blob",
            TREE: "tree",
            TAG: "tag",
        }
        self.parents = {C2: [C1], C1: [] if shallow else [C0], SIDE: [C0], C0: []}
        self.shallow = shallow
        self.blobs: dict[tuple[str, str], str | None] = {(C1, "a.md"): BLOB, (C1, "docs"): "not-a-blob"}
        self.memories = {memory.id for memory in memories}

    def object_type(self, oid: str) -> str | None:
        return self.types.get(oid)

    def is_ancestor(self, ancestor: str, descendant: str) -> bool | None:
        found = [descendant]
        for commit in found:
            found.extend(self.parents[commit])
        if ancestor in found:
            return True
        return None if self.shallow else False

    def path_blob(self, commit: str, path: str) -> str | None:
        return self.blobs.get((commit, path), "absent")

    def event_known(self, event_id: str) -> bool:
        return event_id == EVENT

    def memory_known(self, memory_id: str) -> bool:
        return memory_id in self.memories


class Author:
    """Appends to one actor's stream."""

    def __init__(self, make: Make, person: Any) -> None:
        self.make, self.person = make, person
        self.count, self.last = 0, ""

    def write(self, record: dict[str, Any] | None = None, **fields: Any) -> VerifiedMemory:
        self.count += 1
        mapping = self.make(by=self.person, record=record, sequence=self.count, previous=self.last, **fields)
        if fields.get("operation") in ("retract", "challenge"):
            mapping["record"] = None
        payload = encode_envelope(mapping)
        memory = verify_memory(payload, keys.sign(self.person.private_key, payload))
        self.last = memory.id
        return memory

    def record(
        self, content: str = "x", at: str = C1, mode: str = "descendants", **record: Any
    ) -> VerifiedMemory:
        return self.write(
            {"content": content, "anchor": {"commit": at}, "applicability": {"mode": mode}, **record}
        )

    def supersede(self, target: str, content: str = "y") -> VerifiedMemory:
        record = {"content": content, "anchor": {"commit": C1}, "applicability": {"mode": "descendants"}}
        return self.write(record, operation="supersede", target=target)

    def retract(self, target: str) -> VerifiedMemory:
        return self.write(operation="retract", target=target, reason="incorrect")

    def challenge(self, target: str) -> VerifiedMemory:
        return self.write(operation="challenge", target=target, reason="outdated")


@pytest.fixture
def by_alice(make: Make, alice: Any) -> Author:
    return Author(make, alice)


@pytest.fixture
def by_bob(make: Make, bob: Any) -> Author:
    return Author(make, bob)


def projected(*memories: VerifiedMemory, query: Query | None = None, facts: Repo | None = None) -> Projection:
    return project(memories, query or Query(C2), facts or Repo(memories))


def only(*memories: VerifiedMemory, query: Query | None = None, facts: Repo | None = None) -> Row:
    (row,) = projected(*memories, query=query, facts=facts).rows.values()
    return row


# --- rows and lifecycle ---------------------------------------------------------------------------


def test_only_records_and_supersedes_make_rows(by_alice: Author, by_bob: Author) -> None:
    first = by_alice.record()
    second = by_alice.supersede(first.id)
    others = [by_alice.retract(first.id), by_bob.challenge(first.id)]
    assert set(projected(first, second, *others).rows) == {first.id, second.id}
    assert [is_row(memory.envelope) for memory in (first, second, *others)] == [True, True, False, False]


def test_a_row_says_what_was_signed(by_alice: Author, alice: Any) -> None:
    memory = by_alice.record("zeta alpha", topics=["b", "c"], evidence=["git:" + C1, "git:" + C0])
    row = only(memory)
    assert (row.id, row.actor, row.stream) == (memory.id, alice.actor, default_stream(alice.actor))
    assert (row.signed_timestamp, row.kind, row.signature) == ("2026-08-30T12:34:56Z", "decision", "valid")
    assert row.content_digest == "sha256:8e4a3d29ce7ddbf6fe8c5bd54d541108caf83afb8f05a0309b365f5f556b1208"
    assert row.content_digest == content_digest(row.data)
    assert row.data.evidence == ("git:" + C1, "git:" + C0)  # as signed


def test_a_record_that_nothing_points_at_is_active(by_alice: Author) -> None:
    assert only(by_alice.record()).lifecycle == "active"


def test_one_successor_supersedes_and_two_branch(by_alice: Author) -> None:
    target = by_alice.record()
    one, two = by_alice.supersede(target.id, "one"), by_alice.supersede(target.id, "two")
    row = projected(target, one).rows[target.id]
    assert (row.lifecycle, row.successors) == ("superseded", (one.id,))
    row = projected(target, one, two).rows[target.id]
    assert (row.lifecycle, row.successors) == ("branching", tuple(sorted([one.id, two.id])))


def test_a_retracted_successor_still_counts_as_one(by_alice: Author) -> None:
    target = by_alice.record()
    one, two = by_alice.supersede(target.id, "one"), by_alice.supersede(target.id, "two")
    rows = projected(target, one, two, by_alice.retract(one.id)).rows
    assert (rows[target.id].lifecycle, rows[one.id].lifecycle) == ("branching", "retracted")


def test_retraction_goes_before_supersession(by_alice: Author) -> None:
    target = by_alice.record()
    memories = [
        target,
        by_alice.supersede(target.id),
        by_alice.supersede(target.id, "z"),
        by_alice.retract(target.id),
    ]
    row = projected(*memories).rows[target.id]
    assert (row.lifecycle, row.retractions, len(row.successors)) == ("retracted", (memories[3].id,), 2)


def test_challenges_stand_beside_the_lifecycle(by_alice: Author, by_bob: Author) -> None:
    target = by_alice.record()
    challenge = by_bob.challenge(target.id)
    row = projected(target, challenge).rows[target.id]
    assert (row.lifecycle, row.challengers) == ("active", (challenge.id,))


def test_a_row_whose_own_target_is_missing_is_dependency_missing_whatever_points_at_it(
    by_alice: Author,
) -> None:
    orphan = by_alice.supersede(UNKNOWN)
    retract = by_alice.retract(orphan.id)
    projection = projected(orphan, retract)
    row = projection.rows[orphan.id]
    expected = Dependency(
        "lifecycle-target", orphan.id, orphan.envelope.stream, UNKNOWN, "target-unavailable", "supersede"
    )
    assert (row.lifecycle, row.retractions) == ("dependency-missing", (retract.id,))
    assert row.dependencies == projection.missing_dependencies == (expected,)


def test_a_missing_target_of_a_retraction_or_challenge_is_a_dependency_of_no_row(
    by_alice: Author, by_bob: Author
) -> None:
    memories = [by_alice.record(), by_alice.retract(UNKNOWN), by_bob.challenge(UNKNOWN)]
    projection = projected(*memories)
    assert projection.rows[memories[0].id].lifecycle == "active"
    assert [(d.operation, d.owner) for d in projection.missing_dependencies] == [
        ("challenge", memories[2].id),
        ("retract", memories[1].id),
    ]


# --- relationships that count for nothing -----------------------------------------------------------


def test_the_target_of_a_relationship_must_be_a_record(by_alice: Author, by_bob: Author) -> None:
    target = by_alice.record()
    retract = by_alice.retract(target.id)
    wrong = by_bob.challenge(retract.id)
    projection = projected(target, retract, wrong)
    stream = wrong.envelope.stream
    assert projection.diagnostics == (
        Diagnostic(wrong.id, stream, "challenge", retract.id, "wrong-target-kind"),
    )
    assert [edge.source for edge in projection.edges] == [retract.id]


@pytest.mark.parametrize("operation", ["supersede", "retract"])
def test_only_the_author_supersedes_or_retracts(by_alice: Author, by_bob: Author, operation: str) -> None:
    target = by_alice.record()
    foreign = getattr(by_bob, operation)(target.id)
    projection = projected(target, foreign)
    row = projection.rows[target.id]
    assert (row.lifecycle, row.successors, row.retractions) == ("active", (), ())
    assert [found.reason for found in projection.diagnostics] == ["actor-mismatch"]
    assert projection.edges == projection.missing_dependencies == ()


def test_a_memory_cannot_target_itself(by_alice: Author) -> None:
    memory = by_alice.supersede(UNKNOWN)
    # No real memory names its own id; the rule is there all the same.
    forged = VerifiedMemory(UNKNOWN, memory.envelope, memory.payload)
    projection = projected(forged)
    assert [found.reason for found in projection.diagnostics] == ["self-target"]
    assert projection.rows[UNKNOWN].lifecycle == "active"


def test_edges_sort_by_target_then_operation_then_source(by_alice: Author, by_bob: Author) -> None:
    target = by_alice.record()
    memories = [by_alice.supersede(target.id, str(i)) for i in range(3)]
    memories += [by_bob.challenge(target.id), by_alice.retract(target.id), by_alice.retract(memories[0].id)]
    edges = projected(target, *memories).edges
    assert list(edges) == sorted(edges, key=lambda e: (e.target, e.operation, e.source))
    assert edges[0].__class__ is Edge
    assert len(edges) == 6


# --- applicability --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "anchor", "at", "expected"),
    [
        ("exact", C1, C1, "applicable"),
        ("exact", C1, C2, "inapplicable"),
        ("exact", C1, C0, "inapplicable"),
        ("descendants", C1, C1, "applicable"),
        ("descendants", C1, C2, "applicable"),
        ("descendants", C1, C0, "inapplicable"),
        ("descendants", C1, SIDE, "inapplicable"),
    ],
)
def test_exact_and_descendants_compare_the_query_commit(
    by_alice: Author, mode: str, anchor: str, at: str, expected: str
) -> None:
    assert only(by_alice.record(at=anchor, mode=mode), query=Query(at)).applicability == expected


@pytest.mark.parametrize(
    ("subject", "expected"), [(SUBJECT, "applicable"), (OTHER_SUBJECT, "inapplicable"), ("", "inapplicable")]
)
def test_subject_applies_when_the_query_names_that_subject(
    by_alice: Author, subject: str, expected: str
) -> None:
    memory = by_alice.record(
        anchor={"commit": C1, "subject": SUBJECT}, applicability={"mode": "subject", "subject": SUBJECT}
    )
    assert only(memory, query=Query(SIDE, subject=subject)).applicability == expected


def test_a_query_subject_or_path_must_also_be_anchored(by_alice: Author) -> None:
    plain = by_alice.record()
    anchored = by_alice.record(
        anchor={"commit": C1, "subject": SUBJECT, "paths": [{"path": "a.md", "blob": BLOB}]}
    )
    for query in (
        Query(C2, subject=SUBJECT),
        Query(C2, path="a.md"),
        Query(C2, subject=SUBJECT, path="a.md"),
    ):
        rows = projected(plain, anchored, query=query).rows
        assert (rows[plain.id].applicability, rows[anchored.id].applicability) == (
            "inapplicable",
            "applicable",
        )
    for query in (Query(C2, subject=OTHER_SUBJECT), Query(C2, path="b.md")):
        assert projected(anchored, query=query).rows[anchored.id].applicability == "inapplicable"


@pytest.mark.parametrize("anchor", [BLOB, TREE, TAG])
def test_an_anchor_that_is_no_commit_is_invalid(by_alice: Author, anchor: str) -> None:
    row = only(by_alice.record(at=anchor))
    assert (row.applicability, row.dependencies) == ("anchor-invalid", ())


@pytest.mark.parametrize(
    ("path", "blob", "expected"),
    [
        ("a.md", BLOB, "applicable"),
        ("b.md", "absent", "applicable"),
        ("a.md", "absent", "anchor-invalid"),
        ("a.md", C0, "anchor-invalid"),
        ("b.md", BLOB, "anchor-invalid"),
        ("docs", "absent", "anchor-invalid"),
        ("docs", TREE, "anchor-invalid"),
    ],
)
def test_a_path_anchor_must_be_what_the_anchor_commit_has(
    by_alice: Author, path: str, blob: str, expected: str
) -> None:
    memory = by_alice.record(anchor={"commit": C1, "paths": [{"path": path, "blob": blob}]})
    assert only(memory).applicability == expected


def test_an_anchor_commit_that_is_not_there_is_missing(by_alice: Author) -> None:
    memory = by_alice.record(at=GONE)
    row = only(memory, query=Query(C2, subject=SUBJECT))  # the anchor is looked at before the query
    stream = memory.envelope.stream
    dependency = Dependency("anchor-commit", memory.id, stream, GONE, "anchor-commit-unavailable")
    assert (row.applicability, row.dependencies) == ("anchor-missing", (dependency,))


def test_an_anchor_path_that_nobody_can_look_at_is_missing_but_a_wrong_one_is_invalid(
    by_alice: Author,
) -> None:
    paths = [{"path": "a.md", "blob": C0}, {"path": "x/y", "blob": BLOB}]
    facts = Repo()
    facts.blobs[C1, "x/y"] = None
    row = only(by_alice.record(anchor={"commit": C1, "paths": paths[1:]}), facts=facts)
    assert (row.applicability, [d.kind for d in row.dependencies]) == ("anchor-missing", ["anchor-path"])
    for order in (paths, paths[::-1]):
        memory = by_alice.record(anchor={"commit": C1, "paths": sorted(order, key=lambda p: p["path"])})
        assert anchor_state(memory.envelope.record.anchor, facts) == "anchor-invalid"  # type: ignore[union-attr]


def test_an_unavailable_query_commit_or_ancestry_is_missing(by_alice: Author) -> None:
    row = only(by_alice.record(), query=Query(GONE))
    assert (row.applicability, [d.kind for d in row.dependencies]) == ("anchor-missing", ["query-commit"])
    row = only(by_alice.record(at=C0), facts=Repo(shallow=True))
    assert (row.applicability, [d.kind for d in row.dependencies]) == ("anchor-missing", ["ancestry"])
    assert [d.missing for d in row.dependencies] == [C0]


# --- evidence -------------------------------------------------------------------------------------


def test_evidence_resolves_by_its_type_and_is_listed_by_type_and_id(by_alice: Author) -> None:
    known = by_alice.record()
    memory = by_alice.record(evidence=["memory:" + known.id, "git:" + C1, "event:" + EVENT, "git:" + BLOB])
    row = projected(known, memory).rows[memory.id]
    assert row.evidence == "resolved"
    assert [(d.type, d.requested, d.status, d.reason) for d in row.evidence_details] == [
        ("event", EVENT, "resolved", "accepted-event"),
        ("git", C1, "resolved", "exact-object"),
        ("git", BLOB, "resolved", "exact-object"),
        ("memory", known.id, "resolved", "accepted-memory"),
    ]
    assert row.dependencies == ()


def test_missing_evidence_is_a_dependency_each_and_the_worst_status_is_the_class(by_alice: Author) -> None:
    memory = by_alice.record(evidence=["git:" + GONE, "event:" + UNKNOWN, "memory:" + UNKNOWN, "git:" + C1])
    row = only(memory)
    assert row.evidence == "missing"
    assert [(d.kind, d.missing, d.reason) for d in row.dependencies] == [
        ("evidence-git", GONE, "object-unavailable"),
        ("evidence-event", UNKNOWN, "event-unavailable"),
        ("evidence-memory", UNKNOWN, "memory-unavailable"),
    ]
    assert {(d.owner, d.stream, d.operation) for d in row.dependencies} == {
        (memory.id, memory.envelope.stream, "")
    }


def test_the_worst_of_resolved_missing_invalid_is_the_class() -> None:
    def detail(status: str) -> EvidenceDetail:
        return EvidenceDetail("git", C0, UNKNOWN, status, "")

    statuses = ["resolved", "missing", "invalid"]
    assert evidence_class([]) == "resolved"
    for worst in range(3):
        assert evidence_class([detail(status) for status in statuses[: worst + 1]]) == statuses[worst]


# --- trust ----------------------------------------------------------------------------------------


def test_trust_comes_from_the_policy_of_the_query_and_changes_nothing_else(
    by_alice: Author, alice: Any
) -> None:
    memory = by_alice.record()
    trusting = MemoryPolicy((alice.actor,), ("decision",))
    policies = {
        "policy-missing": None,
        "actor-untrusted": MemoryPolicy((), ("decision",)),
        "kind-untrusted": MemoryPolicy((alice.actor,), ()),
        "qualified": trusting,
    }
    for expected, section in policies.items():
        policy = Policy(UNKNOWN, (alice.actor,), ProposalPolicy(0, 1, (), False), {}, section)
        row = only(memory, query=Query(C2, policy))
        assert (row.trust, row.lifecycle, row.applicability) == (expected, "active", "applicable")
    assert only(memory).trust == "policy-missing"


# --- order ----------------------------------------------------------------------------------------


def history(make: Make, people: list[Any], choices: list[int]) -> list[VerifiedMemory]:
    """A random verified set: each choice picks an author, what it does and to what."""
    authors = [Author(make, person) for person in people]
    memories: list[VerifiedMemory] = []
    for choice in choices:
        author = authors[choice % len(authors)]
        choice //= len(authors)
        targets = [memory.id for memory in memories] + [UNKNOWN]
        target = targets[choice // 8 % len(targets)]
        match choice % 8:
            case 0 | 1 | 2 | 3:
                at = [C0, C1, SIDE, GONE, BLOB][choice // 8 % 5]
                evidence = [["git:" + C1], ["memory:" + target], ["event:" + UNKNOWN], []][choice // 40 % 4]
                memories.append(
                    author.record(str(choice), at, ["exact", "descendants"][choice % 2], evidence=evidence)
                )
            case 4 | 5:
                memories.append(author.supersede(target, str(choice)))
            case 6:
                memories.append(author.retract(target))
            case 7:
                memories.append(author.challenge(target))
    return memories


def test_projection_does_not_depend_on_order(make: Make, alice: Any, bob: Any, carol: Any) -> None:
    @given(st.lists(st.integers(0, 100_000), max_size=25), st.randoms(use_true_random=False))
    @examples(60)
    def check(choices: list[int], shuffler: random.Random) -> None:
        memories = history(make, [alice, bob, carol], choices)
        facts = Repo(memories)
        expected = project(memories, Query(C2), facts)
        shuffled = memories[:]
        shuffler.shuffle(shuffled)
        assert project(shuffled, Query(C2), facts) == expected
        assert project(iter(shuffled + memories), Query(C2), facts) == expected
        assert list(expected.rows) == sorted(expected.rows)

    check()


def test_the_small_functions_give_what_the_whole_gives(make: Make, alice: Any, bob: Any) -> None:
    """A cache that recomputes rows one by one must come to the same rows."""

    @given(st.lists(st.integers(0, 100_000), max_size=25))
    @examples(40)
    def check(choices: list[int]) -> None:
        memories = history(make, [alice, bob], choices)
        facts = Repo(memories)
        whole = project(memories, Query(C2), facts)
        relations: dict[str, Relations] = {memory.id: Relations() for memory in memories}
        for edge in whole.edges:
            relations[edge.target].add(edge)
        for dependency in whole.missing_dependencies:
            if dependency.kind == "lifecycle-target":
                relations[dependency.owner].missing_target = dependency
        for memory in memories:
            record = memory.envelope.record
            if record is not None:
                state = anchor_state(record.anchor, facts)
                row = row_of(memory, record, relations[memory.id], Query(C2), facts, state)
                assert row == whole.rows[memory.id]

    check()
