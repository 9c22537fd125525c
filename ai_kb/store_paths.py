"""Names and places of the two stores, without the protocol's machinery: hooks import this."""

from __future__ import annotations

import os

from agent_base import env as environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HOME, REPO = "home", "repo"
STORES = (HOME, REPO)

HOME_NAME = "home.git"
MAIN = "refs/heads/main"


def home_path(env: Mapping[str, str], workspace: str | None = None) -> str:
    """Where the home store is or would be. In a hook (``workspace``) overrides are checked."""
    base = environment.trusted_override(env, "AI_KB_HOME", workspace)
    if base is None:
        base = os.path.join(environment.xdg(env, "XDG_DATA_HOME", workspace), "ai-kb")
    return os.path.join(base, HOME_NAME)
