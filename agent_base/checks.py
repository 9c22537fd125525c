"""What the doctor commands and ``install.sh --status`` say: one ``Check`` per line, in one vocabulary.

A check is ``ok``, ``warn`` (works, but somebody should know) or ``fail`` (does not do what it is for),
with what was found and the next step. Any ``fail`` makes the exit code 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agent_base.cli import Console
from agent_base.inert import terminal

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True)
class Check:
    """One line of a report.

    Attributes:
        name: what was looked at, as ``part: aspect``.
        status: ``ok``, ``warn`` or ``fail``.
        detail: what was found.
        hint: the next step, "" when there is none.
        milliseconds: how long a hook ran, None where nothing was run.
    """

    name: str
    status: str
    detail: str
    hint: str = ""
    milliseconds: int | None = None

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "name": self.name,
            "status": self.status,
            "detail": self.detail,
            "hint": self.hint,
            "milliseconds": self.milliseconds,
        }


def report(console: Console, found: Iterable[Check], *, as_json: bool, **more: Any) -> int:
    """Print every check, and give the exit code: 1 when one failed.

    Args:
        more: further members of the JSON object.
    """
    checks = list(found)
    failed = any(check.status == FAIL for check in checks)
    if as_json:
        console.json({"ok": not failed, "checks": [check.as_json() for check in checks], **more})
        return 1 if failed else 0
    for check in checks:
        hint = f" ({check.hint})" if check.hint else ""
        console.out(f"{check.status:<4} {_line(check.name)}: {_line(check.detail + hint)}")
    return 1 if failed else 0


def _line(text: str) -> str:
    """On one line, controls escaped; a backslash stays one."""
    return terminal(text).replace("\\\\", "\\")
