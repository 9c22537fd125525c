"""What may be injected, and how much: the only copy of the rules.

Session start and ``,agent-memory select`` both render through this module. Pure functions over text
and entries, except ``injection_off``, which looks for the sentinels. "Hook memory, Clean session /
clean-room": text over a bound is left out whole, never cut; worklog entries are whole; review topics
lose what could bias the next review.
"""

from __future__ import annotations

import itertools
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent_memory.topics import State

SPEC_LIMIT = 2500  # characters of a spec
WORKLOG_ENTRIES = 12  # entries of a worklog tail
WORKLOG_LIMIT = 3000  # characters of a worklog tail
SUMMARY_LIMIT = 180  # characters of a bucket's summary
PREFIX_LIMIT = 3000  # characters of the prefix
BUCKETS_SHOWN = 8
INJECTION_LIMIT = 9500  # UTF-16 units; a whole injection stays below (Claude Code cuts at 10,000)

_OFF = frozenset({"0", "false", "no", "off", "disabled"})

REVIEW_PREFIX = "review"
_FINDINGS = (
    "verified facts",
    "findings",
    "verdict",
    "inline comments",
    "pending review draft",
    "things checked",
    "net",
)
_HEADING_REST = 30  # characters of a line between such a name and its final colon
_PULL_REQUEST_PATHS = ("/pull/", "/pulls/", "/merge_requests/", "/pull-requests/", "/pullrequest/")


# ---------------------------------------------------------------- switched off


def injection_off(state: State, env: Mapping[str, str], topic: str | None) -> str:
    """Why nothing may be injected for ``topic`` (at session start, per prompt, by ``select``), or "".

    ``AGENT_HOOK_CONTEXT`` in 0/false/no/off/disabled; ``_no_session_context`` in the workspace's
    directory; ``<topic>.no_context`` there. Whatever stands at the sentinel's path counts.
    """
    if env.get("AGENT_HOOK_CONTEXT", "").strip().lower() in _OFF:
        return "AGENT_HOOK_CONTEXT"
    if os.path.lexists(state.no_context_path(None)):
        return os.path.basename(state.no_context_path(None))
    if topic is not None and os.path.lexists(state.no_context_path(topic)):
        return os.path.basename(state.no_context_path(topic))
    return ""


# ---------------------------------------------------------------- size


def utf16_units(text: str) -> int:
    """Length of ``text`` as JavaScript counts it, which is how the clients cut."""
    if text.isascii():
        return len(text)
    return len(text) + sum(char > "\uffff" for char in text)


# ---------------------------------------------------------------- review topics


def is_review(topic: str, spec: str | None) -> bool:
    """Whether ``topic`` is a review: its name starts with ``review``, or the first ``target:`` line
    of its spec names a pull request."""
    if topic.lower().startswith(REVIEW_PREFIX):
        return True
    return spec is not None and names_pull_request(field(spec, "target"))


def names_pull_request(text: str) -> bool:
    """Whether ``text`` holds ``PR 12``, ``PR #12``, ``pull request 12`` or a pull request's URL."""
    lowered = text.lower()
    if any(_is_pull_request_url(word) for word in lowered.split()):
        return True
    spelled = lowered.replace("pull-request", "pr").replace("pull request", "pr")
    words = "".join(c if c.isalnum() else " " for c in spelled).split()
    if any(a == "pr" and b.isdecimal() for a, b in itertools.pairwise(words)):
        return True
    return any(word.startswith("pr") and word[2:].isdecimal() for word in words)


def _is_pull_request_url(word: str) -> bool:
    """Whether ``word`` leads to a pull request, with a scheme or only a host's name before the path."""
    scheme = word.find("://")
    named = "." in word.split("/", 1)[0].strip(".")
    for path in _PULL_REQUEST_PATHS:
        at = word.find(path)
        while at >= 0:
            if word[at + len(path) : at + len(path) + 1].isdecimal() and (named or 0 <= scheme < at):
                return True
            at = word.find(path, at + 1)
    return False


def is_findings_heading(line: str) -> bool:
    """Whether a line is the heading of prior findings: one of the names in any case, alone, before a
    ``:`` or a dash, at the start of a short line that ends with ``:``, or as a Markdown heading; list
    marks, numbers and emphasis around it do not matter."""
    text = line.strip()
    markdown = text.startswith("#")
    lowered = text[next((i for i, char in enumerate(text) if char.isalpha()), len(text)) :].lower()
    for word in ("prior ", "previous "):
        lowered = lowered.removeprefix(word)
    for name in _FINDINGS:
        if lowered.startswith(name):
            rest = lowered[len(name) :].lstrip("*_` \t")
            if not rest or rest[0] in ":(–—" or rest.startswith("- "):
                return True
            if lowered[len(name)].isspace() and rest.endswith(":") and len(rest) <= _HEADING_REST:
                return True
            if markdown and not lowered[len(name)].isalnum():
                return True
    return False


def without_findings(spec: str) -> str:
    """``spec`` up to its first heading of prior findings."""
    kept: list[str] = []
    for line in spec.splitlines():
        if is_findings_heading(line):
            break
        kept.append(line)
    return "\n".join(kept)


def visible_spec(topic: str, spec: str) -> str:
    """What of a spec may be shown at all, before the size bound: a review's without its findings."""
    return without_findings(spec) if is_review(topic, spec) else spec


def fits(spec: str) -> bool:
    """Whether a spec may be injected whole; otherwise only a pointer to its file is."""
    return len(spec.strip()) <= SPEC_LIMIT


# ---------------------------------------------------------------- worklog tail


def tail(lines: Sequence[str]) -> list[str]:
    """The newest of ``lines`` (whole rendered entries, oldest first) that fit: at most 12 and 3,000
    characters with their line breaks. An entry that does not fit ends the tail: no gap, no half."""
    kept: list[str] = []
    size = 0
    for line in reversed(lines[-WORKLOG_ENTRIES:]):
        size += len(line) + 1
        if size > WORKLOG_LIMIT:
            break
        kept.append(line)
    kept.reverse()
    return kept


# ---------------------------------------------------------------- specs, read as fields


def field(spec: str, name: str) -> str:
    """Text after the first ``name:`` at the start of a line (any case; list and emphasis marks
    before it do not matter), or ""."""
    for line in spec.splitlines():
        text = line.lstrip(" \t#*->_`")
        if text[: len(name)].lower() == name and text[len(name) :].lstrip("*_` ").startswith(":"):
            return text[len(name) :].lstrip("*_` ")[1:].strip(" \t*_`")
    return ""


def summary(topic: str, spec: str) -> str:
    """One line that says what a topic is about: its ``summary:``, else ``target:`` and ``action:``;
    at most 180 characters; "" when it says nothing."""
    shown = visible_spec(topic, spec)
    text = field(shown, "summary")
    if not text:
        text = "; ".join(part for part in (field(shown, "target"), field(shown, "action")) if part)
    text = " ".join(text.split())
    return text if len(text) <= SUMMARY_LIMIT else text[: SUMMARY_LIMIT - 1].rstrip() + "…"
