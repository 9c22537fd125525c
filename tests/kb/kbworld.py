"""What the tests of injection stand on: stores with chosen records, hooks run in this process."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_memory import ledger
from ai_kb import consent, policy_file, stores
from ai_kb.hn.envelope import Anchor, Applicability, Record
from ai_kb.hn.identity import Keyring
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.streams import append
from ai_kb.remember import Draft, remember
from hooks import _entry, perturn_recall

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
PROMPT = "make the POST request retry after a timeout in src/retry.py"
TITLE = "Retry only idempotent requests"
BODY = "A POST that timed out may have been carried out by the server."
SESSION = "8ea6ecb4-4eb8-4de4-a753-3c09537fdf1b"


class World:
    """A workspace, its environment, and hooks that run in it."""

    def __init__(self, workspace: Path, env: dict[str, str]) -> None:
        self.workspace = workspace
        self.env = dict(env)
        self.err = ""

    # ------------------------------------------------------------ stores

    def remember(self, title: str = TITLE, body: str = BODY, **more: Any) -> str:
        fields: dict[str, Any] = {"kind": "gotcha", **more}
        draft = Draft(title, body, **fields)
        return remember(draft, workspace=str(self.workspace), env=self.env, now=NOW, name="A").id

    def append(self, store: stores.Store, content: str, topics: Sequence[str] = (), **more: Any) -> str:
        """A record as the protocol takes it, past every check of a capsule."""
        with store.repo.objects() as reader, PrefixStore.open(store.repo) as prefixes:
            commit = stores.HOME_ROOT if store.name == "home" else reader.head()
            assert commit is not None
            fields: dict[str, Any] = {
                "kind": "observation",
                "anchor": Anchor(commit),
                "applicability": Applicability("descendants"),
                "evidence": (),
                **more,
            }
            record = Record(content=content, topics=tuple(sorted(topics, key=str.encode)), **fields)
            identity = store.identity()
            done = append(
                store.repo, reader, identity, operation="record", now=NOW, record=record, prefixes=prefixes
            )
        return done.id

    def home(self) -> stores.Store:
        return stores.init_home(self.env, "A", NOW)[0]

    def repo(self) -> stores.Store:
        store = stores.open_repo(str(self.workspace), self.env)
        assert store is not None
        return store

    def git(self, *arguments: str, cwd: Path | str | None = None) -> str:
        done = subprocess.run(
            ["git", "-C", str(cwd or self.workspace), *arguments],
            capture_output=True,
            check=True,
            env=self.env,
        )
        return done.stdout.decode().strip()

    def trust_this_clone(self, *also: str) -> str:
        """Commit a policy that trusts this clone's actor (and ``also``); the actor."""
        keyring = Keyring.of(self.repo().repo)
        actor = keyring.active_actor() or keyring.init("Repo Person").actor
        path = self.workspace / ".hn/policy.json"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(policy_file.new_policy(actor, (actor, *also)))
        self.git("add", ".hn")
        self.git("commit", "-q", "-m", "policy")
        return actor

    def accept(self) -> None:
        store = self.repo()
        policy = stores.policy_at_head(store)
        assert policy is not None
        consent.accept(self.env, store.repo.common_dir, policy.digest, "2026-11-30")

    # ------------------------------------------------------------ hooks

    def payload(self, prompt: str = PROMPT, session: str = SESSION, **more: Any) -> bytes:
        value = {
            "session_id": session,
            "transcript_path": "/x.jsonl",
            "cwd": str(self.workspace),
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
            **more,
        }
        return json.dumps(value).encode()

    def prompt(
        self, prompt: str = PROMPT, session: str = SESSION, harness: str = "claude", **more: Any
    ) -> str:
        """The context that the hook gives for a prompt; ``""`` for none."""
        data = self.payload(prompt, session, **more)
        return self.run(data, harness)

    def run(self, data: bytes, harness: str = "claude") -> str:
        out, self.err = _entry.run(
            "perturn_recall", perturn_recall.work, ["--harness", harness],
            env=self.env, stdin=data, cwd=str(self.workspace), now=NOW.timestamp(),
        )  # fmt: skip
        return context_of(out)

    @property
    def spec_dir(self) -> Path:
        return Path(self.env["AGENT_MEMORY_SPEC_ROOT"] + str(self.workspace.resolve()))

    def ledger(self) -> list[str]:
        """Messages in the error ledger of the workspace."""
        return [str(entry["message"]) for entry in ledger.entries(str(self.spec_dir))]


def context_of(out: str) -> str:
    """The context in a hook's output, whatever the harness's shape."""
    if not out:
        return ""
    value = json.loads(out)
    for holder in (value.get("hookSpecificOutput", {}), value):
        for name in ("additionalContext", "additional_context"):
            if name in holder:
                return str(holder[name])
    assert value == {}, value
    return ""


def ids(context: str) -> list[str]:
    """Ids of the capsules in an injected block."""
    return [json.loads(line)["id"] for line in context.split("\n") if line.startswith("{")]


def git_log(world: World, folder: Path) -> Path:
    """Put a ``git`` before the real one that notes each call; the file of notes."""
    folder.mkdir(exist_ok=True)
    log = folder / "calls"
    log.write_text("")
    real = shutil.which("git", path=world.env["PATH"])
    program = folder / "git"
    program.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {real} "$@"\n')
    program.chmod(0o755)
    world.env["PATH"] = f"{folder}:{world.env['PATH']}"
    return log
