#!/usr/bin/env python3
"""Which correction signal a prompt gives: reads a payload (or plain text) on stdin, prints JSON.

``perturn_recall.py`` calls ``agent_memory.corrections.detect`` itself; this entry point is for
harness adapters and for people who want to know why a directive appeared:

    echo "you forgot the tests" | correction_detector.py     → {"signal":"omission-correction"}

Never writes, never fails: anything that is not understood gives ``{"signal":null}``, exit 0.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def main() -> int:
    """Print ``{"signal": one of corrections.SIGNALS or null}`` for the prompt on stdin."""
    from agent_memory.corrections import detect

    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    signal = detect(_prompt(text))
    print('{"signal":null}' if signal is None else f'{{"signal":"{signal}"}}')
    return 0


def _prompt(text: str) -> str:
    """The prompt of a payload in any harness's spelling, or the text itself when it is no payload."""
    if not text.lstrip().startswith("{"):
        return text
    import json

    try:
        payload = json.loads(text)
    except ValueError:
        return text
    for name in ("prompt", "userPrompt", "user_prompt", "message"):
        value = payload.get(name) if isinstance(payload, dict) else None
        if isinstance(value, str):
            return value
    return text


if __name__ == "__main__":
    sys.exit(main())
