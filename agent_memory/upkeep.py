"""What is done to queues and worklogs besides recording: folding, repair, cleaning.

All of it holds the activity lock exclusively (``fold``: its caller does), so that no writer is in
the middle of anything. "Hook memory, Internals" (lifecycle) and "commands" (merge, select).
"""

from __future__ import annotations

import os

from agent_base import files
from agent_base.errors import SuiteError, UnsafePath
from agent_base.lightjson import dumps
from agent_memory import ledger, locks, queue, worklog
from agent_memory import workspace as places

CLEAN_AFTER = 7 * 24 * 3600.0
CLEAN_EVERY = 24 * 3600.0
_CLEANED = ".cleaned"


def fold(
    spec_dir: str,
    source: str,
    target: str,
    *,
    keep: int = worklog.KEEP,
    timeout: float | None = None,
) -> int:
    """Fold one topic's worklog and pending records into another's, in time order; how many records
    of the source's worklog were folded.

    The caller holds the activity lock exclusively and has flushed. All or nothing: killed in between,
    a second call finishes it (records are recognised by ``worklog_id``, and renamed only once).
    """
    if source == target:
        return 0
    first, second = sorted((source, target))
    with locks.target_lock(spec_dir, first, timeout), locks.target_lock(spec_dir, second, timeout):
        source_path, target_path = worklog.path(spec_dir, source), worklog.path(spec_dir, target)
        moved = worklog.read(source_path)
        if moved:
            together = worklog.merged(worklog.read(target_path), moved, topic=target)
            worklog.write(target_path, together, keep=keep)
        _retarget(spec_dir, source, target)
        if os.path.lexists(source_path):
            os.unlink(source_path)
            files.fsync_dir(spec_dir)
    return len(moved)


def _retarget(spec_dir: str, source: str, target: str) -> None:
    """Rename the topic of every readable pending record. The activity lock is held exclusively."""
    for key, name in queue.pending(spec_dir):
        path = queue.directory(spec_dir, key)
        try:
            record, _ = queue.read_record(path, key, name)
        except (SuiteError, OSError):
            continue
        if record["topic"] == source:
            line = dumps({**record, "topic": target}, ascii_only=False)
            files.write_atomic(os.path.join(path, name), line.encode("utf-8", "replace"))


# ---------------------------------------------------------------- repair and cleaning


def repair(spec_dir: str, key: str | None = None, *, timeout: float | None = None) -> list[str]:
    """Move every pending record that cannot be read to the ledger (redacted, bounded), and mark the
    ledger's open entries as seen; a line about each. Readable records are left alone."""
    done: list[str] = []
    if not os.path.isdir(spec_dir):
        return done
    with locks.activity(spec_dir, exclusive=True, timeout=timeout):
        for k, name in queue.pending(spec_dir, key):
            path = queue.directory(spec_dir, k)
            try:
                queue.read_record(path, k, name)
            except FileNotFoundError:
                continue
            except (SuiteError, OSError) as error:
                done.append(_move_to_ledger(spec_dir, path, k, name, error))
        seen = ledger.resolve(spec_dir, key)
    if seen:
        done.append(f"{seen} entries of the error ledger are marked as seen; they stay readable there")
    return done


def _move_to_ledger(spec_dir: str, path: str, key: str, name: str, error: Exception) -> str:
    from agent_memory.entries import OUTPUT_LIMIT, safe

    file = os.path.join(path, name)
    try:
        content = safe(files.read_private(file).decode("utf-8", "replace"), OUTPUT_LIMIT)
    except (SuiteError, OSError):
        content = ""
    message = f"queue record {key}/{name} was taken out of the queue: {error}"
    kept = ledger.add(
        spec_dir, "repaired", message, session_key=key, record={"content": content}, key=f"{key}/{name}"
    )
    if not kept:
        return f"queue record {key}/{name} stays: the ledger could not be written"
    try:
        if os.path.isdir(file) and not os.path.islink(file):
            os.rmdir(file)
        else:
            os.unlink(file)
    except OSError as reason:
        return f"queue record {key}/{name} is in the ledger, and stays: {reason.strerror}"
    return message


def clean_up(spec_dir: str, now: float, *, root: str | None = None, force: bool = False) -> list[str]:
    """Remove what nobody needs after seven days: drained queues, error state, fallback worklogs
    (``session-*``), ``.recall-seen-*`` and ``.start-seen-*`` files, and of the error ledger of ``root``;
    names of what went. At most once a day unless ``force``.

    Named topics never go. When somebody is writing, nothing is done: there is another day.
    """
    marker = os.path.join(spec_dir, locks.LOCKS, _CLEANED)
    try:
        if not force and 0 <= now - os.lstat(marker).st_mtime < CLEAN_EVERY:
            return []
    except FileNotFoundError:
        if not os.path.isdir(os.path.join(spec_dir, locks.LOCKS)):
            return []
    try:
        with locks.activity(spec_dir, exclusive=True, timeout=0):
            removed = _clean(spec_dir, now - CLEAN_AFTER)
            ledger.forget_older_than(spec_dir, CLEAN_AFTER, now)
            files.write_atomic(marker, b"", durable=False)
            os.utime(marker, (now, now))
    except files.LockTimeout:
        return []
    if root is not None:  # not this workspace's: what fails there is no reason to clean here again
        ledger.forget_older_than(root, CLEAN_AFTER, now)
    return removed


def _clean(spec_dir: str, limit: float) -> list[str]:
    removed: list[str] = []
    busy: set[str] = set()
    for key in queue.sessions(spec_dir):
        path = queue.directory(spec_dir, key)
        if queue.names_of(path):
            busy.add(places.session_topic(key))
        elif _older(path, limit):
            for name in os.listdir(path):
                os.unlink(os.path.join(path, name))
            os.rmdir(path)
            removed.append(os.path.join(queue.QUEUE, key))
    for name in sorted(os.listdir(spec_dir)):
        stale = name.startswith((".recall-seen-", ".start-seen-")) and name.endswith(".json")
        if name.startswith(places.SESSION_PREFIX) and name.endswith(worklog.SUFFIX):
            stale = name.removesuffix(worklog.SUFFIX) not in busy
        if stale and _older(os.path.join(spec_dir, name), limit):
            os.unlink(os.path.join(spec_dir, name))
            removed.append(name)
    lock_dir = os.path.join(spec_dir, locks.LOCKS)
    for name in os.listdir(lock_dir):
        # Safe while the activity lock is held exclusively: whoever waits for one of these holds it.
        if name.startswith(("session-", "target-")) and _older(os.path.join(lock_dir, name), limit):
            os.unlink(os.path.join(lock_dir, name))
    return removed


def _older(path: str, limit: float) -> bool:
    """Whether ``path`` is a private file or directory that was not changed since ``limit``."""
    try:
        status = os.lstat(path)
        files.check_private(path, status)
    except (OSError, UnsafePath):
        return False
    return status.st_mtime < limit
