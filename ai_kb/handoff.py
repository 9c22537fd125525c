"""A handoff drafted from a topic: four lists from its worklog and notes, for a person to edit.

Pure. What is done, what was taken for granted, what blocks, and what is proposed next stay apart; a
proposed action is data that somebody may read, never something to be carried out.

memory-v0, "Record, correct, and hand off".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai_kb.commandlines import covers, parse
from ai_kb.failures import outcome, plain, telling_lines, text_of
from ai_kb.harvest import Candidate, harvest

LISTS = ("completed", "assumptions", "blockers", "nextActions")
HEADINGS = {
    "completed": "completed",
    "assumptions": "assumptions",
    "blockers": "blockers",
    "next actions": "nextActions",
}
_ASSUMED = frozenset({"fact", "gotcha", "pattern", "principle", "anti_pattern"})
_MOST = 12
_ITEM = 400


@dataclass(frozen=True, slots=True)
class Handoff:
    """``content`` says what it is about; four lists of one-line items."""

    content: str
    completed: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    next_actions: tuple[str, ...] = ()

    def request(self, topics: Sequence[str] = ()) -> dict[str, object]:
        """The strict machine request of the protocol; anchor and applicability are left out."""
        return {
            "version": 0,
            "kind": "handoff",
            "content": self.content,
            "topics": list(topics),
            "evidence": [],
            "handoff": {
                "completed": list(self.completed),
                "assumptions": list(self.assumptions),
                "blockers": list(self.blockers),
                "nextActions": list(self.next_actions),
            },
        }


def draft(
    topic: str, entries: Sequence[Mapping[str, object]], *, summary: str = "", workspace: str = ""
) -> Handoff:
    """A handoff of ``topic``: fixes and decisions are completed, noted facts are assumptions, failures
    that still fail and open questions block."""
    candidates = harvest(entries, workspace=workspace)
    completed = [c.title for c in candidates if c.detector == "failure_to_fix"]
    completed = [f"Fixed: {title}" for title in completed]
    completed += [f"Decided: {_said(c)}" for c in candidates if _noted(c, {"decision"})]
    assumptions = [_said(c) for c in candidates if _noted(c, _ASSUMED)]
    questions = [
        plain(text_of(e, "text")).strip()
        for e in entries
        if text_of(e, "event") == "note" and text_of(e, "note_kind") == "question"
    ]
    failures = _still_failing(entries)
    return Handoff(
        content=f"Handoff of {topic}" + (f": {summary}" if summary else ""),
        completed=_items(completed),
        assumptions=_items(assumptions),
        blockers=_items([*failures, *(f"Open question: {q}" for q in questions)]),
        next_actions=_items([*(f"Mend: {f}" for f in failures), *(f"Answer: {q}" for q in questions)]),
    )


def _noted(candidate: Candidate, kinds: frozenset[str] | set[str]) -> bool:
    return candidate.detector == "structured_note" and candidate.kind in kinds


def _said(candidate: Candidate) -> str:
    return candidate.title + (f" ({', '.join(candidate.refs)})" if candidate.refs else "")


def _items(texts: Sequence[str]) -> tuple[str, ...]:
    tidy = (" ".join(text.split()) for text in texts)
    short = (text if len(text) <= _ITEM else text[: _ITEM - 1] + "…" for text in tidy if text)
    return tuple(dict.fromkeys(short))[:_MOST]


def _still_failing(entries: Sequence[Mapping[str, object]]) -> list[str]:
    """Commands whose last run failed, with the reason."""
    last: list[tuple[Mapping[str, object], str]] = []
    for entry in entries:
        line = parse(plain(text_of(entry, "command")))
        if not line.steps or line.suite or text_of(entry, "event") == "note":
            continue
        result = outcome(entry)
        last = [(e, r) for e, r in last if not covers(line, parse(plain(text_of(e, "command"))))]
        last.append((entry, result))
    found = []
    for entry, result in last:
        if result == "failed":
            reasons = telling_lines(entry, 1)
            command = " ".join(plain(text_of(entry, "command")).split())
            found.append(f"`{command[:120]}` fails" + (f": {reasons[0]}" if reasons else ""))
    return found


# ---------------------------------------------------------------- for an editor

NOTES = (
    "# First what it is about, then four lists, one item per line. Next actions are proposals:",
    "# nobody carries them out because they stand here. These lines are left out.",
)


def to_text(handoff: Handoff) -> str:
    """The draft as a person edits it."""
    lines = [handoff.content, ""]
    lists = dict(
        zip(
            HEADINGS,
            (handoff.completed, handoff.assumptions, handoff.blockers, handoff.next_actions),
            strict=True,
        )
    )
    for heading, items in lists.items():
        lines += [f"[{heading}]", *(f"- {item}" for item in items), ""]
    return "\n".join(lines) + "\n"


def from_text(text: str) -> Handoff:
    """The handoff in an edited text; items may start with ``-``."""
    content: list[str] = []
    lists: dict[str, list[str]] = {name: [] for name in LISTS}
    current: list[str] | None = None
    for line in text.split("\n"):
        heading = line.strip().lower()
        if heading.startswith("[") and heading.endswith("]") and heading[1:-1] in HEADINGS:
            current = lists[HEADINGS[heading[1:-1]]]
        elif current is None:
            content.append(line)
        elif line.strip().lstrip("-*").strip():
            current.append(line.strip().lstrip("-*").strip())
    return Handoff("\n".join(content).strip(), *(tuple(lists[name]) for name in LISTS))
