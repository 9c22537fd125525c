"""``--status``: the checks, printed."""

from __future__ import annotations

from collections.abc import Sequence

from agent_base.checks import report
from agent_base.cli import Console
from agent_install.checks import all_checks


def show(console: Console, names: Sequence[str] | None, *, as_json: bool) -> int:
    """Print every check; 1 when one failed."""
    return report(console, all_checks(console.env, names), as_json=as_json)
