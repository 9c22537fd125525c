"""Checks of signed memory: Git, stores, identities, policies, indexes, a person's words, seen state.

A check is a function of a ``Patient`` that gives ``Check`` lines, those of session memory among them, so
that one report holds everything. ``CHECKS`` is the list that ``,ai-kb doctor`` runs; a check that fails by an
exception is a failed line, not the end of the report. Nothing is changed but the private index, which
is brought up to date.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from agent_base import env as environment
from agent_base import files
from agent_base.checks import FAIL, OK, WARN, Check
from agent_base.errors import SuiteError
from agent_base.shell import command
from agent_memory import doctor as session_doctor
from agent_memory.mirror import Mirror
from agent_memory.topics import State
from ai_kb import consent, corpus, seen, stores
from ai_kb.hn.cache import ask
from ai_kb.hn.identity import Keyring
from ai_kb.hn.policy import MISSING_DIGEST
from ai_kb.search import EXTENSION
from ai_kb.stores import HOME, HOME_ROOT, MAIN, Store

_MANY_LOOSE = 20_000
_GIT = (2, 36)


@dataclass(frozen=True, slots=True)
class Patient:
    """What is examined."""

    workspace: str
    env: Mapping[str, str]
    state: State


Examination = Callable[[Patient], Iterable[Check]]


def examine(patient: Patient, checks: Iterable[Examination] | None = None) -> list[Check]:
    """The lines of every check, in order."""
    found: list[Check] = []
    for check in CHECKS if checks is None else checks:
        try:
            found.extend(check(patient))
        except (SuiteError, OSError) as error:
            name = check.__name__.replace("_", " ")
            found.append(Check(name, FAIL, str(error), getattr(error, "hint", "")))
    return found


def git_version(patient: Patient) -> Iterator[Check]:
    """Git is there, and new enough for what is asked of it."""
    wanted = ".".join(map(str, _GIT))
    argv = [shutil.which("git", path=patient.env.get("PATH")) or "git", "--version"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env=dict(patient.env))
    except OSError as error:
        yield Check("git", FAIL, f"it cannot be run: {error.strerror}", f"install Git {wanted} or newer")
        return
    found = re.search(r"(\d+)\.(\d+)\S*", done.stdout)
    if found is None:
        yield Check("git", FAIL, f"it does not say its version (exit {done.returncode})", "install it again")
    elif (int(found[1]), int(found[2])) < _GIT:
        yield Check("git", FAIL, f"version {found[0]} is too old", f"install Git {wanted} or newer")
    else:
        yield Check("git", OK, f"version {found[0]}")


def home_store(patient: Patient) -> Iterator[Check]:
    """The home store: there, private, with its root, identity and policy, every stream valid."""
    store = stores.open_home(patient.env)
    if store is None:
        where = stores.home_path(patient.env)
        yield Check("home store", OK, f"none yet: the first `,ai-kb remember` makes it ({where})")
        return
    mode = os.stat(store.repo.git_dir).st_mode & 0o777
    if mode != files.DIR_MODE:
        hint = command("chmod", "700", store.repo.git_dir)
        yield Check("home store: mode", WARN, f"{mode:04o}, others can look inside", hint)
    with store.repo.objects() as reader:
        if reader.types([HOME_ROOT]) != ["commit"] or MAIN not in store.repo.refs(MAIN):
            yield Check("home store: root", FAIL, "its root commit or main is missing", ",ai-kb init")
            return
    yield from _identity(store)
    yield from _streams(store)
    loose = _loose_objects(store.repo.git_dir)
    if loose > _MANY_LOOSE:
        hint = f"git --git-dir={store.repo.git_dir} gc"
        yield Check("home store: objects", WARN, f"{loose} loose objects slow git down", hint)


def repository_store(patient: Patient) -> Iterator[Check]:
    """The repository's store: used or not and why, every stream valid, its policy accepted or not."""
    store = stores.open_repo(patient.workspace, patient.env)
    if store is None:
        yield Check("repository's store", OK, "the workspace is not in a Git repository")
        return
    why = stores.why_not_repo(store)
    yield Check(
        "repository's store",
        OK,
        f"`,ai-kb remember` leaves it alone: {why}" if why else "`,ai-kb remember` signs into it",
    )
    if Keyring.of(store.repo).active_actor() is not None:
        yield from _identity(store)
    yield from _streams(store)
    policy = stores.policy_at_head(store)
    if policy is None or policy.memory is None:
        return
    if consent.accepted(patient.env, store.repo.common_dir, policy.digest):
        yield Check("repository's store: policy", OK, "accepted: its records are injected")
    else:
        detail = f"{policy.digest[:19]}… is not accepted: nothing of it is injected by itself"
        yield Check("repository's store: policy", WARN, detail, ",ai-kb policy accept")


def _identity(store: Store) -> Iterator[Check]:
    """The active identity can be loaded: exact modes, owner, matching keys."""
    name = f"{store.described}: identity"
    try:
        identity = store.identity()
    except SuiteError as error:
        yield Check(name, FAIL, error.message, error.hint)
        return
    policy = stores.policy_at_head(store)
    trusted = (
        policy is not None and policy.memory is not None and identity.actor in policy.memory.trusted_actors
    )
    if store.name == HOME and not trusted:
        hint = ",ai-kb policy trust --store home"
        yield Check(name, FAIL, f"{identity.actor} is not trusted by the home store's own policy", hint)
    else:
        yield Check(name, OK, f"{identity.actor} ({identity.name})")


def _streams(store: Store) -> Iterator[Check]:
    """Every stream verifies, and the private index says the same."""
    reading = corpus.read_store(store)
    recalled = sum(not held.left_out for held in reading.held)
    yield Check(
        f"{store.described}: streams",
        OK,
        f"records that verify: {len(reading.held)}; recalled by default: {recalled}",
    )
    if not _has_commit(store):
        return
    count, note, digest = ask(
        store.repo,
        lambda index: (index.gate().bit_count(), index.note, index.policy_digest),
        extension=EXTENSION,
    )
    policy = reading.policy.digest if reading.policy else MISSING_DIGEST
    name = f"{store.described}: index"
    if note:
        yield Check(name, WARN, note, "make the cache directory private and writable")
    elif count != recalled or digest != policy:
        hint = ",ai-kb index rebuild"
        yield Check(name, FAIL, f"it recalls {count} records, a fresh projection {recalled}", hint)
    else:
        yield Check(name, OK, f"current; recalled by default: {count}")


def _has_commit(store: Store) -> bool:
    with store.repo.objects() as reader:
        return reader.head() is not None


def _loose_objects(git_dir: str) -> int:
    """A guess from one of the 256 directories of loose objects, as git itself makes it."""
    try:
        return 256 * len(os.listdir(os.path.join(git_dir, "objects", "17")))
    except OSError:
        return 0


def words_of_a_person(patient: Patient) -> Iterator[Check]:
    """Approvals and configuration can be read."""
    approved = consent.approved(patient.env)
    yield Check("approvals", OK, f"{len(approved)} capsules approved")
    path = os.path.join(environment.xdg(patient.env, "XDG_CONFIG_HOME"), environment.SUITE, "config.toml")
    try:
        data = files.read_private(path, 1 << 16)
    except FileNotFoundError:
        return
    import tomllib

    try:
        value = tomllib.loads(data.decode())
    except (ValueError, UnicodeDecodeError) as error:
        yield Check("configuration", FAIL, f"{path}: {error}", "mend it, or remove it")
        return
    automatic = consent.approves_all(patient.env)
    if (value.get("approve") == "auto") != automatic:
        hint = 'write it as: approve = "auto"'
        yield Check("configuration", WARN, f"{path}: approve is not read as it is meant", hint)
    elif automatic:
        yield Check("configuration", WARN, 'approve = "auto": what agents remember is injected everywhere')


def seen_state(patient: Patient) -> Iterator[Check]:
    """What was injected into the sessions of this workspace can be read."""
    if not patient.state.exists():
        return
    count = 0
    for name in patient.state.names():
        if name.startswith(".recall-seen-") and name.endswith(".json"):
            seen.seen_ids(patient.state.spec_dir, name[len(".recall-seen-") : -len(".json")])
            count += 1
    yield Check("seen state", OK, f"{count} sessions")


def session_memory(patient: Patient) -> Iterator[Check]:
    """What ``,agent-memory doctor`` says of the workspace, every session of it."""
    mirror = Mirror.of(patient.state, patient.env, hook=False)
    for check in session_doctor.examine(patient.state, mirror, None, patient.env):
        yield replace(check, name=f"session memory: {check.name}")


CHECKS: list[Examination] = [
    git_version,
    session_memory,
    home_store,
    repository_store,
    words_of_a_person,
    seen_state,
]
