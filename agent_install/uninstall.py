"""Taking the suite out again: exactly what was added, found by manifest and by marker.

Configuration first, so that no client calls a hook that is gone; then own files; the
environment last. Data stays unless ``--purge`` asks for it to go as well.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from agent_base import env as environment
from agent_base.errors import SuiteError
from agent_base.files import locked
from agent_install import adapters, changes, completion, launchers, wiring
from agent_install.changes import Change
from agent_install.harnesses import HARNESSES, skill_directory
from agent_install.install import LOCK, LOCK_SECONDS, SKILL_NAME, Plan, skill_is_ours
from agent_install.layout import Layout
from agent_install.manifest import NAME, ORIGINALS, Manifest, digest

# What the installer itself keeps in its data directory.
OWN_DATA = ("versions", "current", ORIGINALS, NAME, LOCK)


class Uninstaller:
    """One run of ``--uninstall``.

    Args:
        harnesses: only unwire these; None takes everything out.
    """

    def __init__(self, env: Mapping[str, str], harnesses: Sequence[str] | None = None) -> None:
        self.env = env
        self.layout = Layout.of(env)
        self.names = harnesses
        self.manifest = Manifest(self.layout.data)

    def plan(self) -> Plan:
        """What would go. Reads only."""
        self.manifest = self._load()
        plan = Plan()
        for path, own in self._configurations().items():
            change = (
                partial(self._remove, path, _has_marker)
                if own
                else partial(wiring.unwire, path, self.manifest)
            )
            self._plan(plan, path, change)
        if self.names is None:
            for path, is_ours in self._own_files().items():
                self._plan(plan, path, partial(self._remove, path, is_ours))
        return plan

    def _load(self) -> Manifest:
        try:
            return Manifest.load(self.layout.data)
        except SuiteError:  # damaged: the markers still tell what is the suite's
            return Manifest(self.layout.data)

    def _plan(self, plan: Plan, path: str, make: Callable[[], Change | None]) -> None:
        try:
            change = make()
        except (wiring.Refused, changes.Unusable) as error:
            if (
                isinstance(error, changes.Unreadable)
                and self.manifest.files
                and path not in self.manifest.files
            ):
                return  # the installer never wrote there
            plan.refused[path] = error
            return
        if change is not None:
            plan.changes.append(change)

    def _configurations(self) -> dict[str, bool]:
        """Configuration files in which the suite may be → whether the whole file is its own."""
        found: dict[str, bool] = {}
        own_names = {os.path.basename(h.file) for h in HARNESSES if h.kind == "own"}
        for path, entry in self.manifest.files.items():
            owner, _, name = entry.owner.partition(":")
            if owner in ("harness", "trust") and (self.names is None or name in self.names):
                found[path] = os.path.basename(path) in own_names
        for harness in HARNESSES:
            if self.names is not None and harness.name not in self.names:
                continue
            path = harness.config(self.env)
            found[path] = harness.kind == "own"
            if harness.kind == "codex":
                found[os.path.join(harness.directory(self.env), "config.toml")] = False
        return found

    def _own_files(self) -> dict[str, Callable[[bytes], bool]]:
        kinds: dict[str, Callable[[bytes], bool]] = {
            "launcher": launchers.is_ours, "completion": completion.is_ours, "skill": skill_is_ours,
        }  # fmt: skip
        files = {
            path: kinds[entry.owner] for path, entry in self.manifest.files.items() if entry.owner in kinds
        }
        for name in launchers.COMMANDS:
            files[os.path.join(self.layout.bin, name)] = launchers.is_ours
            for shell in completion.SHELLS:
                files[completion.path(self.layout, shell, name)] = completion.is_ours
        for name in launchers.ALL_HOOKS:
            files[os.path.join(self.layout.hooks, name)] = launchers.is_ours
        for harness in HARNESSES:
            files[os.path.join(skill_directory(harness, self.env), SKILL_NAME, "SKILL.md")] = skill_is_ours
        return files

    def _remove(self, path: str, is_ours: Callable[[bytes], bool]) -> Change | None:
        """The removal of an own file, or the return of the one whose place it took."""
        before, mode = changes.read(path)
        entry = self.manifest.files.get(path)
        if before is None:
            return None
        exact = entry is not None and digest(before) == entry.installed
        if not exact and not is_ours(before):
            return None
        after = None
        if entry is not None and entry.original is not None:
            with suppress(FileNotFoundError):
                after, mode = self.manifest.original(entry), entry.mode or mode
        changes.check_writable(path)
        owner = entry.owner if entry is not None else "launcher"
        # An own file that somebody has edited is kept beside its place.
        edited = not exact and entry is not None
        return Change(path, before, after, mode, owner, backup=edited and owner != "launcher")

    def run(self) -> Plan:
        """Take everything out that the plan names; the environment goes when nothing was refused."""
        if not os.path.isdir(self.layout.data):
            return self._carry_out(self.plan())
        with locked(os.path.join(self.layout.data, LOCK), timeout=LOCK_SECONDS):
            plan = self._carry_out(self.plan())
            if self.names is None and not plan.refused:
                self._remove_own_data()
        if self.names is None:
            changes.remove_empty([self.layout.data, *self.manifest.made])
        return plan

    def _carry_out(self, plan: Plan) -> Plan:
        for change in list(plan.changes):
            entry = self.manifest.files.get(change.path)
            try:
                changes.apply(change)
            except SuiteError as error:
                plan.changes.remove(change)
                plan.refused[change.path] = error
                continue
            if entry is not None and entry.backup is not None and not change.backup:
                self._drop_backup(change.backup_path, entry.backup)
            self.manifest.files.pop(change.path, None)
        if self.names is None:
            made = [*self.manifest.made, *self._usual_directories()]
            changes.remove_empty(made)
        if os.path.isdir(self.layout.data):
            self.manifest.save()
        return plan

    def _usual_directories(self) -> list[str]:
        """Directories of the suite alone, in case the manifest is lost."""
        return [os.path.join(skill_directory(harness, self.env), SKILL_NAME) for harness in HARNESSES]

    @staticmethod
    def _drop_backup(path: str, expected: str) -> None:
        try:
            data = changes.read(path)[0]
        except changes.Unusable:
            return
        if data is not None and digest(data) == expected:
            os.unlink(path)

    def _remove_own_data(self) -> None:
        for name in OWN_DATA:
            path = os.path.join(self.layout.data, name)
            if os.path.islink(path) or os.path.isfile(path):
                os.unlink(path)
            else:
                shutil.rmtree(path, ignore_errors=True)


def _has_marker(data: bytes) -> bool:
    return adapters.MARKER.encode() in data


def data_directories(env: Mapping[str, str]) -> list[tuple[str, str]]:
    """What ``--purge`` removes besides: path and what it is. Repositories keep their own records."""
    from agent_memory.workspace import mirror_root, spec_root

    def below(variable: str, name: str) -> str:
        return os.path.join(environment.xdg(env, variable), name)

    kb = environment.trusted_override(env, "AI_KB_HOME", None)
    # A directory that its user chose may hold other things as well.
    store = os.path.join(kb, "home.git") if kb else below("XDG_DATA_HOME", "ai-kb")
    mirror = mirror_root(env) or below("XDG_STATE_HOME", "agent-specs")
    return [
        (store, "the home store: every personal capsule, and the key that signs them"),
        (spec_root(env, None), "session memory: topics, specs, worklogs"),
        (mirror, "the mirror of named topics"),
        (below("XDG_STATE_HOME", environment.SUITE), "acceptances, approvals, error logs"),
        (below("XDG_CACHE_HOME", environment.SUITE), "caches that can be rebuilt"),
        (below("XDG_CONFIG_HOME", environment.SUITE), "the suite's configuration"),
        (below("XDG_CONFIG_HOME", "agent-memory"), "the prefix of session starts"),
        (below("XDG_DATA_HOME", environment.SUITE), "the suite's own directory"),
    ]


def private_keys(path: str) -> list[tuple[str, str]]:
    """Repositories in a directory that ``--purge`` removes, and their files of private keys.

    docs/protocol.md, "Identity". What a link leads to stays, and is not named.
    """
    found: list[tuple[str, str]] = []
    if os.path.islink(path):
        return found
    for repository in (path, os.path.join(path, "home.git")):
        directory = os.path.join(repository, "hn", "identities")
        with suppress(OSError):
            found += [(repository, os.path.join(directory, name)) for name in sorted(os.listdir(directory))]
    return found


def size_of(path: str) -> tuple[int, int]:
    """Number of files and bytes below a directory, links not followed."""
    count = total = 0
    for directory, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(directory, name)).st_size
                count += 1
    return count, total


def purge(path: str, env: Mapping[str, str]) -> None:
    """Remove a directory of the suite's data; a link at its place only as a link.

    Raises:
        SuiteError: the home directory is inside, or something in it could not be removed.
    """
    home = environment.home(env)
    if home is None or environment.inside(home, path):
        raise SuiteError(
            f"{path} holds the home directory; it was not removed", "unset the variable that names it"
        )
    if os.path.islink(path):
        os.unlink(path)
        return
    try:
        shutil.rmtree(path)
    except OSError as error:
        raise SuiteError(f"{error.filename or path} could not be removed: {error.strerror}") from error
