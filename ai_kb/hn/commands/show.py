"""``hn memory show``: one memory, with everything the verified set and the query commit say about it."""

from __future__ import annotations

import argparse
import string
from typing import Any

from agent_base.cli import Console
from ai_kb.hn import canonical
from ai_kb.hn.commands import _shared
from ai_kb.hn.envelope import VerifiedMemory, anchor_mapping, envelope_mapping, record_mapping
from ai_kb.hn.errors import NotFound
from ai_kb.hn.eventstore import EVENT_PREFIXES, collect_events
from ai_kb.hn.facts import RepositoryFacts
from ai_kb.hn.flags import FlagParser
from ai_kb.hn.policy import Policy, parse_policy
from ai_kb.hn.projection import Dependency, Edge, Projection, Query, Row, project
from ai_kb.hn.streams import MEMORY_PREFIXES, Collection, collect
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
    with _shared.Session(console) as session:
        refs = session.repo.refs(*MEMORY_PREFIXES, *EVENT_PREFIXES)
        collection = collect(session.repo, session.reader, refs=refs, prefixes=session.prefixes)
        try:
            memory = _find(collection, args.memory[0])
        except NotFound as error:
            pending = described(session.repo.common_dir)
            if pending:
                raise NotFound(error.message, pending) from error
            raise
        projection = _project(session, collection, refs)
    commit = collection.positions[memory.id].commit
    if args.json:
        value = as_object(memory, commit, projection)
        console.stdout.write(canonical.encode(value).decode() + "\n")
    else:
        console.stdout.write(as_text(memory, commit, projection))
    return 0


def _find(collection: Collection, asked: str) -> VerifiedMemory:
    """The one memory whose id starts with what was asked for."""
    digits = asked.removeprefix("sha256:")
    if not _LEAST_DIGITS <= len(digits) <= _FULL_DIGITS or not _HEX.issuperset(digits):
        raise _shared.not_found(asked)
    if len(digits) == _FULL_DIGITS:
        found = [memory for memory in (collection.memories.get(f"sha256:{digits}"),) if memory]
    else:
        found = [memory for key, memory in collection.memories.items() if key.startswith(f"sha256:{digits}")]
    if not found:
        raise _shared.not_found(asked)
    if len(found) > 1:
        raise _shared.ambiguous(asked, len(found))
    return found[0]


def _project(session: _shared.Session, collection: Collection, refs: dict[str, str]) -> Projection:
    """The projection at HEAD; where there is no commit yet, nothing applies and no policy trusts."""
    head = session.reader.head()
    facts = RepositoryFacts(
        session.repo,
        session.reader,
        collection.memories,
        lambda: collect_events(session.repo, session.reader, refs=refs, prefixes=session.prefixes),
    )
    facts.prepare(collection.memories.values(), head or "")
    query = Query(head or "", _policy(session, head))
    return project(collection.memories.values(), query, facts)


def _policy(session: _shared.Session, commit: str | None) -> Policy | None:
    from ai_kb.hn.cache_context import read_policy

    data = None if commit is None else read_policy(session.reader, commit)
    return None if data is None else parse_policy(data)


# --- what is printed ----------------------------------------------------------------------------


def as_object(memory: VerifiedMemory, commit: str, projection: Projection) -> dict[str, object]:
    """The JSON result. Author text is nowhere but in ``envelope.actorName`` and below ``data``."""
    envelope = envelope_mapping(memory.envelope)
    envelope.pop("record", None)
    envelope["signature"] = "valid"
    value: dict[str, object] = {
        "version": _shared.VERSION,
        "warning": _shared.WARNING,
        "memoryId": memory.id,
        "commit": commit,
        "envelope": envelope,
    }
    row = projection.rows.get(memory.id)
    if row is not None:
        value["projection"] = row_object(row)
    target = projection.rows.get(memory.envelope.target)
    if target is not None:
        value["targetProjection"] = row_object(target)
    value["relationships"] = [
        edge_object(edge) for edge in projection.edges if memory.id in (edge.source, edge.target)
    ]
    value["missingDependencies"] = [
        dependency_object(dependency)
        for dependency in projection.missing_dependencies
        if dependency.owner == memory.id or dependency.missing in (memory.id, memory.envelope.target)
    ]
    return value


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
        "evidenceDetails": [
            {
                "type": detail.type,
                "requested": detail.requested,
                "ownerId": detail.owner,
                "status": detail.status,
                "reason": detail.reason,
            }
            for detail in row.evidence_details
        ],
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


def dependency_object(dependency: Dependency) -> dict[str, object]:
    """A missing dependency as JSON."""
    value: dict[str, object] = {
        "kind": dependency.kind,
        "ownerId": dependency.owner,
        "stream": dependency.stream,
    }
    if dependency.operation:
        value["operation"] = dependency.operation
    value["missingId"] = dependency.missing
    value["reason"] = dependency.reason
    return value


def as_text(memory: VerifiedMemory, commit: str, projection: Projection) -> str:
    """The result for a terminal; controls in author text are replaced."""
    lines = [
        _shared.WARNING,
        f"Memory: {memory.id}",
        f"Commit: {commit}",
        f"Actor: {memory.envelope.actor}",
        f"Stream: {memory.envelope.stream}",
        f"Operation: {memory.envelope.operation}",
        "Signature: valid",
    ]
    for label, key in (("Projection", memory.id), ("Target projection", memory.envelope.target)):
        row = projection.rows.get(key)
        if row is not None:
            lines += [
                f"{label}: {row.id}",
                f"Lifecycle: {row.lifecycle}",
                f"Applicability: {row.applicability}",
                f"Evidence: {row.evidence}",
                f"Trust: {row.trust}",
                f"Content digest: {row.content_digest}",
                f"Content (inert): {_shared.readable(row.data.content)}",
            ]
    return "\n".join(lines) + "\n"
