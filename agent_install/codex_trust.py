"""Codex's trust in the suite's hooks: asked of Codex itself, stored only when a person asks for it.

Codex keeps a hash of each hook that its user has reviewed and runs no other; ``codex exec`` skips
the others without a word. ``codex app-server`` tells key, hash and state of each.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_base.cli import Console
from agent_base.errors import SuiteError
from agent_base.inert import terminal
from agent_install import changes, toml_edit
from agent_install.changes import Change
from agent_install.harnesses import BY_NAME
from agent_install.layout import Layout
from agent_install.manifest import Entry, Manifest, digest
from agent_install.wiring import MARKER

OWNER = "trust:codex"
SECONDS = 15.0


class NoAnswer(SuiteError):
    """Codex is not there or did not answer."""

    code = "no-answer"


@dataclass(frozen=True)
class Hook:
    """One of the suite's hooks as Codex sees it."""

    key: str
    event: str
    hash: str
    trusted: bool
    enabled: bool


def ask(env: Mapping[str, str], cwd: str, seconds: float = SECONDS) -> list[Hook]:
    """The suite's hooks, from ``hooks/list`` of ``codex app-server``.

    Raises:
        NoAnswer: there is no Codex on PATH, or it does not know the question.
    """
    executable = BY_NAME["codex"].executable(env)
    if executable is None:
        raise NoAnswer("codex is not on PATH")
    try:
        server = subprocess.Popen(
            [executable, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            cwd=cwd,
        )
    except OSError as error:
        raise NoAnswer(f"codex cannot be started: {error.strerror}") from error
    try:
        return _conversation(server, cwd, time.monotonic() + seconds)
    except (BrokenPipeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoAnswer(f"codex app-server gave no list of hooks ({type(error).__name__})") from error
    finally:
        server.kill()
        server.wait()
        for stream in (server.stdin, server.stdout):
            if stream is not None:
                stream.close()


def _conversation(server: subprocess.Popen[bytes], cwd: str, deadline: float) -> list[Hook]:
    info = {"name": "agent-hook-suite", "title": "agent-hook-suite", "version": "0"}
    _send(server, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"clientInfo": info}})
    _answer(server, 1, deadline)
    _send(server, {"jsonrpc": "2.0", "method": "initialized"})
    _send(server, {"jsonrpc": "2.0", "id": 2, "method": "hooks/list", "params": {"cwds": [cwd]}})
    found = []
    for entry in _answer(server, 2, deadline)["data"]:
        for hook in entry["hooks"]:
            if MARKER in str(hook.get("command", "")):
                trusted = hook.get("trustStatus") == "trusted" or bool(hook.get("isManaged"))
                found.append(
                    Hook(
                        hook["key"],
                        hook["eventName"],
                        hook["currentHash"],
                        trusted,
                        bool(hook.get("enabled", True)),
                    )
                )
    return found


def _send(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()


def _answer(server: subprocess.Popen[bytes], number: int, deadline: float) -> dict[str, Any]:
    assert server.stdout is not None
    os.set_blocking(server.stdout.fileno(), False)
    buffer = b""
    with selectors.DefaultSelector() as selector:
        selector.register(server.stdout, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise NoAnswer("codex app-server did not answer in time")
            chunk = os.read(server.stdout.fileno(), 1 << 16)
            if not chunk:
                raise NoAnswer("codex app-server ended without an answer")
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in lines:
                reply = json.loads(line)
                if reply.get("id") == number:
                    if "error" in reply:
                        raise NoAnswer("this Codex does not list its hooks")
                    result: dict[str, Any] = reply["result"]
                    return result


def trust(console: Console, *, dry_run: bool) -> int:
    """``--trust-codex``: store trust in exactly the suite's hooks; says which."""
    env = console.env
    hooks = ask(env, Layout.of(env).home)
    if not hooks:
        raise SuiteError(
            "Codex sees no hooks of the suite; nothing was changed", "./install.sh --harness codex"
        )
    path = os.path.join(BY_NAME["codex"].directory(env), "config.toml")
    wanted = {hook.key: hook.hash for hook in hooks if not hook.trusted}
    if not wanted:
        console.out("Codex trusts the suite's hooks already; nothing was changed")
        return 0
    before, mode = changes.read(path)
    manifest = Manifest.load(Layout.of(env).data)
    try:
        # Hashes stored by an earlier run and still valid are in the file; stale ones are replaced.
        kept = {hook.key: hook.hash for hook in hooks if hook.trusted and _stored_here(before, hook.key)}
        after = toml_edit.add_trust(before or b"", {**kept, **wanted})
    except SuiteError as error:
        raise SuiteError(f"{path}: {error.message}; it was left exactly as it is", error.hint) from error
    entry = manifest.files.get(path)
    exact = entry is not None and before is not None and digest(before) == entry.installed
    original = manifest.original(entry) if exact and entry is not None else before
    change = Change(
        path, before, after, mode or 0o600, entry.owner if entry else OWNER, not exact and before is not None
    )
    if dry_run:
        console.stdout.write(changes.diff(change))
        return 0
    changes.check_writable(path)
    manifest.files[path] = Entry(
        owner=change.owner,
        installed=digest(after),
        original=None if original is None else manifest.keep_original(original),
        mode=mode,
        kept=entry.kept if entry else [],
        backup=digest(before) if change.backup and before is not None else (entry.backup if entry else None),
    )
    manifest.save()
    changes.apply(change)
    for key in wanted:
        console.out(f"trusted  {terminal(key)}")
    return 0


def _stored_here(data: bytes | None, key: str) -> bool:
    """Whether the installer itself stored this trust (then it is written again, with its comment)."""
    if data is None:
        return False
    return key in toml_edit.trusted(data) and key not in toml_edit.trusted(toml_edit.remove_trust(data))
