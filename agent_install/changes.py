"""Changes to files: planned, shown as a diff, applied atomically with a backup beside each.

A ``Change`` says what a file holds now and what it shall hold. Planning reads, applying
writes, nothing else does. Symbolic links are followed and stay; mode and, where allowed,
owner stay; what was read must still be there when it is replaced.
"""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from agent_base.errors import SuiteError
from agent_base.files import write_atomic
from agent_base.shell import command

BACKUP_SUFFIX = ".before-agent-hook-suite"
LIMIT = 64 * 1024 * 1024
_LONG_LINE = 4000


class Unusable(SuiteError):
    """A file that cannot be changed; it was left as it is."""

    code = "unusable"


class Unreadable(Unusable):
    """A file that cannot be read."""

    code = "unreadable"


@dataclass
class Change:
    """One file to write, replace or delete.

    Attributes:
        path: as the user knows it (a symbolic link, perhaps).
        before: content now, None when there is no file.
        after: content to be, None when it shall go.
        mode: permission bits to be.
        owner: what it belongs to in the manifest (``launcher``, ``harness:claude``, …).
        backup: whether ``before`` is kept beside the file.
        before_mode: permission bits now, 0 when there is no file.
        original: what was there before the suite came, to be put back when it goes; None: no file.
    """

    path: str
    before: bytes | None
    after: bytes | None
    mode: int
    owner: str
    backup: bool = False
    original: bytes | None = None
    before_mode: int = 0

    @property
    def is_change(self) -> bool:
        """Whether applying it would do anything."""
        return self.before != self.after

    @property
    def backup_path(self) -> str:
        """Where ``before`` is kept."""
        return self.path + BACKUP_SUFFIX


def read(path: str) -> tuple[bytes | None, int]:
    """Content and permission bits of a file, links followed; (None, 0) when there is none.

    Raises:
        Unreadable: a directory, a device, a loop of links, too large, or not readable.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None, 0
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}; it was left as it is") from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{path} is not a regular file; it was left as it is")
        if status.st_size > LIMIT:
            raise Unreadable(f"{path} is larger than {LIMIT >> 20} MiB; it was left as it is")
        with open(fd, "rb", closefd=False) as file:
            return file.read(), stat.S_IMODE(status.st_mode)
    finally:
        os.close(fd)


def check_writable(path: str) -> None:
    """Raise Unusable when the file's owner has made it read-only, or its directory cannot be written.

    Replacing needs no write permission on the file; that its owner took it away says no all the same.
    """
    real = os.path.realpath(path)
    with suppress(FileNotFoundError):
        if not os.stat(real).st_mode & stat.S_IWUSR:
            raise Unusable(
                f"{path} is read-only; it was left as it is",
                f"{command('chmod', 'u+w', path)}, or edit it yourself",
            )
    directory = os.path.dirname(real)
    while not os.path.lexists(directory):
        directory = os.path.dirname(directory)
    if not os.path.isdir(directory):
        raise Unusable(f"{directory} is not a directory; nothing was written there")
    if not os.access(directory, os.W_OK | os.X_OK):
        raise Unusable(f"{directory} cannot be written; {path} was left as it is")


def diff(change: Change) -> str:
    """A unified diff of the change; names are as the user knows them."""

    def lines(data: bytes | None) -> list[str]:
        return [] if data is None else data.decode("utf-8", "replace").splitlines(keepends=True)

    before, after = lines(change.before), lines(change.after)
    out = []
    if any(len(line) > _LONG_LINE for line in before):
        before, after = _broken(before), _broken(after)
        out.append(f"# lines of more than {_LONG_LINE} characters are shown broken behind their commas\n")
    names = (
        change.path if change.before is not None else "/dev/null",
        change.path if change.after is not None else "/dev/null",
    )
    if len(before) > 100_000:  # difflib is quadratic; the changed stretch is small
        before, after, note = _middle(before, after)
        out.append(note)
    out += [
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(before, after, *names)
    ]
    return "".join(out)


def _broken(lines: list[str]) -> list[str]:
    """The lines with very long ones in pieces: of a settings file on one line a diff shows all, twice."""
    found: list[str] = []
    for line in lines:
        if len(line) <= _LONG_LINE:
            found.append(line)
            continue
        pieces = re.split(r"(?<=,)(?=.)", line.rstrip("\r\n"))
        found += [f"{piece}\n" for piece in pieces[:-1]] + [pieces[-1] + line[len(line.rstrip("\r\n")) :]]
    return found


def _middle(before: list[str], after: list[str]) -> tuple[list[str], list[str], str]:
    """Both without most of their common head and tail."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    head, tail = max(head - 3, 0), max(tail - 3, 0)
    note = f"# line numbers below count from line {head + 1}\n"
    return before[head : len(before) - tail], after[head : len(after) - tail], note


def apply(change: Change) -> list[str]:
    """Carry the change out; gives the directories that had to be made, outermost first.

    Raises:
        Unusable: the file is no longer what was read, or the system refused; nothing half done stays.
    """
    real = os.path.realpath(change.path)
    try:
        made = make_directories(os.path.dirname(real))
        if read(change.path)[0] != change.before:
            raise Unusable(
                f"{change.path} was changed by somebody else just now; it was left as it is", "run this again"
            )
        if change.backup and change.before is not None:
            _write_backup(change)
        if change.after is None:
            os.unlink(real)
        else:
            owner = _owner(real)
            write_atomic(real, change.after, mode=change.mode)
            if owner is not None and owner != _owner(real):
                with suppress(PermissionError):
                    os.chown(real, *owner)
    except OSError as error:
        raise Unusable(
            f"{change.path} could not be changed: {error.strerror}; it was left as it is"
        ) from error
    return made


def _owner(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_uid, status.st_gid


def _write_backup(change: Change) -> None:
    assert change.before is not None
    mode = stat.S_IMODE(os.stat(change.path).st_mode) & 0o600
    write_atomic(change.backup_path, change.before, mode=mode | stat.S_IRUSR)


def make_directories(path: str) -> list[str]:
    """Make ``path`` and its missing parents (0700 below a home); gives those made, outermost first."""
    missing: list[str] = []
    probe = path
    while not os.path.isdir(probe):
        missing.append(probe)
        probe = os.path.dirname(probe)
    for directory in reversed(missing):
        os.mkdir(directory, 0o700)
    return missing[::-1]


def remove_empty(directories: Iterable[str]) -> None:
    """Remove those of the directories that are empty, innermost first."""
    for directory in sorted(set(directories), key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(directory)
