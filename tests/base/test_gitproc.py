"""The git runner: what a child gets, how it is asked, that nothing blocks or is left behind."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_base.gitproc import CatFile, GitError, GitTimeout, TooLarge, find_git, for_each_ref, run

Git = Callable[..., str]


def _script(directory: Path, text: str) -> dict[str, str]:
    """An environment whose git is this shell script."""
    directory.mkdir(exist_ok=True)
    path = directory / "git"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return {"PATH": f"{directory}:{os.environ['PATH']}", "HOME": str(directory)}


def _open_descriptors() -> int:
    gc.collect()  # what earlier tests left to it is not closed in between
    return len(os.listdir("/dev/fd"))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the children that were started."""
    real = os.posix_spawn
    pids: list[int] = []

    def listening(*arguments: Any, **options: Any) -> int:
        pids.append(real(*arguments, **options))
        return pids[-1]

    monkeypatch.setattr(os, "posix_spawn", listening)
    return pids


def _all_gone(pids: list[int]) -> bool:
    """Whether every one has ended, and was reaped: its number is no child's any more."""
    for pid in pids:
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return bool(pids)


def test_a_run_gives_status_stdout_and_stderr(repository: Path, git: Git) -> None:
    status, out, err = run(("-C", str(repository)), ("rev-parse", "HEAD"), env=os.environ)
    assert (status, out.decode().strip(), err) == (0, git(repository, "rev-parse", "HEAD"), b"")
    status, out, err = run(("-C", str(repository)), ("rev-parse", "--verify", "nope"), env=os.environ)
    assert status == 128
    assert out == b""
    assert b"fatal" in err


def test_stdin_of_any_size_is_written_while_stdout_is_read(repository: Path) -> None:
    data = os.urandom(3_000_000)
    status, out, _ = run(
        ("-C", str(repository)), ("hash-object", "-w", "--stdin"), env=os.environ, stdin=data, hook=False
    )
    assert status == 0
    with CatFile(("-C", str(repository)), env=os.environ) as objects:
        assert objects.content(out.decode().strip()) == (out.decode().strip(), "blob", data)


def test_a_child_that_does_not_read_its_stdin_is_no_error(tmp_path: Path) -> None:
    env = _script(tmp_path / "bin", "exec <&-\necho done\n")
    assert run((), ("x",), env=env, stdin=b"y" * 1_000_000)[:2] == (0, b"done\n")


def test_more_output_than_allowed_stops_git(repository: Path) -> None:
    before = _open_descriptors()
    with pytest.raises(GitError, match="more than 10 bytes"):
        run(("-C", str(repository)), ("cat-file", "-p", "HEAD"), env=os.environ, limit=10)
    assert _open_descriptors() == before


def test_nothing_blocks_past_the_deadline_and_no_child_is_left(tmp_path: Path, started: list[int]) -> None:
    env = _script(tmp_path / "bin", "exec sleep 600\n")
    before = _open_descriptors()
    with pytest.raises(GitTimeout):
        run((), ("x",), env=env, deadline=time.monotonic() + 0.4)
    assert _all_gone(started)
    with CatFile((), env=env, deadline=time.monotonic() + 0.4) as objects, pytest.raises(GitTimeout):
        objects.info(["HEAD"])
    assert len(started) == 2
    assert _all_gone(started)
    assert _open_descriptors() == before


def test_a_child_that_never_stops_talking_is_stopped_at_the_deadline(
    tmp_path: Path, started: list[int]
) -> None:
    env = _script(tmp_path / "bin", "exec yes >&2\n")
    with pytest.raises(GitTimeout):
        run((), ("x",), env=env, deadline=time.monotonic() + 0.4)
    env = _script(tmp_path / "bin", "exec tr '\\\\0' x < /dev/zero\n")  # a line without an end
    with CatFile((), env=env, deadline=time.monotonic() + 0.4) as objects, pytest.raises(GitTimeout):
        objects.info(["HEAD"])
    assert len(started) == 2
    assert _all_gone(started)


def test_after_the_deadline_the_answer_is_the_same_whether_git_has_ended_or_not(tmp_path: Path) -> None:
    for script in ("exit 128\n", "exec sleep 60\n", "exec <&-; echo done\n"):
        env = _script(tmp_path / "bin", script)
        with CatFile((), env=env, deadline=0.0) as objects:
            objects.start()
            time.sleep(0.2)  # the first one has gone away by then
            with pytest.raises(GitTimeout):
                objects.info(["HEAD"])
        with pytest.raises(GitTimeout):
            run((), ("x",), env=env, deadline=0.0)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("script", "answer"),
    [("echo HEAD missing", [None]), ("echo 'fatal: no' >&2; exit 1", GitError("ended unexpectedly: no"))],
)
def test_a_git_that_reads_nothing_is_judged_by_what_it_says_whether_asked_before_or_after_it_left(
    tmp_path: Path, script: str, answer: list[None] | GitError, late: bool
) -> None:
    left = tmp_path / "left"
    env = _script(tmp_path / "bin", f"exec <&-\ntouch {left}\n{script}\n")
    with CatFile((), env=env) as objects:
        objects.start()
        while late and not left.exists():
            time.sleep(0.01)
        if isinstance(answer, GitError):
            with pytest.raises(GitError, match=answer.message):
                objects.info(["HEAD"])
        else:
            assert objects.info(["HEAD"]) == answer


def test_a_child_that_closes_its_output_and_goes_on_is_stopped_at_the_deadline(
    tmp_path: Path, started: list[int]
) -> None:
    env = _script(tmp_path / "bin", "exec >&- 2>&- sleep 600\n")
    with pytest.raises(GitTimeout):
        run((), ("x",), env=env, deadline=time.monotonic() + 0.4)
    assert _all_gone(started)


def test_a_hooks_git_is_hardened_and_inherited_git_variables_are_gone(tmp_path: Path) -> None:
    env = _script(tmp_path / "bin", 'echo "$@"\nenv\n')
    env |= {"GIT_DIR": "/elsewhere", "GIT_INDEX_FILE": "/x", "GIT_NO_LAZY_FETCH": "0", "OTHER": "stays"}
    out = run(("--git-dir", "/r"), ("cat-file", "-e", "x"), env=env)[1].decode()
    assert out.startswith("-c safe.bareRepository=explicit --git-dir /r cat-file -e x\n")
    lines = out.splitlines()
    assert "OTHER=stays" in lines
    for wanted in (
        "GIT_NO_LAZY_FETCH=1",
        "GIT_NO_REPLACE_OBJECTS=1",
        "GIT_OPTIONAL_LOCKS=0",
        "GIT_TERMINAL_PROMPT=0",
    ):
        assert wanted in lines
    assert not any(line.startswith(("GIT_DIR=", "GIT_INDEX_FILE=")) for line in lines)
    out = run((), ("x",), env=env, hook=False)[1].decode()
    assert out.startswith("x\n")
    assert "GIT_NO_LAZY_FETCH=0" in out.splitlines()


def test_git_is_never_a_file_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _script(tmp_path, "echo planted\n")
    monkeypatch.chdir(tmp_path)
    assert os.path.isabs(find_git({"PATH": f".:{tmp_path}/nowhere:{os.environ['PATH']}"}))
    for path in (".", "", ":", "bin"):
        with pytest.raises(GitError, match="not found"):
            find_git({"PATH": path})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").mkdir()
    with pytest.raises(GitError):
        find_git({"PATH": f"{tmp_path}/bin"})


def test_a_git_that_cannot_be_started_is_an_error_and_leaks_nothing(tmp_path: Path) -> None:
    env = _script(tmp_path / "bin", "")
    (tmp_path / "bin" / "git").write_text("#!/nowhere/at/all\n")
    before = _open_descriptors()
    with pytest.raises(GitError, match="could not be started"):
        run((), ("x",), env=env)
    assert _open_descriptors() == before


def test_objects_are_answered_in_order_missing_ones_as_none(repository: Path, git: Git) -> None:
    head = git(repository, "rev-parse", "HEAD")
    names = [head, "0" * 40, "HEAD:README.md", "HEAD:no such file", "nope", f"{head}^{{tree}}"] * 100
    with CatFile(("-C", str(repository)), env=os.environ) as objects:
        found = objects.info(names)
        assert len(found) == 600
        assert found[:6] == found[594:]
        assert found[0] == (head, "commit", int(git(repository, "cat-file", "-s", "HEAD")))
        assert [entry is None for entry in found[:6]] == [False, True, False, True, True, False]
        contents = list(objects.contents(names))
        assert [entry and entry[0] for entry in contents] == [entry and entry[0] for entry in found]
        assert contents[2] is not None
        assert contents[2][2] == b"# A project\n"


def test_a_name_is_one_line(repository: Path) -> None:
    with CatFile(("-C", str(repository)), env=os.environ) as objects:
        for name in ("HEAD\ninfo HEAD", "", "a\0b"):
            with pytest.raises(ValueError, match="one non-empty line"):
                objects.info(["HEAD", name])
        assert objects.info(["HEAD"])[0] is not None


def test_stopping_early_or_finding_a_large_object_ends_the_process_and_a_new_one_answers(
    repository: Path,
) -> None:
    with CatFile(("-C", str(repository)), env=os.environ) as objects:
        next(iter(objects.contents(["HEAD", "HEAD"])))
        assert objects.info(["HEAD"])[0] is not None
        with pytest.raises(TooLarge):
            objects.content("HEAD", limit=10)
        assert objects.content("HEAD:README.md", limit=100) is not None


def test_no_repository_is_an_error_with_gits_own_reason(tmp_path: Path) -> None:
    with CatFile(("-C", str(tmp_path)), env=os.environ) as objects, pytest.raises(GitError, match="ended"):
        objects.info(["HEAD"])
    with pytest.raises(GitError, match="for-each-ref failed"):
        for_each_ref(("-C", str(tmp_path)), ["refs"], env=os.environ)


def test_refs_may_hold_any_character_that_git_allows(repository: Path, git: Git) -> None:
    for name in ("refs/x/a\u2028b", "refs/x/\u0085", "refs/x/ünï"):
        git(repository, "update-ref", name, "HEAD")
    head = git(repository, "rev-parse", "HEAD")
    assert for_each_ref(("-C", str(repository)), ["refs/x"], env=os.environ) == {
        "refs/x/a\u2028b": head,
        "refs/x/\u0085": head,
        "refs/x/ünï": head,
    }
    assert for_each_ref(("-C", str(repository)), ["refs/none"], env=os.environ) == {}
