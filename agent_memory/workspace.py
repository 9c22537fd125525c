"""Where a session's memory lives: workspace, spec directory, session key, topic names, branch.

Pure path work, no processes: every hook runs this first. Nothing here creates anything but
``ensure_spec_dir``, and nothing is used that another user could have planted (``check_spec_dir``).

Two different session ids never share a key, and no topic name leads out of its directory.
"""

from __future__ import annotations

import os
import stat

from agent_base import env as environment
from agent_base import files, gitdir
from agent_base.errors import SuiteError, UnsafePath, UsageError

TYPE_CHECKING = False  # `typing` costs more than this whole module
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class Located(Protocol):
        """What of an event says where it happened."""

        workspace_roots: tuple[str, ...]
        cwd: str


DEFAULT_ROOT = "/tmp/specs"
MIRROR_BELOW_HOME = ".local/state/agent-specs"

SHARED_BRANCHES = frozenset({"main", "master", "dev", "develop", "trunk"})
CURRENT = "current"
SESSION_PREFIX = "session-"

NAME_LIMIT = 81  # characters of a session key and of a topic name
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_FIRST = _SAFE - frozenset("_.-")
_HEX = frozenset("0123456789abcdef")
# `--` and 128 bits of SHA-256: how a key ends that is not simply the id.
_DIGEST_DIGITS = 32


class UnsafeTopicName(SuiteError):
    """A topic name that could leave the directory, clash with another file, or is reserved."""

    exit_code = 2
    code = "unsafe-topic"


# ---------------------------------------------------------------- repository and workspace


def branch(workspace: str) -> str | None:
    """Name of the checked-out branch, or None (detached, no repository). The name is hostile text."""
    found = gitdir.find(workspace)
    if found is None:
        return None
    root, git_dir = found
    content = gitdir.head(git_dir)
    if not content.startswith(b"ref:"):
        return None
    name = content[4:].strip().decode("utf-8", "replace")
    if name == "refs/heads/.invalid":  # the reftable format keeps HEAD elsewhere
        return _ask_git_for_branch(root)
    prefix = "refs/heads/"
    return name[len(prefix) :] if name.startswith(prefix) and len(name) > len(prefix) else None


def _ask_git_for_branch(root: str) -> str | None:
    import subprocess

    try:
        done = subprocess.run(
            ["git", *environment.GIT_HARDENING_ARGS, "-C", root, "symbolic-ref", "--short", "-q", "HEAD"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment.git_environment(os.environ, hook=True),
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip() or None


def resolve_workspace(event: Located | None, env: Mapping[str, str], process_cwd: str) -> str:
    """Absolute, resolved directory of the workspace.

    First of the payload's ``workspace_roots``, else ``CLAUDE_PROJECT_DIR`` when set, else the
    payload's ``cwd``, else the process's directory; inside a Git work tree the root of that.
    """
    candidates: list[str] = []
    if event is not None:
        candidates.extend(event.workspace_roots[:1])
    candidates.append(env.get("CLAUDE_PROJECT_DIR", ""))
    if event is not None:
        candidates.append(event.cwd)
    chosen = next(filter(_can_be_path, candidates), process_cwd)
    found = gitdir.find(chosen)
    return os.path.realpath(chosen) if found is None else found[0]


def _can_be_path(text: str) -> bool:
    """Whether the system would take ``text`` for an absolute path: no NUL, no lone surrogate."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return os.path.isabs(text) and "\0" not in text


def workspace_of_command(named: str | None, env: Mapping[str, str], cwd: str) -> str:
    """The workspace of a command: ``named`` (``--workspace``), or what is around ``cwd``. UsageError."""
    if named is None:
        return resolve_workspace(None, env, cwd)
    path = os.path.join(cwd, named)
    if "\0" in path or not os.path.isdir(path):
        raise UsageError(f"--workspace {named[:200]!r} is no directory; nothing was changed")
    return resolve_workspace(None, {}, path)


# ---------------------------------------------------------------- roots


def spec_root(env: Mapping[str, str], workspace: str | None = None) -> str:
    """Root of all spec directories.

    ``AGENT_MEMORY_SPEC_ROOT`` when it counts (in a hook, with ``workspace``, only outside of it),
    else ``/tmp/specs``, else, where that belongs to another user, ``/tmp/specs-<uid>``
    (``root_notice`` says so).
    """
    override = environment.trusted_override(env, "AGENT_MEMORY_SPEC_ROOT", workspace)
    if override is not None:
        return override
    try:
        foreign = os.lstat(DEFAULT_ROOT).st_uid != os.geteuid()
    except OSError:
        foreign = False
    return f"{DEFAULT_ROOT}-{os.getuid()}" if foreign else DEFAULT_ROOT


def root_notice(root: str) -> str | None:
    """One line for people when ``root`` is the fallback, else None."""
    if root == f"{DEFAULT_ROOT}-{os.getuid()}":
        return f"{DEFAULT_ROOT} belongs to another user: session memory is in {root}"
    return None


def mirror_root(env: Mapping[str, str], workspace: str | None = None) -> str | None:
    """Root of the mirror that survives a reboot, or None when there is no home directory."""
    override = environment.trusted_override(env, "AGENT_MEMORY_MIRROR_ROOT", workspace)
    if override is not None:
        return override
    base = environment.home(env, workspace)
    return None if base is None else os.path.join(base, MIRROR_BELOW_HOME)


def spec_dir(root: str, workspace: str) -> str:
    """Spec directory of a workspace: ``root`` and its resolved path without the leading slash."""
    below = os.path.realpath(workspace).lstrip("/")
    return os.path.join(root, below) if below else root


def _levels(root: str, directory: str) -> list[str]:
    """``root`` and every directory below it down to ``directory``."""
    levels = [root]
    relative = os.path.relpath(directory, root)
    if relative != ".":
        for part in relative.split("/"):
            levels.append(os.path.join(levels[-1], part))
    return levels


def _check_level(path: str, *, is_root: bool) -> None:
    status = os.lstat(path)
    if is_root and stat.S_ISLNK(status.st_mode) and status.st_uid == os.geteuid():
        status = os.stat(path)  # a person may link the root elsewhere; nobody may link below it
    files.check_private(path, status)
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafePath(f"{path!r} is not a directory; it was not used")


def check_spec_dir(root: str, directory: str) -> bool:
    """Whether ``directory`` exists. Raises UnsafePath when it or anything from ``root`` down to it
    is a symlink, somebody else's, or writable by others. Creates nothing."""
    try:
        for number, level in enumerate(_levels(root, directory)):
            _check_level(level, is_root=number == 0)
    except FileNotFoundError:
        return False
    return True


def ensure_spec_dir(root: str, directory: str) -> None:
    """Make ``directory`` and what is missing from ``root`` down to it, 0700, and check every level."""
    for number, level in enumerate(_levels(root, directory)):
        try:
            _check_level(level, is_root=number == 0)
        except FileNotFoundError:
            if number == 0:
                os.makedirs(os.path.dirname(level), mode=files.DIR_MODE, exist_ok=True)
            try:
                os.mkdir(level, files.DIR_MODE)
            except FileExistsError:
                pass
            _check_level(level, is_root=number == 0)


# ---------------------------------------------------------------- names


def _is_safe(name: str) -> bool:
    return 0 < len(name) <= NAME_LIMIT and name[0] in _FIRST and _SAFE.issuperset(name)


def _looks_digested(name: str) -> bool:
    tail = name[-_DIGEST_DIGITS:]
    return (
        len(name) > _DIGEST_DIGITS + 2
        and name[-_DIGEST_DIGITS - 2 : -_DIGEST_DIGITS] == "--"
        and _HEX.issuperset(tail)
    )


def _spelled_safely(name: str, limit: int) -> str:
    """``name`` with every run of unsafe characters as one ``-``, from its first letter or digit on."""
    out: list[str] = []
    for char in name[: 4 * NAME_LIMIT]:
        if char in _SAFE:
            out.append(char)
        elif out and out[-1] != "-":
            out.append("-")
    return "".join(out).lstrip("_.-")[:limit].rstrip("-.")


def session_key(session_id: str) -> str:
    """File-name-safe key of a session id: at most 81 of ``[A-Za-z0-9_.-]``, a letter or digit first.

    A safe id is its own key. Any other, and a safe one that ends as digested keys do, gets 128 bits
    of its SHA-256 at the end: no two ids share a key.
    """
    if _is_safe(session_id) and not _looks_digested(session_id):
        return session_id
    from agent_base.digests import sha256_hex

    digest = sha256_hex(session_id.encode("utf-8", "surrogatepass"))[:_DIGEST_DIGITS]
    stem = _spelled_safely(session_id, NAME_LIMIT - _DIGEST_DIGITS - 2) or "id"
    return f"{stem}--{digest}"


def session_topic(key: str) -> str:
    """Name of the fallback bucket of a session key."""
    return SESSION_PREFIX + key


def is_reserved(topic: str) -> bool:
    """``current`` and ``session-*``, in any case: some file systems do not tell cases apart."""
    folded = topic.lower()
    return folded == CURRENT or folded.startswith(SESSION_PREFIX)


def is_topic(name: str) -> bool:
    """Whether ``safe_topic`` accepts ``name``."""
    return _is_safe(name) and not is_reserved(name)


def is_bucket_name(name: str) -> bool:
    """Whether a file of this name (without suffix) can be a topic: safe, or a session's fallback bucket."""
    if name.startswith(SESSION_PREFIX):
        return _is_safe(name[len(SESSION_PREFIX) :])
    return _is_safe(name)


def suggest_topic(name: str) -> str:
    """The nearest name that ``safe_topic`` accepts."""
    import unicodedata

    folded = unicodedata.normalize("NFKD", name[: 4 * NAME_LIMIT])
    plain = "".join(c for c in folded if not unicodedata.combining(c))
    safe = _spelled_safely(plain, NAME_LIMIT) or "topic"
    return f"topic-{safe}"[:NAME_LIMIT].rstrip("-.") if is_reserved(safe) else safe


def safe_topic(name: str) -> str:
    """``name`` if a person may use it as a topic.

    Raises:
        UnsafeTopicName: it is not 1 to 81 of ``[A-Za-z0-9_.-]`` with a letter or digit first, or is
            reserved; the hint has the nearest safe spelling.
    """
    hint = f"nearest safe name: {suggest_topic(name)}"
    if not _is_safe(name):
        shown = repr(name if len(name) <= 2 * NAME_LIMIT else name[: 2 * NAME_LIMIT] + "…")
        raise UnsafeTopicName(
            f"topic name {shown} is not 1 to {NAME_LIMIT} letters, digits, '_', '.' or '-' "
            "with a letter or digit first; nothing was changed",
            hint,
        )
    if is_reserved(name):
        raise UnsafeTopicName(
            f"topic name {name!r} is reserved ('current' and 'session-…' belong to the suite); "
            "nothing was changed",
            hint,
        )
    return name


def is_session_key(text: str) -> bool:
    """Whether ``text`` has the form of a session key."""
    return _is_safe(text)
