"""The six harnesses: where each keeps its user-level configuration, and whether it is there.

Nothing here reads or writes a file's content. Environment variables are those that the
clients themselves honour; they are taken as given, because a person runs the installer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent_base import env as environment
from agent_base.errors import SuiteError

Env = Mapping[str, str]


def home(env: Env) -> str:
    """The home directory, or a SuiteError: there is nothing to install into."""
    path = environment.home(env)
    if path is None or not os.path.isdir(path):
        raise SuiteError("there is no home directory to install into", "set HOME")
    return path


def _override(env: Env, name: str, default: str) -> str:
    value = env.get(name, "")
    return os.path.abspath(value) if value else default


def _claude(env: Env) -> str:
    return _override(env, "CLAUDE_CONFIG_DIR", os.path.join(home(env), ".claude"))


def _codex(env: Env) -> str:
    return _override(env, "CODEX_HOME", os.path.join(home(env), ".codex"))


def _gemini(env: Env) -> str:
    return os.path.join(_override(env, "GEMINI_CLI_HOME", home(env)), ".gemini")


def _copilot(env: Env) -> str:
    return _override(env, "COPILOT_HOME", os.path.join(home(env), ".copilot"))


def _cursor(env: Env) -> str:
    return os.path.join(home(env), ".cursor")


def _opencode(env: Env) -> str:
    return os.path.join(environment.xdg(env, "XDG_CONFIG_HOME"), "opencode")


@dataclass(frozen=True)
class Harness:
    """One client.

    Attributes:
        name: as in ``--harness NAME``.
        title: as people call it.
        directory: its user-level configuration directory, from the environment.
        executables: names on PATH that show it is installed.
        file: configuration file below ``directory`` that the hooks go into.
        kind: ``json`` (entries merged into a file of the user), ``codex`` (that, or TOML tables),
            ``own`` (a file that belongs to the suite alone).
        template: file in ``hooks/adapters``.
    """

    name: str
    title: str
    directory: Callable[[Env], str]
    executables: tuple[str, ...]
    file: str
    kind: str
    template: str

    def config(self, env: Env) -> str:
        """Absolute path of the configuration file."""
        return os.path.join(self.directory(env), self.file)

    def executable(self, env: Env) -> str | None:
        """Absolute path of the client, when it is on PATH."""
        for name in self.executables:
            for directory in env.get("PATH", "").split(os.pathsep):
                path = os.path.join(directory or ".", name)
                if os.path.isfile(path) and os.access(path, os.X_OK):
                    return os.path.abspath(path)
        return None

    def present(self, env: Env) -> bool:
        """Whether the client is there: on PATH, or it has made its configuration directory."""
        return os.path.isdir(self.directory(env)) or self.executable(env) is not None


HARNESSES: tuple[Harness, ...] = (
    Harness("claude", "Claude Code", _claude, ("claude",), "settings.json", "json", "claude.json"),
    Harness("copilot", "Copilot CLI", _copilot, ("copilot",), "hooks/agent-hook-suite.json", "own",
            "copilot.json"),
    Harness("codex", "Codex", _codex, ("codex",), "hooks.json", "codex", "codex.json"),
    Harness("cursor", "Cursor", _cursor, ("cursor-agent", "cursor"), "hooks.json", "json", "cursor.json"),
    Harness("gemini", "Gemini CLI", _gemini, ("gemini",), "settings.json", "json", "gemini.json"),
    Harness("opencode", "OpenCode", _opencode, ("opencode",), "plugins/agent-hook-suite.js", "own",
            "opencode.js"),
)  # fmt: skip
BY_NAME = {harness.name: harness for harness in HARNESSES}


def skill_directory(harness: Harness, env: Env) -> str:
    """Where the harness looks for a person's skills. All but Claude Code read ``~/.agents/skills``;
    one copy there keeps those that read several places from finding two."""
    if harness.name == "claude":
        return os.path.join(_claude(env), "skills")
    return os.path.join(home(env), ".agents", "skills")
