"""Reboot survival: named topics and the pointer, copied to ``~/.local/state/agent-specs``.

``sync`` copies what changed to the mirror and restores what is missing from it; nothing that exists is
overwritten by a restore. ``current`` and ``session-*`` are never mirrored. What is removed on purpose
(``wipe-current``, ``merge``, ``use`` reset, ``resume``) is forgotten here first, under the same lock
(``Forgetting``), so that no concurrent ``sync`` brings it back.

Killed at any point, a second ``sync`` gives the same as an undisturbed one: every copy is written beside
its name and renamed, every restore linked into place. Not on the path of tool events.
"Hook memory, Internals" (Reboot survival).
"""

from __future__ import annotations

import errno
import os
import stat

from agent_base import files
from agent_base.errors import SuiteError, UnsafePath
from agent_memory import locks, topics
from agent_memory import workspace as places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agent_memory.topics import State

LOCK = "mirror.lock"
STALE_SECONDS = 3600.0  # a temporary file this old belongs to nobody
# Nanoseconds between two times that a file system tells apart, with fractions of seconds and without.
_SECOND = 1_000_000_000
_TICK, _COARSE = 20_000_000, 2 * _SECOND
_SUFFIXES = (topics.WORKLOG_SUFFIX, topics.SPEC_SUFFIX, topics.NO_CONTEXT_SUFFIX)


class Synced:
    """Names that were copied to the mirror and restored from it, and what could not be."""

    __slots__ = ("copied", "errors", "restored")

    def __init__(self) -> None:
        self.copied: list[str] = []
        self.restored: list[str] = []
        self.errors: list[str] = []


class Mirror:
    """The mirror of one workspace's directory. ``told``: errors that a person has been told of already."""

    __slots__ = ("directory", "root", "state", "told")

    def __init__(self, state: State, root: str) -> None:
        self.state = state
        self.root = root
        self.directory = places.spec_dir(root, state.workspace)
        self.told: set[str] = set()

    @classmethod
    def of(cls, state: State, env: Mapping[str, str], *, hook: bool) -> Mirror | None:
        """The mirror of ``state``; None when there is no home directory to keep it in."""
        root = places.mirror_root(env, state.workspace if hook else None)
        return None if root is None else cls(state, root)

    def path(self, name: str) -> str:
        """Path of a mirrored file."""
        return os.path.join(self.directory, name)

    def held(self, names: Iterable[str]) -> list[str]:
        """Which of ``names`` are in the mirror. Raises UnsafePath."""
        wanted = list(filter(is_mirrored, names))
        if not wanted or not places.check_spec_dir(self.root, self.directory):
            return []
        return [name for name in wanted if os.path.lexists(self.path(name))]

    def check_can_forget(self, names: Iterable[str]) -> None:
        """Raises SuiteError where the mirror has one of ``names`` and cannot be changed: it comes back."""
        if self.held(names) and not self.writable():
            why = "cannot be written, and would bring it back"
            raise SuiteError(f"the mirror {self.directory!r} {why}; nothing was changed")

    def writable(self) -> bool:
        """Whether the mirror can be written, or made where there is none yet."""
        path = self.directory
        while not os.path.lexists(path) and path != os.path.dirname(path):
            path = os.path.dirname(path)
        return os.access(path, os.W_OK | os.X_OK)

    def sync(self, now: float, *, timeout: float | None = None) -> Synced:
        """Bring both sides together. While a merge or select is unfinished, nothing is done: what it
        removed must not come back.

        Raises UnsafePath, LockTimeout, OSError.
        """
        result = Synced()
        mirrored = places.check_spec_dir(self.root, self.directory)
        if not mirrored and not any(map(is_mirrored, self.state.names())):
            return result
        self.state.ensure()
        with self._locked(timeout):
            if os.path.lexists(self.state.path(topics.INTENT)):
                return result
            local = set(filter(is_mirrored, self.state.names()))
            if local and not mirrored:
                places.ensure_spec_dir(self.root, self.directory)
            remote = self._names()
            for name in sorted(local):
                _attempt(result, result.copied, name, self._copy)
            for name in sorted(set(filter(is_mirrored, remote)) - local):
                _attempt(result, result.restored, name, self._restore)
            self._remove_leftovers(remote, now)
        return result

    def _locked(self, timeout: float | None = None) -> files.locked:
        directory = self.state.path(locks.LOCKS)
        files.ensure_private_dir(directory)
        return files.locked(os.path.join(directory, LOCK), timeout=timeout)

    def _names(self) -> list[str]:
        try:
            return os.listdir(self.directory)
        except FileNotFoundError:
            return []

    def _copy(self, name: str) -> bool:
        """Copy one file to the mirror unless it is there as it is."""
        source, target = self.state.path(name), self.path(name)
        status = os.lstat(source)
        files.check_private(source, status)
        if not stat.S_ISREG(status.st_mode) or _same(target, source, status):
            return False
        if name.endswith(topics.WORKLOG_SUFFIX):
            # The lock of its writers: a copy never ends in the middle of a record.
            with locks.target_lock(self.state.spec_dir, name[: -len(topics.WORKLOG_SUFFIX)], timeout=2.0):
                status = os.lstat(source)
                data = files.read_private(source)
        else:
            data = files.read_private(source)
        _write_with_time(target, data, status.st_mtime_ns)
        return True

    def _restore(self, name: str) -> bool:
        """Put one file back where there is none."""
        source, target = self.path(name), self.state.path(name)
        status = os.lstat(source)
        data = files.read_private(source)
        temporary = self.state.path(f".{name}.{os.getpid()}.restoring.tmp")
        try:
            _write_with_time(temporary, data, status.st_mtime_ns)
            _put_if_absent(temporary, target)
        except FileExistsError:
            return False  # somebody else made it in the meantime: theirs counts
        finally:
            topics.remove(temporary)
        files.fsync_dir(self.state.spec_dir)
        return True

    def _remove_leftovers(self, remote: Iterable[str], now: float) -> None:
        """Temporary files of a process that was killed."""
        here = [self.state.path(n) for n in self.state.names() if _is_temporary(n)]
        there = [self.path(n) for n in remote if _is_temporary(n)]
        for path in (*here, *there):
            try:
                if now - os.lstat(path).st_mtime > STALE_SECONDS:
                    os.unlink(path)
            except FileNotFoundError:
                continue


class Forgetting:
    """Hold the mirror's lock while files are removed on both sides: ``forget`` them, then unlink them.

    With ``mirror`` None (no home directory) nothing is mirrored and nothing is held.
    """

    __slots__ = ("_lock", "_mirror")

    def __init__(self, mirror: Mirror | None) -> None:
        self._mirror = mirror
        self._lock: files.locked | None = None

    def __enter__(self) -> Forgetting:
        if self._mirror is not None:
            self._lock = self._mirror._locked(30.0)
            self._lock.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.__exit__()

    def forget(self, names: Iterable[str], keep: Iterable[str] = ()) -> None:
        """Remove ``names`` from the mirror, after ``keep`` is in it: soon the only copy of what they said.
        A mirror that has none of the names is not written to, and need not be one that can be."""
        mirror = self._mirror
        held = [] if mirror is None else mirror.held(names)
        if mirror is None or not held:
            return
        for name in keep:
            if is_mirrored(name) and os.path.lexists(mirror.state.path(name)):
                try:
                    mirror._copy(name)
                except UnsafePath:
                    continue  # nobody believes it here either; `sync` says so
        for name in held:
            topics.remove(mirror.path(name))
        files.fsync_dir(mirror.directory)


def topic_files(topic: str) -> tuple[str, ...]:
    """Names of a topic's files."""
    return tuple(topic + suffix for suffix in _SUFFIXES)


def is_mirrored(name: str) -> bool:
    """Whether a file of this name is mirrored: the pointer, and files of named topics."""
    if name == topics.POINTER:
        return True
    suffix = next((s for s in _SUFFIXES if name.endswith(s)), None)
    return suffix is not None and places.is_topic(name[: -len(suffix)])


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(".tmp")


def _same(path: str, source: str, status: os.stat_result) -> bool:
    """Whether the copy at ``path`` is what ``source`` is. Size and time say so, but not of a copy that was
    made in the moment in which its source was written: in that it may have been written again."""
    try:
        there = os.lstat(path)
        if (there.st_size, there.st_mtime_ns) != (status.st_size, status.st_mtime_ns):
            return False
        moment = _TICK if there.st_mtime_ns % _SECOND else _COARSE
        return there.st_ctime_ns - there.st_mtime_ns > moment or files.read_private(
            path
        ) == files.read_private(source)
    except (OSError, SuiteError):
        return False


def _write_with_time(path: str, data: bytes, mtime_ns: int) -> None:
    """Write atomically. The time is set last: a copy without it is copied again, not believed."""
    files.write_atomic(path, data)
    os.utime(path, ns=(mtime_ns, mtime_ns))


def _put_if_absent(temporary: str, target: str) -> None:
    """Give a finished file its name, unless that is taken (FileExistsError)."""
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
            raise
        if os.path.lexists(target):  # a file system without hard links
            raise FileExistsError(target) from None
        os.replace(temporary, target)


def _attempt(result: Synced, done: list[str], name: str, function: Callable[[str], bool]) -> None:
    """Run ``function(name)``; one file that cannot be copied must not keep the others from it."""
    try:
        if function(name):
            done.append(name)
    except FileNotFoundError:
        return  # gone since the directory was read
    except (SuiteError, OSError) as error:
        result.errors.append(f"{name}: {error}")
