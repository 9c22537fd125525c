"""``index-v0.json`` kept in step by reading commands, without making it each time.

Beside the private index stands one small file: what the last ``index-v0.json`` was made for, and its
SHA-256. While both still hold, the file is what it should be. Where that cannot be kept, it is
made each time.
"""

from __future__ import annotations

from agent_base.digests import sha256_hex
from agent_base.errors import SuiteError
from agent_base.files import read_private, write_atomic
from ai_kb.hn.index_file import file_digest, prepare_directory, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ai_kb.hn.cache_index import Index

_LIMIT = 4096


def keep(index: Index, git_dir: str, subject: str, path: str) -> None:
    """Have the ``index-v0.json`` of ``git_dir`` be that of ``index``, ``subject`` and ``path``.

    Raises InvalidIndex when its directory is unsafe or the file cannot be replaced.
    """
    prepare_directory(git_dir)
    key = _key(index, git_dir, subject, path)
    note = index.path + ".kept" if index.path else ""
    if note and _noted(note) == f"{key} {file_digest(git_dir)}":
        return
    from ai_kb.hn.index import export

    digest = write(git_dir, export(index, subject, path))
    if note:
        try:
            write_atomic(note, f"{key} {digest}".encode(), durable=False)
        except OSError:
            return  # made again next time


def _key(index: Index, git_dir: str, subject: str, path: str) -> str:
    parts = (str(index.change), git_dir, index.at_commit, index.fingerprint, subject, path)
    return sha256_hex("\0".join(parts).encode("utf-8", "surrogateescape"))


def _noted(path: str) -> str:
    try:
        return read_private(path, _LIMIT).decode("ascii", "replace")
    except (OSError, SuiteError):
        return ""
