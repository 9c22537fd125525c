"""Which bucket a session writes to and reads from: bindings, pointer, buckets, and their files.

``State`` is one workspace's directory below the spec root. It reads and writes only files that are
this user's own (``agent_base.files``), and names them; what is in worklogs and queues is others'
business. Nothing here takes a lock: callers that change several files hold the activity lock.

Layout of the directory: ``_active_topic.txt`` (pointer), ``.session-topic-<session key>.txt``
(bindings), ``<topic>.txt`` (spec), ``<topic>.worklog.jsonl``, ``<topic>.no_context``,
``_no_session_context``. "Hook memory, Internals".
"""

from __future__ import annotations

import os
import stat

from agent_base import files, lightjson
from agent_base.errors import SuiteError, UnsafePath
from agent_memory import workspace as places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SPEC_SUFFIX = ".txt"
WORKLOG_SUFFIX = ".worklog.jsonl"
NO_CONTEXT_SUFFIX = ".no_context"
NO_SESSION_CONTEXT = "_no_session_context"
POINTER = "_active_topic.txt"
BINDING_PREFIX = ".session-topic-"
INTENT = ".intent-v1.json"  # a merge or select that is not finished (`moves`)
MERGED = ".merged-v1.json"  # topics that are gone because they were merged, and into which

# Where a topic came from (`topic_source` of `status --json`).
ARGUMENT = "argument"
BINDING = "binding"
POINTED = "pointer"
SESSION = "session"
CURRENT = "current"

_CONTROL_LIMIT = 4096  # bytes of a binding or pointer file that are read
_MERGED_KEPT = 200
SPEC_LIMIT = 1 << 20  # bytes of a spec that are read at all


class Bucket:
    """A topic that has a spec, a worklog or both. ``modified``: seconds, the later of the two."""

    __slots__ = ("has_spec", "has_worklog", "modified", "topic")

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.modified = 0.0
        self.has_spec = False
        self.has_worklog = False

    @property
    def named(self) -> bool:
        """Whether people made it: neither ``current`` nor a session's fallback bucket."""
        return not places.is_reserved(self.topic)


class State:
    """The session memory of one workspace.

    Attributes:
        workspace: resolved absolute path of the workspace.
        spec_dir: its directory below ``root``; may not exist yet.
        root: the spec root.
    """

    __slots__ = ("_branch", "_branch_known", "root", "spec_dir", "workspace")

    def __init__(self, workspace: str, spec_dir: str, root: str | None = None) -> None:
        self.workspace = workspace
        self.spec_dir = spec_dir
        self.root = root if root is not None else spec_dir.removesuffix(workspace) or "/"
        self._branch: str | None = None
        self._branch_known = False

    @classmethod
    def of(cls, env: Mapping[str, str], workspace: str, *, hook: bool) -> State:
        """The state of ``workspace``; in a hook, overrides of the root that lead into it are ignored."""
        root = places.spec_root(env, workspace if hook else None)
        return cls(workspace, places.spec_dir(root, workspace), root)

    # ---------------------------------------------------------------- directory

    def exists(self) -> bool:
        """Whether the directory is there. UnsafePath when it is not safe to use."""
        return places.check_spec_dir(self.root, self.spec_dir)

    def ensure(self) -> None:
        """Make the directory (0700), or raise UnsafePath."""
        places.ensure_spec_dir(self.root, self.spec_dir)

    # ---------------------------------------------------------------- paths

    def path(self, name: str) -> str:
        """Path of a file of the directory."""
        return os.path.join(self.spec_dir, name)

    def spec_path(self, topic: str) -> str:
        """Path of a topic's spec."""
        return self.path(topic + SPEC_SUFFIX)

    def worklog_path(self, topic: str) -> str:
        """Path of a topic's worklog."""
        return self.path(topic + WORKLOG_SUFFIX)

    def no_context_path(self, topic: str | None) -> str:
        """Path of a topic's no-context sentinel, or of the workspace's for None."""
        return self.path(NO_SESSION_CONTEXT if topic is None else topic + NO_CONTEXT_SUFFIX)

    def binding_path(self, session_key: str) -> str:
        """Path of a session's binding."""
        return self.path(f"{BINDING_PREFIX}{session_key}.txt")

    # ---------------------------------------------------------------- bindings and pointer

    def read_name(self, path: str) -> str | None:
        """The topic that a control file names; None when there is no file or no usable name in it."""
        try:
            data = files.read_private(path, _CONTROL_LIMIT)
        except FileNotFoundError:
            return None
        except UnsafePath:
            raise
        except SuiteError:  # larger than any topic's name
            return None
        name = data.decode("utf-8", "replace").strip()
        return name if places.is_topic(name) else None

    def binding(self, session_key: str) -> str | None:
        """The named topic that a session is bound to, or None."""
        return self.read_name(self.binding_path(session_key))

    def bind(self, session_key: str, topic: str) -> None:
        """Bind a session to a named topic, durably."""
        files.write_atomic(self.binding_path(session_key), f"{places.safe_topic(topic)}\n".encode())

    def bindings(self) -> dict[str, str]:
        """Session key → named topic, of every session that is bound. What is not this user's own file
        binds nobody."""
        found: dict[str, str] = {}
        for name in self.names():
            if name.startswith(BINDING_PREFIX) and name.endswith(".txt"):
                key = name[len(BINDING_PREFIX) : -4]
                try:
                    topic = self.binding(key)
                except UnsafePath:
                    continue
                if topic is not None:
                    found[key] = topic
        return found

    def pointer(self) -> str | None:
        """The named topic of ``use``, or None."""
        return self.read_name(self.path(POINTER))

    def set_pointer(self, topic: str | None) -> None:
        """Point commands without a session at a named topic, or at none."""
        if topic is None:
            remove(self.path(POINTER))
        else:
            files.write_atomic(self.path(POINTER), f"{places.safe_topic(topic)}\n".encode())

    def merged_into(self) -> dict[str, str]:
        """Topics that were merged away → the topic that each was merged into. Damage counts as none."""
        try:
            value = lightjson.loads(files.read_private(self.path(MERGED), SPEC_LIMIT))
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        pairs = value.items() if isinstance(value, dict) else ()
        return {str(a): b for a, b in pairs if isinstance(b, str) and places.is_topic(b)}

    def note_merged(self, source: str, target: str | None) -> None:
        """Remember that ``source`` was merged into ``target``; with None that it is a topic again."""
        known = self.merged_into()
        if known.get(source) == target:
            return
        known.pop(source, None)
        if target is not None:
            known[source] = target
        kept = dict(list(known.items())[-_MERGED_KEPT:])
        files.write_atomic(self.path(MERGED), lightjson.dumps(kept).encode())

    # ---------------------------------------------------------------- selection

    def branch(self) -> str | None:
        """The checked-out branch (hostile text), read once."""
        if not self._branch_known:
            self._branch = places.branch(self.workspace)
            self._branch_known = True
        return self._branch

    def on_shared_branch(self) -> bool:
        """Whether unbound sessions are kept apart here: ``main``, ``master``, ``dev``, …"""
        return self.branch() in places.SHARED_BRANCHES

    def topic_of_session(self, session_key: str) -> tuple[str, str]:
        """Topic of a session and where it came from: its binding; else on a shared branch its
        fallback bucket; else ``current``."""
        bound = self.binding(session_key)
        if bound is not None:
            return bound, BINDING
        if self.on_shared_branch():
            return places.session_topic(session_key), SESSION
        return places.CURRENT, CURRENT

    def topic_of_nobody(self) -> tuple[str, str]:
        """Topic of a hook whose payload names no session: the pointer; else ``current``, never a bucket
        that is another session's."""
        pointed = self.pointer()
        return (places.CURRENT, CURRENT) if pointed is None else (pointed, POINTED)

    def topic_of_command(self) -> tuple[str, str]:
        """Topic of a command that names neither topic nor session: the pointer; else on a shared
        branch the latest fallback bucket; else ``current``."""
        topic, source = self.topic_of_nobody()
        if source == CURRENT and self.on_shared_branch():
            latest = next((b for b in self.buckets() if b.topic.startswith(places.SESSION_PREFIX)), None)
            if latest is not None:
                return latest.topic, SESSION
        return topic, source

    # ---------------------------------------------------------------- buckets

    def names(self) -> list[str]:
        """Names of everything in the directory, sorted; none when it is not there."""
        try:
            return sorted(os.listdir(self.spec_dir))
        except FileNotFoundError:
            return []

    def buckets(self) -> list[Bucket]:
        """Every topic with a spec or worklog, newest first. What is not this user's own regular
        file is passed over."""
        found: dict[str, Bucket] = {}
        for name in self.names():
            topic, is_worklog = _bucket_file(name)
            if topic is None:
                continue
            try:
                status = os.lstat(self.path(name))
                files.check_private(name, status)
            except (OSError, SuiteError):
                continue
            if not stat.S_ISREG(status.st_mode):
                continue
            bucket = found.setdefault(topic, Bucket(topic))
            bucket.modified = max(bucket.modified, status.st_mtime)
            if is_worklog:
                bucket.has_worklog = True
            else:
                bucket.has_spec = True
        return sorted(found.values(), key=_newest_first)

    def bucket_exists(self, topic: str) -> bool:
        """Whether a topic has a spec or a worklog."""
        return os.path.lexists(self.spec_path(topic)) or os.path.lexists(self.worklog_path(topic))

    # ---------------------------------------------------------------- specs

    def read_spec(self, topic: str) -> str | None:
        """Text of a topic's spec (UTF-8, bad bytes replaced), or None. SuiteError above 1 MiB."""
        try:
            data = files.read_private(self.spec_path(topic), SPEC_LIMIT)
        except FileNotFoundError:
            return None
        return data.decode("utf-8", "replace")

    def write_spec(self, topic: str, text: str) -> None:
        """Replace a topic's spec, durably. SuiteError above 1 MiB."""
        files.write_atomic(self.spec_path(topic), self.check_spec_size(topic, text))

    @staticmethod
    def check_spec_size(topic: str, text: str) -> bytes:
        """The bytes of a spec, or a SuiteError above 1 MiB: such a one could not be read again."""
        data = text.encode("utf-8", "replace")
        if len(data) > SPEC_LIMIT:
            raise SuiteError(
                f"the spec of {topic!r} would have {len(data)} bytes, more than {SPEC_LIMIT}; "
                "nothing was changed"
            )
        return data


def _newest_first(bucket: Bucket) -> tuple[float, str]:
    return -bucket.modified, bucket.topic


def _bucket_file(name: str) -> tuple[str | None, bool]:
    """Topic of a directory entry and whether it is its worklog; (None, False) for anything else."""
    if name.endswith(WORKLOG_SUFFIX):
        topic, is_worklog = name[: -len(WORKLOG_SUFFIX)], True
    elif name.endswith(SPEC_SUFFIX):
        topic, is_worklog = name[: -len(SPEC_SUFFIX)], False
    else:
        return None, False
    return (topic, is_worklog) if places.is_bucket_name(topic) else (None, False)


def remove(path: str) -> bool:
    """Unlink ``path`` if it is there; whether it was."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True
