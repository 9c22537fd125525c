"""Locks of a spec directory: who may write what at the same time.

Always taken in this order: the spool's, *activity*, *session*, *target*. Writers hold activity
shared; who needs everybody's writes to have landed (merge, select, harvest, cleaning) holds it
exclusively. They are ``flock`` locks below ``.worklog-locks-v1/`` and go with their process,
however that dies ("Hook memory, Internals": ordering).
"""

from __future__ import annotations

import os

from agent_base import files

LOCKS = ".worklog-locks-v1"


def _lock_path(spec_dir: str, name: str) -> str:
    directory = os.path.join(spec_dir, LOCKS)
    try:
        os.mkdir(directory, files.DIR_MODE)
    except FileExistsError:
        pass
    files.check_private(directory, os.lstat(directory))
    return os.path.join(directory, name + ".lock")


class activity:
    """Hold the activity lock of a spec directory: shared for writing, exclusive to see it settled.

    Who waits for the exclusive lock closes a gate first, so that a stream of writers cannot keep it
    out. ``timeout`` in seconds as in ``files.locked``; LockTimeout.
    """

    def __init__(self, spec_dir: str, *, exclusive: bool = False, timeout: float | None = None) -> None:
        self._gate = files.locked(_lock_path(spec_dir, "gate"), shared=not exclusive, timeout=timeout)
        self._main = files.locked(_lock_path(spec_dir, "activity"), shared=not exclusive, timeout=timeout)

    def __enter__(self) -> activity:
        with self._gate:
            self._main.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._main.__exit__(None, None, None)


class nothing:
    """The lock of a caller that holds it already."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def writing(spec_dir: str, held: bool, timeout: float | None) -> activity | nothing:
    return nothing() if held else activity(spec_dir, timeout=timeout)


def session_lock(spec_dir: str, key: str, timeout: float | None = None) -> files.locked:
    """Lock of one session's queue: sequence numbers, publishing, acknowledging."""
    return files.locked(_lock_path(spec_dir, f"session-{key}"), timeout=timeout)


def target_lock(spec_dir: str, topic: str, timeout: float | None = None) -> files.locked:
    """Lock of one topic's worklog."""
    return files.locked(_lock_path(spec_dir, f"target-{topic}"), timeout=timeout)
