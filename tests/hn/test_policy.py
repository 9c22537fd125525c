"""The policy file: every rule by name, and what it says of a record."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_kb.hn.errors import HnError, InvalidPolicy
from ai_kb.hn.policy import MAX_POLICY_BYTES, PipelinePolicy, ProposalPolicy, parse_policy, trust_class
from tests.conftest import examples

A, B = "a" * 64, "b" * 64


def policy(**changes: Any) -> bytes:
    """A valid policy with top-level members replaced; ``...`` leaves one out."""
    value: dict[str, Any] = {
        "version": "hn.policy/0",
        "maintainers": [A],
        "proposals": {"requiredAccepts": 1},
        "memory": {"trustedActors": [A], "trustedKinds": ["decision", "observation"]},
        **changes,
    }
    return json.dumps({name: entry for name, entry in value.items() if entry is not ...}).encode()


def refused(data: bytes) -> str:
    with pytest.raises(InvalidPolicy) as error:
        parse_policy(data)
    return error.value.message


def test_a_whole_policy_is_read_with_every_section() -> None:
    proposals = {
        "requiredApprovals": 1,
        "requiredAccepts": 2,
        "trustedReviewers": [B, A],
        "allowAuthorApproval": True,
    }
    pipelines = {"test.unit_1": {"requiredResults": 2, "trustedRunners": [B, A]}}
    found = parse_policy(policy(maintainers=[B, A], proposals=proposals, pipelines=pipelines))
    assert found.maintainers == (B, A)
    assert found.proposals == ProposalPolicy(1, 2, (B, A), True)
    assert found.pipelines == {"test.unit_1": PipelinePolicy(2, (B, A))}
    assert found.memory is not None
    assert found.memory.trusted_actors == (A,)


def test_the_digest_is_of_the_exact_bytes() -> None:
    assert parse_policy(policy()).digest != parse_policy(policy() + b"\n").digest


def test_a_policy_is_at_most_1_mib() -> None:
    data = policy()
    assert parse_policy(data + b" " * (MAX_POLICY_BYTES - len(data)))
    assert refused(data + b" " * (MAX_POLICY_BYTES - len(data) + 1)) == "policy exceeds 1048576 bytes"


def test_a_policy_is_one_json_object_of_known_fields() -> None:
    assert refused(b"[]") == "parse policy: invalid JSON: it must be an object"
    assert refused(b"{") == "parse policy: invalid JSON"
    assert refused(b"NaN") == "parse policy: invalid JSON"
    assert refused(b"[" * 100_000) == "parse policy: invalid JSON: it is nested too deeply"
    assert refused(policy(extra=1)) == "parse policy: invalid JSON: unknown field"
    assert refused(policy(proposals={"x": 1})) == "parse policy: invalid JSON: unknown field in proposals"
    assert (
        refused(policy(pipelines={"a": {"x": 1}}))
        == "parse policy: invalid JSON: unknown field in a pipeline"
    )
    assert refused(policy(memory=[])) == "parse policy: invalid JSON: memory must be an object"
    assert refused(policy(pipelines=[])) == "parse policy: invalid JSON: pipelines must be an object"
    assert refused(b"null") == "unsupported policy version; hn.policy/0 is expected"


def test_a_field_given_twice_is_refused() -> None:
    data = policy().replace(b'"maintainers"', b'"maintainers": [], "maintainers"', 1)
    assert refused(data) == "parse policy: duplicate JSON field"


def test_the_case_of_keys_is_ignored_and_null_counts_as_absent() -> None:
    data = policy().replace(b"trustedActors", b"TRUSTEDACTOR\xc5\xbf").replace(b"version", b"Version")
    assert parse_policy(data).memory is not None
    assert parse_policy(policy(memory=None, pipelines=None)).memory is None
    assert refused(policy(maintainers=None)) == "policy requires at least one maintainer"


def test_the_version_is_hn_policy_0() -> None:
    for version in ("hn.policy/1", "", ..., None):
        assert refused(policy(version=version)) == "unsupported policy version; hn.policy/0 is expected"
    assert refused(policy(version=0)) == "parse policy: invalid JSON: version must be a string"


def test_there_is_a_maintainer_and_each_is_a_unique_actor() -> None:
    assert refused(policy(maintainers=[])) == "policy requires at least one maintainer"
    assert refused(policy(maintainers=[A, A])) == "maintainers contains a duplicate actor"
    for bad in ("x", A.upper(), None, A[1:]):
        assert refused(policy(maintainers=[bad])).startswith("maintainers contains an invalid actor")
    assert (
        refused(policy(maintainers=A)) == "parse policy: invalid JSON: maintainers must be a list of strings"
    )
    assert (
        refused(policy(maintainers=[1]))
        == "parse policy: invalid JSON: maintainers must be a list of strings"
    )


def test_required_approvals_are_0_to_64_and_no_more_than_reviewers() -> None:
    def approvals(count: Any, reviewers: list[str]) -> bytes:
        return policy(
            proposals={"requiredApprovals": count, "requiredAccepts": 1, "trustedReviewers": reviewers}
        )

    many = [f"{i:064x}" for i in range(65)]
    assert parse_policy(approvals(64, many)).proposals.required_approvals == 64
    for count in (-1, 65):
        assert refused(approvals(count, many)) == "requiredApprovals must be between 0 and 64"
    assert refused(approvals(1, [])) == "requiredApprovals exceeds the number of trusted reviewers"
    for bad in (1.0, True, "1", 2**63):
        message = "parse policy: invalid JSON: requiredApprovals must be an integer"
        assert refused(approvals(bad, many)) == message


def test_required_accepts_are_1_to_the_number_of_maintainers() -> None:
    message = "requiredAccepts must be between 1 and the number of maintainers"
    assert (
        parse_policy(policy(maintainers=[A, B], proposals={"requiredAccepts": 2})).proposals.required_accepts
        == 2
    )
    for count in (0, 2, None):
        assert refused(policy(proposals={"requiredAccepts": count})) == message
    assert refused(policy(proposals=...)) == message


def test_allow_author_approval_is_a_boolean() -> None:
    message = "parse policy: invalid JSON: allowAuthorApproval must be true or false"
    assert refused(policy(proposals={"requiredAccepts": 1, "allowAuthorApproval": 1})) == message


def test_a_pipeline_has_a_plain_name_and_a_reachable_count() -> None:
    def pipeline(results: int, runners: list[str], name: str = "test") -> bytes:
        return policy(pipelines={name: {"requiredResults": results, "trustedRunners": runners}})

    many = [f"{i:064x}" for i in range(65)]
    assert parse_policy(pipeline(64, many)).pipelines["test"].required_results == 64
    for count in (0, 65, -1):
        assert refused(pipeline(count, many)) == "pipeline requiredResults must be between 1 and 64"
    assert refused(pipeline(2, [A])) == "pipeline requiredResults exceeds its trusted runner count"
    assert refused(pipeline(1, [A, A])) == "pipeline trustedRunners contains a duplicate actor"
    for name in ("", "a/b", "a b", ".", "é", "x" * 129):
        assert refused(pipeline(1, [A], name)).startswith("policy has an invalid pipeline name")


@pytest.mark.parametrize("name", ["trustedActors", "trustedKinds"])
def test_both_lists_of_the_memory_section_are_required(name: str) -> None:
    section: dict[str, Any] = {"trustedActors": [], "trustedKinds": []}
    assert parse_policy(policy(memory=section)).memory is not None
    del section[name]
    assert refused(policy(memory=section)) == f"memory {name} is required"


def test_trusted_actors_are_sorted_unique_actors() -> None:
    def actors(*found: str) -> bytes:
        return policy(memory={"trustedActors": list(found), "trustedKinds": []})

    assert refused(actors(B, A)) == "memory trustedActors must be sorted"
    assert refused(actors(A, A)) == "memory trustedActors contains a duplicate actor"
    assert refused(actors("x")).startswith("memory trustedActors contains an invalid actor")


def test_trusted_kinds_are_sorted_unique_kinds() -> None:
    def kinds(*found: str) -> bytes:
        return policy(memory={"trustedActors": [], "trustedKinds": list(found)})

    assert refused(kinds("observation", "decision")) == "memory trustedKinds must be sorted"
    assert refused(kinds("decision", "decision")) == "memory trustedKinds contains a duplicate kind"
    assert refused(kinds("note")) == "memory trustedKinds contains an invalid kind"


def test_trust_is_judged_in_order_section_actor_kind() -> None:
    with_memory = parse_policy(policy())
    assert trust_class(None, A, "decision") == "policy-missing"
    assert trust_class(parse_policy(policy(memory=...)), A, "decision") == "policy-missing"
    assert trust_class(with_memory, B, "handoff") == "actor-untrusted"
    assert trust_class(with_memory, A, "handoff") == "kind-untrusted"
    assert trust_class(with_memory, A, "decision") == "qualified"


def test_a_refusal_never_repeats_what_the_policy_says() -> None:
    secret = "POLICY-TEXT-19c4"
    for data in (
        policy(version=secret),
        policy(maintainers=[secret]),
        policy(**{secret: 1}),
        policy(pipelines={"/" + secret: {}}),
        policy(memory={"trustedActors": [], "trustedKinds": [secret]}),
        policy().replace(b'"version"', f'"{secret}": 1, "{secret}": 1, "version"'.encode()),
    ):
        with pytest.raises(InvalidPolicy) as error:
            parse_policy(data)
        assert secret not in error.value.message + error.value.hint


@given(
    st.binary(max_size=60)
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(lambda v: json.dumps(v).encode())
)
@examples(100)
def test_untrusted_bytes_raise_nothing_but_the_librarys_own_error(data: bytes) -> None:
    with pytest.raises(HnError):
        parse_policy(data)
