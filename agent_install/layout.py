"""Where the installer puts things: one object, made once from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from agent_base import env as environment
from agent_base.errors import SuiteError
from agent_base.inert import clean_surrogates
from agent_install.harnesses import home


@dataclass(frozen=True)
class Layout:
    """Absolute directories. ``data`` belongs to the suite alone, the others are shared."""

    home: str
    data: str
    bin: str
    hooks: str
    bash: str
    zsh: str
    fish: str

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Layout:
        """The layout for this environment (``HOME``, ``XDG_DATA_HOME``)."""
        base, share = home(env), environment.xdg(env, "XDG_DATA_HOME")
        for path in (base, share):
            if clean_surrogates(path) != path:
                raise SuiteError("the home directory's name is not UTF-8: no configuration file can name it")
        return cls(
            home=base,
            data=os.path.join(share, environment.SUITE),
            bin=os.path.join(base, ".local", "bin"),
            hooks=os.path.join(base, ".agents", "hooks"),
            bash=os.path.join(share, "bash-completion", "completions"),
            zsh=os.path.join(share, "zsh", "site-functions"),
            fish=os.path.join(share, "fish", "vendor_completions.d"),
        )
