"""Repositories of every kind: linked worktrees, bare, SHA-256, shallow, partial, alternates, empty …"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_base.gitproc import GitError, GitTimeout, TooLarge
from ai_kb.hn.errors import HnError, NotFound
from ai_kb.hn.facts import RepositoryFacts
from ai_kb.hn.gitobjects import parse_commit, parse_tree
from ai_kb.hn.gitstore import ABSENT, NOT_A_BLOB, Repository, configured_object_format
from ai_kb.hn.identity import Keyring
from ai_kb.hn.streams import collect
from tests.hn.fixture_repos import all_refs, git, give_identity, hn, restore
from tests.hn.stream_maker import Maker

FLAGS = ("--kind", "observation", "--at", "HEAD", "--applies", "descendants")


def record(where: Path, content: str, *more: str) -> dict[str, Any]:
    result = hn(where, "memory", "record", *FLAGS, "--content", content, "--json", *more)
    assert result.exit == 0, result.stderr
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def shown(where: Path, made: dict[str, Any], **options: Any) -> dict[str, Any]:
    result = hn(where, "memory", "show", made["memoryId"], "--json", **options)
    assert result.exit == 0, result.stderr
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def git_version() -> tuple[int, ...]:
    words = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()
    return tuple(int(part) for part in words[2].split(".")[:2])


@pytest.fixture
def work(repository: Path) -> Path:
    give_identity(repository / ".git", "alice")
    return repository


def test_a_repository_may_lie_in_a_directory_with_line_breaks(tmp_path: Path) -> None:
    for name in ("a\nb", "end\n", "\n/start", "/dev\n/null"):
        where = tmp_path / name.strip("/")
        where.mkdir(parents=True)
        git(where, "init", "-q")
        repo = Repository.open(str(where), os.environ)
        assert (repo.git_dir, repo.work_tree) == (f"{where}/.git", str(where))
        assert repo.common_dir == repo.git_dir
        with repo.objects() as reader:
            assert reader.info(["HEAD"]) == [None]
    bare = tmp_path / "bare\n.git"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    repo = Repository.open(str(bare), os.environ)
    assert (repo.git_dir, repo.common_dir, repo.work_tree) == (str(bare), str(bare), None)


def test_a_repository_is_found_from_any_directory_inside_it(work: Path) -> None:
    (work / "a b" / "ü").mkdir(parents=True)
    for start in (work, work / "a b" / "ü", work / ".git", work / ".git" / "refs"):
        repo = Repository.open(str(start), os.environ)
        assert repo.git_dir == repo.common_dir == str(work / ".git")
        assert repo.work_tree == (None if ".git" in start.parts else str(work))
        assert (repo.object_format, repo.hash_length) == ("sha1", 40)


def test_every_verb_works_from_a_subdirectory_and_through_a_symlink(work: Path, tmp_path: Path) -> None:
    (work / "sub").mkdir()
    (work / "sub" / "file").write_text("x")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "sub")
    (tmp_path / "link").symlink_to(work)
    made = record(work / "sub", "here", "--path", "README.md", "--path", "sub/file")
    assert [entry["path"] for entry in made["anchor"]["paths"]] == ["README.md", "sub/file"]
    for where in (work, work / "sub", tmp_path / "link" / "sub", work / ".git"):
        assert shown(where, made)["projection"]["applicability"] == "applicable"


def test_inherited_git_variables_do_not_lead_elsewhere(work: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "elsewhere")
    env = {
        **os.environ,
        "GIT_DIR": str(tmp_path / "elsewhere" / ".git"),
        "GIT_WORK_TREE": str(tmp_path),
        "GIT_INDEX_FILE": "/nowhere",
        "GIT_OBJECT_DIRECTORY": "/nowhere",
    }
    result = hn(work, "memory", "record", *FLAGS, "--content", "x", env=env)
    assert result.exit == 0, result.stderr
    assert len(all_refs(work, "refs/hn/memory")) == 1


def test_a_linked_worktree_uses_the_common_keyring_unless_it_has_its_own(work: Path, tmp_path: Path) -> None:
    """docs/protocol.md, "Where this differs from the first implementation", 8."""
    linked = tmp_path / "linked"
    git(work, "worktree", "add", "-q", "-b", "topic", str(linked))
    repo = Repository.open(str(linked), os.environ)
    assert repo.git_dir != repo.common_dir
    assert repo.work_tree == str(linked)
    made = record(linked, "from the worktree")
    assert shown(work, made)["envelope"]["actorName"] == "Alice Agent"
    give_identity(Path(repo.git_dir), "bob")
    other = record(linked, "by the worktree's own identity")
    assert shown(work, other)["envelope"]["actorName"] == "Bob Agent"


def test_init_in_a_linked_worktree_writes_to_the_common_directory(repository: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "-q", "-b", "topic", str(linked))
    assert hn(linked, "init", "--name", "W").exit == 0
    assert (repository / ".git" / "hn" / "active").exists()
    git(repository, "worktree", "remove", "--force", str(linked))
    assert hn(repository, "identity", "show").stdout.startswith("Name:   W\n")


def test_a_repository_shared_with_a_group_works(tmp_path: Path) -> None:
    """Its directories hand their set-group-id on to what is made in them."""
    git(tmp_path, "init", "-q", "-b", "main", "--shared=group", "shared")
    work = tmp_path / "shared"
    git(work, "commit", "-q", "--allow-empty", "-m", "x")
    assert (work / ".git").stat().st_mode & 0o2000
    flags = ("--kind", "observation", "--at", "HEAD", "--applies", "exact", "--content", "x")
    for argv in (
        ("memory", "recall"),
        ("replication", "select", "--all"),
        ("init",),
        ("memory", "record", *flags),
        ("memory", "index", "rebuild"),
        ("memory", "index", "verify"),
    ):
        result = hn(work, *argv)
        assert result.exit == 0, (argv, result.stderr)
    for name in ("", "memory", "identities", "replication"):
        assert (work / ".git" / "hn" / name).stat().st_mode & 0o7777 == 0o700, name


def test_a_bare_repository_works(tmp_path: Path, repository: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    assert hn(bare, "init", "--name", "B").exit == 0
    assert (bare / "hn" / "active").exists()
    made = record(bare, "in a bare repository")
    assert shown(bare / "objects", made)["projection"]["applicability"] == "applicable"
    opened = Repository.bare(str(bare), os.environ)
    assert (opened.git_dir, opened.work_tree, opened.object_format) == (str(bare), None, "sha1")
    with pytest.raises(NotFound):
        Repository.bare(str(tmp_path / "nothing"), os.environ)


@pytest.mark.parametrize("bare", [False, True])
def test_sha256_repositories_work(tmp_path: Path, bare: bool) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "-b", "main", "w")
    work = tmp_path / "w"
    (work / "f").write_text("x")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "x")
    if bare:
        git(tmp_path, "clone", "-q", "--bare", str(work), "w.git")
        work = tmp_path / "w.git"
    assert hn(work, "init", "--name", "S").exit == 0
    first = record(work, "one", "--path", "f", "--evidence", "git:" + git(work, "rev-parse", "HEAD"))
    assert len(first["anchor"]["commit"]) == 64
    second = record(work, "two", "--evidence", f"memory:{first['memoryId']}")
    projection = shown(work, second)["projection"]
    assert (projection["applicability"], projection["evidence"]) == ("applicable", "resolved")
    repo = Repository.open(str(work), os.environ)
    assert (repo.object_format, repo.hash_length) == ("sha256", 64)
    assert Repository.bare(repo.git_dir, os.environ).object_format == "sha256"
    with repo.objects() as reader:
        assert len(collect(repo, reader).memories) == 2
    git(work, "fsck", "--strict")


def test_commits_are_what_git_itself_would_have_made(work: Path) -> None:
    made = record(work, "x")
    (head,) = all_refs(work, "refs/hn/memory").values()
    tree = git(work, "rev-parse", f"{head}^{{tree}}")
    date = git(work, "log", "-1", "--format=%ad", "--date=raw", head)
    same = git(
        work,
        "commit-tree",
        tree,
        "-m",
        f"hn memory {made['memoryId']}",
        GIT_AUTHOR_NAME="Alice Agent",
        GIT_AUTHOR_EMAIL=f"{made['actor'][:12]}@hn.invalid",
        GIT_AUTHOR_DATE=date,
        GIT_COMMITTER_NAME="Alice Agent",
        GIT_COMMITTER_EMAIL=f"{made['actor'][:12]}@hn.invalid",
        GIT_COMMITTER_DATE=date,
    )
    assert same == head
    git(work, "fsck", "--strict")


def test_a_repository_without_a_commit_says_so_and_shows_what_came_from_elsewhere(
    tmp_path: Path, work: Path
) -> None:
    made = record(work, "elsewhere")
    git(tmp_path, "init", "-q", "-b", "main", "empty")
    empty = tmp_path / "empty"
    give_identity(empty / ".git", "alice")
    refused = hn(empty, "memory", "record", *FLAGS, "--content", "x")
    assert refused.stderr == 'hn: Git revision "HEAD" is not a commit\n'
    (ref,) = all_refs(work, "refs/hn/memory")
    git(empty, "fetch", "-q", str(work), f"{ref}:{ref}")
    projection = shown(empty, made)["projection"]
    assert (projection["applicability"], projection["trust"]) == ("anchor-missing", "policy-missing")


def test_a_detached_head_is_a_commit_like_any_other(work: Path) -> None:
    git(work, "commit", "-q", "--allow-empty", "-m", "second")
    git(work, "checkout", "-q", "--detach", "HEAD~1")
    made = record(work, "detached")
    assert made["anchor"]["commit"] == git(work, "rev-parse", "HEAD")
    git(work, "checkout", "-q", "main")
    assert shown(work, made)["projection"]["applicability"] == "applicable"


def test_a_submodule_is_its_own_repository_and_no_blob_of_the_outer_one(work: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    git(tmp_path, "init", "-q", "-b", "main", "inner")
    git(inner, "commit", "-q", "--allow-empty", "-m", "x")
    git(work, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(work, "commit", "-q", "-m", "submodule")
    refused = hn(work, "memory", "record", *FLAGS, "--content", "x", "--path", "sub")
    assert refused.stderr.startswith("hn: resolve path sub at commit ")
    record(work, "below it", "--path", "sub/file", "--blob", "absent")
    assert hn(work / "sub", "init", "--name", "Inner").exit == 0
    record(work / "sub", "inside")
    assert len(all_refs(work / "sub", "refs/hn/memory")) == 1
    assert len(all_refs(work, "refs/hn/memory")) == 1


def test_alternates_are_read(work: Path, tmp_path: Path) -> None:
    made = record(work, "in the lender")
    borrower = tmp_path / "borrower"
    git(tmp_path, "clone", "-q", "--shared", str(work), str(borrower))
    give_identity(borrower / ".git", "alice")
    ((ref, head),) = all_refs(work, "refs/hn/memory").items()
    git(borrower, "update-ref", ref, head)
    assert shown(borrower, made)["projection"]["applicability"] == "applicable"
    assert shown(borrower, record(borrower, "on top"))["envelope"]["sequence"] == 2


@pytest.mark.skipif(git_version() < (2, 45), reason="this git does not know reftable")
def test_reftable_repositories_work(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--ref-format=reftable", "-b", "main", "w")
    work = tmp_path / "w"
    git(work, "commit", "-q", "--allow-empty", "-m", "x")
    assert hn(work, "init", "--name", "R").exit == 0
    for _ in range(2):
        made = record(work, "x")
    assert shown(work, made)["envelope"]["sequence"] == 2


# --- history that is not all there --------------------------------------------------------------


@pytest.fixture
def upstream(work: Path) -> Path:
    """Five commits on main; one record at the first and one at the fourth."""
    made = []
    for number in range(4):
        if number in (0, 3):
            made.append(record(work, f"at {number}"))
        (work / "f").write_text(str(number))
        git(work, "add", ".")
        git(work, "commit", "-q", "-m", str(number))
    git(work, "config", "uploadpack.allowFilter", "true")
    git(work, "config", "uploadpack.allowAnySHA1InWant", "true")
    return work


def test_in_a_shallow_clone_what_cannot_be_told_is_missing_and_not_wrong(
    upstream: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{upstream}", str(clone))
    ((ref, _),) = all_refs(upstream, "refs/hn/memory").items()
    git(clone, "fetch", "-q", "--depth", "9", str(upstream), f"{ref}:{ref}")
    root = git(upstream, "rev-list", "--max-parents=0", "main")
    tip = git(clone, "rev-parse", "HEAD")
    repo = Repository.open(str(clone), os.environ)
    assert repo.is_shallow()
    with repo.objects() as reader:
        memories = collect(repo, reader).memories
        facts = RepositoryFacts(repo, reader, memories, set)
        facts.prepare(memories.values(), tip)
        assert facts.object_type(root) is None
        # A commit that is there but not connected: beyond the boundary, so nobody can say.
        git(clone, "fetch", "-q", "--depth", "1", str(upstream), f"{root}:refs/heads/old")
        assert repo.is_ancestor(root, tip) is None
        assert repo.not_reachable([root], tip) is None
        assert repo.is_ancestor(tip, tip) is True
        assert repo.is_ancestor(git(clone, "rev-parse", "HEAD~1"), tip) is True
        # Its own history ends at its own boundary too, and says nothing of main.
        assert repo.is_ancestor(tip, root) is None


def test_a_stream_cut_by_a_shallow_boundary_fails_closed(upstream: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", f"file://{upstream}", str(clone))
    ((ref, head),) = all_refs(upstream, "refs/hn/memory").items()
    git(clone, "fetch", "-q", "--depth", "1", f"file://{upstream}", f"{ref}:{ref}")
    result = hn(clone, "memory", "show", "sha256:" + "0" * 64)
    assert result.exit == 1
    assert f"of memory commit {head} is not available" in result.stderr
    assert all_refs(clone, "refs/hn") == {ref: head}


def test_a_partial_clone_answers_about_paths_without_its_blobs(upstream: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{upstream}", str(clone))
    head = git(clone, "rev-parse", "HEAD")
    blob = git(upstream, "rev-parse", "HEAD:f")
    repo = Repository.open(str(clone), {**os.environ, "GIT_NO_LAZY_FETCH": "1"})
    with repo.objects() as reader:
        assert reader.path_blobs(head, ["f", "g", "f/x"]) == [blob, ABSENT, ABSENT]


def test_an_offline_read_of_a_partial_clone_fails_clearly_and_an_online_one_fetches(
    upstream: Path, tmp_path: Path
) -> None:
    """memory-v0, "Bounded recall": ``GIT_NO_LAZY_FETCH=1`` enforces an offline read."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{upstream}", str(clone))
    ((ref, head),) = all_refs(upstream, "refs/hn/memory").items()
    git(clone, "fetch", "-q", "--filter=blob:none", f"file://{upstream}", f"{ref}:{ref}")
    git(clone, "config", "remote.origin.promisor", "true")
    payload = git(upstream, "rev-parse", f"{head}:memory.json")

    def has_payload() -> bool:
        listed = git(clone, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
        return payload in listed.split()

    if has_payload():
        pytest.skip("this git fetches blobs in spite of the filter")
    offline = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
    result = hn(clone, "memory", "show", "sha256:" + "0" * 64, env=offline)
    assert result.exit == 1
    assert result.stdout == ""
    # git either says that it is missing, or ends.
    assert "is not available" in result.stderr or (
        "from promisor remote (of this partial clone an object is not here" in result.stderr
    )
    assert not has_payload()
    online = hn(clone, "memory", "show", "sha256:" + "0" * 64)
    assert "was not found in verified" in online.stderr
    assert has_payload()


# --- exact questions ----------------------------------------------------------------------------


def test_paths_are_paths_and_not_pathspecs(work: Path) -> None:
    odd = [":(top)x", "*.md", "a b", "ü/ö", "[x]", "-dash", "a/./b"]
    for name in odd[:-1]:
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text(name)
    git(work, "--literal-pathspecs", "add", "--", *odd[:-1])
    git(work, "commit", "-q", "-m", "odd")
    head = git(work, "rev-parse", "HEAD")
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader:
        found = reader.path_blobs(head, [*odd, "ü", "./README.md", "../x", "README.md/x", "none/x/y"])
        blobs = [git(work, "hash-object", "--", str(work / name)) for name in odd[:-1]]
    assert found == [*blobs, ABSENT, NOT_A_BLOB, ABSENT, ABSENT, ABSENT, ABSENT]


def test_a_tree_entry_that_claims_to_be_a_directory_and_is_none_is_an_error(work: Path) -> None:
    blob = git(work, "hash-object", "-w", "--stdin", stdin=b"x")
    data = b"40000 d\0" + bytes.fromhex(blob)
    tree = git(work, "hash-object", "-w", "-t", "tree", "--stdin", "--literally", stdin=data)
    commit = git(work, "commit-tree", tree, "-m", "x")
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader, pytest.raises(HnError, match="is malformed"):
        reader.path_blobs(commit, ["d/f"])


def test_paths_whose_trees_are_lost_are_neither_there_nor_absent(work: Path) -> None:
    (work / "d").mkdir()
    (work / "d" / "f").write_text("x")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "x")
    head = git(work, "rev-parse", "HEAD")
    for name in ("HEAD:d", "HEAD^{tree}"):
        tree = git(work, "rev-parse", name)
        (work / ".git/objects" / tree[:2] / tree[2:]).unlink()
        repo = Repository.open(str(work), os.environ)
        with repo.objects() as reader:
            assert reader.path_blobs(head, ["d/f", "d/x/y"]) == [None, None]
            facts = RepositoryFacts(repo, reader, (), set)
            assert facts.path_blob(head, "d/f") is None


def test_a_damaged_tree_is_an_error_and_not_an_answer(work: Path) -> None:
    data = b"100644 x\0short"
    tree = git(work, "hash-object", "-w", "-t", "tree", "--stdin", "--literally", stdin=data)
    body = f"tree {tree}\nauthor x <x> 0 +0000\ncommitter x <x> 0 +0000\n\nx\n".encode()
    commit = git(work, "hash-object", "-w", "-t", "commit", "--stdin", "--literally", stdin=body)
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader, pytest.raises(HnError, match="is malformed"):
        reader.path_blobs(commit, ["x"])
    with pytest.raises(ValueError, match="no tree"):
        parse_commit(b"blob")
    assert parse_tree(b"", 20) == []


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        ("-x", 'invalid revision "-x"'),
        ("--all", 'invalid revision "--all"'),
        ("nope", 'Git revision "nope" is not a commit'),
        ("HEAD:README.md", "is not a commit"),
        ("HEAD..HEAD", "is not a commit"),
        ("^HEAD", "is not a commit"),
        ("", 'Git revision "" is not a commit'),
        ("HEAD\nHEAD", 'Git revision "HEAD\\nHEAD" is not a commit'),
        ("HEAD\0", "is not a commit"),
        ('a"\u202eb', 'Git revision "a\\"\\u202eb" is not a commit'),
        # On these git does not answer that there is nothing: it ends.
        ("main@{upstream}", 'Git revision "main@{upstream}" is not a commit'),
        ("@{push}", 'Git revision "@{push}" is not a commit'),
        ("HEAD@{9999}", 'Git revision "HEAD@{9999}" is not a commit'),
        (":/[", 'Git revision ":/[" is not a commit'),
        ("HEAD^{/[}", 'Git revision "HEAD^{/[}" is not a commit'),
    ],
)
def test_revisions_that_are_no_commit_are_refused(work: Path, revision: str, message: str) -> None:
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader:
        with pytest.raises(HnError) as caught:
            repo.resolve_commit(revision, reader)
        assert message in caught.value.message
        assert reader.resolve_commit("HEAD") == git(work, "rev-parse", "HEAD")


def test_a_repository_that_git_cannot_read_is_not_blamed_on_the_revision(work: Path) -> None:
    repo = Repository.open(str(work), os.environ)
    (work / ".git" / "HEAD").unlink()
    with repo.objects() as reader, pytest.raises(GitError, match="git cat-file ended unexpectedly"):
        reader.resolve_commit("main")
    late = Repository(
        git_dir=repo.git_dir,
        common_dir=repo.common_dir,
        work_tree=repo.work_tree,
        object_format=repo.object_format,
        env=os.environ,
        deadline=0.0,
    )
    with late.objects() as reader, pytest.raises(GitTimeout):
        reader.resolve_commit("main")


def test_revisions_that_name_a_commit_are_resolved(work: Path) -> None:
    head = git(work, "rev-parse", "HEAD")
    git(work, "tag", "-a", "-m", "x", "v1")
    repo = Repository.open(str(work), os.environ)
    for revision in ("HEAD", "main", "v1", "v1^{}", head, head[:10], "HEAD^0", "@", "refs/heads/main"):
        assert repo.resolve_commit(revision) == head


def test_ancestry_is_what_the_commits_say_and_not_what_grafts_or_replacements_pretend(work: Path) -> None:
    git(work, "checkout", "-q", "-b", "side")
    git(work, "commit", "-q", "--allow-empty", "-m", "side")
    side = git(work, "rev-parse", "HEAD")
    flags = ("--kind", "observation", "--at", "side", "--applies", "descendants", "--content", "x")
    assert hn(work, "memory", "record", *flags).exit == 0
    git(work, "checkout", "-q", "main")
    git(work, "commit", "-q", "--allow-empty", "-m", "main")
    main, base = git(work, "rev-parse", "HEAD"), git(work, "rev-parse", "HEAD~1")
    git(work, "replace", "--graft", main, base, side)
    (work / ".git/info").mkdir(exist_ok=True)
    (work / ".git/info/grafts").write_text(f"{main} {base} {side}\n")
    assert side in git(work, "rev-list", "main")  # so says git by itself
    repo = Repository.open(str(work), os.environ)
    assert repo.ancestry([base, side], main) == {base: True, side: False}
    recall = ("memory", "recall", "--include-untrusted", "--json")
    assert json.loads(hn(work, *recall).stdout)["matched"] == 0
    assert json.loads(hn(work, *recall, "--at", "side").stdout)["matched"] == 1
    assert repo.run("rev-list", "-1", main)[2] == b""  # and nothing about it on stderr


def test_ancestry_is_answered_in_bulk(work: Path) -> None:
    git(work, "checkout", "-q", "-b", "side")
    git(work, "commit", "-q", "--allow-empty", "-m", "side")
    side = git(work, "rev-parse", "HEAD")
    git(work, "checkout", "-q", "main")
    git(work, "commit", "-q", "--allow-empty", "-m", "main")
    main, base = git(work, "rev-parse", "HEAD"), git(work, "rev-parse", "HEAD~1")
    repo = Repository.open(str(work), os.environ)
    assert repo.ancestry([base, side, main], main) == {base: True, side: False, main: True}
    assert repo.not_reachable([base, side], main) == {side}
    assert repo.ancestry([], main) == {}
    assert repo.ancestry([base], "9" * 40) == {base: None}
    with repo.objects() as reader:
        facts = RepositoryFacts(repo, reader, {"sha256:1"}, lambda: {"sha256:2"})
        assert facts.is_ancestor(main, main) is True
        assert facts.is_ancestor(base, main) is True
        assert facts.is_ancestor(side, main) is False
        assert facts.object_type(base) == "commit"
        assert facts.object_type("9" * 40) is None
        assert facts.memory_known("sha256:1")
        assert not facts.memory_known("sha256:2")
        assert facts.event_known("sha256:2")
        assert not facts.event_known("sha256:1")


def test_an_object_that_is_too_large_is_not_read(work: Path) -> None:
    blob = git(work, "hash-object", "-w", "--stdin", stdin=b"x" * 1000)
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader:
        with pytest.raises(TooLarge):
            reader.content(blob, 999)
        assert reader.content(blob, 1000) == (blob, "blob", b"x" * 1000)
        assert reader.read("9" * 40) is None


def test_a_config_that_says_nothing_of_hashes_means_sha1(tmp_path: Path) -> None:
    assert configured_object_format(str(tmp_path)) == "sha1"
    for text, expected in (
        ("[core]\n\tobjectformat = sha256\n", "sha1"),
        ("[Extensions]\n\tObjectFormat=SHA256\n", "sha256"),
        ("[extensions]\n\tobjectformat = sha1\n", "sha1"),
    ):
        (tmp_path / "config").write_text(text)
        assert configured_object_format(str(tmp_path)) == expected


def test_a_reader_may_be_shared(work: Path) -> None:
    repo = Repository.open(str(work), os.environ)
    with repo.objects() as reader:
        assert repo.resolve_commit("HEAD", reader) == reader.head() == git(work, "rev-parse", "HEAD")


def test_git_failures_carry_the_reason_of_git(work: Path) -> None:
    repo = Repository.open(str(work), os.environ)
    with pytest.raises(HnError, match=r"git no-such-command failed: .*no-such-command"):
        repo.git("no-such-command")
    assert repo.git("rev-parse", "HEAD").decode().strip() == git(work, "rev-parse", "HEAD")


def test_another_users_repository_is_refused_by_git_itself(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    git(tmp_path, "init", "-q", "theirs")
    for path in (tmp_path / "theirs").rglob("*"):
        shutil.chown(path, 12345)
    shutil.chown(tmp_path / "theirs", 12345)
    (Path(os.environ["HOME"]) / ".gitconfig").write_text("")
    result = hn(tmp_path / "theirs", "init")
    assert result.exit == 1
    assert "dubious ownership" in result.stderr


def test_memory_of_a_moved_repository_is_verified_at_its_new_place(
    work: Path, tmp_path: Path, alice: Any
) -> None:
    maker = Maker(work, alice)
    maker.bulk(5)
    wanted = maker.previous
    before = hn(work, "memory", "show", wanted).stdout
    moved = work.rename(tmp_path / "moved")
    assert hn(moved, "memory", "show", wanted).stdout == before
    restore("repo-c", work)
    assert "was not found" in hn(work, "memory", "show", wanted).stderr
    assert Keyring.of(Repository.open(str(moved), os.environ)).active().name == "Alice Agent"
