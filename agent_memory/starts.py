"""What a session's starts have injected already: ``.start-seen-<session-key>.json``.

The same start can be delivered twice (two settings files, two names), at the same time; on ``resume``
some clients replay what was injected before. So each start is noted with what it showed, under a lock
that its hook holds from the decision to the note: the second of two deliveries waits and then finds it.
A hook that dies before the note has injected nothing, and the next delivery does.

A damaged note counts as none, and so does one that cannot be opened (a full disk, a read-only directory):
a start is injected all the same. docs/harnesses.md, rules 3, 6 and 13.
"""

from __future__ import annotations

import fcntl
import os
import time

from agent_base import files, lightjson
from agent_base.errors import SuiteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent_memory.topics import State

PREFIX = ".start-seen-"
# Two deliveries of one start. Clients run their hooks at once; a start that is repeated on purpose
# (a client that resumes the same session again) takes them longer than the shorter time.
SAME_NAME_SECONDS = 2.0
OTHER_NAME_SECONDS = 10.0

_LIMIT = 1 << 18
_LOCK_SECONDS = 3.0
_MOST_IDS = 400


_NOTED = ("at", "delivered", "ids", "learned", "source", "spec", "topic", "waiting")
# Seconds since the epoch that a note can be of; anything else is damage.
_LATEST = 1e11


class Start:
    """The note of a session's last start, locked for as long as the ``with`` block takes.

    Attributes (of the last start; all empty when there was none):
        at: when it was injected, seconds since the epoch.
        source: its source; delivered: the event's name and harness.
        topic, spec: what it showed; ``spec`` identifies the content of the spec.
        ids: ids of the worklog entries shown since the last full injection.
        learned: ids of the capsules shown by starts.
        waiting: source of a start whose context rides on the next prompt, or "".
        problem: why there is no note and none can be made, or None.
    """

    __slots__ = ("_fd", "_path", "problem", *_NOTED)

    def __init__(self, state: State, session_key: str) -> None:
        self._path = state.path(f"{PREFIX}{session_key}.json")
        self._fd = -1
        self.problem: Exception | None = None
        self.at = 0.0
        self.source = self.delivered = self.topic = self.spec = self.waiting = ""
        self.ids: list[str] = []
        self.learned: list[str] = []

    def __enter__(self) -> Start:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            self._fd = os.open(self._path, flags, files.FILE_MODE)
            files.check_private(self._path, os.fstat(self._fd))
            _lock(self._fd)
            self._read(os.pread(self._fd, _LIMIT, 0))
        except (OSError, SuiteError) as error:
            self.problem = error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _read(self, data: bytes) -> None:
        if not data:  # just made
            return
        try:
            value = lightjson.loads(data)
        except (ValueError, RecursionError):
            return
        if not isinstance(value, dict):
            return
        at = value.get("at")
        self.at = float(at) if isinstance(at, int | float) and 0 < at < _LATEST else 0.0
        for name in ("source", "delivered", "topic", "spec", "waiting"):
            text = value.get(name)
            setattr(self, name, text if isinstance(text, str) else "")
        for name in ("ids", "learned"):
            items = value.get(name)
            setattr(self, name, [i for i in items if isinstance(i, str)] if isinstance(items, list) else [])

    @property
    def happened(self) -> bool:
        """Whether a start of this session has injected its context."""
        return self.at > 0

    def is_repeat(self, source: str, delivered: str, now: float) -> bool:
        """Whether a start with this source, delivered under this name, is the last one again."""
        if not self.happened or self.waiting or source != self.source:
            return False
        window = SAME_NAME_SECONDS if delivered == self.delivered else OTHER_NAME_SECONDS
        return abs(now - self.at) < window  # who came first may get the lock last

    def wait_for_prompt(self, source: str) -> None:
        """Note that a start of ``source`` was seen and its context rides on the next prompt."""
        self.waiting = source
        self._write()

    def injected(
        self,
        *,
        source: str,
        delivered: str,
        now: float,
        topic: str,
        spec: str,
        ids: Sequence[str],
        learned: Sequence[str],
    ) -> None:
        """Note that a start was injected and what it showed; ``ids`` and ``learned`` are all that the
        model has before it now."""
        self.source, self.delivered, self.at = source, delivered, now
        self.topic, self.spec, self.waiting = topic, spec, ""
        self.ids, self.learned = list(ids)[-_MOST_IDS:], list(learned)[-_MOST_IDS:]
        self._write()

    def _write(self) -> None:
        if self.problem is not None:
            raise self.problem
        value: Mapping[str, object] = {name: getattr(self, name) for name in _NOTED}
        data = lightjson.dumps(value).encode()
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, data, 0)


def _lock(fd: int) -> None:
    """Wait for the lock, but not for ever: a hook that hangs must not hang the others."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return
            time.sleep(0.005)
