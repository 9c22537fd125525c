"""Finishing a large private index behind a hook's back, so that prompts do not pay for it one by one.

A hook that meets an index with much to verify stops after a second and starts one process that goes
on: detached, with low priority, ending at once when another is at it already. Whatever
becomes of it, the next hook or command takes up what was verified.
"""

from __future__ import annotations

import os
import sys

from agent_base.env import git_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ai_kb.hn.cache import IndexExtension
    from ai_kb.hn.gitstore import Repository

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_CODE = (
    "import sys; sys.path.insert(0, sys.argv.pop(1));"
    " from ai_kb.hn.cache_background import main; main(sys.argv[1:])"
)
_SECONDS = 900.0


def finish_later(
    repo: Repository, commit: str, extension: IndexExtension | None, workspace: str | None
) -> None:
    """Start the process that completes the index at ``commit``; never fails.

    Args:
        extension: completed as well when it says where it is found (``where``, ``module:name``).
    """
    arguments = (
        repo.git_dir,
        repo.common_dir,
        repo.work_tree or "",
        repo.object_format,
        commit,
        getattr(extension, "where", ""),
        "" if workspace is None else workspace,
    )
    try:
        null = os.open(os.devnull, os.O_RDWR)
    except OSError:
        return
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-c", _CODE, _ROOT, *arguments],
            git_environment(repo.env, hook=True),
            file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)],
            setpgroup=0,  # what ends the hook's group at a timeout does not end this
        )
    except (OSError, ValueError):
        pass  # the next hook goes on from where this one stopped
    finally:
        os.close(null)


def main(arguments: list[str]) -> None:
    """The detached process: bring the index up to date, quietly."""
    import time
    from contextlib import suppress
    from importlib import import_module

    from agent_base.errors import SuiteError
    from ai_kb.hn.cache import open_index
    from ai_kb.hn.gitstore import Repository

    git_dir, common_dir, work_tree, object_format, commit, where, workspace = arguments
    os.chdir("/")
    os.nice(10)
    repo = Repository(
        git_dir=git_dir,
        common_dir=common_dir,
        work_tree=work_tree or None,
        object_format=object_format,
        env=os.environ,
        hook=True,
        deadline=time.monotonic() + _SECONDS,
    )
    extension = None
    if where:
        module, _, name = where.partition(":")
        extension = getattr(import_module(module), name)
    # Another process may be at it, or a stream invalid: the next hook will say so.
    with suppress(SuiteError):
        open_index(repo, at=commit, extension=extension, workspace=workspace or None, patient=True).close()
