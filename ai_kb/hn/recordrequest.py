"""What a caller asks to be recorded, from flags or from a machine request, made exact.

Either way the result is a ``Record`` whose anchor was checked against the repository: the commit
exists, every path holds the blob that is stated or is absent. Topics are normalized, paths sorted,
evidence keeps its order. Nothing but the explicit fields is read.

memory-v0, "Record, correct, and hand off"; docs/protocol.md, "Command line".
"""

from __future__ import annotations

from ai_kb.hn.envelope import ABSENT, Anchor, Applicability, Handoff, PathAnchor, Record, check_record
from ai_kb.hn.errors import HnError, InvalidEnvelope, InvalidRequest
from ai_kb.hn.fields import is_repository_path
from ai_kb.hn.gitstore import NOT_A_BLOB, ObjectReader
from ai_kb.hn.strictjson import Reader
from ai_kb.hn.text import normalize_topics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HANDOFF = "handoff"
HANDOFF_LISTS = ("completed", "assumptions", "blockers", "nextActions")

_FIELDS = (
    "version",
    "stream",
    "actor",
    "kind",
    "content",
    "anchor",
    "applicability",
    "topics",
    "evidence",
    "attemptOutcome",
    "handoff",
)


class RecordRequest:
    """A record to sign, and the stream and actor that the caller expects (``""``: the default)."""

    __slots__ = ("actor", "record", "stream")

    def __init__(self, record: Record, stream: str, actor: str) -> None:
        self.record = record
        self.stream = stream
        self.actor = actor


def from_flags(
    reader: ObjectReader,
    *,
    kind: str,
    content: str,
    at: str,
    applies: str,
    subject: str = "",
    paths: Sequence[str] = (),
    blobs: Sequence[str] = (),
    topics: Sequence[str] = (),
    evidence: Sequence[str] = (),
    outcome: str = "",
    handoff: Handoff | None = None,
) -> Record:
    """The record that flags describe. ``at`` is a revision; ``blobs`` is empty or one per path.

    Raises HnError with the first rule that fails.
    """
    commit = reader.resolve_commit(at)
    if blobs and len(blobs) != len(paths):
        raise InvalidRequest("--blob must be supplied once per --path")
    if not all(map(is_repository_path, paths)):
        raise InvalidRequest("invalid path field")
    found = reader.path_blobs(commit, paths)
    anchors: list[PathAnchor] = []
    for number, (path, blob) in enumerate(zip(paths, found, strict=True)):
        if blob is None or blob == NOT_A_BLOB:
            raise HnError(f"resolve path {path} at commit {commit}")
        if blobs and blobs[number] != blob:
            raise HnError(f"blob field for path {path} does not match commit {commit}")
        anchors.append(PathAnchor(path, blob))
    record = Record(
        kind=kind,
        content=content,
        anchor=Anchor(commit, tuple(sorted(anchors, key=lambda entry: entry.path)), subject),
        applicability=Applicability(applies, subject if applies == "subject" else ""),
        topics=tuple(normalize_topics(list(topics))),
        evidence=tuple(evidence),
        attempt_outcome=outcome,
        handoff=handoff,
    )
    check_record(record)
    return record


def from_json(
    reader: ObjectReader,
    data: bytes,
    *,
    handoff: bool = False,
    at: str = "",
    applies: str = "",
) -> RecordRequest:
    """The record that a strict version-0 machine request describes.

    Args:
        handoff: the request must be a handoff; ``at`` (a revision) and ``applies`` then supply the
            anchor commit and the applicability mode if it leaves them out, and must agree if not.

    Raises HnError with the first rule that fails: size, encoding, syntax, fields, envelope
    rules, then what the repository says.
    """
    json = Reader("record input", InvalidRequest)
    fields = json.fields(json.load(data), _FIELDS)
    if json.integer(fields, "version") != 0:
        raise InvalidRequest("record input field version must be integer 0")
    topics, evidence = json.texts(fields, "topics"), json.texts(fields, "evidence")
    if topics is None or evidence is None:
        raise InvalidRequest("record input fields topics and evidence are required arrays")
    kind = json.text(fields, "kind")
    if handoff and kind != HANDOFF:
        raise InvalidRequest("handoff input field kind must be handoff")
    anchor = json.fields(fields.get("anchor"), ("commit", "paths", "subject"), "anchor")
    applicability = json.fields(fields.get("applicability"), ("mode", "subject"), "applicability")
    commit, mode = json.text(anchor, "commit"), json.text(applicability, "mode")
    if handoff:
        commit, mode = _with_context(reader, commit, mode, at, applies)
    record = Record(
        kind=kind,
        content=json.text(fields, "content"),
        anchor=Anchor(commit, _paths(json, anchor), json.text(anchor, "subject")),
        applicability=Applicability(mode, json.text(applicability, "subject")),
        topics=tuple(normalize_topics(topics)),
        evidence=tuple(evidence),
        attempt_outcome=json.text(fields, "attemptOutcome"),
    )
    record = _with_handoff(json, record, fields.get(HANDOFF))
    _check_anchor(reader, record.anchor)
    return RecordRequest(record, json.text(fields, "stream"), json.text(fields, "actor"))


def _with_context(reader: ObjectReader, commit: str, mode: str, at: str, applies: str) -> tuple[str, str]:
    """Anchor commit and mode, completed by ``--at`` and ``--applies``."""
    if applies:
        if mode and mode != applies:
            raise InvalidRequest("handoff input field applicability.mode conflicts with --applies")
        mode = applies
    if at:
        resolved = reader.resolve_commit(at)
        if commit and commit != resolved:
            raise InvalidRequest("handoff input field anchor.commit conflicts with --at")
        commit = resolved
    return commit, mode


def _paths(json: Reader, anchor: dict[str, object]) -> tuple[PathAnchor, ...]:
    paths = anchor.get("paths", [])
    if not isinstance(paths, list):
        raise json.refuse("invalid JSON: anchor.paths must be a list")
    entries = [json.fields(entry, ("path", "blob"), "anchor.paths") for entry in paths]
    found = [PathAnchor(json.text(entry, "path"), json.text(entry, "blob")) for entry in entries]
    return tuple(sorted(found, key=lambda entry: entry.path))


def _with_handoff(json: Reader, record: Record, value: object) -> Record:
    """``record`` with the handoff that ``value`` states, checked as an envelope would be."""
    lists: list[list[str] | None] = []
    if value is not None:
        fields = json.fields(value, HANDOFF_LISTS, HANDOFF)
        lists = [json.texts(fields, name) for name in HANDOFF_LISTS]
    stated = Handoff(*(tuple(entries or ()) for entries in lists)) if value is not None else None
    record = Record(
        record.kind,
        record.content,
        record.anchor,
        record.applicability,
        record.topics,
        record.evidence,
        record.attempt_outcome,
        stated,
    )
    check_record(record)
    if None in lists:
        raise InvalidEnvelope("memory handoff list is missing or exceeds limit")
    return record


def _check_anchor(reader: ObjectReader, anchor: Anchor) -> None:
    """Raise HnError unless the anchor holds in this repository."""
    if reader.types([anchor.commit])[0] != "commit":
        raise HnError("anchor.commit must be an exact available commit")
    found = reader.path_blobs(anchor.commit, [entry.path for entry in anchor.paths])
    for entry, blob in zip(anchor.paths, found, strict=True):
        if blob is None or blob == NOT_A_BLOB:
            raise HnError(f"inspect anchor.paths for {anchor.commit}")
        if blob != entry.blob:
            raise HnError(f"anchor.paths blob for {entry.path} does not match commit {anchor.commit}")


__all__ = ["ABSENT", "RecordRequest", "from_flags", "from_json"]
