"""Which project a workspace belongs to: what the scopes ``project`` and ``workspace`` go by.

A repository is recognised by the root commit of what is checked out (first parents followed), so
that every clone and worktree is the same project. In a shallow clone, which has no root commit, the
digest of its remote's URL stands in; records made in a full clone with a remote carry both.

The answer per HEAD is cached below ``$XDG_CACHE_HOME``, outside the repository: a ``.git`` from an
archive cannot bring one. Standard library only, no process but the ``cat-file`` that is passed in:
hooks import this. docs/decisions.md, "Scopes gate recall".
"""

from __future__ import annotations

import os

from agent_base import env as environment
from agent_base import files
from agent_base.errors import SuiteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent_base.gitproc import CatFile

URL = "url-"  # how a project id that is no root commit starts
_HEX = frozenset("0123456789abcdef")
_KEPT = 16  # heads whose root is cached per repository
_HOOK_STEPS = 20_000  # commits a hook follows; a command follows all
_CONFIG_LIMIT = 1 << 18


class Project:
    """Where a session works, as far as scopes go.

    Attributes:
        workspace: resolved absolute path.
        digest: what ``workspace/…`` topics hold for it.
        root: root commit, ``""`` where there is none to be known.
        url: digest of the remote's URL (``url-…``), ``""`` without one.
        head: commit at HEAD, ``""`` where there is none.
    """

    __slots__ = ("digest", "head", "root", "url", "workspace")

    def __init__(self, workspace: str, root: str = "", url: str = "", head: str = "") -> None:
        self.workspace = workspace
        self.head = head
        self.digest = workspace_digest(workspace)
        self.root = root
        self.url = url

    @property
    def ids(self) -> tuple[str, ...]:
        """What a record made here carries as ``project/…``; nothing where the project is unknown."""
        return tuple(i for i in (self.root, self.url) if i)

    def is_one_of(self, ids: Iterable[str]) -> bool:
        """Whether a record that carries ``ids`` is of this project.

        Where both sides know a root commit, that decides: a URL can be written into any repository.
        """
        ids = set(ids)
        roots = {i for i in ids if not i.startswith(URL)}
        if self.root and roots:
            return self.root in roots
        return bool(self.url) and self.url in ids


def workspace_digest(workspace: str) -> str:
    """SHA-256 of a workspace's path: a path itself is nobody else's business."""
    from agent_base.digests import sha256_hex

    return sha256_hex(workspace.encode("utf-8", "surrogateescape"))


def identify(
    workspace: str,
    common_dir: str | None,
    reader: CatFile | None,
    *,
    env: Mapping[str, str],
    hook: bool = False,
) -> Project:
    """The project of ``workspace``.

    Args:
        common_dir: its repository's common directory, None outside of any.
        reader: a ``cat-file`` of that repository (its HEAD is that of the work tree).
        hook: follow only so many commits, and believe only trusted cache directories.
    """
    if common_dir is None or reader is None:
        return Project(workspace)
    url = url_id(remote_url(common_dir))
    found = reader.info(["HEAD^{commit}"])[0]
    if found is None:
        return Project(workspace, "", url)
    head = found[0]
    if os.path.exists(os.path.join(common_dir, "shallow")):
        return Project(workspace, "", url, head)
    return Project(workspace, root_commit(workspace, common_dir, head, reader, env=env, hook=hook), url, head)


# ---------------------------------------------------------------- root commit


def root_commit(
    workspace: str,
    common_dir: str,
    head: str,
    reader: CatFile,
    *,
    env: Mapping[str, str],
    hook: bool = False,
) -> str:
    """Root commit of ``head`` along first parents; ``""`` for a history too long for a hook, or cut off."""
    path = _cache_path(env, common_dir, workspace if hook else None)
    known = _read_cache(path)
    if head in known:
        return known[head]
    root = _walk(reader, head, known, _HOOK_STEPS if hook else None)
    if root:
        known[head] = root
        _write_cache(path, dict(list(known.items())[-_KEPT:]))
    return root


def _walk(reader: CatFile, commit: str, known: Mapping[str, str], most: int | None) -> str:
    steps = 0
    while commit not in known:
        data = reader.content(commit)
        if data is None or data[1] != "commit":
            return ""
        header = data[2].partition(b"\n\n")[0].split(b"\n")
        parents = [line[7:].decode("ascii", "replace") for line in header if line.startswith(b"parent ")]
        if not parents:
            return commit
        commit = parents[0]
        steps += 1
        if most is not None and steps >= most:
            return ""
    return known[commit]


def _cache_path(env: Mapping[str, str], common_dir: str, workspace: str | None) -> str:
    base = os.path.join(environment.xdg(env, "XDG_CACHE_HOME", workspace), environment.SUITE, "projects")
    return os.path.join(base, workspace_digest(os.path.realpath(common_dir)))


def _read_cache(path: str) -> dict[str, str]:
    try:
        data = files.read_private(path, 1 << 14)
    except (OSError, SuiteError):
        return {}
    known: dict[str, str] = {}
    for text in data.decode("ascii", "replace").split("\n"):
        head, _, root = text.partition(" ")
        if len(head) == len(root) and len(head) in (40, 64) and _HEX.issuperset(head + root):
            known[head] = root
    return known


def _write_cache(path: str, known: Mapping[str, str]) -> None:
    try:
        files.ensure_private_dir(os.path.dirname(path))
        files.write_atomic(
            path, "".join(f"{h} {r}\n" for h, r in known.items()).encode("ascii"), durable=False
        )
    except (OSError, SuiteError):
        return  # the next one asks again


# ---------------------------------------------------------------- remote


def remote_url(common_dir: str) -> str:
    """URL of ``origin``, else of the first remote, as the repository's own configuration has it."""
    try:
        data = files.read_beginning(os.path.join(common_dir, "config"), _CONFIG_LIMIT)
    except OSError:
        return ""
    text = data.decode("utf-8", "replace")
    found: dict[str, str] = {}
    remote = None
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("["):
            name = line[1:].partition("]")[0].strip()
            kind, _, rest = name.partition(" ")
            remote = rest.strip().strip('"') if kind.lower() == "remote" else None
        elif remote is not None:
            key, equals, value = line.partition("=")
            if equals and key.strip().lower() == "url":
                found.setdefault(remote, value.strip().strip('"'))
    return found.get("origin") or next(iter(found.values()), "")


def url_id(url: str) -> str:
    """Digest of a remote's URL without what differs between clones of the same: scheme, user,
    ``.git``, final slashes, the host's case. ``""`` for no URL."""
    text = url.strip()
    if not text:
        return ""
    scheme, separator, rest = text.partition("://")
    if separator:
        text = rest if scheme.lower() == "file" else _host_and_path(rest)
    elif ":" in text.partition("/")[0]:  # user@host:path
        host, _, path = text.partition(":")
        text = _host_and_path(f"{host}/{path.lstrip('/')}")
    text = text.rstrip("/").removesuffix(".git").rstrip("/")
    from agent_base.digests import sha256_hex

    return URL + sha256_hex(text.encode("utf-8", "surrogateescape"))[:40]


def _host_and_path(text: str) -> str:
    host, _, path = text.partition("/")
    return f"{host.rpartition('@')[2].lower()}/{path.lstrip('/')}"
