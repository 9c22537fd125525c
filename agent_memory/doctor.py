"""Checks of session memory: root and permissions, recording, ledger, context, mirror.

``,agent-memory doctor`` prints them, and ``,ai-kb doctor`` beside its own. Nothing is changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from agent_base import files
from agent_base.checks import FAIL, OK, WARN, Check
from agent_base.errors import SuiteError
from agent_memory import cleanroom, context, ledger, locks, moves, queue, spool, topics
from agent_memory import workspace as places
from agent_memory.mirror import Mirror
from agent_memory.topics import State

_ERRORS_SHOWN = 20
_RECORDED_AFTER = 150.0  # seconds
_REPAIR = ",agent-memory doctor --repair"


def _errors_of_no_workspace(state: State, env: Mapping[str, str]) -> list[str]:
    """What failed before it was known which workspace it was of; the dispatcher's last failure."""
    try:
        entries = ledger.of_no_workspace(state.root, state.spec_dir, env)
    except SuiteError as error:
        return [f"the root's error ledger cannot be read: {error}"]
    return [f"{e.get('kind')}: {e.get('message')} ({e.get('ts')})" for e in entries]


def damaged_bindings(state: State) -> list[str]:
    """Control files that name no topic."""
    damaged = []
    for name in state.names():
        if name == topics.POINTER or (name.startswith(topics.BINDING_PREFIX) and name.endswith(".txt")):
            try:
                if state.read_name(state.path(name)) is None:
                    damaged.append(name)
            except SuiteError:
                damaged.append(name)
    return damaged


def examine(state: State, mirror: Mirror | None, key: str | None, env: Mapping[str, str]) -> list[Check]:
    """Every line about the workspace, of one session or of all; nothing is changed."""
    found = [Check("directory", OK, state.spec_dir)]
    notice = places.root_notice(state.root)
    if notice is not None:
        found.append(Check("root", WARN, notice))
    found += _overrides(state, mirror, env)
    found += _spooled(state, time.time())
    if state.exists():
        found += _unsafe_files(state)
        found += [
            Check("binding", FAIL, f"{name} names no topic", f"`{_REPAIR}` removes it")
            for name in damaged_bindings(state)
        ]
        if moves.unfinished(state):
            found.append(Check("intent", FAIL, "a select or merge is unfinished", f"`{_REPAIR}` finishes it"))
        found += _recording(state, key)
        off = cleanroom.injection_off(state, env, None)
        if off:
            hint = f"unset {off}" if off in env else ",agent-memory resume --all"
            found.append(Check("context", WARN, f"nothing is injected in this workspace ({off})", hint))
    found += [
        Check("error", FAIL, error, f"`{_REPAIR}` clears it away")
        for error in _errors_of_no_workspace(state, env)[-_ERRORS_SHOWN:]
    ]
    found += _prefix(env)
    if mirror is None:
        found.append(
            Check("mirror", WARN, "there is no home directory, so nothing survives a reboot", "set HOME")
        )
    else:
        found.append(_mirror(mirror))
    return found


def _overrides(state: State, mirror: Mirror | None, env: Mapping[str, str]) -> list[Check]:
    """Variables that hooks ignore although commands follow them."""
    workspace = state.workspace
    roots = [("AGENT_MEMORY_SPEC_ROOT", state.root, places.spec_root(env, workspace))]
    if mirror is not None:
        roots.append(("AGENT_MEMORY_MIRROR_ROOT", mirror.root, places.mirror_root(env, workspace) or "none"))
    return [
        Check(
            "override",
            FAIL,
            f"hooks ignore {name}={env[name]!r}: it lies inside the workspace or is not yours; they use "
            f"{hooks!r}",
            "point it at a directory of your own outside the workspace",
        )
        for name, root, hooks in roots
        if env.get(name) and root != hooks
    ]


def _unsafe_files(state: State) -> list[Check]:
    """What is not this user's own in the directory, its locks and its queues."""
    own = [state.spec_dir, state.path(locks.LOCKS), state.path(queue.QUEUE)]
    own += [queue.directory(state.spec_dir, key) for key in queue.sessions(state.spec_dir)]
    found = []
    for directory in own:
        if directory != state.spec_dir and os.path.islink(directory):
            continue  # said already
        try:
            names = os.listdir(directory)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name in sorted(names):
            path = os.path.join(directory, name)
            try:
                files.check_private(path, os.lstat(path))
            except SuiteError as error:
                found.append(Check("file", FAIL, error.message, error.hint or "remove it"))
            except FileNotFoundError:
                continue
    return found


def _recording(state: State, key: str | None) -> list[Check]:
    pending = len(queue.pending(state.spec_dir, key))
    waiting = queue.state(state.spec_dir, key)
    found = []
    if pending:
        found.append(
            Check(
                "queue",
                FAIL,
                f"{_count(pending, 'event')} not recorded yet",
                f"`{_REPAIR}` records them",
            )
        )
    entries, injection = _ledger_entries(state.spec_dir, key)
    errors = [*waiting.errors, *ledger.lines(injection)][-_ERRORS_SHOWN:]
    found += [Check("error", FAIL, error, f"`{_REPAIR}` clears it away") for error in errors]
    if not found:
        seen = _count(entries, "entry", "entries")
        found.append(Check("recording", OK, f"nothing is pending ({seen} in the error ledger)"))
    return found


def _spooled(state: State, now: float) -> list[Check]:
    """A recorder lives for two minutes; what is older waits for one that never came, or could not."""
    spooled = spool.waiting(spool.location(state.root))
    if not spooled:
        return []
    events = f"{_count(spooled, 'event')} of all workspaces"
    try:
        spool.check(spool.location(state.root))
    except SuiteError as error:
        return [Check("spool", FAIL, f"{events} not recorded: {error.message}", error.hint)]
    oldest = spool.oldest(spool.location(state.root))
    if oldest is None or now - oldest < _RECORDED_AFTER:
        return [Check("spool", OK, f"{events} about to be recorded")]
    waits = f"{events} not recorded yet, since {int((now - oldest) // 60)} minutes"
    return [Check("spool", FAIL, waits, f"`{_REPAIR}` records them; `,ai-kb doctor` looks at the hooks")]


def _ledger_entries(spec_dir: str, key: str | None) -> tuple[int, list[ledger.Entry]]:
    """How many entries the ledger has, and the open ones about injection; of one that cannot be read
    (``queue.state`` says so) none."""
    try:
        injection = [e for e in ledger.open_errors(spec_dir, key) if e.get("kind") in ledger.INJECTION]
        return len(ledger.entries(spec_dir)), injection
    except SuiteError:
        return 0, []


def _prefix(env: Mapping[str, str]) -> list[Check]:
    text, pointer = context.prefix_text(env, None)
    return (
        []
        if text or not pointer
        else [Check("prefix", FAIL, pointer.strip("()"), "shorten it to 3,000 characters")]
    )


def _mirror(mirror: Mirror) -> Check:
    try:
        there = places.check_spec_dir(mirror.root, mirror.directory)
    except SuiteError as error:
        return Check("mirror", FAIL, error.message, error.hint)
    if not mirror.writable():
        lost = f"{mirror.directory} cannot be written, so what is new does not survive a reboot"
        return Check("mirror", WARN, lost, "set AGENT_MEMORY_MIRROR_ROOT to a directory of your own")
    return Check("mirror", OK, mirror.directory if there else f"{mirror.directory} (none yet)")


def _count(number: int, what: str, many: str = "") -> str:
    return f"{number} {what if number == 1 else many or what + 's'}"
