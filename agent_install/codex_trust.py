"""Codex's trust in the suite's hooks: stored only when a person asks for it, checked at any time.

Codex keeps a hash of each hook that its user has reviewed and runs no other; ``codex exec`` skips
the others without a word. How the hash is made is Codex's own business, so ``codex app-server`` is
asked for it, in a throw-away ``CODEX_HOME`` that holds a copy of the file with the hooks: the hash does
not depend on where that is, and starting a server in the user's own would write there and go on line.
What is trusted stands in the user's ``config.toml``.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from agent_base.cli import Console
from agent_base.errors import SuiteError
from agent_base.inert import terminal
from agent_install import changes, toml_edit
from agent_install.changes import Change
from agent_install.harnesses import BY_NAME
from agent_install.layout import Layout
from agent_install.manifest import Manifest, digest
from agent_install.wiring import MARKER, config_path, record

OWNER = "trust:codex"
SECONDS = 30.0


class NoAnswer(SuiteError):
    """Codex is not there or did not answer."""

    code = "no-answer"


@dataclass(frozen=True)
class Hook:
    """One of the suite's hooks as Codex sees it: ``keys`` are its names (one per spelling of the path)."""

    keys: tuple[str, ...]
    event: str
    hash: str
    trusted: bool
    enabled: bool


def ask(env: Mapping[str, str], path: str, seconds: float | None = None) -> list[Hook]:
    """The suite's hooks in the configuration file ``path``, as Codex tells within ``seconds`` (``SECONDS``).

    Raises:
        NoAnswer: there is no Codex on PATH, or it does not know the question.
        SuiteError: ``path`` or ``config.toml`` cannot be read.
    """
    executable = BY_NAME["codex"].executable(env)
    if executable is None:
        raise NoAnswer("codex is not on PATH")
    directory, name = os.path.split(path)
    stored = toml_edit.trusted(changes.read(os.path.join(directory, "config.toml"))[0] or b"")
    with tempfile.TemporaryDirectory(prefix="agent-hook-suite-codex-") as scratch:
        scratch = os.path.realpath(scratch)
        with open(os.path.join(scratch, name), "wb") as file:
            file.write(changes.read(path)[0] or b"")
        listed = _list(executable, env, scratch, time.monotonic() + (SECONDS if seconds is None else seconds))
    found = []
    for hook in listed:
        below = str(hook["key"]).removeprefix(scratch)
        keys = tuple(dict.fromkeys(base + below for base in (directory, os.path.realpath(directory))))
        states = [stored[key] for key in keys if isinstance(stored.get(key), dict)]
        found.append(
            Hook(
                keys,
                str(hook["eventName"]),
                str(hook["currentHash"]),
                trusted=any(state.get("trusted_hash") == hook["currentHash"] for state in states),
                enabled=all(state.get("enabled", True) is not False for state in states),
            )
        )
    return found


def _list(executable: str, env: Mapping[str, str], scratch: str, deadline: float) -> list[dict[str, Any]]:
    """``hooks/list`` of a server in ``scratch`` that reaches no network, the suite's hooks only."""
    nowhere = dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), "http://127.0.0.1:9")
    try:
        server = subprocess.Popen(
            [executable, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**env, **nowhere, "CODEX_HOME": scratch, "HOME": scratch},
            cwd=scratch,
            start_new_session=True,
        )
    except OSError as error:
        raise NoAnswer(f"codex cannot be started: {error.strerror}") from error
    try:
        return _conversation(server, scratch, deadline)
    except BrokenPipeError as error:
        raise NoAnswer("codex app-server ended without an answer") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoAnswer(f"codex app-server gave no list of hooks ({type(error).__name__})") from error
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(server.pid, signal.SIGKILL)  # npm's codex is a script that starts the real one
        server.wait()
        for stream in (server.stdin, server.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()


def _conversation(server: subprocess.Popen[bytes], cwd: str, deadline: float) -> list[dict[str, Any]]:
    info = {"name": "agent-hook-suite", "title": "agent-hook-suite", "version": "0"}
    _send(server, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"clientInfo": info}})
    _answer(server, 1, deadline)
    _send(server, {"jsonrpc": "2.0", "method": "initialized"})
    _send(server, {"jsonrpc": "2.0", "id": 2, "method": "hooks/list", "params": {"cwds": [cwd]}})
    hooks = [hook for entry in _answer(server, 2, deadline)["data"] for hook in entry["hooks"]]
    return [hook for hook in hooks if MARKER in str(hook.get("command", ""))]


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
    manifest = Manifest.load(Layout.of(env).data)
    wired = config_path(BY_NAME["codex"], env, manifest)
    hooks = ask(env, wired)
    if not hooks:
        raise SuiteError(
            f"there are no hooks of the suite in {wired}; nothing was changed", "./install.sh --harness codex"
        )
    if all(hook.trusted for hook in hooks):
        console.out("Codex trusts the suite's hooks already; nothing was changed")
        return 0
    path = os.path.join(os.path.dirname(wired), "config.toml")
    before, mode = changes.read(path)
    entry = manifest.files.get(path)
    exact = entry is not None and before is not None and digest(before) == entry.installed
    original = manifest.original(entry) if exact and entry is not None else before
    try:
        # What an earlier run stored is written anew: a definition that changed has another hash.
        rest = toml_edit.trusted(toml_edit.remove_trust(before or b""))
        wanted = {key: hook.hash for hook in hooks for key in hook.keys if not (hook.trusted and key in rest)}
        after = toml_edit.add_trust(before or b"", wanted)
    except SuiteError as error:
        raise SuiteError(f"{path}: {error.message}; it was left exactly as it is", error.hint) from error
    owner = entry.owner if entry is not None else OWNER
    change = Change(
        path, before, after, mode or 0o600, owner, not exact and before is not None, original, mode
    )
    if dry_run:
        console.stdout.write(changes.diff(change))
        return 0
    changes.check_writable(path)
    manifest.files[path] = record(change, manifest)
    manifest.save()
    changes.apply(change)
    for key in wanted:
        console.out(f"trusted  {terminal(key)}")
    return 0
