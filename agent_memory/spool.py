"""The spool: raw payloads between the dispatcher's return and their recording.

``<root>/.spool-v1/`` (0700), one file (0600) per event, ``<pid>-<n>.event``: a header that
``worklog_dispatcher.sh`` writes with what only it knows (harness, directory, the variables that
decide where an event belongs), then the payload as it came. A file appears whole, by rename.

``drain`` hands the events over in the order of their arrival, under the spool's lock. An event is
first *claimed* (renamed), then queued; when all are, the queues are flushed, and only then the claimed
files go: whoever finds one knows that an earlier drain was killed, that the event may be queued or
recorded already, and that a flush is due. No raw payload outlives its recording; what a killed
dispatcher left half-written is removed, or recorded when it is whole.

Whose events these are is decided per event from its header, never from the environment of whoever
drains. Hence any recorder, session start or command that looks into the same root finds them all.
"""

from __future__ import annotations

import os
import time

from agent_base import files
from agent_base.errors import SuiteError, UnsafePath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DIRECTORY = ".spool-v1"
EVENT, CLAIMED, PART = ".event", ".claimed", ".part"
_LOCK = ".lock"
_MAGIC = b"agent-spool-1"
# Variables of the dispatcher's environment that decide where an event belongs. Nothing else of the
# environment is ever kept.
VARIABLES = ("CLAUDE_PROJECT_DIR", "COPILOT_AGENT_SESSION_ID", "AGENT_MEMORY_SPEC_ROOT")
_FIELDS = 4 + len(VARIABLES)

PAYLOAD_LIMIT = 64 * 1024 * 1024

# A half-written file is left alone for so long: its dispatcher may still be writing.
_PART_AGE = 60.0
# An event that could not be recorded for so long (a directory that is not safe to use) is given up.
_GIVE_UP_AGE = 7 * 24 * 3600.0
# Process numbers further apart than this, at the same moment, have wrapped around in between.
_WRAPPED = 10_000


class Deferred(SuiteError):
    """An event cannot be recorded now; it stays in the spool."""

    code = "deferred"


class Spooled:
    """One event of the spool. ``id`` is the same whenever and by whomever it is read."""

    __slots__ = ("cwd", "env", "event", "harness", "id", "payload", "replay", "time")

    def __init__(self, data: bytes, worklog_id: str, seconds: float, *, replay: bool) -> None:
        self.id = worklog_id
        self.time = seconds
        self.replay = replay
        self.harness = self.event = self.cwd = ""
        self.env: dict[str, str] = {}
        self.payload = data
        fields = data.split(b"\0", _FIELDS)
        if len(fields) == _FIELDS + 1 and fields[0] == _MAGIC:
            self.harness, self.event, self.cwd, *values = map(os.fsdecode, fields[1:_FIELDS])
            self.env = {name: value for name, value in zip(VARIABLES, values, strict=True) if value}
            self.payload = fields[_FIELDS]


class Drained:
    """What a drain did: events ``recorded``, events ``left`` in the spool, lines about the latter."""

    __slots__ = ("errors", "left", "recorded")

    def __init__(self) -> None:
        self.recorded = 0
        self.left = 0
        self.errors: list[str] = []


def location(root: str) -> str:
    """The spool of a spec root."""
    return os.path.join(root, DIRECTORY)


def put(
    directory: str, payload: bytes, *, harness: str, event: str, cwd: str, env: Mapping[str, str]
) -> None:
    """Spool a payload as the dispatcher does. The directory is made when missing. OSError, UnsafePath."""
    os.makedirs(os.path.dirname(directory), mode=files.DIR_MODE, exist_ok=True)
    files.ensure_private_dir(directory)
    values = [harness, event, cwd, *(env.get(name, "") for name in VARIABLES)]
    header = b"".join(os.fsencode(value.replace("\0", "")) + b"\0" for value in values)
    number = 0
    while True:
        name = os.path.join(directory, f"{os.getpid()}-{number}")
        number += 1
        if os.path.lexists(name + EVENT) or os.path.lexists(name + CLAIMED):
            continue
        part = os.path.join(directory, f".{os.path.basename(name)}{PART}")
        try:
            fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, files.FILE_MODE)
        except FileExistsError:
            continue
        try:
            files.write_all(fd, _MAGIC + b"\0" + header + payload)
        except OSError:
            os.unlink(part)
            raise
        finally:
            os.close(fd)
        os.rename(part, name + EVENT)
        return


def waiting(directory: str) -> int:
    """How many events are in the spool, as it is now."""
    try:
        return sum(name.endswith((EVENT, CLAIMED)) for name in os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return 0


def check(directory: str) -> None:
    """Raises UnsafePath where a spool is not used, with how to mend it."""
    _check(directory, os.lstat(directory))


def oldest(directory: str) -> float | None:
    """When the event came that waits longest, seconds since the epoch; None when none does."""
    try:
        with os.scandir(directory) as found:
            names = [entry for entry in found if entry.name.endswith((EVENT, CLAIMED))]
        return min((entry.stat(follow_symlinks=False).st_mtime for entry in names), default=None)
    except OSError:  # gone in the meantime, most likely: it is being recorded
        return None


def drain(
    directory: str,
    record: Callable[[Spooled], None],
    finish: Callable[[], bool],
    *,
    timeout: float | None = None,
    budget: float | None = None,
    now: float | None = None,
    give_up: Callable[[Spooled, str], bool] | None = None,
) -> Drained:
    """Hand every event to ``record``, oldest first; then ``finish``, then remove them, unless that says
    that they have to be handed over once more.

    ``record`` raises Deferred for an event that has to stay. When others hold the lock for longer
    than ``timeout`` seconds, nothing is done: they are draining. After ``budget`` seconds the rest is left
    to somebody who has more time. What had to stay for seven days goes to ``give_up``, with why; it stays
    on when that says False. Raises UnsafePath, OSError.
    """
    result = Drained()
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return result
    if not any(name.endswith((EVENT, CLAIMED, PART)) for name in names):
        return result
    _check(directory, os.lstat(directory))
    try:
        with files.locked(os.path.join(directory, _LOCK), timeout=timeout):
            moment = time.time() if now is None else now
            end = None if budget is None else time.monotonic() + budget
            _pick_up_parts(directory, moment)
            events = _in_order(directory, result)
            done: list[str] = []
            for number, (name, status) in enumerate(events):
                if end is not None and time.monotonic() >= end:
                    result.left += len(events) - number
                    result.errors.append(f"{len(events) - number} events are left to the recorder")
                    break
                claimed = _hand_over(directory, name, status, record, moment, result, give_up)
                if claimed:
                    done.append(claimed)
            if done and finish():
                for claimed in done:
                    os.unlink(claimed)
    except files.LockTimeout as error:
        result.left = waiting(directory)
        result.errors.append(f"{result.left} events are being recorded: {error}")
    return result


def _hand_over(
    directory: str,
    name: str,
    status: os.stat_result,
    record: Callable[[Spooled], None],
    now: float,
    result: Drained,
    give_up: Callable[[Spooled, str], bool] | None,
) -> str:
    """Claim and record one event; the file that may go, or "" when the event stays."""
    stem, suffix = os.path.splitext(name)
    claimed = os.path.join(directory, stem + CLAIMED)
    item = Spooled(b"", _id(stem, status), status.st_mtime_ns / 1e9, replay=True)
    try:
        if suffix == EVENT:
            os.rename(os.path.join(directory, name), claimed)
        data = _read(claimed, status.st_size)
        item = Spooled(data, _id(stem, status), status.st_mtime_ns / 1e9, replay=suffix == CLAIMED)
        record(item)
    except (SuiteError, OSError) as error:
        message = f"an event was given up after seven days in the spool: {error}"
        if now - status.st_mtime < _GIVE_UP_AGE or (give_up is not None and not give_up(item, message)):
            result.left += 1
            result.errors.append(f"an event stays in the spool: {error}")
            return ""
        result.errors.append(message)
    else:
        result.recorded += 1
    return claimed


def _read(path: str, size: int) -> bytes:
    """The event; of an enormous one the beginning, which is recorded as far as it goes."""
    if size <= PAYLOAD_LIMIT:
        return files.read_private(path)
    with open(path, "rb", opener=lambda p, flags: os.open(p, flags | os.O_NOFOLLOW | os.O_CLOEXEC)) as file:
        return file.read(PAYLOAD_LIMIT)


def _id(stem: str, status: os.stat_result) -> str:
    """Neither renaming nor reading changes it, and no other event of this spool ever has it."""
    return f"{status.st_mtime_ns:x}-{stem}"


def _check(path: str, status: os.stat_result) -> None:
    """Private in the strictest sense: what a checkout or an archive puts down is not."""
    files.check_private(path, status)
    if status.st_mode & 0o077:
        from agent_base.shell import command

        mode = status.st_mode & 0o777
        raise UnsafePath(
            f"{path!r} is open to others (mode {mode:04o}); it was not used", command("chmod", "go=", path)
        )


def _in_order(directory: str, result: Drained) -> list[tuple[str, os.stat_result]]:
    """Events by arrival. Clocks are coarse: of two at the same moment the lower process number came
    first, unless the numbers wrapped around."""
    found: list[tuple[str, os.stat_result]] = []
    for name in os.listdir(directory):
        if name.endswith((EVENT, CLAIMED)):
            path = os.path.join(directory, name)
            try:
                status = os.lstat(path)
                _check(path, status)
            except UnsafePath as error:
                result.left += 1
                result.errors.append(f"an event stays in the spool: {error}")
                continue
            found.append((name, status))
    moments: dict[int, list[int]] = {}
    for name, status in found:
        moments.setdefault(status.st_mtime_ns, []).append(_numbers(name)[0])

    def order(entry: tuple[str, os.stat_result]) -> tuple[int, int, int, str]:
        name, status = entry
        pid, number = _numbers(name)
        same = moments[status.st_mtime_ns]
        if max(same) - min(same) > _WRAPPED and pid < (max(same) + min(same)) // 2:
            pid += max(same)
        return status.st_mtime_ns, pid, number, name

    return sorted(found, key=order)


def _numbers(name: str) -> tuple[int, int]:
    pid, _, number = name.lstrip(".").split(".", 1)[0].partition("-")
    digits = name.isascii()  # `int` does not read everything that `isdigit` takes
    return int(pid) if digits and pid.isdigit() else 0, int(number) if digits and number.isdigit() else 0


def _pick_up_parts(directory: str, now: float) -> None:
    """What a killed dispatcher or recorder was writing: a whole payload becomes an event, half of one
    is removed. The writer may live in another process namespace, hence the age."""
    for name in os.listdir(directory):
        if not name.endswith(PART):
            continue
        path = os.path.join(directory, name)
        try:
            status = os.lstat(path)
            if now - status.st_mtime < _PART_AGE or _alive(_numbers(name)[0]):
                continue
            item = Spooled(files.read_private(path), "", 0.0, replay=False)
        except FileNotFoundError:
            continue
        stem = name[1 : -len(PART)]
        taken = os.path.lexists(os.path.join(directory, stem + CLAIMED))
        if _whole(item.payload) and not taken and not os.path.lexists(os.path.join(directory, stem + EVENT)):
            os.rename(path, os.path.join(directory, stem + EVENT))
        else:
            os.unlink(path)


def _alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _whole(payload: bytes) -> bool:
    from agent_base.lightjson import loads

    try:
        return isinstance(loads(payload.decode("utf-8", "replace")), dict)
    except (ValueError, RecursionError):
        return False
