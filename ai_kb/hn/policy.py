"""``.hn/policy.json``: which actors and kinds a repository's maintainers list.

Policy qualification says that the exact actor and kind are listed; it says nothing of
truth, and nothing of authority over a prompt. memory-v0, "Policy qualification".
"""

from __future__ import annotations

from dataclasses import dataclass

POLICY_PATH = ".hn/policy.json"
MAX_POLICY_BYTES = 1 << 20
MISSING_DIGEST = "sha256:6c9545996ea1380092ff02dd230dbe273c29085f6079b24281a25f2de68e68dd"

POLICY_MISSING = "policy-missing"
ACTOR_UNTRUSTED = "actor-untrusted"
KIND_UNTRUSTED = "kind-untrusted"
QUALIFIED = "qualified"
TRUST_CLASSES = (ACTOR_UNTRUSTED, KIND_UNTRUSTED, POLICY_MISSING, QUALIFIED)


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """The ``memory`` section: both sorted and unique."""

    trusted_actors: tuple[str, ...]
    trusted_kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """A valid policy. ``digest`` is over the file's exact bytes; ``memory`` is None without that section."""

    digest: str
    maintainers: tuple[str, ...]
    memory: MemoryPolicy | None


def parse_policy(data: bytes) -> Policy:
    """The policy in the exact bytes ``data``. Raises InvalidPolicy with the rule that fails."""
    raise NotImplementedError


def trust_class(policy: Policy | None, actor: str, kind: str) -> str:
    """One of TRUST_CLASSES for a record; ``policy`` None: there is no file at the query commit."""
    if policy is None or policy.memory is None:
        return POLICY_MISSING
    if actor not in policy.memory.trusted_actors:
        return ACTOR_UNTRUSTED
    if kind not in policy.memory.trusted_kinds:
        return KIND_UNTRUSTED
    return QUALIFIED
