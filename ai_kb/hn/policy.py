"""``.hn/policy.json``: which actors and kinds a repository's maintainers list.

Policy qualification says that the exact actor and kind are listed; it says nothing of
truth, and nothing of authority over a prompt. Everything in the file is checked, also
what only the collaboration protocol uses; an invalid policy is an error, never half a
policy. Messages name the rule and do not repeat what the file says.

memory-v0, "Policy qualification"; docs/protocol.md, "Policy".
"""

from __future__ import annotations

from agent_base.digests import sha256_hex
from agent_base.frozen import dataclass
from ai_kb.hn.envelope_types import KINDS
from ai_kb.hn.errors import InvalidPolicy
from ai_kb.hn.fields import is_actor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ai_kb.hn.strictjson import Reader

POLICY_PATH = ".hn/policy.json"
POLICY_VERSION = "hn.policy/0"
MAX_POLICY_BYTES = 1 << 20
MAX_REQUIRED = 64
# The policy digest where the query commit has no policy file.
MISSING_DIGEST = "sha256:" + sha256_hex(b"hn-memory-policy-missing-v0")

POLICY_MISSING = "policy-missing"
ACTOR_UNTRUSTED = "actor-untrusted"
KIND_UNTRUSTED = "kind-untrusted"
QUALIFIED = "qualified"
TRUST_CLASSES = (ACTOR_UNTRUSTED, KIND_UNTRUSTED, POLICY_MISSING, QUALIFIED)

_PIPELINE_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?"


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """The ``memory`` section: both sorted and unique."""

    trusted_actors: tuple[str, ...]
    trusted_kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposalPolicy:
    """The ``proposals`` section, which the collaboration protocol uses."""

    required_approvals: int
    required_accepts: int
    trusted_reviewers: tuple[str, ...]
    allow_author_approval: bool


@dataclass(frozen=True, slots=True)
class PipelinePolicy:
    """One entry of ``pipelines``, which the collaboration protocol uses."""

    required_results: int
    trusted_runners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """A valid policy. ``digest`` is over the file's exact bytes; ``memory`` is None without that section."""

    digest: str
    maintainers: tuple[str, ...]
    proposals: ProposalPolicy
    pipelines: dict[str, PipelinePolicy]
    memory: MemoryPolicy | None


def policy_digest(data: bytes | None) -> str:
    """The policy digest of a file's exact bytes; None: there is no file."""
    return MISSING_DIGEST if data is None else "sha256:" + sha256_hex(data)


def _reader() -> Reader:
    """Reading needs ``json``; judging with a policy does not."""
    from ai_kb.hn.strictjson import Reader

    return Reader("parse policy", InvalidPolicy, quote_fields=False)


def parse_policy(data: bytes) -> Policy:
    """The policy in the exact bytes ``data``. Raises InvalidPolicy with the rule that fails.

    1. JSON: at most 1 MiB, known fields, exact types
    2. version
    3. maintainers
    4. proposals
    5. pipelines
    6. memory
    """
    # (1)
    if len(data) > MAX_POLICY_BYTES:
        raise InvalidPolicy(f"policy exceeds {MAX_POLICY_BYTES} bytes")
    top = _reader().fields(
        _reader().load(data, limit=MAX_POLICY_BYTES),
        ("version", "maintainers", "proposals", "pipelines", "memory"),
    )
    # (2)
    if _reader().text(top, "version") != POLICY_VERSION:
        raise InvalidPolicy(f"unsupported policy version; {POLICY_VERSION} is expected")
    # (3)
    maintainers = _actors(top, "maintainers", "maintainers")
    if not maintainers:
        raise InvalidPolicy("policy requires at least one maintainer")
    # (4) (5) (6)
    return Policy(
        policy_digest(data), maintainers, _proposals(top, len(maintainers)), _pipelines(top), _memory(top)
    )


def _actors(fields: dict[str, object], name: str, label: str) -> tuple[str, ...]:
    actors = _reader().texts(fields, name) or []
    if not all(map(is_actor, actors)):
        raise InvalidPolicy(f"{label} contains an invalid actor; 64 lowercase hex digits are expected")
    if len(set(actors)) < len(actors):
        raise InvalidPolicy(f"{label} contains a duplicate actor")
    return tuple(actors)


def _proposals(top: dict[str, object], maintainers: int) -> ProposalPolicy:
    fields = _reader().fields(
        top.get("proposals"),
        ("requiredApprovals", "requiredAccepts", "trustedReviewers", "allowAuthorApproval"),
        "proposals",
    )
    approvals = _reader().integer(fields, "requiredApprovals") or 0
    accepts = _reader().integer(fields, "requiredAccepts") or 0
    reviewers = _actors(fields, "trustedReviewers", "trustedReviewers")
    author_approves = _reader().flag(fields, "allowAuthorApproval")
    if not 0 <= approvals <= MAX_REQUIRED:
        raise InvalidPolicy(f"requiredApprovals must be between 0 and {MAX_REQUIRED}")
    if approvals > len(reviewers):
        raise InvalidPolicy("requiredApprovals exceeds the number of trusted reviewers")
    if not 1 <= accepts <= maintainers:
        raise InvalidPolicy("requiredAccepts must be between 1 and the number of maintainers")
    return ProposalPolicy(approvals, accepts, reviewers, author_approves)


def _pipelines(top: dict[str, object]) -> dict[str, PipelinePolicy]:
    value = top.get("pipelines")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidPolicy("parse policy: invalid JSON: pipelines must be an object")
    import re

    out: dict[str, PipelinePolicy] = {}
    for name, entry in value.items():
        if re.fullmatch(_PIPELINE_NAME, name) is None:
            raise InvalidPolicy("policy has an invalid pipeline name; letters, digits, . _ - are expected")
        fields = _reader().fields(entry, ("requiredResults", "trustedRunners"), "a pipeline")
        results = _reader().integer(fields, "requiredResults") or 0
        runners = _actors(fields, "trustedRunners", "pipeline trustedRunners")
        if not 1 <= results <= MAX_REQUIRED:
            raise InvalidPolicy(f"pipeline requiredResults must be between 1 and {MAX_REQUIRED}")
        if results > len(runners):
            raise InvalidPolicy("pipeline requiredResults exceeds its trusted runner count")
        out[name] = PipelinePolicy(results, runners)
    return out


def _memory(top: dict[str, object]) -> MemoryPolicy | None:
    if top.get("memory") is None:
        return None
    fields = _reader().fields(top["memory"], ("trustedActors", "trustedKinds"), "memory")
    for name in ("trustedActors", "trustedKinds"):
        if name not in fields:
            raise InvalidPolicy(f"memory {name} is required")
    actors = _actors(fields, "trustedActors", "memory trustedActors")
    if list(actors) != sorted(actors):
        raise InvalidPolicy("memory trustedActors must be sorted")
    kinds = _reader().texts(fields, "trustedKinds") or []
    if not set(kinds).issubset(KINDS):
        raise InvalidPolicy("memory trustedKinds contains an invalid kind")
    if len(set(kinds)) < len(kinds):
        raise InvalidPolicy("memory trustedKinds contains a duplicate kind")
    if kinds != sorted(kinds):
        raise InvalidPolicy("memory trustedKinds must be sorted")
    return MemoryPolicy(actors, tuple(kinds))


def trust_class(policy: Policy | None, actor: str, kind: str) -> str:
    """One of TRUST_CLASSES for a record; ``policy`` None: there is no file at the query commit."""
    if policy is None or policy.memory is None:
        return POLICY_MISSING
    if actor not in policy.memory.trusted_actors:
        return ACTOR_UNTRUSTED
    if kind not in policy.memory.trusted_kinds:
        return KIND_UNTRUSTED
    return QUALIFIED
