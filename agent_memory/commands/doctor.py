"""``,agent-memory doctor``: find, and with ``--repair`` mend, what is wrong with session memory.

Repair records what is pending, finishes a killed merge or select, and moves what cannot be read to the
error ledger, so that ``,ai-kb harvest`` can go on. It never deletes a spec or a worklog.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from agent_base import files
from agent_base.cli import Console
from agent_base.errors import SuiteError, UnsafePath
from agent_memory import cleanroom, context, ledger, locks, moves, queue, recorder, spool, topics, upkeep
from agent_memory import workspace as places
from agent_memory.commands import _shared
from agent_memory.mirror import Mirror
from agent_memory.topics import State

_EXAMPLES = """\
examples:
  ,agent-memory doctor
  ,agent-memory doctor --repair
"""
_ERRORS_SHOWN = 20


class Finding:
    """One thing that was looked at. ``level``: ok, note (nothing to do), or problem."""

    __slots__ = ("check", "hint", "level", "message")

    def __init__(self, check: str, level: str, message: str, hint: str = "") -> None:
        self.check = check
        self.level = level
        self.message = message
        self.hint = hint


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("doctor", help="find what is wrong", description=__doc__, epilog=_EXAMPLES)
    parser.add_argument("--repair", action="store_true", help="mend it")
    _shared.add_session(parser)
    _shared.add_workspace(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    key, _ = _shared.session_of(args, console.env, routed=False)
    repaired: list[str] = []
    try:
        state = _shared.open_state(args, console)
    except SuiteError as error:
        if error.exit_code == 2:
            raise
        findings = [Finding("directory", "problem", error.message, error.hint)]
    else:
        mirror = Mirror.of(state, console.env, hook=False)
        if args.repair and state.exists():
            repaired = _repair(state, mirror, key, console)
        if args.repair:
            repaired += _clear_errors_of_no_workspace(state, console)
        findings = _look(state, mirror, key, console)
    problems = [finding for finding in findings if finding.level == "problem"]
    if args.json:
        rows = [{name: getattr(finding, name) for name in Finding.__slots__} for finding in findings]
        console.json({"ok": not problems, "findings": rows, "repaired": repaired})
        return 1 if problems else 0
    for text in repaired:
        console.out(f"repaired  {_shared.line(text)}")
    for finding in findings:
        hint = f" ({_shared.line(finding.hint)})" if finding.hint else ""
        console.out(f"{finding.level:<8}  {finding.check}: {_shared.line(finding.message)}{hint}")
    return 1 if problems else 0


def _repair(state: State, mirror: Mirror | None, key: str | None, console: Console) -> list[str]:
    done = []
    if moves.discard_intent(state):
        done.append("the damaged note of an unfinished select or merge was removed")
    if moves.unfinished(state):
        moves.recover(state, mirror)
        done.append("an unfinished select or merge was carried out")
    before = len(queue.pending(state.spec_dir, key))
    recorder.settle(state, key, timeout=_shared.LOCK_SECONDS)
    recorded = before - len(queue.pending(state.spec_dir, key))
    if recorded > 0:
        done.append(f"{_shared.count(recorded, 'pending event')} recorded")
    try:
        done += upkeep.repair(state.spec_dir, key, timeout=_shared.LOCK_SECONDS)
    except UnsafePath as error:  # of the ledger: only a person can say what it is
        _shared.warn(console, f"the error ledger is left alone: {error}")
    done += _remove_damaged_bindings(state)
    _shared.sync_mirror(mirror, console)
    return done


def _errors_of_no_workspace(state: State, console: Console) -> list[str]:
    """What failed before it was known which workspace it was of; the dispatcher's last failure."""
    try:
        entries = ledger.of_no_workspace(state.root, state.spec_dir, console.env)
    except SuiteError as error:
        return [f"the root's error ledger cannot be read: {error}"]
    return [f"{e.get('kind')}: {e.get('message')} ({e.get('ts')})" for e in entries]


def _clear_errors_of_no_workspace(state: State, console: Console) -> list[str]:
    done = []
    try:
        seen = ledger.resolve(state.root) if state.root != state.spec_dir else 0
    except UnsafePath:
        seen = 0  # it is shown as what it is
    if seen:
        done.append(f"{seen} entries of the root's error ledger are marked as seen")
    path = ledger.dispatcher_error_path(console.env)
    if path is not None and topics.remove(path):
        done.append("the dispatcher's last failure was removed")
    return done


def _damaged_bindings(state: State) -> list[str]:
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


def _remove_damaged_bindings(state: State) -> list[str]:
    done = []
    for name in _damaged_bindings(state):
        path = state.path(name)
        if not os.path.islink(path) and os.path.isdir(path):
            continue
        topics.remove(path)
        done.append(f"{name} named no topic and was removed")
    return done


def _look(state: State, mirror: Mirror | None, key: str | None, console: Console) -> list[Finding]:
    found = [Finding("directory", "ok", state.spec_dir)]
    notice = places.root_notice(state.root)
    if notice is not None:
        found.append(Finding("root", "note", notice))
    found += _overrides(state, mirror, console)
    if state.exists():
        found += _unsafe_files(state)
        found += [
            Finding("binding", "problem", f"{name} names no topic", "--repair removes it")
            for name in _damaged_bindings(state)
        ]
        if moves.unfinished(state):
            found.append(
                Finding("intent", "problem", "a select or merge is unfinished", "--repair finishes it")
            )
        found += _recording(state, key)
        off = cleanroom.injection_off(state, console.env, None)
        if off:
            found.append(Finding("context", "note", f"nothing is injected in this workspace ({off})"))
    found += [
        Finding("error", "problem", error, "--repair clears it away")
        for error in _errors_of_no_workspace(state, console)[-_ERRORS_SHOWN:]
    ]
    found += _prefix(console)
    if mirror is None:
        found.append(Finding("mirror", "note", "there is no home directory, so nothing survives a reboot"))
    else:
        found.append(_mirror(mirror))
    return found


def _overrides(state: State, mirror: Mirror | None, console: Console) -> list[Finding]:
    """Variables that hooks ignore although commands follow them."""
    env, workspace = console.env, state.workspace
    roots = [("AGENT_MEMORY_SPEC_ROOT", state.root, places.spec_root(env, workspace))]
    if mirror is not None:
        roots.append(("AGENT_MEMORY_MIRROR_ROOT", mirror.root, places.mirror_root(env, workspace) or "none"))
    return [
        Finding(
            "override",
            "problem",
            f"hooks ignore {name}={env[name]!r}: it lies inside the workspace or is not yours; they use "
            f"{hooks!r}",
            "point it at a directory of your own outside the workspace",
        )
        for name, root, hooks in roots
        if env.get(name) and root != hooks
    ]


def _unsafe_files(state: State) -> list[Finding]:
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
                found.append(Finding("file", "problem", error.message, error.hint or "remove it"))
            except FileNotFoundError:
                continue
    return found


def _recording(state: State, key: str | None) -> list[Finding]:
    pending = len(queue.pending(state.spec_dir, key))
    spooled = spool.waiting(spool.location(state.root))
    waiting = queue.state(state.spec_dir, key)
    found = []
    if pending:
        found.append(
            Finding(
                "queue",
                "problem",
                f"{_shared.count(pending, 'event')} not recorded yet",
                "--repair records them",
            )
        )
    if spooled:
        found.append(
            Finding(
                "spool", "note", f"{_shared.count(spooled, 'event')} of all workspaces about to be recorded"
            )
        )
    entries, injection = _ledger_entries(state.spec_dir, key)
    errors = [*waiting.errors, *(f"{e.get('kind')}: {e.get('message')}" for e in injection)][-_ERRORS_SHOWN:]
    found += [Finding("error", "problem", error, "--repair clears it away") for error in errors]
    if not found:
        seen = _shared.count(entries, "entry", "entries")
        found.append(Finding("recording", "ok", f"nothing is pending ({seen} in the error ledger)"))
    return found


def _ledger_entries(spec_dir: str, key: str | None) -> tuple[int, list[ledger.Entry]]:
    """How many entries the ledger has, and the open ones about injection; of one that cannot be read
    (``queue.state`` says so) none."""
    try:
        injection = [e for e in ledger.open_errors(spec_dir, key) if e.get("kind") in ledger.INJECTION]
        return len(ledger.entries(spec_dir)), injection
    except SuiteError:
        return 0, []


def _prefix(console: Console) -> list[Finding]:
    text, pointer = context.prefix_text(console.env, None)
    return [] if text or not pointer else [Finding("prefix", "problem", pointer)]


def _mirror(mirror: Mirror) -> Finding:
    try:
        there = places.check_spec_dir(mirror.root, mirror.directory)
    except SuiteError as error:
        return Finding("mirror", "problem", error.message, error.hint)
    return Finding("mirror", "ok", mirror.directory if there else f"{mirror.directory} (none yet)")
