"""The worklog of a topic: the last 200 complete records, one JSON object per line.

``append`` is idempotent (a record whose ``worklog_id`` is there already is left out) and all or
nothing; callers hold the topic's lock (``locks.target_lock``). Readers need no lock and see whole
records only ("Hook memory, Internals": ordering, bounds).
"""

from __future__ import annotations

import os

from agent_memory import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Record = dict[str, object]

SUFFIX = ".worklog.jsonl"
KEEP = 200


def path(spec_dir: str, topic: str) -> str:
    """Path of a topic's worklog."""
    return os.path.join(spec_dir, topic + SUFFIX)


def id_text(worklog_id: str) -> bytes:
    """How a record's id stands in its line, and nowhere else: within a value the quotes are escaped."""
    return f'"worklog_id":"{worklog_id}"'.encode()


def append(file: str, lines: Sequence[bytes], ids: Sequence[str], *, keep: int = KEEP) -> int:
    """Add records (as lines without newline) that are not there yet; how many were added.

    Raises OSError (a full disk), UnsafePath; then none was.
    """
    return jsonl.append(file, lines, keep=keep, unique=[id_text(worklog_id) for worklog_id in ids])


def read(file: str) -> list[Record]:
    """All complete records in order; [] when there is no worklog. Raises UnsafePath."""
    return jsonl.read(file)


def tail(file: str, count: int) -> tuple[list[Record], int]:
    """The last ``count`` complete records, oldest first, and how many there are in all (a damaged
    line that looks like a record, further up, is counted)."""
    lines = jsonl.read_lines(file)
    found: list[Record] = []
    broken = 0
    for line in reversed(lines):
        if len(found) == count:
            break
        record = jsonl.parse(line)
        if record is None:
            broken += 1
        else:
            found.append(record)
    found.reverse()
    return found, len(lines) - broken


def merged(older: Sequence[Record], newer: Sequence[Record], *, topic: str) -> list[Record]:
    """Two worklogs as one, in time order, every ``worklog_id`` once, all records named ``topic``.

    The order within each of the two stays as it is, whatever its clock did.
    """
    result: list[Record] = []
    seen: set[str] = set()
    left, right = list(older), list(newer)
    i = j = 0
    while i < len(left) or j < len(right):
        take_left = j >= len(right) or (i < len(left) and _time(left[i]) <= _time(right[j]))
        record = left[i] if take_left else right[j]
        i, j = (i + 1, j) if take_left else (i, j + 1)
        record = {**record, "topic": topic}
        identity = record.get("worklog_id") or sorted(map(repr, record.items()))
        if str(identity) not in seen:
            seen.add(str(identity))
            result.append(record)
    return result


def _time(record: Record) -> str:
    return str(record.get("ts", ""))


def write(file: str, records: Sequence[Record], *, keep: int = KEEP) -> None:
    """Replace a worklog by the last ``keep`` of ``records``, at once and durably."""
    from agent_base.lightjson import dumps

    lines = [dumps(record, ascii_only=False).encode("utf-8", "replace") for record in records]
    jsonl.replace(file, lines, keep=keep)
