"""``,agent-memory doctor``: find, and with ``--repair`` mend, what is wrong with session memory.

Repair records what is pending, finishes a killed merge or select, and moves what cannot be read to the
error ledger, so that ``,ai-kb harvest`` can go on. It never deletes a spec or a worklog.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from agent_base.checks import FAIL, Check, report
from agent_base.cli import Console
from agent_base.errors import SuiteError, UnsafePath
from agent_memory import doctor, ledger, moves, queue, recorder, topics, upkeep
from agent_memory.commands import _shared
from agent_memory.mirror import Mirror
from agent_memory.topics import State

_EXAMPLES = """\
examples:
  ,agent-memory doctor
  ,agent-memory doctor --repair
"""


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
        found = [Check("directory", FAIL, error.message, error.hint)]
    else:
        mirror = Mirror.of(state, console.env, hook=False)
        if args.repair and not state.exists():
            _shared.drain(state, console)  # the spool may hold its first events
        if args.repair and state.exists():
            repaired = _repair(state, mirror, key, console)
        if args.repair:
            repaired += _clear_errors_of_no_workspace(state, console)
        found = doctor.examine(state, mirror, key, console.env)
    if not args.json:
        for text in repaired:
            console.out(f"repaired: {_shared.line(text)}")
    return report(console, found, as_json=args.json, repaired=repaired)


def _repair(state: State, mirror: Mirror | None, key: str | None, console: Console) -> list[str]:
    done = []
    if moves.discard_intent(state):
        done.append("the damaged note of an unfinished select or merge was removed")
    if moves.unfinished(state):
        try:
            moves.recover(state, mirror)
            done.append("an unfinished select or merge was carried out")
        except SuiteError as error:  # what stands in its way is named; the rest can be mended
            _shared.warn(console, f"{error.message} ({error.hint})" if error.hint else error.message)
    before = len(queue.pending(state.spec_dir, key))
    _shared.drain(state, console)
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


def _remove_damaged_bindings(state: State) -> list[str]:
    done = []
    for name in doctor.damaged_bindings(state):
        path = state.path(name)
        if not os.path.islink(path) and os.path.isdir(path):
            continue
        topics.remove(path)
        done.append(f"{name} named no topic and was removed")
    return done
