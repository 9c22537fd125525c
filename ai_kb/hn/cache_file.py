"""The file of the private index: where it is, whether it may be used, its tables.

One SQLite file per repository below ``$XDG_CACHE_HOME/agent-hook-suite/index``, named by a
digest of the common directory's path. Directories 0700, files 0600, this user's own,
no symlink: anything else is refused and the index is built in memory. A file that
SQLite finds damaged, or of another schema, is removed and built again from Git.

Writers hold a ``flock`` on a file beside it, and change the database in transactions of a
write-ahead log: a killed process leaves the state before or after, never between, and a lost power
supply at worst an older one. A reader sees one state from its first question to its close,
however long that takes, and keeps no writer waiting.

memory-v0, "Disposable local index".
"""

from __future__ import annotations

import os
import time

from agent_base.digests import sha256_hex
from agent_base.env import SUITE, xdg
from agent_base.errors import SuiteError, UnsafePath
from agent_base.files import check_private, ensure_private_dir, locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from sqlite3 import Connection
    from types import ModuleType
    from typing import TypeVar

    T = TypeVar("T")

SCHEMA = 2
# Pages in memory (KiB, negative as SQLite wants it): bounds a reader and a writer.
_READ_CACHE = -8192
_WRITE_CACHE = -32768
_LOG_BYTES = 8 << 20

_TABLES = """
CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1),
    refs TEXT, events TEXT NOT NULL, shallow TEXT NOT NULL, next INTEGER NOT NULL, epoch INTEGER NOT NULL,
    change INTEGER NOT NULL);
INSERT INTO state VALUES (1, NULL, '', '', 0, 0, 0);
CREATE TABLE stream (sid INTEGER PRIMARY KEY, actor TEXT NOT NULL, stream TEXT NOT NULL,
    UNIQUE (actor, stream));
CREATE TABLE source (ref TEXT PRIMARY KEY, sid INTEGER NOT NULL, head TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entry (oid BLOB PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX entry_number ON entry (number);
CREATE TABLE memory (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, sid INTEGER NOT NULL,
    sequence INTEGER NOT NULL, timestamp TEXT NOT NULL, operation TEXT NOT NULL, target BLOB,
    kind TEXT, anchor INTEGER, lifecycle TEXT, evidence TEXT, anchored TEXT,
    content_bytes INTEGER, data_bytes INTEGER, units INTEGER);
CREATE INDEX memory_newest ON memory (timestamp DESC, id) WHERE kind IS NOT NULL;
CREATE INDEX memory_stream ON memory (sid);
CREATE INDEX memory_anchor ON memory (anchor, number) WHERE kind IS NOT NULL;
CREATE INDEX memory_content ON memory (content_bytes) WHERE kind IS NOT NULL;
CREATE INDEX memory_data ON memory (data_bytes) WHERE kind IS NOT NULL;
CREATE TABLE payload (number INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE edge (target BLOB NOT NULL, source INTEGER NOT NULL, PRIMARY KEY (target, source)) WITHOUT ROWID;
CREATE TABLE need (value TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (value, number)) WITHOUT ROWID;
CREATE TABLE missing (value TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE unsettled (number INTEGER PRIMARY KEY);
CREATE TABLE event (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE anchor (number INTEGER PRIMARY KEY, oid TEXT NOT NULL UNIQUE);
CREATE TABLE flag (key TEXT NOT NULL, block INTEGER NOT NULL, bits BLOB NOT NULL, PRIMARY KEY (key, block))
    WITHOUT ROWID;
CREATE TABLE block (block INTEGER PRIMARY KEY);
CREATE TABLE posting (block INTEGER NOT NULL, key TEXT NOT NULL, bits BLOB NOT NULL, PRIMARY KEY (block, key))
    WITHOUT ROWID;
CREATE TABLE policy (digest TEXT PRIMARY KEY, actors TEXT, kinds TEXT) WITHOUT ROWID;
CREATE TABLE context (id INTEGER PRIMARY KEY, oid TEXT NOT NULL UNIQUE, policy TEXT NOT NULL,
    upto INTEGER NOT NULL, epoch INTEGER NOT NULL, used INTEGER NOT NULL);
CREATE TABLE extension (name TEXT PRIMARY KEY, version INTEGER NOT NULL, upto INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE export (key TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
"""


class DamagedIndex(SuiteError):
    """The file is no index of this schema, or SQLite finds it damaged; it can be made again."""

    code = "damaged-index"


def sqlite() -> ModuleType:
    """The SQLite module, without the date adapters that ``import sqlite3`` brings (3 ms)."""
    try:
        import _sqlite3

        if hasattr(_sqlite3, "connect") and hasattr(_sqlite3, "OperationalError"):
            return _sqlite3
    except ImportError:
        pass
    import sqlite3

    return sqlite3


def index_path(common_dir: str, env: Mapping[str, str], workspace: str | None) -> str:
    """Where the index of the repository at ``common_dir`` is kept. ``workspace`` is given by hooks."""
    key = sha256_hex(os.fsencode(os.path.realpath(common_dir)))[:32]
    return os.path.join(xdg(env, "XDG_CACHE_HOME", workspace), SUITE, "index", key + ".sqlite")


# What a row with other types, sizes or numbers than were written can cause, and nothing else should.
GARBAGE = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    AssertionError,
    MemoryError,
)


def is_damage(error: BaseException) -> bool:
    """Whether ``error`` says that the file itself is at fault, and not a lock or the disk.

    SQLite does not notice all damage: a row can hold what was never written. What such values cause is
    damage too; with a file made anew it does not come again, and where it does it is a defect.
    """
    if isinstance(error, DamagedIndex):
        return True
    sqlite3 = sqlite()
    if isinstance(error, sqlite3.OperationalError):
        # A table or column that is not there; no name: text that is no UTF-8, which Python finds.
        return getattr(error, "sqlite_errorname", "SQLITE_ERROR") == "SQLITE_ERROR"
    return isinstance(error, (sqlite3.DatabaseError, *GARBAGE))


def twice(work: Callable[[], T], mend: Callable[[], None]) -> T:
    """``work()``; where it meets a damaged file ``mend()``, and ``work()`` once more."""
    try:
        return work()
    except Exception as error:
        if not is_damage(error):
            raise
    mend()
    return work()


def writer_lock(path: str, timeout: float) -> locked:
    """What a process holds while it changes the index at ``path``. Raises LockTimeout."""
    return locked(path + ".lock", timeout=timeout)


def prepare_directory(path: str) -> None:
    """Make the directory of the index, or raise UnsafePath or OSError."""
    directory = os.path.dirname(path)
    ensure_private_dir(directory, below=os.path.dirname(directory))


def open_file(path: str, *, write: bool, timeout: float) -> Connection | None:
    """The database at ``path``; None where there is none and ``write`` is not asked.

    Args:
        timeout: seconds to wait for another process's lock.

    Raises:
        DamagedIndex: not an index of this schema. UnsafePath: not this user's own private file.
        OSError: the directory or file cannot be read or made.
    """
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        if not write:
            return None
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        status = os.lstat(path)
    check_private(path, status)
    if status.st_mode & 0o077:
        from agent_base.shell import command

        raise UnsafePath(f"{path!r} can be read by others; it was not used", command("chmod", "600", path))
    directory = os.path.dirname(path)
    check_private(directory, os.lstat(directory))
    if not write and not os.access(directory, os.W_OK):
        return _connect_unchanging(path)
    return connect(path, write=write, timeout=timeout)


def _connect_unchanging(path: str) -> Connection | None:
    """The database of a directory where nothing can be made (a sandbox): SQLite could not keep its notes
    beside it, and nobody can change it. None when a log that holds more was left there."""
    for suffix in ("-wal", "-journal"):
        if os.path.exists(path + suffix) and os.path.getsize(path + suffix):
            return None
    name = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=ro&immutable=1"
    return connect(name, write=False, timeout=0)


def connect(path: str, *, write: bool, timeout: float) -> Connection | None:
    """A connection with its tables, which ``write`` makes where there are none. ``path`` may be ``:memory:``.

    None where a reader finds none: nothing was ever written, or another process is about to make them.
    """
    sqlite3 = sqlite()
    conn: Connection = sqlite3.connect(
        path, timeout=timeout, isolation_level=None, check_same_thread=False, uri=path.startswith("file:")
    )
    try:
        conn.execute(f"PRAGMA cache_size = {_WRITE_CACHE if write else _READ_CACHE}")
        if write:
            # Where a log cannot be (some network file systems), SQLite keeps its rollback journal.
            conn.execute("PRAGMA journal_mode = WAL")
            conn.execute("PRAGMA synchronous = NORMAL")
            conn.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
            conn.execute("PRAGMA temp_store = MEMORY")
        else:
            conn.execute("PRAGMA query_only = 1")
        (version,) = conn.execute("PRAGMA user_version").fetchone()
        if version == 0 and write:
            create_tables(conn)
        elif version == 0:
            conn.close()
            return None
        elif version != SCHEMA:
            raise DamagedIndex(f"{path!r} is an index of another version")
    except sqlite3.OperationalError:
        conn.close()
        raise  # locked by another process, or the disk: not a reason to throw the file away
    except sqlite3.DatabaseError as error:
        conn.close()
        raise DamagedIndex(f"{path!r} is damaged") from error
    except BaseException:
        conn.close()
        raise
    return conn


def create_tables(conn: Connection) -> None:
    """Make every table, in one transaction."""
    conn.execute("BEGIN IMMEDIATE")
    (version,) = conn.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for statement in _TABLES.split(";\n"):
            if statement.strip():
                conn.execute(statement)
        # A file made again must not repeat the numbers of the one before it.
        conn.execute("UPDATE state SET change = ?", (time.time_ns(),))
        conn.execute(f"PRAGMA user_version = {SCHEMA}")
    conn.execute("COMMIT")


def remove_file(path: str) -> None:
    """Remove the database, then what SQLite keeps beside it. The caller holds the lock.

    The database first: who comes between finds none and waits for the lock; what a new one would find
    beside it is gone by then.
    """
    for name in (path, path + "-journal", path + "-wal", path + "-shm"):
        if os.path.lexists(name):
            os.unlink(name)
