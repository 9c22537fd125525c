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

from ai_kb.hn.envelope import default_stream
from tests.conftest import REPOSITORY
from tests.hn.fixture_repos import ALICE, BOB, git, give_identity

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

# "Bounded recall", "Explicit regex fallback", "Disposable local index".
READING = """\
hn memory recall --at HEAD --topic architecture --query "stream isolation" --json
hn memory recall --at HEAD --include-untrusted --lifecycle all --json
hn memory show sha256:<full-id> --json
GIT_NO_LAZY_FETCH=1 hn memory grep --json 'stream[-_]isolation'
hn memory grep --at HEAD --topic architecture --json 'stream[-_ ]isolat.*'
hn memory grep --ignore-case --max-records 5 'failure|timeout'
hn memory grep --json '(?m)^Decision:'
hn memory grep --json -- '-legacy[0-9]+'
hn memory index rebuild
hn memory index verify
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
    code = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
    code += "from ai_kb.hn.cli import entry\nsys.exit(entry())"
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


def test_the_reading_examples_run_as_printed_and_find_what_they_ask_for(repository: Path, shell: Any) -> None:
    give_identity(repository / ".git", "alice")
    (repository / ".hn").mkdir()
    policy = {
        "version": "hn.policy/0",
        "maintainers": [ALICE],
        "proposals": {"requiredAccepts": 1},
        "memory": {"trustedActors": [ALICE], "trustedKinds": ["decision"]},
    }
    (repository / ".hn/policy.json").write_text(json.dumps(policy))
    git(repository, "add", ".hn")
    git(repository, "commit", "-q", "-m", "policy")
    ids = []
    for number, content in enumerate(
        (
            "Decision: stream isolation",
            "stream-isolation stays",
            "a Timeout",
            "see -legacy7",
            "untrusted stream isolation",
        )
    ):
        kind = "observation" if number == 4 else "decision"
        flags = f"--kind {kind} --at HEAD --applies descendants --topic architecture --json"
        done = shell(repository, f"hn memory record {flags} --content '{content}'")
        assert done.returncode == 0, done.stderr
        ids.append(json.loads(done.stdout)["memoryId"])
    found: list[Any] = []
    for example in READING.strip().splitlines():
        done = shell(repository, example.replace("sha256:<full-id>", ids[0]))
        assert (done.returncode, done.stderr) == (0, ""), example
        if "--json" in example:
            value = json.loads(done.stdout)
            found.append(
                {row["id"] for row in value["memories"]} if "memories" in value else value["memoryId"]
            )
        else:
            found.append(done.stdout.splitlines()[-1].partition(":")[0])
    assert found == [
        {ids[0], ids[1]},
        set(ids),
        ids[0],
        {ids[1]},
        {ids[0], ids[1]},
        "  content",
        {ids[0]},
        {ids[3]},
        "Memory index rebuild",
        "Memory index verify",
    ]


def test_the_exit_code_of_an_example_counts(repository: Path, shell: Any) -> None:
    assert shell(repository, f"hn memory show {'0' * 64}").returncode == 1
    assert shell(repository, "hn memory show").returncode == 2


def _actors() -> tuple[str, str]:
    return f"{BOB}/{default_stream(BOB)[7:]}", f"{ALICE}/{default_stream(ALICE)[7:]}"


def test_a_reader_that_goes_away_is_no_error(repository: Path, shell: Any) -> None:
    done = shell(repository, "hn help | head -1")
    assert done.returncode == 0
    assert done.stderr == ""
