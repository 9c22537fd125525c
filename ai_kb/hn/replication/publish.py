"""Local histories go to the remote by their exact refs, never forced, and nothing else goes.

A remote that has another line of a stream keeps it, and that is reported; so is a local stream
that does not verify, which is not sent. The branch, tags and everything else stay where they are.

memory-v0, "Select and synchronize"; docs/protocol.md, "Replication" (Publication).
"""

from __future__ import annotations

from dataclasses import dataclass

from ai_kb.hn.errors import HnError
from ai_kb.hn.events import ACTORS_PREFIX, EVENT_PROTOCOL, event_ref_actor
from ai_kb.hn.eventstore import read_chain
from ai_kb.hn.gitstore import ObjectReader, Repository, shown
from ai_kb.hn.replication.outcomes import ACTOR, MEMORY
from ai_kb.hn.streamrefs import LOCAL_PREFIX, Source, parse_ref
from ai_kb.hn.verification import advance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ai_kb.hn.prefixes import PrefixStore
    from ai_kb.hn.replication.remote import Pushed, Remote

PUBLISHED = "published"
UNCHANGED = "unchanged"
BEHIND = "behind"
DIVERGED = "diverged"
REJECTED = "rejected"
INVALID = "invalid"
# The whole phase failed before it was its turn.
NOT_SENT = "not-sent"


@dataclass(slots=True)
class Publication:
    """How one local history fared.

    Attributes:
        id: of the stream or actor; of a ref that names none, the ref, made inert.
        remote_head: the advertised one, ``""`` when there was none.
    """

    kind: str
    id: str
    ref: str
    local_head: str
    remote_head: str = ""
    status: str = ""
    reason: str = ""

    @property
    def failed(self) -> bool:
        return self.status in (DIVERGED, REJECTED, INVALID)

    def as_object(self) -> dict[str, str]:
        return {
            "kind": self.kind,
            "id": self.id,
            "ref": shown(self.ref),
            "status": self.status,
            "local": self.local_head,
            "remote": self.remote_head,
            "reason": self.reason,
        }

    @property
    def described(self) -> str:
        """What went wrong, for a person."""
        heads = f"local {self.local_head}, remote {self.remote_head or 'none'}"
        if self.status == DIVERGED:
            return f"{self.kind} {self.id} diverged ({heads}); nothing was overwritten"
        return f"{self.kind} {self.id}: {self.reason} ({heads})"


def local_histories(repo: Repository) -> list[Publication]:
    """Every local memory stream and chain of events, sorted by ref, not judged yet."""
    found: list[Publication] = []
    for ref, head in sorted(repo.refs(LOCAL_PREFIX, ACTORS_PREFIX).items()):
        if ref.startswith(f"{LOCAL_PREFIX}/"):
            found.append(Publication(MEMORY, _stream_of(ref) or shown(ref), ref, head))
        else:
            found.append(Publication(ACTOR, event_ref_actor(ref) or shown(ref), ref, head))
    return found


def _stream_of(ref: str) -> str:
    try:
        source = parse_ref(ref)
    except HnError:
        return ""
    return source.stream if source is not None else ""


def publish(
    repo: Repository,
    reader: ObjectReader,
    prefixes: PrefixStore,
    remote: Remote,
    advertised: Mapping[str, str],
    publications: list[Publication],
) -> None:
    """Send what the remote does not have. Raises SuiteError when it cannot be reached at all."""
    wanted: list[Publication] = []
    for publication in publications:
        publication.remote_head = advertised.get(publication.ref, "")
        if publication.remote_head == publication.local_head:
            publication.status = UNCHANGED
        elif _is_valid(repo, reader, prefixes, publication) and not _is_behind(repo, reader, publication):
            wanted.append(publication)
    if not wanted:
        return
    by_ref = {publication.ref: publication for publication in wanted}
    for pushed in remote.push([publication.ref for publication in wanted]):
        _settle(by_ref[pushed.ref], pushed)


def _settle(publication: Publication, pushed: Pushed) -> None:
    publication.reason = pushed.summary
    if pushed.accepted:
        publication.status = UNCHANGED if pushed.flag == "=" else PUBLISHED
    else:  # git itself refuses what is no fast-forward; for all else the remote has its reasons
        publication.status = DIVERGED if pushed.summary.startswith("[rejected]") else REJECTED


def _is_valid(
    repo: Repository, reader: ObjectReader, prefixes: PrefixStore, publication: Publication
) -> bool:
    """Whether every memory or event of it verifies."""
    try:
        source = _source(publication)
        if prefixes.position(source, publication.local_head) is not None:
            return True
        if publication.kind == ACTOR:
            entries = read_chain(repo, reader, source, publication.local_head)
            if not entries or entries[-1].commit != publication.local_head:
                raise HnError("an event of the chain breaks a rule")
            prefixes.extend(source, None, [(e.commit, e.payload_oid, e.event.id) for e in entries])
            return True
        latest = prefixes.latest(source)
        entries_of_stream, below = advance(
            repo,
            reader,
            source,
            publication.local_head,
            lambda commit: prefixes.position(source, commit),
            latest.commit if latest else None,
        )
        prefixes.extend(source, below, [entry.placed for entry in entries_of_stream])
    except HnError as error:
        publication.status, publication.reason = INVALID, f"it was not sent: {error.message}"
        return False
    return True


def _source(publication: Publication) -> Source:
    if publication.kind == MEMORY:
        source = parse_ref(publication.ref)
        assert source is not None
        return source
    actor = event_ref_actor(publication.ref)
    if actor is None:
        raise HnError("malformed actor ref")
    return Source(publication.ref, actor, EVENT_PROTOCOL)


def _is_behind(repo: Repository, reader: ObjectReader, publication: Publication) -> bool:
    """Whether the remote has all of it and more, as far as that can be told here."""
    head = publication.remote_head
    if not head or reader.types([head])[0] != "commit":
        return False
    if not repo.is_ancestor(publication.local_head, head):
        return False
    publication.status = BEHIND
    publication.reason = "the remote has all of it and more"
    return True
