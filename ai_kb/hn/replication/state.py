"""Where a repository keeps what replication needs, and that nobody else can change it.

    <git-dir>/hn/replication/            0700
        lock                             held by one sync at a time
        selections/<base64url>.json      what is exchanged with a remote
        quarantine/<transaction>/        bare repositories, gone when the sync ends
        anchors/<transaction>.json       promotions that are not completed
        transactions/<transaction>.json  receipts
    <git-dir>/hn/shallow-gap.json        streams that a shallow boundary cuts

``<git-dir>`` is the directory that all worktrees share, as their refs are. A directory on the way
that is a symlink, somebody else's or writable by others is refused, and nothing in it is used.

docs/protocol.md, "Replication".
"""

from __future__ import annotations

import os
import shutil

from agent_base.files import LockTimeout, check_private, ensure_private_dir, locked
from ai_kb.hn.errors import HnError
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.unsettled import ANCHORS, TRANSACTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

LOCK_SECONDS = 60.0


class ReplicationError(HnError):
    """An exchange, or a phase of one, failed; what it says was not changed was not."""

    code = "replication"


class State:
    """The replication directory of one repository."""

    __slots__ = ("anchors", "gaps", "home", "quarantine", "root", "selections", "transactions")

    def __init__(self, repo: Repository) -> None:
        self.home = os.path.join(repo.common_dir, "hn")
        self.root = os.path.join(self.home, "replication")
        self.anchors = os.path.join(repo.common_dir, ANCHORS)
        self.transactions = os.path.join(repo.common_dir, TRANSACTIONS)
        self.selections = os.path.join(self.root, "selections")
        self.quarantine = os.path.join(self.root, "quarantine")
        self.gaps = os.path.join(self.home, "shallow-gap.json")

    def prepare(self, *names: str) -> None:
        """Make the directories ``names`` (of this object) private, with what is above them.

        Raises UnsafePath where one is not, and changes nothing there.
        """
        ensure_private_dir(self.root, below=self.home)
        for name in names:
            ensure_private_dir(getattr(self, name), below=self.home)

    def check(self) -> None:
        """Raise UnsafePath when a directory that is there is not private. Makes nothing."""
        for path in (self.home, self.root, self.selections):
            try:
                check_private(path, os.lstat(path))
            except FileNotFoundError:
                return

    def lock(self, seconds: float = LOCK_SECONDS) -> AbstractContextManager[object]:
        """Exclusive use of the directory, which was prepared. Raises ReplicationError when it is in use."""
        return _Lock(os.path.join(self.root, "lock"), seconds)


class _Lock:
    """``flock``, whose timeout is this package's error.

    Not ``filelock``: importing it costs 20 ms, a third of all git processes of a sync of one record.
    """

    def __init__(self, path: str, seconds: float) -> None:
        self._lock = locked(path, timeout=seconds)

    def __enter__(self) -> object:
        try:
            return self._lock.__enter__()
        except LockTimeout as error:
            raise ReplicationError(
                "another process is synchronizing this repository; nothing was changed",
                "wait for it to end, then run this again",
            ) from error

    def __exit__(self, *error: object) -> None:
        self._lock.__exit__(*error)


def remove_tree(path: str) -> bool:
    """Remove a directory of this package, symlinks as such; whether nothing is left of it."""
    shutil.rmtree(path, ignore_errors=True)
    return not os.path.lexists(path)
