"""The tool-call recorder: from a payload to the worklog, in the background.

``worklog_dispatcher.sh`` starts it with ``--spool DIR``, detached: it records everything that waits
there, in order, and flushes at once. Started without, it records the payload on stdin (read whole,
never echoed). With ``--flush DIR`` it is the background flusher of a spec directory. It always ends
with exit code 0 ("Hook memory, Internals": lifecycle, failure behavior).
"""

import os
import sys

# However long a lock is held or a disk hangs: a recorder that is ended loses nothing.
_LIFETIME = 120


def _detach() -> None:
    """Own session, nothing open that a client waits for, and an end to come."""
    try:
        os.setsid()
    except OSError:
        pass  # it leads a process group already
    os.closerange(3, 64)
    try:
        from _signal import alarm  # type: ignore[import-not-found]  # `signal` brings `enum`
    except ImportError:
        return
    alarm(_LIFETIME)


def main(argv: list[str]) -> int:
    """Run the recorder; 0 whatever happens."""
    background = any(word.startswith(("--spool", "--flush")) for word in argv)
    line = ""
    try:
        os.umask(0o077)
        if background:
            _detach()
        from agent_memory import recorder

        try:
            cwd = os.getcwd()
        except OSError:
            cwd = "/"
        stdin = None
        if not background:
            from hooks import _entry

            stdin = _entry.read_stdin()
        line = recorder.run(argv, env=os.environ, cwd=cwd, stdin=stdin)
    except BaseException as error:  # noqa: BLE001 - fail open: the hooks' wrapper
        line = f"worklog_recorder: {type(error).__name__}: {' '.join(str(error).split())}"
    if line and not background and not any("gemini" in word.lower() for word in argv):
        try:
            os.write(2, f"[agent-memory] {line}\n".encode("utf-8", "replace"))
        except OSError:
            pass
    return 0


if __name__ == "__main__":
    # Isolated mode (-I) puts neither the script's directory nor PYTHONPATH on the path, and without
    # `site` (-S) there are no site-packages: the suite is beside this directory.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    sys.exit(main(sys.argv[1:]))
