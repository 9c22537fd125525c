#!/usr/bin/env python3
"""Session start: puts the workspace's memory before the model, once per start.

    session_context.py --harness claude|codex|gemini|copilot|cursor|opencode  < payload

Settles what earlier hooks left behind (a killed merge, the mirror, the queue), then injects the topic
index or the topic's spec, worklog tail and learnings. On ``resume`` only what is new where the client
replays the rest; for Gemini the context rides on the session's first prompt
(``start_context_for_first_prompt``). 8 s after its start it gives up (``_entry.LIMIT``): what it had begun
is finished by the next. "Hook memory, Topic lifecycle"; docs/harnesses.md, rules 3, 6, 13, 14.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_memory.context import StartContext
    from agent_memory.starts import Start
    from hooks._entry import Call

NAME = "session_context"
STARTUP, RESUME, COMPACT = "startup", "resume", "compact"
# On `resume` these put their earlier injections before the model again; Gemini does not replay what
# SessionStart gave, but it does what a prompt gave, and there the start rides on a prompt.
_REPLAYS_STARTS = frozenset({"claude", "codex", "opencode", "gemini"})
# These keep what prompts injected, though not what starts did.
_REPLAYS_PROMPTS = _REPLAYS_STARTS | {"copilot"}
_RIDES_ON_PROMPT = frozenset({"gemini"})
_LOCK_SECONDS = 2.0
_FLUSH_SECONDS = 0.5
_DRAIN_SECONDS = 2.0  # a recorder that was missing for days leaves more than a start can wait for
_WARNINGS_SHOWN = 3


def work(call: Call) -> str:
    """The context of a session start; "" where nothing is to be injected now."""
    source = _source(call)
    if source is None:
        return ""
    call.state.ensure()
    settle(call)
    if not call.event.session_id:
        return _render(call, source, None).text
    from agent_memory.starts import Start
    from agent_memory.workspace import session_key

    with Start(call.state, session_key(call.event.session_id)) as start:
        if start.is_repeat(source, _delivered(call), call.now):
            return ""
        if call.client in _RIDES_ON_PROMPT:
            call.attempt("the note of this start", lambda: start.wait_for_prompt(source))
            return ""
        return _inject(call, source, start)


def start_context_for_first_prompt(call: Call) -> str:
    """The start context of a session whose first prompt this is, where it rides on that; else "".

    To be called by the hook of the prompt, for every prompt: it knows who needs it.
    """
    if call.client not in _RIDES_ON_PROMPT or not call.event.session_id:
        return ""
    from agent_memory.starts import Start
    from agent_memory.workspace import session_key

    call.state.ensure()
    with Start(call.state, session_key(call.event.session_id)) as start:
        if start.problem is not None:  # without a note every prompt would be taken for the first one
            raise start.problem
        if start.happened and not start.waiting:
            return ""
        return _inject(call, start.waiting or STARTUP, start)


def _source(call: Call) -> str | None:
    """Source of the start that the payload tells of, or None when it tells of something else."""
    event = call.event
    if event.event == "PostCompact" and call.client == "opencode":
        return COMPACT
    if event.event not in ("", "SessionStart"):
        return None
    return event.source or STARTUP


def _delivered(call: Call) -> str:
    return f"{call.event.name} {call.harness}"


def settle(call: Call) -> None:
    """Finish what was killed, restore what a reboot took, record what is pending. Each on its own:
    what fails goes to the ledger and the rest goes on."""
    recover_and_mirror(call)
    call.attempt("the queue", lambda: _flush(call))


def recover_and_mirror(call: Call) -> None:
    """The part of ``settle`` that ``spec_mirror`` needs."""
    call.attempt("an unfinished merge or select", lambda: _recover(call))
    call.attempt("the mirror", lambda: _mirror(call))


def _recover(call: Call) -> None:
    from agent_memory.topics import INTENT

    if os.path.lexists(call.state.path(INTENT)):
        from agent_memory import moves
        from agent_memory.mirror import Mirror

        moves.recover(call.state, Mirror.of(call.state, call.env, hook=True), timeout=_LOCK_SECONDS)


def _mirror(call: Call) -> None:
    from agent_memory.mirror import Mirror

    mirror = Mirror.of(call.state, call.env, hook=True)
    if mirror is not None:
        for error in mirror.sync(call.now, timeout=_LOCK_SECONDS).errors:
            call.ledger("hook", f"mirror: {error}")


def _flush(call: Call) -> None:
    from agent_memory import recorder

    recorder.settle(call.state, timeout=_FLUSH_SECONDS, budget=_DRAIN_SECONDS, background=True)


def _inject(call: Call, source: str, start: Start) -> str:
    """Render and note a start while its note is locked."""
    _forget_capsules(call, source, start)
    replayed = source == RESUME and start.happened and call.client in _REPLAYS_STARTS
    context = _render(call, source, start if replayed else None)
    learned = [memory_id for line in context.learnings if (memory_id := _memory_id(line))]

    def note() -> None:
        start.injected(
            source=source,
            delivered=_delivered(call),
            now=call.now,
            topic=context.topic,
            spec=context.spec,
            ids=[*start.ids, *context.ids] if replayed else context.ids,
            learned=[*start.learned, *learned] if replayed else learned,
        )

    if context.text or replayed:  # what was switched off has not been shown
        call.attempt("the note of this start", note)
    return context.text


def _render(call: Call, source: str, since: Start | None) -> StartContext:
    from agent_memory.context import start_context

    return start_context(
        call.state,
        call.event.session_id,
        call.env,
        now=call.now,
        learnings=_learnings(call),
        warnings=lambda: _lines(call.attempt("warnings", lambda: _warnings(call, since))),
        notices=lambda: _notices(call),
        since=since,
    )


def _warnings(call: Call, since: Start | None) -> list[str]:
    """What went wrong while hooks recorded or injected, in a few lines of inert text."""
    from agent_base.inert import json_line
    from agent_memory import ledger, queue
    from agent_memory.entries import timestamp
    from agent_memory.layout import Commands
    from agent_memory.workspace import root_notice

    state = call.state
    entries = [
        *ledger.of_no_workspace(state.root, state.spec_dir, call.env, state.workspace),
        *ledger.open_errors(state.spec_dir),
    ]
    found = [entry for entry in entries
             if since is None or str(entry.get("ts", "")) >= timestamp(since.at)]  # fmt: skip
    waiting = queue.pending(state.spec_dir)
    lines = []
    notice = root_notice(call.state.root)
    if notice is not None and since is None:
        lines.append(f"Note: {notice}.")
    if found or waiting:
        doctor = Commands(call.state.workspace, call.event.session_id).memory("doctor")
        counts = f"errors: {len(found)}, events not recorded yet: {len(waiting)}"
        lines.append(f"Warning: session memory had trouble ({counts}); tell the user and see: {doctor}")
        said = ledger.lines(found, kinds=False)[-_WARNINGS_SHOWN:]
        lines += [
            f"- {json_line(message if len(message) <= 200 else message[:199] + '…')}" for message in said
        ]
    return lines


# ---------------------------------------------------------------- learnings


def _learnings(call: Call) -> Callable[[str, str, int], list[str]]:
    return lambda topic, spec, room: _lines(
        call.attempt("learnings", lambda: _ask_for_learnings(call, topic, spec, room))
    )


def _lines(result: object) -> list[str]:
    """Lines that a part gave, none where it failed."""
    return result if isinstance(result, list) else []


def _ask_for_learnings(call: Call, topic: str, spec: str, room: int) -> list[str]:
    from ai_kb import injection

    return injection.learnings_for_start(call, topic, spec, room)


def _notices(call: Call) -> list[str]:
    """The line that says how many records wait for a person's word, if any do."""
    line = call.attempt("records that wait", lambda: _ask_who_waits(call))
    return [line] if isinstance(line, str) and line else []


def _ask_who_waits(call: Call) -> str:
    from ai_kb import injection

    return injection.waiting_line(call)


def _forget_capsules(call: Call, source: str, start: Start) -> None:
    """Let capsules be shown again whose earlier injection is no longer before the model
    (docs/harnesses.md, rule 6)."""
    if source == COMPACT or (source == RESUME and call.client not in _REPLAYS_PROMPTS):
        gone = None  # all of them
    elif source == RESUME and call.client not in _REPLAYS_STARTS:
        gone = start.learned
    else:
        return
    call.attempt("the capsules seen", lambda: _forget(call, gone))


def _forget(call: Call, ids: list[str] | None) -> None:
    from agent_memory.workspace import session_key
    from ai_kb.seen import Seen, state_path

    key = session_key(call.event.session_id)
    if os.path.lexists(state_path(call.state.spec_dir, key)):
        with Seen(call.state.spec_dir, key, timeout=_LOCK_SECONDS) as seen:
            seen.forget(ids)


def _memory_id(line: str) -> str:
    """Id of the capsule that a line of learnings shows, or ""."""
    from agent_base.lightjson import loads

    if not line.startswith("{"):
        return ""
    try:
        value = loads(line)
    except ValueError:
        return ""
    memory_id = value.get("id") if isinstance(value, dict) else None
    return memory_id if isinstance(memory_id, str) else ""


def main() -> int:
    """Run the hook; always 0."""
    try:
        from hooks import _entry
    except ImportError as error:  # half an installation must not break the agent either
        if sys.stderr is not None and "gemini" not in " ".join(sys.argv):
            sys.stderr.write(f"[agent-memory] {NAME}: {error}\n")
        return 0
    return _entry.main(NAME, work)


if __name__ == "__main__":
    sys.exit(main())
