#!/usr/bin/env python3
"""Brings a workspace's named topics and its mirror together; prints nothing.

    spec_mirror.py [--harness NAME]  < payload

Session start and the ``,agent-memory`` commands do this too; this entry point is for harnesses and
timers that want it on its own. "Hook memory, Internals" (Reboot survival).
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks._entry import Call

NAME = "spec_mirror"


def work(call: Call) -> str:
    """Finish what was killed and synchronise; the context is always empty."""
    from hooks import session_context

    session_context.recover_and_mirror(call)
    return ""


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
