"""One outcome per selector, under the recorded names, independent of each other.

The names stand in receipts and in text; ``detail`` is a finer one for scripts.
docs/protocol.md, "Replication".
"""

from __future__ import annotations

from dataclasses import dataclass, field

ACTOR = "actor"
MEMORY = "memory"
PROPOSAL = "proposal"

PROMOTED = "promoted"
# Valid, and not moved: only in receipts of promotions that are not completed, and of those that failed.
PROMOTABLE = "promotable"
OVER_BUDGET = "over-budget"
STRUCTURALLY_INVALID = "structurally-invalid"
RELATIONSHIP_INVALID = "relationship-invalid"
DEPENDENCY_MISSING = "dependency-missing"

# Finer names.
UNCHANGED = "unchanged"
ADVANCED = "advanced"
FIRST = "first"
NOT_ADVERTISED = "not-advertised"
AMBIGUOUS_OWNER = "ambiguous-owner"
NOT_FETCHED = "not-fetched"
REWOUND = "rewound"
FORKED = "forked"
SHALLOW_CUT = "shallow-cut"
NOT_SUPPORTED = "not-supported"
INSPECTION_FAILED = "inspection-failed"

_EXACT_AGAIN = "verify the full selection ID and retry when the exact ref is advertised"


@dataclass(slots=True)
class Measurements:
    """What was measured of one selected history. Events: all of it; the rest: beyond what was accepted."""

    events: int = 0
    objects: int = 0
    largest_object: int = 0
    largest_attachment: int = 0
    total_bytes: int = 0

    def as_object(self) -> dict[str, int]:
        return {
            "Events": self.events,
            "Objects": self.objects,
            "LargestObjectBytes": self.largest_object,
            "LargestAttachmentBytes": self.largest_attachment,
            "TotalBytes": self.total_bytes,
        }


@dataclass(slots=True)
class Outcome:
    """How one selector fared. Empty ``status``: not decided yet."""

    kind: str
    id: str
    status: str = ""
    diagnostic: str = ""
    detail: str = ""
    dependency_kind: str = ""
    missing: str = ""
    owner_memory: str = ""
    owner_stream: str = ""
    required_ref: str = ""
    required_selectors: tuple[str, ...] = ()
    recovery: str = ""
    head: str = ""
    accepted: str = ""
    measurements: Measurements = field(default_factory=Measurements)

    @property
    def name(self) -> str:
        """Kind and id, as messages begin."""
        return f"{self.kind} {self.id}"

    @property
    def promoted(self) -> bool:
        return self.status == PROMOTED

    def fail(self, status: str, diagnostic: str, detail: str = "") -> None:
        """Decide against it."""
        self.status, self.diagnostic, self.detail = status, diagnostic, detail or status

    def not_advertised(self, remote: str) -> None:
        """The remote has no such ref."""
        self.fail(
            DEPENDENCY_MISSING,
            f"selected {self.name} is not advertised by remote {remote}",
            NOT_ADVERTISED,
        )
        self.missing, self.recovery = self.id, _EXACT_AGAIN

    def line(self) -> str:
        """For a person."""
        if self.promoted:
            return f"Replication {self.name}: {PROMOTED}"
        return f"Replication {self.name}: failed ({self.status}): {self.diagnostic}"

    def receipt(self) -> dict[str, object]:
        """For the receipt: fields without a value are left out."""
        value: dict[str, object] = {
            "kind": self.kind,
            "id": self.id,
            "status": self.status,
            "diagnostic": self.diagnostic,
            "dependencyKind": self.dependency_kind,
            "missingId": self.missing,
            "ownerMemoryId": self.owner_memory,
            "ownerStream": self.owner_stream,
            "requiredRef": self.required_ref,
            "requiredSelectors": list(self.required_selectors),
            "recovery": self.recovery,
        }
        value = {name: entry for name, entry in value.items() if entry}
        value["measurements"] = self.measurements.as_object()
        return value

    def as_object(self) -> dict[str, object]:
        """For ``--json``: the receipt, the finer name, and both heads."""
        value = self.receipt()
        measurements = value.pop("measurements")
        return {
            **value,
            "detail": self.detail,
            "head": self.head,
            "accepted": self.accepted,
            "measurements": measurements,
        }


def in_order(outcomes: list[Outcome]) -> list[Outcome]:
    """By kind, then id."""
    return sorted(outcomes, key=lambda outcome: (outcome.kind, outcome.id))
