"""What of both stores reaches a session by itself: gates, relevance, what was seen, inert lines.

For a prompt and for the spec of a topic the same way, in this order:

1. stores: the home store when it is there; the repository's when a person accepted its policy;
2. gate: active, policy-qualified, applicable, with resolved evidence (the index), scope and approval
   (``gates``) — nothing else takes part in the ranking;
3. relevance: mostly nothing is (``relevance``);
4. a fresh look: anchors and evidence asked of Git again, the payload hashed against its id;
5. seen state, locked: what this session has before it is not shown again;
6. lines: one inert line of JSON each, as many as there is room for.

Everything has one deadline. A store that fails contributes nothing and a note for the ledger; nothing
here raises for what a store holds. Standard library only, at most three git processes.
"""

from __future__ import annotations

import time

from agent_base.errors import SuiteError
from ai_kb import inject_text, store_paths
from ai_kb.open_stores import OpenStores, Where, said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    from agent_memory.payload import Event
    from agent_memory.topics import State

    class CallLike(Protocol):
        """What of a hook's call is used (``hooks._entry.Call``)."""

        env: Mapping[str, str]
        now: float
        event: Event

        @property
        def state(self) -> State: ...
        def ledger(self, kind: str, message: str) -> None: ...


FAST, BALANCED, DEEP = "fast", "balanced", "deep"
SHOWN = {FAST: 0, BALANCED: 3, DEEP: 5}  # capsules per prompt
DEADLINE = {FAST: 6.0, BALANCED: 6.0, DEEP: 9.0}  # seconds
SHOWN_AT_START = 3
SHORTEST_PROMPT = 12  # characters
# Of 9,500: heading, warning and footer, and a correction's directive beside them.
_FRAME_UNITS = 2_000


def depth_of(env: Mapping[str, str]) -> str:
    """``AI_AGENT_DEPTH``: ``fast``, ``balanced`` or ``deep``; unset or unknown is ``balanced``."""
    value = env.get("AI_AGENT_DEPTH", "").strip().lower()
    return value if value in SHOWN else BALANCED


class TooLate(SuiteError):
    """The deadline passed before there was anything to show."""

    code = "too-late"


# ---------------------------------------------------------------- entry points


def recall_for_prompt(where: Where, prompt: str, depth: str) -> list[str]:
    """Inert lines for a prompt: at most 3, at depth ``deep`` 5; none at ``fast`` or for a short prompt."""
    limit = SHOWN[depth]
    if limit == 0 or len(prompt.strip()) < SHORTEST_PROMPT:
        return []
    return _lines(where, prompt, limit, depth, room=inject_text.UNITS - _FRAME_UNITS)


def learnings_for_start(call: CallLike, topic: str, spec: str, room: int) -> list[str]:
    """The warning and at most 3 inert lines for a topic, with its spec as the query; ``[]`` for none.

    Args:
        room: UTF-16 units that there are for all lines together.
    """
    where = where_of(call, BALANCED)
    query = f"{topic.replace('-', ' ').replace('_', ' ')}\n{spec}"
    room -= inject_text.units(inject_text.WARNING) + inject_text.units(inject_text.FOOTER) + 2
    lines = _lines(where, query, SHOWN_AT_START, BALANCED, room=room, prose=True)
    return [inject_text.WARNING, *lines, inject_text.FOOTER] if lines else []


def waiting_line(call: CallLike) -> str:
    """One line when records of the repository's store wait for a person's word, else ``""``."""
    where = where_of(call, BALANCED)
    if not store_paths.may_hold_memory(where.workspace):
        return ""
    try:
        with OpenStores(where) as opened:
            count = opened.waiting()
    except (SuiteError, OSError) as error:
        where.note(f"the repository's store: {error}")
        return ""
    if not count:
        return ""
    records, wait, they_are = ("record", "waits", "it is") if count == 1 else ("records", "wait", "they are")
    return (
        f"Note: {count} {records} of this repository's memory {wait} for a person's word before {they_are} "
        "shown here; "
        "tell the user about `,ai-kb policy accept`."
    )


def where_of(call: CallLike, depth: str) -> Where:
    """Where a hook's call recalls: its state, and the deadline of ``depth`` from now on."""
    from agent_memory.workspace import session_key

    session_id = call.event.session_id
    return Where(
        workspace=call.state.workspace,
        spec_dir=call.state.spec_dir,
        session_key=session_key(session_id) if session_id else "",
        env=call.env,
        now=call.now,
        note=lambda text: call.ledger("recall", text),
        deadline=time.monotonic() + DEADLINE[depth],
    )


# ---------------------------------------------------------------- the way of one query


def _lines(where: Where, query: str, limit: int, depth: str, room: int, *, prose: bool = False) -> list[str]:
    with OpenStores(where) as opened:
        try:
            found = opened.relevant(query, limit, prose)
            if time.monotonic() > where.deadline:
                raise TooLate(f"recall took longer than {DEADLINE[depth]:g} s")
            lines = [(memory_id, opened.line(entry, depth)) for memory_id, entry in found]
            return _unseen(where, lines, room)
        except Exception as error:  # noqa: BLE001 - whatever a store holds, the prompt goes on
            where.note(f"nothing was injected: {said(error)}")
            opened.heal(error)
            return []


def _unseen(where: Where, lines: Sequence[tuple[str, str]], room: int) -> list[str]:
    """The lines that this session has not before it, marked as seen; whole ones, as far as they fit."""
    if not lines:
        return []
    if not where.session_key:
        return inject_text.fitting([line for _, line in lines], room)
    from ai_kb.seen import Seen

    wait = max(0.0, where.deadline - time.monotonic())
    with Seen(where.spec_dir, where.session_key, timeout=wait) as seen:
        fresh = [(memory_id, line) for memory_id, line in lines if memory_id not in seen.ids]
        shown = inject_text.fitting([line for _, line in fresh], room)
        seen.add((memory_id for memory_id, _ in fresh[: len(shown)]), where.now)
    return shown
