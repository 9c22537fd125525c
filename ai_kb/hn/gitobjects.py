"""Objects of a repository, read in bulk over one ``git cat-file``: by exact id, by revision, by path.

What an object says is parsed here and judged elsewhere. Paths are exact: ``:/x`` and ``*.md`` are
file names, and a path is looked up in trees alone, so that a clone without blobs can answer.

docs/protocol.md, "Git objects and refs"; "Where this differs from the first implementation", 5.
"""

from __future__ import annotations

import os

from agent_base.gitproc import CatFile, GitError, GitTimeout
from ai_kb.hn.display import quoted
from ai_kb.hn.errors import HnError, NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ai_kb.hn.gitstore import Repository

ABSENT = "absent"
NOT_A_BLOB = "not-a-blob"

_HEX = frozenset("0123456789abcdef")
_TREE_MODE = b"40000"
_LINK_MODE = b"160000"


def is_oid(text: str, length: int | None = None) -> bool:
    """Whether ``text`` is a full lowercase object id (of ``length`` digits, else 40 or 64)."""
    return len(text) in ((40, 64) if length is None else (length,)) and _HEX.issuperset(text)


class TreeEntry:
    """One entry of a tree: ``mode`` as Git writes it (``100644``, ``40000``), name in bytes, object id."""

    __slots__ = ("mode", "name", "oid")

    def __init__(self, mode: bytes, name: bytes, oid: str) -> None:
        self.mode = mode
        self.name = name
        self.oid = oid


def parse_tree(data: bytes, hash_bytes: int) -> list[TreeEntry]:
    """Entries of a raw tree object in its own order. Raises ValueError when it is malformed."""
    entries: list[TreeEntry] = []
    position, end = 0, len(data)
    while position < end:
        space = data.index(b" ", position)
        null = data.index(b"\0", space)
        stop = null + 1 + hash_bytes
        if stop > end:
            raise ValueError("truncated tree")
        entries.append(TreeEntry(data[position:space], data[space + 1 : null], data[null + 1 : stop].hex()))
        position = stop
    return entries


def parse_commit(data: bytes) -> tuple[str, list[str]]:
    """(tree id, parent ids) of a raw commit object. Raises ValueError when it is malformed."""
    if data[:5] != b"tree ":
        raise ValueError("no tree")
    end = data.index(b"\n")
    tree = data[5:end].decode("ascii")
    parents: list[str] = []
    while data.startswith(b"parent ", end + 1):
        start = end + 8
        end = data.index(b"\n", start)
        parents.append(data[start:end].decode("ascii"))
    return tree, parents


class ObjectReader(CatFile):
    """``CatFile`` with the protocol's questions: revisions, exact objects, blobs at paths."""

    __slots__ = ("_directories", "hash_length")

    def __init__(self, repo: Repository) -> None:
        super().__init__(repo.where, env=repo.reading_env, hook=repo.hook, deadline=repo.deadline)
        self.hash_length = repo.hash_length
        self._directories: dict[tuple[str, str], dict[bytes, tuple[bytes, str]] | str | None] = {}

    def __enter__(self) -> ObjectReader:
        return self

    def resolve_commit(self, revision: str) -> str:
        """The full id of the commit that ``revision`` names, tags peeled.

        Raises HnError (``invalid revision``, ``is not a commit``); the caller's own argument is
        repeated, quoted.
        """
        if revision.startswith("-"):
            raise HnError(f"invalid revision {quoted(revision)}")
        if revision and "\n" not in revision and "\0" not in revision:
            found = self._named(revision + "^{commit}")
            if found is not None:
                return found
        raise NotFound(f"Git revision {quoted(revision)} is not a commit")

    def _named(self, name: str) -> str | None:
        """The full id of what ``name`` names, None where it names nothing."""
        try:
            found = self.info([name])[0]
        except GitTimeout:
            raise
        except GitError:
            # git gives up on some names, as ``main@{upstream}`` where there is none; where it is the
            # repository that it cannot read, it does so again.
            self.head()
            return None
        return None if found is None else found[0]

    def head(self) -> str | None:
        """The commit at HEAD, None where there is none yet."""
        found = self.info(["HEAD^{commit}"])[0]
        return None if found is None else found[0]

    def types(self, oids: Sequence[str]) -> list[str | None]:
        """Object type of each full id, None where this repository has no such object."""
        asked = [oid for oid in oids if is_oid(oid, self.hash_length)]
        found = {oid: header[1] for oid, header in zip(asked, self.info(asked), strict=True) if header}
        return [found.get(oid) for oid in oids]

    def read(self, oid: str) -> tuple[str, bytes] | None:
        """(type, bytes) of one object, None where there is no such object."""
        found = self.content(oid)
        return None if found is None else (found[1], found[2])

    def path_blobs(self, commit: str, paths: Sequence[str]) -> list[str | None]:
        """What is at each path of ``commit``, an existing commit.

        A blob id; ABSENT; NOT_A_BLOB for a directory or submodule; None when the trees on the way
        are unavailable. Only trees are read, so a clone without blobs can answer.
        """
        self.load_directories((commit, path.rpartition("/")[0]) for path in paths)
        return [self._at(commit, path) for path in paths]

    def load_directories(self, wanted: Iterable[tuple[str, str]]) -> None:
        """Read the trees of many (commit, directory) pairs, one round trip per level of depth."""
        levels: dict[int, set[tuple[str, str]]] = {}
        for commit, directory in wanted:
            parts = directory.split("/") if directory else []
            for depth in range(len(parts) + 1):
                levels.setdefault(depth, set()).add((commit, "/".join(parts[:depth])))
        for depth in sorted(levels):
            keys: list[tuple[str, str]] = []
            names: list[str] = []
            for key in sorted(levels[depth] - self._directories.keys()):
                name = self._tree_name(*key)
                if name is None:
                    self._directories[key] = self._above(*key)
                else:
                    keys.append(key)
                    names.append(name)
            for key, found in zip(keys, self.contents(names), strict=True):
                self._directories[key] = None if found is None else self._listing(found)

    def _tree_name(self, commit: str, directory: str) -> str | None:
        """What to ask git for, None when the directory above already tells that there is no such tree."""
        if not directory:
            return f"{commit}^{{tree}}"
        parent, _, base = directory.rpartition("/")
        above = self._directories[commit, parent]
        if not isinstance(above, dict):
            return None
        mode, oid = above.get(os.fsencode(base), (b"", ""))
        return oid if mode == _TREE_MODE else None

    def _above(self, commit: str, directory: str) -> str | None:
        """ABSENT, or None when the directory above is unavailable itself."""
        above = self._directories[commit, directory.rpartition("/")[0]]
        return None if above is None else ABSENT

    def _listing(self, found: tuple[str, str, bytes]) -> dict[bytes, tuple[bytes, str]]:
        try:
            if found[1] != "tree":
                raise ValueError("not a tree")
            entries = parse_tree(found[2], self.hash_length // 2)
        except ValueError as error:
            raise HnError(f"tree {found[0]} is malformed") from error
        return {entry.name: (entry.mode, entry.oid) for entry in entries}

    def _at(self, commit: str, path: str) -> str | None:
        directory, _, base = path.rpartition("/")
        listing = self._directories[commit, directory]
        if not isinstance(listing, dict):
            return listing
        mode, oid = listing.get(os.fsencode(base), (b"", ""))
        if not mode:
            return ABSENT
        return NOT_A_BLOB if mode in (_TREE_MODE, _LINK_MODE) else oid
