"""Scripts that run themselves in the checkout's environment do so as programs, not when a test loads them."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from tests.conftest import REPOSITORY

SCRIPTS = ("bench", "eval", "fit_corrections", "fuzz", "make_records")


def _refused(*_: object) -> NoReturn:
    raise AssertionError("the process was replaced")


def test_these_are_the_scripts_that_do() -> None:
    texts = {path.name: path.read_bytes() for path in (REPOSITORY / "scripts").iterdir() if path.is_file()}
    assert {name for name, text in texts.items() if b"os.execv(" in text} == set(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_that_is_loaded_by_another_interpreter_leaves_the_process_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "execv", _refused)
    monkeypatch.setattr(sys, "prefix", "/another/environment")
    monkeypatch.setattr(Path, "exists", lambda _: True)
    monkeypatch.setattr(sys, "path", list(sys.path))
    loader = importlib.machinery.SourceFileLoader(f"loaded_{name}", str(REPOSITORY / "scripts" / name))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, loader.name, module)
    loader.exec_module(module)
    assert callable(module.main)
