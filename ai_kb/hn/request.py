"""What is asked of recall and grep: filters and bounds, from flags or machine input, normalized.

A normalized request is what the query digest is made of: topics trimmed and lowercased, lists
sorted and unique, defaults filled in. memory-v0, "Bounded recall"; docs/protocol.md, "Private index, recall,
cursors" and "Policy" (machine requests).
"""

from __future__ import annotations

from ai_kb.hn.errors import InvalidRequest
from ai_kb.hn.fields import is_actor, is_oid, is_repository_path, is_subject, is_topic
from ai_kb.hn.text import is_unicode, normalize_topics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MAX_RECORDS = 20
MAX_CONTENT_BYTES = 65_536

ALL = "all"
LIFECYCLES = ("active", "superseded", "retracted", "branching", "dependency-missing")
TRUST_CLASSES = ("actor-untrusted", "kind-untrusted", "policy-missing", "qualified")
KINDS = ("assumption", "attempt", "decision", "handoff", "observation", "verification")

# Of a normalized request, in the order in which it is digested; REQUIRED_FIELDS are there whatever they hold.
REQUEST_FIELDS = (
    "version",
    "atCommit",
    "subject",
    "path",
    "topic",
    "kind",
    "actor",
    "lifecycle",
    "trust",
    "query",
    "maxRecords",
    "maxContentBytes",
    "includeUntrusted",
)
_BOUNDS = ("maxRecords", "maxContentBytes")
REQUIRED_FIELDS = frozenset({"version", "atCommit", *_BOUNDS})
_INPUT_FIELDS = (*REQUEST_FIELDS, "cursor")


class Request:
    """Filters and bounds. ``at`` is a revision until it is resolved; ``query`` None: no lexical filter.

    Attributes:
        exact: ``at`` must be the full id of a commit (machine input).
        cursor: where to continue, "" from the start.
    """

    __slots__ = (
        "actors",
        "at",
        "cursor",
        "exact",
        "include_untrusted",
        "kinds",
        "lifecycle",
        "max_content_bytes",
        "max_records",
        "path",
        "query",
        "subject",
        "topics",
        "trust",
    )

    def __init__(
        self,
        *,
        at: str = "",
        exact: bool = False,
        subject: str = "",
        path: str = "",
        topics: Sequence[str] = (),
        kinds: Sequence[str] = (),
        actors: Sequence[str] = (),
        lifecycle: Sequence[str] = (),
        trust: Sequence[str] = (),
        query: str | None = None,
        max_records: int = MAX_RECORDS,
        max_content_bytes: int = MAX_CONTENT_BYTES,
        cursor: str = "",
        include_untrusted: bool = False,
    ) -> None:
        self.at = at or "HEAD"
        self.exact = exact
        self.subject = subject
        self.path = path
        self.topics = normalize_topics(list(topics))
        self.kinds = sorted(set(kinds))
        self.actors = sorted(set(actors))
        self.lifecycle = sorted(set(lifecycle)) or ["active"]
        self.trust = sorted(set(trust)) or ([] if include_untrusted else ["qualified"])
        self.query = query
        self.max_records = max_records
        self.max_content_bytes = max_content_bytes
        self.cursor = cursor
        self.include_untrusted = include_untrusted
        self._check()

    def _check(self) -> None:
        """Raise InvalidRequest with the first rule that fails."""
        if self.max_records < 1 or self.max_content_bytes < 1:
            raise InvalidRequest("recall bounds must be positive")
        if self.subject and not is_subject(self.subject):
            raise _invalid("subject")
        if self.path and not (is_repository_path(self.path) and is_unicode(self.path)):
            raise _invalid("path")
        if not all(is_topic(topic) and is_unicode(topic) for topic in self.topics):
            raise _invalid("topic")
        if not _among(self.kinds, KINDS):
            raise _invalid("kind")
        if not all(is_actor(actor) for actor in self.actors):
            raise _invalid("actor")
        if self.lifecycle != [ALL] and not _among(self.lifecycle, LIFECYCLES):
            raise _invalid("lifecycle")
        if not _among(self.trust, TRUST_CLASSES):
            raise _invalid("trust")

    @property
    def lifecycles(self) -> Sequence[str]:
        """The lifecycle classes that are wanted, in the order in which they are listed."""
        if self.lifecycle == [ALL]:
            return LIFECYCLES
        return [name for name in LIFECYCLES if name in self.lifecycle]

    def mapping(self, commit: str) -> dict[str, object]:
        """The normalized request at ``commit``, as the query digest takes it."""
        return {
            "version": 0,
            "atCommit": commit,
            "subject": self.subject,
            "path": self.path,
            "topic": self.topics,
            "kind": self.kinds,
            "actor": self.actors,
            "lifecycle": [] if self.lifecycle == [ALL] else self.lifecycle,
            "trust": self.trust,
            "query": self.query or "",
            "maxRecords": self.max_records,
            "maxContentBytes": self.max_content_bytes,
            "includeUntrusted": self.include_untrusted,
        }


def _invalid(what: str) -> InvalidRequest:
    return InvalidRequest(f"invalid {what} filter")


def _among(values: Collection[str], allowed: Collection[str]) -> bool:
    return all(value in allowed for value in values)


def from_input(data: bytes) -> Request:
    """The machine request in ``data``: strict version-0 JSON, at most 1 MiB. Raises InvalidRequest."""
    from ai_kb.hn.strictjson import Reader, fold

    reader = Reader("recall input", InvalidRequest)
    value = reader.load(data)
    if isinstance(value, dict):
        bounds = {fold(name) for name in _BOUNDS}
        if any(entry is None and fold(name) in bounds for name, entry in value.items()):
            raise reader.refuse("invalid JSON: must be an integer")
    fields = reader.fields(value, _INPUT_FIELDS)
    if reader.integer(fields, "version") != 0:
        raise InvalidRequest("recall input field version must be integer 0")
    commit = reader.text(fields, "atCommit")
    if not is_oid(commit):
        raise InvalidRequest("recall input field atCommit must be an exact full commit ID")
    numbers = {}
    for name, default in zip(_BOUNDS, (MAX_RECORDS, MAX_CONTENT_BYTES), strict=True):
        given = reader.integer(fields, name)
        numbers[name] = default if given is None else given
        if numbers[name] < 1:
            raise InvalidRequest(f"recall input field {name} must be a positive integer")
    lists = {name: reader.texts(fields, name) or () for name in ("topic", "kind", "actor")}
    return Request(
        at=commit,
        exact=True,
        subject=reader.text(fields, "subject"),
        path=reader.text(fields, "path"),
        topics=lists["topic"],
        kinds=lists["kind"],
        actors=lists["actor"],
        lifecycle=reader.texts(fields, "lifecycle") or (),
        trust=reader.texts(fields, "trust") or (),
        query=reader.text(fields, "query") if "query" in fields else None,
        max_records=numbers["maxRecords"],
        max_content_bytes=numbers["maxContentBytes"],
        cursor=reader.text(fields, "cursor"),
        include_untrusted=reader.flag(fields, "includeUntrusted"),
    )
