"""``,ai-kb status``: stores, identities, counts, and what default recall leaves out and why."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from agent_base.cli import Console
from agent_base.errors import SuiteError
from ai_kb import consent, corpus, stores
from ai_kb.commands import _common
from ai_kb.hn.identity import Keyring
from ai_kb.hn.policy import MISSING_DIGEST
from ai_kb.stores import REPO, Store

_DESCRIPTION = """\
What there is: the stores, who signs in them, how many capsules by lifecycle and trust, what default
recall (and so every injection) leaves out and why, and where the next capsule would go."""


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb status``."""
    parser = subparsers.add_parser("status", help="stores, identities, counts", description=_DESCRIPTION)
    _common.add_json(parser)
    _common.add_place(parser, store=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the state of every store; 1 when one cannot be verified."""
    place = _common.place(args, console)
    found = [_of_store(store, console) for store in stores.stores(place.workspace, console.env, args.store)]
    choice = stores.choose(place.workspace, console.env)
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
        reading = corpus.read_store(store)
    except SuiteError as error:
        return {**answer, "error": error.message}
    held = reading.held
    approved = consent.approved(console.env)
    digest = reading.policy.digest if reading.policy else MISSING_DIGEST
    answer |= {
        "policy": digest,
        "records": len(held),
        "lifecycle": dict(Counter(h.row.lifecycle for h in held)),
        "trust": dict(Counter(h.row.trust for h in held)),
        "recalled": sum(not h.left_out for h in held),
        "left_out": dict(Counter(h.left_out for h in held if h.left_out)),
        "source_changed": sum(bool(h.changed) for h in held),
        "waiting_for_approval": sum(h.needs_approval and h.row.id not in approved for h in held),
    }
    if store.name == REPO:
        answer["accepted"] = consent.accepted(console.env, store.repo.common_dir, digest)
    return answer


def _show(answer: dict[str, Any], console: Console) -> None:
    _common.say(console, f"Workspace: {answer['workspace']}")
    for store in answer["stores"]:
        _common.say(console, f"== {store['store']} store: {store['path']}")
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
            _common.say(
                console, f"{store['recalled']} wait for `,ai-kb policy accept` before they are injected"
            )
    if not answer["stores"]:
        console.out("No store yet (,ai-kb init, or the first `,ai-kb remember`).")
    _common.say(
        console, f"The next capsule goes to the {answer['next']['store']} store: {answer['next']['why']}."
    )


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
