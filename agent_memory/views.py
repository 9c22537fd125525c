"""What of a topic may be shown, read from its files and put through the clean-room rules.

Everything that a spec, a summary or a worklog says is data: an entry is one line of inert JSON.
"""

from __future__ import annotations

import os

from agent_base import inert
from agent_base.errors import SuiteError
from agent_memory import cleanroom, jsonl
from agent_memory import workspace as places
from agent_memory.entries import timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_memory.starts import Start
    from agent_memory.topics import Bucket, State

# Fields of an entry that say where it is kept, not what happened.
_KEPT_FOR_MACHINES = frozenset({"workspace", "topic", "model", "worklog_id", "session_key", "worklog_seq"})


class TopicView:
    """What of one topic may be shown.

    Attributes:
        spec: its text as far as it may be shown, or None; ``too_long``: only a pointer to it is;
            ``spec_shown``: whether it is shown at all; ``spec_identity``: changes when its text does.
        entries: rendered worklog entries, oldest first; ``ids``: theirs; ``total``: how many there are.
        review: whether it is a review topic.
    """

    __slots__ = (
        "entries",
        "ids",
        "review",
        "spec",
        "spec_file",
        "spec_identity",
        "spec_shown",
        "too_long",
        "topic",
        "total",
    )

    def __init__(self, topic: str, spec_file: str) -> None:
        self.topic = topic
        self.spec_file = spec_file
        self.spec: str | None = None
        self.spec_identity = ""
        self.spec_shown = True
        self.too_long = False
        self.entries: list[str] = []
        self.ids: list[str] = []
        self.total = 0
        self.review = False

    @property
    def empty(self) -> bool:
        """Whether there is neither spec nor worklog."""
        return self.spec is None and not self.total

    @property
    def learns(self) -> bool:
        """Whether learnings belong to it: named, and no review."""
        return not self.review and not places.is_reserved(self.topic)


def view_topic(state: State, topic: str, since: Start | None = None) -> TopicView:
    """Read a topic's spec and worklog and apply the clean-room rules; with ``since`` only the entries
    that came after what that start showed of the same topic."""
    view = TopicView(topic, state.spec_path(topic))
    spec = state.read_spec(topic)
    view.review = cleanroom.is_review(topic, spec)
    if spec is not None:
        view.spec = cleanroom.visible_spec(topic, spec)
        view.too_long = not cleanroom.fits(view.spec)
        view.spec_identity = _identity(view.spec)
    if not view.review:
        lines = jsonl.read_lines(state.worklog_path(topic))
        if since is not None and since.topic == topic:
            lines = _newer(lines, since)
        view.total = len(lines)
        recent = [entry for line in lines[-cleanroom.WORKLOG_ENTRIES :] if (entry := jsonl.parse(line))]
        view.entries = cleanroom.tail([entry_line(entry) for entry in recent])
        view.ids = [str(entry.get("worklog_id", "")) for entry in recent[len(recent) - len(view.entries) :]]
    return view


def _identity(text: str) -> str:
    from zlib import crc32

    return f"{len(text)}:{crc32(text.encode('utf-8', 'replace')):08x}"


def _newer(lines: list[bytes], since: Start) -> list[bytes]:
    """The lines after the last one that ``since`` showed; where that is gone, those that are younger."""
    for number in range(len(lines), 0, -1):
        if any(worklog_id.encode() in lines[number - 1] for worklog_id in since.ids if worklog_id):
            return lines[number:]
    moment = timestamp(since.at)
    return [line for line in lines if str((jsonl.parse(line) or {}).get("ts", "")) >= moment]


def entry_line(entry: Mapping[str, object]) -> str:
    """A worklog entry as one line of inert JSON, whole, without what only machines need."""
    shown = {name: value for name, value in entry.items() if name not in _KEPT_FOR_MACHINES}
    return "- " + inert.json_line(shown)


def bucket_summary(state: State, bucket: Bucket) -> str:
    """Summary of a bucket as plain text; "" for a paused one and where the spec says nothing."""
    if not bucket.has_spec or os.path.lexists(state.no_context_path(bucket.topic)):
        return ""
    try:
        spec = state.read_spec(bucket.topic)
    except SuiteError:
        return ""
    return "" if spec is None else cleanroom.summary(bucket.topic, spec)


def age(seconds: float) -> str:
    """``seconds`` as people say it: ``just now``, ``5 minutes old``, ``3 hours old``, ``2 days old``."""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        count = int(seconds // size)
        if count >= 1:
            return f"{count} {unit}{'s' if count > 1 else ''} old"
    return "just now"
