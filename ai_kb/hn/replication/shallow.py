"""Histories that a shallow boundary cuts, and getting back exactly what is missing of them.

In a shallow repository an accepted or local history may end at a boundary instead of its root. It
cannot be verified then, so it fails closed, and the gap is recorded in ``<git-dir>/hn/shallow-gap.json``.
``sync --recover-shallow`` fetches the recorded histories, whole, from the remote that supplies them,
and nothing else; the boundaries inside them, and no others, are then removed.

docs/protocol.md, "Replication" (Shallow); memory-v0, "Select and synchronize".
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass

from agent_base.errors import SuiteError
from agent_base.files import FILE_MODE, fsync_dir, read_private, write_all, write_atomic
from ai_kb.hn.gitstore import ObjectReader, Repository, parse_commit
from ai_kb.hn.replication.outcomes import DEPENDENCY_MISSING, SHALLOW_CUT, Outcome
from ai_kb.hn.replication.state import ReplicationError, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_BYTES = 4 << 20
_VERSION = 1


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """A history that is cut: ``commit`` names the parent ``missing``, which is not here."""

    remote: str
    kind: str
    id: str
    commit: str = ""
    missing: str = ""

    @property
    def selector(self) -> str:
        return f"{self.kind} {self.id}"


class Boundaries:
    """The shallow boundaries of a repository that are commits with parents it does not have."""

    def __init__(self, repo: Repository, reader: ObjectReader) -> None:
        self._repo = repo
        self._parents: dict[str, str] = {}
        for commit, parents in _parents_of(reader, repo.shallow_commits() if repo.is_shallow() else []):
            missing = [p for p, kind in zip(parents, reader.types(parents), strict=True) if kind is None]
            if missing:
                self._parents[commit] = missing[0]

    def cut(self, heads: Iterable[str]) -> tuple[str, str] | None:
        """(boundary commit, its missing parent) in the history of one of ``heads``, or None."""
        if not self._parents:
            return None
        for head in heads:
            answers = self._repo.ancestry(self._parents, head)
            for commit in sorted(self._parents):
                if answers[commit]:
                    return commit, self._parents[commit]
        return None


def _parents_of(reader: ObjectReader, commits: list[str]) -> list[tuple[str, list[str]]]:
    """(commit, its parents as it names them itself) of those ``commits`` that are here."""
    found: list[tuple[str, list[str]]] = []
    for commit, entry in zip(commits, reader.contents(commits), strict=True):
        if entry is not None and entry[1] == "commit":
            with suppress(ValueError):
                found.append((commit, parse_commit(entry[2])[1]))
    return found


def report_cut(outcome: Outcome, remote: str, cut: tuple[str, str]) -> Gap:
    """Decide against a history that is cut; the gap to be recorded."""
    commit, missing = cut
    recovery = f"hn sync {remote} --recover-shallow"
    outcome.fail(
        DEPENDENCY_MISSING,
        f"selection {outcome.name} is cut by a shallow boundary at commit {commit}: parent {missing} is not "
        f"available; recovery: {recovery}",
        SHALLOW_CUT,
    )
    outcome.dependency_kind, outcome.missing, outcome.recovery = "ancestry", missing, recovery
    return Gap(remote, outcome.kind, outcome.id, commit, missing)


def report_cut_on_remote(outcome: Outcome, remote: str, head: str) -> Gap:
    """Decide against a history that the remote itself does not have whole."""
    recovery = f"make remote {remote} whole, or fetch it from one that is"
    outcome.fail(
        DEPENDENCY_MISSING,
        f"selection {outcome.name} is cut by a shallow boundary on remote {remote}: it offers {head} without "
        f"its history; recovery: {recovery}",
        SHALLOW_CUT,
    )
    outcome.dependency_kind, outcome.missing, outcome.recovery = "ancestry", head, recovery
    return Gap(remote, outcome.kind, outcome.id, head)


def load_gaps(state: State) -> list[Gap]:
    """The recorded gaps. Raises ReplicationError when the file is damaged or unsafe."""
    try:
        value = json.loads(read_private(state.gaps, MAX_BYTES))
        if value["version"] != _VERSION:
            raise ValueError("version")
        names = ("remote", "kind", "id", "commit", "missing")
        return sorted(Gap(**{name: str(entry[name]) for name in names}) for entry in value["gaps"])
    except FileNotFoundError:
        return []
    except SuiteError as error:
        raise ReplicationError(f"the recorded shallow gaps cannot be used: {error.message}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ReplicationError(
            f"the recorded shallow gaps in {state.gaps!r} are damaged; nothing was changed",
            "remove the file and sync again, which records them anew",
        ) from error


def record_gaps(state: State, remote: str, gaps: Iterable[Gap]) -> None:
    """Replace what is recorded of ``remote``; the file goes with the last gap."""
    try:
        known = load_gaps(state)
    except ReplicationError:
        known = []  # what is found now replaces what nobody can read
    kept = sorted({*(gap for gap in known if gap.remote != remote), *gaps})
    if not kept:
        with suppress(FileNotFoundError):
            os.unlink(state.gaps)
        return
    if kept == known:
        return
    value = {
        "version": _VERSION,
        "gaps": [
            {"remote": g.remote, "kind": g.kind, "id": g.id, "commit": g.commit, "missing": g.missing}
            for g in kept
        ],
    }
    write_atomic(state.gaps, json.dumps(value, indent=2).encode("ascii") + b"\n", mode=FILE_MODE)


def remove_boundaries(repo: Repository, reader: ObjectReader, commits: Iterable[str]) -> None:
    """Remove those of ``commits`` from the shallow boundary whose parents are here now.

    By git's own rules: ``shallow.lock`` first, then a rename; the file goes with its last line.
    """
    inside = set(commits)
    candidates = [commit for commit in repo.shallow_commits() if commit in inside]
    parents = _parents_of(reader, candidates)
    gone = {commit for commit, above in parents if None not in reader.types(above)}
    if not gone:
        return
    path = os.path.join(repo.common_dir, "shallow")
    try:
        fd = os.open(f"{path}.lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError as error:
        raise ReplicationError(
            "the shallow boundary is being changed by another git; nothing was changed", "try again"
        ) from error
    try:
        kept = [commit for commit in repo.shallow_commits() if commit not in gone]
        write_all(fd, "".join(f"{commit}\n" for commit in kept).encode("ascii"))
        os.fsync(fd)
        os.close(fd)
        if kept:
            os.replace(f"{path}.lock", path)
        else:
            os.unlink(path)
            os.unlink(f"{path}.lock")
        fsync_dir(repo.common_dir)
    except BaseException:
        with suppress(OSError):
            os.unlink(f"{path}.lock")
        raise
