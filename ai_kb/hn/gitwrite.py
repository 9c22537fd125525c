"""Writing memory to Git: objects first, then one compare-and-swap on one ref.

A memory commit is four objects (two blobs, a tree, a commit), built here byte for byte and
handed to one ``git unpack-objects``, which stores them under git's own rules. Until the ref
moves nothing refers to them, so a failure or a lost race changes nothing that anybody reads.
Objects and ref are flushed to the disk before they count.

The object ids are those that ``git hash-object``, ``mktree`` and ``commit-tree`` would give:
docs/protocol.md, "Git objects and refs".
"""

from __future__ import annotations

import time
import zlib

from agent_base.digests import sha1_hex, sha256_hex
from ai_kb.hn.errors import HnError, LostRace
from ai_kb.hn.gitstore import Repository, git_reason
from ai_kb.hn.streamrefs import PAYLOAD_NAME, SIGNATURE_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_PACK_TYPES = {"commit": 1, "tree": 2, "blob": 3}
# What git strips from the ends of a name, and what it drops inside (ident.c, git 2.39).
_CRUD = frozenset([*map(chr, range(33)), *".,:;<>\"\\'"])
_DROPPED = str.maketrans("", "", "\n<>")
_LATEST_GIT_TIME = 4102444799  # 2099-12-31T23:59:59Z, the last second that git parses
_RACE_WAIT = 1.0
# By default git flushes neither loose objects nor refs; what was signed shall outlast a power cut.
_DURABLE = ("-c", "core.fsync=committed")

LOST_RACE = (
    "memory stream changed concurrently: another writer moved its head; "
    "nothing was changed; reload and retry with a newly signed envelope"
)


def clean_name(name: str) -> str:
    """``name`` as ``git commit-tree`` writes it in a commit; empty when nothing is left."""
    start, end = 0, len(name)
    while start < end and name[start] in _CRUD:
        start += 1
    while end > start and name[end - 1] in _CRUD:
        end -= 1
    return name[start:end].translate(_DROPPED)


def git_date(timestamp: str) -> str:
    """An RFC 3339 ``timestamp`` as a commit carries it: seconds since 1970 and a numeric zone.

    Fractions are dropped. Raises HnError when git could not carry it.
    """
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(timestamp[:19] + _zone(timestamp))
    except ValueError as error:
        raise HnError("memory timestamp is invalid") from error
    seconds = int(moment.timestamp())
    if not 0 <= seconds <= _LATEST_GIT_TIME:
        raise HnError("memory timestamp is outside what a Git commit can carry")
    zone = moment.strftime("%z")
    return f"{seconds} {'+0000' if zone == '-0000' else zone}"


def _zone(timestamp: str) -> str:
    return "+00:00" if timestamp.endswith("Z") else timestamp[-6:]


def commit_bytes(
    *, tree: str, parent: str | None, memory_id: str, actor: str, actor_name: str, timestamp: str
) -> bytes:
    """The exact commit object of one memory."""
    name = clean_name(actor_name)
    if not name:
        raise HnError("identity name consists only of characters that Git does not accept in a name")
    who = f"{name} <{actor[:12]}@hn.invalid> {git_date(timestamp)}"
    above = f"parent {parent}\n" if parent else ""
    text = f"tree {tree}\n{above}author {who}\ncommitter {who}\n\nhn memory {memory_id}\n"
    return text.encode()


def object_id(kind: str, data: bytes, object_format: str) -> str:
    """The id of an object in a repository of ``object_format``."""
    header = f"{kind} {len(data)}\0".encode()
    if object_format == "sha256":
        return sha256_hex(header + data)
    return sha1_hex(header + data)


def write_objects(repo: Repository, objects: Sequence[tuple[str, bytes]]) -> list[str]:
    """Store (type, bytes) objects; their ids, in order. One process; writing one again is no error."""
    pack = bytearray(b"PACK" + (2).to_bytes(4, "big") + len(objects).to_bytes(4, "big"))
    for kind, data in objects:
        pack += _entry_header(_PACK_TYPES[kind], len(data))
        pack += zlib.compress(data)
    if repo.object_format == "sha256":
        pack += bytes.fromhex(sha256_hex(bytes(pack)))
    else:
        pack += bytes.fromhex(sha1_hex(bytes(pack)))
    status, _, err = repo.run(*_DURABLE, "unpack-objects", "-q", stdin=bytes(pack))
    if status != 0:
        raise HnError(f"write memory objects: {git_reason(err, status)}; nothing was changed")
    return [object_id(kind, data, repo.object_format) for kind, data in objects]


def _entry_header(kind: int, size: int) -> bytes:
    """Type and size of a pack entry: three bits of type, then the size in 4, 7, 7 … bits."""
    byte = (kind << 4) | (size & 15)
    size >>= 4
    out = bytearray()
    while size:
        out.append(byte | 0x80)
        byte = size & 0x7F
        size >>= 7
    out.append(byte)
    return bytes(out)


def write_memory(
    repo: Repository,
    *,
    payload: bytes,
    signature: bytes,
    memory_id: str,
    parent: str | None,
    actor: str,
    actor_name: str,
    timestamp: str,
) -> tuple[str, str]:
    """Store the objects of one memory commit; ids of the commit and of the payload blob. No ref moves.

    Args:
        payload: exact ``memory.json`` bytes.
        signature: content of the blob ``signature``: unpadded base64, no line break.
        parent: the commit of the previous memory, None at sequence 1.
    """
    blobs = [("blob", payload), ("blob", signature)]
    ids = [bytes.fromhex(object_id(kind, data, repo.object_format)) for kind, data in blobs]
    tree = b"100644 %b\0%b" % (PAYLOAD_NAME.encode(), ids[0])
    tree += b"100644 %b\0%b" % (SIGNATURE_NAME.encode(), ids[1])
    commit = commit_bytes(
        tree=object_id("tree", tree, repo.object_format),
        parent=parent,
        memory_id=memory_id,
        actor=actor,
        actor_name=actor_name,
        timestamp=timestamp,
    )
    stored = write_objects(repo, [*blobs, ("tree", tree), ("commit", commit)])
    return stored[-1], stored[0]


def update_ref(repo: Repository, ref: str, new: str, old: str | None) -> None:
    """Move ``ref`` from ``old`` (None: it must not exist) to ``new``, or raise and change nothing.

    Raises LostRace when somebody else moved it first, HnError when git refuses for another reason.
    """
    line = f"create {ref}\0{new}\0" if old is None else f"update {ref}\0{new}\0{old}\0"
    status, _, err = repo.run(*_DURABLE, "update-ref", "--no-deref", "-z", "--stdin", stdin=line.encode())
    if status == 0:
        return
    # git says only that it could not lock: ask whether the head moved, or is being moved just now.
    end = time.monotonic() + _RACE_WAIT
    while True:
        if repo.refs(ref).get(ref) != old:
            raise LostRace(LOST_RACE)
        if b".lock'" not in err or time.monotonic() >= end:
            break
        time.sleep(0.02)
    raise HnError(f"update {ref}: {git_reason(err, status)}; nothing was changed")
