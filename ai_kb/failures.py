"""Which recorded events failed, and what line of their output says why.

Harnesses differ in what they tell: a status, an error text, or only output. Pure; reads worklog
entries as data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_FAILED = frozenset(
    {"failed", "failure", "error", "errored", "timeout", "timed_out", "interrupted", "cancelled"}
)
_DONE = frozenset({"ok", "success", "succeeded", "completed", "done", "passed"})

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_EXIT = re.compile(r"\W*(?:command )?(?:exit(?:ed)?(?: with)?(?: code| status)?|exit code)\W*\d+\W*", re.I)

# From what says most to what says least.
_TELLING = tuple(
    re.compile(pattern)
    for pattern in (
        r"^E\s{2,}\w*(?:Error|Exception|Warning|Failure)\b.*",
        r"^\s*(?:[\w.]+\.)?\w*(?:Error|Exception|Panic|Fault)\b(?:\s*\[\w+\])?:\s*\S.*",
        r"^\s*error(?:\[\w+\])?:?\s+\S.*",
        r".*?:\d+(?::\d+)?:?\s*(?:fatal )?error\b.*",
        r"(?i)^\s*(?:fatal|panic|abort|critical)\b.*:?\s*\S.*",
        r"(?i)^(?:npm|yarn|pnpm) err(?:!|or)\s+(?!a complete log|code\b).*",
        r"(?i)^.*\b(?:command not found|no such file or directory|permission denied|connection refused"
        r"|address already in use|undefined reference|cannot find|could not|not found|timed out)\b.*",
        r"^E\s{2,}\S.*",
        r"^FAILED\b.*",
        r"(?i)^.*\b(?:error|failed|failure|denied|invalid|unable|missing)\b.*",
    )
)
_LOOKS_FAILED = re.compile(
    r"^Traceback \(most recent call last\)|^(?:FAILED|FAIL)\b|^=+ .*\b[1-9]\d* (?:failed|errors?)\b"
    r"|^error(?:\[\w+\])?:|^fatal:|^panic:|^npm ERR!|^make: \*\*\*|command not found$|^E   "
    r"|^\w*(?:Error|Exception): ",
    re.M,
)

_NORMAL = (
    (re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"), "<id>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<n>"),
    (re.compile(r"(?:/tmp|/var/folders|/private/tmp)/[^\s'\":,)]+"), "<tmp>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}\b"), "<n>"),
    (re.compile(r"\d+(?:[.:,]\d+)*"), "<n>"),
    (re.compile(r"\s+"), " "),
)


def text_of(entry: Mapping[str, object], name: str) -> str:
    """A text field of an entry, ``""`` when it is missing or no text."""
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def plain(text: str) -> str:
    """``text`` without terminal escape sequences; other controls but line breaks become spaces."""
    text = _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(c if c == "\n" or c.isprintable() else " " for c in text)


def outcome(entry: Mapping[str, object]) -> str:
    """``failed``, ``ok`` or ``unknown``."""
    status = text_of(entry, "status").strip().lower()
    if status in _FAILED:
        return "failed"
    if status in _DONE:
        return "ok"
    code = re.search(r"-?\d+", status)
    if code is not None:
        return "ok" if int(code.group()) == 0 else "failed"
    if text_of(entry, "error").strip():
        return "failed"
    if _LOOKS_FAILED.search(plain(text_of(entry, "output"))):
        return "failed"
    return "unknown"


def telling_lines(entry: Mapping[str, object], limit: int = 3) -> list[str]:
    """The lines of an event's error or output that say best what went wrong, best first."""
    lines: list[str] = []
    for name in ("error", "output"):
        for line in plain(text_of(entry, name)).split("\n"):
            tidy = " ".join(line.split())
            if tidy and not _EXIT.fullmatch(tidy) and tidy not in lines:
                lines.append(tidy)
    found: list[str] = []
    for pattern in _TELLING:
        for line in lines:
            # The pattern for pytest wants its gap of three spaces, which tidying took.
            probe = "E   " + line[2:] if line.startswith("E ") else line
            if line not in found and pattern.match(probe):
                found.append(line)
    if not found:
        found = lines[-1:]
    return [_without_mark(line) for line in found[:limit]]


def _without_mark(line: str) -> str:
    return line[2:].lstrip() if line.startswith("E ") else line


def normal(line: str) -> str:
    """``line`` without what differs from run to run (numbers, hashes, temporary paths)."""
    for pattern, replacement in _NORMAL:
        line = pattern.sub(replacement, line)
    return line.strip().lower()
