#!/usr/bin/env python3
"""Every prompt: what both stores know that fits it, and what to do when it corrects the agent.

    perturn_recall.py --harness claude|codex|gemini|copilot|cursor|opencode  < payload

Injects at most 3 capsules (5 at ``AI_AGENT_DEPTH=deep``, none at ``fast``) as inert data, each once
per session, and mostly nothing. A prompt that reproaches the agent for its conduct gets a directive to
note an ``anti_pattern``; nothing is written by itself. Prompts that are not the user's (results of
background agents, sub-agents' tasks) trigger neither. For Gemini the context of the session's start rides
on its first prompt.

Fails open and silently for the agent: 6 s (9 at ``deep``) after its start it gives up, and says so on
stderr and in the error ledger. At most three git processes, none at ``fast``. "Hook memory, Runtime recall
wiring".
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks._entry import Call

NAME = "perturn_recall"
PROMPT = "UserPromptSubmit"
# After the deadline of everything that knows one: what hangs elsewhere (a pipe in place of a file).
_GRACE = 0.5

DIRECTIVE = """\
### Correction ({signal})
The user's message reads like a correction of your conduct. First do what it asks. If the correction is
genuine, note what to avoid, in one sentence:
{note}
Use `,ai-kb remember` for it only after you have verified it. If it is no correction, ignore this."""


def work(call: Call) -> str:
    """The context beside a prompt; "" for nothing to say."""
    if call.event.event not in ("", PROMPT):
        return ""
    parts: list[object] = []
    if call.client == "gemini":
        parts.append(call.attempt("the start context", lambda: _start_context(call)))
    if call.event.prompt_is_users and not _is_off(call):
        parts.append(call.attempt("corrections", lambda: _directive(call)))
        parts.append(call.attempt("recall", lambda: _recall(call)))
    return "\n\n".join(part for part in parts if isinstance(part, str) and part)


def _start_context(call: Call) -> str:
    from hooks.session_context import start_context_for_first_prompt

    return start_context_for_first_prompt(call)


def _key(call: Call) -> str:
    """Key of the session, "" when the payload names none."""
    if not call.event.session_id:
        return ""
    from agent_memory.workspace import session_key

    return session_key(call.event.session_id)


def _topic(call: Call) -> str:
    key = _key(call)
    return (call.state.topic_of_session(key) if key else call.state.topic_of_nobody())[0]


def _is_off(call: Call) -> bool:
    from agent_memory.cleanroom import injection_off

    call.state.exists()  # an unsafe directory is refused before anything in it is believed
    return bool(injection_off(call.state, call.env, _topic(call)))


def _directive(call: Call) -> str:
    """What to do about a correction, once per prompt."""
    from agent_memory.corrections import detect

    signal = detect(call.event.prompt)
    if signal is None or call.attempt("corrections", lambda: _first_time(call)) is False:
        return ""
    from agent_memory.layout import Commands

    commands = Commands(call.state.workspace, call.event.session_id)
    return DIRECTIVE.format(signal=signal, note=commands.memory("note", "anti_pattern", "TEXT"))


def _first_time(call: Call) -> bool:
    """Whether this prompt was not delivered just now under another name."""
    key = _key(call)
    if not key:
        return True
    from agent_base.digests import sha256_hex
    from ai_kb.seen import Seen

    mark = sha256_hex(call.event.prompt.encode("utf-8", "replace"))[:16]
    call.state.ensure()
    with Seen(call.state.spec_dir, key, timeout=1.0) as seen:
        return seen.first_time(mark, call.now)


def _recall(call: Call) -> str:
    from ai_kb import injection

    depth = injection.depth_of(call.env)
    if depth == injection.FAST or _is_review(call):
        return ""
    call.state.ensure()
    lines = injection.recall_for_prompt(injection.where_of(call, depth), call.event.prompt, depth)
    if not lines:
        return ""
    from ai_kb.inject_text import block

    return block(lines)


def _is_review(call: Call) -> bool:
    """Whether the session reviews: what was learned before would bias it."""
    from agent_memory.cleanroom import is_review

    topic = _topic(call)
    return is_review(topic, call.state.read_spec(topic))


def limit() -> float:
    """Seconds after which the hook gives up."""
    from ai_kb.injection import DEADLINE, depth_of

    return DEADLINE[depth_of(os.environ)] + _GRACE


def main() -> int:
    """Run the hook; always 0."""
    import gc

    gc.disable()  # it ends before there is anything to collect: 2 ms of every prompt
    try:
        from hooks import _entry
    except ImportError as error:  # half an installation must not break the agent either
        if sys.stderr is not None and "gemini" not in " ".join(sys.argv):
            sys.stderr.write(f"[agent-memory] {NAME}: {error}\n")
        return 0
    code = _entry.main(NAME, work, limit)
    if sys.flags.no_site:
        # Started by its launcher (-S): all is written and closed, and taking modules apart costs 3 ms.
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
