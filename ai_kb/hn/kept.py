"""``index-v0.json`` kept in step by reading commands, without making or even reading it each time.

Beside the private index stands one small note: what the last ``index-v0.json`` was made for, its
SHA-256, and what ``stat`` said of it. While these hold, the file is what it should be. A stat counts only
when the file had been left alone for a while before the note was taken: within one tick of the file
system's clock a change may not show. Where no note can be kept, the file is made each time.
"""

from __future__ import annotations

import os

from agent_base.digests import sha256_hex
from agent_base.errors import SuiteError
from agent_base.files import read_private, write_atomic
from ai_kb.hn.index_file import file_digest, index_file, prepare_directory, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ai_kb.hn.cache_index import Index

_LIMIT = 4096
# Nanoseconds; file systems exist that tell times to two seconds.
_SETTLED = 2_100_000_000


def keep(index: Index, git_dir: str, subject: str, path: str) -> None:
    """Have the ``index-v0.json`` of ``git_dir`` be that of ``index``, ``subject`` and ``path``.

    Raises InvalidIndex when its directory is unsafe or the file cannot be replaced.
    """
    prepare_directory(git_dir)
    key = _key(index, git_dir, subject, path)
    note = index.path + ".kept" if index.path else ""
    if note:
        noted_key, noted_digest, noted_stat, noted_at = _noted(note)
        stat, changed_at = _stat(git_dir)
        if noted_key == key and stat and noted_stat == stat and noted_at - changed_at > _SETTLED:
            return
        if noted_key == key and noted_digest == file_digest(git_dir):
            _take_note(note, key, noted_digest, stat)
            return
    from ai_kb.hn.index import export

    digest = write(git_dir, export(index, subject, path))
    if note:
        _take_note(note, key, digest, _stat(git_dir)[0])


def _take_note(note: str, key: str, digest: str, stat: str) -> None:
    try:
        write_atomic(note, f"{key} {digest} {stat}".encode(), durable=False)
    except OSError:
        return  # looked at again next time


def _stat(git_dir: str) -> tuple[str, int]:
    """(what tells one state of the file from another, when it last changed); "" where there is no file."""
    try:
        status = os.lstat(index_file(git_dir))
    except OSError:
        return "", 0
    parts = (status.st_ino, status.st_size, status.st_mode, status.st_mtime_ns, status.st_ctime_ns)
    return ":".join(map(str, parts)), max(status.st_mtime_ns, status.st_ctime_ns)


def _key(index: Index, git_dir: str, subject: str, path: str) -> str:
    parts = (str(index.change), git_dir, index.at_commit, index.fingerprint, subject, path)
    return sha256_hex("\0".join(parts).encode("utf-8", "surrogateescape"))


def _noted(path: str) -> tuple[str, str, str, int]:
    """(key, digest, stat, when it was noted); empty where there is no note."""
    try:
        key, digest, stat = read_private(path, _LIMIT).decode("ascii", "replace").split(" ")
        return key, digest, stat, os.lstat(path).st_mtime_ns
    except (OSError, SuiteError, ValueError):
        return "", "", "", 0
