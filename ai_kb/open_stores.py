"""The stores of one session, open while one query lasts: what may be shown, and what fits.

The home store when it is there; the repository's when a person accepted the policy at its HEAD. Each
fails alone: it contributes nothing, and a note says why. At most three git processes for both: one
``cat-file`` of the repository, which also answers HEAD; its ``for-each-ref`` once it is accepted; one
``cat-file`` of the home store when its index has to be brought up to date. Standard library only:
hooks import this.
"""

from __future__ import annotations

import os

from agent_base import files
from agent_base.errors import SuiteError
from ai_kb import inject_text, store_paths
from ai_kb.store_paths import HOME, REPO, described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ai_kb.capsule import Capsule
    from ai_kb.gates import Gate
    from ai_kb.hn.cache_index import Index
    from ai_kb.hn.gitobjects import ObjectReader
    from ai_kb.hn.gitstore import Repository
    from ai_kb.project import Project

_POLICY_PATH = ".hn/policy.json"
_POLICY_LIMIT = 1 << 20
_MISSING_POLICY = b"hn-memory-policy-missing-v0"


class Where:
    """One session, and what bounds and hears of its recall.

    Args:
        note: called with one line for each part that failed.
        deadline: a ``time.monotonic()`` value.
    """

    __slots__ = ("deadline", "env", "note", "now", "session_key", "spec_dir", "workspace")

    def __init__(
        self,
        *,
        workspace: str,
        spec_dir: str,
        session_key: str,
        env: Mapping[str, str],
        now: float,
        note: Callable[[str], None],
        deadline: float,
    ) -> None:
        self.workspace = workspace
        self.spec_dir = spec_dir
        self.session_key = session_key
        self.env = env
        self.now = now
        self.note = note
        self.deadline = deadline


def said(error: Exception) -> str:
    """``error`` for the ledger: a refusal's own words, or what kind of failure it was."""
    return str(error) if isinstance(error, SuiteError) else f"{type(error).__name__}: {error}"


class Entry:
    """A record that is going to be shown."""

    __slots__ = ("capsule", "challenged", "changed", "memory_id", "timestamp", "trust")

    def __init__(
        self, memory_id: str, capsule: Capsule, timestamp: str, trust: str, challenged: bool
    ) -> None:
        self.memory_id = memory_id
        self.capsule = capsule
        self.timestamp = timestamp
        self.trust = trust
        self.challenged = challenged
        self.changed: tuple[str, ...] = ()


class OpenStores:
    """The stores of one query, open while it lasts."""

    def __init__(self, where: Where) -> None:
        self.where = where
        self._repo: Repository | None = None
        self._reader: ObjectReader | None = None
        self._project: Project | None = None
        self._indexes: dict[str, Index] = {}
        self._readers: list[ObjectReader] = []

    def __enter__(self) -> OpenStores:
        return self

    def __exit__(self, *_: object) -> None:
        for index in self._indexes.values():
            index.close()
        for reader in self._readers:
            reader.close()

    def heal(self, error: Exception) -> None:
        """Remove a damaged index, so that the next prompt makes it again; never fails."""
        from ai_kb.hn import cache, cache_file

        if not cache_file.is_damage(error):
            return
        for index in self._indexes.values():
            try:
                index.close()
                cache.discard(index.repo, self.where.workspace)
            except (SuiteError, OSError) as failure:
                self.where.note(f"the private index: {failure}")

    # ------------------------------------------------------------ what is there

    def _find_repository(self) -> None:
        """Find the workspace's repository, and start its one ``cat-file``."""
        if self._repo is not None:
            return
        from ai_kb.hn.cache import locate

        where = self.where
        self._repo = locate(where.workspace, where.env, hook=True, deadline=where.deadline)
        if self._repo is not None:
            self._reader = self._repo.objects()
            self._readers.append(self._reader)
            self._reader.start()

    @property
    def project(self) -> Project:
        """The project of the workspace; only the workspace is known when its repository fails."""
        if self._project is None:
            from ai_kb.project import Project, identify

            where = self.where
            self._find_repository()
            common_dir = self._repo.common_dir if self._repo is not None else None
            try:
                self._project = identify(where.workspace, common_dir, self._reader, env=where.env, hook=True)
            except (SuiteError, OSError) as error:
                where.note(f"the repository of the workspace: {error}")
                self._project = Project(where.workspace)
        return self._project

    def _home(self) -> Index | None:
        from ai_kb.hn.cache import REF_PREFIXES, open_index
        from ai_kb.hn.gitstore import Repository
        from ai_kb.home_refs import read_refs
        from ai_kb.search import EXTENSION

        where = self.where
        path = store_paths.home_path(where.env, where.workspace)
        try:
            files.check_private(path, os.lstat(path))
        except FileNotFoundError:
            return None
        repo = Repository.bare(path, where.env, hook=True, deadline=where.deadline)
        prefixes = (*REF_PREFIXES, store_paths.MAIN)
        refs = read_refs(repo.git_dir, prefixes)
        if refs is None:
            refs = repo.refs(*prefixes)
        if store_paths.MAIN not in refs:
            return None
        reader = repo.objects()
        self._readers.append(reader)
        return open_index(
            repo,
            at=store_paths.MAIN,
            refs=refs,
            reader=reader,
            extension=EXTENSION,
            workspace=where.workspace,
        )

    def _accepted_repo(self) -> Index | None:
        """The repository's index, if a person accepted the policy at its HEAD."""
        from ai_kb import consent

        where = self.where
        if not self.project.head or self._repo is None:
            return None
        words = consent.acceptances(where.env, self._repo.common_dir, where.workspace)
        if not words or self._policy_digest() not in words:
            return None
        index = self._open_repo()
        if index.policy_digest not in words:
            index.close()
            return None
        return index

    def _open_repo(self) -> Index:
        from ai_kb.hn.cache import open_index
        from ai_kb.search import EXTENSION

        assert self._repo is not None
        return open_index(
            self._repo,
            at=self.project.head,
            reader=self._reader,
            extension=EXTENSION,
            workspace=self.where.workspace,
        )

    def _policy_digest(self) -> str:
        """Digest of the policy at HEAD, asked without the protocol's parser, which a prompt cannot wait for.

        The index has the last word: what it was opened with is compared again.
        """
        from agent_base.digests import sha256_hex

        assert self._reader is not None
        name = f"{self.project.head}:{_POLICY_PATH}"
        found = self._reader.info([name])[0]
        if found is None:
            return "sha256:" + sha256_hex(_MISSING_POLICY)
        if found[1] != "blob" or found[2] > _POLICY_LIMIT:
            return ""
        data = self._reader.content(found[0])
        return "" if data is None else "sha256:" + sha256_hex(data[2])

    def waiting(self) -> int:
        """How many records of the repository's store only wait for the policy to be accepted."""
        from ai_kb import consent

        where = self.where
        self._find_repository()
        if self._repo is None or not self.project.head:
            return 0
        words = consent.acceptances(where.env, self._repo.common_dir, where.workspace)
        if self._policy_digest() in words:
            return 0
        index = self._indexes[REPO] = self._open_repo()
        return self._gate().allowed(index, REPO).bit_count()

    def _gate(self) -> Gate:
        from ai_kb import consent
        from ai_kb.gates import Gate

        where = self.where
        return Gate(
            self.project,
            lambda: consent.approved(where.env, where.workspace),
            lambda: consent.approves_all(where.env, where.workspace),
        )

    # ------------------------------------------------------------ what fits

    def relevant(self, query: str, limit: int, prose: bool = False) -> list[tuple[str, Entry]]:
        """Id and entry of the records worth showing, best first; ``prose``: none of it was pasted."""
        from ai_kb.search import Source

        gate: Gate | None = None
        sources: list[Source] = []
        self._find_repository()
        for name, opener in ((HOME, self._home), (REPO, self._accepted_repo)):
            try:
                index = opener()
                if index is None:
                    continue
                self._indexes[name] = index
                gate = gate or self._gate()
                allowed = gate.allowed(index, name)
                if allowed:
                    sources.append(Source(name, index.conn, allowed))
            except Exception as error:  # noqa: BLE001 - one store's failure leaves the other alone
                self.where.note(f"the {described(name)}: {said(error)}; nothing of it was injected")
                self.heal(error)
        if not sources or gate is None:
            return []
        from ai_kb.relevance import select_relevant

        numbers: dict[str, list[int]] = {}
        order: list[tuple[str, int]] = []
        for selected in select_relevant(query, sources, limit=limit, prose=prose):
            numbers.setdefault(selected.source, []).append(selected.number)
            order.append((selected.source, selected.number))
        entries: dict[tuple[str, int], Entry] = {}
        for name, wanted in numbers.items():
            entries.update(self._entries(name, wanted, gate))
        return [(entries[key].memory_id, entries[key]) for key in order if key in entries]

    def _entries(self, name: str, numbers: Sequence[int], gate: Gate) -> dict[tuple[str, int], Entry]:
        from ai_kb.capsule import Capsule

        index = self._indexes[name]
        entries = index.judged(numbers, recheck=name == REPO)
        proven = [j.record for j in entries if j.record.data["evidence"]]
        if name == HOME and proven:
            # Its anchor is its root, which it always has; only evidence is worth a process.
            gone = index.recheck(proven)
            entries = [j for j in entries if j.record.number not in gone]
        found: dict[tuple[str, int], Entry] = {}
        paths: list[tuple[tuple[str, int], str, str]] = []
        for judged in entries:
            record = judged.record
            topics = record.data["topics"]
            assert isinstance(topics, list)
            capsule = Capsule(str(record.data["kind"]), str(record.data["content"]), topics)
            if not gate.admits(record.id, capsule, name):
                continue
            key = (name, record.number)
            found[key] = Entry(record.id, capsule, record.timestamp, judged.trust, bool(judged.challengers))
            anchor = record.data["anchor"]
            assert isinstance(anchor, dict)
            paths += [(key, entry["path"], entry["blob"]) for entry in anchor.get("paths") or ()]
        if paths and name == REPO:
            self._mark_drift(found, paths)
        return found

    def _mark_drift(
        self,
        found: dict[tuple[str, int], Entry],
        paths: Sequence[tuple[tuple[str, int], str, str]],
    ) -> None:
        """Note which anchored files HEAD has no longer as they were."""
        assert self._reader is not None
        names = list(dict.fromkeys(path for _, path, _ in paths))
        now = dict(zip(names, self._reader.path_blobs(self.project.head, names), strict=True))
        for key, path, blob in paths:
            if now[path] is not None and now[path] != blob:
                found[key].changed = (*found[key].changed, path)

    def line(self, entry: Entry, depth: str) -> str:
        """One entry as an inert line."""
        capsule = entry.capsule
        return inject_text.line(
            entry.memory_id,
            kind=capsule.kind,
            title=capsule.title,
            body=capsule.body,
            trust=entry.trust,
            age=inject_text.age(entry.timestamp, self.where.now),
            by=capsule.by,
            challenged=entry.challenged,
            source_changed=entry.changed,
            depth=depth,
        )
