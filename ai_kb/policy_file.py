"""Editing ``.hn/policy.json``: new ones, and who is trusted in one that is there.

Everything that is not asked to change stays, in its order; the result is checked by the protocol's
own parser before anybody gets it. Pure: bytes in, bytes out.
"""

from __future__ import annotations

import json

from ai_kb.errors import KbError
from ai_kb.hn.envelope import KINDS
from ai_kb.hn.policy import POLICY_PATH, POLICY_VERSION, parse_policy

__all__ = ["POLICY_PATH", "new_policy", "trust", "untrust"]


def new_policy(maintainer: str, trusted: tuple[str, ...] = ()) -> bytes:
    """A policy with one maintainer that trusts ``trusted`` and every kind."""
    value: dict[str, object] = {
        "version": POLICY_VERSION,
        "maintainers": [maintainer],
        "proposals": {
            "requiredApprovals": 0,
            "requiredAccepts": 1,
            "trustedReviewers": [],
            "allowAuthorApproval": False,
        },
        "pipelines": {},
        "memory": {"trustedActors": sorted(set(trusted)), "trustedKinds": list(KINDS)},
    }
    return _checked(value)


def trust(data: bytes, actor: str) -> bytes | None:
    """``data`` with ``actor`` among the trusted; None when it was already.

    A policy without a memory section gets one, for every kind.
    """
    value = _load(data)
    section = _section(value)
    actors = _actors(section)
    if actor in actors:
        return None
    section[_key(section, "trustedActors")] = sorted([*actors, actor])
    kinds = _key(section, "trustedKinds")
    if section.get(kinds) is None:
        section[kinds] = list(KINDS)
    value[_key(value, "memory")] = section
    return _checked(value)


def untrust(data: bytes, actor: str) -> bytes | None:
    """``data`` without ``actor`` among the trusted; None when it was not."""
    value = _load(data)
    section = _section(value)
    actors = _actors(section)
    if actor not in actors:
        return None
    section[_key(section, "trustedActors")] = [a for a in actors if a != actor]
    return _checked(value)


def _load(data: bytes) -> dict[str, object]:
    parse_policy(data)  # raises when it is not one
    value: dict[str, object] = json.loads(data)
    return value


def _key(value: dict[str, object], name: str) -> str:
    """The key as it is spelled: the case of keys does not count in a policy."""
    return next((key for key in value if key.lower() == name.lower()), name)


def _section(value: dict[str, object]) -> dict[str, object]:
    section = value.get(_key(value, "memory"))
    return section if isinstance(section, dict) else {}


def _actors(section: dict[str, object]) -> list[str]:
    actors = section.get(_key(section, "trustedActors"))
    return [str(a) for a in actors] if isinstance(actors, list) else []


def _checked(value: dict[str, object]) -> bytes:
    data = (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
    if parse_policy(data).memory is None:
        raise KbError("the policy would have no memory section; nothing was changed")
    return data
