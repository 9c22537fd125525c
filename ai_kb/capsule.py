"""Capsules: title, body, kind and scope ↔ the content and topics of an ``hn-memory/0`` record.

A capsule's content reads like a commit message: title line, blank line, body, blank line,
trailers. Its taxonomy is topics: ``kind/gotcha``, ``scope/project``, ``project/<root commit>``,
``workspace/<digest of path>``, ``domain/<tag>``, ``by/agent``, and free tags.

Guarantees: ``split_content(join_content(t, b, trailers))`` gives back what went in; whatever
text a record holds, reading it as a capsule succeeds and gives one of the known kinds and
scopes. Says nothing of who may be believed: see ``injection``. Pure, standard library only;
hooks read capsules with it.
"""

from __future__ import annotations

from ai_kb.errors import EmptyText, InvalidCapsule, Oversized

TYPE_CHECKING = False  # `typing` costs a hook more than this module
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

KINDS = ("fact", "gotcha", "pattern", "anti_pattern", "recipe", "principle", "decision")
SCOPES = ("workspace", "project", "domain", "universal")
CONFIDENCES = ("low", "medium", "high")
DEFAULT_KIND = "fact"
DEFAULT_CONFIDENCE = "medium"

TRAILERS = ("Source", "Confidence", "Refs", "Verified-by", "Workspace")

MAX_TITLE = 200  # characters
MAX_CONTENT = 65_536  # bytes of UTF-8: memory-v0, "Envelope and record model"
MAX_TOPICS = 32
MAX_TOPIC = 128  # bytes

BY_AGENT = "by/agent"
# What the suite itself says with topics; a free tag may not look like one of these.
RESERVED_PREFIXES = ("kind/", "scope/", "project/", "workspace/", "domain/", "by/")

_RECORD_KINDS = {
    "fact": "observation",
    "gotcha": "observation",
    "pattern": "observation",
    "recipe": "observation",
    "principle": "decision",
    "decision": "decision",
    "anti_pattern": "attempt",
}
REJECTED = "rejected"


class Capsule:
    """A record read as a capsule.

    Attributes:
        title: first line of the content, never empty for a valid record.
        body: what stands between title and trailers; may be empty.
        trailers: ``(name, value)`` in their order.
        kind: a capsule kind, or the record's own kind where no topic names one.
        scope: one of SCOPES, or ``""`` where the record declares none.
        projects, workspaces, domains: what follows the prefix in such topics.
        tags: free topics.
        by: ``agent`` or ``person``.
    """

    __slots__ = (
        "body",
        "by",
        "domains",
        "kind",
        "projects",
        "scope",
        "tags",
        "title",
        "trailers",
        "workspaces",
    )

    def __init__(self, record_kind: str, content: str, topics: Iterable[str]) -> None:
        self.title, self.body, self.trailers = split_content(content)
        kinds: list[str] = []
        scopes: list[str] = []
        found: dict[str, list[str]] = {"project/": [], "workspace/": [], "domain/": []}
        tags: list[str] = []
        self.by = "person"
        for topic in topics:
            head, slash, rest = topic.partition("/")
            prefix = head + slash
            if prefix == "kind/" and rest in KINDS:
                kinds.append(rest)
            elif prefix == "scope/" and rest in SCOPES:
                scopes.append(rest)
            elif prefix in found:
                found[prefix].append(rest)
            elif topic == BY_AGENT:
                self.by = "agent"
            elif prefix not in RESERVED_PREFIXES:
                tags.append(topic)
        self.kind = kinds[0] if kinds else record_kind
        # Several scopes: the narrowest, so that nothing is shown where one of them would not show it.
        self.scope = min(scopes, key=SCOPES.index) if scopes else ""
        self.projects = tuple(found["project/"])
        self.workspaces = tuple(found["workspace/"])
        self.domains = tuple(found["domain/"])
        self.tags = tuple(tags)

    def trailer(self, name: str) -> list[str]:
        """All values of one trailer, in their order."""
        return [value for key, value in self.trailers if key == name]


# ---------------------------------------------------------------- content


def split_content(content: str) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """Title, body and trailers of any record content.

    The last paragraph counts as trailers when a paragraph stands before it and every one of its
    lines is ``Name: value`` with a name of TRAILERS.
    """
    text = content.replace("\r\n", "\n").strip("\n")
    title, _, rest = text.partition("\n")
    rest = rest.strip("\n")
    body, gap, last = rest.rpartition("\n\n")
    if not gap:
        body, last = "", rest
    trailers = _trailers(last)
    if trailers is None:
        return title.strip(), rest, ()
    return title.strip(), body.strip("\n"), trailers


def _trailers(paragraph: str) -> tuple[tuple[str, str], ...] | None:
    found: list[tuple[str, str]] = []
    for line in paragraph.split("\n"):
        name, colon, value = line.partition(": ")
        if not colon or name not in TRAILERS:
            return None
        found.append((name, value.strip()))
    return tuple(found)


def join_content(title: str, body: str, trailers: Sequence[tuple[str, str]]) -> str:
    """The content of a record. ``title`` and values are single lines; at least one trailer is given,
    so that a body which ends in something like trailers is read back as body."""
    parts = [title, body, "\n".join(f"{name}: {value}" for name, value in trailers)]
    return "\n\n".join(part for part in parts if part)


def checked_text(title: str, body: str) -> tuple[str, str]:
    """``title`` and ``body`` as they go into a record: line breaks unified, outer space removed.

    Raises:
        EmptyText: nothing of one of them can be seen.
        Oversized: the title is longer than MAX_TITLE characters.
        InvalidCapsule: the title has several lines or a control character, or the text is not Unicode.
    """
    from agent_base import inert

    for name, text in (("title", title), ("body", body)):
        _check_unicode(name, text)
        if not inert.shows(text):
            raise EmptyText(f"the {name} is empty; nothing was changed")
    title = title.strip()
    if any(c < " " or c in "\x7f\x85\u2028\u2029" for c in title):
        raise InvalidCapsule(
            "the title has a line break or a control character; nothing was changed",
            "a title is one line, the rest belongs into the body",
        )
    if len(title) > MAX_TITLE:
        raise Oversized(
            f"the title has {len(title)} characters, at most {MAX_TITLE} are allowed; nothing was changed",
            "put the rest into the body",
        )
    lines = [line.rstrip() for line in body.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return title, "\n".join(lines).strip("\n")


def _check_unicode(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidCapsule(f"the {name} is not valid UTF-8; nothing was changed") from error


def checked_value(name: str, value: str) -> str:
    """A trailer's value: one line, no control character. Raises InvalidCapsule, EmptyText."""
    from agent_base import inert

    _check_unicode(name, value)
    if any(c < " " or c in "\x7f\x85\u2028\u2029" for c in value):
        raise InvalidCapsule(f"{name} has a line break or a control character; nothing was changed")
    if not inert.shows(value):
        raise EmptyText(f"{name} is empty; nothing was changed")
    return value.strip()


def checked_size(content: str) -> str:
    """``content`` when the protocol takes it. Raises Oversized."""
    size = len(content.encode())
    if size > MAX_CONTENT:
        raise Oversized(
            f"the capsule has {size:,} bytes, at most {MAX_CONTENT:,} are allowed; nothing was changed",
            "a capsule is one thing that was learned; point to long material with --ref",
        )
    return content


# ---------------------------------------------------------------- taxonomy


def record_kind(kind: str, *, verified: bool, has_evidence: bool) -> tuple[str, str]:
    """Record kind and attempt outcome (``""`` for none) of a capsule kind.

    A capsule with ``--verified-by`` and evidence is a ``verification``, whatever its kind; the
    capsule kind stays readable in its topic.
    """
    if verified and has_evidence:
        return "verification", ""
    kind = _RECORD_KINDS[kind]
    return kind, REJECTED if kind == "attempt" else ""


def checked_tag(name: str, value: str, *, prefix: str = "") -> str:
    """``value`` as a topic: trimmed, lower case, inner space as ``-``.

    Raises:
        InvalidCapsule: it is empty, has a control character, is too long, or would read as one of
            the suite's own topics.
    """
    _check_unicode(name, value)
    topic = "-".join(value.split()).lower()
    if not topic or not topic.strip("-"):
        raise InvalidCapsule(f"{name} is empty; nothing was changed")
    if not prefix and topic.startswith(RESERVED_PREFIXES):
        raise InvalidCapsule(
            f"{name} {value!r} looks like a topic that the suite sets itself; nothing was changed",
            "use --kind, --scope or --domain for it",
        )
    topic = prefix + topic
    if any(c < " " or c == "\x7f" for c in topic) or len(topic.encode()) > MAX_TOPIC:
        raise InvalidCapsule(
            f"{name} {value[:40]!r} has a control character or more than {MAX_TOPIC} bytes; "
            "nothing was changed"
        )
    return topic


def topics_of(
    kind: str,
    scope: str,
    *,
    projects: Iterable[str] = (),
    workspaces: Iterable[str] = (),
    domains: Iterable[str] = (),
    tags: Iterable[str] = (),
    by_agent: bool = False,
) -> tuple[str, ...]:
    """The topics of a capsule: normalised, sorted, unique. Raises InvalidCapsule for more than 32."""
    topics = {f"kind/{kind}", f"scope/{scope}"}
    topics.update(f"project/{p}" for p in projects)
    topics.update(f"workspace/{w}" for w in workspaces)
    topics.update(checked_tag("domain", d, prefix="domain/") for d in domains)
    topics.update(checked_tag("tag", t) for t in tags)
    if by_agent:
        topics.add(BY_AGENT)
    if len(topics) > MAX_TOPICS:
        raise InvalidCapsule(
            f"{len(topics)} topics, at most {MAX_TOPICS} are allowed; nothing was changed", "use fewer --tag"
        )
    return tuple(sorted(topics, key=str.encode))
