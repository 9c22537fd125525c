"""Where things live, and what of the environment is believed.

A repository's settings can set variables for the hooks that run in it. So an override
of any root counts in a hook only when it leads to a directory of this user's own
outside the workspace (``trusted_override``). Commands typed by a person pass
``workspace=None`` and get the override as it stands.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SUITE = "agent-hook-suite"

_XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
}

# What native git gets from a hook; everything else that starts with GIT_ is stripped.
GIT_HARDENING = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # the same for a git that is too old to know the other
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A trace is a file that git writes where the configuration says.
    "GIT_TRACE2": "0",
    "GIT_TRACE2_EVENT": "0",
    "GIT_TRACE2_PERF": "0",
}
GIT_HARDENING_ARGS = ("-c", "safe.bareRepository=explicit")


def home(env: Mapping[str, str], workspace: str | None = None) -> str | None:
    """Absolute home directory, or None when there is none to be had.

    In a hook (``workspace``) a ``HOME`` inside the workspace is passed over: the system knows this user's.
    """
    value = env.get("HOME", "")
    if os.path.isabs(value) and "\0" not in value and (workspace is None or not inside(value, workspace)):
        return value
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return None


def inside(path: str, directory: str) -> bool:
    """Whether ``path`` is ``directory`` or below it, symlinks resolved."""
    real, base = os.path.realpath(path), os.path.realpath(directory)
    return real == base or real.startswith(base.rstrip("/") + "/")


def _own_or_absent(path: str) -> bool:
    """The nearest existing ancestor of ``path`` (or itself) is a directory of this user or root's,
    and ``path`` itself, if it exists, is this user's own."""
    probe = path
    while True:
        try:
            status = os.stat(probe)
        except FileNotFoundError:
            parent = os.path.dirname(probe)
            if parent == probe:
                return False
            probe = parent
            continue
        except OSError:
            return False
        if not stat.S_ISDIR(status.st_mode):
            return False
        own = status.st_uid == os.geteuid()
        return own if probe == path else own or bool(status.st_mode & stat.S_ISVTX)


def trusted_override(env: Mapping[str, str], name: str, workspace: str | None) -> str | None:
    """The absolute directory in ``env[name]``, or None when unset or, with a ``workspace``
    (that is: in a hook), when it points inside it or at a directory that is not this user's."""
    value = env.get(name, "")
    if not value or not os.path.isabs(value) or "\0" in value:
        return None
    value = os.path.normpath(value)
    if workspace is not None and (inside(value, workspace) or not _own_or_absent(value)):
        return None
    return value


def xdg(env: Mapping[str, str], name: str, workspace: str | None = None) -> str:
    """Directory of an XDG variable (``XDG_CONFIG_HOME``, ``_DATA_``, ``_STATE_``, ``_CACHE_``).

    Without a home directory: a private directory below the temporary directory.
    """
    override = trusted_override(env, name, workspace)
    if override is not None:
        return override
    base = home(env, workspace)
    if base is None:
        base = f"/tmp/.{SUITE}-{os.getuid()}"
    return os.path.join(base, _XDG[name])


def git_environment(env: Mapping[str, str], *, hook: bool = False) -> dict[str, str]:
    """``env`` for a git child: inherited ``GIT_*`` stripped, no replaced objects, no grafts, no prompt.

    With ``hook`` also no lazy fetch, no optional locks, no trace. What a person may say by variables
    (``GIT_NO_LAZY_FETCH``, ``GIT_SSH_COMMAND``, ``GIT_CONFIG_GLOBAL``, …) survives for commands only.
    """
    keep = {
        "GIT_NO_LAZY_FETCH",
        "GIT_ALLOW_PROTOCOL",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_ASKPASS",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_CEILING_DIRECTORIES",
    }
    if hook:
        keep = {"GIT_CONFIG_NOSYSTEM"}
    result = {k: v for k, v in env.items() if not k.startswith("GIT_") or k in keep}
    result["GIT_NO_REPLACE_OBJECTS"] = "1"
    result["GIT_GRAFT_FILE"] = os.devnull + "/none"  # of a file that is there, git says that it is deprecated
    result["GIT_LITERAL_PATHSPECS"] = "1"
    result["LC_ALL"] = "C"
    if hook:
        result.update(GIT_HARDENING)
    return result
