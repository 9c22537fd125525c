"""What the installer did, so that it can be undone to the byte: ``install.json``.

For every file: what it held before the suite came (kept below ``originals``), the digest of what
was written, and whose it is. Losing the manifest loses exactness, not the ability to uninstall:
entries and own files are recognised by their marker as well.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any

from agent_base.errors import SuiteError
from agent_base.files import ensure_private_dir, read_private, write_atomic

NAME = "install.json"
ORIGINALS = "originals"
VERSION = 1


def digest(data: bytes) -> str:
    """How content is named."""
    return hashlib.sha256(data).hexdigest()


@dataclass
class Entry:
    """One file the installer wrote.

    Attributes:
        owner: ``launcher``, ``completion``, ``skill`` or ``harness:NAME``.
        installed: digest of what was written.
        original: digest of what was there before, None when there was no file.
        mode: permission bits before, 0 when there was no file.
        kept: containers for hooks that the user's file had before: ``json_edit.shape``.
        backup: digest of the backup beside it that the installer made, if any.
    """

    owner: str
    installed: str
    original: str | None = None
    mode: int = 0
    kept: dict[str, str] = field(default_factory=dict)
    backup: str | None = None


def _entry(stored: dict[str, Any]) -> Entry:
    """An entry as stored; version 0.1.0 named events (and ``""`` for ``hooks``) in ``kept``."""
    kept = stored.get("kept", {})
    if isinstance(kept, list):
        kept = {f"hooks.{name}" if name else "hooks": "" for name in kept}
    return Entry(**{**stored, "kept": dict(kept)})


@dataclass
class Manifest:
    """Everything that was installed, by path."""

    directory: str
    files: dict[str, Entry] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    skill: bool = False

    @classmethod
    def load(cls, directory: str) -> Manifest:
        """The manifest below ``directory``; an empty one when there is none.

        Raises:
            SuiteError: it is damaged.
        """
        path = os.path.join(directory, NAME)
        try:
            data = read_private(path)
        except FileNotFoundError:
            return cls(directory)
        try:
            value: dict[str, Any] = json.loads(data)
            files = {name: _entry(entry) for name, entry in value["files"].items()}
            return cls(directory, files, [str(made) for made in value["made"]], bool(value["skill"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SuiteError(
                f"{path} is damaged ({error}); nothing was changed",
                f"remove it: entries are then recognised by their marker alone: rm {path}",
            ) from error

    def to_bytes(self) -> bytes:
        """As stored."""
        value = {
            "version": VERSION,
            "files": {name: asdict(entry) for name, entry in sorted(self.files.items())},
            "made": self.made,
            "skill": self.skill,
        }
        return (json.dumps(value, indent=1) + "\n").encode()

    def save(self) -> None:
        """Write it, unless it says the same already."""
        ensure_private_dir(self.directory)
        path = os.path.join(self.directory, NAME)
        data = self.to_bytes()
        try:
            if read_private(path) == data:
                return
        except FileNotFoundError:
            pass
        write_atomic(path, data)

    def keep_original(self, data: bytes) -> str:
        """Store what a file held before; gives its digest."""
        name = digest(data)
        directory = os.path.join(self.directory, ORIGINALS)
        path = os.path.join(directory, name)
        if not os.path.exists(path):
            ensure_private_dir(directory, self.directory)
            write_atomic(path, data)
        return name

    def original(self, entry: Entry) -> bytes | None:
        """What the file held before.

        Raises:
            FileNotFoundError: it held something, and that is no longer stored.
        """
        if entry.original is None:
            return None
        data = read_private(os.path.join(self.directory, ORIGINALS, entry.original))
        if digest(data) != entry.original:
            raise FileNotFoundError(entry.original)
        return data
