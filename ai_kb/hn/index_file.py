"""The file ``<git-dir>/hn/memory/index-v0.json``: private, whole, and believed only when it is exactly right.

``verify`` fails closed: on a directory or file that others could touch, on bytes that are not the
one encoding of a valid index, and on an index of other sources, another policy or another
projection. It never repairs; ``write`` replaces the file.

memory-v0, "Disposable local index".
"""

from __future__ import annotations

import os
import stat

from agent_base.shell import word
from ai_kb.hn.errors import HnError, InvalidIndex, StaleIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ai_kb.hn.cache_index import Index

NAME = "index-v0.json"
MAX_BYTES = 256 << 20
_DIRECTORY_MODE = 0o700
_FILE_MODE = 0o600

_TOP_FIELDS = ("version", "sourceFingerprint", "records", "tokens")
_ROW_FIELDS = frozenset(
    {
        "id",
        "stream",
        "actor",
        "signedTimestamp",
        "kind",
        "contentDigest",
        "anchor",
        "signature",
        "lifecycle",
        "challengers",
        "successors",
        "retractions",
        "applicability",
        "evidence",
        "evidenceDetails",
        "dependencies",
        "trust",
        "data",
    }
)
_DATA_LISTS = ("topics", "evidence")


class IndexTooLarge(HnError):
    """The index would be larger than the protocol allows; the old one was left alone."""

    code = "index-too-large"


def index_file(git_dir: str) -> str:
    """Path of the index in a Git directory."""
    return os.path.join(git_dir, "hn", "memory", NAME)


# --- write --------------------------------------------------------------------------------------


def prepare_directory(git_dir: str) -> str:
    """Make ``hn`` and ``hn/memory`` owner-only; gives the latter. Raises InvalidIndex when they are not."""
    directory = git_dir
    for name in ("hn", "memory"):
        directory = os.path.join(directory, name)
        try:
            os.mkdir(directory, _DIRECTORY_MODE)
            os.chmod(directory, _DIRECTORY_MODE)  # whatever the umask, and without its parent's set-group-id
        except FileExistsError:
            pass
        except OSError as error:
            raise InvalidIndex(f"prepare private memory index directory: {error.strerror}") from error
        if not _is_private_directory(directory):
            raise InvalidIndex(
                f"prepare private memory index directory: private identity directory {directory}"
                " has unsafe permissions",
                _remedy(directory),
            )
    return directory


def _is_private_directory(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and stat.S_IMODE(status.st_mode) == _DIRECTORY_MODE
        and status.st_uid == os.geteuid()
    )


def _remedy(path: str) -> str:
    """What makes ``path`` a private directory."""
    if os.path.islink(path) or not os.path.isdir(path):
        return "it must be a directory of its own: move what is there away"
    return f"chmod 700 {word(path)}, if it is yours"


def write(git_dir: str, pieces: Iterable[bytes]) -> str:
    """Replace the index by ``pieces``, whole or not at all; gives the SHA-256 of the new file.

    Raises IndexTooLarge over 256 MiB, InvalidIndex when directory or file cannot be made.
    """
    import hashlib

    directory = prepare_directory(git_dir)
    path = os.path.join(directory, NAME)
    temporary = os.path.join(directory, f".hn-private-{os.getpid()}")
    digest = hashlib.sha256()
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(temporary, flags, _FILE_MODE), "wb", 1 << 20) as file:
            os.fchmod(file.fileno(), _FILE_MODE)
            size = 0
            for piece in pieces:
                size += len(piece)
                if size > MAX_BYTES:
                    raise IndexTooLarge(
                        f"{NAME} would exceed {MAX_BYTES} bytes; the old one was left alone",
                        "queries do not need it: `recall` and `grep` work without",
                    )
                digest.update(piece)
                file.write(piece)
        os.replace(temporary, path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidIndex(f"write private memory index: rename {temporary} {path}: {reason}") from error
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)
    return digest.hexdigest()


def file_digest(git_dir: str) -> str:
    """SHA-256 of the index as it is, "" where there is none that may be read."""
    import hashlib

    try:
        return hashlib.sha256(_read(git_dir)).hexdigest()
    except InvalidIndex:
        return ""


# --- read ---------------------------------------------------------------------------------------


def _corrupt(what: str) -> InvalidIndex:
    return InvalidIndex(f"memory index corrupt: {what}", "run `hn memory index rebuild`")


def _read(git_dir: str) -> bytes:
    """The bytes of a private index file. Raises InvalidIndex."""
    path = index_file(git_dir)
    for directory in (os.path.dirname(os.path.dirname(path)), os.path.dirname(path)):
        if os.path.lexists(directory) and not _is_private_directory(directory):
            raise _corrupt("private cache directory is unsafe")
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise InvalidIndex("memory index missing", "run `hn memory index rebuild`") from None
    except OSError as error:
        raise _corrupt("private cache cannot be read") from error
    if not _is_private_file(fd):
        os.close(fd)
        raise _corrupt("private cache cannot be read")
    with os.fdopen(fd, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise _corrupt("private cache cannot be read")
    return data


def _is_private_file(fd: int) -> bool:
    status = os.fstat(fd)
    return (
        stat.S_ISREG(status.st_mode)
        and stat.S_IMODE(status.st_mode) == _FILE_MODE
        and status.st_uid == os.geteuid()
    )


def _decoded(data: bytes) -> dict[str, object]:
    """The index in ``data``: one JSON value of known fields. Raises InvalidIndex."""
    import json

    try:
        text = data.decode()
        value, end = json.JSONDecoder(object_pairs_hook=_unique).raw_decode(text.lstrip(" \t\r\n"))
    except (ValueError, RecursionError) as error:
        raise _corrupt("invalid JSON") from error
    if text.lstrip(" \t\r\n")[end:].strip(" \t\r\n"):
        raise _corrupt("trailing JSON")
    if not isinstance(value, dict) or not set(_TOP_FIELDS).issuperset(value):
        raise _corrupt("invalid JSON")
    if value.get("version") != 0:
        raise InvalidIndex("memory index incompatible: unsupported version", "run `hn memory index rebuild`")
    if tuple(value) != _TOP_FIELDS:
        raise _corrupt("noncanonical encoding")
    if not _has_shape(value):
        raise _corrupt("invalid JSON")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a field twice")
    return value


def _has_shape(value: dict[str, object]) -> bool:
    """Whether what is read further on is there: rows with their fields, postings of strings."""
    records, tokens = value["records"], value["tokens"]
    if not isinstance(records, list) or not isinstance(tokens, list):
        return False
    for record in records:
        if not isinstance(record, dict) or record.keys() != _ROW_FIELDS or not isinstance(record["id"], str):
            return False
        data = record["data"]
        if not isinstance(data, dict) or not isinstance(data.get("content"), str):
            return False
        for name in _DATA_LISTS:
            entries = data.get(name)
            if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
                return False
    return True


def checked(data: bytes) -> dict[str, object]:
    """The index in ``data``, in its one encoding, with the postings of its records. Raises InvalidIndex."""
    from ai_kb.hn import canonical
    from ai_kb.hn.index import consistent_tokens

    value = _decoded(data)
    try:
        canonical_form = canonical.encode_indented(value) + b"\n"
    except HnError as error:
        raise _corrupt("invalid JSON") from error
    if canonical_form != data:
        raise _corrupt("noncanonical encoding")
    if not consistent_tokens(value):
        raise _corrupt("memory index token posting is inconsistent")
    return value


def verify(index: Index, git_dir: str, progress: Callable[[str, int, int], None] | None = None) -> int:
    """Compare the file with what it should be at the query commit of ``index``; gives its record count.

    1. directories and file are private; there is a file
    2. it is one JSON value with the fields of this version
    3. it is encoded in the one way
    4. its postings are those of its records
    5. its fingerprint is that of the sources and the policy
    6. its records are those of the projection

    Raises InvalidIndex (missing, corrupt, incompatible) or StaleIndex.
    """
    from ai_kb.hn.index import export

    # (1)
    data = _read(git_dir)
    if data == b"".join(export(index, progress=progress)):
        return index.count()
    # (2) (3) (4)
    value = checked(data)
    # (5)
    hint = "run `hn memory index rebuild`"
    if value["sourceFingerprint"] != index.fingerprint:
        raise StaleIndex("memory index stale: source or policy changed", hint)
    # (6)
    raise StaleIndex("memory index stale: derived projection changed", hint)
