"""Command lines taken apart: programs, arguments, junk, the suite's own, and what is the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_kb.commandlines import covers, parse


@pytest.mark.parametrize(
    ("command", "programs", "text"),
    [
        ("cd app && npm test 2>&1 | tail -20", ["npm test"], "npm test 2>&1"),
        ("FOO=1 BAR=2 timeout -k 5 30 uv run -q pytest -x", ["pytest"], None),
        ("sudo -E time nice make all", ["make all"], None),
        ("python3.11 -m pytest tests", ["pytest"], None),
        ("npx --yes eslint .", ["eslint"], None),
        ("for f in *; do pytest $f; done", ["pytest"], "pytest $f"),
        ("(cd x; make all) && echo \"a && b\" $(pytest -q; ls)", ["make all"], "make all"),
        ("{ make x; }", ["make x"], "make x"),
        ("make a;; make b", ["make a", "make b"], None),
        ("foo &> out.txt & bar >& x", ["foo", "bar"], None),
        ("pytest ${X} {a,b}", ["pytest"], None),
        ("a \\\n b\nc", ["a", "c"], None),
        ("cargo build > out.txt 2> err.txt < in.txt", ["cargo build"], None),
        ("echo 'unclosed", [], ""),
        ("make 'unclosed", ["make 'unclosed"], None),
        ("make \"a \\\" b\" `date` 'c'", ['make a " b'], None),
        ("a $(b (c) 'd)' \\) e)", ["a"], None),
        ("a $(", ["a"], None),
        ("a \\", ["a"], None),
        ("sudo", [], ""),
        ("timeout 5", [], ""),
        ("FOO=bar", [], ""),
        ("", [], ""),
        ("git", [], ""),
        ("docker", ["docker"], None),
    ],
)  # fmt: skip
def test_what_a_line_runs(command: str, programs: list[str], text: str | None) -> None:
    line = parse(command)
    assert [step.program for step in line.steps] == programs
    assert line.text == (command if text is None else text)


def test_a_here_document_is_no_command() -> None:
    line = parse("python - <<'EOF'\nimport os\nmake all\nEOF\n")
    assert [step.program for step in line.steps] == ["python"]
    assert line.inline
    assert [s.program for s in parse("psql <<-SQL\nselect 1\nSQL").steps] == ["psql"]


def test_routine_and_inline_and_suite_are_told_apart() -> None:
    assert parse("git commit -m x && git push").routine
    assert not parse("git push && make release").routine
    assert parse("node -e 1").inline
    assert parse("bash").inline
    assert not parse("bash script.sh").inline
    assert parse("/opt/x/,ai-kb search y").suite
    assert parse("sh hooks/worklog_dispatcher.sh").suite
    assert not parse("make ai-kb").suite


def test_only_the_same_thing_or_more_of_it_covers_a_failure() -> None:
    fail = parse("pytest -x tests/a.py tests/b.py")
    assert covers(parse("cd y; pytest -x tests/a.py tests/b.py"), fail)
    assert covers(parse("python -m pytest tests/a.py"), fail)
    assert covers(parse("pytest"), fail)
    assert not covers(parse("pytest tests/c.py"), fail)
    assert not covers(parse("ruff check"), fail)


@given(st.text(alphabet=st.sampled_from("ab '\"\\$(){};|&<>`\n=-"), max_size=60))
def test_no_line_at_all_fails(command: str) -> None:
    line = parse(command)
    assert line.text in command
    assert covers(line, line)
