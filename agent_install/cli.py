"""``python -m agent_install``: what ``install.sh`` runs.

Prints what it does, one line per file; ends with 0 when everything asked for is done, 1 when
something was refused or failed (everything else is done all the same), 2 for usage.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from agent_base.cli import Console
from agent_base.cli import main as run_main
from agent_base.errors import UsageError
from agent_base.inert import terminal
from agent_base.parsing import Parser
from agent_base.shell import word
from agent_install import uninstall
from agent_install.harnesses import BY_NAME
from agent_install.install import Installer, Options, Plan, shown
from agent_install.notes import after_install

PROG = "install.sh"

DESCRIPTION = """\
Install the session memory and signed memory hooks for the coding agents on this machine.

Makes an environment below ~/.local/share/agent-hook-suite, puts launchers into ~/.local/bin
and ~/.agents/hooks, shell completion where bash, zsh and fish look for it, and merges hooks into
the user-level configuration of every harness that is there, with a backup beside each changed
file. Running it again upgrades, or changes nothing.
"""

EXAMPLES = """\
examples:
  ./install.sh                           every harness that is there
  ./install.sh --dry-run                 only show what would change, as a diff
  ./install.sh --harness claude,codex    only these two
  ./install.sh --skill                   the skill file for agents, too
  ./install.sh --status                  is everything in place, and do the hooks run?
  ./install.sh --uninstall               take exactly that out again
  ./install.sh --uninstall --purge       and remove all memory, private keys too: says what, and asks
  ./install.sh --demo                    try it in a throw-away folder; nothing is installed

offline: PIP_NO_INDEX=1 PIP_FIND_LINKS=<directory of wheels> ./install.sh

environment: PYTHON chooses the interpreter; CLAUDE_CONFIG_DIR, CODEX_HOME, COPILOT_HOME, GEMINI_CLI_HOME
and XDG_CONFIG_HOME say where settings are, as they do for the clients; XDG_DATA_HOME where the program goes
"""


def parser(argv: Sequence[str]) -> Parser:
    """The command line."""
    result = Parser(prog=PROG, description=DESCRIPTION, epilog=EXAMPLES)
    what = result.add_mutually_exclusive_group()
    what.add_argument("--uninstall", action="store_true", help="remove exactly what was added")
    what.add_argument("--status", action="store_true", help="check every harness; runs the hooks once")
    what.add_argument(
        "--trust-codex",
        action="store_true",
        help="store trust in the suite's hooks (no others) in Codex's config.toml, as its /hooks would",
    )
    result.add_argument(
        "--harness",
        action="append",
        metavar="NAME",
        help="only these (repeat or separate by commas): " + ", ".join(BY_NAME) + "; `none` wires none",
    )
    result.add_argument(
        "--dry-run", action="store_true", help="print what would change, settings as a diff; change nothing"
    )
    result.add_argument(
        "--skill", action="store_true", help="install SKILL.md where the harnesses look for it"
    )
    result.add_argument(
        "--force", action="store_true", help="replace files of others at the launchers' places"
    )
    result.add_argument("--purge", action="store_true", help="with --uninstall: remove the data, too")
    result.add_argument(
        "--yes", action="store_true", help="with --purge: do not ask (needed without a terminal)"
    )
    result.add_argument("--json", action="store_true", help="with --status: as JSON")
    result.add_argument("--source", default=_source(), help=argparse.SUPPRESS)
    result.set_defaults(run=_run)
    return result


def _source() -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _harnesses(values: Sequence[str] | None) -> list[str] | None:
    if values is None:
        return None
    names = [name for value in values for name in value.split(",") if name]
    if not names:
        raise UsageError(
            "--harness names no harness", "there are: " + ", ".join(BY_NAME) + "; `none` is a word"
        )
    unknown = [name for name in names if name not in BY_NAME and name != "none"]
    if unknown:
        raise UsageError(f"no such harness: {', '.join(unknown)}", "there are: " + ", ".join(BY_NAME))
    return [name for name in names if name != "none"]


def _run(args: argparse.Namespace, console: Console) -> int:
    names = _harnesses(args.harness)
    _fit(args)
    if args.uninstall:
        return _uninstall(args, names, console)
    if args.status:
        from agent_install.status import show

        return show(console, names, as_json=args.json)
    if args.trust_codex:
        from agent_install.codex_trust import trust

        return trust(console, dry_run=args.dry_run)
    return _install(args, names, console)


def _fit(args: argparse.Namespace) -> None:
    """Refuse an option that the rest of the line leaves without a meaning, before anything is done."""
    installing = not (args.uninstall or args.status or args.trust_codex)
    rules = (
        ("--purge", args.purge, args.uninstall, "goes with --uninstall"),
        ("--yes", args.yes, args.purge, "goes with --uninstall --purge"),
        ("--json", args.json, args.status, "goes with --status"),
        ("--skill", args.skill, installing, "is for installing; --uninstall takes the skill out, too"),
        ("--force", args.force, installing, "is for installing"),
        ("--dry-run", args.dry_run, not args.status, "does not go with --status, which changes nothing"),
        ("--harness", args.harness, not args.trust_codex, "does not go with --trust-codex"),
    )
    for option, given, fits, rule in rules:
        if given and not fits:
            raise UsageError(f"{option} {rule}; nothing was changed", f"see `{PROG} --help`")


def _install(args: argparse.Namespace, names: list[str] | None, console: Console) -> int:
    installer = Installer(Options(args.source, names, args.skill, args.force), console.env)
    if args.dry_run:
        plan = installer.plan()
        if not installer.runtime.complete:
            console.out(f"would make the environment {terminal(installer.runtime.directory)}")
            console.out("would install shell completion for bash, zsh and fish (the commands print it)")
        for text in shown(plan):
            console.stdout.write(text)
        return _report(plan, console, "nothing was changed (--dry-run)")

    def say(text: str) -> None:
        console.out(terminal(text))
        console.stdout.flush()

    plan = installer.run(say)
    for change in plan.changes:
        _say_change(console, change.before is None, change.after is None, change.path, change.backup)
    if not plan.changes and not plan.refused:
        console.out("everything is in place already; nothing was changed")
    for line in after_install(installer, plan):
        console.out(line)
    return _report(plan, console, "")


def _say_change(console: Console, new: bool, gone: bool, path: str, backup: bool) -> None:
    verb = "removed " if gone else "made    " if new else "changed "
    note = " (what it was is beside it)" if backup and not new else ""
    console.out(f"{verb} {terminal(path)}{note}")


def _report(plan: Plan, console: Console, last: str) -> int:
    for error in plan.refused.values():
        hint = f" ({error.hint})" if error.hint else ""
        console.err(f"{PROG}: {terminal(error.message)}{terminal(hint)}")
    if last:
        console.out(last)
    return 1 if plan.refused else 0


def _uninstall(args: argparse.Namespace, names: list[str] | None, console: Console) -> int:
    run = uninstall.Uninstaller(console.env, names)
    if args.dry_run:
        plan = run.plan()
        for text in shown(plan):
            console.stdout.write(text)
        if names is None:
            console.out(f"would remove the environment in {terminal(run.layout.data)}")
        if args.purge:
            _say_purge(console)
        return _report(plan, console, "nothing was changed (--dry-run)")
    if args.purge and names is not None:
        raise UsageError("--purge removes everything; it does not go with --harness")
    said: list[str] = []
    if args.purge:
        if not args.yes and not console.person():
            raise UsageError(
                "--purge removes all memory and private keys, and nobody is at a terminal to be asked; "
                "nothing was changed",
                "--dry-run shows what would go, --yes removes it",
            )
        said = _say_purge(console)
        if said and not args.yes and not _agreed(console):
            console.out("nothing was removed")
            return 1
    plan = run.run()
    for change in plan.changes:
        _say_change(console, False, change.after is None, change.path, change.backup)
    if not plan.changes and not plan.refused:
        console.out("nothing of the suite was found in any configuration")
    if names is None and any(change.owner.startswith("harness") for change in plan.changes):
        console.out("sessions that are running still call the hooks that are gone: end them")
    code = _report(plan, console, "")
    if args.purge and code == 0:
        _purge(said, console)
    elif args.purge:
        console.out("the data was kept, because something was refused")
    elif names is None and code == 0:
        kept = [path for path, _ in uninstall.data_directories(console.env) if os.path.lexists(path)]
        for path in kept:
            console.out(f"kept     {terminal(path)} (--uninstall --purge removes it)")
    return code


def _say_purge(console: Console) -> list[str]:
    """Say what ``--purge`` removes, private keys by name; gives the paths."""
    found = [(p, what) for p, what in uninstall.data_directories(console.env) if os.path.lexists(p)]
    if not found:
        console.out("there is no data to remove")
    for path, what in found:
        count, size = uninstall.size_of(path)
        console.out(f"purge    {terminal(path)}: {what} ({count} file{'s' * (count != 1)}, {size} bytes)")
        for repository, key in uninstall.private_keys(path):
            console.out(
                f"         with the private key {terminal(key)}: without it nobody signs as you again"
            )
            console.out(f"         keep a copy before: cd {word(repository)} && hn identity backup FILE")
    if found:
        console.out("records in repositories (refs/hn/memory/*) and keys there belong to those and stay")
    return [path for path, _ in found]


def _agreed(console: Console) -> bool:
    console.stdout.flush()
    console.stderr.write("Uninstall, and remove all of this for good? [y/N] ")
    console.stderr.flush()
    return console.stdin.readline().strip().lower() in ("y", "yes")


def _purge(paths: Sequence[str], console: Console) -> None:
    for path in paths:
        if os.path.lexists(path):  # the environment may have been all that was in it
            uninstall.purge(path, console.env)
            console.out(f"removed  {terminal(path)}")


def main(argv: list[str] | None = None, console: Console | None = None) -> int:
    """Entry of ``python -m agent_install``."""
    return run_main(PROG, parser, argv, console)
