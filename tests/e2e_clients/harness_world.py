"""A machine for one client: a scratch home, a project, the suite installed by its installer, and runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from harness_clients import HERE, Client, isolation, node_directory

from tests.conftest import PATIENCE

Json = dict[str, Any]
LESSON = "Retry only idempotent requests: a POST that timed out may have been carried out"


class Run:
    """One run of a client: exit code, output, and the requests its model got."""

    def __init__(self, done: subprocess.CompletedProcess[str], requests: list[Json]) -> None:
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.requests = requests

    @property
    def main(self) -> list[Json]:
        """Requests of the conversation itself: those that offer tools."""
        return [r["body"] for r in self.requests if isinstance(r["body"], dict) and r["body"].get("tools")]

    def seen(self, words: str) -> list[int]:
        """How often ``words`` stand in what the model reads, per request of the conversation."""
        return [sum(text.count(words) for text in texts(body)) for body in self.main]

    def __repr__(self) -> str:
        return f"Run({self.code}, {self.out!r}, {self.err[-2000:]!r}, {len(self.requests)} requests)"


def texts(value: Any) -> Iterator[str]:
    """Every string in a request, tool definitions left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "tools":
                yield from texts(item)


class Suite(NamedTuple):
    """A copy of the checkout to install from, and its environments, shared by all worlds."""

    source: Path
    versions: Path


class World:
    """A scratch machine for ``client``.

    Args:
        base: empty directory to build it in.
        suite: what is installed; None: nothing is.
    """

    def __init__(self, client: Client, base: Path, suite: Suite | None) -> None:
        self.client, self.base, self.suite = client, base, suite
        self.home, self.project = base / "home", base / "my project"
        for directory in (self.home, self.project, base / "tmp"):
            directory.mkdir(parents=True)
        for name, text in client.files.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.home / ".gitconfig").write_text(
            "[user]\n\tname = Test Person\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n"
        )
        self.plans: Json = {}
        self.count = 0
        self.git("init", "-q", "-b", "main")
        (self.project / "README.md").write_text("# A project\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "First commit")
        self.files_before = self.snapshot()
        if suite is not None:
            self._install(suite)

    @property
    def environment(self) -> dict[str, str]:
        """What everything here runs with: nothing of the real environment."""
        return {
            "PATH": f"{node_directory()}:{self.home}/.local/bin:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.base / "tmp"),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "AGENT_MEMORY_SPEC_ROOT": str(self.base / "specs"),
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DO_NOT_TRACK": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def git(self, *words: str) -> None:
        """Git in the project."""
        subprocess.run(
            ["git", *words], cwd=self.project, env=self.environment, check=True, capture_output=True
        )

    def command(self, *words: str, expect: int = 0) -> str:
        """A command of the suite, or the installer; gives stdout."""
        done = subprocess.run(
            words,
            cwd=self.project,
            env={**self.environment, "PATH": f"{self.environment['PATH']}:{self.client.program.parent}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == expect, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def installer(self, *words: str, expect: int = 0) -> str:
        """``install.sh``, with the interpreter that runs the tests."""
        python = getattr(sys, "_base_executable", sys.executable)
        assert self.suite is not None
        script = str(self.suite.source / "install.sh")
        return self.command("env", f"PYTHON={python}", script, *words, expect=expect)

    def _install(self, suite: Suite) -> None:
        data = self.home / ".local/share/agent-hook-suite"
        data.mkdir(parents=True, mode=0o700)
        (data / "versions").symlink_to(suite.versions)
        self.installer("--harness", self.client.name)
        if self.client.name == "codex":
            self.installer("--trust-codex")

    def remember(self) -> str:
        """Put a capsule into the home store; gives its id."""
        out = self.command(
            ",ai-kb", "remember", "--title", LESSON, "--body", "Retries doubled orders.", "--kind", "gotcha",
            "--store", "home", "--source", "README.md:1", "--json",
        )  # fmt: skip
        memory: str = json.loads(out)["id"]
        return memory

    def run(self, prompt: str, *, resume: bool = False, run: tuple[str, ...] = (), tokens: int = 100,
            extra: tuple[str, ...] = ()) -> Run:  # fmt: skip
        """Run the client on a prompt whose plan is ``run``, then "All done."."""
        self.count += 1
        name = f"plan-{self.count}"
        self.plans[name] = {"run": list(run), "say": "All done.", "tokens": tokens}
        return self.raw(f"{prompt} ({name})", resume=resume, extra=extra)

    def raw(self, prompt: str, *, resume: bool = False, extra: tuple[str, ...] = ()) -> Run:
        """Run the client on a prompt as it stands."""
        plans = self.base / "plans.json"
        plans.write_text(json.dumps(self.plans))
        record = self.base / f"requests-{len(list(self.base.glob('requests-*'))):02d}"
        words = [w.replace("{prompt}", prompt) for w in (self.client.resume if resume else self.client.run)]
        prefix = isolation()
        argv = [
            *(prefix or ()), sys.executable, str(HERE / "mock_models.py"), "--plans", str(plans),
            "--record", str(record), *(("--isolated",) if prefix else ()), "--",
            str(self.client.program), *words, *extra,
        ]  # fmt: skip
        done = subprocess.run(
            argv,
            cwd=self.project,
            env={**self.environment, **self.client.environment},
            input=prompt + "\n" if self.client.by_stdin else "",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        requests = [json.loads(path.read_text()) for path in sorted(record.iterdir())]
        return Run(done, requests)

    def worklog(self) -> list[Json]:
        """Every entry of every worklog, in the order of the files."""
        self.command(",agent-memory", "status", "--json")
        entries = []
        for path in sorted((self.base / "specs").rglob("*.worklog.jsonl")):
            entries += [json.loads(line) for line in path.read_text().splitlines()]
        return entries

    def snapshot(self) -> dict[str, bytes]:
        """Content of every file below the home by relative path."""
        return {
            os.path.relpath(path, self.home): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }
