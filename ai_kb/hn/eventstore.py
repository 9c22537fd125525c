"""The repository's collaboration events, collected so that ``event:`` evidence can point to them.

Read only. Every local and accepted actor chain is verified from its root (``events``); the events
before the first that breaks a rule count, nothing after it does, and one damaged chain takes
nothing from another. Verified prefixes are remembered as those of memory streams are.

docs/protocol.md, "Collaboration events, read only".
"""

from __future__ import annotations

from ai_kb.hn.errors import InvalidEvent
from ai_kb.hn.events import (
    ACTORS_PREFIX,
    EVENT_FILE,
    SIGNATURE_FILE,
    VerifiedEvent,
    event_ref_actor,
    verify_chain,
)
from ai_kb.hn.gitstore import ObjectReader, Repository, parse_commit, parse_tree
from ai_kb.hn.streamrefs import REMOTES_PREFIX, Source
from ai_kb.hn.verification import Checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ai_kb.hn.prefixes import PrefixStore

EVENT_PREFIXES = (ACTORS_PREFIX, REMOTES_PREFIX)

# Stands where the id of a memory stream stands among remembered prefixes.
_CHAIN = "hn/0"


class EventEntry:
    """A verified event and where it stands."""

    __slots__ = ("commit", "event", "payload_oid")

    def __init__(self, event: VerifiedEvent, commit: str, payload_oid: str) -> None:
        self.event = event
        self.commit = commit
        self.payload_oid = payload_oid


def collect_events(
    repo: Repository,
    reader: ObjectReader,
    *,
    refs: Mapping[str, str] | None = None,
    prefixes: PrefixStore | None = None,
) -> set[str]:
    """Ids of all verified events.

    Args:
        refs: what ``repo.refs(*EVENT_PREFIXES)`` gave, if the caller has it already.
        prefixes: verified prefixes to resume from and to extend.
    """
    found: set[str] = set()
    for ref, head in sorted((repo.refs(*EVENT_PREFIXES) if refs is None else refs).items()):
        actor = event_ref_actor(ref)
        if actor is None:
            continue
        source = Source(ref, actor, _CHAIN)
        below = _resume(repo, source, head, prefixes)
        entries = read_chain(repo, reader, source, head, below)
        if prefixes is not None:
            if below is not None:
                found.update(member.memory_id for member in prefixes.members(source, below.sequence))
            prefixes.extend(source, below, [(e.commit, e.payload_oid, e.event.id) for e in entries])
        found.update(entry.event.id for entry in entries)
    return found


def _resume(repo: Repository, source: Source, head: str, prefixes: PrefixStore | None) -> Checkpoint | None:
    """The longest remembered prefix of the chain that ends in ``head``."""
    if prefixes is None:
        return None
    exact = prefixes.position(source, head)
    if exact is not None:
        return exact
    latest = prefixes.latest(source)
    if latest is None:
        return None
    return latest if repo.not_reachable([latest.commit], head) == set() else None


def read_chain(
    repo: Repository, reader: ObjectReader, source: Source, head: str, below: Checkpoint | None = None
) -> list[EventEntry]:
    """The verified events from the root, or from ``below``, to ``head``; it ends where a rule breaks."""
    boundary = (f"^{below.commit}",) if below else ()
    status, out, _ = repo.run("rev-list", "--reverse", head, *boundary)
    commits = out.decode("ascii").split() if status == 0 else []
    links = list(_linear(reader, commits, below.commit if below else None))
    placed: list[tuple[str, str]] = []
    after = VerifiedEvent(below.memory_id, "", below.sequence) if below else None
    entries: list[EventEntry] = []
    try:
        for event in verify_chain(source.actor, _files(reader, links, placed), after):
            commit, payload_oid = placed[len(entries)]
            entries.append(EventEntry(event, commit, payload_oid))
    except InvalidEvent:
        pass  # what was yielded before stands
    return entries


def _linear(reader: ObjectReader, commits: Sequence[str], parent: str | None) -> Iterator[tuple[str, str]]:
    """(commit, tree) as long as each commit's one parent is the one before."""
    expected = [] if parent is None else [parent]
    for commit, found in zip(commits, reader.contents(commits), strict=True):
        if found is None or found[1] != "commit":
            return
        try:
            tree, parents = parse_commit(found[2])
        except ValueError:
            return
        if parents != expected:
            return
        expected = [commit]
        yield commit, tree


def _files(
    reader: ObjectReader, links: Sequence[tuple[str, str]], placed: list[tuple[str, str]]
) -> Iterator[tuple[bytes, bytes, list[str]]]:
    """(payload, signature text, names in the tree) of each commit, as long as the tree has the form."""
    names: list[list[str]] = []
    blobs: list[str] = []
    for (commit, _), found in zip(links, reader.contents([tree for _, tree in links]), strict=True):
        files = _blobs_of(reader, found)
        if files is None:
            break
        placed.append((commit, files[EVENT_FILE]))
        names.append(list(files))
        blobs += [files[EVENT_FILE], files[SIGNATURE_FILE]]
    contents = reader.contents(blobs)
    for present in names:
        payload, signature = next(contents), next(contents)
        if payload is None or signature is None or payload[1] != "blob" or signature[1] != "blob":
            return
        yield payload[2], signature[2], present


def _blobs_of(reader: ObjectReader, found: tuple[str, str, bytes] | None) -> dict[str, str] | None:
    """Name to blob id of a tree that has an event and a signature, all regular files, none twice."""
    if found is None or found[1] != "tree":
        return None
    try:
        entries = parse_tree(found[2], reader.hash_length // 2)
    except ValueError:
        return None
    files = {entry.name.decode("utf-8", "replace"): entry.oid for entry in entries if entry.mode == b"100644"}
    if len(files) != len(entries) or EVENT_FILE not in files or SIGNATURE_FILE not in files:
        return None
    return files
