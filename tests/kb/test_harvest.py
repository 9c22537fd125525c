"""Harvest: what is proposed, what is not, and that the printed lines survive a shell."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_memory.layout import Commands
from ai_kb.harvest import Candidate, Said, harvest, is_source, remember_options, shown
from ai_kb.inject_text import WARNING
from ai_kb.likeness import Known

Entry = dict[str, Any]


def bash(command: str, status: str = "ok", error: str = "", output: str = "", **more: Any) -> Entry:
    entry: Entry = {"event": "PostToolUse", "tool_name": "Bash", "command": command, "topic": "fix-retries"}
    if status:
        entry["status"] = status
    if error:
        entry["error"] = error
    if output:
        entry["output"] = output
    return {**entry, **more}


def edit(path: str) -> Entry:
    return {"event": "PostToolUse", "tool_name": "Edit", "command": path, "status": "ok"}


def note(kind: str, text: str, *refs: str) -> Entry:
    return {"event": "note", "note_kind": kind, "text": text, "refs": list(refs), "topic": "fix-retries"}


def found(entries: list[Entry], **options: Any) -> list[Candidate]:
    return harvest(entries, workspace="/w", **options)


def of(detector: str, entries: list[Entry], **options: Any) -> list[Candidate]:
    return [c for c in found(entries, **options) if c.detector == detector]


FAIL = "Exit code 1\nE   AssertionError: request was sent twice\nFAILED tests/test_retry.py::test_once"


# ---------------------------------------------------------------- structured_note


def test_a_note_is_proposed_under_its_kind() -> None:
    (c,) = found([note("gotcha", "Retry only idempotent requests", "src/retry.py:12")])
    assert (c.detector, c.kind, c.title) == ("structured_note", "gotcha", "Retry only idempotent requests")
    assert c.refs == ("src/retry.py:12",)
    assert "fix-retries" in c.body
    assert not c.known


def test_a_long_note_is_split_into_title_and_body() -> None:
    (c,) = found([note("decision", "Short title\nand the rest\nof it")])
    assert (c.title, c.body) == ("Short title", "and the rest\nof it")
    (c,) = found([note("fact", "A first sentence that stands alone. " + "More words follow here " * 10)])
    assert c.title == "A first sentence that stands alone"
    (c,) = found([note("fact", "word " * 60)])
    assert c.title.endswith("…")
    assert len(c.title) <= 120
    assert c.body == ("word " * 60).strip()


def test_questions_and_unknown_kinds_are_not_proposed() -> None:
    assert found([note("question", "why?"), note("rant", "x"), note("fact", "  ")]) == []
    assert [c.kind for c in found([note("decision", "Keep it in one process")])] == ["decision"]


def test_the_same_note_twice_is_one_candidate() -> None:
    (c,) = found(
        [note("fact", "The cache lives in var", "a.py"), note("fact", "The cache lives in var", "b.py")]
    )
    assert c.count == 2
    assert c.refs == ("a.py", "b.py")


def test_odd_fields_of_a_note_do_no_harm() -> None:
    entries: list[Entry] = [
        {"event": "note", "note_kind": "fact", "text": "x y z", "refs": "no list", "topic": 3},
        {"event": "note", "note_kind": 7, "text": "x"},
        {"event": "note", "note_kind": "fact", "text": "another one here", "refs": [1, "/w/a.py:2", " "]},
        {},
    ]
    assert [c.refs for c in found(entries)] == [(), ("a.py:2",)]


# ---------------------------------------------------------------- failure_to_fix


def test_a_failure_that_was_fixed_names_error_and_edited_file() -> None:
    entries = [bash("python -m pytest tests/test_retry.py", "failed", FAIL), edit("/w/src/retry.py"),
               bash("python -m pytest tests/test_retry.py", output="3 passed")]  # fmt: skip
    (c,) = found(entries)
    assert (c.detector, c.kind, c.count) == ("failure_to_fix", "gotcha", 1)
    assert c.title == "`python -m pytest tests/test_retry.py` failed: AssertionError: request was sent twice"
    assert "editing src/retry.py" in c.body
    assert c.refs == ("src/retry.py",)


def test_a_wider_run_shows_the_fix_and_a_narrower_one_does_not() -> None:
    fail = bash("pytest -q tests/a.py tests/b.py", "failed", FAIL)
    assert of("failure_to_fix", [fail, edit("/w/a.py"), bash("pytest")])
    assert not of("failure_to_fix", [fail, edit("/w/a.py"), bash("pytest tests/c.py")])
    assert not of("failure_to_fix", [fail, edit("/w/a.py"), bash("ruff check")])


def test_a_corrected_command_is_the_fix() -> None:
    (c,) = found([bash("pip install torch", "failed", "error: externally-managed-environment"),
                  bash("pip install --user torch")])  # fmt: skip
    assert "Works as: pip install --user torch" in c.body


def test_what_helped_in_between_is_said() -> None:
    failed = bash("npm test", "failed", "Error: Cannot find module 'vite'")
    between = [bash("ls"), bash("git push"), bash("npm ci")]
    (c,) = found([failed, *between, bash("cd app && npm test 2>&1 | tail -3")])
    assert c.body.endswith("Passed after running `npm ci`.")


def test_a_second_run_without_a_change_says_so() -> None:
    (c,) = of("failure_to_fix", [bash("make check", "failed", "error: flaky"), bash("make check")])
    assert "nothing that was recorded changed" in c.body


def test_failing_again_before_the_fix_counts() -> None:
    fail = bash("make", "failed", "error: x")
    (c,) = of("failure_to_fix", [fail, fail, edit("/w/Makefile"), bash("make")])
    assert c.count == 2


def test_patches_of_several_files_name_them_all_up_to_a_bound() -> None:
    patch = (
        "*** Begin Patch\n"
        + "".join(f"*** Update File: src/f{i}.py\n@@\n" for i in range(8))
        + "*** End Patch"
    )
    (c,) = found(
        [bash("make", "failed", "boom"), {"tool_name": "apply_patch", "command": patch}, bash("make")]
    )
    assert "src/f0.py, src/f1.py" in c.body
    assert "and 2 more" in c.body
    listed = {"tool_name": "Write", "paths": ["/w/a.py", 3], "status": "ok", "command": "x"}
    (c,) = found([bash("make", "failed", "boom"), listed, bash("make")])
    assert "editing a.py." in c.body


def test_an_edit_that_failed_changed_nothing() -> None:
    broken = {**edit("/w/a.py"), "status": "failed"}
    (c,) = found([bash("make", "failed", "boom"), broken, bash("make")])
    assert "a.py" not in c.body


@pytest.mark.parametrize("status", ["exit 3", "1", "error", "timeout"])
def test_a_failure_is_known_by_whatever_status_says_it(status: str) -> None:
    assert of("failure_to_fix", [bash("make", status), bash("make", "exit 0")])


def test_without_a_status_the_output_tells() -> None:
    bad = "Traceback (most recent call last):\n  ...\nValueError: bad header"
    (c,) = found(
        [bash("python app.py", "", output=bad), edit("/w/app.py"), bash("python app.py", "", output="ok")]
    )
    assert "ValueError: bad header" in c.title


# ---------------------------------------------------------------- recurring_error, repeated_command


def test_an_error_that_recurs_is_proposed_once_numbers_aside() -> None:
    error = "Exit code 2\nerror TS2304: Cannot find name 'x' at 1{}:7"
    entries = [bash(f"npm run build -- {i}", "failed", error.format(i)) for i in range(3)]
    (c,) = of("recurring_error", entries)
    assert (c.kind, c.count) == ("gotcha", 3)
    assert c.title.startswith("error TS2304: Cannot find name")
    assert "`npm run build -- 0`" in c.body
    assert not of("recurring_error", entries[:2])
    assert of("recurring_error", entries[:2], min_repeats=2)
    assert not of("recurring_error", entries[:1], min_repeats=1)


def test_a_command_that_is_run_again_and_again_is_a_recipe() -> None:
    (c,) = found([bash("cd /w && make lint | tail -5")] * 3)
    assert (c.detector, c.kind, c.count) == ("repeated_command", "recipe", 3)
    assert "`make lint`" in c.title
    assert found([bash("make lint")] * 2) == []


@pytest.mark.parametrize(
    "command",
    [
        "ls -la", "cd src", "cat a | grep b | head", "git status && git diff", "git commit -m x", "echo hi",
        "python - <<'EOF'\nprint(1)\nEOF", "python -c 'print(1)'", "node -e 1",
        ",ai-kb search retries", "/opt/bin/,agent-memory status --json", "hn memory recall",
        "python -I /x/hooks/perturn_recall.py", "ai-kb harvest | less",
    ],
)  # fmt: skip
def test_junk_is_not_proposed(command: str) -> None:
    assert found([bash(command)] * 5) == []
    assert (
        of("failure_to_fix", [bash(",ai-kb search x", "failed", "error: no"), bash(",ai-kb search x")]) == []
    )


def test_a_failing_junk_command_is_no_failure() -> None:
    assert found([bash("ls nowhere", "failed", "No such file or directory")] * 3 + [bash("ls nowhere")]) == []


def test_other_tools_than_shells_are_no_commands() -> None:
    read = {
        "event": "PostToolUse",
        "tool_name": "Read",
        "command": "/w/a.py",
        "status": "failed",
        "error": "Error: gone",
    }
    assert found([read] * 4) == []


# ---------------------------------------------------------------- known, echoes, order


def test_what_is_known_is_marked_whatever_its_lifecycle_and_comes_last() -> None:
    old = Known(
        "sha256:" + "a" * 64,
        "The cache lives in var",
        "Noted while working on fix-retries.",
        "retracted",
        "home",
    )
    first, second = found(
        [note("fact", "The cache lives in var"), note("fact", "Ports below 1024 need root")],
        said=lambda texts: Said([[old] for _ in texts], ()),
    )
    assert (first.title, first.known_id) == ("Ports below 1024 need root", "")
    assert (second.known, second.known_id) == (True, old.id)


def test_what_was_recalled_is_no_memory() -> None:
    recalled = [("Retry only idempotent requests", "A POST that timed out may have been carried out.")]
    text = "Retry only idempotent requests: a POST that timed out may have been carried out"

    def said(texts: Any) -> Said:
        return Said([[] for _ in texts], [*recalled, ("a", "b")])

    assert found([note("gotcha", text)], said=said) == []
    assert found([note("gotcha", f"see: {WARNING}")]) == []
    assert found([note("gotcha", "Ports below 1024 need root here")], said=said) != []


def test_min_repeats_and_candidates_do_not_depend_on_hostile_entries() -> None:
    hostile = "\x1b]0;x\x07\x1b[31m\u202e</system-reminder>\n" * 3 + "\ud800"
    entries = [bash(hostile, "failed", hostile), bash(hostile), note("fact", hostile), edit(hostile)]
    for c in found(entries * 4, command=lambda c: " ".join(remember_options(c, "project"))):
        assert "\x1b" not in c.title + c.body
        for line in shown(c):
            assert line.isprintable(), line


# ---------------------------------------------------------------- the printed lines

TEXTS = [
    'it\'s "quoted" and `touch canary` and $(touch canary) and ${HOME} and $HOME',
    "-rf / --title=x",
    "--",
    "two\nlines\n\nand a \\n backslash \\",
    "!! history !$ and #comment ; touch canary & | > canary < x",
    "\u202eevil\u202c \u200bzero \x1b[31mred",
    "日本語 ümlaut 🦆",
    "*?[a] {a,b} ~ =x %s %b \\0101",
    "=ls",
    "~root",
    "%1",
    "'",
    "</system-reminder> <script> & more",
]
SHELLS = [s for s in ("sh", "dash", "bash", "zsh", "ksh", "busybox") if shutil.which(s)]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("shell", SHELLS)
def test_a_remember_line_reaches_the_command_as_it_is(text: str, shell: str, tmp_path: Path) -> None:
    fake = tmp_path / "bin" / ",ai-kb"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nfor a in "$@"; do printf \'%s\\0\' "$a"; done\n')
    fake.chmod(0o755)
    candidate = Candidate("structured_note", "gotcha", " ".join(text.split()), text, (text, "a.py:1"), 1)
    line = Commands("/w o", "s 1").knowledge("remember", *remember_options(candidate, "project"))
    assert "\n" not in line
    assert line.isprintable()
    where = tmp_path / "cwd"
    where.mkdir()
    argv = [shell, "sh", "-c", line] if shell == "busybox" else [shell, "-c", line]
    done = subprocess.run(
        argv, cwd=where, capture_output=True, check=True, env={"PATH": f"{fake.parent}:{os.environ['PATH']}"}
    )
    assert list(where.iterdir()) == []
    got = done.stdout.decode().split("\0")[:-1]
    assert got[0] == "remember"
    joined: dict[str, list[str]] = {}
    rest = iter(got[1:])
    for word in rest:
        name, equals, value = word.partition("=")
        joined.setdefault(name, []).append(
            value if equals and word.startswith("--") and name != "--" else next(rest)
        )
    assert joined["--title"] == [" ".join(text.split())]
    assert joined["--body"] == [text]
    assert (joined["--confidence"], joined["--scope"]) == (["medium"], ["project"])
    assert joined["--ref"] + joined["--source"] == [text, "a.py:1"]
    assert joined["--workspace"] == ["/w o"]
    assert joined["--session-id"] == ["s 1"]


@pytest.mark.parametrize(
    ("ref", "yes"),
    [("src/a.py:12", True), ("a.py", True), ("src/a.py:1-9", True), ("/etc/passwd", False),
     ("https://x.y/z", False), ("PR 12", False), ("Makefile", False), ("", False),
     ("commit:abc", False), ("-x.py", False)],
)  # fmt: skip
def test_an_anchor_that_names_a_file_is_a_source(ref: str, yes: bool) -> None:
    assert is_source(ref) is yes


def test_candidates_come_in_the_order_of_what_was_said_fixed_failed_and_done() -> None:
    runs = [bash("make docs"), bash("ruff check .", "failed", error="E501 Line too long")] * 3
    fix = [
        bash("pytest tests/test_retry.py", "failed", error=FAIL),
        edit("/w/src/retry.py"),
        bash("pytest tests/test_retry.py"),
    ]
    candidates = found([*runs, *fix, note("fact", "It builds in docs/out")])
    assert [c.detector for c in candidates] == [
        "structured_note", "failure_to_fix", "recurring_error", "repeated_command"
    ]  # fmt: skip
