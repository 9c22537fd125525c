"""What the verbs of ``,ai-kb`` share: where a command works, and how it shows text."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from agent_base import inert
from agent_base.cli import Console
from agent_base.errors import UsageError
from agent_base.frozen import dataclass
from agent_memory import moves
from agent_memory import workspace as places
from agent_memory.mirror import Mirror
from agent_memory.topics import State
from ai_kb import stores
from ai_kb.capsule import KINDS


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command works, and the environment that says so. ``session_key`` and ``session_id`` are ``""``
    when it names no session."""

    workspace: str
    state: State
    session_id: str
    session_key: str
    env: Mapping[str, str]


def add_place(parser: argparse.ArgumentParser, *, store: bool = False) -> None:
    """The options that say where a command works. Every command that is printed carries them."""
    group = parser.add_argument_group("where")
    group.add_argument("--workspace", metavar="DIR", help="the workspace (default: around this directory)")
    group.add_argument("--session-id", metavar="ID", default="", help="the session, as its harness names it")
    group.add_argument("--session-key", metavar="KEY", default="", help=argparse.SUPPRESS)
    if store:
        group.add_argument("--store", choices=stores.STORES, default="", help="only this store")


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON, for scripts")


def place(args: argparse.Namespace, console: Console) -> Place:
    """Where the command works. Raises UsageError for a workspace that is no directory."""
    workspace = places.workspace_of_command(args.workspace, console.env, console.cwd)
    session_id: str = args.session_id
    key: str = args.session_key
    if key and not places.is_session_key(key):
        raise UsageError(f"{key[:80]!r} is no session key; nothing was changed", "use --session-id")
    if not key and session_id:
        key = places.session_key(session_id)
    return Place(workspace, State.of(console.env, workspace, hook=False), session_id, key, console.env)


def topic_of(place: Place, wanted: str) -> str:
    """The topic ``wanted``, else the session's, else that of commands, once a merge or select that was killed
    is carried out: what it moves is in neither topic whole. UsageError for what is no name."""
    if place.state.exists():
        moves.recover(place.state, Mirror.of(place.state, place.env, hook=False))
    if wanted:
        if not places.is_bucket_name(wanted):
            raise UsageError(f"{wanted[:80]!r} is no topic name", ",agent-memory list shows the topics")
        return wanted
    key = place.session_key
    return (place.state.topic_of_session(key) if key else place.state.topic_of_command())[0]


def count(text: str) -> int:
    """A number of at least 1."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def say(console: Console, text: str) -> None:
    """One line for a person, whatever ``text`` holds."""
    console.out(shown(text))


def say_lines(console: Console, text: str) -> None:
    """Lines for a person, whatever they hold."""
    for line in text.removesuffix("\n").split("\n"):
        say(console, line)


def shown(text: str) -> str:
    """``text`` for one line of a terminal; a backslash stays one."""
    return inert.terminal(text).replace("\\\\", "\\")


def warn(console: Console, text: str) -> None:
    """A warning on stderr, one line."""
    console.err(f",ai-kb: warning: {shown(inert.clean_surrogates(' '.join(text.split())))}")


def user_name(workspace: str, console: Console) -> str:
    """Git's ``user.name`` as the workspace sees it, ``""`` when there is none."""
    from agent_base import gitproc

    arguments = ("config", "--get", "user.name")
    status, out, _ = gitproc.run(("-C", workspace), arguments, env=console.env, hook=False)
    return out.decode("utf-8", "replace").removesuffix("\n") if status == 0 else ""


def name_for_home(place: Place, console: Console) -> str:
    """The name that a home store made now would get; git is not asked where there is one already."""
    return user_name(place.workspace, console) if stores.open_home(console.env) is None else ""


def capsule_kind(kind: str) -> str:
    """``kind`` where it is a capsule kind, else ``""``: records of the protocol have kinds of their own."""
    return kind if kind in KINDS else ""
