"""``hn policy show`` and ``hn policy check``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ai_kb.hn.policy import MISSING_DIGEST
from tests.hn.fixture_repos import ALICE, all_refs, git, hn, restore

INVALID = b'{"version": "hn.policy/0", "maintainers": ["POLICY-TEXT"]}'


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with policies of several kinds on its branches."""
    return restore("repo-a", tmp_path_factory.mktemp("policy") / "work tree")


def test_show_tells_who_and_what_is_trusted_at_head(work: Path) -> None:
    result = hn(work, "policy", "show")
    lines = result.stdout.splitlines()
    assert (result.exit, result.stderr) == (0, "")
    assert lines[0] == "Commit: " + git(work, "rev-parse", "HEAD")
    assert lines[1].startswith("Policy digest: sha256:")
    assert f"Trusted actor: {ALICE}" in lines
    assert "Trusted kinds: attempt, decision, handoff, observation, verification" in lines


def test_show_as_json_states_the_whole_policy_and_the_digest_of_its_bytes(work: Path) -> None:
    result = hn(work, "policy", "show", "main", "--json")
    value = json.loads(result.stdout)
    assert value["policyDigest"].startswith("sha256:")
    assert set(value["policy"]) == {"version", "maintainers", "proposals", "pipelines", "memory"}
    # What is shown is itself a policy.
    shown = work / "shown.json"
    shown.write_text(json.dumps(value["policy"]))
    assert hn(work, "policy", "check", "--file", "shown.json").exit == 0
    shown.unlink()


def test_show_works_from_a_subdirectory_and_at_any_revision(work: Path) -> None:
    result = hn(work / "src", "policy", "show", "HEAD~1", "--json")
    assert json.loads(result.stdout)["commit"] == git(work, "rev-parse", "HEAD~1")


def test_where_there_is_no_policy_every_record_is_policy_missing(work: Path) -> None:
    result = hn(work, "policy", "show", "nopolicy")
    assert result.exit == 0
    assert f"Policy digest: {MISSING_DIGEST}\n" in result.stdout
    assert "policy-missing" in result.stdout
    value = json.loads(hn(work, "policy", "show", "nopolicy", "--json").stdout)
    assert (value["policyDigest"], value["policy"]) == (MISSING_DIGEST, None)
    checked = hn(work, "policy", "check", "--head", "nopolicy")
    assert (checked.exit, checked.stdout) == (1, "")
    assert checked.stderr.startswith("hn: there is no .hn/policy.json at commit ")


def test_a_policy_without_a_memory_section_says_so(work: Path) -> None:
    assert "Memory: no section" in hn(work, "policy", "show", "nomemory").stdout
    assert "memory" not in json.loads(hn(work, "policy", "show", "nomemory", "--json").stdout)["policy"]
    assert "no memory section" in hn(work, "policy", "check", "--head", "nomemory").stdout


def test_pipelines_and_reviewers_are_shown(repository: Path) -> None:
    bob = "b" * 64
    value = {
        "version": "hn.policy/0",
        "maintainers": [ALICE],
        "proposals": {
            "requiredApprovals": 1,
            "requiredAccepts": 1,
            "trustedReviewers": [bob],
            "allowAuthorApproval": True,
        },
        "pipelines": {"test": {"requiredResults": 1, "trustedRunners": [bob]}},
        "memory": {"trustedActors": [], "trustedKinds": []},
    }
    (repository / ".hn").mkdir()
    (repository / ".hn/policy.json").write_text(json.dumps(value))
    git(repository, "add", ".hn")
    git(repository, "commit", "-q", "-m", "Policy")
    lines = hn(repository, "policy", "show").stdout.splitlines()
    assert lines[2:] == [
        f"Maintainer: {ALICE}",
        "Trusted kinds: none",
        "Proposals: 1 approvals, 1 accepts, author approval allowed",
        f"Trusted reviewer: {bob}",
        "Pipeline test: 1 of 1 runners",
        f"Trusted runner: {bob}",
    ]


def test_check_says_which_rule_fails_and_repeats_nothing(work: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad policy.json"
    path.write_bytes(INVALID)
    result = hn(work, "policy", "check", "--file", str(path))
    assert (result.exit, result.stdout) == (1, "")
    assert (
        result.stderr == "hn: maintainers contains an invalid actor; 64 lowercase hex digits are expected\n"
    )
    for action in (["show", "badpolicy"], ["check", "--head", "badpolicy"]):
        result = hn(work, "policy", *action)
        assert (result.exit, result.stderr) == (
            1,
            "hn: unsupported policy version; hn.policy/0 is expected\n",
        )


def test_check_accepts_what_recall_will_read(work: Path) -> None:
    by_file = hn(work, "policy", "check", "--file", ".hn/policy.json", "--json")
    by_head = hn(work, "policy", "check", "--head", "HEAD", "--json")
    assert by_file.exit == by_head.exit == 0
    assert json.loads(by_file.stdout) == json.loads(by_head.stdout)
    assert json.loads(by_head.stdout)["valid"] is True
    assert hn(work, "policy", "check", "--head=HEAD").stdout.startswith("Policy is valid: sha256:")


def test_a_directory_in_the_place_of_the_policy_is_an_error(work: Path) -> None:
    for action in (["show", "policydir"], ["check", "--head", "policydir"]):
        result = hn(work, "policy", *action)
        assert result.exit == 1
        assert result.stderr.startswith("hn: inspect memory policy at commit ")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nothing.json", "no such file or directory"),
        ("a\0b", "it is no file name"),
        (".", "not a regular file"),
    ],
)
def test_a_policy_file_that_cannot_be_read_is_an_error(work: Path, name: str, reason: str) -> None:
    result = hn(work, "policy", "check", "--file", name)
    assert result.exit == 1
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_policy_file_over_the_limit_is_refused(work: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(b" " * (1 << 21))
    result = hn(work, "policy", "check", "--file", str(path))
    assert (result.exit, result.stderr) == (1, "hn: policy exceeds 1048576 bytes\n")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["show", "HEAD", "x"],
        ["show", "--file", "x"],
        ["check"],
        ["check", "HEAD"],
        ["check", "--file", "x", "--head", "HEAD"],
        ["show", "--bogus"],
    ],
)
def test_a_wrong_command_line_is_a_usage_error(work: Path, words: list[str]) -> None:
    result = hn(work, "policy", *words)
    assert result.exit == 2
    assert result.stderr.splitlines()[-1].startswith("hn: ")


def test_an_unknown_word_or_revision_is_an_error(work: Path) -> None:
    assert hn(work, "policy", "edit").exit == 1
    assert hn(work, "policy", "show", "nope").stderr == 'hn: Git revision "nope" is not a commit\n'
    assert hn(work, "policy", "check", "--head=-x").stderr == 'hn: invalid revision "-x"\n'


def test_help_teaches_with_examples(work: Path) -> None:
    result = hn(work, "policy", "--help")
    assert result.exit == 0
    assert "hn policy check --file .hn/policy.json" in result.stdout


def test_showing_and_checking_change_nothing(work: Path) -> None:
    before = all_refs(work), git(work, "status", "--porcelain")
    hn(work, "policy", "show")
    hn(work, "policy", "check", "--head", "HEAD")
    assert (all_refs(work), git(work, "status", "--porcelain")) == before
