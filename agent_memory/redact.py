"""Secrets do not reach the disk: what looks like a credential becomes ``[redacted:<type>]``.

Two kinds of rules: credentials that are known by their form (``credential_rules``), and values that
stand where a secret is named (``named_secrets``: ``password: …``, ``export X_TOKEN=…``). A commit id,
a digest, a UUID or base64 of nothing secret is left alone, and so are placeholders, variables and
code that names a secret without holding it.

Work is linear in the text: rules run only when a word they need is there, and every repetition is
bounded. ``re`` is imported only then; a text without any such word costs a few substring searches.
"""

from __future__ import annotations

from agent_memory import redact_named, redact_rules
from agent_memory.redact_rules import MARKER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Beyond this, only the beginning and the end of a text are looked at: no more of it is kept.
WINDOW = 64 * 1024
_EDGE = 8 * 1024
# A secret can begin only where another one that stood before it has been taken out.
_PASSES = 4


class Finding:
    """A secret in a text: its type, and where it stands (offsets; line and column from 1)."""

    __slots__ = ("column", "end", "line", "start", "type")

    def __init__(self, kind: str, start: int, end: int, line: int, column: int) -> None:
        self.type = kind
        self.start = start
        self.end = end
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.type} at line {self.line}, column {self.column}"


def findings(text: str) -> list[Finding]:
    """Every secret in ``text``, in order. Never contains the secret itself."""
    found = []
    for start, end, kind in _spans(text):
        line_start = text.rfind("\n", 0, start) + 1
        found.append(Finding(kind, start, end, text.count("\n", 0, start) + 1, start - line_start + 1))
    return found


def redact(text: str) -> str:
    """``text`` with every secret replaced by ``[redacted:<type>]``. Doing it twice changes nothing."""
    for _ in range(_PASSES):
        spans = _spans(text)
        if not spans:
            break
        text = _replaced(text, spans)
    return text


def _replaced(text: str, spans: list[tuple[int, int, str]]) -> str:
    out: list[str] = []
    position = 0
    for start, end, kind in spans:
        out += [text[position:start], f"{MARKER}{kind}]"]
        position = end
    out.append(text[position:])
    return "".join(out)


def redact_bounded(text: str, limit: int) -> str:
    """``redact`` for a text of which only ``limit`` characters of beginning and end will be kept.

    A huge text is first cut to its two ends, generously, and at white space, so that no secret is
    cut into something that is not recognised.
    """
    if len(text) <= 2 * WINDOW or limit > WINDOW:
        return redact(text)
    head, tail = text[:WINDOW], text[-WINDOW:]
    cut = max(head.rfind(" ", WINDOW - _EDGE), head.rfind("\n", WINDOW - _EDGE))
    head = head[: cut if cut > 0 else WINDOW - _EDGE]
    cut = min((p for p in (tail.find(" ", 0, _EDGE), tail.find("\n", 0, _EDGE)) if p >= 0), default=_EDGE)
    return f"{redact(head)}{_filler(text, len(head), cut)}{redact(tail[cut:])}"


def _filler(text: str, head: int, cut: int) -> str:
    """As many characters as the middle had, so that the bound still says how much was cut."""
    return "·" * (len(text) - head - (WINDOW - cut))


def _spans(text: str) -> list[tuple[int, int, str]]:
    """Start, end and type of every secret; sorted, without overlap (the first and longest wins)."""
    found = sorted(_all(text), key=lambda span: (span[0], -span[1]))
    result: list[tuple[int, int, str]] = []
    for start, end, kind in found:
        if result and start < result[-1][1]:
            last = result[-1]
            if end > last[1]:
                result[-1] = (last[0], end, last[2])
            continue
        if start < end:
            result.append((start, end, kind))
    return result


def _all(text: str) -> Iterable[tuple[int, int, str]]:
    lowered = text.lower()
    yield from redact_rules.find(text, lowered)
    yield from redact_named.find(text, lowered)
