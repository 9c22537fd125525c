"""The scalar forms of the protocol: ids, reasons, timestamps, paths, names.

Each ``is_…`` is total over ``str`` and says only whether the text has the form.
docs/protocol.md, "Validity of an envelope".
"""

from __future__ import annotations

import re
from functools import lru_cache

from ai_kb.hn.text import has_control, is_blank, lower, trim, utf8_length

DIGEST_PREFIX = "sha256:"
MAX_NAME_BYTES = 256
MAX_TOPIC_BYTES = 128
MAX_PATH_BYTES = 4096
MAX_REASON_BYTES = 128
MAX_OUTCOME_BYTES = 64
SUBJECT_TYPES = ("issue", "proposal", "event", "policy", "pipeline", "run")

_HEX = "0123456789abcdef"
_TOKEN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_SUBJECT = re.compile(rf"(?:{'|'.join(SUBJECT_TYPES)}):sha256:[0-9a-f]{{64}}")
_DATE_TIME = (
    r"([0-9]{4})-"
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]|(29)))"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
)
_OFFSET = r"(?:[01][0-9]|2[0-4]):[0-5][0-9]"  # 24 hours are legal there
_RFC3339 = re.compile(rf"{_DATE_TIME}(?:\.[0-9]+)?(?:Z|[+-]{_OFFSET})")
# In the one form that formatting the parsed time gives back: an offset of zero is written Z.
_TIMESTAMP = re.compile(rf"{_DATE_TIME}(?:\.[0-9]{{0,8}}[1-9])?(?:Z|[+-](?!00:00){_OFFSET})")


def is_actor(text: str) -> bool:
    """64 lowercase hex digits."""
    return len(text) == 64 and not text.strip(_HEX)


def is_digest(text: str) -> bool:
    """``sha256:`` and 64 lowercase hex digits: a memory, stream, event or policy id."""
    return len(text) == 71 and text.startswith(DIGEST_PREFIX) and not text[7:].strip(_HEX)


def is_oid(text: str) -> bool:
    """A full lowercase Git object id, SHA-1 or SHA-256."""
    return (len(text) == 40 or len(text) == 64) and not text.strip(_HEX)


def is_reason(text: str, limit: int = MAX_REASON_BYTES) -> bool:
    """Lowercase letters, digits and inner hyphens, at most ``limit`` of them."""
    return len(text) <= limit and _TOKEN.fullmatch(text) is not None


def is_subject(text: str) -> bool:
    """A typed subject: ``issue:``, ``proposal:`` … and a full ``sha256:`` id."""
    return _SUBJECT.fullmatch(text) is not None


def is_evidence(text: str) -> bool:
    """A typed evidence id: ``git:`` and a full object id, ``event:sha256:…`` or ``memory:sha256:…``."""
    kind, _, rest = text.partition(":")
    if kind == "git":
        return is_oid(rest)
    return (kind == "memory" or kind == "event") and is_digest(rest)


def is_timestamp(text: str) -> bool:
    """RFC 3339 with up to nine digits of fraction, no trailing zeros, ``Z`` for offset zero."""
    return _is_date(_TIMESTAMP.fullmatch(text))


def is_rfc3339(text: str) -> bool:
    """RFC 3339 in any of its forms with upper-case ``T`` and ``Z``."""
    return _is_date(_RFC3339.fullmatch(text))


def _is_date(match: re.Match[str] | None) -> bool:
    if match is None:
        return False
    year, leap_day = match.groups()
    return leap_day is None or _is_leap(int(year))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def is_actor_name(text: str) -> bool:
    """Not blank, at most 256 bytes, no control characters."""
    return not is_blank(text) and utf8_length(text) <= MAX_NAME_BYTES and not has_control(text)


@lru_cache(maxsize=4096)
def is_topic(text: str) -> bool:
    """1 to 128 bytes, equal to its own trimmed lowercase form, no control characters."""
    return (
        0 < utf8_length(text) <= MAX_TOPIC_BYTES
        and lower(text) == text
        and trim(text) == text
        and not has_control(text)
    )


def is_path(text: str) -> bool:
    """1 to 4,096 bytes, relative, no backslash, no control character, and already clean.

    Clean is Go's ``path.Clean``: no empty or ``.`` segment and no ``..`` that could be resolved.
    A leading ``../`` cannot be resolved and so passes; it names nothing in a commit.
    """
    if not 0 < utf8_length(text) <= MAX_PATH_BYTES or "\\" in text or has_control(text):
        return False
    parts = text.split("/")
    if "" in parts or "." in parts:  # "" covers absolute, trailing and double slashes
        return False
    if ".." not in parts:
        return True
    leading = 0
    while leading < len(parts) and parts[leading] == "..":
        leading += 1
    return leading < len(parts) and ".." not in parts[leading:]


def is_repository_path(text: str) -> bool:
    """A path that can name something in a commit: ``is_path`` without any ``..``. What flags and
    filters accept."""
    return is_path(text) and ".." not in text.split("/")
