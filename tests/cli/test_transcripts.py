"""Runs the transcripts beside this file (``*.md``), ``docs/tour.md`` and the one in ``README.md``, and
compares what they show with what happens.

They are the user's documentation of the commands, so they read as a terminal would show it:

    ```console
    $ ,agent-memory use fix-retries
    Commands without a session are pointed at topic fix-retries.
    $ ,agent-memory use current
    ,agent-memory: topic name 'current' is reserved [..]
    [exit 2]
    ```

- Only blocks marked ``console`` are run, top to bottom, in one world per file: a scratch home, spec root
  and mirror, and a repository on ``main`` with one commit at ``/home/user/project``, where commands start.
- ``$ `` begins a command; it goes on in the next line after a final backslash. ``cd`` is remembered.
- Below it stands all it prints, stdout first, then stderr; ``[exit N]`` when it does not end with 0.
- ``[..]`` stands for any text within a line, a line ``[...]`` for any number of lines.
- Paths are shown as ``/home/user/project`` (``HOME`` is ``/home/user``), ``/tmp/specs`` and
  ``/tmp/mirror`` whatever they really are, and may be written so in commands.
- ``,agent-memory``, ``,ai-kb`` and ``hn`` run in this process, with a clock that starts at
  2026-11-30T12:00:00Z and moves on one minute per command; files they write get that time.
  ``< FILE`` gives them standard input and ``NAME=value`` before them sets a variable; what follows a
  ``|`` is run by ``sh``. ``NAME=$(command)`` keeps what a command prints for later ones. Everything else
  is run by ``sh`` with the same environment (``$HOOKS`` is the directory of the hooks, ``$PYTHON`` the
  interpreter).
"""

from __future__ import annotations

import fcntl
import importlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent_base.cli import string_console
from tests import checkouts
from tests.conftest import REPOSITORY

HERE = Path(__file__).resolve().parent
PROGRAMS = {",agent-memory": "agent_memory.cli", ",ai-kb": "ai_kb.cli", "hn": "ai_kb.hn.cli"}
START = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


class Step:
    """One command of a transcript, the line it stands in, and the lines that it has to print."""

    def __init__(self, number: int, command: str) -> None:
        self.number = number
        self.command = command
        self.expected: list[str] = []


def steps_of(text: str) -> list[Step]:
    """The commands of a transcript."""
    steps: list[Step] = []
    inside = continued = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            inside = not inside and line == "```console"
        elif inside and continued:
            steps[-1].command += "\n" + line
            continued = line.endswith("\\")
        elif inside and line.startswith("$ "):
            steps.append(Step(number, line[2:]))
            continued = line.endswith("\\")
        elif inside:
            steps[-1].expected.append(line)
    return steps


def matches(expected: list[str], printed: list[str]) -> bool:
    """Whether lines are as expected; ``[..]`` and ``[...]`` match anything."""
    if not expected:
        return not printed
    if expected[0] == "[...]":
        return any(matches(expected[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    if not printed:
        return False
    pattern = ".*".join(map(re.escape, expected[0].split("[..]")))
    return re.fullmatch(pattern, printed[0]) is not None and matches(expected[1:], printed[1:])


class World:
    """Where a transcript runs: directory, environment, clock, and how paths are shown."""

    def __init__(self, project: Path, home: Path, hooks: Path) -> None:
        self.cwd = project
        self.now = START
        self.env = {**os.environ, "HOOKS": str(hooks), "PYTHON": sys.executable}
        roots = [self.env["AGENT_MEMORY_SPEC_ROOT"], self.env["AGENT_MEMORY_MIRROR_ROOT"]]
        self.roots = [Path(root) for root in roots]
        self.shown = {
            roots[0]: "/tmp/specs",
            roots[1]: "/tmp/mirror",
            str(project): "/home/user/project",
            str(home): "/home/user",
        }

    def run(self, command: str) -> list[str]:
        """Run one command; the lines that a terminal would show."""
        for real, shown in self.shown.items():
            command = re.sub(rf"{re.escape(shown)}(?![\w-])", lambda _, r=real: r, command)  # type: ignore[misc]
        before = self._times()
        code, text = self._run(command.replace("\\\n", ""))
        self._set_times(before)
        self.now += timedelta(minutes=1)
        for real, shown in self.shown.items():
            text = text.replace(real, shown)
        lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else []
        return [*lines, f"[exit {code}]"] if code else lines

    def _run(self, command: str) -> tuple[int, str]:
        kept = re.fullmatch(r"(\w+)=\$\((.*)\)", command)
        if kept:
            code, text = self._run(kept[2])
            self.env[kept[1]] = text.strip()
            return code, ""
        words = shlex.split(command)
        if "|" in words and words[0] in PROGRAMS:
            first, _, rest = command.partition(" | ")
            code, text = self._run(first)
            return (code, text) if code else self._sh(rest, text.encode())
        if words[0] == "cd":
            self.cwd = self.cwd / words[1]
            return 0, ""
        env = dict(self.env)
        while words and re.fullmatch(r"\w+=.*", words[0]):
            name, _, value = words.pop(0).partition("=")
            env[name] = value
        if words[0] not in PROGRAMS:
            return self._sh(command)
        stdin = b""
        if "<" in words:
            at = words.index("<")
            stdin = (self.cwd / words[at + 1]).read_bytes()
            del words[at : at + 2]
        words = [re.sub(r"\$(\w+)", lambda m: env.get(m[1], m[0]), word) for word in words]
        main: Callable[..., int] = importlib.import_module(PROGRAMS[words[0]]).main
        console = string_console(env, stdin=stdin, now=lambda: self.now, cwd=str(self.cwd))
        code = main(words[1:], console)
        return code, console.stdout.getvalue() + console.stderr.getvalue()  # type: ignore[attr-defined]

    def _sh(self, command: str, stdin: bytes = b"") -> tuple[int, str]:
        # A recorder may work on in the background. It closes lower descriptors than this one.
        ours, end = os.pipe()
        theirs = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 100)
        os.close(end)
        try:
            done = subprocess.run(
                ["sh", "-c", command], cwd=self.cwd, env=self.env, input=stdin, capture_output=True,
                check=False, pass_fds=[theirs],
            )  # fmt: skip
        finally:
            os.close(theirs)
        with open(ours, "rb") as pipe:
            assert pipe.read() == b""  # ends when all have ended
        return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")

    def _times(self) -> dict[str, int]:
        found = {}
        for root in self.roots:
            for path in root.rglob("*"):
                if path.is_file():
                    found[str(path)] = path.stat().st_mtime_ns
        return found

    def _set_times(self, before: dict[str, int]) -> None:
        moment = int(self.now.timestamp()) * 10**9
        for name, mtime in self._times().items():
            if before.get(name) != mtime:
                os.utime(name, ns=(moment, moment))


TRANSCRIPTS = [*sorted(HERE.glob("*.md")), REPOSITORY / "docs" / "tour.md", REPOSITORY / "README.md"]


@pytest.fixture(scope="session")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hooks, with all the time that they need."""
    checkout = checkouts.copy(tmp_path_factory.mktemp("hooks") / "checkout")
    checkouts.interpreter(checkout)
    return checkout / "hooks"


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_transcript_shows_what_happens(path: Path, repository: Path, hooks: Path) -> None:
    (repository / "src").mkdir()
    (repository / "src/retry.py").write_text("retries = 3\n")
    world = World(repository, Path(os.environ["HOME"]), hooks)
    steps = steps_of(path.read_text())
    assert steps
    for step in steps:
        printed = world.run(step.command)
        expected = [line for line in step.expected if line] if not printed else step.expected
        assert matches(expected, printed), (
            f"{path.name}:{step.number}: $ {step.command}\nexpected:\n"
            + "\n".join(expected)
            + "\nprinted:\n"
            + "\n".join(printed)
        )


def test_a_transcript_that_shows_something_else_fails(repository: Path) -> None:
    world = World(repository, Path(os.environ["HOME"]), REPOSITORY / "hooks")
    printed = world.run(",agent-memory status")
    assert not matches(["workspace  /home/user/other"], printed)
    assert not matches([*printed, "more"], printed)
    assert not matches(printed[:-1], printed)
    assert matches([printed[0], "[...]"], printed)
    assert matches([*printed[:2], "spec [..] (none yet)", "[...]"], printed)


def test_the_help_of_every_transcripts_commands_is_real(repository: Path) -> None:
    """No transcript calls a program that this runner would not find."""
    for path in TRANSCRIPTS:
        for step in steps_of(path.read_text()):
            first = next(word for word in shlex.split(step.command) if "=" not in word)
            if first.startswith(","):
                assert first in PROGRAMS
