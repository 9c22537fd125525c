"""Private files: made 0700/0600, replaced atomically, refused when somebody else could touch them.

``write_atomic`` follows temp file in the same directory, fsync, replace, fsync of the
directory. POSIX promises that a reader sees the old or the new content; that the new
one survives power loss depends on the disk honouring fsync.

Standard library only, and only what starts fast: hooks import this (``contextlib`` costs 4 ms).
"""

from __future__ import annotations

import fcntl
import os
import stat
import time

from agent_base.errors import SuiteError, UnsafePath

DIR_MODE = 0o700
FILE_MODE = 0o600
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def check_private(path: str, status: os.stat_result) -> None:
    """Raise UnsafePath unless ``status`` (of lstat or fstat) is this user's own, no symlink,
    not writable by others, and a regular file or a directory."""
    if stat.S_ISLNK(status.st_mode):
        raise UnsafePath(f"{path!r} is a symbolic link; it was not used")
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise UnsafePath(f"{path!r} is neither a file nor a directory; it was not used")
    if status.st_uid != os.geteuid():
        raise UnsafePath(f"{path!r} belongs to another user (uid {status.st_uid}); it was not used")
    if status.st_mode & _WRITABLE_BY_OTHERS:
        from agent_base.shell import command

        raise UnsafePath(
            f"{path!r} can be written by others (mode {stat.S_IMODE(status.st_mode):04o}); it was not used",
            command("chmod", "go-w", path),
        )


def ensure_private_dir(path: str, below: str | None = None) -> None:
    """Make ``path`` and its missing parents 0700, and check it and, when ``below`` is given,
    every directory between ``below`` (inclusive) and it."""
    try:
        check_private(path, os.lstat(path))
    except FileNotFoundError:
        parent = os.path.dirname(path)
        if below is not None and path != below and parent.startswith(below):
            ensure_private_dir(parent, below)
        elif parent and not os.path.isdir(parent):
            os.makedirs(parent, mode=DIR_MODE, exist_ok=True)
        try:
            os.mkdir(path, DIR_MODE)
        except FileExistsError:
            check_private(path, os.lstat(path))
            return
        status = os.lstat(path)
        check_private(path, status)
        if stat.S_IMODE(status.st_mode) != DIR_MODE:  # the umask, or its parent's set-group-id
            os.chmod(path, DIR_MODE)
    else:
        if not os.path.isdir(path):
            raise UnsafePath(f"{path!r} is not a directory; it was not used") from None
        if below is not None and path != below:
            ensure_private_dir(os.path.dirname(path), below)


def read_private(path: str, limit: int | None = None) -> bytes:
    """Content of a private file without following a final symlink.

    Raises FileNotFoundError, UnsafePath, or SuiteError when it holds more than ``limit`` bytes.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnsafePath(f"{path!r} cannot be read safely: {error.strerror}") from error
    try:
        status = os.fstat(fd)
        check_private(path, status)
        if not stat.S_ISREG(status.st_mode):  # a directory cannot even be made a file object
            raise UnsafePath(f"{path!r} is not a regular file; it was not used")
    except UnsafePath:
        os.close(fd)
        raise
    with os.fdopen(fd, "rb") as file:
        data = file.read() if limit is None else file.read(limit + 1)
    if limit is not None and len(data) > limit:
        raise SuiteError(f"{path!r} is larger than {limit} bytes; it was not read")
    return data


def read_beginning(path: str, limit: int) -> bytes:
    """At most ``limit`` bytes from the start of a file that anybody may have made (a repository's).

    Nothing where no regular file stands: a pipe there must not make a hook wait. Raises OSError.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(fd)
        return os.read(fd, min(limit, status.st_size)) if stat.S_ISREG(status.st_mode) else b""
    finally:
        os.close(fd)


def fsync_dir(path: str) -> None:
    """Make renames and unlinks in ``path`` durable where the platform can."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError:
        pass
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """Write every byte or raise (a short write is not success)."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def write_atomic(path: str, data: bytes, *, mode: int = FILE_MODE, durable: bool = True) -> None:
    """Replace ``path`` by ``data``: whole or not at all, ``mode`` exactly.

    The temporary file is ``.<name>.<pid>.<nanoseconds>.tmp`` beside it and is removed on failure.
    """
    directory, name = os.path.split(path)
    temporary = os.path.join(directory, f".{name[:120]}.{os.getpid()}.{time.time_ns()}.tmp")
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    except OSError as error:
        _named(error, path)
        raise
    try:
        try:
            os.fchmod(fd, mode)
            write_all(fd, data)
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except BaseException as error:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        if isinstance(error, OSError):
            _named(error, path)
        raise
    if durable:
        fsync_dir(directory or ".")


def _named(error: OSError, path: str) -> None:
    """Have an error name the file that was meant and no temporary one: the same error says the same again."""
    error.filename = path
    del error.filename2  # a None would be shown


class LockTimeout(SuiteError):
    """Somebody else held the lock for the whole time that was allowed."""

    code = "locked"


class locked:
    """Hold ``fcntl.flock`` on ``path`` (made 0600 when missing); gives the descriptor.

    ``timeout`` in seconds: None waits for ever, 0 tries once; LockTimeout when it runs out.
    The lock goes with the process, however that dies. Works between processes, not threads.
    """

    __slots__ = ("_fd", "_mode", "_path", "_timeout")

    def __init__(self, path: str, *, shared: bool = False, timeout: float | None = None) -> None:
        self._path = path
        self._mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        self._timeout = timeout
        self._fd = -1

    def __enter__(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self._path, flags, FILE_MODE)
        try:
            check_private(self._path, os.fstat(fd))
            self._lock(fd)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return fd

    def _lock(self, fd: int) -> None:
        if self._timeout is None:
            fcntl.flock(fd, self._mode)
            return
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                fcntl.flock(fd, self._mode | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise LockTimeout(f"{self._path!r} is locked by another process") from None
                time.sleep(0.01)

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
        self._fd = -1
