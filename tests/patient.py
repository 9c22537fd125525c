"""The hooks as programs, with time: a hook that meets its limit prints nothing, however right it is."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.conftest import PATIENCE, REPOSITORY


def hook(name: str, *argv: str, flags: tuple[str, ...] = ("-I",), before: str = "") -> list[str]:
    """Command line that runs ``hooks/NAME.py`` itself as its program, after its limits were lifted.

    ``before`` is Python that runs first: ``entry``, ``injection`` and ``sys`` are there, and ``hook`` is the
    path of the program.
    """
    path = str(Path(REPOSITORY, "hooks", f"{name}.py"))
    code = (
        f"import sys\nsys.path.insert(0, {str(REPOSITORY)!r})\n"
        "import hooks._entry as entry, ai_kb.injection as injection, ai_kb.hn.cache_refresh as refresh\n"
        f"entry.LIMIT = refresh._IMPATIENT_SECONDS = {PATIENCE}\n"
        f"injection.DEADLINE.update(dict.fromkeys(injection.DEADLINE, {PATIENCE}))\n"
        f"hook = __file__ = sys.argv[0] = {path!r}\n"
        f"{before}\n"
        "exec(compile(open(hook).read(), hook, 'exec'))\n"
    )
    return [sys.executable, *flags, "-c", code, *argv]


# For a program that hangs on purpose: its limit counts from where it hangs, and not from where a slow machine
# began to load it. ``entry`` is ``hooks._entry``; what hangs is made by ``hanging()``.
HANGS = """
import _thread, time
reached = _thread.allocate_lock()
reached.acquire()

class WatchFromThere(entry.Watch):
    __slots__ = ()

    def _wait(self):
        reached.acquire()
        super()._wait()

def hanging():
    reached.release()
    time.sleep(3600)

entry.Watch = WatchFromThere
entry._GRACE = 600.0
"""
