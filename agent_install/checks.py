"""What ``,ai-kb doctor`` and ``--status`` say about the installation: one ``Check`` per line.

For each harness that is there or wired: installed? wired? allowed? trusted? do its hooks run, and in
how many milliseconds? The hooks are really run, with a payload of their harness, in a throw-away
workspace and spec root; nothing of the user's memory is read or written by that.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from agent_base.checks import FAIL, OK, WARN, Check
from agent_base.errors import SuiteError
from agent_install import adapters, changes, codex_trust, json_edit, launchers, runtime, toml_edit, wiring
from agent_install.harnesses import HARNESSES, Harness
from agent_install.jsonc import NotJson, loads
from agent_install.layout import Layout
from agent_install.manifest import Manifest

HOOK_SECONDS = 30.0
RECORD_SECONDS = 30.0  # while the recorder runs
LATE_SECONDS = 5.0  # when it seems to have ended: a shell may have kept it from being seen
# The recorder closes lower descriptors than this one, lest a client wait for it.
_KEPT_OPEN = 100
_INSTALL = "./install.sh"


def all_checks(env: Mapping[str, str], names: Sequence[str] | None = None) -> list[Check]:
    """The environment, then every harness (or those of ``names``) that is there or wired."""
    layout = Layout.of(env)
    found = list(runtime_checks(layout, env))
    try:
        manifest = Manifest.load(layout.data)
    except SuiteError as error:
        found.append(Check("install: manifest", FAIL, error.message, error.hint))
        manifest = Manifest(layout.data)
    wired_any = False
    for harness in HARNESSES:
        if names is not None and harness.name not in names:
            continue
        wired = is_wired(harness, env, manifest)
        if not harness.present(env) and not wired and names is None:
            continue
        wired_any = wired_any or wired
        found += harness_checks(harness, env, layout, manifest)
    if not wired_any:
        found.append(Check("harnesses", WARN, "no harness is wired", _INSTALL))
    return found


def runtime_checks(layout: Layout, env: Mapping[str, str]) -> Iterator[Check]:
    """The environment, the launchers that point to it, and whether PATH leads to those."""
    current = os.path.join(layout.data, "current")
    if not os.path.exists(os.path.join(current, ".complete")):
        yield Check("install: environment", FAIL, f"there is none in {layout.data}", _INSTALL)
        return
    version = os.path.basename(os.path.realpath(current))
    found = runtime.inspect(runtime.Runtime(current), env)
    if found.problem:
        yield Check("install: environment", FAIL, found.problem, _INSTALL)
    else:
        yield Check("install: environment", OK, f"{version}, Python {found.python}")
    paths = [os.path.join(layout.bin, name) for name in launchers.COMMANDS]
    paths += [os.path.join(layout.hooks, n) for n in launchers.ALL_HOOKS]
    missing, foreign, old = [], [], []
    for path in paths:
        data = _read(path)
        if data is None:
            missing.append(path)
        elif not launchers.is_ours(data):
            foreign.append(path)
        elif f"/versions/{version}/".encode() not in data:
            old.append(path)
    for what, some in (("missing", missing), ("not the suite's", foreign), ("of another version", old)):
        if some:
            yield Check("install: launchers", FAIL, f"{what}: {', '.join(some)}", _INSTALL)
    if not (missing or foreign or old):
        yield Check("install: launchers", OK, f"{len(paths)} in {layout.bin} and {layout.hooks}")
        yield _on_path(layout, env)


def _on_path(layout: Layout, env: Mapping[str, str]) -> Check:
    """Whether the commands that the hooks name to agents are the suite's when a shell looks for them."""
    name, hint = "install: PATH", f"put {layout.bin} first on PATH, in the shell that starts the agent"
    found = {command: shutil.which(command, path=env.get("PATH", "")) for command in launchers.COMMANDS}
    if not any(found.values()):
        return Check(name, WARN, "leads to none of the commands, and agents are told to run them", hint)
    bin_directory = os.path.realpath(layout.bin)
    others = [
        f"{command} is {path or 'not found'}"
        for command, path in found.items()
        if path is None or os.path.realpath(os.path.dirname(path)) != bin_directory
    ]
    if others:
        return Check(name, WARN, ", ".join(others), hint)
    return Check(name, OK, f"leads to {layout.bin}")


def _read(path: str) -> bytes | None:
    try:
        return changes.read(path)[0]
    except changes.Unusable:
        return None


def _configuration(harness: Harness, env: Mapping[str, str], manifest: Manifest) -> str:
    try:
        return wiring.config_path(harness, env, manifest)
    except SuiteError:
        return harness.config(env)


def is_wired(harness: Harness, env: Mapping[str, str], manifest: Manifest) -> bool:
    """Whether the harness's configuration holds anything of the suite."""
    data = _read(_configuration(harness, env, manifest))
    return data is not None and adapters.MARKER.encode() in data


def harness_checks(
    harness: Harness, env: Mapping[str, str], layout: Layout, manifest: Manifest
) -> Iterator[Check]:
    """Installed, wired, allowed, trusted, running."""
    executable = harness.executable(env)
    if executable is not None:
        version = client_version(executable)
        where = f"{executable} ({version})" if version else executable
    elif os.path.isdir(harness.directory(env)):
        where = f"not on PATH, but {harness.directory(env)} is there"
    else:
        where = "not found"
    yield Check(f"{harness.name}: installed", OK if where != "not found" else WARN, where)
    wired = _wired(harness, env, layout, manifest)
    yield wired
    if wired.status == FAIL or not is_wired(harness, env, manifest):
        return
    yield from _allowed(harness, env)
    if harness.name == "codex":
        yield _trusted(env, _configuration(harness, env, manifest))
    yield from _hooks_run(harness, env, layout)


def client_version(executable: str) -> str:
    """The version of a client, read from where npm or its own installer put it; "" where nothing tells.

    The client is not run: starting one writes into its user's files.
    """
    real = os.path.realpath(executable)
    if re.fullmatch(r"\d+\.\d+\.\d+\S*", os.path.basename(real)):
        return os.path.basename(real)
    directory = os.path.dirname(real)
    while f"{os.sep}node_modules{os.sep}" in directory + os.sep:
        with suppress(ValueError, AttributeError, RecursionError):
            version = json.loads(_read(os.path.join(directory, "package.json")) or b"null").get("version")
            if isinstance(version, str):
                return version[:40]
        directory = os.path.dirname(directory)
    return ""


def _wired(harness: Harness, env: Mapping[str, str], layout: Layout, manifest: Manifest) -> Check:
    name, hint = f"{harness.name}: wired", f"{_INSTALL} --harness {harness.name}"
    path = _configuration(harness, env, manifest)
    try:
        data = changes.read(path)[0]
        if data is None or adapters.MARKER.encode() not in data:
            return Check(name, WARN, f"no hooks of the suite in {path}", hint)
        if harness.kind == "own":
            same = data == wiring.own_file(harness, layout.hooks)
            return Check(
                name,
                OK if same else FAIL,
                path if same else f"{path} is not this version's",
                hint * (not same),
            )
        wanted = adapters.load(harness.template, layout.hooks)["hooks"]
        reader = toml_edit.entries if path.endswith(".toml") else json_edit.entries
        found = reader(data, wiring.MARKER)
    except SuiteError as error:
        return Check(name, FAIL, f"{path}: {error.message}", error.hint or "mend the file")
    if found == wanted:
        return Check(name, OK, f"{path}: {', '.join(wanted)}")
    if _commands(found) == _commands(wanted):
        return Check(name, WARN, f"{path}: changed by hand; installing again resets it", hint)
    missing = [event for event in wanted if event not in found]
    what = f"no hook for {', '.join(missing)}" if missing else "its hooks are not this version's"
    return Check(name, FAIL, f"{path}: {what}", hint)


def _commands(hooks: Any) -> list[str]:
    """Every command line in a hooks object, with the events they are on, in any order."""
    found = []
    for event, entries in hooks.items():
        for entry in entries:
            inner = entry.get("hooks")
            handlers = inner if isinstance(inner, list) else [entry]
            found += [
                f"{event} {handler.get('command')}" for handler in handlers if isinstance(handler, dict)
            ]
    return sorted(found)


def _allowed(harness: Harness, env: Mapping[str, str]) -> Iterator[Check]:
    """Switches by which a harness's user turns all hooks off, and files it refuses."""
    path = harness.config(env)
    name = f"{harness.name}: allowed"
    if harness.name == "cursor" and os.path.realpath(path) != os.path.abspath(path):
        yield Check(
            name,
            FAIL,
            f"Cursor refuses {path}: it is reached through a symbolic link",
            "make it a plain file",
        )
    try:
        value = loads((_read(path) or b"{}").decode("utf-8", "replace").removeprefix(json_edit.BOM))
    except NotJson:
        return
    if not isinstance(value, dict):
        return
    switched_off = harness.name == "claude" and value.get("disableAllHooks") is True
    if harness.name == "gemini":
        config = value.get("hooksConfig")
        config = config if isinstance(config, dict) else {}
        switched_off = config.get("enabled") is False
        disabled = config.get("disabled")
        names = (
            [name for name in disabled if adapters.MARKER in str(name)] if isinstance(disabled, list) else []
        )
        if names:
            yield Check(
                name, FAIL, f"switched off in Gemini: {', '.join(names)}", "switch them on with /hooks"
            )
    if switched_off:
        yield Check(name, FAIL, f"{path} turns all hooks off", "turn them on there")


def _trusted(env: Mapping[str, str], path: str) -> Check:
    name, hint = "codex: trusted", "review them in Codex with /hooks, or ./install.sh --trust-codex"
    try:
        hooks = codex_trust.ask(env, path)
    except SuiteError as error:
        return Check(name, WARN, f"cannot be asked: {error.message}", hint)
    untrusted = [hook.event for hook in hooks if not hook.trusted]
    disabled = [hook.event for hook in hooks if not hook.enabled]
    if not hooks:
        return Check(name, FAIL, "Codex does not see the suite's hooks", "./install.sh --harness codex")
    if untrusted:
        return Check(name, FAIL, f"Codex skips untrusted hooks: {', '.join(untrusted)}", hint)
    if disabled:
        return Check(
            name, FAIL, f"switched off in Codex: {', '.join(disabled)}", "switch them on with /hooks"
        )
    return Check(name, OK, f"{len(hooks)} hooks")


# ---------------------------------------------------------------- running the hooks

_EVENTS = {
    "session_context.py": ("SessionStart", "sessionStart"),
    "perturn_recall.py": ("UserPromptSubmit", "userPromptSubmitted"),
    "worklog_dispatcher.sh": ("PostToolUse", "postToolUse"),
}


# Names that a harness has for the events above, where they are not Claude Code's.
_SPELLED = {
    "gemini": {"UserPromptSubmit": "BeforeAgent", "PostToolUse": "AfterTool"},
    "cursor": {
        "SessionStart": "sessionStart",
        "UserPromptSubmit": "beforeSubmitPrompt",
        "PostToolUse": "postToolUse",
    },
}


def _payload(hook: str, harness: Harness, workspace: str) -> bytes:
    """A payload such as the harness sends."""
    event = _EVENTS[hook][0]
    copilot = harness.name == "copilot"
    payload: dict[str, Any] = {"cwd": workspace}
    if copilot:
        payload |= {"sessionId": "doctor-probe", "timestamp": 0}
    else:
        spelled = _SPELLED.get(harness.name, {}).get(event, event)
        payload |= {"session_id": "doctor-probe", "hook_event_name": spelled}
    if harness.name == "cursor":
        payload |= {"conversation_id": "doctor-probe", "workspace_roots": [workspace]}
    if event == "SessionStart":
        payload["source"] = "new" if copilot else "startup"
    elif event == "UserPromptSubmit":
        payload["prompt"] = "is the memory of earlier sessions within reach of this prompt"
    else:
        names = (
            ("toolName", "toolArgs", "toolResult")
            if copilot
            else ("tool_name", "tool_input", "tool_response")
        )
        payload |= dict(zip(names, ("Bash", {"command": "true"}, {"stdout": "", "stderr": ""}), strict=True))
    return json.dumps(payload).encode()


def _hooks_run(harness: Harness, env: Mapping[str, str], layout: Layout) -> Iterator[Check]:
    base = tempfile.mkdtemp(prefix="agent-hook-suite-check-")
    try:
        workspace, specs = os.path.join(base, "workspace"), os.path.join(base, "specs")
        os.mkdir(workspace, 0o700)
        probe = {
            **env,
            "AGENT_MEMORY_SPEC_ROOT": specs,
            "AGENT_MEMORY_MIRROR_ROOT": os.path.join(base, "mirror"),
        }
        for name in ("CLAUDE_PROJECT_DIR", "AGENT_HOOK_CONTEXT", "COPILOT_AGENT_SESSION_ID"):
            probe.pop(name, None)
        for hook in adapters.HOOKS:
            yield _run_hook(hook, harness, probe, layout, workspace, specs)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _run_hook(
    hook: str, harness: Harness, env: Mapping[str, str], layout: Layout, workspace: str, specs: str
) -> Check:
    name = f"{harness.name}: {hook}"
    argv = [os.path.join(layout.hooks, hook), "--harness", harness.name, wiring.MARKER]
    if harness.name == "copilot":
        argv[3:3] = ["--event", _EVENTS[hook][1]]
    began = time.monotonic()
    with _Started() as started:
        try:
            done = subprocess.run(
                argv,
                input=_payload(hook, harness, workspace),
                capture_output=True,
                env=dict(env),
                cwd=workspace,
                timeout=HOOK_SECONDS,
                pass_fds=[started.theirs],
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Check(name, FAIL, f"does not run: {error}", _INSTALL)
        took = round((time.monotonic() - began) * 1000)
        complaint = _complaint(done)
        if complaint:
            return Check(name, FAIL, complaint, "see the error ledger: ,agent-memory doctor", took)
        if hook == "worklog_dispatcher.sh":
            started.wait(RECORD_SECONDS)  # what it wrote later would be left behind
            if _recorded(specs) is None:
                return Check(
                    name, FAIL, "returned, but the event is not in the worklog", ",agent-memory doctor", took
                )
        return Check(name, OK, f"runs in {took} ms", milliseconds=took)


class _Started:
    """Tells when whatever a hook has started has ended: each of them holds the end ``theirs`` of a pipe."""

    def __enter__(self) -> _Started:
        self._ours, end = os.pipe()
        try:
            self.theirs = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _KEPT_OPEN)
        finally:
            os.close(end)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._ours)
        if self.theirs >= 0:
            os.close(self.theirs)

    def wait(self, seconds: float) -> None:
        """Until all have ended, or for so long."""
        os.close(self.theirs)
        self.theirs = -1
        select.select([self._ours], [], [], seconds)


def _complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    """What is wrong with a hook's run, "" when nothing is."""
    if done.returncode:
        return f"ended with {done.returncode} instead of 0"
    if done.stdout.strip():
        try:
            value = json.loads(done.stdout)
        except ValueError:
            return "its output is not one JSON object"
        if not isinstance(value, dict):
            return "its output is not one JSON object"
    text = done.stderr.decode("utf-8", "replace").strip()
    return f"complains: {text.splitlines()[0]}" if text else ""


def _recorded(specs: str) -> str | None:
    """The worklog that the background recorder has written, once it has."""
    deadline = time.monotonic() + LATE_SECONDS
    while True:
        for directory, _, names in os.walk(specs):
            for name in names:
                if name.endswith(".worklog.jsonl"):
                    return os.path.join(directory, name)
        if time.monotonic() >= deadline:
            return None
        time.sleep(0.02)
