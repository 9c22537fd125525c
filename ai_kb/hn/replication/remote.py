"""A remote as sync talks to it: what it advertises, what is fetched from it, what is pushed to it.

Everything is asked of native git with explicit refs; no configured refspec, tag, submodule, bundle
or pack URI, or hook takes part. A quarantine knows nothing of the repository's own configuration, so what of
it concerns transport is handed on; the user's and the system's git reads there as well.

memory-v0, "Select and synchronize"; docs/protocol.md, "Replication".
"""

from __future__ import annotations

import os
import time

from agent_base.env import git_environment
from agent_base.gitproc import GitError, GitTimeout
from agent_base.inert import terminal
from ai_kb.hn.errors import NotFound
from ai_kb.hn.gitstore import Repository, is_oid, quoted
from ai_kb.hn.replication import process
from ai_kb.hn.replication.state import ReplicationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

IDLE_SECONDS = 30.0
TOTAL_SECONDS = 1800.0

_MAX_ADVERTISEMENT = 64 << 20
_PUSHED_AT_ONCE = 100
# What of the configuration decides how a remote is reached; ``remote.<name>.`` of that remote beside it.
_TRANSPORT = ("core.sshcommand", "core.gitproxy", "core.askpass")
_TRANSPORT_SECTIONS = ("http.", "credential.", "ssh.", "protocol.", "url.", "transfer.credentialsinurl")
_REMOTE_KEYS = ("url", "uploadpack", "proxy", "proxyauthmethod", "vcs", "serveroption")
# What a fetch or push never does, whatever is configured.
_QUIET = (
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false"),
    *("-c", "core.fsmonitor=false", "-c", "transfer.bundleURI=false", "-c", "fetch.uriProtocols="),
)


class Unanswered(ReplicationError):
    """The remote did not answer in time; it was given up."""

    code = "remote-timeout"


class FetchFailed(ReplicationError):
    """git could not fetch."""

    code = "not-fetched"


class FetchTooLarge(ReplicationError):
    """More bytes came than the budgets allow; ``size`` of them had been stored."""

    code = "over-budget"

    def __init__(self, size: int) -> None:
        super().__init__(f"the remote sent more than the budgets allow: {size} bytes")
        self.size = size


class Pushed:
    """What became of one pushed ref: ``flag`` and ``summary`` as git prints them with ``--porcelain``."""

    __slots__ = ("flag", "ref", "summary")

    def __init__(self, ref: str, flag: str, summary: str) -> None:
        self.ref = ref
        self.flag = flag
        self.summary = summary

    @property
    def accepted(self) -> bool:
        return self.flag not in ("!", "")


class Remote:
    """One configured remote of ``repo``, and how long it may take.

    Args:
        person: somebody may be asked for a passphrase.
        report: gets what git writes to stderr, piece by piece.
    """

    def __init__(
        self,
        repo: Repository,
        name: str,
        *,
        idle: float = IDLE_SECONDS,
        total: float = TOTAL_SECONDS,
        person: bool = False,
        report: Callable[[bytes], None] | None = None,
    ) -> None:
        self.repo = repo
        self.name = name
        self.idle = idle
        self.deadline = time.monotonic() + total
        self.person = person
        self.report = report
        # A relative path of a remote counts from here, also in a quarantine.
        base = repo.work_tree or repo.git_dir
        self.where = repo.where if repo.work_tree else ("-C", base, *repo.where)
        self.base = base
        self.config = _configuration(repo)
        if not any(key == f"remote.{name}.url" for _, key, _ in self.config):
            raise NotFound(f"remote {quoted(name)} does not exist")

    @property
    def promises_objects(self) -> bool:
        """Whether the repository is a partial clone: git may fetch what is missing whenever it is asked."""
        return any(key.endswith((".promisor", ".partialclone")) for _, key, _ in self.config)

    # --- what it has ------------------------------------------------------------------------------

    def advertise(self) -> dict[str, str]:
        """Ref to object id of everything below ``refs/hn/``. Raises ReplicationError.

        Names are git's: a ref that git would refuse is not among them.
        """
        failed = f"replication advertisement failed for remote {self.name}"
        try:
            done = self._run([*self.where, *_QUIET, "ls-remote", "--quiet", self.name, "refs/hn/*"])
        except Unanswered as error:
            raise Unanswered(failed, error.message) from error
        except GitError as error:
            raise ReplicationError(failed, error.message) from error
        if done.status != 0:
            raise ReplicationError(failed, process.reason(done.err, done.status))
        found: dict[str, str] = {}
        for line in done.out.decode("utf-8", "surrogateescape").split("\n"):
            oid, _, ref = line.partition("\t")
            if not ref.startswith("refs/hn/") or ref.endswith("^{}"):
                continue
            if not is_oid(oid, self.repo.hash_length):
                raise ReplicationError(
                    failed,
                    f"it does not use the object format of this repository ({self.repo.object_format})",
                )
            found[ref] = oid
        return found

    # --- what is fetched --------------------------------------------------------------------------

    def fetch(
        self, git_dir: str, wanted: Mapping[str, str], *, cap: int, alloc: int, share: float = 1.0
    ) -> bool:
        """Fetch exactly the refs ``wanted`` into their targets in the bare repository ``git_dir``.

        Whether some were left out because the remote's own history is cut off by a shallow boundary.

        Args:
            cap: bytes that may be added there meanwhile. alloc: bytes that git may want at a time.
            share: how much of the time that is left this may take.

        Raises:
            FetchFailed, FetchTooLarge, Unanswered.
        """
        listing = os.path.join(git_dir, "wanted")
        with open(listing, "w", encoding="utf-8", errors="surrogateescape") as lines:
            lines.writelines(f"{ref}:{target}\n" for ref, target in wanted.items())
        objects = os.path.join(git_dir, "objects")
        before = tree_size(objects)
        now = time.monotonic()
        deadline = now + share * (self.deadline - now) if share < 1 else None

        def stored() -> int:
            size = tree_size(objects) - before
            if size > cap:
                raise FetchTooLarge(size)
            return size

        arguments = ["-C", self.base, "--git-dir", git_dir, *_QUIET, "-c", "fetch.unpackLimit=1"]
        arguments += ["-c", "fetch.fsckObjects=false", "-c", "transfer.fsckObjects=false"]
        arguments += ["-c", "fetch.writeCommitGraph=false", "-c", "core.hooksPath=/dev/null"]
        arguments += ["fetch", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
        arguments += ["--no-auto-maintenance", "--refmap=", "--progress", "--stdin", self.name]
        try:
            with open(listing, "rb") as file:
                done = self._run(
                    arguments, stdin=file, watch=stored, config=True, alloc=alloc, deadline=deadline
                )
        except process.TookTooLong as error:
            raise FetchFailed(error.message) from error
        finally:
            os.unlink(listing)
        stored()
        if done.status != 0:
            raise FetchFailed(process.reason(done.err, done.status))
        return b"shallow roots are not allowed to be updated" in done.err

    # --- what is pushed ---------------------------------------------------------------------------

    def push(self, refs: Sequence[str]) -> Iterator[Pushed]:
        """Push each of ``refs`` to the ref of the same name, never forced, each for itself.

        Raises ReplicationError when the remote cannot be reached any more; what came before was pushed.
        """
        for start in range(0, len(refs), _PUSHED_AT_ONCE):
            yield from self._push(refs[start : start + _PUSHED_AT_ONCE])

    def _push(self, refs: Sequence[str]) -> list[Pushed]:
        arguments = [*self.where, *_QUIET, "-c", f"remote.{self.name}.mirror=false"]
        arguments += ["-c", "push.recurseSubmodules=no", "-c", "push.gpgSign=false", "push", "--porcelain"]
        arguments += ["--no-verify", "--no-follow-tags", "--no-force-if-includes", "--progress", self.name]
        done = self._run([*arguments, *(f"{ref}:{ref}" for ref in refs)])
        answers: dict[str, Pushed] = {}
        for line in done.out.decode("utf-8", "replace").split("\n"):
            parts = line.split("\t")
            if len(parts) != 3 or len(parts[0]) != 1:
                continue
            ref = parts[1].rpartition(":")[2]
            if ref in answers and not answers[ref].accepted:
                continue  # pushed to several URLs: the worst counts
            answers[ref] = Pushed(ref, parts[0], terminal(parts[2][:200]))
        missing = [ref for ref in refs if ref not in answers]
        if missing and not answers:
            raise ReplicationError(
                f"replication memory publication failed for remote {self.name}",
                process.reason(done.err, done.status),
            )
        why = process.reason(done.err, done.status) if missing else ""
        return [answers.get(ref) or Pushed(ref, "", why) for ref in refs]

    # --- how --------------------------------------------------------------------------------------

    def _run(
        self,
        arguments: list[str],
        *,
        stdin: object = None,
        watch: Callable[[], object] | None = None,
        config: bool = False,
        alloc: int = 0,
        deadline: float | None = None,
    ) -> process.Done:
        env = git_environment(self.repo.env)
        if not self.person:
            env.update(GIT_TERMINAL_PROMPT="0", SSH_ASKPASS_REQUIRE="never")
        if alloc:
            env["GIT_ALLOC_LIMIT"] = str(alloc)
        if config:
            env.update(self._handed_on())
        try:
            return process.run(
                arguments,
                env=env,
                path_env=self.repo.env,
                idle=self.idle,
                deadline=self.deadline if deadline is None else deadline,
                limit=_MAX_ADVERTISEMENT,
                stdin=stdin,  # type: ignore[arg-type]
                person=self.person,
                watch=watch,
                report=self.report,
            )
        except GitTimeout as error:
            if deadline is not None and isinstance(error, process.TookTooLong):
                raise  # there is time left for something else
            raise Unanswered(f"remote {self.name} did not answer: {error.message}") from error

    def _handed_on(self) -> dict[str, str]:
        """The environment by which a quarantine reaches the remote as the repository does."""
        own = f"remote.{self.name}."
        kept = [
            (key, value)
            for scope, key, value in self.config
            if scope in ("local", "worktree")
            and (
                key in _TRANSPORT
                or key.startswith(_TRANSPORT_SECTIONS)
                or (key.startswith(own) and key[len(own) :] in _REMOTE_KEYS)
            )
        ]
        env = {"GIT_CONFIG_COUNT": str(len(kept))}
        for number, (key, value) in enumerate(kept):
            env[f"GIT_CONFIG_KEY_{number}"] = key
            env[f"GIT_CONFIG_VALUE_{number}"] = value
        return env


def _configuration(repo: Repository) -> list[tuple[str, str, str]]:
    """Every (scope, key, value) that git sees in ``repo``, in its order."""
    parts = repo.git("config", "--list", "-z", "--show-scope").decode("utf-8", "surrogateescape").split("\0")
    entries: list[tuple[str, str, str]] = []
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        key, separator, value = entry.partition("\n")
        entries.append((scope, key, value if separator else "true"))
    return entries


def tree_size(path: str) -> int:
    """Bytes of all files below ``path``; what vanishes meanwhile does not count."""
    total = 0
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        total += tree_size(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
                except OSError:
                    continue
    except OSError:
        return total
    return total
