"""What every test of replication starts from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.replication.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A bare remote whose main branch trusts Alice and Bob; no stream yet."""
    return World(tmp_path, bundle=None)
