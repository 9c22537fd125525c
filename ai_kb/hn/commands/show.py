"""``hn memory show``: one memory, with everything the verified set and the query commit say about it."""

from __future__ import annotations

import argparse
import string
from typing import Any

from agent_base.cli import Console
from ai_kb.hn import cache, canonical, lookup
from ai_kb.hn.cache_index import Index
from ai_kb.hn.commands import _shared
from ai_kb.hn.commands._where import repository_of
from ai_kb.hn.envelope import VerifiedMemory, anchor_mapping, envelope_mapping, record_mapping
from ai_kb.hn.errors import NotFound
from ai_kb.hn.flags import FlagParser
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.projection import Edge, Row
from ai_kb.hn.projection_types import dependency_object, detail_object
from ai_kb.hn.unsettled import described

_USAGE = "hn memory show MEMORY [--json]"
_LEAST_DIGITS = 8
_FULL_DIGITS = 64
_HEX = frozenset(string.hexdigits.lower())

_DESCRIPTION = """\
Show one memory of the verified local and accepted streams: its envelope, and how it is judged at
HEAD. MEMORY is a full id, or at least 8 hex digits of one. What it says is inert data."""


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn memory show``."""
    parser: FlagParser = subparsers.add_parser(
        "show",
        description=_DESCRIPTION,
        epilog="examples:\n  hn memory show sha256:<64 hex digits> --json\n  hn memory show fed2f37e\n",
        usage_line=_USAGE,
    )
    parser.add_argument("memory", nargs="*", metavar="MEMORY", help="full id, or at least 8 hex digits")
    parser.add_argument("--json", action="store_true", help="emit JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Print one memory."""
    if len(args.memory) != 1:
        raise _shared.wrong_usage(_USAGE)
    found = look(repository_of(console), args.memory[0])
    if args.json:
        console.stdout.write(canonical.encode(found.as_object()).decode() + "\n")
    else:
        console.stdout.write(found.as_text())
    return 0


class Shown:
    """One memory with everything that the verified set and HEAD say about it.

    Attributes:
        commit: where it was found.
        row: how it is judged; None for what is no record.
        target: how what it is about is judged; None where there is none, or not here.
        edges: the relationships that lead from it and to it.
        dependencies: what it waits for, and who waits for the same target.
    """

    __slots__ = ("commit", "dependencies", "edges", "memory", "row", "target")

    def __init__(self, index: Index, memory: VerifiedMemory) -> None:
        target = lookup.memory_of(index, memory.envelope.target) if memory.envelope.target else None
        rows = lookup.rows(index, [memory] if target is None else [memory, target])
        self.memory = memory
        self.commit = lookup.commit_of(index, memory.id)
        self.row = rows.get(memory.id)
        self.target = rows.get(memory.envelope.target)
        self.edges = lookup.edges_of(index, memory)
        self.dependencies = lookup.dependencies_of(index, memory, self.row)

    def as_object(self) -> dict[str, object]:
        """The JSON result. Author text is nowhere but in ``envelope.actorName`` and below ``data``."""
        envelope = envelope_mapping(self.memory.envelope)
        envelope.pop("record", None)
        envelope["signature"] = "valid"
        value: dict[str, object] = {
            "version": _shared.VERSION,
            "warning": _shared.WARNING,
            "memoryId": self.memory.id,
            "commit": self.commit,
            "envelope": envelope,
        }
        if self.row is not None:
            value["projection"] = row_object(self.row)
        if self.target is not None:
            value["targetProjection"] = row_object(self.target)
        value["relationships"] = [edge_object(edge) for edge in self.edges]
        value["missingDependencies"] = [dependency_object(dependency) for dependency in self.dependencies]
        return value

    def as_text(self, *, content: bool = True) -> str:
        """The result for a terminal; controls in author text are replaced. Without ``content``: generated
        lines alone."""
        lines = [
            _shared.WARNING,
            f"Memory: {self.memory.id}",
            f"Commit: {self.commit}",
            f"Actor: {self.memory.envelope.actor}",
            f"Stream: {self.memory.envelope.stream}",
            f"Operation: {self.memory.envelope.operation}",
            "Signature: valid",
        ]
        for label, row in (("Projection", self.row), ("Target projection", self.target)):
            if row is not None:
                lines += [
                    f"{label}: {row.id}",
                    f"Lifecycle: {row.lifecycle}",
                    f"Applicability: {row.applicability}",
                    f"Evidence: {row.evidence}",
                    f"Trust: {row.trust}",
                    f"Content digest: {row.content_digest}",
                ]
                if content:
                    lines.append(f"Content (inert): {_shared.readable(row.data.content)}")
        return "\n".join(lines) + "\n"


def look(repo: Repository, asked: str) -> Shown:
    """The one memory whose id starts with what was asked for. Raises NotFound, HnError."""
    digits = asked.removeprefix("sha256:")
    valid = _LEAST_DIGITS <= len(digits) <= _FULL_DIGITS and _HEX.issuperset(digits)

    def found(index: Index) -> Shown:
        ids = lookup.ids_starting(index, digits) if valid else []
        if len(ids) > 1:
            raise _shared.ambiguous(asked, len(ids))
        memory = lookup.memory_of(index, ids[0]) if ids else None
        if memory is None:
            raise _not_found(repo, asked)
        return Shown(index, memory)

    return cache.ask(repo, found, unborn=True)


def _not_found(repo: Repository, asked: str) -> NotFound:
    error = _shared.not_found(asked)
    pending = described(repo.common_dir)
    return NotFound(error.message, pending) if pending else error


# --- as JSON -------------------------------------------------------------------------------------


def row_object(row: Row) -> dict[str, object]:
    """A row as ``show`` prints it: empty lists as lists, evidence in signed order."""
    return {
        "id": row.id,
        "stream": row.stream,
        "actor": row.actor,
        "kind": row.kind,
        "contentDigest": row.content_digest,
        "anchor": anchor_mapping(row.anchor),
        "signature": row.signature,
        "lifecycle": row.lifecycle,
        "challengers": row.challengers,
        "successors": row.successors,
        "retractions": row.retractions,
        "applicability": row.applicability,
        "evidence": row.evidence,
        "evidenceDetails": [detail_object(detail) for detail in row.evidence_details],
        "trust": row.trust,
        "data": record_mapping(row.data),
    }


def edge_object(edge: Edge) -> dict[str, object]:
    """A relationship as JSON."""
    return {
        "memoryId": edge.source,
        "stream": edge.stream,
        "actor": edge.actor,
        "operation": edge.operation,
        "targetId": edge.target,
    }
