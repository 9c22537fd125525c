"""Installing, step by step: environment, launchers, completion, hooks, skill.

Order matters: nothing points to an environment before it is complete, and no configuration
names a launcher before that is there. A failure leaves the steps before it working.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from agent_base.errors import SuiteError
from agent_base.files import ensure_private_dir, locked
from agent_base.inert import terminal
from agent_install import adapters, changes, completion, launchers, runtime, wiring
from agent_install.changes import Change
from agent_install.harnesses import HARNESSES, Harness, skill_directory
from agent_install.layout import Layout
from agent_install.manifest import Manifest, digest

LOCK = ".install.lock"
LOCK_SECONDS = 600.0
SKILL_NAME = "agent-memory"

Say = Callable[[str], None]


@dataclass
class Plan:
    """What a run would change, what it found in order, and what it had to leave alone."""

    changes: list[Change] = field(default_factory=list)
    in_order: list[str] = field(default_factory=list)
    refused: dict[str, SuiteError] = field(default_factory=dict)

    def add(self, path: str, make: Callable[[], Change]) -> None:
        """Plan one file; a refusal is kept, and the others go on."""
        try:
            change = make()
        except (wiring.Refused, changes.Unusable) as error:
            self.refused[path] = error
            return
        if change.is_change:
            self.changes.append(change)
        else:
            self.in_order.append(change.path)

    def paths(self) -> set[str]:
        """Every file that the plan speaks of."""
        return {change.path for change in self.changes} | set(self.in_order) | set(self.refused)


@dataclass(frozen=True)
class Options:
    """What was asked for: the checkout, which harnesses (None: those that are there), and how."""

    source: str
    harnesses: Sequence[str] | None = None
    skill: bool = False
    force: bool = False


class Installer:
    """One run: the options, where things are, and what is installed so far."""

    def __init__(self, options: Options, env: Mapping[str, str]) -> None:
        self.options = options
        self.env = env
        self.layout = Layout.of(env)
        self.runtime = runtime.plan(options.source, self.layout.data)
        self.manifest = Manifest(self.layout.data)

    def harnesses(self) -> list[Harness]:
        """The harnesses to wire: those asked for, else those that are there."""
        names = self.options.harnesses
        return [h for h in HARNESSES if (h.present(self.env) if names is None else h.name in names)]

    def plan(self) -> Plan:
        """Every file but the environment. Reads only."""
        self.manifest = Manifest.load(self.layout.data)
        plan = Plan()
        files = {os.path.join(self.layout.bin, name): launchers.command(name, self.runtime.python)
                 for name in launchers.COMMANDS}  # fmt: skip
        python, site = self.runtime.python, self.runtime.site
        for name in launchers.PYTHON_HOOKS:
            files[os.path.join(self.layout.hooks, name)] = launchers.hook(name, python, site)
        files[os.path.join(self.layout.hooks, launchers.DISPATCHER)] = launchers.dispatcher(
            python, site, os.getuid(), self._dispatcher_script()
        )
        self._plan_own(plan, files, "launcher", 0o755, launchers.is_ours)
        scripts = completion.scripts(self.runtime, self.layout)
        if scripts:
            self._plan_own(plan, scripts, "completion", 0o644, completion.is_ours)
        harnesses = self.harnesses()
        if self.options.skill or self.manifest.skill:
            places = {os.path.join(skill_directory(h, self.env), SKILL_NAME, "SKILL.md") for h in harnesses}
            self._plan_own(
                plan, dict.fromkeys(sorted(places), skill_content()), "skill", 0o644, skill_is_ours
            )
        for harness in harnesses:
            plan.add(harness.config(self.env), partial(self._wire, harness, plan))
        return plan

    def _dispatcher_script(self) -> str:
        path = os.path.join(self.options.source, "hooks", launchers.DISPATCHER)
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except OSError as error:
            raise SuiteError(f"{path} cannot be read: {error.strerror}", "is the checkout whole?") from error

    def _wire(self, harness: Harness, plan: Plan) -> Change:
        if any(os.path.dirname(path) == self.layout.hooks for path in plan.refused):
            raise wiring.Refused(
                f"{harness.title} was not wired: not all hooks in {self.layout.hooks} are the suite's"
            )
        return wiring.wire(harness, self.env, self.layout.hooks, self.manifest)

    def _plan_own(
        self, plan: Plan, files: Mapping[str, bytes], owner: str, mode: int, is_ours: Callable[[bytes], bool]
    ) -> None:
        for path, content in files.items():
            plan.add(path, partial(self._own, path, content, owner, mode, is_ours))
        for path, entry in self.manifest.files.items():  # made by an earlier version, not by this one
            if entry.owner == owner and path not in files:
                before, before_mode = changes.read(path)
                if before is not None and digest(before) == entry.installed:
                    plan.changes.append(Change(path, before, None, before_mode, owner))

    def _own(
        self, path: str, content: bytes, owner: str, mode: int, is_ours: Callable[[bytes], bool]
    ) -> Change:
        """A file of the suite's own; somebody else's at its place is not overwritten unasked."""
        before, before_mode = changes.read(path)
        entry = self.manifest.files.get(path)
        original = None
        if before is not None and entry is not None and digest(before) == entry.installed:
            original = self.manifest.original(entry)
        elif before is not None and before != content and not is_ours(before):
            if not self.options.force:
                raise wiring.Refused(
                    f"{path} is there and was not made by the suite; it was left as it is",
                    "move it away, or --force replaces it (with a backup, put back by --uninstall)",
                )
            original = before
        foreign = original is not None and original == before
        change = Change(path, before, content, mode, owner, foreign, original, before_mode)
        if change.is_change:
            changes.check_writable(path)
        return change

    def carry_out(self, plan: Plan) -> None:
        """Record each change, then apply it; failures are added to ``plan.refused``."""
        for change in list(plan.changes):
            before = self.manifest.files.get(change.path)
            if change.after is not None:
                self.manifest.files[change.path] = wiring.record(change, self.manifest)
                self.manifest.save()
            try:
                made = changes.apply(change)
            except SuiteError as error:
                plan.changes.remove(change)
                plan.refused[change.path] = error
                if before is not None:
                    self.manifest.files[change.path] = before
                    continue
                made = []
            if change.after is None or change.path in plan.refused:
                self.manifest.files.pop(change.path, None)
            self.manifest.made += [path for path in made if path not in self.manifest.made]
        self.manifest.save()

    def run(self, say: Say) -> Plan:
        """Install or upgrade; running it twice changes nothing.

        Raises:
            SuiteError: no environment could be made, or the manifest is damaged; nothing was changed.
        """
        data = self.layout.data
        incomplete: SuiteError | None = None
        made = changes.make_directories(os.path.dirname(data))
        ensure_private_dir(data)
        with locked(os.path.join(data, LOCK), timeout=LOCK_SECONDS):
            link = os.path.join(data, "current")
            previous = os.path.realpath(link) if os.path.islink(link) else None
            runtime.make(self.runtime, self.options.source, self.env, say)
            try:
                completion.generate(self.runtime, self.env)
            except SuiteError as error:  # hooks and commands work without
                incomplete = error
            plan = self.plan()
            if incomplete is not None:
                plan.refused["completion"] = incomplete
            self.manifest.made += made
            self.manifest.skill = self.manifest.skill or self.options.skill
            self.carry_out(plan)
            runtime.point_current(data, self.runtime)
            runtime.prune(data, self.runtime, previous)
        return plan


def skill_content() -> bytes:
    """The skill that teaches an agent when to note, harvest and remember."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "skill", "SKILL.md")
    with open(path, "rb") as file:
        return file.read()


def skill_is_ours(data: bytes) -> bool:
    """Whether a skill file was made by the installer."""
    return adapters.MARKER.encode() in data


def shown(plan: Plan) -> Iterable[str]:
    """The plan's changes: one line for each program of the suite's own, a diff of all that configures."""
    return map(_shown, plan.changes)


def _shown(change: changes.Change) -> str:
    whole = change.before is None or change.after is None
    if not whole or change.path.endswith(".json"):
        return changes.diff(change)
    verb, data = ("remove", change.before) if change.after is None else ("make", change.after)
    return f"would {verb} {terminal(change.path)} ({len((data or b'').splitlines())} lines)\n"
