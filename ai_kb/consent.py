"""This person's word: approved capsules, accepted policies, and where to find out whether one is asked.

An agent can be talked into remembering something, and a repository's policy is written by whoever
writes the repository. So two things count only once a person at a terminal said so, on this
machine: ``approve ID`` lifts a capsule made by an agent out of the project it came from, ``policy
accept`` lets a repository's store into automatic injection, once per policy digest.

Both are kept below ``$XDG_STATE_HOME/agent-hook-suite``, so a ``.git`` unpacked from an archive
brings none of them. Whatever cannot be read safely counts as no word given.

docs/decisions.md, "A person's word". Standard library only: hooks import this.
"""

from __future__ import annotations

import os

from agent_base import env as environment
from agent_base import files
from agent_base.errors import SuiteError
from ai_kb.errors import NeedsPerson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_base.cli import Console

_LIMIT = 1 << 22

# Set in the shells that agents run their commands in. They can only say that there is an agent:
# a value never makes an agent a person.
_AGENT_VARIABLES = (
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_MANAGED_BY_NPM",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT_SESSION_ID",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "OPENCODE",
)


def is_person(console: Console) -> bool:
    """Whether a person sits at a terminal: one is there, and no harness says that it started us."""
    return console.person() and not any(console.env.get(name) for name in _AGENT_VARIABLES)


def need_person(console: Console, what: str) -> None:
    """Raise NeedsPerson, naming ``what`` (for instance ``approve``), unless a person is there."""
    if not is_person(console):
        raise NeedsPerson(
            f"{what} needs a person at a terminal; nothing was changed",
            "run it yourself in a terminal, not through an agent",
        )


# ---------------------------------------------------------------- files of words


def _state(env: Mapping[str, str], workspace: str | None) -> str:
    return os.path.join(environment.xdg(env, "XDG_STATE_HOME", workspace), environment.SUITE)


def _lines(path: str) -> list[str]:
    """Lines of a private file; none when there is none. UnsafePath when it is not to be believed."""
    try:
        return files.read_private(path, _LIMIT).decode("utf-8", "replace").split("\n")[:-1]
    except FileNotFoundError:
        return []


def _words(path: str) -> set[str]:
    """First word of every line; none when the file cannot be read safely."""
    try:
        return {line.split(" ", 1)[0] for line in _lines(path) if line}
    except (OSError, SuiteError):
        return set()


def _change(path: str, word: str, note: str | None) -> bool:
    """Put ``word`` (with a ``note`` behind it) into a file of words, or take it out (``note`` None)."""
    files.ensure_private_dir(os.path.dirname(path))
    with files.locked(path + ".lock", timeout=10):
        before = _lines(path)
        after = [line for line in before if line and line.split(" ", 1)[0] != word]
        was_there = len(after) != len(before)
        if note is not None:
            if was_there:
                return False
            after.append(f"{word} {note}")
        elif not was_there:
            return False
        files.write_atomic(path, "".join(f"{line}\n" for line in after).encode())
    return True


# ---------------------------------------------------------------- approvals


def _approvals_path(env: Mapping[str, str], workspace: str | None) -> str:
    return os.path.join(_state(env, workspace), "approved")


def approved(env: Mapping[str, str], workspace: str | None = None) -> set[str]:
    """Ids of the capsules that a person approved."""
    return _words(_approvals_path(env, workspace))


def approve(env: Mapping[str, str], memory_id: str, when: str) -> bool:
    """Approve a capsule; whether that is new."""
    return _change(_approvals_path(env, None), memory_id, when)


def unapprove(env: Mapping[str, str], memory_id: str) -> bool:
    """Take an approval back; whether there was one."""
    return _change(_approvals_path(env, None), memory_id, None)


def approves_all(env: Mapping[str, str], workspace: str | None = None) -> bool:
    """Whether the configuration says ``approve = "auto"``. Read without a TOML parser: hooks ask."""
    path = os.path.join(environment.xdg(env, "XDG_CONFIG_HOME", workspace), environment.SUITE, "config.toml")
    try:
        lines = files.read_private(path, 1 << 16).decode("utf-8", "replace").splitlines()
    except (OSError, SuiteError):
        return False
    for text in lines:
        text = text.strip()
        if text.startswith("["):  # a table: what follows is another setting
            return False
        name, equals, value = text.partition("=")
        if equals and name.strip().strip("\"'") == "approve":
            value = value.strip()
            return value[:1] in ("'", '"') and value[1:].startswith("auto" + value[0])
    return False


# ---------------------------------------------------------------- acceptances


def _acceptance_path(env: Mapping[str, str], common_dir: str, workspace: str | None) -> str:
    from agent_base.digests import sha256_hex

    key = sha256_hex(os.path.realpath(common_dir).encode("utf-8", "surrogateescape"))
    return os.path.join(_state(env, workspace), "accepted", key)


def acceptances(env: Mapping[str, str], common_dir: str, workspace: str | None = None) -> set[str]:
    """Digests of the policies of the repository at ``common_dir`` that a person accepted."""
    return _words(_acceptance_path(env, common_dir, workspace))


def accepted(
    env: Mapping[str, str], common_dir: str, policy_digest: str, workspace: str | None = None
) -> bool:
    """Whether a person accepted this policy of the repository at ``common_dir``."""
    return policy_digest in acceptances(env, common_dir, workspace)


def accept(env: Mapping[str, str], common_dir: str, policy_digest: str, when: str) -> bool:
    """Accept a policy digest for the repository at ``common_dir``; whether that is new."""
    return _change(_acceptance_path(env, common_dir, None), policy_digest, f"{when} {common_dir!r}")


def revoke(env: Mapping[str, str], common_dir: str, policy_digest: str) -> bool:
    """Take an acceptance back; whether there was one."""
    return _change(_acceptance_path(env, common_dir, None), policy_digest, None)
