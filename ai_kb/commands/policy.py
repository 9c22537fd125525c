"""``,ai-kb policy``: who is trusted, and whether a repository's word counts for this person."""

from __future__ import annotations

import argparse
import os
from typing import Any

from agent_base import files
from agent_base.cli import Console
from agent_base.errors import SuiteError
from agent_base.parsing import Parser
from ai_kb import consent, policy_file, stores
from ai_kb.commands import _common
from ai_kb.editor import ask
from ai_kb.errors import KbError, NoStore
from ai_kb.hn.fields import is_actor
from ai_kb.hn.identity import Keyring
from ai_kb.hn.policy import MISSING_DIGEST, POLICY_PATH, Policy
from ai_kb.stores import HOME, REPO, Store

_DESCRIPTION = """\
A policy lists the actors and kinds that default recall takes. The repository's is .hn/policy.json at
HEAD: `init`, `trust` and `untrust` edit the file in the work tree, and it counts once it is committed.
The home store has its own, changed at once. What a repository's policy lets in reaches prompts by itself
only after `accept`, once per version of the policy."""

_EXAMPLES = """\
examples:
  ,ai-kb policy show
  ,ai-kb policy init && git add .hn/policy.json && git commit -m "Memory policy"
  ,ai-kb policy trust 56475aa7…          a teammate's actor, whole
  ,ai-kb policy trust ACTOR --store home  another machine of yours
  ,ai-kb policy accept
"""

_AS_SAID: dict[Any, str] = {True: "yes", False: "no (,ai-kb policy accept)"}
_SHOWN = ("digest", "maintainers", "trusted_actors", "trusted_kinds", "own_actor", "accepted", "error")


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb policy``."""
    parser = subparsers.add_parser(
        "policy",
        help="who is trusted: show, init, trust, untrust, accept",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    verbs = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="action", required=True, parser_class=Parser
    )
    for name, summary, handler, examples in (
        ("show", "the policies in force", _show, ("show", "show --store repo --json")),
        ("init", "write a policy that trusts this clone's actor", _init, ("init",)),
        ("trust", "trust an actor", _trust, ("trust", "trust ACTOR --store home")),
        ("untrust", "trust an actor no longer", _untrust, ("untrust ACTOR",)),
        (
            "accept",
            "let this repository's store into automatic injection",
            _accept,
            ("accept", "accept --revoke"),
        ),
    ):
        verb = verbs.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            epilog="examples:\n" + "".join(f"  ,ai-kb policy {words}\n" for words in examples),
        )
        if name in ("trust", "untrust"):
            verb.add_argument(
                "actor", metavar="ACTOR", nargs="?", help="64 hex digits (default: this store's own)"
            )
        if name == "accept":
            verb.add_argument("--revoke", action="store_true", help="take an acceptance back")
            verb.add_argument(
                "--yes", action="store_true", help="do not ask (a person must be there all the same)"
            )
        if name == "show":
            _common.add_json(verb)
        _common.add_place(verb, store=name != "accept")
        verb.set_defaults(run=handler)


# ---------------------------------------------------------------- show


def _show(args: argparse.Namespace, console: Console) -> int:
    place = _common.place(args, console)
    answers = [
        _described(store, console) for store in stores.stores(place.workspace, console.env, args.store)
    ]
    if args.json:
        console.json(answers)
        return 0
    for answer in answers:
        _common.say(console, f"== {stores.described(answer['store'])}")
        for name in _SHOWN:
            value = answer.get(name)
            if value not in (None, "", []):
                text = ", ".join(map(str, value)) if isinstance(value, list) else _AS_SAID.get(value, value)
                _common.say(console, f"{name.replace('_', ' ')}: {text}")
        if not answer["trusted_actors"]:
            _common.say(console, "Nobody is trusted: default recall finds nothing here.")
    if not answers:
        console.out("There is no store here yet (,ai-kb init makes one).")
    return 0


def _described(store: Store, console: Console) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "store": store.name,
        "digest": MISSING_DIGEST,
        "trusted_actors": [],
        "trusted_kinds": [],
    }
    try:
        answer["own_actor"] = Keyring.of(store.repo).active_actor()
        policy = stores.policy_at_head(store)
    except SuiteError as error:
        return {**answer, "error": error.message}
    if policy is not None:
        answer["digest"] = policy.digest
        answer["maintainers"] = list(policy.maintainers)
        if policy.memory is not None:
            answer["trusted_actors"] = list(policy.memory.trusted_actors)
            answer["trusted_kinds"] = list(policy.memory.trusted_kinds)
    if store.name == REPO:
        answer["accepted"] = consent.accepted(console.env, store.repo.common_dir, answer["digest"])
    return answer


# ---------------------------------------------------------------- init, trust, untrust


def _repository(args: argparse.Namespace, console: Console) -> Store:
    store = stores.open_repo(_common.place(args, console).workspace, console.env)
    if store is None:
        raise NoStore(
            "the workspace is not in a Git repository; nothing was changed", "--store home for your own"
        )
    return store


def _policy_file(store: Store) -> str:
    """Path of the policy in the work tree; what leads out of it is refused."""
    assert store.repo.work_tree is not None
    folder = os.path.join(store.repo.work_tree, os.path.dirname(POLICY_PATH))
    path = os.path.join(store.repo.work_tree, POLICY_PATH)
    for name in (folder, path):
        if os.path.islink(name):
            raise KbError(f"{name!r} is a symbolic link; nothing was changed")
    return path


def _write(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    files.write_atomic(path, data, mode=0o644)


def _init(args: argparse.Namespace, console: Console) -> int:
    if args.store == HOME:
        raise KbError("the home store has a policy from the start; nothing was changed", ",ai-kb policy show")
    store = _repository(args, console)
    path = _policy_file(store)
    if os.path.lexists(path):
        raise KbError(
            f"{POLICY_PATH} is there already; nothing was changed", ",ai-kb policy trust adds an actor"
        )
    keyring = Keyring.of(store.repo)
    if keyring.active_actor() is None:
        name = _common.user_name(str(store.repo.work_tree), console)
        _common.say(console, f"Made an identity for this clone: {keyring.init(name).actor}")
    actor = keyring.active().actor
    _write(path, policy_file.new_policy(actor, (actor,)))
    _common.say(console, f"Wrote {POLICY_PATH}, which trusts {actor}.")
    _say_commit(console)
    return 0


def _say_commit(console: Console) -> None:
    console.out(f"It counts once it is committed: git add {POLICY_PATH} && git commit")


def _trust(args: argparse.Namespace, console: Console) -> int:
    return _change(args, console, trusted=True)


def _untrust(args: argparse.Namespace, console: Console) -> int:
    return _change(args, console, trusted=False)


def _change(args: argparse.Namespace, console: Console, *, trusted: bool) -> int:
    edit = policy_file.trust if trusted else policy_file.untrust
    word = "trusted" if trusted else "no longer trusted"
    already = "is trusted already" if trusted else "is not trusted"
    if args.store == HOME:
        store = stores.open_home(console.env)
        if store is None:
            raise NoStore("there is no home store yet; nothing was changed", ",ai-kb init makes it")
        actor = _actor(args, store)
        before = store.policy_bytes(stores.MAIN)
        after = edit(before, actor) if before is not None else policy_file.new_policy(actor, (actor,))
        if after is not None:
            stores.commit_policy(store, after, f"{word.capitalize()}: {actor}", console.now())
        if after is None:
            _common.say(console, f"{actor} {already} in the home store; nothing was changed.")
        else:
            _common.say(console, f"{actor} is {word} in the home store.")
        return 0
    store = _repository(args, console)
    actor = _actor(args, store)
    path = _policy_file(store)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise KbError(
            f"there is no {POLICY_PATH} in the work tree; nothing was changed", ",ai-kb policy init"
        ) from None
    after = edit(data, actor)
    if after is None:
        _common.say(console, f"{actor} {already}; nothing was changed.")
        return 0
    _write(path, after)
    _common.say(console, f"{actor} is {word} in {POLICY_PATH} of the work tree.")
    _say_commit(console)
    return 0


def _actor(args: argparse.Namespace, store: Store) -> str:
    actor: str = args.actor or store.identity().actor
    if not is_actor(actor):
        raise KbError(
            f"{actor[:80]!r} is no actor: 64 lowercase hex digits are expected; nothing was changed"
        )
    return actor


# ---------------------------------------------------------------- accept


def _accept(args: argparse.Namespace, console: Console) -> int:
    store = _repository(args, console)
    policy = stores.policy_at_head(store)
    digest = policy.digest if policy is not None else MISSING_DIGEST
    if args.revoke:
        if not consent.revoke(console.env, store.repo.common_dir, digest):
            raise KbError("this policy was not accepted; nothing was changed")
        console.out("No longer accepted: nothing of this repository's store is injected by itself.")
        return 0
    if policy is None or policy.memory is None:
        raise KbError("the policy at HEAD trusts nobody, so there is nothing to accept; nothing was changed")
    consent.need_person(console, "policy accept")
    if consent.accepted(console.env, store.repo.common_dir, digest):
        console.out("This policy was accepted already.")
        return 0
    _explain(store, policy, console)
    if not args.yes and ask("Accept?", console, "ny") != "y":
        console.out("Not accepted; nothing was changed.")
        return 1
    consent.accept(console.env, store.repo.common_dir, digest, console.now().strftime("%Y-%m-%d"))
    console.out("Accepted, until the policy at HEAD changes.")
    return 0


def _explain(store: Store, policy: Policy, console: Console) -> None:
    assert policy.memory is not None
    _common.say(
        console,
        f"{store.repo.work_tree}: what these actors sign would reach your prompts by itself, as data:",
    )
    for actor in policy.memory.trusted_actors:
        _common.say(console, f"  {actor}")
    _common.say(console, f"kinds: {', '.join(policy.memory.trusted_kinds)}")
    _common.say(console, f"policy {policy.digest}")
