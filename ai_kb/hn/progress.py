"""Progress of what takes over a second, on stderr: a line that rewrites itself on a terminal."""

from __future__ import annotations

import time
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

_QUIET_SECONDS = 1.0
_BETWEEN_SECONDS = 0.25


class Progress:
    """Called with a label, done and total; silent for the first second. ``close`` ends the line.

    On a terminal the line is replaced; elsewhere (``--progress``) every report is a line of its own.
    """

    def __init__(self, stream: IO[str], *, terminal: bool) -> None:
        self._stream = stream
        self._terminal = terminal
        self._next = time.monotonic() + _QUIET_SECONDS
        self._shown = 0

    def __call__(self, label: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _BETWEEN_SECONDS
        text = f"{label}: {done:,} of {total:,}"
        if self._terminal:
            self._stream.write("\r" + text.ljust(self._shown))
            self._shown = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Leave an empty line behind on a terminal."""
        if self._shown:
            self._stream.write("\r" + " " * self._shown + "\r")
            self._stream.flush()
            self._shown = 0


_watching: list[Progress] = []


def listener() -> Progress | None:
    """Who is shown the progress of this process's long work, if anybody is (``shown``)."""
    return _watching[-1] if _watching else None


@contextmanager
def shown(stream: IO[str], *, terminal: bool) -> Iterator[Progress]:
    """Make a ``Progress`` on ``stream`` the listener while the block runs; its line is cleared at the end.

    For the outermost layer of a command, which alone knows whether a person is looking.
    """
    progress = Progress(stream, terminal=terminal)
    _watching.append(progress)
    try:
        yield progress
    finally:
        _watching.remove(progress)
        progress.close()
