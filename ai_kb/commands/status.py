"""``,ai-kb status``: stores, identities, counts, and what default recall leaves out and why."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from agent_base.cli import Console
from agent_base.errors import SuiteError
from ai_kb import consent, shelf, stores
from ai_kb.commands import _common
from ai_kb.hn.identity import Keyring
from ai_kb.hn.policy import TRUST_CLASSES
from ai_kb.hn.projection import LIFECYCLES
from ai_kb.shelf import Shelf
from ai_kb.stores import REPO, Store

_DESCRIPTION = """\
What there is: the stores, who signs in them, how many capsules by lifecycle and trust, what default
recall (and so every injection) leaves out and why, and where the next capsule would go."""


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb status``."""
    parser = subparsers.add_parser(
        "status",
        help="stores, identities, counts",
        description=_DESCRIPTION,
        epilog="examples:\n  ,ai-kb status\n  ,ai-kb status --store home --json\n",
    )
    _common.add_json(parser)
    _common.add_place(parser, store=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the state of every store; 1 when one cannot be verified."""
    place = _common.place(args, console)
    opened = stores.stores(place.workspace, console.env, args.store)
    found = [_of_store(store, console) for store in opened]
    choice = stores.choose(place.workspace, console.env, opened=None if args.store else opened)
    answer = {
        "workspace": place.workspace,
        "stores": found,
        "next": {"store": choice.name, "why": choice.why},
    }
    if args.json:
        console.json(answer)
    else:
        _show(answer, console)
    return 1 if any("error" in store for store in found) else 0


def _of_store(store: Store, console: Console) -> dict[str, Any]:
    answer: dict[str, Any] = {"store": store.name, "path": store.repo.work_tree or store.repo.git_dir}
    try:
        answer["actor"] = Keyring.of(store.repo).active_actor()
        approved = consent.approved(console.env)
        answer |= shelf.ask(store, lambda held: _counts(held, approved))
    except SuiteError as error:
        return {**answer, "error": error.message}
    if store.name == REPO:
        answer["accepted"] = consent.accepted(console.env, store.repo.common_dir, answer["policy"])
    return answer


def _counts(held: Shelf, approved: set[str]) -> dict[str, Any]:
    lifecycles = {name: held.lifecycle(name) for name in LIFECYCLES}
    return {
        "policy": held.index.policy_digest,
        "records": held.everything().bit_count(),
        "lifecycle": _sizes(lifecycles),
        "trust": _sizes({name: held.index.trusted_as(name) for name in TRUST_CLASSES}),
        "recalled": held.index.gate().bit_count(),
        "left_out": _sizes(held.left_out()),
        "source_changed": held.changed().bit_count(),
        "waiting_for_approval": held.waiting(approved).bit_count(),
    }


def _sizes(sets: Mapping[str, int]) -> dict[str, int]:
    return {name: members.bit_count() for name, members in sets.items() if members}


def _show(answer: dict[str, Any], console: Console) -> None:
    _common.say(console, f"Workspace: {answer['workspace']}")
    for store in answer["stores"]:
        _common.say(console, f"== {stores.described(store['store'])}: {store['path']}")
        _common.say(console, f"actor: {store.get('actor') or 'none yet (,ai-kb init)'}")
        if "error" in store:
            _common.say(console, f"cannot be read: {store['error']}")
            continue
        counted = f" ({_counted(store['lifecycle'])})" if store["records"] else ""
        _common.say(console, f"records: {store['records']}{counted}")
        _common.say(console, f"recalled by default: {store['recalled']}")
        if store["left_out"]:
            _common.say(console, f"left out: {_counted(store['left_out'])}")
        for name, text in (
            ("source_changed", "with a source that changed"),
            ("waiting_for_approval", "made by an agent for everywhere, waiting for `,ai-kb approve`"),
        ):
            if store[name]:
                _common.say(console, f"{store[name]} {text}")
        if store.get("accepted") is False and store["recalled"]:
            one = store["recalled"] == 1
            _common.say(
                console,
                f"{store['recalled']} {'waits' if one else 'wait'} for `,ai-kb policy accept` before "
                f"{'it is' if one else 'they are'} injected",
            )
    if not answer["stores"]:
        console.out("No store yet (,ai-kb init, or the first `,ai-kb remember`).")
    _common.say(
        console,
        f"The next capsule goes to the {stores.described(answer['next']['store'])}: {answer['next']['why']}.",
    )


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
