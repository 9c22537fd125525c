"""What the verbs share: options that say where, the resolved target, and text fit for a terminal."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import datetime

from agent_base import inert
from agent_base.cli import Console
from agent_base.errors import SuiteError, UsageError
from agent_base.parsing import offer_lines
from agent_memory import moves, queue, recorder, topics
from agent_memory import workspace as places
from agent_memory.mirror import Mirror
from agent_memory.topics import State

PARENT_SESSION = recorder.COPILOT_PARENT
LOCK_SECONDS = 10.0


class Target:
    """What a command is about: the workspace's state and mirror, the session (key, id as given), the
    topic and where that came from."""

    __slots__ = ("key", "mirror", "named", "session_id", "source", "state", "topic")

    def __init__(
        self, state: State, mirror: Mirror | None, key: str | None, session_id: str, named: str | None
    ) -> None:
        self.state = state
        self.mirror = mirror
        self.key = key
        self.session_id = session_id
        self.named = named
        self.topic = self.source = ""

    def resolve(self) -> None:
        """Look up the topic: the one that was named, else the session's, else the workspace's. A merge
        changes it: who writes looks again while it holds the activity lock."""
        if self.named is not None:
            self.topic, self.source = self.named, topics.ARGUMENT
        elif self.key is not None:
            self.topic, self.source = self.state.topic_of_session(self.key)
        else:
            self.topic, self.source = self.state.topic_of_command()


def add_workspace(parser: argparse.ArgumentParser) -> None:
    """``--workspace`` and ``--json``."""
    parser.add_argument(
        "--workspace", metavar="DIR", help="workspace (default: $CLAUDE_PROJECT_DIR, else the directory here)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, errors too")


def add_session(parser: argparse.ArgumentParser) -> None:
    """``--session-id`` and ``--session-key``."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--session-id", metavar="ID", help="session, as the harness names it")
    group.add_argument("--session-key", metavar="KEY", help="session, by the key that `status` prints")


def add_topic(parser: argparse.ArgumentParser) -> None:
    """``--topic``."""
    offer_topics(
        parser.add_argument(
            "--topic", metavar="TOPIC", help="topic (default: the session's, else the pointer's)"
        )
    )


def offer_topics(action: argparse.Action) -> None:
    """Let completion offer the named topics of the workspace around it."""
    offer_lines(action, ",agent-memory list --names")


def open_state(args: argparse.Namespace, console: Console) -> State:
    """State of the workspace that ``args`` and the environment name; its directory is safe or absent."""
    workspace = places.workspace_of_command(args.workspace, console.env, console.cwd)
    state = State.of(console.env, workspace, hook=False)
    state.exists()
    notice = places.root_notice(state.root)
    if notice is not None:
        console.err(f",agent-memory: {notice}")
    return state


def session_of(args: argparse.Namespace, env: Mapping[str, str], *, routed: bool) -> tuple[str | None, str]:
    """Key and id (may be "") of the session; (None, "") when none is named.

    With ``routed`` a sub-agent of Copilot acts for its parent (``COPILOT_AGENT_SESSION_ID``).
    """
    parent = env.get(PARENT_SESSION, "")
    if routed and parent:
        return places.session_key(parent), parent
    if args.session_key is not None:
        if not places.is_session_key(args.session_key):
            raise UsageError(
                f"--session-key {args.session_key!r} is no session key; nothing was changed",
                "`,agent-memory status --session-id ID` prints it",
            )
        return args.session_key, ""
    if args.session_id is None:
        return None, ""
    if not args.session_id:
        raise UsageError("--session-id needs the id of a session; nothing was changed")
    return places.session_key(args.session_id), args.session_id


def find(args: argparse.Namespace, console: Console, *, routed: bool = False, sync: bool = True) -> Target:
    """Resolve workspace, session and topic, carry out what was left unfinished, and (``sync``) bring
    the mirror up to date."""
    state = open_state(args, console)
    mirror = Mirror.of(state, console.env, hook=False)
    key, session_id = session_of(args, console.env, routed=routed)
    named = getattr(args, "topic", None)
    if named is not None and not places.is_bucket_name(named):
        places.safe_topic(named)
    moves.recover(state, mirror)
    if sync:
        sync_mirror(mirror, console)
    target = Target(state, mirror, key, session_id, named)
    target.resolve()
    return target


def sync_mirror(mirror: Mirror | None, console: Console) -> None:
    """Bring directory and mirror together; a mirror that cannot be written is a warning, no failure. What
    one command does twice is said once."""
    if mirror is None:
        return
    try:
        errors = mirror.sync(console.now().timestamp(), timeout=LOCK_SECONDS).errors
    except (SuiteError, OSError) as error:
        errors = [str(error)]
    for error_text in errors:
        if error_text in mirror.told:
            continue
        mirror.told.add(error_text)
        warn(console, f"the mirror could not be brought up to date: {error_text}")


def warn(console: Console, message: str) -> None:
    """One line on stderr."""
    console.err(f",agent-memory: warning: {line(message)}")


def line(text: str) -> str:
    """``text`` on one line of a terminal; backslashes as they are."""
    return inert.terminal(" ".join(text.split()).replace("\\", "\0")).replace("\\u0000", "\\")


def lines(text: str) -> str:
    """``text`` for a terminal with its line breaks and tabs; other controls escaped."""
    return "\n".join(
        "\t".join(
            inert.terminal(part.replace("\\", "\0")).replace("\\u0000", "\\") for part in row.split("\t")
        )
        for row in text.replace("\r\n", "\n").split("\n")
    )


def moment(now: datetime) -> str:
    """``now`` for the separator between merged specs."""
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def count(number: int, what: str, many: str = "") -> str:
    """``1 event``, ``2 events``; ``many`` where an s is not enough."""
    return f"{number} {what if number == 1 else many or what + 's'}"


def warn_pending(flush: queue.FlushResult, console: Console) -> None:
    """Say what a flush left behind."""
    if flush.pending:
        warn(console, f"{count(flush.pending, 'event')} not recorded yet; see `,agent-memory doctor`")
    for error in flush.errors:
        warn(console, error)


def drain(state: State, console: Console) -> None:
    """Record what waits in the spool, so that what happened before this command comes before it."""
    waiting = recorder.settle(state, timeout=LOCK_SECONDS, drain_only=True)
    for error in waiting.errors:
        warn(console, error)
