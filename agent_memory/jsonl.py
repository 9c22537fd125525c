"""Append-only files of one JSON object per line that survive being torn.

A writer holds the lock of its file (the caller's business). Readers need none: a record is complete
when its line ends with a newline, or when the last line, without one, is a whole JSON object. What
was cut in the middle is never shown, and never glued to the next record.

Standard library only and light: hooks import this.
"""

from __future__ import annotations

import os
import stat

from agent_base import files
from agent_base.errors import UnsafePath
from agent_base.lightjson import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# A file beyond this was not written by us: only its end is looked at.
READ_LIMIT = 32 * 1024 * 1024


def parse(line: bytes) -> dict[str, object] | None:
    """The object on one line, or None when the line is not that from its first byte to its last."""
    if line[:1] != b"{" or line[-1:] != b"}":
        return None
    try:
        value = loads(line.decode("utf-8", "strict"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def complete(data: bytes) -> tuple[list[bytes], bool]:
    """Lines of ``data`` that can be records (without newline), and whether anything else was found.

    A line in the middle is taken by its first and last byte; the last one, when no newline ends it,
    only when it also parses.
    """
    if not data:
        return [], False
    lines = data.split(b"\n")
    tail = lines.pop()
    kept = [line for line in lines if line[:1] == b"{" and line[-1:] == b"}"]
    damaged = len(kept) != len(lines)
    if tail:
        damaged = True
        if parse(tail) is not None:
            kept.append(tail)
    return kept, damaged


def _open(path: str, flags: int) -> int:
    try:
        fd = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, files.FILE_MODE)
    except FileNotFoundError:
        raise
    except OSError as error:
        if os.path.islink(path) or os.path.isdir(path):
            raise UnsafePath(f"{path!r} is not a regular file; it was not used") from error
        raise
    status = os.fstat(fd)
    try:
        files.check_private(path, status)
        if not stat.S_ISREG(status.st_mode):
            raise UnsafePath(f"{path!r} is not a regular file; it was not used")
    except UnsafePath:
        os.close(fd)
        raise
    return fd


def _read(fd: int) -> tuple[bytes, bool]:
    """What the file holds (its end, when it is enormous), and whether that is all."""
    size = os.fstat(fd).st_size
    offset = max(0, size - READ_LIMIT)
    chunks: list[bytes] = []
    while chunk := os.pread(fd, READ_LIMIT + 1, offset):
        chunks.append(chunk)
        offset += len(chunk)
    data = b"".join(chunks)
    if size <= READ_LIMIT:
        return data, True
    return data.partition(b"\n")[2], False


def read_lines(path: str) -> list[bytes]:
    """Complete records of ``path`` in order; [] when there is no such file. Raises UnsafePath."""
    try:
        fd = _open(path, os.O_RDONLY)
    except FileNotFoundError:
        return []
    try:
        data, _ = _read(fd)
    finally:
        os.close(fd)
    return complete(data)[0]


def read(path: str) -> list[dict[str, object]]:
    """Complete records of ``path`` as objects; lines that are none are left out. Raises UnsafePath."""
    return [record for line in read_lines(path) if (record := parse(line)) is not None]


def append(path: str, lines: Sequence[bytes], *, keep: int, unique: Sequence[bytes] = ()) -> int:
    """Add ``lines`` durably and keep the last ``keep`` records; how many were added.

    ``unique[i]``, a text that stands in ``lines[i]`` and nowhere else: a line whose text is in the
    file already is left out, so that a replay adds nothing. Below the bound the lines are appended
    in place (and taken back when the disk is full); past it, or after damage, the file is replaced.
    The caller holds the file's lock. Raises OSError, UnsafePath; then nothing was added.
    """
    fd = _open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        data, whole = _read(fd)
        if unique:
            lines = [line for line, text in zip(lines, unique, strict=True) if text not in data]
        if not lines:
            return 0
        present, damaged = complete(data)
        if damaged or not whole or len(present) + len(lines) > keep:
            replace(path, [*present, *lines], keep=keep)
        else:
            _append_in_place(path, fd, len(data), b"\n".join(lines) + b"\n")
            if not data:
                files.fsync_dir(os.path.dirname(path))
    finally:
        os.close(fd)
    return len(lines)


def _append_in_place(path: str, fd: int, size: int, data: bytes) -> None:
    try:
        files.write_all(fd, data)
        os.fsync(fd)
    except OSError as error:
        os.ftruncate(fd, size)
        error.filename = path  # writing says why, not what
        raise


def replace(path: str, lines: Sequence[bytes], *, keep: int) -> None:
    """Make ``path`` hold the last ``keep`` of ``lines``, at once and durably."""
    files.write_atomic(path, b"".join(line + b"\n" for line in lines[-keep:]))
