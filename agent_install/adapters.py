"""The templates in ``hooks/adapters``, filled in with where the launchers are.

A template is what its harness reads, with ``@NAME@`` where the shell-quoted command of the
hook NAME has to stand (OpenCode's plugin: the path as a JavaScript string). Every command
ends in ``--harness NAME`` and the marker by which the suite recognises its own work, also
after launchers have moved.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import Any

from agent_base.errors import SuiteError

# In every command and own file that the installer makes; never change it.
MARKER = "agent-hook-suite"
COMMAND_MARKER = f"--by={MARKER}"

HOOKS = (
    "session_context.py",
    "perturn_recall.py",
    "worklog_dispatcher.sh",
)
_PLACEHOLDER = re.compile(r"@([a-z_]+\.(?:py|sh))@")


def directory() -> str:
    """``hooks/adapters``, beside this package in a checkout and in an environment."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "hooks", "adapters")


def _read(template: str) -> str:
    path = os.path.join(directory(), template)
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise SuiteError(
            f"the adapter {path} cannot be read: {error.strerror}", "is the checkout whole?"
        ) from error


def load(template: str, hooks_directory: str) -> dict[str, Any]:
    """A JSON template as a value, its commands complete.

    Args:
        template: file name in ``hooks/adapters``.
        hooks_directory: where the launchers are.
    """
    value: dict[str, Any] = json.loads(_read(template))
    filled = _fill(value, hooks_directory)
    assert isinstance(filled, dict)
    return filled


def _fill(value: Any, hooks_directory: str) -> Any:
    if isinstance(value, dict):
        return {key: _fill(inner, hooks_directory) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill(inner, hooks_directory) for inner in value]
    if isinstance(value, str):
        return _PLACEHOLDER.sub(
            lambda found: shlex.quote(os.path.join(hooks_directory, found.group(1))), value
        )
    return value


def load_script(template: str, hooks_directory: str) -> str:
    """A JavaScript template; a placeholder (within quotation marks) becomes a string literal."""

    def literal(found: re.Match[str]) -> str:
        return json.dumps(os.path.join(hooks_directory, found.group(1)))

    return re.sub(r'"@([a-z_]+\.(?:py|sh))@"', literal, _read(template))
