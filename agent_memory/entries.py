"""What one worklog record is made of: bounded, redacted, in one order of fields.

    ts workspace topic event model tool_name command duration status output error
    note_kind text refs                                            (of a note)
    worklog_id session_key worklog_seq                             (added by the queue)

``ts`` is RFC 3339 UTC with milliseconds, ``duration`` milliseconds; empty fields are left out.
Redaction comes before bounding, so that no bound can cut a secret into something unrecognisable.
Pure; standard library only and light.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_memory.payload import Event

    Record = dict[str, object]

OUTPUT_LIMIT = 1200
ERROR_LIMIT = 600
COMMAND_LIMIT = 1200
NOTE_LIMIT = 2000
NAME_LIMIT = 200
REF_LIMIT = 400
MAX_REFS = 50

NOTE = "note"


def timestamp(seconds: float) -> str:
    """``seconds`` since 1970 as RFC 3339 UTC with milliseconds: sorts as text."""
    whole = int(seconds)
    parts = time.gmtime(whole)
    stamp = f"{parts[0]:04d}-{parts[1]:02d}-{parts[2]:02d}T{parts[3]:02d}:{parts[4]:02d}:{parts[5]:02d}"
    return f"{stamp}.{int((seconds - whole) * 1000):03d}Z"


def clean(text: str) -> str:
    """``text`` that can be encoded: every lone surrogate becomes U+FFFD, pairs are joined."""
    if text.isascii():
        return text
    from agent_base.inert import clean_surrogates

    return clean_surrogates(text)


def bounded(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters: its beginning and its end, and how much is missing.

    Cuts between characters, and not between a character and the marks that combine with it.
    """
    if len(text) <= limit:
        return text
    missing = len(text) - limit
    note = ""
    for _ in range(3):  # the note's own length changes what is missing
        note = f" […{missing:,} characters cut…] "
        missing = len(text) - (limit - len(note))
    room = limit - len(note)
    tail = room // 3
    head = _boundary(text, room - tail, -1)
    start = _boundary(text, len(text) - tail, 1)
    return f"{text[:head]} […{start - head:,} characters cut…] {text[start:]}"[:limit]


def _boundary(text: str, at: int, step: int) -> int:
    """``at``, moved by at most 16 so that no combining mark, joiner or selector stands there."""
    for place in range(at, at + 16 * step, step):
        if not 0 < place < len(text):
            return at
        if not _joins(text[place]) and text[place - 1] != "\u200d":
            return place
    return at


def _joins(char: str) -> bool:
    if char < "\u0300":
        return False
    if char in "\u200d\ufe0e\ufe0f" or "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    import unicodedata

    return unicodedata.combining(char) != 0


def safe(text: str, limit: int) -> str:
    """``text`` as it may be stored: encodable, without secrets, bounded."""
    if not text:
        return ""
    from agent_memory.redact import redact_bounded

    return bounded(redact_bounded(clean(text), limit), limit)


def tool_entry(event: Event, *, ts: float, workspace: str, topic: str) -> Record:
    """The record of a tool event (or of any other that a harness sent to the recorder)."""
    record: Record = {
        "ts": timestamp(ts),
        "workspace": clean(workspace),
        "topic": topic,
        "event": safe(event.event, NAME_LIMIT) or "unknown",
        "model": safe(event.model, NAME_LIMIT),
        "tool_name": safe(event.tool_name, NAME_LIMIT),
        "command": safe(event.command, COMMAND_LIMIT),
        "duration": event.duration,
        "status": event.status,
        "output": safe(event.output, OUTPUT_LIMIT),
        "error": safe(event.error, ERROR_LIMIT),
    }
    return _without_empty(record)


def note_entry(kind: str, text: str, refs: Sequence[str], *, ts: float, workspace: str, topic: str) -> Record:
    """The record of a note."""
    record: Record = {
        "ts": timestamp(ts),
        "workspace": clean(workspace),
        "topic": topic,
        "event": NOTE,
        "note_kind": kind,
        "text": safe(text, NOTE_LIMIT),
        "refs": [safe(ref, REF_LIMIT) for ref in refs[:MAX_REFS]],
    }
    return _without_empty(record)


def _without_empty(record: Record) -> Record:
    return {name: value for name, value in record.items() if value not in ("", None, [])}
