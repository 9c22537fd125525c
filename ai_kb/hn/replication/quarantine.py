"""A fresh bare repository for what came from a remote and has not been judged yet.

It has the receiver's object format and reads the receiver's objects beside its own, so that a remote
sends what is new and nothing else; nothing of the receiver is ever written through it. What it
holds is reachable from nowhere else, and it is removed when the sync ends, or by the next one.

docs/protocol.md, "Replication" (Sync).
"""

from __future__ import annotations

import os

from agent_base import gitproc
from agent_base.files import DIR_MODE
from ai_kb.hn.gitstore import Repository, git_reason
from ai_kb.hn.replication.state import ReplicationError, State, remove_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ai_kb.hn.gitstore import ObjectReader

PREFIX = "refs/hn/quarantine"


def quarantine_ref(ref: str) -> str:
    """Where the remote's ``refs/hn/memory/…`` or ``refs/hn/actors/…`` is kept in a quarantine."""
    return f"{PREFIX}/{ref.removeprefix('refs/hn/')}"


class Quarantine:
    """One quarantine; a context manager. ``repo`` reads it, ``reader`` is its one ``git cat-file``.

    Args:
        shared: read the receiver's objects too. Not where its history is cut off: there the remote
            must send all of it.
    """

    def __init__(self, state: State, receiver: Repository, name: str, *, shared: bool = True) -> None:
        self.path = os.path.join(state.quarantine, name)
        self.receiver = receiver
        self.shared = shared
        self.repo = Repository(
            git_dir=self.path,
            common_dir=self.path,
            work_tree=None,
            object_format=receiver.object_format,
            env=receiver.env,
        )
        self.reader: ObjectReader = self.repo.objects()

    def __enter__(self) -> Quarantine:
        try:
            self._make()
        except BaseException:
            remove_tree(self.path)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.reader.close()
        remove_tree(self.path)

    def _make(self) -> None:
        os.mkdir(self.path, DIR_MODE)
        status, _, err = gitproc.run(
            ("-c", "init.defaultRefFormat=files"),
            (
                "init",
                "-q",
                "--bare",
                "--template=",
                "--initial-branch=main",
                f"--object-format={self.receiver.object_format}",
                self.path,
            ),
            env=self.receiver.env,
            hook=False,
        )
        if status != 0:
            raise ReplicationError(f"no quarantine could be made: {git_reason(err, status)}")
        if not self.shared:
            return
        # The receiver's accepted and local histories, and only they, are what it offers to have.
        with open(os.path.join(self.path, "config"), "a", encoding="ascii") as config:
            config.write("[core]\n\talternateRefsPrefixes = refs/hn/\n")
        objects = os.fsencode(os.path.join(self.receiver.common_dir, "objects"))
        with open(os.path.join(self.path, "objects", "info", "alternates"), "wb") as file:
            file.write(_quoted(objects) + b"\n")

    def sweep(self) -> None:
        """Remove what an interrupted fetch left half written."""
        packs = os.path.join(self.path, "objects", "pack")
        for name in os.listdir(packs):
            if name.startswith("tmp_"):
                os.unlink(os.path.join(packs, name))

    def restart(self) -> ObjectReader:
        """A reader that also sees what has just been fetched."""
        self.reader.close()
        return self.reader


def _quoted(path: bytes) -> bytes:
    """A path as a line of ``info/alternates``: git unquotes what begins with a double quote."""
    escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'


def clear(state: State) -> None:
    """Remove every quarantine that an interrupted sync left behind. Call it with the lock held."""
    try:
        names = os.listdir(state.quarantine)
    except FileNotFoundError:
        return
    for name in names:
        path = os.path.join(state.quarantine, name)
        if os.path.islink(path) or not os.path.isdir(path):
            os.unlink(path)
        else:
            remove_tree(path)
