"""``,agent-memory resume``: end a ``,agent-memory pause``."""

from __future__ import annotations

import argparse
import os
from typing import Any

from agent_base.cli import Console
from agent_memory import cleanroom, locks, topics
from agent_memory.commands import _shared, pause
from agent_memory.mirror import Forgetting
from agent_memory.topics import State

_EXAMPLES = """\
examples:
  ,agent-memory resume --topic fix-retries
  ,agent-memory resume --all
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("resume", help="inject again", description=__doc__, epilog=_EXAMPLES)
    pause.add_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    target, topic = pause.find(args, console)
    state = target.state
    sentinel = state.no_context_path(topic)
    if os.path.lexists(sentinel):
        if target.mirror is not None:
            target.mirror.check_can_forget([os.path.basename(sentinel)])
        with locks.activity(state.spec_dir), Forgetting(target.mirror) as forgetting:
            forgetting.forget([os.path.basename(sentinel)])
            topics.remove(sentinel)
    still = cleanroom.injection_off(state, console.env, topic)
    if still:
        _shared.warn(console, f"context is still off: {_why(still, target.state)}")
    return pause.report(args, console, target, topic, paused=bool(still))


def _why(still: str, state: State) -> str:
    if still == os.path.basename(state.no_context_path(None)):
        return "the whole workspace is paused (`,agent-memory resume --all` ends that)"
    return f"{still} is set so in this shell" if still.isupper() else f"{still} is there"
