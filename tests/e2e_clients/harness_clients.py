"""The real clients: where they are, how each is told to use the stand-in model, to run and to resume."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

# The directory that `scripts/e2e` fetches into; read before the tests' isolation changes HOME.
CACHE = Path(
    os.environ.get("AGENT_E2E_CLIENTS")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agent-hook-suite-clients"
)
NODE = "22.23.3"
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Client:
    """One client.

    Attributes:
        name: as in ``--harness``.
        package, version: what npm calls it; the version these tests were written against.
        command: name of its program.
        run, resume: arguments; ``{prompt}`` is the prompt, left out where it goes in by stdin.
        environment: variables it gets; ``{url}`` is the stand-in's address.
        files: configuration below its home, content as given.
        by_stdin: whether the prompt is written to its stdin.
    """

    name: str
    package: str
    version: str
    command: str
    run: tuple[str, ...]
    resume: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    by_stdin: bool = False

    @property
    def directory(self) -> Path:
        """Where it is installed."""
        return CACHE / f"{self.name}-{self.version}"

    @property
    def program(self) -> Path:
        """Its executable."""
        return self.directory / "node_modules" / ".bin" / self.command

    def missing(self) -> str | None:
        """Why it cannot be run here, or None."""
        if not self.program.exists():
            return f"{self.name} {self.version} is not in {CACHE} (scripts/e2e fetches it)"
        if not node_directory().exists():
            return f"node {NODE} is not in {CACHE} (scripts/e2e fetches it)"
        return None


def node_directory() -> Path:
    """Directory of the node that runs the clients written in JavaScript."""
    return CACHE / f"node-{NODE}" / "node_modules" / ".bin"


CODEX_CONFIG = """\
model = "mock-model"
model_provider = "mock"

[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:1/v1"
wire_api = "responses"
env_key = "MOCK_API_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
"""
GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False},
}
OPENCODE_CONFIG = {
    "autoupdate": False,
    "share": "disabled",
    "model": "mock/mock-model",
    "small_model": "mock/mock-model",
    "permission": "allow",
    "provider": {
        "mock": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Mock",
            "options": {"baseURL": "{url}/v1", "apiKey": "dummy"},
            "models": {
                "mock-model": {
                    "name": "Mock model",
                    "tool_call": True,
                    "limit": {"context": 200000, "output": 8000},
                }
            },
        }
    },
}
_CODEX = (
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "-c",
    'model_providers.mock.base_url="{url}/v1"',
    "-c",
    "model_auto_compact_token_limit=100000",
)
_GEMINI = ("--skip-trust", "--yolo", "-m", "gemini-2.5-pro")

CLAUDE = Client(
    "claude",
    "@anthropic-ai/claude-code",
    "2.1.332",
    "claude",
    run=("-p", "{prompt}", "--dangerously-skip-permissions"),
    resume=("-p", "{prompt}", "--dangerously-skip-permissions", "--continue"),
    environment={"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "sk-ant-dummy", "IS_SANDBOX": "1"},
)
CODEX = Client(
    "codex",
    "@openai/codex",
    "0.171.0",
    "codex",
    run=("exec", *_CODEX, "{prompt}"),
    resume=("exec", *_CODEX, "resume", "--last", "{prompt}"),
    environment={"MOCK_API_KEY": "dummy"},
    files={".codex/config.toml": CODEX_CONFIG},
)
GEMINI = Client(
    "gemini",
    "@google/gemini-cli",
    "0.61.0",
    "gemini",
    run=(*_GEMINI, "-p", "{prompt}"),
    resume=(*_GEMINI, "--resume", "latest", "-p", "{prompt}"),
    environment={
        "GEMINI_API_KEY": "dummy",
        "GOOGLE_GEMINI_BASE_URL": "{url}",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    },
    files={".gemini/settings.json": json.dumps(GEMINI_SETTINGS, indent=2) + "\n"},
)
COPILOT = Client(
    "copilot",
    "@github/copilot",
    "1.0.102",
    "copilot",
    run=("-p", "{prompt}", "--allow-all-tools"),
    resume=("-p", "{prompt}", "--allow-all-tools", "--continue"),
    environment={
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
        "COPILOT_MODEL": "gpt-5.4",
    },
)
OPENCODE = Client(
    "opencode",
    "opencode-ai",
    "1.18.33",
    "opencode",
    run=("run",),
    resume=("run", "--continue"),
    environment={
        "OPENCODE_CONFIG_CONTENT": json.dumps(OPENCODE_CONFIG),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        # Its own background `npm install` fails at once instead of waiting for a network.
        "npm_config_fetch_retries": "0",
        "npm_config_registry": "http://127.0.0.1:9",
    },
    by_stdin=True,
)
CLIENTS = (CLAUDE, CODEX, GEMINI, COPILOT, OPENCODE)


def isolation() -> tuple[str, ...] | None:
    """The command prefix that gives a process a network of its own, or None where there is none to be had."""
    unshare = shutil.which("unshare")
    if unshare is None or not sys.platform.startswith("linux"):
        return None
    for prefix in ((unshare, "-n"), (unshare, "-rn")):
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return prefix
    return None
