"""Which tests are property tests: those with a `@given`, found by reading their sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


def _is_given(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(called, "id", getattr(called, "attr", None)) == "given"


def _tests(body: list[ast.stmt], above: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _tests(node.body, f"{above}::{node.name}")
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            inner = (each for each in ast.walk(node) if isinstance(each, ast.FunctionDef))
            if any(_is_given(decorator) for each in inner for decorator in each.decorator_list):
                yield f"{above}::{node.name}"


def property_tests(root: Path) -> list[str]:
    """The property tests below ``root/tests`` as pytest takes them: `tests/x/test_y.py::TestZ::test_name`.

    A test counts, too, when the `@given` stands before a function inside of it.
    """
    found: list[str] = []
    for path in sorted(root.glob("tests/**/test_*.py")):
        tree = ast.parse(path.read_bytes(), str(path))
        found += _tests(tree.body, path.relative_to(root).as_posix())
    return found
