"""Kill a real process at every write, rename, fsync and unlink; take its disk away at each of them.

The points are found by counting: the system calls of ``os`` that change or flush files are wrapped,
the code runs once to the end to count them, and then once per point and mode in a forked child:

- ``before``, ``after``: SIGKILL right before or right after the call;
- ``torn``: half of the bytes of a write, then SIGKILL;
- ``full``: from that call on the disk is full (a write stores half of its bytes, then ENOSPC).

``explore`` does it all: build a fresh directory, run the action with one fault, recover without one,
check. Nothing sleeps, and nothing is simulated but the moment.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

BEFORE, AFTER, TORN, FULL = "before", "after", "torn", "full"
KILLS = (BEFORE, AFTER, TORN)

# Calls that change or flush files. `open` counts only where it can create a file.
CALLS = (
    *("open", "write", "pwrite", "fsync", "rename", "replace", "link", "symlink", "unlink", "remove"),
    *("mkdir", "rmdir", "ftruncate", "truncate", "chmod", "fchmod", "utime"),
)
# What needs room on the disk; the others still work when it is full.
_NEEDS_ROOM = frozenset({"open", "write", "pwrite", "mkdir", "link", "symlink", "fsync"})

KILLED = -signal.SIGKILL


class _Fault:
    """Wraps the calls of ``os`` in this process."""

    def __init__(self, at: int, mode: str) -> None:
        self.at = at
        self.mode = mode
        self.count = 0
        self.log: list[str] = []

    def install(self) -> None:
        for name in CALLS:
            setattr(os, name, self._wrapped(name, getattr(os, name)))

    def _wrapped(self, name: str, real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **keywords: object) -> object:
            flags = args[1] if len(args) > 1 else keywords.get("flags", 0)
            if name == "open" and not (isinstance(flags, int) and flags & os.O_CREAT):
                return real(*args, **keywords)
            if name == "write" and isinstance(args[0], int) and not _is_file(args[0]):
                return real(*args, **keywords)
            self.count += 1
            self.log.append(name)
            if self.mode == FULL and self.at <= self.count and name in _NEEDS_ROOM:
                if name == "write" and self.at == self.count:
                    data = memoryview(args[1])  # type: ignore[arg-type]
                    if len(data) > 1:
                        return real(args[0], data[: len(data) // 2])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if self.count == self.at and self.mode == BEFORE:
                os.kill(os.getpid(), signal.SIGKILL)
            if self.count == self.at and self.mode == TORN and name in ("write", "pwrite"):
                data = memoryview(args[1])  # type: ignore[arg-type]
                real(args[0], data[: len(data) // 2], *args[2:])
                os.kill(os.getpid(), signal.SIGKILL)
            hit = self.count == self.at and self.mode in (AFTER, TORN)
            try:
                return real(*args, **keywords)
            finally:
                if hit:
                    os.kill(os.getpid(), signal.SIGKILL)

        return call


def _is_file(fd: int) -> bool:
    """Whether a write to ``fd`` changes a file; one to a terminal or a pipe does not."""
    return fd > 2 and stat.S_ISREG(os.fstat(fd).st_mode)


def run(action: Callable[[], object], at: int = 0, mode: str = BEFORE) -> tuple[int, list[str]]:
    """Run ``action`` in a child with a fault at its call number ``at`` (0: none).

    Returns how it ended (exit code, or minus the signal) and the names of the calls it made (empty
    when it was killed). A SuiteError or OSError of the action ends the child with 3, anything else
    that it raises with 4 and a traceback on stderr.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 4
        try:
            os.close(reader)
            fault = _Fault(at, mode)
            send = os.write
            fault.install()
            from agent_base.errors import SuiteError

            try:
                action()
                status = 0
            except (SuiteError, OSError):
                status = 3
            send(writer, "\n".join(fault.log).encode())
        except BaseException:  # noqa: BLE001 - the child must end here, whatever it was
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        log = pipe.read().decode().split()
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), log


def points(action: Callable[[], object]) -> int:
    """How many calls ``action`` makes when nothing goes wrong."""
    status, log = run(action)
    assert status == 0, f"the action does not work without a fault ({status})"
    assert log, "the action changes nothing"
    return len(log)


def explore(
    base: Path,
    build: Callable[[Path], None],
    action: Callable[[Path], object],
    recover: Callable[[Path], object],
    check: Callable[[Path], None],
    *,
    modes: Iterable[str] = (*KILLS, FULL),
) -> int:
    """Every point, every mode: build, act with the fault, recover, check. How many runs there were.

    ``build`` fills a fresh directory, ``action`` is what is hit, ``recover`` what comes next in real
    life, ``check`` asserts the result; all get the directory. A failing run names its point.
    """
    clean = base / "clean"
    clean.mkdir()
    build(clean)
    total = points(lambda: action(clean))
    recover(clean)
    check(clean)
    runs = 0
    for mode in modes:
        for at in range(1, total + 1):
            directory = base / f"{mode}-{at}"
            directory.mkdir()
            build(directory)
            status, _ = run(lambda d=directory: action(d), at, mode)  # type: ignore[misc]
            if mode == FULL:
                assert status in (0, 3), f"{mode} at call {at}: ended with {status}"
            else:
                assert status == KILLED, f"{mode} at call {at}: ended with {status}"
            try:
                recover(directory)
                check(directory)
            except BaseException as error:
                error.add_note(f"after {mode} at call {at} of {total}; kept in {directory}")
                raise
            shutil.rmtree(directory)  # memory is what it takes room of
            runs += 1
    return runs
