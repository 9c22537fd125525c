"""What was injected into a session already: ``.recall-seen-<session-key>.json``.

Shared by session start and every prompt, whose hooks may run at the same time: whoever holds the
lock reads, chooses and writes, so no capsule is chosen twice. A file that is damaged, or that
another user could have written, is not believed: a damaged one counts as empty, an unsafe one
raises. The lock stays behind beside the worklogs' locks; it holds nothing.

Beside what is in the model's context now stands when each capsule was injected, for ``,ai-kb report``;
that stays when a capsule is forgotten. No decision rests on it.

Hook memory, "Internals" (Recall dedupe). Standard library only: hooks import this.
"""

from __future__ import annotations

import os

from agent_base import files, lightjson
from agent_base.errors import SuiteError, UnsafePath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = 1
LOCKS = ".worklog-locks-v1"
_LIMIT = 1 << 20  # bytes of a state file that are read
_MOST = 5000  # ids kept; the oldest go first
_MOST_TIMES = 200  # injections whose time is kept; the oldest go first

REPEAT_SECONDS = 20.0  # the same prompt again within this time is the same event, delivered twice


def state_path(spec_dir: str, session_key: str) -> str:
    """Path of a session's seen state."""
    return os.path.join(spec_dir, f".recall-seen-{session_key}.json")


class Seen:
    """The seen state of a session, locked for as long as the ``with`` block takes.

    Leaving the block without an exception writes what was added. ``spec_dir`` must exist.
    """

    __slots__ = ("_changed", "_lock", "_order", "_path", "_prompts", "_times", "ids")

    def __init__(self, spec_dir: str, session_key: str, *, timeout: float | None = None) -> None:
        locks = os.path.join(spec_dir, LOCKS)
        files.ensure_private_dir(locks)
        self._path = state_path(spec_dir, session_key)
        self._lock = files.locked(os.path.join(locks, f"recall-{session_key}.lock"), timeout=timeout)
        self._order: list[str] = []
        self._prompts: dict[str, float] = {}
        self._times: list[tuple[str, float]] = []
        self._changed = False
        self.ids: set[str] = set()

    def __enter__(self) -> Seen:
        self._lock.__enter__()
        try:
            self._order, self._prompts, self._times = _read(self._path)
        except BaseException:
            self._lock.__exit__()
            raise
        self.ids = set(self._order)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if self._changed and kind is None:
                value = {
                    "version": VERSION,
                    "seen": self._order[-_MOST:],
                    "prompts": self._prompts,
                    "injected": self._times[-_MOST_TIMES:],
                }
                files.write_atomic(self._path, lightjson.dumps(value).encode(), durable=False)
        finally:
            self._lock.__exit__()

    def add(self, ids: Iterable[str], now: float = 0.0) -> None:
        """Remember ``ids`` as injected at ``now`` (seconds since the epoch; 0 when that is not known)."""
        for memory_id in ids:
            if memory_id not in self.ids:
                self.ids.add(memory_id)
                self._order.append(memory_id)
                if now:
                    self._times.append((memory_id, now))
                self._changed = True

    def forget(self, ids: Iterable[str] | None = None) -> None:
        """``ids`` (by default nothing of what was injected) are not in the model's context any more."""
        if ids is None:
            if self._order or self._prompts:
                self._order, self._prompts, self.ids = [], {}, set()
                self._changed = True
            return
        gone = self.ids.intersection(ids)
        if gone:
            self._order = [memory_id for memory_id in self._order if memory_id not in gone]
            self.ids -= gone
            self._changed = True

    def first_time(self, mark: str, now: float) -> bool:
        """Whether ``mark`` (a digest of a prompt) did not come within the last REPEAT_SECONDS.

        Two harnesses deliver one prompt under two names; ``now`` is seconds since the epoch.
        """
        recent = {k: t for k, t in self._prompts.items() if 0 <= now - t < REPEAT_SECONDS}
        first = mark not in recent
        if first:
            recent[mark] = now
        if recent != self._prompts:
            self._prompts = recent
            self._changed = True
        return first


def seen_ids(spec_dir: str, session_key: str) -> list[str]:
    """Ids that were injected into a session, oldest first. Takes no lock: the file is replaced whole."""
    return _read(state_path(spec_dir, session_key))[0]


def ever_injected(spec_dir: str, session_key: str) -> set[str]:
    """Ids that were injected into a session, also of what is no longer in its context. Takes no lock."""
    ids, _, times = _read(state_path(spec_dir, session_key))
    return {*ids, *(memory_id for memory_id, _ in times)}


def injections(spec_dir: str, session_key: str) -> list[tuple[str, float]]:
    """(id, seconds since the epoch) of the latest injections into a session, oldest first, also of what is
    no longer in its context. Takes no lock."""
    return _read(state_path(spec_dir, session_key))[2]


def _read(path: str) -> tuple[list[str], dict[str, float], list[tuple[str, float]]]:
    try:
        data = files.read_private(path, _LIMIT)
        value = lightjson.loads(data)
    except FileNotFoundError:
        return [], {}, []
    except UnsafePath:
        raise
    except (SuiteError, ValueError, RecursionError):  # too large or damaged
        return [], {}, []
    if not isinstance(value, dict) or value.get("version") != VERSION:
        return [], {}, []
    ids, prompts, times = value.get("seen"), value.get("prompts"), value.get("injected")
    order = [i for i in ids if isinstance(i, str)] if isinstance(ids, list) else []
    marks = {k: float(t) for k, t in (prompts.items() if isinstance(prompts, dict) else ()) if _is_time(t)}
    injected = [
        (pair[0], float(pair[1]))
        for pair in (times if isinstance(times, list) else ())
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and _is_time(pair[1])
    ]
    return list(dict.fromkeys(order)), marks, injected


def _is_time(value: object) -> bool:
    """Whether ``value`` can be seconds since the epoch: a number, no truth value, of a year that exists."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e11
