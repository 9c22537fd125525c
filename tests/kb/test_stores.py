"""The home store, the repository's store, and which of them a capsule goes to."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_base.errors import UnsafePath
from ai_kb import policy_file, stores
from ai_kb.errors import KbError, NoStore
from ai_kb.hn import gitwrite
from ai_kb.hn.errors import HnError, InvalidPolicy, NotFound
from ai_kb.hn.identity import Keyring
from ai_kb.hn.policy import parse_policy
from tests.crash import harness

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
Git = Callable[..., str]


def home(env: dict[str, str]) -> stores.Store:
    return stores.init_home(env, "Test Person", NOW)[0]


def trusting_repo(repository: Path, git: Git, env: dict[str, str]) -> stores.Store:
    """A repository whose HEAD trusts this clone's actor."""
    store = stores.open_repo(str(repository), env)
    assert store is not None
    actor = Keyring.of(store.repo).init("Repo Person").actor
    (repository / ".hn").mkdir()
    (repository / ".hn/policy.json").write_bytes(policy_file.new_policy(actor, (actor,)))
    git(repository, "add", ".hn")
    git(repository, "commit", "-q", "-m", "policy")
    return store


def test_the_home_store_starts_with_the_same_root_commit_on_every_machine(
    isolated: dict[str, str], git: Git, tmp_path: Path
) -> None:
    first = home(isolated).repo
    other = home({**isolated, "AI_KB_HOME": str(tmp_path / "elsewhere")}).repo
    for repo in (first, other):
        log = git(repo.git_dir, "log", "--format=%H %T %at %an <%ae>", "main").splitlines()
        assert (
            log[-1]
            == f"{stores.HOME_ROOT} 4b825dc642cb6eb9a060e54bf8d69288fbee4904 0 ai-kb <home@ai-kb.invalid>"
        )
        assert len(log) == 2
    assert gitwrite.object_id("commit", stores.ROOT_COMMIT_BYTES, "sha1") == stores.HOME_ROOT
    assert first.git_dir != other.git_dir
    assert git(first.git_dir, "fsck", "--strict") == ""


def test_the_home_store_trusts_its_own_actor_and_nobody_else(isolated: dict[str, str]) -> None:
    store = home(isolated)
    policy = stores.policy_at_head(store)
    assert policy is not None
    assert policy.memory is not None
    assert policy.memory.trusted_actors == (store.identity().actor,)
    assert len(policy.memory.trusted_kinds) == 6


def test_making_the_home_store_again_changes_nothing(isolated: dict[str, str], git: Git) -> None:
    store, made = stores.init_home(isolated, "A", NOW)
    assert made
    before = git(store.repo.git_dir, "rev-parse", "main"), store.identity().actor
    again, made = stores.init_home(isolated, "B", NOW)
    assert not made
    assert (git(again.repo.git_dir, "rev-parse", "main"), again.identity().actor) == before


def test_an_interrupted_start_is_finished_by_the_next(isolated: dict[str, str], git: Git) -> None:
    path = Path(stores.home_path(isolated))
    path.parent.mkdir(parents=True, mode=0o700)
    git(path.parent, "init", "-q", "--bare", "--object-format=sha1", str(path))
    store, made = stores.init_home(isolated, "A", NOW)
    assert made
    assert store.policy_bytes("main") is not None


def test_two_processes_that_start_at_once_make_one_store(isolated: dict[str, str], git: Git) -> None:
    made: list[bool] = []
    threads = [
        threading.Thread(target=lambda: made.append(stores.init_home(isolated, "A", NOW)[1]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [False, False, False, True]
    assert git(stores.home_path(isolated), "rev-list", "--count", "main") == "2"


def test_the_home_store_is_private_and_one_that_others_can_change_is_refused(
    isolated: dict[str, str],
) -> None:
    path = home(isolated).repo.git_dir
    assert os.stat(path).st_mode & 0o777 == 0o700
    os.chmod(path, 0o770)
    with pytest.raises(UnsafePath):
        stores.open_home(isolated)


def test_there_is_no_home_store_before_it_is_made(isolated: dict[str, str], tmp_path: Path) -> None:
    assert stores.open_home(isolated) is None
    assert stores.stores(str(tmp_path), isolated) == []
    with pytest.raises(NoStore, match="no home store"):
        stores.stores(str(tmp_path), isolated, "home")
    with pytest.raises(NoStore, match="not in a Git repository"):
        stores.stores(str(tmp_path), isolated, "repo")


def test_an_override_inside_the_workspace_does_not_move_the_home_store_of_a_hook(
    isolated: dict[str, str], tmp_path: Path
) -> None:
    env = {**isolated, "AI_KB_HOME": str(tmp_path / "workspace/kb")}
    assert stores.home_path(env) == str(tmp_path / "workspace/kb/home.git")
    assert stores.home_path(env, str(tmp_path / "workspace")) == stores.home_path(isolated)


def test_a_capsule_goes_home_and_says_why(
    isolated: dict[str, str], repository: Path, git: Git, tmp_path: Path
) -> None:
    def why(where: Path) -> str:
        choice = stores.choose(str(where), isolated)
        assert choice.name == "home"
        return choice.why

    outside = tmp_path / "outside"
    outside.mkdir()
    assert why(outside) == "the workspace is not in a Git repository"
    git(outside, "init", "-q")
    assert why(outside) == "the repository has no commit yet"
    assert why(repository) == "this clone has no identity"
    store = stores.open_repo(str(repository), isolated)
    assert store is not None
    Keyring.of(store.repo).init("A")
    assert why(repository) == "the repository's HEAD has no policy for memory"
    policy = repository / ".hn/policy.json"
    policy.parent.mkdir()
    policy.write_bytes(policy_file.new_policy("a" * 64, ("a" * 64,)))
    assert why(repository) == "the repository's HEAD has no policy for memory"
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "policy")
    assert why(repository) == "the repository's policy does not trust this clone's actor"
    policy.write_text("{}")
    git(repository, "commit", "-qam", "broken")
    assert why(repository) == "the repository's policy at HEAD is invalid or cannot be read"
    os.chmod(Path(store.repo.git_dir) / "hn", 0o755)
    assert why(repository) == "this clone's keyring cannot be used"


def test_a_capsule_goes_to_a_repository_that_trusts_this_clone(
    isolated: dict[str, str], repository: Path, git: Git
) -> None:
    trusting_repo(repository, git, isolated)
    choice = stores.choose(str(repository), isolated)
    assert (choice.name, choice.why) == ("repo", "the repository's policy trusts this clone's actor")
    assert stores.choose(str(repository), isolated, "home").name == "home"


def test_a_store_that_is_asked_for_is_taken_or_refused(
    isolated: dict[str, str], repository: Path, tmp_path: Path
) -> None:
    assert stores.choose(str(repository), isolated, "repo").why == "--store repo"
    with pytest.raises(NoStore, match="nothing was changed"):
        stores.choose(str(tmp_path), isolated, "repo")


def test_a_store_without_an_identity_says_how_to_make_one(isolated: dict[str, str], repository: Path) -> None:
    store = stores.open_repo(str(repository), isolated)
    assert store is not None
    with pytest.raises(NotFound) as caught:
        store.identity()
    assert caught.value.hint == ",ai-kb init --store repo"


# ---------------------------------------------------------------- the policy file

A, B = "a" * 64, "b" * 64


def test_trusting_and_untrusting_undo_each_other() -> None:
    data = policy_file.new_policy(A, (A,))
    assert policy_file.trust(data, A) is None
    both = policy_file.trust(data, B)
    assert both is not None
    assert json.loads(both)["memory"]["trustedActors"] == [A, B]
    assert policy_file.untrust(both, B) == data
    assert policy_file.untrust(data, B) is None


def test_what_a_policy_says_besides_stays_in_its_order() -> None:
    value = json.loads(policy_file.new_policy(A))
    del value["memory"]
    value["pipelines"] = {"ci": {"requiredResults": 1, "trustedRunners": [B]}}
    before = json.dumps(value).encode()
    assert policy_file.untrust(before, A) is None
    after = policy_file.trust(before, A)
    assert after is not None
    changed = json.loads(after)
    assert list(changed) == [*value, "memory"]
    assert {k: v for k, v in changed.items() if k != "memory"} == value
    assert len(changed["memory"]["trustedKinds"]) == 6


def test_the_case_of_keys_does_not_make_a_second_section() -> None:
    value = json.loads(policy_file.new_policy(A, (A,)))
    value["Memory"] = {"TrustedActors": [A], "trustedkinds": ["decision"]}
    del value["memory"]
    after = policy_file.trust(json.dumps(value).encode(), B)
    assert after is not None
    memory = parse_policy(after).memory
    assert memory is not None
    assert memory.trusted_actors == (A, B)
    assert memory.trusted_kinds == ("decision",)


def test_a_policy_that_is_none_is_not_edited() -> None:
    with pytest.raises(InvalidPolicy):
        policy_file.trust(b'{"version": "hn.policy/0"}', A)


def test_a_change_of_policy_that_lost_a_race_changed_nothing(
    isolated: dict[str, str], git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = home(isolated)
    before = git(store.repo.git_dir, "rev-parse", "main")
    real = gitwrite.write_objects

    def slow(*arguments: object) -> list[str]:
        git(store.repo.git_dir, "update-ref", stores.MAIN, stores.HOME_ROOT)  # somebody else was first
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(gitwrite, "write_objects", slow)
    with pytest.raises(KbError, match="nothing was changed"):
        stores.commit_policy(store, policy_file.new_policy(A, (A,)), "m", NOW)
    assert git(store.repo.git_dir, "rev-parse", "main") == stores.HOME_ROOT != before


def test_making_the_home_store_killed_anywhere_is_finished_by_the_next(
    tmp_path: Path, isolated: dict[str, str], git: Git
) -> None:
    def env(base: Path) -> dict[str, str]:
        return {**isolated, "AI_KB_HOME": str(base / "kb")}

    def recover(base: Path) -> None:
        stores.init_home(env(base), "Test Person", NOW)

    def check(base: Path) -> None:
        store, made = stores.init_home(env(base), "Test Person", NOW)
        assert not made
        policy = stores.policy_at_head(store)
        assert policy is not None
        assert policy.memory is not None
        assert policy.memory.trusted_actors == (store.identity().actor,)
        assert Keyring.of(store.repo).actors() == [store.identity().actor]

    runs = harness.explore(tmp_path, lambda base: None, recover, recover, check, modes=(harness.BEFORE,))
    assert runs > 15


@pytest.mark.parametrize("what", ["a directory", "too large", "gone"])
def test_a_policy_that_cannot_be_read_is_not_taken_for_none(
    repository: Path, isolated: dict[str, str], git: Git, what: str
) -> None:
    policy = repository / ".hn/policy.json"
    policy.parent.mkdir()
    if what == "a directory":
        policy.mkdir()
        (policy / "file").write_text("{}")
    else:
        policy.write_bytes(b"{}" + b" " * (1 << 20 if what == "too large" else 1))
    git(repository, "add", ".hn")
    git(repository, "commit", "-q", "-m", "policy")
    if what == "gone":
        blob = git(repository, "rev-parse", "HEAD:.hn/policy.json")
        (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    store = stores.open_repo(str(repository), isolated)
    assert store is not None
    with pytest.raises(HnError):
        stores.policy_at_head(store)
    Keyring.of(store.repo).init("A")
    assert stores.why_not_repo(store) == "the repository's policy at HEAD is invalid or cannot be read"
