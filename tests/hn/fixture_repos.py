"""Recorded repositories and command runs of another implementation: restored, expanded, replayed.

``restore`` makes a work tree from a bundle; ``runs`` gives recorded command lines with their exact
output; ``hn`` runs a command in this process with its own environment, streams and clock. Used by
every test of ``ai_kb.hn`` that needs a repository with memory in it.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from agent_base.cli import string_console
from ai_kb.hn import cli

FIXTURES = Path(__file__).resolve().parent.parent / "data" / "fixtures"
KEYS = FIXTURES / "keys"

ALICE = "56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c"
BOB = "24f6ed6acbfe1009c030d7ca567c33ca4830911498236b5561a6c82abec5de28"
CAROL = "03396219237f75a64f12aeb7f39723abf400b160c364980a765dac24aeba2464"
ACTORS = {"alice": ALICE, "bob": BOB, "carol": CAROL}
# Which key the recorded runs of a repository were made with.
OWNERS = {"repo-a": "alice", "repo-b-alice": "alice", "repo-b-bob": "bob", "repo-c": "alice"}


def git(directory: Path | str, *arguments: str, stdin: bytes | None = None, **extra: str) -> str:
    """Real git; its stripped stdout. Fails the test when git fails."""
    done = subprocess.run(
        ["git", "-C", str(directory), *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, **extra},
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "replace").strip()


def give_identity(git_dir: Path, person: str) -> None:
    """Put a test key into a keyring and make it active."""
    identities = git_dir / "hn" / "identities"
    for directory in (identities.parent, identities):
        directory.mkdir(mode=0o700, exist_ok=True)
        directory.chmod(0o700)
    for name, target in (
        (f"{person}.identity.json", identities / f"{ACTORS[person]}.json"),
        (f"{person}.active", identities.parent / "active"),
    ):
        target.write_bytes((KEYS / name).read_bytes())
        target.chmod(0o600)


def restore(name: str, directory: Path, person: str | None = None) -> Path:
    """Make the work tree ``directory`` from the bundle of fixture ``name``, with its key."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    git(directory.parent, "init", "-q", "-b", "main", directory.name)
    git(directory, "config", "core.autocrlf", "false")
    git(directory, "fetch", "-q", str(FIXTURES / f"{name}.bundle"), "refs/*:refs/*", "--update-head-ok")
    git(directory, "reset", "-q", "--hard", "main")
    give_identity(directory / ".git", person or OWNERS[name])
    return directory


def load(name: str) -> dict[str, Any]:
    """The recorded data ``name`` (without ``.json``)."""
    data: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_text())
    return data


def text(value: Any, texts: list[str]) -> str:
    """A recorded output: a list is the concatenation of its items, an integer one is ``texts[item]``."""
    if isinstance(value, list):
        return "".join(texts[item] if isinstance(item, int) else item for item in value)
    return str(value)


def expand(value: Any) -> str | bytes:
    """A recorded argument or stdin: ``{"repeat": [[text, count], …]}`` and ``{"b64": …}`` written out."""
    if isinstance(value, dict):
        if "b64" in value:
            return base64.b64decode(value["b64"])
        return "".join(part * count for part, count in value["repeat"])
    return str(value)


class Run(NamedTuple):
    """One recorded command line (without ``hn``) and what it printed."""

    number: int
    argv: list[str]
    stdin: bytes
    cwd: str
    exit: int
    stdout: str
    stderr: str
    data: dict[str, Any]


def runs(data: dict[str, Any], key: str = "runs") -> Iterator[Run]:
    """The recorded runs in ``data[key]``, expanded."""
    texts = data.get("texts", [])
    for number, run in enumerate(data[key]):
        if "argv" not in run:
            continue
        stdin = expand(run.get("stdin", ""))
        yield Run(
            number,
            [os.fsdecode(expand(word)) for word in run["argv"][1:]],
            stdin.encode() if isinstance(stdin, str) else stdin,
            run.get("cwd", "."),
            run["exit"],
            text(run["stdout"], texts),
            text(run["stderr"], texts),
            run,
        )


class NanoTime(datetime):
    """A point in time to the nanosecond, which ``datetime`` cannot hold: it prints as it was written."""

    written: str

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        return self.written


def moment(written: str) -> datetime:
    """``2026-08-30T12:03:00.123456789Z`` as a clock's answer."""
    bare = written.removesuffix("Z")
    whole = datetime.fromisoformat(bare[:19]).replace(tzinfo=UTC)
    value = NanoTime(*whole.timetuple()[:6], tzinfo=UTC)
    value.written = bare + "+00:00"
    return value


class Result(NamedTuple):
    """What a run in this process gave."""

    exit: int
    stdout: str
    stderr: str


def hn(
    directory: Path | str,
    *argv: str,
    stdin: bytes = b"",
    now: str | None = None,
    env: dict[str, str] | None = None,
) -> Result:
    """Run ``hn argv`` in ``directory``, in this process."""
    console = string_console(
        dict(os.environ) if env is None else env,
        stdin=stdin,
        cwd=str(directory),
        **({} if now is None else {"now": lambda: moment(now)}),
    )
    code = cli.main(list(argv), console)
    return Result(code, console.stdout.getvalue(), console.stderr.getvalue())  # type: ignore[attr-defined]


def all_refs(directory: Path | str, *prefixes: str) -> dict[str, str]:
    """Ref name to object id."""
    lines = git(directory, "for-each-ref", "--format=%(refname) %(objectname)", *prefixes).splitlines()
    return dict(line.split(" ") for line in lines)
