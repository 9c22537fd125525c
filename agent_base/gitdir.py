"""Where a repository is, without a process: the work tree around a path, its Git directory, the common one.

Hooks ask this before anything else. What a repository holds is whoever's who wrote it: a pipe or a
directory in place of a file is no file, and nothing here waits for one.
"""

from __future__ import annotations

import os
import stat

from agent_base.files import read_beginning

_LIMIT = 8192  # bytes of `.git`, `HEAD` and `commondir`: more than a path can have


def find(path: str) -> tuple[str, str] | None:
    """Root of the Git work tree around ``path`` and its Git directory, or None.

    A linked worktree and a submodule are their own: their ``.git`` is a file that names the
    directory. A ``.git`` that holds no ``HEAD`` is passed over.
    """
    directory = os.path.realpath(path)
    while True:
        git_dir = _named_by(os.path.join(directory, ".git"))
        if git_dir is not None:
            return directory, git_dir
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def _named_by(path: str) -> str | None:
    """The Git directory that a ``.git`` is or names."""
    try:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            content = read_beginning(path, _LIMIT)
            if not content.startswith(b"gitdir:"):
                return None
            target = os.fsdecode(content[7:].strip())
            path = os.path.normpath(os.path.join(os.path.dirname(path), target))
        os.lstat(os.path.join(path, "HEAD"))
    except (OSError, ValueError):  # ValueError: a NUL in a path
        return None
    return path


def common_dir(git_dir: str) -> str:
    """Where the refs and the configuration of a Git directory are: a linked worktree shares them."""
    try:
        named = os.fsdecode(read_beginning(os.path.join(git_dir, "commondir"), _LIMIT).strip())
    except OSError:
        return git_dir
    return os.path.normpath(os.path.join(git_dir, named)) if named else git_dir


def head(git_dir: str) -> bytes:
    """What ``HEAD`` says (``ref: …`` or an object's name); empty where it cannot be read."""
    path = os.path.join(git_dir, "HEAD")
    try:
        if os.path.islink(path):  # a HEAD of Git before 1.5
            return b"ref: " + os.fsencode(os.readlink(path))
        return read_beginning(path, _LIMIT)
    except OSError:
        return b""
