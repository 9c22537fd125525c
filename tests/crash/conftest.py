"""Crash tests write thousands of small files and flush each: in memory where there is a place for that."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def fast_tmp(tmp_path: Path) -> Iterator[Path]:
    """A private directory, on a file system in memory if the machine has one."""
    if not os.access("/dev/shm", os.W_OK):
        path = tmp_path / "fast"
        path.mkdir(mode=0o700)
        yield path
        return
    path = Path(tempfile.mkdtemp(prefix="crash-test-", dir="/dev/shm"))
    yield path
    shutil.rmtree(path)
