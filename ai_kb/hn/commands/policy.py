"""``hn policy``: show the policy at a commit, or check one and say which rule fails."""

from __future__ import annotations

import argparse
import os
import stat
from typing import Any

from agent_base.cli import Console
from ai_kb.hn import canonical
from ai_kb.hn.cache_context import read_policy
from ai_kb.hn.commands._shared import VERSION, wrong_usage
from ai_kb.hn.errors import HnError, InvalidRequest, NotFound
from ai_kb.hn.flags import FlagParser
from ai_kb.hn.gitstore import Repository, quoted
from ai_kb.hn.policy import (
    MAX_POLICY_BYTES,
    MISSING_DIGEST,
    POLICY_MISSING,
    POLICY_PATH,
    POLICY_VERSION,
    Policy,
    parse_policy,
)

_SHOW, _CHECK = "hn policy show [REV] [--json]", "hn policy check --file PATH | --head REV"
_USAGE = "hn policy <show|check>"

_DESCRIPTION = f"""\
show    the policy in {POLICY_PATH} at REV, by default at HEAD
check   read a file, or the policy at a commit, as every reader of memory will, and say which
        rule fails; nothing is changed

A policy lists the actors and kinds whose records default recall shows. It counts once committed,
and for the commit that is asked about. It says nothing of whether a record is true."""

_EXAMPLES = f"""\
examples:
  hn policy show
  hn policy show v1.2 --json
  hn policy check --file {POLICY_PATH}
  hn policy check --head HEAD
"""


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn policy``."""
    parser: FlagParser = subparsers.add_parser(
        "policy", description=_DESCRIPTION, epilog=_EXAMPLES, usage_line=_USAGE
    )
    parser.add_argument("words", nargs="*", metavar="ACTION", help="show or check, and for show a revision")
    parser.add_argument("--file", metavar="PATH", default=None, help="policy file to check")
    parser.add_argument("--head", metavar="REV", default=None, help="revision whose policy to check")
    parser.add_argument("--json", action="store_true", help="emit JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Do what the first word says."""
    if not args.words:
        raise wrong_usage(_USAGE)
    action, *rest = args.words
    if action == "show":
        if len(rest) > 1 or args.file is not None or args.head is not None:
            raise wrong_usage(_SHOW)
        return _show(rest[0] if rest else "HEAD", args.json, console)
    if action == "check":
        if rest or (args.file is None) == (args.head is None):
            raise wrong_usage(_CHECK)
        return _check(args.file, args.head, args.json, console)
    raise HnError(f"unknown policy command {quoted(action)}", "see `hn policy --help`")


def _show(revision: str, as_json: bool, console: Console) -> int:
    commit, data = policy_at(revision, console)
    policy = None if data is None else parse_policy(data)
    if as_json:
        value = policy_object(policy, commit)
        console.stdout.write(canonical.encode(value).decode() + "\n")
    else:
        console.stdout.write("".join(f"{line}\n" for line in policy_lines(policy, commit)))
    return 0


def _check(path: str | None, revision: str | None, as_json: bool, console: Console) -> int:
    if path is not None:
        data, place = read_file(path, console), quoted(path)
    else:
        commit, found = policy_at(str(revision), console)
        place = f"commit {commit}"
        if found is None:
            raise NotFound(f"there is no {POLICY_PATH} at {place}", "every record there is policy-missing")
        data = found
    policy = parse_policy(data)  # raises with the rule that fails
    if as_json:
        value = {"version": VERSION, "valid": True, "policyDigest": policy.digest}
        console.stdout.write(canonical.encode(value).decode() + "\n")
    else:
        console.out(f"Policy is valid: {policy.digest}")
        if policy.memory is None:
            console.out(f"It has no memory section: every record is {POLICY_MISSING}.")
    return 0


def policy_at(revision: str, console: Console) -> tuple[str, bytes | None]:
    """(full commit id, exact bytes of the policy there or None) for ``revision`` of this repository."""
    repo = Repository.open(console.cwd, console.env)
    with repo.objects() as reader:
        commit = reader.resolve_commit(revision)
        return commit, read_policy(reader, commit)


def read_file(name: str, console: Console) -> bytes:
    """The bytes of a policy file in the work tree or anywhere else; no more than one over the limit."""
    path = os.path.join(console.cwd, name)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InvalidRequest(f"policy file {quoted(name)} is not a regular file")
        with open(path, "rb") as file:
            return file.read(MAX_POLICY_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is no file name"
        raise NotFound(f"policy file {quoted(name)} cannot be read: {reason.lower()}") from error


def policy_object(policy: Policy | None, commit: str) -> dict[str, object]:
    """The JSON result of ``show``: the policy as the protocol understands it, every default stated."""
    if policy is None:
        return {"version": VERSION, "commit": commit, "policyDigest": MISSING_DIGEST, "policy": None}
    proposals = policy.proposals
    value: dict[str, object] = {
        "version": POLICY_VERSION,
        "maintainers": policy.maintainers,
        "proposals": {
            "requiredApprovals": proposals.required_approvals,
            "requiredAccepts": proposals.required_accepts,
            "trustedReviewers": proposals.trusted_reviewers,
            "allowAuthorApproval": proposals.allow_author_approval,
        },
        "pipelines": {
            name: {"requiredResults": entry.required_results, "trustedRunners": entry.trusted_runners}
            for name, entry in sorted(policy.pipelines.items())
        },
    }
    if policy.memory is not None:
        value["memory"] = {
            "trustedActors": policy.memory.trusted_actors,
            "trustedKinds": policy.memory.trusted_kinds,
        }
    return {"version": VERSION, "commit": commit, "policyDigest": policy.digest, "policy": value}


def policy_lines(policy: Policy | None, commit: str) -> list[str]:
    """``show`` for a person. Everything in a valid policy is plain ASCII."""
    if policy is None:
        return [
            f"Commit: {commit}",
            f"Policy digest: {MISSING_DIGEST}",
            f"There is no {POLICY_PATH} at this commit: every record is {POLICY_MISSING}.",
        ]
    lines = [f"Commit: {commit}", f"Policy digest: {policy.digest}"]
    lines += [f"Maintainer: {actor}" for actor in policy.maintainers]
    if policy.memory is None:
        lines.append(f"Memory: no section, so every record is {POLICY_MISSING}")
    else:
        lines += [f"Trusted actor: {actor}" for actor in policy.memory.trusted_actors]
        lines.append("Trusted kinds: " + (", ".join(policy.memory.trusted_kinds) or "none"))
    proposals = policy.proposals
    lines.append(
        f"Proposals: {proposals.required_approvals} approvals, {proposals.required_accepts} accepts, "
        f"author approval {'allowed' if proposals.allow_author_approval else 'not allowed'}"
    )
    lines += [f"Trusted reviewer: {actor}" for actor in proposals.trusted_reviewers]
    for name, entry in sorted(policy.pipelines.items()):
        lines.append(f"Pipeline {name}: {entry.required_results} of {len(entry.trusted_runners)} runners")
        lines += [f"Trusted runner: {actor}" for actor in entry.trusted_runners]
    return lines
