"""What a sync did, in one line for each selector and for scripts, and what to say when not all succeeded.

Importing and publishing fail independently of each other; the texts are the recorded ones, and what is
known beyond them is in the hint. docs/protocol.md, "Replication".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_base.errors import SuiteError
from ai_kb.hn.gitstore import shown
from ai_kb.hn.replication import outcomes as names
from ai_kb.hn.replication.matching import UNSUPPORTED
from ai_kb.hn.replication.outcomes import Outcome
from ai_kb.hn.replication.publish import Publication
from ai_kb.hn.replication.state import ReplicationError

SOME_FAILED = (
    "replication import phase failed for one or more exact selections; "
    "independently valid selections were promoted"
)


@dataclass(slots=True)
class Result:
    """What a sync did. ``import_error``, ``publication_error``: why a whole phase failed."""

    remote: str
    outcomes: list[Outcome] = field(default_factory=list)
    publications: list[Publication] = field(default_factory=list)
    events: int = 0
    import_error: SuiteError | None = None
    publication_error: SuiteError | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def promoted(self) -> int:
        return sum(outcome.promoted for outcome in self.outcomes)

    def failure(self) -> ReplicationError | None:
        """What to say when not all of it succeeded."""
        unpublished = [publication.described for publication in self.publications if publication.failed]
        not_published = f"replication memory publication failed for remote {self.remote}"
        error = self.import_error
        if error is not None and (self.publication_error or unpublished):
            why = error.hint or (self.publication_error.hint if self.publication_error else "")
            hint = "; ".join(text for text in (why, *unpublished) if text)
            return ReplicationError(
                f"import phase failed: {error.message}; publication phase failed: {not_published}", hint
            )
        if error is not None:
            return ReplicationError(
                f"import phase failed (publication phase completed): {error.message}", error.hint
            )
        if self.publication_error is not None or unpublished:
            cause = self.publication_error
            hint = (cause.hint or cause.message) if cause is not None else "; ".join(unpublished)
            return ReplicationError(f"publication phase failed after replication: {not_published}", hint)
        if all(outcome.promoted for outcome in self.outcomes):
            return None
        unsupported = any(outcome.detail == names.NOT_SUPPORTED for outcome in self.outcomes)
        return ReplicationError(SOME_FAILED, UNSUPPORTED if unsupported else "")

    def as_lines(self) -> list[str]:
        """One line per selector, then what was done."""
        return [
            *(outcome.line() for outcome in self.outcomes),
            f"Synchronized {self.events} verified events with {self.remote}; "
            f"promoted {self.promoted} selections",
        ]

    def as_object(self) -> dict[str, object]:
        """The same for scripts."""
        failure = self.failure()
        value: dict[str, object] = {
            "version": 0,
            "remote": self.remote,
            "outcomes": [outcome.as_object() for outcome in self.outcomes],
            "events": self.events,
            "promoted": self.promoted,
            "publications": [publication.as_object() for publication in self.publications],
            "notes": [shown(note) for note in self.notes],
        }
        if failure is not None:
            value["error"] = {
                "code": failure.code,
                "message": shown(failure.message),
                "hint": shown(failure.hint),
            }
        return value
