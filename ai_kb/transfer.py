"""Memories as JSON lines: written from verified streams, read back only through verification.

One line per memory, streams whole and in order: ``{"version": 0, "actor", "stream", "sequence", "id",
"payload", "signature"}``; ``payload`` is the exact text that was signed. Reading verifies every
signature, checks the chain from sequence 1 on, and makes the same commits that the author made. What
is read lands below ``refs/hn/remotes/<name>/memory/`` (streams of this store's own actor in its own
place), moves heads forward only, and is trusted by nobody until a policy says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ai_kb.errors import KbError
from ai_kb.hn.envelope import VerifiedMemory, memory_id, verify_memory
from ai_kb.hn.errors import HnError
from ai_kb.hn.gitobjects import ObjectReader
from ai_kb.hn.gitwrite import update_ref, write_memory
from ai_kb.hn.identity import Keyring
from ai_kb.hn.keys import decode_b64
from ai_kb.hn.streamrefs import SIGNATURE_NAME, Source, accepted_ref, is_remote_name, memory_ref
from ai_kb.hn.streams import collect
from ai_kb.hn.verification import verify_stream
from ai_kb.stores import Store

VERSION = 0
_FIELDS = frozenset({"version", "actor", "stream", "sequence", "id", "payload", "signature"})
_LINE_LIMIT = 2_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """One verified line."""

    memory: VerifiedMemory
    signature: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did to one stream: ``added`` memories on ``ref``; 0 where it was all there."""

    ref: str
    actor: str
    stream: str
    added: int


# ---------------------------------------------------------------- out


def export(store: Store) -> Iterator[str]:
    """Every memory of ``store``, as lines. Raises HnError for a stream that does not verify."""
    with store.repo.objects() as reader:
        collection = collect(store.repo, reader)
        order = sorted(
            collection.memories.values(),
            key=lambda m: (m.envelope.actor, m.envelope.stream, m.envelope.sequence),
        )
        names = [f"{collection.positions[m.id].commit}:{SIGNATURE_NAME}" for m in order]
        for memory, found in zip(order, reader.contents(names), strict=True):
            if found is None:
                raise HnError(f"the signature of {memory.id} is gone")
            envelope = memory.envelope
            yield json.dumps(
                {
                    "version": VERSION,
                    "actor": envelope.actor,
                    "stream": envelope.stream,
                    "sequence": envelope.sequence,
                    "id": memory.id,
                    "payload": memory.payload.decode(),
                    "signature": found[2].decode("ascii"),
                }
            )


def _place(memory: VerifiedMemory) -> tuple[str, str, int]:
    return memory.envelope.actor, memory.envelope.stream, memory.envelope.sequence


# ---------------------------------------------------------------- in


def read_lines(lines: Iterable[bytes]) -> list[Line]:
    """Verified memories of an export. Raises KbError or HnError, with the line, for the first bad one."""
    found: list[Line] = []
    for number, data in enumerate(lines, 1):
        if not data.strip():
            continue
        try:
            found.append(_read_line(data))
        except (HnError, KbError, ValueError) as error:
            text = error.message if isinstance(error, HnError | KbError) else "it is no line of an export"
            raise KbError(f"line {number}: {text}; nothing was changed") from error
    return found


def _read_line(data: bytes) -> Line:
    if len(data) > _LINE_LIMIT:
        raise KbError(f"it is longer than {_LINE_LIMIT} bytes")
    try:
        value = json.loads(data)
    except RecursionError as error:
        raise KbError("it is nested too deeply") from error
    if not isinstance(value, dict) or set(value) != _FIELDS or value["version"] != VERSION:
        raise KbError("it is no line of an export of this version")
    payload, signature = value["payload"], value["signature"]
    if not isinstance(payload, str) or not isinstance(signature, str):
        raise KbError("payload and signature are texts")
    raw = payload.encode()
    if value["id"] != memory_id(raw):
        raise KbError("the id is not that of the payload")
    return Line(verify_memory(raw, decode_b64(signature)), signature)


def import_lines(store: Store, lines: Iterable[Line], name: str, *, dry_run: bool = False) -> list[Imported]:
    """Put verified lines into ``store``: every stream is checked before the first one is written.

    Args:
        name: what the accepted refs are kept under, like a remote.

    Raises:
        KbError: a stream has a gap, contradicts itself or differs from what is there; nothing was changed.
        HnError: a ref was moved by somebody else meanwhile. Streams before it are in.
    """
    if not is_remote_name(name):
        raise KbError(f"{name[:80]!r} cannot name a source; nothing was changed", "letters, digits, - and _")
    streams: dict[tuple[str, str], dict[int, Line]] = {}
    for line in lines:
        envelope = line.memory.envelope
        first = streams.setdefault((envelope.actor, envelope.stream), {}).setdefault(envelope.sequence, line)
        if first.memory.id != line.memory.id:
            raise KbError(
                f"stream {envelope.stream} of {envelope.actor} says two things at sequence "
                f"{envelope.sequence}; nothing was changed"
            )
    own = Keyring.of(store.repo).active_actor()
    plans: list[_Plan] = []
    with store.repo.objects() as reader:
        for (actor, stream), entries in sorted(streams.items()):
            ref = memory_ref(actor, stream) if actor == own else accepted_ref(name, actor, stream)
            source = Source(ref, actor, stream, "" if actor == own else name)
            chain = [entries[number] for number in sorted(entries)]
            plans.append(_planned(store, reader, source, chain))
    if not dry_run:
        for plan in plans:
            _write(store, plan)
    return [
        Imported(plan.source.ref, plan.source.actor, plan.source.stream, len(plan.added)) for plan in plans
    ]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be added to a stream: ``before`` is the head that its ref must still have then."""

    source: Source
    before: str | None
    added: list[Line]


def _planned(store: Store, reader: ObjectReader, source: Source, chain: list[Line]) -> _Plan:
    """Check a stream against what is there. Raises KbError."""
    _check_chain(chain)
    before = store.repo.refs(source.ref).get(source.ref)
    there = [] if before is None else verify_stream(store.repo, reader, source, before)
    for have, line in zip(there, chain, strict=False):
        if have.memory.id != line.memory.id:
            raise KbError(
                f"{source.ref} says something else at sequence {line.memory.envelope.sequence}; "
                "nothing was changed"
            )
    return _Plan(source, before, chain[len(there) :])


def _write(store: Store, plan: _Plan) -> None:
    parent = plan.before
    for line in plan.added:
        parent, _ = write_memory(
            store.repo,
            payload=line.memory.payload,
            signature=line.signature.encode("ascii"),
            memory_id=line.memory.id,
            parent=parent,
            actor=plan.source.actor,
            actor_name=line.memory.envelope.actor_name,
            timestamp=line.memory.envelope.timestamp,
        )
    if plan.added:
        assert parent is not None
        update_ref(store.repo, plan.source.ref, parent, plan.before)


def _check_chain(chain: list[Line]) -> None:
    previous = ""
    for number, line in enumerate(chain, 1):
        envelope = line.memory.envelope
        if envelope.sequence != number or envelope.previous != previous:
            raise KbError(
                f"stream {envelope.stream} of {envelope.actor} has a gap or a break at sequence {number}; "
                "nothing was changed"
            )
        previous = line.memory.id
