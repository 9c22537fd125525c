"""What projection asks of a repository, answered in bulk over one ``git cat-file``.

``RepositoryFacts`` implements ``projection.Facts``. ``prepare`` looks up everything that a set of
memories will need (types, trees, one ``rev-list`` for all ancestry) with a handful of round trips;
a question that was not prepared is answered singly. Answers are kept for the life of the object:
the repository is taken as it was when it was asked first.

memory-v0, "Lifecycle and the five independent judgments"; docs/protocol.md, "Projection".
"""

from __future__ import annotations

from ai_kb.hn.gitstore import ObjectReader, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from ai_kb.hn.envelope_types import VerifiedMemory


class RepositoryFacts:
    """Facts of ``repo`` and of a verified set.

    Args:
        memories: ids of the verified set.
        events: gives the ids of all verified events; called at most once, and only if evidence asks.
    """

    def __init__(
        self,
        repo: Repository,
        reader: ObjectReader,
        memories: Container[str],
        events: Callable[[], Container[str]],
    ) -> None:
        self._repo = repo
        self._reader = reader
        self._memories = memories
        self._collect_events = events
        self._events: Container[str] | None = None
        self._types: dict[str, str | None] = {}
        self._ancestry: dict[tuple[str, str], bool | None] = {}
        self._paths: dict[tuple[str, str], str | None] = {}

    def prepare(self, memories: Iterable[VerifiedMemory], at_commit: str) -> None:
        """Look up what projecting ``memories`` at ``at_commit`` will ask."""
        descending = self.prepare_objects(memories, at_commit)
        if self._types[at_commit] == "commit":
            self._look_up_ancestry({oid for oid in descending if self._types[oid] == "commit"}, at_commit)

    def prepare_objects(self, memories: Iterable[VerifiedMemory], *others: str) -> set[str]:
        """Look up the anchors, anchored paths and Git evidence of ``memories``, and the objects ``others``.

        Returns the anchor commits that apply to their descendants.
        """
        oids = set(others)
        descending: set[str] = set()
        paths: set[tuple[str, str]] = set()
        for memory in memories:
            record = memory.envelope.record
            evidence = memory.envelope.evidence if record is None else record.evidence
            oids.update(entry[4:] for entry in evidence if entry.startswith("git:"))
            if record is not None:
                oids.add(record.anchor.commit)
                paths.update((record.anchor.commit, entry.path) for entry in record.anchor.paths)
                if record.applicability.mode == "descendants":
                    descending.add(record.anchor.commit)
        self._look_up_types(oids)
        self._look_up_paths({key for key in paths if self._types[key[0]] == "commit"})
        return descending

    def prepare_ancestry(self, ancestors: set[str], descendant: str) -> None:
        """Look up which of ``ancestors``, all of them commits here, ``descendant`` descends from."""
        self._look_up_ancestry(
            {oid for oid in ancestors if (oid, descendant) not in self._ancestry}, descendant
        )

    def object_type(self, oid: str) -> str | None:
        """``commit``, ``tree``, ``blob`` or ``tag``; None when the exact object is not there."""
        if oid not in self._types:
            self._look_up_types({oid})
        return self._types[oid]

    def is_ancestor(self, ancestor: str, descendant: str) -> bool | None:
        """Whether ``ancestor`` is ``descendant`` or reachable from it; None: history is cut off before."""
        if ancestor == descendant:
            return True
        key = ancestor, descendant
        if key not in self._ancestry:
            self._look_up_ancestry({ancestor}, descendant)
        return self._ancestry[key]

    def path_blob(self, commit: str, path: str) -> str | None:
        """The blob at ``path`` of ``commit``, ``absent``, ``not-a-blob``, or None when trees are missing."""
        key = commit, path
        if key not in self._paths:
            self._look_up_paths({key})
        return self._paths[key]

    def event_known(self, event_id: str) -> bool:
        """Whether ``event_id`` is an event of a verified chain."""
        if self._events is None:
            self._events = self._collect_events()
        return event_id in self._events

    def memory_known(self, memory_id: str) -> bool:
        """Whether ``memory_id`` is in the verified set."""
        return memory_id in self._memories

    def _look_up_types(self, oids: set[str]) -> None:
        asked = sorted(oids)
        self._types.update(zip(asked, self._reader.types(asked), strict=True))

    def _look_up_paths(self, keys: set[tuple[str, str]]) -> None:
        self._reader.load_directories((commit, path.rpartition("/")[0]) for commit, path in keys)
        for commit, path in keys:
            self._paths[commit, path] = self._reader.path_blobs(commit, [path])[0]

    def _look_up_ancestry(self, ancestors: set[str], descendant: str) -> None:
        for ancestor, answer in self._repo.ancestry(ancestors, descendant).items():
            self._ancestry[ancestor, descendant] = answer
