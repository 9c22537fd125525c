"""Which records may reach a session by themselves, as far as scope and approval go.

The judgments of the protocol (lifecycle, trust, applicability, evidence) are the index's. Here:

- ``workspace``: only in that workspace; ``project``: in every clone and worktree of the repository;
  ``domain`` and ``universal``: everywhere, but what an agent made for everywhere only where it came
  from, until a person approves it;
- a record of the repository's store that declares no scope belongs to that repository; one of the
  home store was put there by other means than this suite, and needs a person's approval.

``allowed`` answers for whole sets, and may let through a record too many where only the record can
tell; ``admits`` has the last word on each. Standard library only: hooks import this.

docs/decisions.md, "Scopes gate recall" and "A person's word".
"""

from __future__ import annotations

from ai_kb.hn import cache_bits as bits
from ai_kb.store_paths import HOME, REPO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from ai_kb.capsule import Capsule
    from ai_kb.hn.cache_index import Index
    from ai_kb.project import Project

WIDE_SCOPES = ("domain", "universal")  # where a capsule made by an agent goes only once approved


def is_from(project: Project, capsule: Capsule, store: str) -> bool:
    """Whether a record of ``store`` was made for, or in, ``project`` or its workspace."""
    if capsule.projects:
        return project.is_one_of(capsule.projects)
    if capsule.workspaces:
        return project.digest in capsule.workspaces
    return store == REPO  # what says nothing belongs to the repository that holds it


def waits(capsule: Capsule, store: str) -> bool:
    """Whether a person's approval says where a record of ``store`` is shown: what an agent made for
    everywhere, and what the home store holds without a scope."""
    if capsule.scope in WIDE_SCOPES:
        return capsule.by == "agent"
    return capsule.scope == "" and store == HOME


class Gate:
    """What one session may see.

    Args:
        project: where the session works.
        approved: gives the approved ids; asked at most once.
        approves_all: whether the configuration approves everything; asked at most once.
    """

    __slots__ = ("_approved", "_approves_all", "_ask_all", "_ask_approved", "project")

    def __init__(
        self, project: Project, approved: Callable[[], Set[str]], approves_all: Callable[[], bool]
    ) -> None:
        self.project = project
        self._ask_approved = approved
        self._ask_all = approves_all
        self._approved: Set[str] | None = None
        self._approves_all: bool | None = None

    def is_approved(self, memory_id: str) -> bool:
        """Whether a person let this record out of where it came from."""
        return self.everything_approved or memory_id in self.approved

    @property
    def approved(self) -> Set[str]:
        """Ids that a person approved."""
        if self._approved is None:
            self._approved = self._ask_approved()
        return self._approved

    @property
    def everything_approved(self) -> bool:
        """Whether no approval is asked for."""
        if self._approves_all is None:
            self._approves_all = self._ask_all()
        return self._approves_all

    def admits(self, memory_id: str, capsule: Capsule, store: str) -> bool:
        """Whether a record of ``store`` may be shown in this session."""
        if capsule.scope == "workspace":
            return self.project.digest in capsule.workspaces
        if capsule.scope == "project":
            return is_from(self.project, capsule, store)
        if not waits(capsule, store) or (capsule.scope and is_from(self.project, capsule, store)):
            return True
        return self.is_approved(memory_id)

    def allowed(self, index: Index, store: str) -> int:
        """Records of ``store`` that pass the index's gate and may pass this one: a bit set."""

        def topic(name: str) -> int:
            return index.read_set(bits.TOPIC, name)

        passing = index.gate()
        if not passing:
            return 0
        workspace, project = topic("scope/workspace"), topic("scope/project")
        wide = (topic("scope/domain") | topic("scope/universal")) & ~(workspace | project)
        unsaid = ~(workspace | project | wide)
        here = topic(f"workspace/{self.project.digest}")
        of_project = here
        for name in self.project.ids:
            of_project |= topic(f"project/{name}")
        out = workspace & here
        if store == REPO:
            # Whose project a record is, only the record can tell: most say this one, or nothing.
            out |= project | wide | unsaid
        else:
            out |= (project & ~workspace) & of_project
            by_agent = topic("by/agent")
            out |= wide & (~by_agent | of_project)
            rest = passing & ~out & (wide | unsaid)
            if rest:
                out |= rest if self.everything_approved else self._numbers(index) & rest
        return passing & out

    def _numbers(self, index: Index) -> int:
        """The approved records of an index."""
        found: list[int] = []
        for memory_id in self.approved:
            try:
                raw = bytes.fromhex(memory_id.removeprefix("sha256:"))
            except ValueError:
                continue
            row = index.conn.execute("SELECT number FROM memory WHERE id = ?", (raw,)).fetchone()
            if row is not None:
                found.append(row[0])
        return bits.union(found)
