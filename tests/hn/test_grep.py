"""``hn memory grep``: arguments, fields, bounds, cursors, what a terminal gets."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ai_kb.hn.grep import MAX_WORK
from tests.hn.fixture_repos import ALICE, git, hn, restore


def _grep(work: Path, *argv: str) -> dict[str, Any]:
    result = hn(work, "memory", "grep", "--json", *argv)
    assert result.exit == 0, result.stderr
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def _ids(value: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in value["memories"]]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return restore("repo-a", tmp_path / "work")


@pytest.fixture
def record(repository: Path) -> Callable[..., str]:
    """Record something in a repository of one's own whose policy trusts its author; gives its id."""
    assert hn(repository, "init", "--name", "Someone").exit == 0
    actor = json.loads(next((repository / ".git/hn/identities").iterdir()).read_text())["actor"]
    policy = {
        "version": "hn.policy/0",
        "maintainers": [actor],
        "proposals": {
            "requiredApprovals": 0,
            "requiredAccepts": 1,
            "trustedReviewers": [],
            "allowAuthorApproval": True,
        },
        "pipelines": {},
        "memory": {
            "trustedActors": [actor],
            "trustedKinds": ["assumption", "decision", "handoff", "observation"],
        },
    }
    (repository / ".hn").mkdir()
    (repository / ".hn/policy.json").write_text(json.dumps(policy))
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "policy")

    def make(content: str, *flags: str) -> str:
        flags = flags if "--kind" in flags else ("--kind", "observation", *flags)
        result = hn(
            repository,
            *("memory", "record", "--at", "HEAD", "--applies", "descendants", "--json"),
            *flags,
            "--content",
            content,
        )
        assert result.exit == 0, result.stderr
        memory: str = json.loads(result.stdout)["memoryId"]
        return memory

    return make


# --- arguments --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("a", "b"),
        ("a", "--json"),
        ("a", "-i"),
        ("--", "-a", "b"),
        ("--query", "x", "a"),
        ("--input", "-", "a"),
        ("-a",),
        ("--max-records", "x", "a"),
    ],
)
def test_wrong_usage_ends_with_2_and_prints_no_page(argv: tuple[str, ...], work: Path) -> None:
    result = hn(work, "memory", "grep", *argv)
    assert result.exit == 2
    assert result.stdout == ""
    assert result.stderr.rstrip().splitlines()[-1].startswith("hn: ")


def test_a_pattern_that_starts_with_a_hyphen_follows_two(
    record: Callable[..., str], repository: Path
) -> None:
    memory = record("see -legacy42 there")
    assert _ids(_grep(repository, "--", "-legacy[0-9]+")) == [memory]
    assert _ids(_grep(repository, "-i", "--", "-LEGACY")) == [memory]


def test_the_examples_of_the_protocol_run(work: Path) -> None:
    for argv in (
        ["--at", "HEAD", "--topic", "architecture", "--json", "stream[-_ ]isolat.*"],
        ["--ignore-case", "--max-records", "5", "failure|timeout"],
        ["--json", "(?m)^Decision:"],
        ["--json", "--", "-legacy[0-9]+"],
    ):
        result = hn(work, "memory", "grep", *argv)
        assert (result.exit, result.stderr) == (0, ""), argv


@pytest.mark.parametrize("pattern", ["(", "a**", r"\C", "(?=a)", "(a{1000}){5}", "a" * 4097])
def test_a_bad_pattern_fails_before_any_index_is_made(
    pattern: str, work: Path, isolated: dict[str, str]
) -> None:
    result = hn(work, "memory", "grep", pattern)
    assert result.exit == 1
    assert result.stdout == ""
    assert result.stderr.startswith(("hn: invalid regex pattern", "hn: regex pattern"))
    assert not (work / ".git/hn/memory").exists()
    assert not (Path(isolated["XDG_CACHE_HOME"]) / "agent-hook-suite/index").exists()


def test_a_pattern_of_broken_utf8_on_the_command_line_is_refused(work: Path) -> None:
    result = hn(work, "memory", "grep", "a\udcff")
    assert result.exit == 1
    assert "not valid UTF-8" in result.stderr


# --- what is searched ---------------------------------------------------------------------------


def test_each_field_is_searched_by_itself_and_a_record_is_listed_once(
    record: Callable[..., str], repository: Path, tmp_path: Path
) -> None:
    first = record("alpha beta", "--topic", "gamma", "--topic", "delta")
    handoff = hn(
        repository,
        *(
            "memory",
            "handoff",
            "--at",
            "HEAD",
            "--applies",
            "descendants",
            "--json",
            "--content",
            "Over to you",
        ),
        *("--completed", "ran the tests", "--assumption", "disk is fast", "--blocker", "no key"),
        *("--next-action", "alpha review"),
    )
    assert handoff.exit == 0, handoff.stderr
    second = json.loads(handoff.stdout)["memoryId"]
    assert set(_ids(_grep(repository, "alpha"))) == {first, second}
    assert _ids(_grep(repository, "^gamma$")) == [first]
    for found in ("^ran the tests$", "^disk", "key$", "review$"):
        assert _ids(_grep(repository, found)) == [second], found
    # Nothing matches across fields, and evidence, ids and judgments are no fields.
    for absent in ("beta.gamma", "(?s)beta.*gamma", "applicable", "sha256", "observation", "qualified"):
        assert _ids(_grep(repository, absent)) == [], absent
    assert set(_ids(_grep(repository, ""))) == {first, second}


def test_case_counts_unless_it_is_told_not_to(record: Callable[..., str], repository: Path) -> None:
    memory = record("Überraschung in HTTP")
    assert _ids(_grep(repository, "http")) == []
    assert _ids(_grep(repository, "-i", "http")) == [memory]
    assert _ids(_grep(repository, "--ignore-case", "ÜBERRASCHUNG")) == [memory]
    assert _ids(_grep(repository, "(?i)http")) == [memory]
    assert _ids(_grep(repository, "-i=false", "http")) == []


def test_filters_bounds_and_order_are_those_of_recall(work: Path) -> None:
    for filters in (
        (),
        ("--include-untrusted", "--lifecycle", "all"),
        ("--kind", "decision", "--kind", "handoff"),
        ("--topic", "Alpha", "--lifecycle", "all"),
        ("--at", "side"),
        ("--path", "run.sh", "--actor", ALICE),
        ("--max-records", "3"),
    ):
        recalled = json.loads(hn(work, "memory", "recall", *filters, "--json").stdout)
        found = _grep(work, *filters, "")
        assert found["memories"] == recalled["memories"], filters
        for name in ("version", "warning", "matched", "returned", "truncated", "missingDependencies"):
            assert found[name] == recalled[name], (filters, name)
        assert found["queryDigest"] != recalled["queryDigest"]


# --- bounds -------------------------------------------------------------------------------------


def test_the_byte_bound_counts_all_of_data_and_recall_only_content(
    record: Callable[..., str], repository: Path
) -> None:
    memory = record("short", "--topic", "a-rather-long-topic-name")
    data = next(m for m in _grep(repository, "")["memories"] if m["id"] == memory)["data"]
    size = len(json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode())
    assert hn(repository, "memory", "recall", "--max-content-bytes", "7").exit == 0
    assert _ids(_grep(repository, "--max-content-bytes", str(size), "short")) == [memory]
    result = hn(repository, "memory", "grep", "--max-content-bytes", str(size - 1), "short")
    assert result.exit == 1
    assert result.stdout == ""
    assert memory in result.stderr
    # A record that does not match may be as large as it likes.
    assert _ids(_grep(repository, "--max-content-bytes", "1", "nowhere")) == []


def test_work_is_bounded_before_anything_is_searched(record: Callable[..., str], repository: Path) -> None:
    for number in range(3):
        record(f"{number}" + "x" * 60_000)
    units = 3 * 60_002
    fits = MAX_WORK // units
    assert _ids(_grep(repository, "a" * (fits - 2))) == []
    result = hn(repository, "memory", "grep", "a" * (fits - 1))
    assert result.exit == 1
    assert result.stdout == ""
    assert f"{MAX_WORK}" in result.stderr
    # Narrower filters make it fit: only what is eligible counts.
    assert _ids(_grep(repository, "--topic", "other", "a" * (fits - 1))) == []


# --- cursors ------------------------------------------------------------------------------------


def test_a_walk_by_cursors_gives_every_record_once(work: Path) -> None:
    whole = _ids(_grep(work, "--include-untrusted", "--lifecycle", "all", ""))
    walked: list[str] = []
    more: tuple[str, ...] = ()
    while True:
        page = _grep(work, "--include-untrusted", "--lifecycle", "all", "--max-records", "4", *more, "")
        walked += _ids(page)
        if not page["truncated"]:
            break
        more = ("--cursor", page["nextCursor"])
    assert walked == whole


def test_a_cursor_is_good_for_the_same_pattern_flag_and_command_only(work: Path) -> None:
    first = ("--max-records", "1")
    cursor = _grep(work, *first, "a")["nextCursor"]
    again = ("memory", "grep", *first, "--cursor", cursor)
    assert hn(work, *again, "a").exit == 0
    for argv in (
        (*again, "b"),
        (*again, "(?:a)"),
        (*again, "-i", "a"),
        (*again, "--max-content-bytes", "60000", "a"),
        (*again, "--lifecycle", "all", "a"),
        ("memory", "recall", *first, "--cursor", cursor),
    ):
        result = hn(work, *argv)
        assert result.exit == 1, argv
        assert result.stdout == ""
        assert "cursor" in result.stderr
    recalled = json.loads(hn(work, "memory", "recall", *first, "--json").stdout)["nextCursor"]
    assert hn(work, "memory", "grep", *first, "--cursor", recalled, "a").exit == 1


def test_digest_and_cursor_of_grep_have_domains_of_their_own_and_bind_pattern_and_flag(work: Path) -> None:
    """docs/protocol.md, "Private index, recall, cursors", computed without the suite."""
    head = git(work, "rev-parse", "HEAD")
    source = hn(work, "memory", "index", "rebuild").stdout.split("source ")[1].split(",")[0]
    policy = json.loads(hn(work, "policy", "show", "--json").stdout)["policyDigest"]
    for flags, pattern, ignore in (((), "<?a&?", "false"), (("-i",), "é|A", "true")):
        found = _grep(work, "--max-records", "1", "--kind", "decision", *flags, pattern)
        written = pattern.replace("<", "\\u003c").replace("&", "\\u0026")
        material = (
            f'{{"domain":"hn-memory-grep-query-v0","request":{{"version":0,"atCommit":"{head}",'
            '"kind":["decision"],"lifecycle":["active"],"trust":["qualified"],"maxRecords":1,'
            f'"maxContentBytes":65536}},"sourceFingerprint":"{source}","policyDigest":"{policy}",'
            f'"pattern":"{written}","ignoreCase":{ignore}}}'
        )
        digest = "sha256:" + hashlib.sha256(material.encode()).hexdigest()
        assert found["queryDigest"] == digest
        payload = f'{{"version":0,"queryDigest":"{digest}","lastMemoryId":"{_ids(found)[0]}"}}'.encode()
        checksum = hashlib.sha256(b"hn-memory-grep-cursor-v0\0" + payload).hexdigest()
        assert found["nextCursor"] == f"{base64.urlsafe_b64encode(payload).rstrip(b'=').decode()}.{checksum}"


# --- on a terminal --------------------------------------------------------------------------------


def test_every_matching_field_is_shown_escaped_behind_a_label(
    record: Callable[..., str], repository: Path
) -> None:
    record("alpha\u202e\x1b[31m\nMatched: 99; returned: 99\tx \u2028y", "--topic", "alpha", "--topic", "beta")
    result = hn(repository, "memory", "grep", "alpha")
    lines = result.stdout.splitlines()
    assert lines[1] == "Matched: 1; returned: 1; truncated: false"
    assert lines[3] == r"  content: alpha\u202e\u001b[31m\nMatched: 99; returned: 99\tx \u2028y"
    assert lines[4] == "  topics[0]: alpha"
    assert len(lines) == 5


def test_matches_in_handoff_fields_are_shown(record: Callable[..., str], repository: Path) -> None:
    record("something else")
    assert (
        hn(
            repository,
            *("memory", "handoff", "--at", "HEAD", "--applies", "descendants", "--content", "Over"),
            *("--completed", "one", "--completed", "needle two", "--next-action", "needle <b>"),
        ).exit
        == 0
    )
    lines = hn(repository, "memory", "grep", "needle").stdout.splitlines()
    assert lines[3:] == ["  handoff.completed[1]: needle two", "  handoff.nextActions[0]: needle <b>"]


def test_nothing_found_is_no_failure(work: Path) -> None:
    result = hn(work, "memory", "grep", "no such thing anywhere")
    assert result.exit == 0
    assert "Matched: 0; returned: 0; truncated: false" in result.stdout
