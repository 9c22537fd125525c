"""One environment of the suite for all clients, made by its own installer; absent clients are skipped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness_clients import ROOT

# Before the isolation of the tests takes it away: the installer needs the package index once.
_ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name in ("PATH", "LANG", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
    or name.startswith(("PIP_", "UV_", "HTTP"))
}
_PIP_CONFIG = Path.home() / ".config/pip/pip.conf"


@pytest.fixture(scope="session")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of environments that every world's installation finds complete."""
    home = tmp_path_factory.mktemp("installed")
    env = {**_ENVIRONMENT, "HOME": str(home), "PYTHON": str(getattr(sys, "_base_executable", sys.executable))}
    if _PIP_CONFIG.exists():
        env.setdefault("PIP_CONFIG_FILE", str(_PIP_CONFIG))
    done = subprocess.run(
        [str(ROOT / "install.sh"), "--harness", "none"], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return home / ".local/share/agent-hook-suite/versions"
