"""``--status``: the checks, printed."""

from __future__ import annotations

from collections.abc import Sequence

from agent_base.cli import Console
from agent_base.inert import terminal
from agent_install.checks import FAIL, all_checks


def show(console: Console, names: Sequence[str] | None, *, as_json: bool) -> int:
    """Print every check; 1 when one failed."""
    found = all_checks(console.env, names)
    failed = any(check.status == FAIL for check in found)
    if as_json:
        console.json({"ok": not failed, "checks": [check.as_json() for check in found]})
    else:
        for check in found:
            hint = f" ({check.hint})" if check.hint else ""
            console.out(f"{check.status:<4} {terminal(check.name)}: {terminal(check.detail)}{terminal(hint)}")
    return 1 if failed else 0
