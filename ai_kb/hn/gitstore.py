"""A Git repository as the protocol reads it: where it is, its refs, its objects, its history.

Everything is asked of native git, in bulk: one ``for-each-ref``, one ``cat-file``, one
``rev-list``; never a process per object. Object ids, refs and paths are exact: no
pathspec magic, no replace objects, no abbreviation. Nothing here writes (``gitwrite``
does) and nothing here judges: streams, events and policy do.

The environment is the caller's, passed in. With ``GIT_NO_LAZY_FETCH`` set there, reading
never reaches the network, also with a git too old to know that variable: every transport
is forbidden to it as well.

PROTOCOL, "Git objects and refs"; "Where this project does better", 4, 5 and 8.
"""

from __future__ import annotations

import os

from agent_base import gitproc
from agent_base.gitproc import CatFile, GitError
from ai_kb.hn.errors import HnError, NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ABSENT = "absent"
NOT_A_BLOB = "not-a-blob"

# A commit or tree of the protocol is a few hundred bytes; a policy or payload at most 1 MiB.
OBJECT_LIMIT = 1 << 20

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


class Repository:
    """Where a repository is and how it is asked.

    Attributes:
        git_dir: absolute Git directory, of this worktree where it is a linked one.
        common_dir: absolute Git directory that all worktrees share.
        work_tree: absolute root of the work tree, None in a bare repository.
        object_format: ``sha1`` or ``sha256``.
        hash_length: hex digits of a full object id, 40 or 64.
        where: arguments that select it for git.
        env: the caller's environment.
        hook: whether git is hardened as in a hook.
        deadline: ``time.monotonic()`` value after which git is stopped, or None.
    """

    __slots__ = (
        "common_dir",
        "deadline",
        "env",
        "git_dir",
        "hash_length",
        "hook",
        "object_format",
        "where",
        "work_tree",
    )

    def __init__(
        self,
        *,
        git_dir: str,
        common_dir: str,
        work_tree: str | None,
        object_format: str,
        env: Mapping[str, str],
        hook: bool = False,
        deadline: float | None = None,
        where: tuple[str, ...] | None = None,
    ) -> None:
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.work_tree = work_tree
        self.object_format = object_format
        self.hash_length = 64 if object_format == "sha256" else 40
        self.env = env
        self.hook = hook
        self.deadline = deadline
        if where is None:
            where = ("--git-dir", git_dir) if work_tree is None else ("-C", work_tree)
        self.where = where

    @classmethod
    def open(
        cls, path: str, env: Mapping[str, str], *, hook: bool = False, deadline: float | None = None
    ) -> Repository:
        """The repository that ``path`` (a directory, anywhere inside it) belongs to. One process.

        Git's own rules decide: ceilings, ``safe.directory``, ``core.worktree``. Raises NotFound.
        """
        status, out, err = gitproc.run(
            ("-C", path),
            (
                "rev-parse",
                "--absolute-git-dir",
                "--path-format=absolute",
                "--git-common-dir",
                "--show-object-format",
                "--show-cdup",
            ),
            env=env,
            hook=hook,
            deadline=deadline,
        )
        if status != 0:
            raise NotFound(
                f"not inside a Git repository: {git_reason(err, status)}",
                "run this inside a repository, or `git init` one",
            )
        lines = os.fsdecode(out).split("\n")
        if len(lines) < 4:
            raise HnError("git did not say where the repository is; nothing was changed")
        git_dir, common_dir, object_format = lines[:3]
        work_tree = None
        if len(lines) > 4:  # the last line ends with a line break too; a bare repository has no fourth
            work_tree = os.path.normpath(os.path.join(os.path.realpath(path), lines[3]))
        return cls(
            git_dir=git_dir,
            common_dir=os.path.normpath(common_dir),
            work_tree=work_tree,
            object_format=object_format,
            env=env,
            hook=hook,
            deadline=deadline,
        )

    @classmethod
    def bare(
        cls, git_dir: str, env: Mapping[str, str], *, hook: bool = False, deadline: float | None = None
    ) -> Repository:
        """The bare repository at exactly ``git_dir``, which the caller trusts. No process.

        Raises NotFound when there is none.
        """
        git_dir = os.path.realpath(git_dir)
        if not os.path.isdir(os.path.join(git_dir, "objects")):
            raise NotFound(f"there is no Git repository at {git_dir!r}")
        return cls(
            git_dir=git_dir,
            common_dir=git_dir,
            work_tree=None,
            object_format=configured_object_format(git_dir),
            env=env,
            hook=hook,
            deadline=deadline,
        )

    @property
    def reading_env(self) -> Mapping[str, str]:
        """The environment of git processes that only read."""
        if self.env.get("GIT_NO_LAZY_FETCH", "").lower() in ("", "0", "false", "no", "off"):
            return self.env
        return {**self.env, "GIT_ALLOW_PROTOCOL": "none"}

    def run(self, *arguments: str, stdin: bytes = b"", limit: int | None = None) -> tuple[int, bytes, bytes]:
        """One git process in this repository, to its end: exit status, stdout, stderr."""
        return gitproc.run(
            self.where,
            arguments,
            env=self.reading_env,
            hook=self.hook,
            stdin=stdin,
            deadline=self.deadline,
            limit=limit,
        )

    def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Output of one git process that must succeed. Raises HnError with git's own reason."""
        status, out, err = self.run(*arguments, stdin=stdin)
        if status != 0:
            raise HnError(f"git {arguments[0]} failed: {git_reason(err, status)}")
        return out

    def refs(self, *prefixes: str) -> dict[str, str]:
        """Ref name to object id of every ref that is, or is below, one of ``prefixes``. One process."""
        return gitproc.for_each_ref(
            self.where, prefixes, env=self.reading_env, hook=self.hook, deadline=self.deadline
        )

    def objects(self) -> ObjectReader:
        """A reader over one ``git cat-file``; use it as a context manager."""
        return ObjectReader(self)

    def resolve_commit(self, revision: str, reader: ObjectReader | None = None) -> str:
        """The full id of the commit that ``revision`` names. See ``ObjectReader.resolve_commit``."""
        if reader is not None:
            return reader.resolve_commit(revision)
        with self.objects() as own:
            return own.resolve_commit(revision)

    def is_shallow(self) -> bool:
        """Whether history ends at a boundary recorded by a shallow clone."""
        return os.path.exists(os.path.join(self.common_dir, "shallow"))

    def shallow_commits(self) -> list[str]:
        """Ids of the commits at the shallow boundary."""
        try:
            with open(os.path.join(self.common_dir, "shallow"), encoding="ascii") as file:
                return file.read().split()
        except (FileNotFoundError, UnicodeDecodeError):
            return []

    def ancestry(self, commits: Iterable[str], head: str) -> dict[str, bool | None]:
        """Of each of ``commits`` whether it is ``head`` or an ancestor of it. One process, in a shallow
        repository at most three.

        All are ids of commits that exist. None: history is cut off before that could be told.
        """
        wanted = set(commits)
        outside = self._outside(wanted, head)
        if outside is None:
            return dict.fromkeys(wanted)
        answers: dict[str, bool | None] = {oid: oid not in outside for oid in wanted}
        if outside and self._is_cut_off(head):
            answers.update(dict.fromkeys(outside))
        return answers

    def is_ancestor(self, ancestor: str, descendant: str) -> bool | None:
        """``ancestry`` of one commit."""
        return True if ancestor == descendant else self.ancestry([ancestor], descendant)[ancestor]

    def not_reachable(self, commits: Iterable[str], head: str) -> set[str] | None:
        """Those of ``commits`` that are neither ``head`` nor an ancestor of it; None: that cannot be told
        of all of them."""
        answers = self.ancestry(commits, head)
        return None if None in answers.values() else {oid for oid, answer in answers.items() if not answer}

    def _outside(self, commits: set[str], head: str) -> set[str] | None:
        """Those of ``commits`` that git does not find in the history of ``head``; None: git failed."""
        if not commits:
            return set()
        names = "".join(f"{oid}\n" for oid in sorted(commits)) + f"^{head}\n"
        status, out, _ = self.run("rev-list", "--stdin", stdin=names.encode("ascii"))
        if status != 0:
            return None
        return commits.intersection(out.decode("ascii", "replace").split("\n"))

    def _is_cut_off(self, commit: str) -> bool:
        """Whether the history of ``commit`` runs into a shallow boundary, beyond which nobody can say."""
        shallow = self.shallow_commits()
        if not shallow:
            return False
        with self.objects() as reader:
            there = reader.types(shallow)
        boundary = {oid for oid, kind in zip(shallow, there, strict=True) if kind == "commit"}
        outside = self._outside(boundary, commit)
        return outside is None or len(outside) < len(boundary)


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
            found = self.info([revision + "^{commit}"])[0]
            if found is not None:
                return found[0]
        raise NotFound(f"Git revision {quoted(revision)} is not a commit")

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
        for found in self.contents([oid]):
            return None if found is None else (found[1], found[2])
        return None

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


def configured_object_format(common_dir: str) -> str:
    """``extensions.objectFormat`` of a repository's own configuration file."""
    try:
        with open(os.path.join(common_dir, "config"), encoding="utf-8", errors="replace") as file:
            section = ""
            for line in file:
                text = line.strip().lower()
                if text.startswith("["):
                    section = text
                elif section.startswith("[extensions]") and text.startswith("objectformat"):
                    return "sha256" if text.partition("=")[2].strip() == "sha256" else "sha1"
    except OSError:
        pass
    return "sha1"


def quoted(text: str) -> str:
    """A caller's own argument in double quotes, escaped so that it stays on its line."""
    from agent_base.inert import terminal

    return '"' + terminal(text).replace('"', '\\"') + '"'


def shown(text: str) -> str:
    """A name or path for a terminal: controls escaped, backslashes as they are."""
    from agent_base.inert import terminal

    return terminal(text).replace("\\\\", "\\")


def git_reason(err: bytes, status: int) -> str:
    """The first line that git wrote to stderr, made inert."""
    from agent_base.inert import terminal

    lines = [line for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    return terminal(lines[0].strip()) if lines else f"exit status {status}"


def batched(items: Iterable[str], size: int) -> Iterator[list[str]]:
    """``items`` in lists of at most ``size``."""
    batch: list[str] = []
    for item in items:
        batch.append(item)
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


__all__ = [
    "ABSENT",
    "NOT_A_BLOB",
    "GitError",
    "ObjectReader",
    "Repository",
    "TreeEntry",
    "is_oid",
    "parse_commit",
    "parse_tree",
]
