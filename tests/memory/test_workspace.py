"""Workspace, roots, session keys and topic names."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_base.errors import SuiteError, UnsafePath
from agent_memory import workspace as places
from agent_memory.payload import normalise
from tests.conftest import examples

HOSTILE_IDS = [
    "a/b",
    "a-b",
    "a" * 200,
    "a" * 81,
    "a" * 82,
    "ü",
    "..",
    ".",
    "a\0b",
    "current",
    "",
    "a b",
    "A/B",
]


def event(**fields: object) -> object:
    import json

    return normalise(json.dumps({"hook_event_name": "SessionStart", **fields}).encode(), "claude")


def resolve(env: dict[str, str], process: Path, **fields: object) -> str:
    return places.resolve_workspace(event(**fields), env, str(process))  # type: ignore[arg-type]


class TestWorkspace:
    def test_is_the_first_workspace_root_of_the_payload(self, tmp_path: Path) -> None:
        for name in ("one", "two", "three"):
            (tmp_path / name).mkdir()
        roots = [str(tmp_path / "one"), str(tmp_path / "two")]
        env = {"CLAUDE_PROJECT_DIR": str(tmp_path / "three")}
        found = resolve(env, tmp_path, workspace_roots=roots, cwd=str(tmp_path / "two"))
        assert found == str(tmp_path / "one")

    def test_is_the_project_directory_when_the_payload_has_no_roots(self, tmp_path: Path) -> None:
        env = {"CLAUDE_PROJECT_DIR": str(tmp_path / "three")}
        assert resolve(env, tmp_path, cwd=str(tmp_path / "two")) == str(tmp_path / "three")

    def test_is_the_payloads_directory_without_a_project_directory(self, tmp_path: Path) -> None:
        assert resolve({}, tmp_path, cwd=str(tmp_path / "two")) == str(tmp_path / "two")

    def test_is_the_directory_of_the_process_at_last(self, tmp_path: Path) -> None:
        assert resolve({}, tmp_path) == str(tmp_path)

    def test_passes_over_what_is_no_absolute_path(self, tmp_path: Path) -> None:
        env = {"CLAUDE_PROJECT_DIR": "relative"}
        assert resolve(env, tmp_path, workspace_roots=["x"], cwd="a\0b") == str(tmp_path)

    def test_is_the_root_of_the_work_tree_around_it(self, repository: Path) -> None:
        (repository / "src/deep").mkdir(parents=True)
        assert resolve({}, repository, cwd=str(repository / "src/deep")) == str(repository)

    def test_of_a_linked_worktree_is_that_worktree(self, repository: Path, git: Callable[..., str]) -> None:
        other = repository.parent / "linked tree"
        git(repository, "worktree", "add", "-q", str(other), "-b", "topic")
        (other / "sub").mkdir()
        assert resolve({}, repository, cwd=str(other / "sub")) == str(other)
        assert places.branch(str(other)) == "topic"

    def test_is_resolved_through_symlinks(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        assert resolve({}, tmp_path, cwd=str(tmp_path / "link")) == str(tmp_path / "real")

    def test_is_never_a_path_that_no_system_call_takes(self, tmp_path: Path) -> None:
        found = resolve({}, tmp_path, workspace_roots=["/\ud800"], cwd="/tmp/\udfff")
        assert found == str(tmp_path)


class TestBranch:
    def test_is_read_without_a_process(
        self, repository: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        git(repository, "switch", "-q", "-c", "feature/ünï")
        monkeypatch.setattr(subprocess, "run", None)
        assert places.branch(str(repository)) == "feature/ünï"

    def test_of_a_detached_head_is_none(self, repository: Path, git: Callable[..., str]) -> None:
        git(repository, "switch", "-q", "--detach")
        assert places.branch(str(repository)) is None

    def test_of_no_repository_is_none(self, tmp_path: Path) -> None:
        assert places.branch(str(tmp_path)) is None

    def test_of_a_reftable_repository_is_asked_of_git(self, tmp_path: Path, git: Callable[..., str]) -> None:
        path = tmp_path / "tables"
        path.mkdir()
        try:
            git(path, "init", "-q", "-b", "trunk", "--ref-format=reftable")
        except subprocess.CalledProcessError:
            pytest.skip("this git does not know the reftable format")
        assert places.branch(str(path)) == "trunk"

    def test_of_another_ref_format_is_what_git_says(
        self, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (repository / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
        script = tmp_path / "bin/git"
        script.parent.mkdir()
        script.write_text('#!/bin/sh\n[ -z "$GIT_DIR" ] && echo from-git\n')
        script.chmod(0o755)
        monkeypatch.setenv("GIT_DIR", "/elsewhere")
        monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
        assert places.branch(str(repository)) == "from-git"
        monkeypatch.setenv("PATH", str(tmp_path))
        assert places.branch(str(repository)) is None

    def test_of_a_head_that_cannot_be_read_is_none(self, repository: Path) -> None:
        (repository / ".git/HEAD").unlink()
        (repository / ".git/HEAD").mkdir()
        assert places.branch(str(repository)) is None

    def test_of_a_head_that_is_a_symlink_is_its_target(self, repository: Path) -> None:
        head = repository / ".git/HEAD"
        head.unlink()
        head.symlink_to("refs/heads/main")
        assert places.branch(str(repository)) == "main"


class TestRoots:
    def test_default_to_tmp_specs(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(places, "DEFAULT_ROOT", str(tmp_path / "specs"))
        assert places.spec_root({}) == str(tmp_path / "specs")
        assert places.root_notice(str(tmp_path / "specs")) is None

    def test_of_another_user_are_left_to_them_and_it_is_said(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "specs").mkdir()
        monkeypatch.setattr(places, "DEFAULT_ROOT", str(tmp_path / "specs"))
        monkeypatch.setattr(os, "geteuid", lambda: 54321)
        root = places.spec_root({})
        assert root == f"{tmp_path}/specs-{os.getuid()}"
        assert "belongs to another user" in str(places.root_notice(root))

    def test_follow_the_variable(self, tmp_path: Path) -> None:
        assert places.spec_root({"AGENT_MEMORY_SPEC_ROOT": str(tmp_path)}) == str(tmp_path)

    def test_in_a_hook_ignore_a_variable_that_points_into_the_workspace(self, tmp_path: Path) -> None:
        inside = tmp_path / "specs"
        inside.mkdir(mode=0o700)
        env = {"AGENT_MEMORY_SPEC_ROOT": str(inside), "AGENT_MEMORY_MIRROR_ROOT": str(inside), "HOME": "/h"}
        assert places.spec_root(env, str(tmp_path)) == places.DEFAULT_ROOT
        assert places.mirror_root(env, str(tmp_path)) == "/h/.local/state/agent-specs"
        assert places.spec_root(env, "/elsewhere") == str(inside)

    def test_a_spec_directory_is_the_root_and_the_resolved_workspace(self, tmp_path: Path) -> None:
        (tmp_path / "real dir").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real dir")
        assert places.spec_dir("/r", str(tmp_path / "link")) == f"/r{tmp_path}/real dir"
        assert places.spec_dir("/r", "/") == "/r"

    def test_everything_made_is_private(self, tmp_path: Path) -> None:
        root = tmp_path / "root"
        places.ensure_spec_dir(str(root), str(root / "a/b/c"))
        for path in (root, root / "a", root / "a/b", root / "a/b/c"):
            assert path.stat().st_mode & 0o777 == 0o700
        assert places.check_spec_dir(str(root), str(root / "a/b/c"))
        assert not places.check_spec_dir(str(root), str(root / "a/x"))

    @pytest.mark.parametrize("level", ["a", "a/b", "a/b/c"])
    def test_a_symlink_below_the_root_is_refused(self, tmp_path: Path, level: str) -> None:
        root = tmp_path / "root"
        elsewhere = tmp_path / "elsewhere"
        (elsewhere / "b/c").mkdir(parents=True)
        places.ensure_spec_dir(str(root), str((root / level).parent))
        (root / level).symlink_to(elsewhere)
        with pytest.raises(UnsafePath, match="symbolic link"):
            places.check_spec_dir(str(root), str(root / "a/b/c"))
        with pytest.raises(UnsafePath, match="symbolic link"):
            places.ensure_spec_dir(str(root), str(root / "a/b/c"))

    def test_a_directory_writable_by_others_is_refused(self, tmp_path: Path) -> None:
        root = tmp_path / "root"
        places.ensure_spec_dir(str(root), str(root / "a/b"))
        (root / "a").chmod(0o770)
        with pytest.raises(UnsafePath, match="can be written by others") as refused:
            places.check_spec_dir(str(root), str(root / "a/b"))
        assert "chmod" in refused.value.hint

    def test_a_foreign_directory_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        root = tmp_path / "root"
        places.ensure_spec_dir(str(root), str(root / "a"))
        monkeypatch.setattr(os, "geteuid", lambda: 54321)
        with pytest.raises(UnsafePath, match="belongs to another user"):
            places.check_spec_dir(str(root), str(root / "a"))

    def test_a_file_in_place_of_a_directory_is_refused(self, tmp_path: Path) -> None:
        root = tmp_path / "root"
        root.mkdir(mode=0o700)
        (root / "a").write_text("")
        with pytest.raises(UnsafePath, match="not a directory"):
            places.ensure_spec_dir(str(root), str(root / "a/b"))

    def test_the_root_itself_may_be_a_link_of_this_user(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir(mode=0o700)
        (tmp_path / "root").symlink_to(tmp_path / "real")
        places.ensure_spec_dir(str(tmp_path / "root"), str(tmp_path / "root/a"))
        assert (tmp_path / "real/a").is_dir()


class TestSessionKeys:
    def test_of_safe_ids_are_the_ids(self) -> None:
        for name in ("8ea6ecb4-4eb8-4de4-a753-3c09537fdf1b", "ses_dd44", "a", "a" * 81, "0.1_-x"):
            assert places.session_key(name) == name

    def test_are_fit_for_file_names(self) -> None:
        for name in HOSTILE_IDS:
            key = places.session_key(name)
            assert 1 <= len(key) <= 81
            assert key[0].isascii()
            assert key[0].isalnum()
            assert all(c.isascii() and (c.isalnum() or c in "_.-") for c in key)
            assert os.path.basename(key) == key

    def test_of_different_ids_differ(self) -> None:
        keys = [places.session_key(name) for name in HOSTILE_IDS]
        assert len(set(keys)) == len(HOSTILE_IDS)

    def test_cannot_be_hit_by_an_id_that_looks_like_one(self) -> None:
        key = places.session_key("a/b")
        assert places.session_key(key) != key

    def test_carry_a_digest_where_making_them_safe_changed_them(self) -> None:
        assert places.session_key("a/b").startswith("a-b--")
        assert places.session_key("a/b") != places.session_key("a:b")

    @given(st.lists(st.text(max_size=90), min_size=2, max_size=6, unique=True))
    @examples(200)
    def test_never_collide_whatever_the_ids(self, ids: list[str]) -> None:
        assert len({places.session_key(i) for i in ids}) == len(ids)
        for session in ids:
            assert places.is_session_key(places.session_key(session))


class TestTopicNames:
    @pytest.mark.parametrize("name", ["fix-retries", "a", "Review.12", "0day", "x" * 81])
    def test_of_safe_characters_are_taken(self, name: str) -> None:
        assert places.safe_topic(name) == name

    @pytest.mark.parametrize(
        ("name", "nearest"),
        [
            ("fix retries", "fix-retries"),
            ("../../etc/passwd", "etc-passwd"),
            ("..", "topic"),
            ("", "topic"),
            (".hidden", "hidden"),
            ("-x", "x"),
            ("a/b", "a-b"),
            ("Größe", "Gro-e"),
            ("café", "cafe"),
            ("a\0b", "a-b"),
            ("a\nb", "a-b"),
            ("x" * 82, "x" * 81),
            ("current", "topic-current"),
            ("Current", "topic-Current"),
            ("session-1", "topic-session-1"),
            ("SESSION-1", "topic-SESSION-1"),
        ],
    )
    def test_that_are_unsafe_are_refused_with_the_nearest_safe_spelling(
        self, name: str, nearest: str
    ) -> None:
        with pytest.raises(places.UnsafeTopicName) as refused:
            places.safe_topic(name)
        assert nearest in refused.value.hint
        assert refused.value.exit_code == 2
        assert "nothing was changed" in refused.value.message

    @given(st.text(max_size=200))
    @examples(300)
    def test_that_are_suggested_are_always_taken(self, name: str) -> None:
        suggested = places.suggest_topic(name)
        assert places.safe_topic(suggested) == suggested

    def test_cannot_lead_out_of_their_directory(self) -> None:
        for name in ("a/../../x", "/etc/passwd", "..", "a/b"):
            with pytest.raises(SuiteError):
                places.safe_topic(name)

    def test_of_fallback_buckets_are_recognised(self) -> None:
        assert places.is_bucket_name("session-8ea6")
        assert places.is_bucket_name("current")
        assert not places.is_bucket_name("session-")
        assert not places.is_bucket_name("_active_topic")
