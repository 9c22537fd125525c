"""Scopes, approvals and acceptances: what may reach a session by itself, and what may not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ai_kb import consent, corpus, project, stores
from ai_kb.capsule import Capsule
from ai_kb.gates import Gate
from ai_kb.project import Project
from ai_kb.search import Found, Source, search
from tests.kb.kbworld import BODY, NOW, PROMPT, TITLE, World, ids

Git = Callable[..., str]


@pytest.fixture
def world(repository: Path, isolated: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose relevance is: shares a word. What passes the gates is what is asked here."""

    def select(prompt: str, sources: list[Source], *, limit: int, prose: bool = False) -> list[Found]:
        return search(sources, prompt, limit=limit)

    monkeypatch.setattr("ai_kb.relevance.select_relevant", select)
    return World(repository, isolated)


def elsewhere(world: World, path: Path) -> World:
    """Another repository of the same person."""
    path.mkdir()
    other = World(path, world.env)
    other.git("init", "-q", "-b", "main")
    (path / "x").write_text(str(path))
    other.git("add", ".")
    other.git("commit", "-q", "-m", "another root")
    return other


# ---------------------------------------------------------------- scope


def test_a_project_capsule_is_shown_in_every_clone_and_worktree_and_nowhere_else(
    world: World, tmp_path: Path
) -> None:
    memory = world.remember(scope="project")
    assert ids(world.prompt()) == [memory]
    world.git("clone", "-q", str(world.workspace), str(tmp_path / "clone"))
    world.git("worktree", "add", "-q", str(tmp_path / "tree"))
    assert ids(World(tmp_path / "clone", world.env).prompt()) == [memory]
    assert ids(World(tmp_path / "tree", world.env).prompt()) == [memory]
    assert elsewhere(world, tmp_path / "other").prompt() == ""
    (tmp_path / "none").mkdir()
    assert World(tmp_path / "none", world.env).prompt() == ""


def test_a_shallow_clone_is_recognised_by_its_remote(world: World, tmp_path: Path) -> None:
    for number in range(3):
        (world.workspace / "f").write_text(str(number))
        world.git("add", ".")
        world.git("commit", "-q", "-m", str(number))
    full, shallow = tmp_path / "full", tmp_path / "shallow"
    world.git("clone", "-q", f"file://{world.workspace}", str(full))
    world.git("clone", "-q", "--depth", "1", f"file://{world.workspace}", str(shallow))
    memory = World(full, world.env).remember(scope="project")
    assert ids(World(shallow, world.env).prompt()) == [memory]
    other = World(shallow, world.env).remember("Retry budgets", "A retry needs a budget.", scope="project")
    assert set(ids(World(full, world.env).prompt(session="second"))) == {memory, other}


def test_a_url_alone_does_not_make_a_full_clone_the_same_project(world: World, tmp_path: Path) -> None:
    world.git("remote", "add", "origin", "https://example.org/private")
    world.remember(scope="project")
    other = elsewhere(world, tmp_path / "other")
    other.git("remote", "add", "origin", "https://example.org/private")
    assert other.prompt() == ""


def test_a_workspace_capsule_stays_in_its_workspace(world: World, tmp_path: Path) -> None:
    memory = world.remember(scope="workspace")
    assert ids(world.prompt()) == [memory]
    world.git("worktree", "add", "-q", str(tmp_path / "tree"))
    assert World(tmp_path / "tree", world.env).prompt() == ""


def test_what_a_person_said_of_a_domain_goes_everywhere(world: World, tmp_path: Path) -> None:
    memory = world.remember(domains=("http",), by_agent=False)
    assert ids(elsewhere(world, tmp_path / "other").prompt()) == [memory]


# ---------------------------------------------------------------- approval


@pytest.mark.parametrize("scope", ["domain", "universal"])
def test_what_an_agent_made_for_everywhere_waits_for_a_person(
    world: World, tmp_path: Path, scope: str
) -> None:
    memory = world.remember(scope=scope, domains=("http",))
    other = elsewhere(world, tmp_path / "other")
    assert ids(world.prompt()) == [memory]
    assert '"by":"agent"' in world.prompt(session="b")
    assert other.prompt() == ""
    consent.approve(world.env, memory, "2026-11-30")
    assert ids(other.prompt()) == [memory]
    consent.unapprove(world.env, memory)
    assert other.prompt(session="c") == ""


def test_only_the_configuration_turns_approval_off(world: World, tmp_path: Path) -> None:
    memory = world.remember(scope="universal")
    other = elsewhere(world, tmp_path / "other")
    other.env["AI_KB_APPROVE"] = other.env["APPROVE"] = "auto"
    assert other.prompt() == ""
    config = Path(world.env["XDG_CONFIG_HOME"]) / "agent-hook-suite/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('approve = "auto"\n')
    assert ids(other.prompt()) == [memory]
    # A repository's settings can point the variable into the repository: not believed.
    inside = other.workspace / "config/agent-hook-suite"
    inside.mkdir(parents=True)
    (inside / "config.toml").write_text('approve = "auto"\n')
    config.unlink()
    other.env["XDG_CONFIG_HOME"] = str(other.workspace / "config")
    assert other.prompt(session="b") == ""


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ('approve = "auto"\n', True),
        ("# hello\n\n approve='auto' # yes\n", True),
        ('approve = "automatic"\n', False),
        ("approve = auto\n", False),
        ('[other]\napprove = "auto"\n', False),
        ('approved = "auto"\n', False),
        ("", False),
    ],
)
def test_the_configuration_is_read_as_toml_reads_it(isolated: dict[str, str], text: str, yes: bool) -> None:
    config = Path(isolated["XDG_CONFIG_HOME"]) / "agent-hook-suite/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(text)
    assert consent.approves_all(isolated) is yes
    config.chmod(0o666)
    assert consent.approves_all(isolated) is False


def test_a_words_file_that_others_could_write_is_not_believed(isolated: dict[str, str]) -> None:
    consent.approve(isolated, "sha256:" + "a" * 64, "today")
    assert consent.approved(isolated)
    path = Path(isolated["XDG_STATE_HOME"]) / "agent-hook-suite/approved"
    path.chmod(0o622)
    assert consent.approved(isolated) == set()


def test_approving_twice_and_taking_back_nothing_change_nothing(isolated: dict[str, str]) -> None:
    assert consent.approve(isolated, "a", "today")
    assert not consent.approve(isolated, "a", "tomorrow")
    assert consent.approve(isolated, "b", "today")
    assert consent.unapprove(isolated, "a")
    assert not consent.unapprove(isolated, "a")
    assert consent.approved(isolated) == {"b"}


def test_a_record_of_the_home_store_without_a_scope_needs_approval(world: World) -> None:
    memory = world.append(world.home(), f"{TITLE}\n\n{BODY}", ["http"])
    assert world.prompt() == ""
    (held,) = corpus.read_all(str(world.workspace), world.env, "home")[0].held
    assert held.needs_approval
    consent.approve(world.env, memory, "today")
    assert ids(world.prompt()) == [memory]


# ---------------------------------------------------------------- acceptance


def test_the_repositorys_store_waits_for_the_policy_to_be_accepted(world: World) -> None:
    world.trust_this_clone()
    memory = world.remember()
    assert world.prompt() == ""
    world.accept()
    assert ids(world.prompt()) == [memory]


def test_another_policy_has_to_be_accepted_again(world: World) -> None:
    world.trust_this_clone()
    world.remember()
    world.accept()
    world.trust_this_clone("f" * 64)
    assert world.prompt() == ""
    world.accept()
    assert world.prompt() != ""


def test_the_index_has_the_last_word_on_which_policy_was_accepted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.trust_this_clone()
    world.remember()
    world.accept()
    accepted = stores.policy_at_head(world.repo())
    assert accepted is not None
    world.trust_this_clone("f" * 64)
    # As if HEAD had moved on between the first look at it and the index's.
    monkeypatch.setattr("ai_kb.open_stores.OpenStores._policy_digest", lambda _: accepted.digest)
    assert world.prompt() == ""


def test_acceptance_belongs_to_the_path_not_to_what_is_in_the_archive(world: World, tmp_path: Path) -> None:
    world.trust_this_clone()
    world.remember()
    world.accept()
    copy = tmp_path / "copy"
    world.git("clone", "-q", str(world.workspace), str(copy))
    assert World(copy, world.env).prompt() == ""
    os.rename(world.workspace, tmp_path / "moved")
    assert World(tmp_path / "moved", world.env).prompt() == ""


def test_an_untrusted_actors_records_never_appear(world: World, tmp_path: Path) -> None:
    """Whatever their content and relevance, also once the repository's policy is accepted."""
    world.trust_this_clone()
    clone = tmp_path / "clone"
    world.git("clone", "-q", str(world.workspace), str(clone))
    mallory = World(clone, world.env)
    mallory.repo()
    mallory_store = mallory.repo()
    from ai_kb.hn.identity import Keyring

    Keyring.of(mallory_store.repo).init("Mallory")
    mallory.append(mallory_store, f"{PROMPT}\n\n{PROMPT} {BODY}", ["scope/project", "kind/gotcha"])
    world.git("fetch", "-q", str(clone), "refs/hn/memory/*:refs/hn/remotes/evil/memory/*")
    world.accept()
    assert world.prompt() == ""
    mine = world.remember()
    assert ids(world.prompt(session="b")) == [mine]


def test_kinds_that_the_policy_does_not_trust_never_appear(world: World) -> None:
    world.trust_this_clone()
    policy = world.workspace / ".hn/policy.json"
    policy.write_text(policy.read_text().replace('      "observation",\n', ""))
    world.git("commit", "-qam", "no observations")
    world.remember()
    world.accept()
    assert world.prompt() == ""


def test_lifecycle_applicability_and_evidence_gate_too(world: World) -> None:
    world.trust_this_clone()
    world.accept()
    head = world.git("rev-parse", "HEAD")
    with_evidence = world.remember(evidence=(f"git:{head}",))
    assert ids(world.prompt()) == [with_evidence]
    world.git("checkout", "-q", "-b", "side")
    (world.workspace / "y").write_text("y")
    world.git("add", ".")
    world.git("commit", "-q", "-m", "y")
    on_side = world.remember("Retry on the side", "Only there.")
    assert set(ids(world.prompt(session="b"))) == {with_evidence, on_side}
    world.git("checkout", "-q", "main")
    assert ids(world.prompt(session="c")) == [with_evidence]
    newer = world.remember("Retry nothing at all", "Not even a GET.", supersedes=with_evidence)
    assert ids(world.prompt(session="d")) == [newer]


# ---------------------------------------------------------------- the pure gate


def test_the_gate_decides_as_the_design_says() -> None:
    here = Project("/w", "a" * 40, "url-1")
    gate = Gate(here, lambda: {"approved"}, lambda: False)

    def admits(store: str, *topics: str, memory: str = "m") -> bool:
        return gate.admits(memory, Capsule("observation", "T", topics), store)

    mine = f"project/{here.root}"
    assert admits("home", "scope/project", mine)
    assert admits("home", "scope/project", "project/url-1")
    assert not admits("home", "scope/project", "project/" + "b" * 40, "project/url-1")
    assert not admits("home", "scope/project")
    assert admits("repo", "scope/project")
    assert not admits("repo", "scope/project", "project/" + "b" * 40)
    assert admits("home", "scope/workspace", f"workspace/{here.digest}")
    assert not admits("repo", "scope/workspace", "workspace/x")
    assert admits("home", "scope/universal")
    assert not admits("home", "scope/universal", "by/agent")
    assert admits("home", "scope/universal", "by/agent", memory="approved")
    assert admits("home", "scope/universal", "by/agent", mine)
    assert admits("home", "scope/domain", "by/agent", f"workspace/{here.digest}")
    assert not admits("home", "scope/domain", "by/agent", "workspace/x")
    assert admits("repo", "scope/domain", "by/agent")
    assert not admits("home")
    assert admits("repo")
    assert Gate(here, set, lambda: True).is_approved("anything")


# ---------------------------------------------------------------- the project


def test_the_root_commit_is_cached_outside_the_repository(world: World) -> None:
    world.remember(scope="project")
    cache = Path(world.env["XDG_CACHE_HOME"]) / "agent-hook-suite/projects"
    (entry,) = cache.iterdir()
    root = world.git("rev-list", "--max-parents=0", "HEAD")
    assert root in entry.read_text()
    entry.write_text("nonsense\n" + "z" * 40 + " " + root + "\n")
    assert world.prompt() != ""


def test_a_merged_history_has_the_root_of_its_first_parents(world: World, git: Git) -> None:
    root = world.git("rev-list", "--max-parents=0", "HEAD")
    world.git("checkout", "-q", "--orphan", "other")
    world.git("commit", "-q", "-m", "other root")
    other = world.git("rev-parse", "HEAD")
    world.git("checkout", "-q", "main")
    world.git("merge", "-q", "--allow-unrelated-histories", "-m", "merge", "other")
    from ai_kb.remember import project_of

    found = project_of(str(world.workspace), world.env)
    assert found.root == root != other
    assert found.head == world.git("rev-parse", "HEAD")


def test_a_history_that_is_too_long_for_a_hook_is_left_to_a_command(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        (world.workspace / "f").write_text(str(number))
        world.git("add", ".")
        world.git("commit", "-q", "-m", str(number))
    monkeypatch.setattr(project, "_HOOK_STEPS", 2)
    with world.repo().repo.objects() as reader:
        common = world.repo().repo.common_dir
        assert project.identify(str(world.workspace), common, reader, env=world.env, hook=True).root == ""
        assert project.identify(str(world.workspace), common, reader, env=world.env).root
        assert project.identify(str(world.workspace), common, reader, env=world.env, hook=True).root


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://github.com/a/b.git", "git@GitHub.com:a/b", True),
        ("ssh://git@github.com/a/b/", "https://user:token@github.com/a/b", True),
        ("/srv/git/x.git", "file:///srv/git/x", True),
        ("https://github.com/a/b", "https://github.com/a/c", False),
        ("https://github.com/A/b", "https://github.com/a/b", False),
        ("../sibling", "../sibling", True),
    ],
)
def test_one_remote_has_one_digest_however_it_is_written(one: str, other: str, same: bool) -> None:
    assert (project.url_id(one) == project.url_id(other)) is same
    assert "token" not in project.url_id(one)


def test_the_url_is_read_from_the_repositorys_own_configuration(tmp_path: Path) -> None:
    assert project.remote_url(str(tmp_path)) == ""
    (tmp_path / "config").write_text(
        '[core]\n\turl = no\n[remote "up"]\n\turl = first\n[remote "origin"]\n\tfetch = x\n\tURL = "second"\n'
    )
    assert project.remote_url(str(tmp_path)) == "second"
    (tmp_path / "config").write_text('[remote "up"]\n\turl = first\n[branch "x"]\n\turl = no\n')
    assert project.remote_url(str(tmp_path)) == "first"
    assert project.url_id(" ") == ""


def test_ages_are_words(world: World) -> None:
    from ai_kb.inject_text import age

    now = NOW.timestamp()
    assert age("2026-11-30T11:00:00Z", now) == "today"
    assert age("2027-11-30T11:00:00Z", now) == "today"
    assert age("2026-11-29T23:00:00Z", now) == "1 day"
    assert age("2026-10-02T00:00:00Z", now) == "59 days"
    assert age("2026-09-01T00:00:00Z", now) == "3 months"
    assert age("2024-03-01T00:00:00Z", now) == "2 years"
    assert age("1970-01-01T00:00:00Z", 86_400.0) == "1 day"
    assert age("nonsense", 0.0) == "today"
