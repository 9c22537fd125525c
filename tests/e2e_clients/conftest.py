"""One environment of the suite for all clients, made by its own installer; absent clients are skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness_clients import ROOT
from harness_world import Suite

from agent_install.runtime import PACKAGES

# Before the isolation of the tests takes it away: the installer needs the package index once.
_ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name in ("PATH", "LANG", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
    or name.startswith(("PIP_", "UV_", "HTTP"))
}
_PIP_CONFIG = Path.home() / ".config/pip/pip.conf"


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """What every world installs from, and the environments that its installation finds complete.

    A copy of the checkout, because an edit while the tests run would call for another environment.
    """
    home = tmp_path_factory.mktemp("installed")
    source = home / "a checkout"
    source.mkdir()
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "install.sh"):
        shutil.copy(ROOT / name, source / name)
    env = {**_ENVIRONMENT, "HOME": str(home), "PYTHON": str(getattr(sys, "_base_executable", sys.executable))}
    if _PIP_CONFIG.exists():
        env.setdefault("PIP_CONFIG_FILE", str(_PIP_CONFIG))
    done = subprocess.run(
        [str(source / "install.sh"), "--harness", "none"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Suite(source, home / ".local/share/agent-hook-suite/versions")
