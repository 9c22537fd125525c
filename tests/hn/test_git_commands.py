"""The command line: refusals as recorded, usage, flags, machine input, results."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.hn.fixture_repos import ALICE, Run, all_refs, git, give_identity, hn, load, restore, runs

OURS = ("init", "identity", "record", "handoff", "supersede", "retract", "challenge", "show")
# Exit codes that differ on purpose: 2 for usage and flag errors.
USAGE_ERRORS = {0, 5, 6, 10, 11, 12, 28, 45, 69, 71, 72, 74, 75, 76, 79, 80, 82, 84}
HELP = {14, 15, 16}
# The text belongs to the decoder of JSON, or lists verbs that differ.
OTHER_TEXT = {0, 6, 9, 49, 57, 64}


def _mine(run: Run) -> bool:
    words = run.argv
    return bool(words) and (words[0] in OURS or (words[0] == "memory" and (words[1:] or ["show"])[0] in OURS))


REFUSED = [run for run in runs(load("repo-a.failures")) if _mine(run)]


@pytest.fixture(scope="module")
def shared_repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """repo-a; the tests that share it may change nothing in it."""
    return restore("repo-a", tmp_path_factory.mktemp("a") / "work")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return restore("repo-a", tmp_path / "work")


@pytest.mark.parametrize("run", REFUSED, ids=lambda run: f"{run.number}-{'-'.join(run.argv)[:40]}")
def test_recorded_command_lines_are_refused_as_recorded(run: Run, shared_repo: Path) -> None:
    before = all_refs(shared_repo)
    result = hn(shared_repo, *run.argv, stdin=run.stdin)
    if run.number in HELP:
        assert result.exit == 0
        assert result.stderr == ""
        assert "--json" in result.stdout
    else:
        assert result.exit == (2 if run.number in USAGE_ERRORS else run.exit)
        assert result.stdout == run.stdout
        if run.number in OTHER_TEXT:
            assert result.stderr.startswith("hn: ") or run.exit == 0
        else:
            assert result.stderr == run.stderr.replace("<REPO>", str(shared_repo))
    assert all_refs(shared_repo) == before


def test_there_are_many_recorded_refusals() -> None:
    assert len(REFUSED) == 82


def test_no_arguments_and_help_print_the_commands() -> None:
    for argv in ((), ("help",), ("-h",), ("--help",), ("memory", "--help")):
        result = hn("/", *argv)
        assert result.exit == 0
        assert "hn memory record" in result.stdout
    assert hn("/", "version").stdout.strip()


def test_every_verb_has_help_with_an_example(shared_repo: Path) -> None:
    for words in (
        ("init",),
        ("identity",),
        *(("memory", verb) for verb in OURS[2:]),
    ):
        result = hn(shared_repo, *words, "--help")
        assert result.exit == 0
        assert "examples:" in result.stdout, words


def test_completion_knows_every_verb_and_flag() -> None:
    for shell in ("bash", "zsh"):
        result = hn("/", "--print-completion", shell)
        assert result.exit == 0
        for word in ("supersede", "--applies", "replication", "grep", "--reason"):
            assert word in result.stdout, word


def test_an_unknown_command_is_named_and_refused(shared_repo: Path) -> None:
    assert hn(shared_repo, "bogus").exit == 1
    assert 'unknown command "bogus"' in hn(shared_repo, "bogus").stderr
    assert 'unknown memory command "bog\\u001bus"' in hn(shared_repo, "memory", "bog\x1bus").stderr
    assert 'unknown identity command "x"' in hn(shared_repo, "identity", "x").stderr


def test_outside_a_repository_every_verb_says_so(tmp_path: Path) -> None:
    for argv in (("init",), ("identity", "show"), ("memory", "show", "a" * 64)):
        result = hn(tmp_path, *argv)
        assert result.exit == 1
        assert result.stderr.startswith("hn: not inside a Git repository (run this"), result.stderr
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    assert (
        "hn: not inside a Git repository: fatal: not a git repository: /nowhere ("
        in hn(tmp_path, "init").stderr
    )


def _record(work: Path, *more: str, **options: Any) -> dict[str, Any]:
    result = hn(
        work,
        "memory",
        "record",
        "--kind",
        "observation",
        "--at",
        "HEAD",
        "--applies",
        "exact",
        "--json",
        *more,
        **options,
    )
    assert result.exit == 0, result.stderr
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def test_flags_take_one_dash_or_two_and_values_that_start_with_one(work: Path) -> None:
    made = _record(work, "-content=--dashes", "-topic", "-minus", "--topic=x")
    shown = json.loads(hn(work, "memory", "show", "-json=true", made["memoryId"]).stdout)
    assert shown["projection"]["data"]["content"] == "--dashes"
    assert shown["projection"]["data"]["topics"] == ["-minus", "x"]


def test_flags_stand_before_or_after_the_memory(work: Path) -> None:
    made = _record(work, "--content", "x")["memoryId"]
    after = hn(work, "memory", "show", made, "--json")
    assert hn(work, "memory", "show", "--json", made) == after
    assert hn(work, "memory", "show", "--json", "--", made) == after
    assert hn(work, "memory", "retract", "--reason", "a", made, "--json").exit == 0
    assert hn(work, "memory", "retract", made, "--json", "--reason", "b").exit == 0


def test_content_may_be_positional_before_or_after_the_flags(work: Path) -> None:
    flags = ("--kind", "decision", "--at", "HEAD", "--applies", "exact", "--json")
    for argv in ((*flags, "said"), ("said", *flags), (*flags, "--", "said")):
        result = hn(work, "memory", "record", *argv)
        assert result.exit == 0, result.stderr
        shown = hn(work, "memory", "show", json.loads(result.stdout)["memoryId"], "--json").stdout
        assert json.loads(shown)["projection"]["data"]["content"] == "said"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--json=maybe",), 'invalid boolean value "maybe" for -json: parse error'),
        (("--=x",), "bad flag syntax: --=x"),
        (("---x",), "bad flag syntax: ---x"),
        (("-nope=1",), "flag provided but not defined: -nope"),
        (("x", "--reason"), "flag needs an argument: -reason"),
    ],
)
def test_wrong_flags_end_with_2_and_list_the_flags(
    argv: tuple[str, ...], message: str, shared_repo: Path
) -> None:
    result = hn(shared_repo, "memory", "retract", *argv)
    assert result.exit == 2
    assert result.stderr.startswith(f"{message}\nUsage of memory retract:\n  -evidence value\n")
    assert result.stderr.endswith(f"hn: {message}\n")


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("--a\x1b[31m\u202e", "flag provided but not defined: -a\\u001b[31m\\u202e"),
        ("--a\nb=1", "flag provided but not defined: -a\\nb"),
        ("---\udcff", "bad flag syntax: ---\\udcff"),
    ],
)
def test_a_wrong_flag_is_repeated_escaped_in_both_places(word: str, shown: str, shared_repo: Path) -> None:
    result = hn(shared_repo, "memory", "retract", word)
    assert result.exit == 2
    assert result.stderr.startswith(f"{shown}\nUsage of memory retract:\n")
    assert result.stderr.endswith(f"hn: {shown}\n")


def test_text_results_name_memory_stream_actor_and_anchor(work: Path) -> None:
    head = git(work, "rev-parse", "HEAD")
    flags = ("--kind", "decision", "--at", "HEAD", "--applies", "exact", "--content", "x")
    lines = hn(work, "memory", "record", *flags).stdout.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["Memory", "Stream", "Actor", "Anchor"]
    assert lines[3] == f"Anchor: {head}"
    made = lines[0].removeprefix("Memory: ")
    retracted = hn(work, "memory", "retract", made, "--reason", "wrong").stdout.splitlines()
    assert [line.split(": ")[0] for line in retracted] == ["Memory", "Stream", "Actor"]


def _request(work: Path, **fields: Any) -> dict[str, Any]:
    return {
        "version": 0,
        "kind": "handoff",
        "content": "Stream work",
        "topics": [],
        "evidence": [],
        "handoff": {"completed": ["a"], "assumptions": [], "blockers": [], "nextActions": ["b"]},
        **fields,
    }


def test_handoff_input_takes_anchor_and_applicability_from_flags(work: Path) -> None:
    (work / "handoff.json").write_text(json.dumps(_request(work)))
    argv = (
        "memory",
        "handoff",
        "--at",
        "HEAD",
        "--applies",
        "descendants",
        "--input",
        "handoff.json",
        "--json",
    )
    result = hn(work, *argv)
    assert result.exit == 0, result.stderr
    made = json.loads(result.stdout)
    assert made["anchor"] == {"commit": git(work, "rev-parse", "HEAD")}
    shown = json.loads(hn(work, "memory", "show", made["memoryId"], "--json").stdout)
    assert shown["projection"]["data"]["handoff"]["nextActions"] == ["b"]
    # The same said twice is no conflict; something else is one.
    same = _request(work, anchor=made["anchor"], applicability={"mode": "descendants"})
    assert hn(work, *argv[:-2], "-", "--json", stdin=json.dumps(same).encode()).exit == 0
    other = _request(work, anchor={"commit": git(work, "rev-parse", "HEAD~1")})
    refused = hn(work, *argv[:-2], "-", "--json", stdin=json.dumps(other).encode())
    assert refused.stderr == "hn: handoff input field anchor.commit conflicts with --at\n"


def test_handoff_by_flags_keeps_its_four_lists(work: Path) -> None:
    flags = ("--at", "HEAD", "--applies", "exact", "--completed", "c", "--assumption", "a", "--json")
    result = hn(work, "memory", "handoff", *flags, "--blocker", "b", "--next-action", "n", "--content", "x")
    made = json.loads(result.stdout)["memoryId"]
    data = json.loads(hn(work, "memory", "show", made, "--json").stdout)["projection"]["data"]
    assert data["handoff"] == {
        "completed": ["c"],
        "assumptions": ["a"],
        "blockers": ["b"],
        "nextActions": ["n"],
    }
    refused = hn(work, "memory", "handoff", "--kind", "decision", *flags, "--content", "x")
    assert refused.stderr == "hn: handoff field kind must be handoff\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"handoff": {"completed": []}}, "memory handoff list is missing or exceeds limit"),
        ({"handoff": None}, "memory handoff fields are invalid"),
        ({"content": " "}, "memory record content is invalid"),
        ({"anchor": {"paths": [{"path": "src", "blob": "absent"}]}}, "inspect anchor.paths for"),
        ({"anchor": {"paths": {}}}, "record input: invalid JSON: anchor.paths must be a list"),
        ({"anchor": {"paths": [{"path": "README.md", "blob": "absent"}]}}, "anchor.paths blob for README.md"),
        ({"actor": "0" * 64}, "record input actor does not match the active identity"),
        ({"stream": "0" * 64}, "invalid memory stream"),
        ({"transcript": "x"}, 'record input: invalid JSON: unknown field "transcript"'),
    ],
)
def test_machine_requests_are_refused_before_anything_is_written(
    change: dict[str, Any], message: str, shared_repo: Path
) -> None:
    before = all_refs(shared_repo)
    argv = ("memory", "handoff", "--at", "HEAD", "--applies", "exact", "--input", "-", "--json")
    result = hn(shared_repo, *argv, stdin=json.dumps(_request(shared_repo, **change)).encode())
    assert result.exit == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"hn: {message}")
    assert all_refs(shared_repo) == before


def test_a_machine_request_may_name_stream_and_actor(work: Path) -> None:
    stream = "sha256:" + "7" * 64
    head = git(work, "rev-parse", "HEAD")
    request = _request(
        work, anchor={"commit": head}, applicability={"mode": "exact"}, stream=stream, actor=ALICE
    )
    result = hn(work, "memory", "record", "--input", "-", "--json", stdin=json.dumps(request).encode())
    assert json.loads(result.stdout)["stream"] == stream
    assert f"refs/hn/memory/{ALICE}/{'7' * 64}" in all_refs(work)


def test_input_is_read_from_regular_files_only(work: Path) -> None:
    fifo = work / "pipe"
    os.mkfifo(fifo)
    for name, message in (("pipe", "explicit input must be a regular file"), ("no\nfile", "stat no file")):
        result = hn(work, "memory", "record", "--input", name, "--json")
        assert result.exit == 1
        assert message in result.stderr
    (work / "locked.json").write_text("{}")
    assert hn(work, "memory", "record", "--input", "a\0b", "--json").exit == 1


def test_supersede_and_challenge_mind_whose_record_it_is(work: Path, tmp_path: Path) -> None:
    other = restore("repo-b-bob", tmp_path / "bob")
    data = load("repo-b-bob.expected")["memories"]
    flags = ("--kind", "decision", "--at", "HEAD", "--applies", "exact", "--content", "x")
    refused = hn(other, "memory", "supersede", data["a1"], *flags)
    assert refused.stderr == f"hn: only the target author may supersede memory {data['a1']}\n"
    refused = hn(other, "memory", "retract", data["a1"], "--reason", "x")
    assert refused.stderr == f"hn: only the target author may retract memory {data['a1']}\n"
    head = git(other, "rev-parse", "HEAD")
    assert (
        hn(other, "memory", "challenge", data["a1"], "--reason", "wrong", "--evidence", f"git:{head}").exit
        == 0
    )
    missing = "sha256:" + "0" * 64
    for target in (missing, data["b1"][7:], "x"):
        refused = hn(other, "memory", "retract", target, "--reason", "x")
        assert refused.stderr == f"hn: memory {target} was not found in verified local or accepted streams\n"


def test_a_prefix_of_an_id_must_be_unique(work: Path) -> None:
    seen: dict[str, str] = {}
    collection = [run for run in runs(load("repo-a.expected")) if run.argv[:2] == ["memory", "show"]]
    for run in collection:
        if run.exit == 0:
            seen[run.argv[2][7:15]] = run.argv[2]
    for digits, full in seen.items():
        assert hn(work, "memory", "show", digits) == hn(work, "memory", "show", full)
        assert hn(work, "memory", "show", f"sha256:{digits}").exit == 0


def test_records_go_to_the_bytes_of_the_path_and_not_to_a_pathspec(tmp_path: Path) -> None:
    """docs/protocol.md, "Where this differs from the first implementation", 5."""
    work = restore("repo-c", tmp_path / "work")
    for number, observed in enumerate(load("side-observations")["paths"]):
        result = hn(
            work,
            *("memory", "record", "--kind", "observation", "--at", "HEAD", "--applies", "exact"),
            *("--content", "x", "--path", observed["path"], "--blob", observed["blob"]),
        )
        magic = number in (0, 1, 5)
        assert result.exit == (1 - observed["exit"] if magic else observed["exit"]), observed
        if not magic:
            assert result.stderr == observed["stderr"]


def test_identity_names_behave_as_recorded_but_for_those_git_refuses(tmp_path: Path) -> None:
    for number, observed in enumerate(load("side-observations")["names"]):
        name = observed["name"]
        if isinstance(name, dict):
            name = "a" * 300
        work = tmp_path / str(number)
        git(tmp_path, "init", "-q", str(number))
        git(work, "config", "user.name", "anonymous")
        git(work, "commit", "-q", "--allow-empty", "-m", "x")
        made = hn(work, "init", "--name", name)
        if name in (".", "<>"):
            assert made.exit == 1
            assert "does not accept" in made.stderr
            assert not (work / ".git" / "hn").exists()
            continue
        assert made.exit == observed["init_exit"]
        flags = ("--kind", "observation", "--at", "HEAD", "--applies", "exact", "--content", "x")
        recorded = hn(work, "memory", "record", *flags)
        assert (recorded.exit, recorded.stderr) == (observed["record_exit"], observed["record_stderr"])
        if "git_author_name" in observed:
            (head,) = all_refs(work, "refs/hn/memory").values()
            assert git(work, "log", "-1", "--format=%an", head) == observed["git_author_name"]


def test_init_takes_the_name_of_git_and_says_where_the_key_is(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "w")
    work = tmp_path / "w"
    result = hn(work, "init")
    assert result.exit == 0
    assert result.stdout.startswith("Created identity Test Person (")
    path = Path(result.stdout.splitlines()[1].removeprefix("Private identity stored in "))
    assert path.stat().st_mode & 0o7777 == 0o600
    again = hn(work, "init")
    assert again.exit == 1
    assert again.stderr == f"hn: identity already exists at {path}\n"
    assert "privateKey" not in result.stdout


def test_without_an_identity_nothing_can_be_signed(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "w")
    work = tmp_path / "w"
    git(work, "commit", "-q", "--allow-empty", "-m", "x")
    flags = ("--kind", "observation", "--at", "HEAD", "--applies", "exact", "--content", "x")
    for argv in (("memory", "record", *flags), ("identity", "show"), ("identity", "public")):
        result = hn(work, *argv)
        assert result.exit == 1
        assert "no active identity" in result.stderr
    assert all_refs(work, "refs/hn") == {}
    give_identity(work / ".git", "alice")
    assert hn(work, "memory", "record", *flags).exit == 0


def test_show_replaces_what_could_act_on_a_terminal(work: Path) -> None:
    made = _record(work, "--content", "a\x1b[31mred\x07\nb\tc\u202egnp")["memoryId"]
    shown = hn(work, "memory", "show", made).stdout
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert "a\ufffd[31mred\ufffd\nb\tc\ufffdgnp" in shown
