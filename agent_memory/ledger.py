"""The error ledger: what went wrong in a spec directory, until somebody has looked at it.

Hooks fail open, so a failure would be silent; here it is kept, shown by the next session start and
by ``doctor``, and an open one makes ``harvest`` refuse (Hook memory, Internals, "Failure behavior").
An event that a full queue refused is kept whole in its entry (redacted and bounded as in the
worklog). Entries are bounded: 1,000 and 1 MiB; resolved ones go first, and what had to go is counted.

``add`` never raises: it is called where something already failed.
"""

from __future__ import annotations

import os
import time

from agent_base import files
from agent_base.errors import SuiteError
from agent_base.lightjson import dumps
from agent_memory import jsonl
from agent_memory.entries import safe, timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Entry = dict[str, object]

FILE = ".worklog-errors-v1.jsonl"
LOCK = ".worklog-errors-v1.lock"
DISPATCHER_ERRORS = ".local/state/agent-hook-suite/dispatcher-errors.log"
MAX_ENTRIES = 1000
MAX_BYTES = 1024 * 1024
MESSAGE_LIMIT = 600
LOCK_TIMEOUT = 2.0

# Kinds that are news, not trouble: they never make harvest refuse.
# Failures of what injects, not of what records: shown like others, but nothing is missing from a worklog.
INJECTION = frozenset({"hook", "recall"})
_NOTICES = frozenset({"repaired", "dropped", "deferred"})


def add(
    directory: str,
    kind: str,
    message: str,
    *,
    session_key: str = "",
    record: Mapping[str, object] | None = None,
    key: str = "",
    repeats: bool = False,
    now: float | None = None,
) -> bool:
    """Keep one failure in ``directory`` (a spec directory, or the root when there is none).

    ``kind`` is one word (``refused``, ``hook``, ``repaired``, …), ``record`` the event that could not
    be recorded, ``key`` what makes the entry the same as an earlier one (then nothing is added). With
    ``repeats`` an open entry that says the same is counted and becomes the newest, so that what fails
    at every start does not push the others out. False when it could not be kept either.
    """
    entry: Entry = {"ts": timestamp(time.time() if now is None else now), "kind": kind}
    if session_key:
        entry["session_key"] = session_key
    entry["message"] = ""
    if key:
        entry["key"] = key
    if record is not None:
        entry["record"] = dict(record)
    if kind in _NOTICES:
        entry["resolved"] = True

    def added(present: list[Entry]) -> list[Entry]:
        if key and any(other.get("key") == key and other.get("kind") == kind for other in present):
            return present
        if repeats:
            for number, other in enumerate(present):
                if other.get("message") == entry["message"] and _is_open_and_bare(other, kind):
                    again = {**other, "ts": entry["ts"], "count": max(1, _count(other)) + 1}
                    return [*present[:number], *present[number + 1 :], again]
        return [*present, entry]

    try:
        entry["message"] = safe(message, MESSAGE_LIMIT)
        _change(directory, added)
    except (OSError, SuiteError, ValueError):
        return False
    return True


def _is_open_and_bare(entry: Entry, kind: str) -> bool:
    return entry.get("kind") == kind and not entry.get("resolved") and "record" not in entry


def entries(directory: str) -> list[Entry]:
    """All entries, oldest first; [] when there is no ledger. Raises UnsafePath."""
    return jsonl.read(os.path.join(directory, FILE))


def open_errors(directory: str, session_key: str | None = None, *, recording: bool = False) -> list[Entry]:
    """Entries that nobody has resolved; with ``session_key`` only those of that session and of none;
    with ``recording`` without those about injection, which no harvest has to refuse for."""
    return [
        entry
        for entry in entries(directory)
        if not entry.get("resolved")
        and not (recording and entry.get("kind") in INJECTION)
        and (session_key is None or entry.get("session_key", session_key) == session_key)
    ]


def lines(found: Iterable[Entry], *, kinds: bool = True) -> list[str]:
    """What entries say, ``kind: message`` or only the message, newest last; the same once, with how often."""
    counted: dict[str, int] = {}
    for entry in found:
        text = f"{entry.get('kind')}: {entry.get('message')}" if kinds else str(entry.get("message", ""))
        counted[text] = counted.pop(text, 0) + max(1, _count(entry))
    return [text if number == 1 else f"{text} ({number} times)" for text, number in counted.items()]


def of_no_workspace(
    root: str, spec_dir: str, env: Mapping[str, str], workspace: str | None = None
) -> list[Entry]:
    """Open entries of what failed before it was known which workspace it was of, and the dispatcher's last
    failure. In a hook (``workspace``) a home inside of that is none. Raises UnsafePath."""
    found = open_errors(root) if root != spec_dir else []
    dispatcher = dispatcher_error(env, workspace)
    return found if dispatcher is None else [*found, dispatcher]


def dispatcher_error_path(env: Mapping[str, str], workspace: str | None = None) -> str | None:
    """Where ``worklog_dispatcher.sh`` leaves its last failure: it may have no ledger to write to."""
    from agent_base.env import home

    base = home(env, workspace)
    return None if base is None else os.path.join(base, DISPATCHER_ERRORS)


def dispatcher_error(env: Mapping[str, str], workspace: str | None = None) -> Entry | None:
    """The dispatcher's last failure (``ts``, ``message``), or None. Somebody has to remove the file."""
    path = dispatcher_error_path(env, workspace)
    if path is None:
        return None
    try:
        moment = os.lstat(path).st_mtime
        text = files.read_private(path, 64 * 1024).decode("utf-8", "replace").strip()
    except (OSError, SuiteError):
        return None
    return {"ts": timestamp(moment), "kind": "dispatcher", "message": safe(text, MESSAGE_LIMIT)}


def resolve(directory: str, session_key: str | None = None) -> int:
    """Mark the open entries (of one session) as seen; how many. Their records stay in the ledger."""
    marked = 0

    def seen(present: list[Entry]) -> list[Entry]:
        nonlocal marked
        for entry in present:
            of_session = session_key is None or entry.get("session_key", session_key) == session_key
            if of_session and not entry.get("resolved"):
                entry["resolved"] = True
                marked += 1
        return present

    if os.path.lexists(os.path.join(directory, FILE)):
        _change(directory, seen)
    return marked


def forget_older_than(directory: str, age: float, now: float) -> None:
    """Drop entries older than ``age`` seconds that are resolved, or that no event hangs on."""
    if not os.path.lexists(os.path.join(directory, FILE)):
        return
    limit = timestamp(now - age)

    def kept(present: list[Entry]) -> list[Entry]:
        return [
            entry
            for entry in present
            if str(entry.get("ts", "")) >= limit or ("record" in entry and not entry.get("resolved"))
        ]

    _change(directory, kept)


def _change(directory: str, change: Callable[[list[Entry]], list[Entry]]) -> None:
    path = os.path.join(directory, FILE)
    files.ensure_private_dir(directory)
    with files.locked(os.path.join(directory, LOCK), timeout=LOCK_TIMEOUT):
        before = jsonl.read_lines(path)
        present = [entry for line in before if (entry := jsonl.parse(line)) is not None]
        lines = [_line(entry) for entry in _within_bounds(change(present))]
        if lines != before:
            jsonl.replace(path, lines, keep=MAX_ENTRIES + 1)


def _line(entry: Entry) -> bytes:
    return dumps(entry, ascii_only=False).encode("utf-8", "replace")


def _within_bounds(present: list[Entry]) -> list[Entry]:
    """``present`` without what is too much: resolved entries first, then the oldest; counted."""
    sizes = [len(_line(entry)) + 1 for entry in present]
    excess_entries = len(present) - MAX_ENTRIES
    excess_bytes = sum(sizes) - MAX_BYTES
    if excess_entries <= 0 and excess_bytes <= 0:
        return present
    counted = sum(_count(entry) for entry in present if entry.get("kind") == "dropped")
    gone: set[int] = {i for i, entry in enumerate(present) if entry.get("kind") == "dropped"}
    excess_entries += 1 - len(gone)
    order = sorted(range(len(present)), key=lambda i: (not present[i].get("resolved"), i))
    dropped = 0
    for i in order:
        if excess_entries <= 0 and excess_bytes <= 0:
            break
        if i in gone:
            continue
        gone.add(i)
        dropped += 1
        excess_entries -= 1
        excess_bytes -= sizes[i]
    total = counted + dropped
    notice: Entry = {
        "ts": str(present[-1].get("ts", "")),
        "kind": "dropped",
        "message": f"{total} older entries did not fit and are gone",
        "count": total,
        "resolved": True,
    }
    return [notice, *(entry for i, entry in enumerate(present) if i not in gone)]


def _count(entry: Entry) -> int:
    count = entry.get("count")
    return count if isinstance(count, int) else 0
