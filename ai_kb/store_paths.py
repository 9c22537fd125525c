"""Names and places of the two stores, without the protocol's machinery: hooks import this."""

from __future__ import annotations

import os

from agent_base import env as environment
from agent_base import files, gitdir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HOME, REPO = "home", "repo"
STORES = (HOME, REPO)

HOME_NAME = "home.git"
MAIN = "refs/heads/main"


def described(name: str) -> str:
    """A store in messages: ``the <described>``. ``home`` and ``repo`` are what ``--store`` takes."""
    return "home store" if name == HOME else "repository's store"


def home_path(env: Mapping[str, str], workspace: str | None = None) -> str:
    """Where the home store is or would be. In a hook (``workspace``) overrides are checked."""
    base = environment.trusted_override(env, "AI_KB_HOME", workspace)
    if base is None:
        base = os.path.join(environment.xdg(env, "XDG_DATA_HOME", workspace), "ai-kb")
    return os.path.join(base, HOME_NAME)


MEMORY_REFS = "refs/hn/memory/"
_PACKED_LIMIT = 64 << 20


def may_hold_memory(workspace: str) -> bool:
    """Whether the repository around ``workspace`` can have refs of signed memory, without a process.

    True where that cannot be told (another ref format); False spares a hook the repository's store.
    """
    found = gitdir.find(workspace)
    if found is None:
        return False
    common = gitdir.common_dir(found[1])
    if os.path.isdir(os.path.join(common, "reftable")) or _has_entries(os.path.join(common, MEMORY_REFS)):
        return True
    try:
        data = files.read_beginning(os.path.join(common, "packed-refs"), _PACKED_LIMIT + 1)
    except OSError:
        return False
    return len(data) > _PACKED_LIMIT or b" " + MEMORY_REFS.encode() in data


def _has_entries(directory: str) -> bool:
    try:
        return bool(os.listdir(directory))
    except OSError:
        return False
