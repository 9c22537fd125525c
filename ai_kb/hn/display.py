"""A caller's own words in messages: escaped, so that they stay on their line and hide nothing."""

from __future__ import annotations


def quoted(text: str) -> str:
    """A caller's own argument in double quotes, escaped so that it stays on its line."""
    from agent_base.inert import terminal

    return '"' + terminal(text).replace('"', '\\"') + '"'


def shown(text: str) -> str:
    """A name or path for a terminal: controls escaped, backslashes as they are."""
    from agent_base.inert import terminal

    return terminal(text).replace("\\\\", "\\")
