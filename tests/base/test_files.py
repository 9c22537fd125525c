"""Private files: whole or not at all, flushed in the right order, refused when others could touch them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_base import files
from agent_base.errors import SuiteError, UnsafePath
from tests.conftest import REPOSITORY


def _logged(monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    """The calls of ``os`` as they happen, with what they are about (a file's or directory's name)."""
    log: list[str] = []

    def wrapped(name: str, real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **keywords: object) -> object:
            about = args[-1]
            if name == "fsync":
                about = os.readlink(f"/proc/self/fd/{args[0]}")
            log.append(f"{name} {os.path.basename(str(about))}")
            return real(*args, **keywords)

        return call

    for name in names:
        monkeypatch.setattr(os, name, wrapped(name, getattr(os, name)))
    return log


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="names of descriptors come from /proc")
def test_a_file_is_flushed_before_it_is_renamed_and_its_directory_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = _logged(monkeypatch, "fsync", "replace")
    files.write_atomic(str(tmp_path / "a"), b"x")
    assert [entry.split(" ")[0] for entry in log] == ["fsync", "replace", "fsync"]
    assert log[0].endswith(".tmp")
    assert log[1] == "replace a"
    assert log[2] == f"fsync {tmp_path.name}"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="names of descriptors come from /proc")
def test_an_event_is_flushed_into_its_worklog_before_it_leaves_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent_memory import queue

    spec_dir = tmp_path / "specs"
    spec_dir.mkdir(mode=0o700)
    log = _logged(monkeypatch, "fsync", "replace", "unlink")
    queue.enqueue(str(spec_dir), "S", {"topic": "fix"}, "id-1")
    published = log.index("replace 000000000001.json")
    assert log[published - 1].startswith("fsync .000000000001.json")
    assert log[published + 1] == "fsync S"
    log.clear()
    assert queue.flush(str(spec_dir), "S").clean
    recorded, acknowledged = log.index("fsync fix.worklog.jsonl"), log.index("unlink 000000000001.json")
    assert recorded < log.index("fsync specs") < acknowledged


def test_a_write_that_fails_leaves_the_old_content_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "alone" / "a"
    path.parent.mkdir()
    files.write_atomic(str(path), b"old")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    for name in ("write", "fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, full)
            with pytest.raises(OSError, match="No space"):
                files.write_atomic(str(path), b"new")
        assert path.read_bytes() == b"old"
        assert os.listdir(path.parent) == ["a"]


def test_an_error_names_the_file_that_was_meant_and_not_the_temporary_one(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    for path, kind in (
        (tmp_path / "gone/a", FileNotFoundError),
        (tmp_path / ("x" * 300) / "a", OSError),
        (tmp_path / "directory", IsADirectoryError),
    ):
        with pytest.raises(kind) as raised:
            files.write_atomic(str(path), b"")
        reason = os.strerror(raised.value.errno or 0)
        assert str(raised.value) == f"[Errno {raised.value.errno}] {reason}: {str(path)!r}"
    assert {*os.listdir(tmp_path)} == {"directory", "isolated"}


def test_a_long_name_is_no_trouble(tmp_path: Path) -> None:
    files.write_atomic(str(tmp_path / ("x" * 250)), b"")
    assert {*os.listdir(tmp_path)} == {"x" * 250, "isolated"}


def test_a_written_file_has_its_mode_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        files.write_atomic(str(tmp_path / "a"), b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_what_is_read_is_an_own_regular_file_that_nobody_else_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    files.write_atomic(str(path), b"12345")
    assert files.read_private(str(path), 5) == b"12345"
    with pytest.raises(SuiteError, match="larger than 4 bytes"):
        files.read_private(str(path), 4)
    (tmp_path / "link").symlink_to(path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for name in ("link", "pipe", "directory"):
        with pytest.raises(UnsafePath):
            files.read_private(str(tmp_path / name))
    path.chmod(0o620)
    with pytest.raises(UnsafePath, match="can be written by others"):
        files.read_private(str(path))
    path.chmod(0o600)
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.raises(UnsafePath, match="belongs to another user"):
        files.read_private(str(path))


def test_a_directory_is_made_private_and_every_level_below_the_base_is_checked(tmp_path: Path) -> None:
    base = tmp_path / "base"
    files.ensure_private_dir(str(base / "a/b"), below=str(base))
    for level in (base, base / "a", base / "a/b"):
        assert level.stat().st_mode & 0o777 == 0o700
    (base / "a").chmod(0o770)
    with pytest.raises(UnsafePath, match="can be written by others"):
        files.ensure_private_dir(str(base / "a/b"), below=str(base))
    (base / "file").write_text("")
    with pytest.raises(UnsafePath, match="not a directory"):
        files.ensure_private_dir(str(base / "file"))


@pytest.mark.parametrize(("parent", "umask"), [(0o2770, 0o022), (0o700, 0o277)])
def test_a_new_directory_has_its_mode_whatever_the_umask_and_its_parent(
    parent: int, umask: int, tmp_path: Path
) -> None:
    tmp_path.chmod(parent)
    before = os.umask(umask)
    try:
        files.ensure_private_dir(str(tmp_path / "a" / "b"), below=str(tmp_path / "a"))
    finally:
        os.umask(before)
    for path in (tmp_path / "a", tmp_path / "a" / "b"):
        assert path.stat().st_mode & 0o7777 == 0o700


def test_a_lock_goes_with_its_process_however_that_dies(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    code = (
        "import sys; from agent_base import files\n"
        f"with files.locked({path!r}): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(files.LockTimeout), files.locked(path, timeout=0.05):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with files.locked(path, timeout=5):
            pass
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_the_command_that_mends_a_mode_can_be_pasted_whatever_the_path_holds(tmp_path: Path) -> None:
    path = tmp_path / "it's a $(touch x) place"
    path.touch()
    path.chmod(0o666)
    with pytest.raises(UnsafePath) as raised:
        files.check_private(str(path), path.lstat())
    subprocess.run(["sh", "-c", raised.value.hint], check=True, cwd=tmp_path)
    assert path.stat().st_mode & 0o777 == 0o644
    files.check_private(str(path), path.lstat())
