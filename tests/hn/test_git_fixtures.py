"""Recorded repositories are read with exactly the recorded output, and built with exactly the same ids."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ai_kb.hn.envelope import Record, read_record
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.identity import Keyring
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.streams import append
from tests.hn.fixture_repos import FIXTURES, all_refs, git, give_identity, hn, load, moment, restore, runs

REPOSITORIES = ("repo-a", "repo-b-alice", "repo-b-bob", "repo-c")
# Recorded runs that are not to be reproduced: see tests/data/fixtures/README.md.
FROM_A_SUBDIRECTORY = {"repo-a": {118, 156}}
USAGE = {"repo-a": {153, 154}}


@pytest.fixture(params=REPOSITORIES)
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    return request.param, restore(request.param, tmp_path / "work")


@pytest.mark.usefixtures("isolated")
def test_show_prints_exactly_what_was_recorded(recorded: tuple[str, Path]) -> None:
    name, work = recorded
    shown = 0
    for run in runs(load(f"{name}.expected")):
        if run.argv[:2] != ["memory", "show"] or run.number in FROM_A_SUBDIRECTORY.get(name, ()):
            continue
        result = hn(work / run.cwd, *run.argv)
        expected = 2 if run.number in USAGE.get(name, ()) else run.exit
        assert result == (expected, run.stdout, run.stderr), run.number
        shown += 1
    assert shown == {"repo-a": 36, "repo-b-alice": 9, "repo-b-bob": 9, "repo-c": 4}[name]


def test_show_works_in_a_subdirectory_as_at_the_root(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    for run in runs(load("repo-a.expected")):
        if run.argv[:2] == ["memory", "show"] and run.exit == 0:
            assert hn(work / "src", *run.argv).stdout == run.stdout


def test_show_prints_the_same_without_and_with_what_is_remembered(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    argv = next(run.argv for run in runs(load("repo-a.expected")) if run.argv[:2] == ["memory", "show"])
    first = hn(work, *argv)
    assert hn(work, *argv) == first
    unwritable = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": "/dev/null", "HOME": "/"}
    assert hn(work, *argv, env=unwritable) == first


def _strip_memory(work: Path) -> None:
    for ref in all_refs(work, "refs/hn/memory"):
        git(work, "update-ref", "-d", ref)


def _record(value: dict[str, object] | None) -> Record | None:
    return None if value is None else read_record(value)


def test_a_replay_of_repo_a_gives_the_same_ids_commits_and_refs(tmp_path: Path) -> None:
    work = restore("repo-a", tmp_path / "work")
    _strip_memory(work)
    data = load("repo-a.build")
    replayed = {run.number: run for run in runs(data, "steps")}
    for number, step in enumerate(data["steps"]):
        if number == 0:
            continue  # an event of the collaboration protocol, which is read and not written
        if number in replayed:
            run = replayed[number]
            result = hn(work, *run.argv, stdin=run.stdin, now=step["now"])
            assert result == (run.exit, run.stdout, run.stderr), number
        else:
            repo = Repository.open(str(work), os.environ)
            with repo.objects() as reader, PrefixStore.open(repo) as prefixes:
                for envelope, expected in zip(step["envelopes"], step["results"], strict=True):
                    appended = append(
                        repo,
                        reader,
                        Keyring.of(repo).active(),
                        operation=envelope["operation"],
                        now=moment(step["now"]),
                        record=_record(envelope.get("record")),
                        target=envelope.get("target", ""),
                        reason=envelope.get("reason", ""),
                        evidence=envelope.get("evidence", ()),
                        prefixes=prefixes,
                    )
                    assert appended.id == expected["memoryId"], number
        assert all_refs(work, "refs/hn") == step["refs_after"], number


def test_a_replay_of_repo_c_gives_the_same_ids_commits_and_refs(tmp_path: Path) -> None:
    work = restore("repo-c", tmp_path / "work")
    _strip_memory(work)
    for run in runs(load("repo-c.expected"), "build"):
        assert hn(work, *run.argv, now=run.data["now"])[:2] == (0, run.stdout)
        assert all_refs(work, "refs/hn") == run.data["refs_after"]


def test_the_memory_commands_of_two_actors_replay_with_the_same_ids(tmp_path: Path) -> None:
    """Alice's and Bob's records, challenge and refusals; what ``sync`` would bring is fetched by git."""
    data = load("sync-two-actors")
    seed = FIXTURES / "sync-two-actors-seed.bundle"
    clones: dict[str, Path] = {}
    for person in ("alice", "bob", "carol"):
        work = tmp_path / person
        git(tmp_path, "init", "-q", "-b", "main", person)
        git(work, "fetch", "-q", str(seed), "refs/*:refs/*", "--update-head-ok")
        git(work, "reset", "-q", "--hard", "main")
        give_identity(work / ".git", person)
        clones[person] = work
    replayed = 0
    for run in runs(data, "steps"):
        work = clones[run.data["who"]]
        if run.argv[0] == "memory" and run.argv[1] in {"record", "supersede", "retract", "challenge"}:
            if run.exit == 0 and "now" not in run.data:
                continue
            result = hn(work, *run.argv, now=run.data.get("now"))
            assert result == (run.exit, run.stdout, run.stderr), run.number
            replayed += 1
        for ref, head in run.data.get("refs_after", {}).items():
            if all_refs(work).get(ref) != head:
                _bring(clones, work, ref, head)
    assert replayed > 8


def _bring(clones: dict[str, Path], work: Path, ref: str, head: str) -> None:
    """Put ``head``, which another clone made, under ``ref``: what a sync did at this step."""
    local = "refs/hn/memory/" + ref.split("/memory/")[1]
    for other in clones.values():
        if local in all_refs(other):
            if other != work:
                git(work, "fetch", "-q", str(other), f"+{local}:refs/brought")
                git(work, "update-ref", "-d", "refs/brought")
            git(work, "update-ref", ref, head)
            return
    raise AssertionError(f"nobody has {ref}")
