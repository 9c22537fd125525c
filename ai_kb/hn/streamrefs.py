"""Names of memory streams: ids, refs, remotes.

Anything malformed below ``refs/hn/memory/`` or ``refs/hn/remotes/*/memory/`` is an error, never
passed over; refs elsewhere are none of ours. docs/protocol.md, "Git objects and refs".
"""

from __future__ import annotations

from ai_kb.hn.errors import InvalidStream
from ai_kb.hn.gitstore import is_oid, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# What the tree of a memory commit holds, and nothing else.
PAYLOAD_NAME = "memory.json"
SIGNATURE_NAME = "signature"

LOCAL_PREFIX = "refs/hn/memory"
REMOTES_PREFIX = "refs/hn/remotes"
MEMORY_PREFIXES = (LOCAL_PREFIX, REMOTES_PREFIX)

_REMOTE_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
# How much of a malformed name an error repeats.
_SHOWN = 200


class Source:
    """A memory ref taken apart. ``remote`` is ``""`` for a local stream."""

    __slots__ = ("actor", "ref", "remote", "stream")

    def __init__(self, ref: str, actor: str, stream: str, remote: str = "") -> None:
        self.ref = ref
        self.actor = actor
        self.stream = stream
        self.remote = remote


def is_stream_id(text: str) -> bool:
    """Whether ``text`` is a full ``sha256:`` id."""
    return text.startswith("sha256:") and is_oid(text[7:], 64)


def is_remote_name(text: str) -> bool:
    """Whether ``text`` may name a remote in a ref (docs/protocol.md, "Git objects and refs")."""
    return (
        1 <= len(text) <= 128
        and _REMOTE_CHARACTERS.issuperset(text)
        and text[0] not in "-."
        and ".." not in text
        and not text.endswith((".", ".lock"))
    )


def memory_ref(actor: str, stream: str) -> str:
    """The local ref of ``actor``'s ``stream`` (a full ``sha256:`` id)."""
    return f"{LOCAL_PREFIX}/{actor}/{stream.removeprefix('sha256:')}"


def accepted_ref(remote: str, actor: str, stream: str) -> str:
    """The ref under which a stream accepted from ``remote`` is kept."""
    return f"{REMOTES_PREFIX}/{remote}/memory/{actor}/{stream.removeprefix('sha256:')}"


def parse_ref(ref: str) -> Source | None:
    """The source that ``ref`` names; None for a ref outside the memory namespaces.

    Raises InvalidStream for a malformed ref inside one.
    """
    parts = ref.split("/")
    if parts[:3] == ["refs", "hn", "memory"]:
        rest, remote = parts[3:], ""
    elif parts[:3] == ["refs", "hn", "remotes"] and parts[4:5] == ["memory"]:
        rest, remote = parts[5:], parts[3]
        if not is_remote_name(remote):
            raise _malformed(ref)
    else:
        return None
    if len(rest) != 2 or not is_oid(rest[0], 64) or not is_oid(rest[1], 64):
        raise _malformed(ref)
    return Source(ref, rest[0], "sha256:" + rest[1], remote)


def _malformed(ref: str) -> InvalidStream:
    kind = "accepted memory" if ref.startswith(f"{REMOTES_PREFIX}/") else "memory"
    return InvalidStream(f"malformed {kind} ref {shown(ref[:_SHOWN])}")


def refuse_broken(refs: Iterable[str]) -> None:
    """Raise InvalidStream if one of ``refs``, which hold no object id, is in a memory namespace."""
    for ref in refs:
        source = parse_ref(ref)
        if source is not None:
            raise InvalidStream(
                f"memory source {ref}: the ref is broken: it holds no object id; nothing was changed",
                "remove the file of that name in the Git directory: what was packed is there again, "
                "and a sync brings what a remote has",
            )


def sources_of(refs: Mapping[str, str]) -> list[tuple[Source, str]]:
    """(source, head) of every memory stream among ``refs``, sorted by ref. Raises InvalidStream."""
    found = [(parse_ref(ref), head) for ref, head in sorted(refs.items())]
    return [(source, head) for source, head in found if source is not None]
