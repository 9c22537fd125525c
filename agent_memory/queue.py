"""The queue between an event and its worklog: nothing lost, nothing twice, whatever is killed.

    .worklog-queue-v1/<session key>/<sequence>.json    one record each: the line to be appended
    .worklog-queue-v1/<session key>/.sequence          highest sequence that was acknowledged

*Publish*: a record is written beside its name, fsynced, renamed, the directory fsynced; its sequence
is higher than any before in that session. *Flush*: in sequence order the lines are appended to
the worklog of their topic and fsynced, then acknowledged by unlinking. Killed in between, the next
flush finds the ``worklog_id`` in the worklog and only acknowledges: replay is idempotent.

Callers that hold the activity lock (``locks``) say so with ``held=True``. A record that cannot be
read stays pending, visible in every result, and does not block others; ``upkeep.repair`` moves it
to the ledger. "Hook memory, Internals".
"""

from __future__ import annotations

import errno
import os
import time

from agent_base import files
from agent_base.errors import SuiteError
from agent_base.lightjson import dumps
from agent_memory import jsonl, ledger, locks, worklog
from agent_memory import workspace as places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

QUEUE = ".worklog-queue-v1"
MAX_EVENTS = 256
MAX_BYTES = 1024 * 1024
RECORD_LIMIT = 256 * 1024  # bytes of a queue file that are read; no record of ours comes near
SUFFIX = ".json"
_COUNTER = ".sequence"
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_DIGITS = 12

# Queue of what no session did (a note from a terminal). No session key starts with an underscore.
NO_SESSION = "_no-session"

FLUSHER_IDLE = 0.080
FLUSHER_TOTAL = 2.0
_FLUSHER_STEP = 0.020
_FLUSHER_LOCKS = 0.5


class QueueFull(SuiteError):
    """256 events or 1 MiB are pending in this session; the event was not taken."""

    code = "queue-full"


class FlushResult:
    """What a flush left behind. ``errors`` are lines for people; ``clean`` when there is nothing;
    ``again`` when a full disk or somebody's lock was in the way: the same flush works later."""

    __slots__ = ("again", "errors", "flushed", "pending")

    def __init__(
        self, flushed: int = 0, pending: int = 0, errors: Sequence[str] = (), *, again: bool = False
    ) -> None:
        self.flushed = flushed
        self.pending = pending
        self.errors = tuple(errors)
        self.again = again

    @property
    def clean(self) -> bool:
        return not self.pending and not self.errors

    def plus(self, other: FlushResult) -> FlushResult:
        return FlushResult(
            self.flushed + other.flushed, self.pending + other.pending, (*self.errors, *other.errors)
        )


# ---------------------------------------------------------------- what is there


def directory(spec_dir: str, key: str) -> str:
    """Queue directory of a session."""
    return os.path.join(spec_dir, QUEUE, key)


def sessions(spec_dir: str) -> list[str]:
    """Keys of all sessions that have a queue, sorted."""
    try:
        names = os.listdir(os.path.join(spec_dir, QUEUE))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in names if not name.startswith("."))


def names_of(path: str) -> list[str]:
    """Names of a queue's records, in sequence order; what is no record's name comes last."""
    try:
        names = os.listdir(path)
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = [name for name in names if not name.startswith(".")]
    return sorted(found, key=lambda name: (_sequence(name) is None, _sequence(name) or 0, name))


def _sequence(name: str) -> int | None:
    stem = name.removesuffix(SUFFIX)
    digits = len(stem) == _DIGITS and stem.isascii() and stem.isdigit()
    return int(stem) if digits and name != stem else None


def _acknowledged(path: str) -> int | None:
    """Highest sequence that left the queue; None when the queue is new, or its counter was damaged."""
    try:
        return int(files.read_private(os.path.join(path, _COUNTER), 64))
    except (FileNotFoundError, SuiteError, ValueError):
        return None


def pending(spec_dir: str, key: str | None = None) -> list[tuple[str, str]]:
    """Session key and file name of every pending record."""
    keys = sessions(spec_dir) if key is None else [key]
    return [(k, name) for k in keys for name in names_of(directory(spec_dir, k))]


def state(spec_dir: str, key: str | None = None) -> FlushResult:
    """Pending records and errors as they are now; changes nothing and takes no lock."""
    errors: list[str] = []
    waiting = pending(spec_dir, key)
    for k, name in waiting:
        try:
            read_record(directory(spec_dir, k), k, name)
        except FileNotFoundError:
            continue
        except (SuiteError, OSError) as error:
            errors.append(unreadable(k, name, error))
    return FlushResult(0, len(waiting), [*errors, *_ledger_lines(spec_dir, key)])


def _ledger_lines(spec_dir: str, key: str | None) -> list[str]:
    try:
        found = ledger.open_errors(spec_dir, key, recording=True)
    except (SuiteError, OSError) as error:
        return [f"the error ledger cannot be read: {error}"]
    return ledger.lines(found)


def unreadable(key: str, name: str, error: Exception) -> str:
    return f"queue record {key}/{name} stays pending: {error}"


# ---------------------------------------------------------------- publish


def new_id() -> str:
    """An id for a record that comes from no spooled event."""
    return f"{time.time_ns():x}-{os.urandom(6).hex()}"


def enqueue(
    spec_dir: str,
    key: str,
    record: Mapping[str, object],
    worklog_id: str,
    *,
    replay: bool = False,
    held: bool = False,
    timeout: float | None = None,
) -> int:
    """Publish ``record`` (with its ``topic``) durably in a session's queue; its sequence number.

    With ``replay`` the record may have been published before: then nothing is added and the result
    is 0. ``spec_dir`` exists and is safe.

    Raises:
        QueueFull: 256 events or 1 MiB are pending; nothing was changed.
        LockTimeout, UnsafePath, OSError: nothing was published.
    """
    with locks.writing(spec_dir, held, timeout), locks.session_lock(spec_dir, key, timeout):
        queue = os.path.join(spec_dir, QUEUE)
        files.ensure_private_dir(queue)
        path = os.path.join(queue, key)
        files.ensure_private_dir(path)
        _remove_leftovers(path)
        names = names_of(path)
        if replay and _published(spec_dir, path, names, worklog_id):
            return 0
        sequence = _highest(spec_dir, path, key, names) + 1
        line = _line(record, worklog_id, key, sequence)
        _check_room(path, key, names, len(line))
        files.write_atomic(os.path.join(path, f"{sequence:0{_DIGITS}d}{SUFFIX}"), line)
        return sequence


def _highest(spec_dir: str, path: str, key: str, names: Sequence[str]) -> int:
    """Highest sequence that this session ever had: no number is given twice.

    Without a counter (a session that comes back after its queue was cleaned) the worklogs know.
    """
    given = [number for name in names if (number := _sequence(name))]
    acknowledged = _acknowledged(path)
    if acknowledged is None and not given:
        text = f'"session_key":"{key}"'.encode()
        for line in _worklog_lines(spec_dir):
            record = (jsonl.parse(line) if text in line else None) or {}
            recorded = record.get("worklog_seq")
            given += [recorded] if isinstance(recorded, int) else []
    return max([acknowledged or 0, *given])


def _worklog_lines(spec_dir: str) -> Iterator[bytes]:
    """Every line of every worklog of the spec directory that can be read."""
    for name in os.listdir(spec_dir):
        if name.endswith(worklog.SUFFIX):
            try:
                yield from jsonl.read_lines(os.path.join(spec_dir, name))
            except (OSError, SuiteError):
                continue


def _line(record: Mapping[str, object], worklog_id: str, key: str, sequence: int) -> bytes:
    whole = {**record, "worklog_id": worklog_id, "session_key": key, "worklog_seq": sequence}
    return dumps(whole, ascii_only=False).encode("utf-8", "replace")


def _remove_leftovers(path: str) -> None:
    """Temporary files of a writer that was killed: with the session's lock held, nobody writes them."""
    for name in os.listdir(path):
        if name.startswith(".") and name.endswith(".tmp"):
            os.unlink(os.path.join(path, name))


def _published(spec_dir: str, path: str, names: Sequence[str], worklog_id: str) -> bool:
    """Whether a record is pending already, or in any worklog (it may have been flushed, and folded
    or merged elsewhere since)."""
    text = worklog.id_text(worklog_id)
    for name in names:
        try:
            if text in files.read_private(os.path.join(path, name), RECORD_LIMIT):
                return True
        except (OSError, SuiteError):
            continue
    return any(text in line for line in _worklog_lines(spec_dir))


def _check_room(path: str, key: str, names: Sequence[str], size: int) -> None:
    used = 0
    for name in names:
        try:
            used += os.lstat(os.path.join(path, name)).st_size
        except FileNotFoundError:
            continue
    if len(names) >= MAX_EVENTS or used + size > MAX_BYTES:
        raise QueueFull(
            f"{len(names)} events ({used} bytes) of session {key} wait to be recorded, and at most "
            f"{MAX_EVENTS} and {MAX_BYTES} bytes may; the event was not queued",
            "see `,agent-memory doctor` for what keeps the queue from draining",
        )


# ---------------------------------------------------------------- flush


def flush(
    spec_dir: str,
    key: str | None = None,
    *,
    keep: int = worklog.KEEP,
    held: bool = False,
    timeout: float | None = None,
) -> FlushResult:
    """Append pending records (of one session, or of all) to their worklogs, in order, once.

    What cannot be read or written stays pending and is named in ``errors``, as are the open entries
    of the ledger. ``timeout`` bounds each wait for a lock. Never raises for what one record does.
    """
    flushed = 0
    errors: list[str] = []
    failures: list[Exception] = []
    keys = sessions(spec_dir) if key is None else [key]
    for k in keys:
        if not names_of(directory(spec_dir, k)):
            continue
        try:
            with locks.writing(spec_dir, held, timeout), locks.session_lock(spec_dir, k, timeout):
                flushed += _flush_session(spec_dir, k, keep, timeout, errors, failures)
        except (SuiteError, OSError) as error:
            failures.append(error)
            errors.append(f"the queue of session {k} could not be flushed: {error}")
    waiting = len(pending(spec_dir, key))
    again = any(
        isinstance(error, files.LockTimeout) or (isinstance(error, OSError) and error.errno in _DISK_FULL)
        for error in failures
    )
    return FlushResult(flushed, waiting, [*errors, *_ledger_lines(spec_dir, key)], again=again)


def _flush_session(
    spec_dir: str,
    key: str,
    keep: int,
    timeout: float | None,
    errors: list[str],
    failures: list[Exception],
) -> int:
    """With the session's lock held: append, then acknowledge."""
    path = directory(spec_dir, key)
    for level in (spec_dir, os.path.dirname(path), path):
        files.check_private(level, os.lstat(level))
    _remove_leftovers(path)
    targets: dict[str, list[tuple[str, bytes, str]]] = {}
    for name in names_of(path):
        try:
            record, line = read_record(path, key, name)
        except (SuiteError, OSError) as error:
            errors.append(unreadable(key, name, error))
            continue
        topic = str(record["topic"])
        target = _target(spec_dir, key, topic)
        if target != topic:
            line = dumps({**record, "topic": target}, ascii_only=False).encode("utf-8", "replace")
        targets.setdefault(target, []).append((name, line, str(record["worklog_id"])))
    flushed = 0
    for target, records in targets.items():
        try:
            with locks.target_lock(spec_dir, target, timeout):
                worklog.append(
                    worklog.path(spec_dir, target),
                    [line for _, line, _ in records],
                    [worklog_id for _, _, worklog_id in records],
                    keep=keep,
                )
        except (SuiteError, OSError) as error:
            failures.append(error)
            errors.append(f"{len(records)} events of session {key} stay pending: {error}")
            continue
        _acknowledge(path, [name for name, _, _ in records])
        flushed += len(records)
    return flushed


def read_record(path: str, key: str, name: str) -> tuple[dict[str, object], bytes]:
    """A queue record and its line. SuiteError says what is wrong with it."""
    sequence = _sequence(name)
    if sequence is None:
        raise SuiteError("its name is no sequence number")
    line = files.read_private(os.path.join(path, name), RECORD_LIMIT).removesuffix(b"\n")
    record = jsonl.parse(line) if b"\n" not in line else None
    if record is None:
        raise SuiteError("it is not one JSON object on one line")
    topic, worklog_id = record.get("topic"), record.get("worklog_id")
    if not isinstance(topic, str) or not places.is_bucket_name(topic):
        raise SuiteError("it names no topic")
    if not isinstance(worklog_id, str) or worklog.id_text(worklog_id) not in line:
        raise SuiteError("it has no worklog_id")
    if record.get("session_key") != key or record.get("worklog_seq") != sequence:
        raise SuiteError("it belongs to another place in the queue")
    return record, line


def _target(spec_dir: str, key: str, topic: str) -> str:
    """Where a record goes: its topic, but from a session's fallback bucket to what it is bound to now."""
    if topic != places.session_topic(key):
        return topic
    from agent_memory.topics import State

    return State("", spec_dir, spec_dir).binding(key) or topic


def _acknowledge(path: str, names: Sequence[str]) -> None:
    """Unlink what is in the worklog. The counter goes first: a number is never given twice."""
    highest = max(_sequence(name) or 0 for name in names)
    if highest > (_acknowledged(path) or 0):
        files.write_atomic(os.path.join(path, _COUNTER), b"%d" % highest, durable=False)
    for name in names:
        os.unlink(os.path.join(path, name))
    files.fsync_dir(path)


def run_flusher(
    spec_dir: str,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> FlushResult:
    """The background flusher: flush whatever comes, leave after 80 ms without work or 2 s in all."""
    start = last = clock()
    total = FlushResult()
    while True:
        result = flush(spec_dir, timeout=_FLUSHER_LOCKS)
        now = clock()
        total = FlushResult(total.flushed + result.flushed, result.pending, result.errors)
        if result.flushed:
            last = now
        if now - last >= FLUSHER_IDLE or now - start >= FLUSHER_TOTAL:
            return total
        sleep(_FLUSHER_STEP)
