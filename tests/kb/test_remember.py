"""Remember: from a text to a signed record, and everything that is refused on the way."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_base.errors import SuiteError
from ai_kb import corpus, policy_file, project, stores
from ai_kb.capsule import Capsule
from ai_kb.errors import AlreadyKnown, EmptyText, HoldsSecret, InvalidCapsule, KbError, NotFound, Oversized
from ai_kb.hn.envelope import Record
from ai_kb.hn.identity import Keyring
from ai_kb.remember import Draft, Remembered, remember
from ai_kb.stores import HOME_ROOT

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
Git = Callable[..., str]
TITLE = "Retry only idempotent requests"
BODY = "A POST that timed out may have been carried out by the server."


class Memory:
    """Remembers in one workspace and reads back what was signed."""

    def __init__(self, workspace: Path, env: dict[str, str]) -> None:
        self.workspace = str(workspace)
        self.env = env

    def add(
        self, title: str = TITLE, body: str = BODY, *, dry_run: bool = False, cwd: str = "", **more: Any
    ) -> Remembered:
        return remember(
            Draft(title, body, **more),
            workspace=self.workspace,
            env=self.env,
            now=NOW,
            name="A",
            dry_run=dry_run,
            cwd=cwd,
        )

    def record(self, memory_id: str) -> Record:
        for reading in corpus.read_all(self.workspace, self.env):
            memory = reading.memory(memory_id)
            if memory is not None:
                assert memory.envelope.record is not None
                return memory.envelope.record
        raise AssertionError(memory_id)

    def capsule(self, memory_id: str) -> Capsule:
        record = self.record(memory_id)
        return Capsule(record.kind, record.content, record.topics)


@pytest.fixture
def memory(repository: Path, isolated: dict[str, str]) -> Memory:
    return Memory(repository, isolated)


@pytest.fixture
def trusted(memory: Memory, repository: Path, git: Git) -> Memory:
    """A workspace whose repository trusts this clone, with a source file."""
    store = stores.open_repo(memory.workspace, memory.env)
    assert store is not None
    actor = Keyring.of(store.repo).init("Repo Person").actor
    (repository / ".hn").mkdir()
    (repository / ".hn/policy.json").write_bytes(policy_file.new_policy(actor, (actor,)))
    (repository / "src").mkdir()
    (repository / "src/retry.py").write_text("retries = 3\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "policy")
    return memory


def test_the_first_capsule_makes_the_home_store_and_is_one_signed_commit(memory: Memory, git: Git) -> None:
    source = Path(memory.workspace, "src/retry.py")
    source.parent.mkdir()
    source.touch()
    done = memory.add(kind="gotcha", scope="universal", confidence="high", sources=("src/retry.py:12",))
    assert (done.store, done.why) == ("home", "this clone has no identity")
    assert done.warnings == ()
    store = stores.home_path(memory.env)
    assert git(store, "ls-tree", "--name-only", done.commit).split() == ["memory.json", "signature"]
    record = memory.record(done.id)
    assert record.anchor.commit == HOME_ROOT
    assert record.applicability.mode == "descendants"
    assert record.content == (
        f"{TITLE}\n\n{BODY}\n\nSource: src/retry.py:12\nConfidence: high\nWorkspace: {memory.workspace}"
    )
    assert done.stream.startswith("sha256:")


def test_a_dry_run_checks_everything_and_writes_nothing(memory: Memory) -> None:
    done = memory.add(dry_run=True)
    assert (done.id, done.commit, done.store) == ("", "", "home")
    assert done.content.startswith(TITLE)
    assert stores.open_home(memory.env) is None
    with pytest.raises(EmptyText):
        memory.add(body=" ", dry_run=True)


def test_a_source_that_is_no_file_of_the_workspace_is_said(memory: Memory) -> None:
    done = memory.add(sources=("nowhere.py:3", "https://example.com/a", "the manual, page 3"))
    assert [w for w in done.warnings if " is no file in " in w] == [
        f"nowhere.py is no file in {memory.workspace}"
    ]


def test_what_was_left_at_its_default_is_said(memory: Memory) -> None:
    done = memory.add()
    assert done.warnings == (
        "left at the default: --kind fact, --confidence medium, --scope project",
        "neither --source nor --ref nor --evidence says where this was seen",
    )
    read = memory.capsule(done.id)
    assert (read.kind, read.scope, read.by) == ("fact", "project", "agent")


def test_a_project_capsule_carries_its_root_commit_and_its_remote(memory: Memory, git: Git) -> None:
    root = git(memory.workspace, "rev-list", "--max-parents=0", "HEAD")
    assert memory.capsule(memory.add().id).projects == (root,)
    git(memory.workspace, "remote", "add", "origin", "https://user@Example.org/team/app.git")
    url = project.url_id("git@example.org:team/app")
    assert set(memory.capsule(memory.add("Another thing entirely", "With other words.").id).projects) == {
        root,
        url,
    }


def test_outside_a_repository_the_scope_is_the_workspace(tmp_path: Path, isolated: dict[str, str]) -> None:
    outside = Memory(tmp_path / "outside", isolated)
    Path(outside.workspace).mkdir()
    read = outside.capsule(outside.add().id)
    assert (read.scope, read.projects) == ("workspace", ())
    assert read.workspaces == (project.workspace_digest(outside.workspace),)
    with pytest.raises(InvalidCapsule, match="scope project needs"):
        outside.add("Second title here", "x", scope="project")
    wide = outside.capsule(outside.add("A universal thing", "Known by an agent", scope="universal").id)
    assert wide.workspaces == read.workspaces  # where it came from, until a person approves it


def test_what_an_agent_says_about_a_domain_remembers_where_it_came_from(memory: Memory) -> None:
    by_agent = memory.capsule(memory.add(scope="domain", domains=("django",)).id)
    assert (by_agent.by, by_agent.domains) == ("agent", ("django",))
    assert by_agent.projects
    person = memory.capsule(
        memory.add("A person's word", "Said at a terminal", domains=("django",), by_agent=False).id
    )
    assert (person.by, person.scope, person.projects) == ("person", "domain", ())


def test_kinds_become_record_kinds_and_stay_readable(memory: Memory) -> None:
    done = memory.add(kind="anti_pattern", scope="universal")
    record = memory.record(done.id)
    assert (record.kind, record.attempt_outcome) == ("attempt", "rejected")
    assert "kind/anti_pattern" in record.topics


def test_verified_with_evidence_is_a_verification(trusted: Memory, git: Git) -> None:
    head = git(trusted.workspace, "rev-parse", "HEAD")
    done = trusted.add(kind="gotcha", verified_by="pytest -q", evidence=(f"git:{head}",))
    record = trusted.record(done.id)
    assert (record.kind, record.evidence) == ("verification", (f"git:{head}",))
    assert "Verified-by: pytest -q" in record.content


def test_a_capsule_of_the_repository_is_anchored_to_head_and_to_the_blob_of_its_source(
    trusted: Memory, git: Git
) -> None:
    done = trusted.add(sources=("src/retry.py:12",), kind="gotcha")
    assert (done.store, done.why) == ("repo", "the repository's policy trusts this clone's actor")
    record = trusted.record(done.id)
    assert record.anchor.commit == git(trusted.workspace, "rev-parse", "HEAD")
    (anchored,) = record.anchor.paths
    assert (anchored.path, anchored.blob) == (
        "src/retry.py",
        git(trusted.workspace, "rev-parse", "HEAD:src/retry.py"),
    )
    assert "Workspace:" not in record.content


def test_a_source_that_is_no_file_at_head_is_kept_as_text_and_said(trusted: Memory) -> None:
    done = trusted.add(sources=("nowhere.py:3", "src", "https://example.org/x"))
    assert trusted.record(done.id).anchor.paths == ()
    assert any("nowhere.py is no file at HEAD" in w for w in done.warnings)


def test_a_source_is_found_from_a_subdirectory(trusted: Memory) -> None:
    done = trusted.add(sources=("retry.py:12",), cwd=trusted.workspace + "/src")
    assert trusted.record(done.id).anchor.paths[0].path == "src/retry.py"
    whole = trusted.add("Another title here", "y", sources=(trusted.workspace + "/src/retry.py:1-2",))
    assert "Source: src/retry.py:1-2" in trusted.record(whole.id).content


def test_drift_of_an_anchored_file_is_seen(trusted: Memory, git: Git) -> None:
    done = trusted.add(sources=("src/retry.py:12",))

    def changed() -> tuple[str, ...]:
        return next(
            h for r in corpus.read_all(trusted.workspace, trusted.env) for h in r.held if h.row.id == done.id
        ).changed

    assert changed() == ()
    (Path(trusted.workspace) / "src/retry.py").write_text("retries = 4\n")
    assert changed() == ()  # HEAD counts, not the work tree
    git(trusted.workspace, "commit", "-qam", "change")
    assert changed() == ("src/retry.py",)
    git(trusted.workspace, "rm", "-q", "src/retry.py")
    git(trusted.workspace, "commit", "-qm", "gone")
    assert changed() == ("src/retry.py",)


def test_a_kind_that_the_policy_does_not_trust_is_said(trusted: Memory, git: Git) -> None:
    path = Path(trusted.workspace) / ".hn/policy.json"
    path.write_text(path.read_text().replace('      "decision",\n', ""))
    git(trusted.workspace, "commit", "-qam", "fewer kinds")
    done = trusted.add(kind="decision")
    assert any("does not trust the kind decision" in w for w in done.warnings)
    untrusted = Memory(Path(trusted.workspace), trusted.env)
    path.unlink()
    git(trusted.workspace, "commit", "-qam", "no policy")
    done = untrusted.add("Another title", "text", store="repo")
    assert any("does not trust this clone's actor" in w for w in done.warnings)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"title": " "}, EmptyText),
        ({"title": "\u200b\u2060"}, EmptyText),
        ({"title": "\u3164\ufe00"}, EmptyText),
        ({"body": "\u200d\n\ufeff\t"}, EmptyText),
        ({"refs": ("\u2060",)}, EmptyText),
        ({"body": ""}, EmptyText),
        ({"body": "x" * 70_000}, Oversized),
        ({"title": "x" * 300}, Oversized),
        ({"kind": "question"}, InvalidCapsule),
        ({"kind": "rumour"}, InvalidCapsule),
        ({"scope": "planet"}, InvalidCapsule),
        ({"scope": "domain"}, InvalidCapsule),
        ({"confidence": "sure"}, InvalidCapsule),
        ({"tags": ("kind/x",)}, InvalidCapsule),
        ({"sources": ("a\nb",)}, InvalidCapsule),
        ({"refs": (" ",)}, EmptyText),
        ({"verified_by": "\x1b[1m"}, InvalidCapsule),
        ({"evidence": ("rumour",)}, InvalidCapsule),
        ({"evidence": ("event:sha256:" + "a" * 64,)}, KbError),
        ({"evidence": ("memory:" + "a" * 64,)}, NotFound),
        ({"supersedes": "sha256:" + "a" * 64}, NotFound),
        ({"supersedes": "abc"}, NotFound),
    ],
)
def test_what_cannot_be_remembered_is_refused_and_nothing_is_made(
    memory: Memory, fields: dict[str, Any], error: type[SuiteError]
) -> None:
    with pytest.raises(error):
        memory.add(**fields)
    assert stores.open_home(memory.env) is None


SECRET = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"[:36]


@pytest.mark.parametrize("field", ["title", "body", "sources", "refs", "verified_by"])
def test_a_credential_is_refused_with_its_place(memory: Memory, field: str) -> None:
    text = f"first\nuse {SECRET} here" if field == "body" else f"use {SECRET} here"
    value: Any = (text,) if field in ("sources", "refs") else text
    with pytest.raises(HoldsSecret, match=r"line \d, column 5") as caught:
        memory.add(**{field: value})
    assert SECRET not in str(caught.value)
    assert stores.open_home(memory.env) is None
    assert memory.add(**{field: value}, allow_secret=True).id


def test_almost_the_same_active_capsule_is_refused_and_named(memory: Memory) -> None:
    first = memory.add()
    with pytest.raises(AlreadyKnown, match=f"the same: {first.id} in the home store") as caught:
        memory.add()
    assert f"--supersedes {first.id}" in caught.value.hint
    with pytest.raises(AlreadyKnown, match="almost the same"):
        memory.add(body=BODY.replace("the server", "that server"))
    assert memory.add(allow_duplicate=True).id != first.id
    assert memory.add("Retry everything twice", "Because the network is flaky on weekends.").id


def test_a_capsule_that_was_replaced_may_be_said_again(memory: Memory) -> None:
    first = memory.add()
    second = memory.add("Never retry a POST", "It may have been carried out.", supersedes=first.id[7:20])
    assert second.why == "what it supersedes is there"
    (reading, _) = corpus.read_all(memory.workspace, memory.env)
    assert {h.row.id: h.row.lifecycle for h in reading.held} == {first.id: "superseded", second.id: "active"}
    assert memory.add().id


def test_the_same_words_may_replace_themselves(memory: Memory) -> None:
    first = memory.add()
    assert memory.add(kind="gotcha", supersedes=first.id).id != first.id


def test_nothing_supersedes_or_proves_across_stores(trusted: Memory) -> None:
    home = trusted.add(store="home")
    repo = trusted.add("Another title here", "of the repository")
    with pytest.raises(KbError, match="across stores"):
        trusted.add("Third title", "z", store="repo", supersedes=home.id)
    with pytest.raises(KbError, match="across stores"):
        trusted.add("Third title", "z", store="repo", evidence=(f"memory:{home.id}",))
    done = trusted.add("Third title", "z", evidence=(f"memory:{repo.id}",))
    assert trusted.record(done.id).evidence == (f"memory:{repo.id}",)


def test_git_evidence_that_the_store_lacks_becomes_a_reference_at_home_and_is_refused_in_the_repository(
    trusted: Memory, git: Git
) -> None:
    head = git(trusted.workspace, "rev-parse", "HEAD")
    home = trusted.add(store="home", evidence=(f"git:{head}",), verified_by="pytest")
    record = trusted.record(home.id)
    assert (record.kind, record.evidence) == ("observation", ())
    assert f"Refs: git:{head}" in record.content
    with pytest.raises(KbError, match="no object of this repository"):
        trusted.add("Another title", "x", evidence=("git:" + "1" * 40,))


def test_only_its_own_actor_supersedes_a_record(trusted: Memory, tmp_path: Path, git: Git) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", trusted.workspace, str(clone))
    other = Memory(clone, trusted.env)
    store = stores.open_repo(other.workspace, other.env)
    assert store is not None
    Keyring.of(store.repo).init("Other")
    theirs = other.add(store="repo")
    git(trusted.workspace, "fetch", "-q", str(clone), "refs/hn/memory/*:refs/hn/remotes/other/memory/*")
    with pytest.raises(KbError, match="another actor's"):
        trusted.add("A replacement", "of theirs", supersedes=theirs.id)
    mine = trusted.add("Mine alone", "text of mine")
    trusted.add("Mine again", "other text", supersedes=mine.id)


def test_a_store_that_cannot_be_read_is_in_the_way_only_of_itself(trusted: Memory, git: Git) -> None:
    trusted.add()
    git(trusted.workspace, "update-ref", f"refs/hn/memory/{'a' * 64}/{'b' * 64}", "HEAD")
    with pytest.raises(SuiteError):
        trusted.add("Another title", "x")
    done = trusted.add("Another title", "x", store="home")
    assert any("the repository's store could not be read" in w for w in done.warnings)


def test_a_source_given_in_a_sha256_repository_is_anchored(
    tmp_path: Path, isolated: dict[str, str], git: Git
) -> None:
    path = tmp_path / "wide"
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(path)], check=True)
    (path / "a.py").write_text("x\n")
    git(path, "add", ".")
    git(path, "commit", "-qm", "a")
    memory = Memory(path, isolated)
    store = stores.open_repo(str(path), isolated)
    assert store is not None
    Keyring.of(store.repo).init("A")
    done = memory.add(store="repo", sources=("a.py:1",))
    assert len(memory.record(done.id).anchor.paths[0].blob) == 64
