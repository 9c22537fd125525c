"""The examples of the protocol's own text run as they are printed there, in a shell, with ids filled in."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.hn.fixture_repos import git, give_identity

# memory-v0, "Record, correct, and hand off".
EXAMPLES = """\
hn memory record --kind decision --at HEAD --applies descendants \\
  --topic architecture --evidence git:$(git rev-parse HEAD) \\
  --content "Keep memory streams separate from collaboration actor chains."

hn memory supersede sha256:<full-id> \\
  --kind decision --at HEAD --applies descendants \\
  --content "Replacement decision with current rationale."

hn memory retract sha256:<full-id> --reason incorrect

hn memory challenge sha256:<other-full-id> \\
  --reason evidence-mismatch --evidence git:$(git rev-parse HEAD)

hn memory handoff --at HEAD --applies descendants --input handoff.json --json

hn memory show sha256:<full-id> --json
"""

HANDOFF = {
    "version": 0,
    "kind": "handoff",
    "content": "Stream work",
    "topics": [],
    "evidence": [],
    "handoff": {"completed": ["tests"], "assumptions": [], "blockers": [], "nextActions": ["review"]},
}


@pytest.fixture
def shell(tmp_path: Path) -> Any:
    """``shell(directory, command)``: run it by ``sh`` with ``hn`` in PATH; a finished process."""
    programs = tmp_path / "bin"
    programs.mkdir()
    hn = programs / "hn"
    code = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); from ai_kb.hn.cli import entry; entry()"
    hn.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-c", code])} "$@"\n')
    hn.chmod(0o755)

    def run(directory: Path, command: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        return subprocess.run(
            ["sh", "-ec", command], cwd=directory, env=env, capture_output=True, text=True, check=False
        )

    return run


def test_the_examples_run_as_printed(repository: Path, shell: Any, tmp_path: Path) -> None:
    give_identity(repository / ".git", "alice")
    (repository / "handoff.json").write_text(json.dumps(HANDOFF))
    other = tmp_path / "bob"
    git(tmp_path, "clone", "-q", str(repository), str(other))
    give_identity(other / ".git", "bob")
    theirs = shell(other, "hn memory record --kind decision --at HEAD --applies exact --content x --json")
    ref = git(other, "for-each-ref", "--format=%(refname)", "refs/hn/memory")
    accepted = ref.replace("refs/hn/memory", "refs/hn/remotes/bob/memory")
    git(repository, "fetch", "-q", str(other), f"{ref}:{accepted}")
    mine = ""
    for example in EXAMPLES.strip().split("\n\n"):
        command = example.replace("sha256:<full-id>", mine)
        command = command.replace("sha256:<other-full-id>", json.loads(theirs.stdout)["memoryId"])
        done = shell(repository, command)
        assert done.returncode == 0, (command, done.stderr)
        if not mine:
            mine = done.stdout.splitlines()[0].removeprefix("Memory: ")
    shown = json.loads(done.stdout)
    assert shown["projection"]["lifecycle"] == "retracted"
    assert len(shown["projection"]["successors"]) == 1
    assert git(repository, "rev-list", "--count", ref.replace(*_actors())).strip() == "5"


def _actors() -> tuple[str, str]:
    from ai_kb.hn.envelope import default_stream
    from tests.hn.fixture_repos import ALICE, BOB

    return f"{BOB}/{default_stream(BOB)[7:]}", f"{ALICE}/{default_stream(ALICE)[7:]}"


def test_a_reader_that_goes_away_is_no_error(repository: Path, shell: Any) -> None:
    done = shell(repository, "hn help | head -1")
    assert done.returncode == 0
    assert done.stderr == ""
