"""Which repository a command works in: what is around its directory, or what its caller opened."""

from __future__ import annotations

from typing import IO

from agent_base.cli import Console
from ai_kb.hn.gitstore import Repository


class InRepository(Console):
    """A console of a command that works in a repository its caller opened, not in what is around ``cwd``."""

    __slots__ = ("repository",)

    def __init__(self, console: Console, repository: Repository, stdout: IO[str]) -> None:
        super().__init__(
            env=console.env,
            stdin=console.stdin,
            stdout=stdout,
            stderr=console.stderr,
            now=console.now,
            cwd=repository.work_tree or repository.git_dir,
        )
        self.repository = repository


def repository_of(console: Console) -> Repository:
    """The repository that a command works in."""
    if isinstance(console, InRepository):
        return console.repository
    return Repository.open(console.cwd, console.env)
