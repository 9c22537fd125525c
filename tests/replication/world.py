"""Remotes and clones for the tests of replication, and the recorded runs of another implementation."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.conftest import REPOSITORY
from tests.hn.fixture_repos import ALICE, BOB, CAROL, FIXTURES, all_refs, git, give_identity, hn
from tests.replication.people import STREAMS

__all__ = ["ALICE", "BOB", "CAROL", "FIXTURES", "HN", "World", "all_refs", "git", "hn"]

# The command as a process of its own.
HN = (
    sys.executable,
    "-c",
    f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); from ai_kb.hn.cli import entry; sys.exit(entry())",
)
SEED = FIXTURES / "sync-two-actors-seed.bundle"


class World:
    """One bare remote and clones of it, below ``base``."""

    def __init__(self, base: Path, *, bundle: Path | None = SEED, object_format: str = "sha1") -> None:
        self.base = base
        self.remote = base / "b" / "remote.git"
        self.remote.parent.mkdir(parents=True)
        plain = ("-q", "--template=", f"--object-format={object_format}")
        git(base, "init", *plain, "--bare", "-b", "main", str(self.remote))
        self.object_format = object_format
        if bundle is not None:
            git(self.remote, "fetch", "-q", str(bundle), "refs/heads/*:refs/heads/*")
        else:
            self._seed()

    def _seed(self) -> None:
        work = self.base / "seed"
        git(self.base, "init", "-q", "-b", "main", f"--object-format={self.object_format}", str(work))
        (work / ".hn").mkdir()
        policy = {
            "version": "hn.policy/0",
            "maintainers": [ALICE],
            "proposals": {
                "requiredApprovals": 0,
                "requiredAccepts": 1,
                "trustedReviewers": [],
                "allowAuthorApproval": True,
            },
            "pipelines": {},
            "memory": {
                "trustedActors": sorted([ALICE, BOB]),
                "trustedKinds": [
                    "assumption",
                    "attempt",
                    "decision",
                    "handoff",
                    "observation",
                    "verification",
                ],
            },
        }
        (work / ".hn" / "policy.json").write_text(json.dumps(policy))
        (work / "README.md").write_text("# seed\n")
        git(work, "add", ".")
        git(work, "commit", "-q", "-m", "seed")
        git(work, "push", "-q", str(self.remote), "main")

    def clone(self, name: str, person: str | None = None, url: str | None = None, *options: str) -> Path:
        """A clone of the remote with a test identity."""
        path = self.base / name
        git(
            self.base,
            "clone",
            "-q",
            "--template=",
            "--no-local",
            *options,
            url or str(self.remote),
            str(path),
        )
        git(path, "config", "core.autocrlf", "false")
        give_identity(path / ".git", person or name)
        return path

    def advertise(self, refs: dict[str, str], bundle: Path) -> None:
        """Replace the remote's ``refs/hn/*`` by refs of a bundle (bundle's name → the remote's name)."""
        for ref in all_refs(self.remote, "refs/hn"):
            git(self.remote, "update-ref", "-d", ref)
        if refs:
            git(self.remote, "fetch", "-q", str(bundle), *(f"+{old}:{new}" for old, new in refs.items()))


def record(clone: Path, content: str, *more: str, now: str | None = None) -> str:
    """Record a decision; its id."""
    words = ("--kind", "decision", "--at", "HEAD", "--applies", "descendants")
    done = hn(clone, "memory", "record", *words, "--content", content, "--json", *more, now=now)
    assert done.exit == 0, done.stderr
    return str(json.loads(done.stdout)["memoryId"])


def sync(clone: Path, *words: str, ok: bool = True) -> dict[str, Any]:
    """``hn sync --json``, parsed; with ``ok`` it must have succeeded."""
    done = hn(clone, "sync", *words, "--json")
    assert done.exit == (0 if ok else 1), (done.stdout, done.stderr)
    value: dict[str, Any] = json.loads(done.stdout)
    return value


def select(clone: Path, *people: str) -> None:
    """Select the default streams of ``people`` from origin; nobody: all."""
    words = [word for person in people for word in ("--memory", STREAMS[person])] or ["--all"]
    done = hn(clone, "replication", "select", "origin", *words)
    assert done.exit == 0, done.stderr


def recalled(clone: Path, *words: str) -> set[str]:
    """Contents of everything that recall shows, trusted or not."""
    done = hn(clone, "memory", "recall", "--include-untrusted", "--lifecycle", "all", "--json", *words)
    assert done.exit == 0, done.stderr
    return {memory["data"]["content"] for memory in json.loads(done.stdout)["memories"]}


def statuses(result: dict[str, Any]) -> dict[str, str]:
    """Selector id to status."""
    return {outcome["id"]: outcome["status"] for outcome in result["outcomes"]}


def forget(clone: Path) -> None:
    """What separates the recorded scenarios: no accepted or local memory, no replication state."""
    for ref in all_refs(clone, "refs/hn"):
        git(clone, "update-ref", "-d", ref)
    shutil.rmtree(clone / ".git" / "hn" / "replication", ignore_errors=True)
    (clone / ".git" / "hn" / "shallow-gap.json").unlink(missing_ok=True)
    shutil.rmtree(Path(os.environ["XDG_STATE_HOME"]), ignore_errors=True)


def outcome(result: dict[str, Any], identifier: str) -> dict[str, Any]:
    """The outcome of the selector with this id."""
    found: dict[str, Any] = next(o for o in result["outcomes"] if o["id"] == identifier)
    return found
