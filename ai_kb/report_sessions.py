"""What a report says of sessions: what was injected when, and what failed meanwhile.

From the seen state (``.recall-seen-<session key>.json``) and the error ledger of one workspace's spec
directory. Both forget: a seen state goes seven days after its session, the ledger is bounded. Nothing is
changed, and a file that another user could have written is a problem of the report, never believed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_base.errors import SuiteError
from agent_memory import ledger
from agent_memory import workspace as places
from agent_memory.topics import State
from ai_kb import inject_text, report_time, seen
from ai_kb import report_data as data
from ai_kb.report_data import Injection, LedgerEntry, Problem, SessionInfo

_PREFIX, _SUFFIX = ".recall-seen-", ".json"


@dataclass(frozen=True, slots=True)
class Injected:
    """Into how many sessions a capsule was injected, and when last (seconds; 0: not known)."""

    sessions: int = 0
    last: float = 0.0


@dataclass(frozen=True, slots=True)
class Session:
    """A session's seen state: (id, seconds, still in its context), newest first; 0: not known when."""

    session_key: str
    topic: str
    changed_at: float
    injections: tuple[tuple[str, float, bool], ...]

    def named(self, titles: Mapping[str, str]) -> SessionInfo:
        """As the report says it; ``titles`` of the capsules at hand."""
        shown = tuple(
            Injection(
                memory_id[: data.TEXT],
                inject_text.shorten(titles.get(memory_id, ""), data.TITLE),
                report_time.stamp(at),
                in_context,
            )
            for memory_id, at, in_context in self.injections[: data.IN_SESSION]
        )
        return SessionInfo(
            session_key=self.session_key,
            topic=self.topic,
            changed_at=report_time.stamp(self.changed_at),
            in_context=sum(in_context for _, _, in_context in self.injections),
            injections=shown,
            injections_total=len(self.injections),
        )


@dataclass(frozen=True, slots=True)
class Sessions:
    """Everything of one workspace. ``injected`` by capsule; sessions and ledger newest first."""

    sessions: tuple[Session, ...] = ()
    injected: Mapping[str, Injected] = field(default_factory=dict)
    ledger: tuple[LedgerEntry, ...] = ()


def read_sessions(state: State, env: Mapping[str, str], problems: list[Problem]) -> Sessions:
    """What the spec directory of ``state`` says; what cannot be believed goes to ``problems``."""
    try:
        there = state.exists()
    except SuiteError as error:
        problems.append(Problem("session memory", error.message, error.hint))
        there = False
    sessions = _sessions(state, problems) if there else []
    entries: list[ledger.Entry] = []
    if there:
        try:
            entries = ledger.entries(state.spec_dir)
        except SuiteError as error:
            problems.append(Problem("error ledger", error.message, error.hint))
    dispatcher = ledger.dispatcher_error(env)
    if dispatcher is not None:
        entries.append(dispatcher)
    failures = sorted((_entry(entry) for entry in entries), key=lambda entry: entry.at, reverse=True)
    return Sessions(tuple(sessions), _by_capsule(sessions), tuple(failures))


def _sessions(state: State, problems: list[Problem]) -> list[Session]:
    found: list[Session] = []
    for name in state.names():
        key = name[len(_PREFIX) : -len(_SUFFIX)]
        if not (name.startswith(_PREFIX) and name.endswith(_SUFFIX) and places.is_session_key(key)):
            continue
        try:
            session = _session(state, key)
        except FileNotFoundError:  # cleaned up just now
            continue
        except SuiteError as error:
            problems.append(Problem("seen state", error.message, error.hint))
            continue
        if session.injections:
            found.append(session)
    return sorted(found, key=lambda session: (-session.changed_at, session.session_key))


def _session(state: State, key: str) -> Session:
    now = seen.seen_ids(state.spec_dir, key)
    timed = seen.injections(state.spec_dir, key)
    latest = {memory_id: number for number, (memory_id, _) in enumerate(timed)}
    before = [(memory_id, 0.0, True) for memory_id in now if memory_id not in latest]
    since = [
        (memory_id, at, memory_id in now and latest[memory_id] == number)
        for number, (memory_id, at) in enumerate(timed)
    ]
    changed_at = os.lstat(seen.state_path(state.spec_dir, key)).st_mtime
    topic = state.binding(key) or ""
    return Session(key, topic, changed_at, tuple([*before, *since][::-1]))


def _by_capsule(sessions: list[Session]) -> dict[str, Injected]:
    found: dict[str, Injected] = {}
    for session in sessions:
        last: dict[str, float] = {}
        for memory_id, at, _ in session.injections:
            last[memory_id] = max(at, last.get(memory_id, 0.0))
        for memory_id, at in last.items():
            old = found.get(memory_id, Injected())
            found[memory_id] = Injected(old.sessions + 1, max(old.last, at))
    return found


def _entry(entry: ledger.Entry) -> LedgerEntry:
    def text(name: str, limit: int = 100) -> str:
        value = entry.get(name)
        return value[:limit] if isinstance(value, str) else ""

    kind = text("kind")
    return LedgerEntry(
        at=text("ts"),
        kind=kind,
        session_key=text("session_key"),
        message=text("message", ledger.MESSAGE_LIMIT),
        resolved=bool(entry.get("resolved")),
        injecting=kind in ledger.INJECTION,
    )
