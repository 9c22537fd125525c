"""One event that is delivered twice is recorded once.

Some clients run a repository's hooks for other clients as well, so that the same event arrives
under two names (docs/harnesses.md, rule 3). It is the same when

- the call id is the same, and either the naming differs (camelCase, PascalCase) or the content does
  not (a client whose call ids start again in a resumed session does not lose events); or
- there is no call id to compare, the naming differs, the content is the same, and both arrived
  within two seconds.

What arrived lately is kept per session in its queue directory, as fingerprints only.
"""

from __future__ import annotations

import os

from agent_base import files
from agent_base.digests import sha256_hex
from agent_base.errors import SuiteError
from agent_base.lightjson import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memory.payload import Event

WINDOW = 2.0
_FILE = ".recent"
_KEPT = 64
_LIMIT = 64 * 1024


def is_duplicate(directory: str, event: Event, worklog_id: str, seconds: float) -> bool:
    """Whether ``event`` (arrived at ``seconds``) is a second delivery; if not, it is remembered.

    ``directory`` is the session's queue directory, whose lock or spool lock the caller holds. The
    same ``worklog_id`` again is a replay, not a delivery.
    """
    if not event.is_tool_event:
        return False
    path = os.path.join(directory, _FILE)
    recent = _read(path)
    style, content = event.style, _fingerprint(event)
    for earlier in recent:
        if earlier[0] == worklog_id:
            return False
        if _same(earlier, seconds, style, event.call_id, content):
            return True
    recent.append([worklog_id, seconds, style, event.call_id[:200], content])
    files.ensure_private_dir(os.path.dirname(directory))
    files.ensure_private_dir(directory)
    data = dumps(recent[-_KEPT:]).encode("utf-8", "replace")
    files.write_atomic(path, data, durable=False)
    return False


def _same(earlier: list[object], seconds: float, style: str, call_id: str, content: str) -> bool:
    _, then, other_style, other_call, other_content = earlier
    if call_id and other_call:
        return call_id[:200] == other_call and (style != other_style or content == other_content)
    close = isinstance(then, int | float) and abs(seconds - then) <= WINDOW
    return close and style != other_style and content == other_content


def _read(path: str) -> list[list[object]]:
    try:
        value = loads(files.read_private(path, _LIMIT).decode("utf-8", "replace"))
    except (FileNotFoundError, SuiteError, ValueError, RecursionError):
        return []
    if not isinstance(value, list):
        return []
    return [entry for entry in value if isinstance(entry, list) and len(entry) == 5]


def _fingerprint(event: Event) -> str:
    """Digest of what happened, whatever the harness called it."""
    parts = (event.tool_name.lower(), event.command, event.output, event.error, event.status)
    return sha256_hex("\0".join(parts).encode("utf-8", "surrogatepass"))[:32]
