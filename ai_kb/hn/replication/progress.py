"""What git says of a transfer's progress, for a person.

The lines come from git and, behind ``remote:``, from the other side: they are parsed by GitPython, and
only the name of the phase, which is git's own, and its numbers are shown.
"""

from __future__ import annotations

from git import RemoteProgress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LABELS = {
    RemoteProgress.COUNTING: "counting objects",
    RemoteProgress.COMPRESSING: "compressing objects",
    RemoteProgress.WRITING: "sending objects",
    RemoteProgress.RECEIVING: "receiving objects",
    RemoteProgress.RESOLVING: "resolving deltas",
    RemoteProgress.FINDING_SOURCES: "finding sources",
}
_LONGEST_LINE = 1 << 12


class TransferProgress(RemoteProgress):
    """Takes stderr of git in pieces (``feed``) and calls ``show`` with label, done and total."""

    __slots__ = ("_rest", "_show")

    def __init__(self, show: Callable[[str, int, int], None]) -> None:
        super().__init__()
        self._show = show
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """One piece of stderr; lines end with a line break or a carriage return."""
        *lines, self._rest = (self._rest + data).replace(b"\r", b"\n").split(b"\n")
        self._rest = self._rest[-_LONGEST_LINE:]
        handle = self.new_message_handler()
        for line in lines:
            handle(line[:_LONGEST_LINE].decode("utf-8", "replace"))
        self.other_lines.clear()
        self.error_lines.clear()

    def update(
        self,
        op_code: int,
        cur_count: str | float,
        max_count: str | float | None = None,
        message: str = "",
    ) -> None:
        """One step, as GitPython understood it."""
        label = _LABELS.get(op_code & self.OP_MASK)
        if label is not None:
            done = int(float(cur_count or 0))
            self._show(label, done, int(float(max_count or done)))
