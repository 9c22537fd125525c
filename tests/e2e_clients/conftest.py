"""One environment of the suite for all clients, made by its own installer; absent clients are skipped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness_world import Suite

from tests import checkouts


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """What every world installs from, and the environments that its installation finds complete.

    A copy of the checkout, because an edit while the tests run would call for another environment.
    """
    home = tmp_path_factory.mktemp("installed")
    source = checkouts.copy(home / "a checkout")
    checkouts.patient_timeouts(source)
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "PYTHON": str(getattr(sys, "_base_executable", sys.executable)),
        **checkouts.wheels(home / "wheels"),
    }
    done = subprocess.run(
        [str(source / "install.sh"), "--harness", "none"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Suite(source, home / ".local/share/agent-hook-suite/versions")
