#!/usr/bin/env python3
"""Which correction signal a prompt gives: reads a payload (or plain text) on stdin, prints JSON.

``perturn_recall.py`` calls ``agent_memory.corrections.detect`` itself; this entry point is for
harness adapters and for people who want to know why a directive appeared:

    echo "you forgot the tests" | correction_detector.py     → {"signal":"omission-correction"}

Never writes, never fails: what is not understood, a prompt that is not the user's, and one that takes
too long give ``{"signal":null}``, exit 0.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

NO_SIGNAL = '{"signal":null}\n'


def answer(stdin: bytes, argv: list[str]) -> str:
    """``{"signal": …}``: one of ``corrections.SIGNALS``, or null."""
    from agent_memory.corrections import detect

    signal = detect(_prompt(stdin, argv))
    return NO_SIGNAL if signal is None else f'{{"signal":"{signal}"}}\n'


def _prompt(stdin: bytes, argv: list[str]) -> str:
    """What the user wrote according to a payload, or the text itself when it is no payload."""
    from agent_memory.payload import normalise
    from hooks import _entry

    harness, name = _entry.options(argv)
    event = normalise(stdin, harness or None, name or None)
    if not event.raw_ok:
        return stdin.decode("utf-8", "replace")
    return event.prompt if event.prompt_is_users else ""


def _say(text: str) -> None:
    try:
        os.write(1, text.encode())
    except OSError:
        pass


def main() -> int:
    """Answer for the process's stdin; always 0."""
    out, watch = NO_SIGNAL, None
    try:
        from hooks import _entry

        watch = _entry.Watch(_entry.LIMIT, lambda: _say(NO_SIGNAL))
        out = answer(_entry.read_stdin(), sys.argv[1:])
    except Exception:  # noqa: BLE001, S110 - fail open: the hooks' wrapper
        pass
    if watch is not None:
        watch.answer()
    _say(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
