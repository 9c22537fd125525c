"""A Git repository as the protocol reads it: where it is, its refs, its objects, its history.

Everything is asked of native git, in bulk: one ``for-each-ref``, one ``cat-file``, one
``rev-list``; never a process per object. Object ids, refs and paths are exact: no
pathspec magic, no replace objects, no abbreviation. Nothing here writes (``gitwrite``
does) and nothing here judges: streams, events and policy do.

The environment is the caller's, passed in. With ``GIT_NO_LAZY_FETCH`` set there, reading
never reaches the network, also with a git too old to know that variable: every transport
is forbidden to it as well.

docs/protocol.md, "Git objects and refs"; "Where this differs from the first implementation", 4, 5 and 8.
"""

from __future__ import annotations

import os

from agent_base import files, gitdir, gitproc
from agent_base.gitproc import GitError
from ai_kb.hn import unsettled
from ai_kb.hn.display import quoted, shown
from ai_kb.hn.errors import HnError, NotFound
from ai_kb.hn.gitobjects import (
    ABSENT,
    NOT_A_BLOB,
    ObjectReader,
    TreeEntry,
    is_oid,
    parse_commit,
    parse_tree,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CONFIG_LIMIT = 1 << 20  # bytes of a configuration file that are looked at


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
            ("rev-parse", "--show-object-format", "--show-cdup", "--absolute-git-dir"),
            env=env,
            hook=hook,
            deadline=deadline,
        )
        if status != 0:
            reason = git_reason(err, status)
            why = "" if "not a git repository (or any" in reason else f": {reason}"
            raise NotFound(
                f"not inside a Git repository{why}", "run this inside a repository, or `git init` one"
            )
        # The path comes last: it may hold line breaks. Of a bare repository there is no line with the way up.
        object_format, _, rest = os.fsdecode(out).removesuffix("\n").partition("\n")
        work_tree = None
        if not rest.startswith("/"):
            up, _, rest = rest.partition("\n")
            work_tree = os.path.normpath(os.path.join(os.path.realpath(path), up))
        if not rest.startswith("/"):
            raise HnError("git did not say where the repository is; nothing was changed")
        return cls(
            git_dir=rest,
            common_dir=gitdir.common_dir(rest),
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
        """Ref name to object id of every ref that is, or is below, one of ``prefixes``. One process.

        Refs that a promotion was moving when it was interrupted are given as they were before
        (``unsettled``). Raises InvalidStream for a memory ref that is there and holds no object id, as a
        power cut leaves one behind: git itself would pass it over, and a stream would begin anew.
        """
        broken: list[str] = []
        found = gitproc.for_each_ref(
            self.where,
            prefixes,
            env=self.reading_env,
            hook=self.hook,
            deadline=self.deadline,
            broken=broken,
        )
        if broken:
            from ai_kb.hn.streamrefs import refuse_broken

            refuse_broken(broken)
        transactions = unsettled.pending(self.common_dir)
        return unsettled.settle(self.common_dir, transactions, found) if transactions else found

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


def configured_object_format(common_dir: str) -> str:
    """``extensions.objectFormat`` of a repository's own configuration file."""
    try:
        data = files.read_beginning(os.path.join(common_dir, "config"), _CONFIG_LIMIT)
    except OSError:
        return "sha1"
    section = ""
    for line in data.decode("utf-8", "replace").split("\n"):
        text = line.strip().lower()
        if text.startswith("["):
            section = text
        elif section.startswith("[extensions]") and text.startswith("objectformat"):
            return "sha256" if text.partition("=")[2].strip() == "sha256" else "sha1"
    return "sha1"


def git_reason(err: bytes, status: int) -> str:
    """The first line that git wrote to stderr, made inert."""
    from agent_base.inert import terminal

    lines = [line for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    return terminal(lines[0].strip()) if lines else f"exit status {status}"


__all__ = [
    "ABSENT",
    "NOT_A_BLOB",
    "GitError",
    "ObjectReader",
    "Repository",
    "TreeEntry",
    "configured_object_format",
    "git_reason",
    "is_oid",
    "parse_commit",
    "parse_tree",
    "quoted",
    "shown",
]
