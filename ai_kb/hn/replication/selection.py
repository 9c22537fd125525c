"""What is exchanged with a remote, and how much of it at most. Transport, never trust.

A selection names exact actors, proposals and memory streams, or says all; nothing saved means all.
Its file is ``selections/<unpadded base64url of the remote's name>.json``, 0600, written whole or
not at all, read with exactly the known fields.

memory-v0, "Select and synchronize"; docs/protocol.md, "Replication" (Selection).
"""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass, field, fields

from agent_base.errors import SuiteError
from agent_base.files import FILE_MODE, read_private, write_atomic
from ai_kb.hn.errors import HnError, InvalidRequest
from ai_kb.hn.fields import is_actor, is_digest
from ai_kb.hn.gitstore import Repository, quoted
from ai_kb.hn.replication.state import State
from ai_kb.hn.streamrefs import is_remote_name
from ai_kb.hn.strictjson import Reader

DEFAULT_REMOTE = "origin"
MAX_SELECTION_BYTES = 4 << 20

_VERSION = 1
_FIELDS = ("version", "remote", "actors", "proposals", "memories", "all", "budgets")


class InvalidSelection(HnError):
    """The saved selection of a remote is damaged or unsafe; it was not used and not changed."""

    code = "invalid-selection"


@dataclass(frozen=True, slots=True)
class Budgets:
    """Bounds of each selected history, inclusive. Bytes and objects count beyond what was accepted."""

    events: int = 10_000
    objects: int = 100_000
    object_bytes: int = 64 << 20
    attachment_bytes: int = 16 << 20
    total_bytes: int = 1 << 30


# Attribute, name in the file, name of the flag and in text; in the order in which they are checked.
BUDGETS = (
    ("events", "maxEvents", "max-events"),
    ("objects", "maxObjects", "max-objects"),
    ("object_bytes", "maxObjectBytes", "max-object-bytes"),
    ("attachment_bytes", "maxAttachmentBytes", "max-attachment-bytes"),
    ("total_bytes", "maxTotalBytes", "max-total-bytes"),
)


@dataclass(frozen=True, slots=True)
class Selection:
    """What is exchanged with ``remote``. Lists are sorted and unique; ``all`` goes with empty ones."""

    remote: str
    actors: tuple[str, ...] = ()
    proposals: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    all: bool = False
    budgets: Budgets = field(default_factory=Budgets)
    saved: bool = True

    def to_bytes(self) -> bytes:
        """The content of its file."""
        value: dict[str, object] = {
            "version": _VERSION,
            "remote": self.remote,
            "actors": list(self.actors) or None,
            "proposals": list(self.proposals) or None,
        }
        if self.memories:
            value["memories"] = list(self.memories)
        value["all"] = self.all
        value["budgets"] = {name: getattr(self.budgets, attribute) for attribute, name, _ in BUDGETS}
        return json.dumps(value, indent=2).encode("ascii") + b"\n"

    def as_lines(self) -> list[str]:
        """What ``select`` and ``show`` print."""
        return [
            f"remote: {self.remote}",
            f"saved: {str(self.saved).lower()}",
            f"compatibility-all: {str(self.all).lower()}",
            *(f"actor: {actor}" for actor in self.actors),
            *(f"proposal: {proposal}" for proposal in self.proposals),
            *(f"memory: {stream}" for stream in self.memories),
            *(f"{flag}: {getattr(self.budgets, attribute)}" for attribute, _, flag in BUDGETS),
        ]

    def as_object(self) -> dict[str, object]:
        """The same for scripts."""
        return {
            "version": 0,
            "remote": self.remote,
            "saved": self.saved,
            "all": self.all,
            "actors": list(self.actors),
            "proposals": list(self.proposals),
            "memories": list(self.memories),
            "budgets": {name: getattr(self.budgets, attribute) for attribute, name, _ in BUDGETS},
        }


def selection_of(
    remote: str,
    *,
    actors: list[str],
    proposals: list[str],
    memories: list[str],
    all: bool,
    budgets: Budgets,
) -> Selection:
    """A valid selection from what somebody asked for. Raises InvalidRequest."""
    check_remote_name(remote)
    for actor in actors:
        if not is_actor(actor):
            raise InvalidRequest(f"actor selector {quoted(actor)} must be a full actor fingerprint")
    for proposal in proposals:
        if not is_digest(proposal):
            raise InvalidRequest(f"proposal selector {quoted(proposal)} must be a full candidate event ID")
    for stream in memories:
        if not is_digest(stream):
            raise InvalidRequest(f"memory selector {quoted(stream)} must be a full memory stream ID")
    exact = bool(actors or proposals or memories)
    if all and exact:
        raise InvalidRequest("--all is mutually exclusive with actor, proposal, and memory selectors")
    if not all and not exact:
        raise InvalidRequest(
            "replication selection requires at least one actor, proposal, or memory, or explicit --all"
        )
    for attribute, _, flag in BUDGETS:
        if getattr(budgets, attribute) <= 0:
            raise InvalidRequest(f"{flag} must be a positive integer")
    return Selection(
        remote,
        tuple(sorted(set(actors))),
        tuple(sorted(set(proposals))),
        tuple(sorted(set(memories))),
        all,
        budgets,
    )


def check_remote_name(remote: str) -> None:
    """Raise InvalidRequest unless ``remote`` can name a remote in a ref."""
    if not is_remote_name(remote):
        raise InvalidRequest("invalid replication remote name")


def selection_path(state: State, repo: Repository, remote: str) -> str:
    """The file of ``remote``'s selection: a linked worktree's own where it has one, else the common one."""
    name = base64.urlsafe_b64encode(remote.encode("ascii")).decode("ascii").rstrip("=") + ".json"
    if repo.git_dir != repo.common_dir:
        own = os.path.join(repo.git_dir, "hn", "replication", "selections", name)
        if os.path.lexists(own):
            return own
    return os.path.join(state.selections, name)


def save(repo: Repository, selection: Selection) -> None:
    """Replace the selection of its remote. Raises UnsafePath, InvalidRequest."""
    data = selection.to_bytes()
    if len(data) > MAX_SELECTION_BYTES:
        raise InvalidRequest(f"the selection is larger than {MAX_SELECTION_BYTES} bytes; nothing was changed")
    state = State(repo)
    state.prepare("selections")
    write_atomic(selection_path(state, repo, selection.remote), data, mode=FILE_MODE)


def load(repo: Repository, remote: str) -> Selection:
    """The saved selection of ``remote``, or all with the default budgets. Raises InvalidSelection."""
    check_remote_name(remote)
    state = State(repo)
    state.check()
    path = selection_path(state, repo, remote)
    try:
        data = read_private(path, MAX_SELECTION_BYTES)
    except FileNotFoundError:
        return Selection(remote, all=True, saved=False)
    except SuiteError as error:
        raise InvalidSelection(f"the saved selection of {remote}: {error.message}", error.hint) from error
    return _from_bytes(data, remote)


def _from_bytes(data: bytes, remote: str) -> Selection:
    reader = Reader(f"the saved selection of {remote}", InvalidSelection, quote_fields=False)
    value = reader.fields(reader.load(data, limit=MAX_SELECTION_BYTES), _FIELDS)
    if reader.integer(value, "version") != _VERSION:
        raise reader.refuse("version is unsupported")
    if reader.text(value, "remote") != remote:
        raise reader.refuse("it belongs to another remote")
    names = [name for _, name, _ in BUDGETS]
    numbers = reader.fields(value.get("budgets"), names, "budgets")
    given = {attribute: reader.integer(numbers, name) for attribute, name, _ in BUDGETS}
    if None in given.values():
        raise reader.refuse("a budget is missing")
    try:
        return selection_of(
            remote,
            actors=reader.texts(value, "actors") or [],
            proposals=reader.texts(value, "proposals") or [],
            memories=reader.texts(value, "memories") or [],
            all=reader.flag(value, "all"),
            budgets=Budgets(**{name: number or 0 for name, number in given.items()}),
        )
    except InvalidRequest as error:
        raise reader.refuse(error.message) from error


assert [entry.name for entry in fields(Budgets)] == [attribute for attribute, _, _ in BUDGETS]
