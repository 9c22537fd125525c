"""Two stores, one corpus: the repository's store and the home store.

*The repository's store* is ``refs/hn/memory/*`` of the workspace's repository. *The home store* is a
bare repository, ``home.git`` below ``${AI_KB_HOME:-${XDG_DATA_HOME:-~/.local/share}/ai-kb}``: personal,
works everywhere. Its root commit is the same on every machine and anchors every record there; its
policy is a later commit on ``main`` and trusts its own actor, so that two machines can exchange it.

``choose`` says where a capsule goes and why. Nothing here reads the environment by itself, and
nothing here decides what is injected. docs/decisions.md, "Two stores, one corpus".
"""

from __future__ import annotations

import os

from agent_base import files
from agent_base.cli import one_line
from agent_base.frozen import dataclass
from ai_kb.errors import KbError, NoStore
from ai_kb.hn.errors import HnError, LostRace, NotFound
from ai_kb.hn.gitstore import GitError, ObjectReader, Repository
from ai_kb.store_paths import HOME, MAIN, REPO, STORES, described, home_path

# What signs, parses policies and writes objects is imported where it is used: most commands only read.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from ai_kb.hn.identity import Identity
    from ai_kb.hn.policy import Policy

__all__ = [
    "HOME",
    "HOME_ROOT",
    "MAIN",
    "REPO",
    "STORES",
    "Choice",
    "Store",
    "choose",
    "commit_policy",
    "described",
    "home_path",
    "init_home",
    "open_home",
    "open_repo",
    "policy_at_head",
    "stores",
    "why_not_repo",
]

# The empty tree, a fixed author, date 0: the same bytes, and so the same id, on every machine.
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
ROOT_COMMIT_BYTES = (
    f"tree {_EMPTY_TREE}\n"
    "author ai-kb <home@ai-kb.invalid> 0 +0000\n"
    "committer ai-kb <home@ai-kb.invalid> 0 +0000\n\n"
    "Home store of ai-kb\n"
).encode()
HOME_ROOT = "23b18aa61f862375ab35e46ecd84d10e92b306b0"  # the id of these bytes


@dataclass(frozen=True, slots=True)
class Store:
    """A store that is there: ``name`` is HOME or REPO."""

    name: str
    repo: Repository

    def identity(self) -> Identity:
        """The identity that signs here. Raises NotFound with what to do."""
        from ai_kb.hn.identity import Keyring

        try:
            return Keyring.of(self.repo).active()
        except NotFound as error:
            raise NotFound(
                f"the {self.described} has no identity; nothing was changed",
                f",ai-kb init --store {self.name}",
            ) from error

    @property
    def described(self) -> str:
        """For messages."""
        return described(self.name)

    def policy_bytes(self, revision: str = "HEAD") -> bytes | None:
        """The policy file at ``revision``, None when there is no file or no commit.

        Raises HnError where there is one that cannot be read: that is not the same as none.
        """
        with self.repo.objects() as reader:
            return _policy_bytes(reader, revision)


@dataclass(frozen=True, slots=True)
class Choice:
    """Where a capsule goes, and why in words. ``store`` None: the home store, which is not made yet."""

    name: str
    why: str
    store: Store | None


def _policy_bytes(reader: ObjectReader, revision: str) -> bytes | None:
    from ai_kb.hn.cache_context import read_policy

    commit = reader.info([f"{revision}^{{commit}}"])[0]
    return None if commit is None else read_policy(reader, commit[0])


# ---------------------------------------------------------------- home store


def open_home(env: Mapping[str, str]) -> Store | None:
    """The home store, None when it was not made yet. UnsafePath when another user could change it."""
    path = home_path(env)
    try:
        files.check_private(path, os.lstat(path))
    except FileNotFoundError:
        return None
    return Store(HOME, Repository.bare(path, env))


def init_home(env: Mapping[str, str], name: str, now: datetime) -> tuple[Store, bool]:
    """The home store with root commit, identity and policy; whether any of it was made now.

    Safe to call twice, at once, and after an interruption: what is there stays, what is missing is made.
    """
    from filelock import FileLock, Timeout

    path = home_path(env)
    base = os.path.dirname(path)
    files.ensure_private_dir(base)
    try:
        with FileLock(os.path.join(base, ".init.lock"), timeout=30, mode=files.FILE_MODE):
            return _init_home(path, env, name, now)
    except Timeout as error:
        raise KbError(
            "another process has been making the home store for 30 s; nothing was changed"
        ) from error


def _init_home(path: str, env: Mapping[str, str], name: str, now: datetime) -> tuple[Store, bool]:
    from ai_kb import policy_file
    from ai_kb.hn.gitwrite import update_ref, write_objects
    from ai_kb.hn.identity import Keyring

    made = False
    if not os.path.isdir(os.path.join(path, "objects")):
        _git_init(path, env)
        made = True
    os.chmod(path, files.DIR_MODE)
    store = Store(HOME, Repository.bare(path, env))
    repo = store.repo
    refs = repo.refs(MAIN)
    if MAIN not in refs:
        root = write_objects(repo, [("tree", b""), ("commit", ROOT_COMMIT_BYTES)])[1]
        update_ref(repo, MAIN, root, None)
        made = True
    keyring = Keyring.of(repo)
    if keyring.active_actor() is None:
        made_before = keyring.actors()  # by a run that ended before it could activate it
        if made_before:
            keyring.restore(keyring.path(made_before[0]))
        else:
            keyring.init(name)
        made = True
    if store.policy_bytes(MAIN) is None:
        actor = keyring.active().actor
        commit_policy(store, policy_file.new_policy(actor, (actor,)), "Trust this machine's own actor", now)
        made = True
    return store, made


def _git_init(path: str, env: Mapping[str, str]) -> None:
    from agent_base import gitproc

    files.ensure_private_dir(os.path.dirname(path))
    status, _, err = gitproc.run(
        (),
        ("init", "-q", "--bare", "--template=", "--object-format=sha1", "--initial-branch=main", path),
        env=env,
        hook=False,
    )
    if status != 0:
        raise KbError(f"the home store could not be made: {one_line(err.decode('utf-8', 'replace'))}")


def commit_policy(store: Store, data: bytes, message: str, now: datetime) -> str:
    """Put a policy on ``main`` of the home store as one commit above what is there; the commit's id."""
    from ai_kb.hn.gitwrite import clean_name, git_date, object_id, update_ref, write_objects
    from ai_kb.hn.identity import ANONYMOUS
    from ai_kb.hn.policy import POLICY_PATH

    repo = store.repo
    head = repo.refs(MAIN).get(MAIN)
    identity = store.identity()
    blob = object_id("blob", data, repo.object_format)
    folder, _, file = POLICY_PATH.partition("/")
    inner = b"100644 %b\0%b" % (file.encode(), bytes.fromhex(blob))
    inner_id = object_id("tree", inner, repo.object_format)
    outer = b"40000 %b\0%b" % (folder.encode(), bytes.fromhex(inner_id))
    outer_id = object_id("tree", outer, repo.object_format)
    who = (
        f"{clean_name(identity.name) or ANONYMOUS} <{identity.actor[:12]}@hn.invalid> {git_date(_stamp(now))}"
    )
    parent = f"parent {head}\n" if head else ""
    commit = f"tree {outer_id}\n{parent}author {who}\ncommitter {who}\n\n{message}\n".encode()
    stored = write_objects(repo, [("blob", data), ("tree", inner), ("tree", outer), ("commit", commit)])
    try:
        update_ref(repo, MAIN, stored[-1], head)
    except LostRace as error:
        raise KbError(
            "another process changed the policy just now; nothing was changed", "run it again"
        ) from error
    return stored[-1]


def _stamp(now: datetime) -> str:
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


# ---------------------------------------------------------------- repository's store


def open_repo(workspace: str, env: Mapping[str, str]) -> Store | None:
    """The store of the workspace's repository, None where the workspace is in none."""
    try:
        repo = Repository.open(workspace, env)
    except (NotFound, GitError):
        return None
    return None if repo.work_tree is None else Store(REPO, repo)


def why_not_repo(store: Store | None) -> str:
    """Why a capsule does not go to the repository's store by itself; ``""`` when it does."""
    if store is None:
        return "the workspace is not in a Git repository"
    from ai_kb.hn.identity import Keyring

    with store.repo.objects() as reader:
        if reader.head() is None:
            return "the repository has no commit yet"
        try:
            actor = Keyring.of(store.repo).active_actor()
        except HnError:
            return "this clone's keyring cannot be used"
        if actor is None:
            return "this clone has no identity"
        try:
            policy = policy_at_head(store, reader)
        except HnError:
            return "the repository's policy at HEAD is invalid or cannot be read"
    if policy is None or policy.memory is None:
        return "the repository's HEAD has no policy for memory"
    if actor not in policy.memory.trusted_actors:
        return "the repository's policy does not trust this clone's actor"
    return ""


def policy_at_head(store: Store, reader: ObjectReader | None = None) -> Policy | None:
    """The policy that rules a store now, asked of ``reader`` where there is one. Raises InvalidPolicy."""
    from ai_kb.hn.policy import parse_policy

    revision = "HEAD" if store.name == REPO else MAIN
    data = store.policy_bytes(revision) if reader is None else _policy_bytes(reader, revision)
    return None if data is None else parse_policy(data)


def choose(
    workspace: str, env: Mapping[str, str], wanted: str = "", opened: Sequence[Store] | None = None
) -> Choice:
    """The store a capsule goes to, and why.

    Args:
        wanted: HOME or REPO to insist on one.
        opened: what ``stores`` gave for this workspace, if the caller has it already.

    Raises:
        NoStore: REPO was asked for and the workspace is in no repository.
    """
    if wanted == HOME:
        return Choice(HOME, "--store home", open_home(env))
    repo = repo_of(workspace, env, opened)
    if wanted == REPO:
        if repo is None:
            raise NoStore(
                "the workspace is not in a Git repository and has no store of its own; nothing was changed",
                "use --store home",
            )
        return Choice(REPO, "--store repo", repo)
    why = why_not_repo(repo)
    if not why:
        return Choice(REPO, "the repository's policy trusts this clone's actor", repo)
    return Choice(HOME, why, open_home(env))


def repo_of(workspace: str, env: Mapping[str, str], opened: Sequence[Store] | None) -> Store | None:
    """The repository's store among ``opened``; looked for where nothing was opened yet (None)."""
    if opened is None:
        return open_repo(workspace, env)
    return next((store for store in opened if store.name == REPO), None)


def stores(workspace: str, env: Mapping[str, str], only: str = "") -> list[Store]:
    """The stores that are there, home first; ``only`` picks one (NoStore when that is not there)."""
    found: list[Store] = []
    if only in ("", HOME):
        home = open_home(env)
        if home is not None:
            found.append(home)
        elif only:
            raise NoStore("there is no home store yet", ",ai-kb init makes it")
    if only in ("", REPO):
        repo = open_repo(workspace, env)
        if repo is not None:
            found.append(repo)
        elif only:
            raise NoStore("the workspace is not in a Git repository, so it has no store of its own")
    return found
