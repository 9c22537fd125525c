"""From a spooled payload to the worklog, and what commands need of that way.

``Recorder`` takes one spooled event: who and where it is of, whether it came before, then the queue.
``settle`` is what session start, note, select, merge and harvest call first: it drains the spool
and flushes the queues, so that whatever was killed before, every event is in its worklog, once
("Hook memory, Internals").
"""

from __future__ import annotations

import os
import time

from agent_base import options
from agent_base.errors import SuiteError
from agent_memory import duplicates, entries, ledger, locks, payload, queue, spool, upkeep
from agent_memory import workspace as places
from agent_memory.topics import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent_memory.payload import Event

COPILOT_PARENT = "COPILOT_AGENT_SESSION_ID"


def writer_id(event: Event, env: Mapping[str, str]) -> str:
    """Session whose bucket an event is written to: a sub-agent writes to its parent's."""
    return env.get(COPILOT_PARENT, "") or event.parent_id or event.session_id


class Recorder:
    """Records the spooled events of ``root``: the functions that ``spool.drain`` calls.

    ``timeout`` bounds each wait for a lock (None: as long as it takes).
    """

    def __init__(self, root: str, timeout: float | None = None) -> None:
        self._root = root
        self._timeout = timeout
        self._touched: set[str] = set()
        # Sessions of which an event had to stay (and its id): later ones must not overtake it.
        self.stuck: dict[tuple[str, str], set[str]] = {}

    def __call__(self, item: spool.Spooled) -> None:
        """Queue one event. Deferred when that cannot be done now."""
        try:
            self._record(item)
        except (SuiteError, OSError):
            raise
        except Exception as error:  # the hooks fail-open wrapper: one event must not block others
            message = f"an event could not be recorded: {type(error).__name__}: {error}"
            if not self.give_up(item, message):
                raise spool.Deferred(message) from error

    def give_up(self, item: spool.Spooled, why: str) -> bool:
        """Keep an event that cannot be recorded, redacted and bounded, in the ledger of the root, open until
        somebody has seen it. False when that cannot be written either."""
        content = entries.safe(item.payload.decode("utf-8", "replace"), entries.OUTPUT_LIMIT)
        kept = ledger.add(self._root, "unrecorded", why, record={"content": content}, key=item.id)
        if kept:
            for waiting in self.stuck.values():
                waiting.discard(item.id)
        return kept

    def _record(self, item: spool.Spooled) -> None:
        if not item.payload.strip():
            return
        event = _understood(item)
        workspace = places.resolve_workspace(event, item.env, item.cwd or "/")
        root = places.spec_root(item.env, workspace)
        state = State(workspace, places.spec_dir(root, workspace), root)
        writer = writer_id(event, item.env)
        key = places.session_key(writer) if writer else queue.NO_SESSION
        place = (state.spec_dir, key)
        if place in self.stuck:
            self._defer(place, item.id, "an earlier event of its session has to be recorded first")
        try:
            state.ensure()
            self._touched.add(state.spec_dir)
            with locks.activity(state.spec_dir, timeout=self._timeout):
                self._queue(item, event, state, key)
        except (SuiteError, OSError) as error:
            message = f"{state.spec_dir}: {error}"
            ledger.add(self._root, "deferred", message, key=message)
            self._defer(place, item.id, str(error))

    def _defer(self, place: tuple[str, str], worklog_id: str, why: str) -> None:
        self.stuck.setdefault(place, set()).add(worklog_id)
        raise spool.Deferred(why)

    def _queue(self, item: spool.Spooled, event: Event, state: State, key: str) -> None:
        spec_dir = state.spec_dir
        if duplicates.is_duplicate(queue.directory(spec_dir, key), event, item.id, item.time):
            return
        topic = _topic(state, key)
        record = entries.tool_entry(event, ts=item.time, workspace=state.workspace, topic=topic)
        try:
            self._enqueue(spec_dir, key, record, item)
        except queue.QueueFull:
            queue.flush(spec_dir, key, held=True, timeout=self._timeout)
            try:
                self._enqueue(spec_dir, key, record, item)
            except queue.QueueFull as full:
                message = full.message
                if not ledger.add(spec_dir, "refused", message, session_key=key, record=record, key=item.id):
                    raise

    def _enqueue(self, spec_dir: str, key: str, record: entries.Record, item: spool.Spooled) -> None:
        queue.enqueue(spec_dir, key, record, item.id, replay=item.replay, held=True, timeout=self._timeout)

    def flush(self) -> bool:
        """Flush the queues of every workspace that got an event, and clean up now and then. False when that
        has to be done again: as long as the events stay in the spool, the next recorder does it."""
        done = True
        for spec_dir in sorted(self._touched):
            done = not queue.flush(spec_dir, timeout=self._timeout).again and done
            try:
                upkeep.clean_up(spec_dir, time.time(), root=self._root)
            except (SuiteError, OSError) as error:  # what is recorded is recorded, tidy or not
                message = f"cleaning up failed: {error}"
                ledger.add(spec_dir, "deferred", message, key=message)
        return done


def _topic(state: State, key: str) -> str:
    return (state.topic_of_nobody() if key == queue.NO_SESSION else state.topic_of_session(key))[0]


def _understood(item: spool.Spooled) -> Event:
    """The event; a payload that the normaliser trips over is recorded as text all the same."""
    try:
        return payload.normalise(item.payload, item.harness or None, item.event or None)
    except Exception as error:  # noqa: BLE001 - part of the hooks' fail-open wrapper
        event = payload.Event(item.harness)
        event.raw_ok = False
        event.name = event.event = item.event
        event.output = item.payload.decode("utf-8", "replace")
        event.error = f"the payload was not understood ({type(error).__name__})"
        return event


def settle(
    state: State,
    key: str | None = None,
    *,
    timeout: float | None = None,
    budget: float | None = None,
    drain_only: bool = False,
    background: bool = False,
) -> queue.FlushResult:
    """Record what waits in the spool, then flush the queues (of one session, or of all).

    ``timeout`` bounds each wait for a lock: a hook gives half a second, a command more; ``budget`` the
    recording of what waits in the spool, however much that is. The result counts everything of this
    workspace (and session) that is still not in a worklog; with ``background`` (for who must not wait) the
    background flusher is left to try that again.
    """
    recorder = Recorder(state.root, timeout)
    try:
        where = spool.location(state.root)
        drained = spool.drain(
            where, recorder, recorder.flush, timeout=timeout, budget=budget, give_up=recorder.give_up
        )
    except (SuiteError, OSError) as error:
        left, errors = spool.waiting(spool.location(state.root)), [f"the spool cannot be read: {error}"]
    else:
        # Events that wait for somebody else's workspace are none of this one's; when others hold the
        # spool, nobody knows whose they are.
        mine = sum(
            len(ids)
            for (spec_dir, other), ids in recorder.stuck.items()
            if spec_dir == state.spec_dir and key in (None, other)
        )
        unknown = drained.left - sum(map(len, recorder.stuck.values()))
        left = mine + unknown
        errors = drained.errors if left else []
    waiting = queue.FlushResult(0, left, errors)
    result = waiting if drain_only else waiting.plus(queue.flush(state.spec_dir, key, timeout=timeout))
    if background and result.pending:
        start_flusher(state)
    return result


def start_flusher(state: State) -> int:
    """Start the background flusher of a workspace, detached; its process number, 0 when that fails."""
    import sys

    script = os.path.join(os.path.dirname(os.path.dirname(__file__)), "hooks", "worklog_recorder.py")
    arguments = ["--spool", spool.location(state.root), "--flush", state.spec_dir]
    null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    try:
        return os.posix_spawn(
            sys.executable, [sys.executable, "-I", "-S", script, *arguments], {}, file_actions=null
        )
    except OSError:
        return 0


def run(argv: Sequence[str], *, env: Mapping[str, str], cwd: str, stdin: bytes | None) -> str:
    """The recorder as a program; the line for stderr, or "".

    ``--spool DIR``: record what is there (the dispatcher's way). ``--flush DIR``: (then) be the
    background flusher of a spec directory. Neither: ``stdin`` is a payload; spool it, then record.
    """
    given, flush, harness, name = options.read(argv, "--spool", "--flush", "--harness", "--event")
    directory = given
    if not given and not flush:
        event = payload.normalise(stdin or b"", harness or None, name or None)
        workspace = places.resolve_workspace(event, env, cwd)
        directory = spool.location(places.spec_root(env, workspace))
        spool.put(directory, stdin or b"", harness=harness, event=name, cwd=cwd, env=env)
    errors = _drain(directory) if directory else []
    if flush:
        queue.run_flusher(flush)
    return errors[0] if errors and not given else ""


def _drain(directory: str) -> list[str]:
    recorder = Recorder(os.path.dirname(directory))
    return spool.drain(directory, recorder, recorder.flush, give_up=recorder.give_up).errors
