"""What the agents of a workspace know, gathered for a person: both stores, sessions, failures.

``gather`` reads and changes nothing. A store that cannot be verified, or a file that another user could
have written, is a ``Problem`` of the report and not its end. Every list is bounded (``report_data``);
the newest come first and how many are missing is said. Showing it is ``report_page``'s business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from agent_base.errors import SuiteError
from agent_memory.topics import State
from ai_kb import consent, corpus, inject_text, report_time, stores
from ai_kb import report_data as data
from ai_kb.corpus import Held, Reading
from ai_kb.hn.envelope import Handoff, VerifiedMemory
from ai_kb.hn.identity import Keyring
from ai_kb.hn.policy import MISSING_DIGEST
from ai_kb.hn.projection import Edge, relationships
from ai_kb.hn.streamrefs import parse_ref
from ai_kb.report_data import (
    CapsuleInfo,
    Changed,
    Listed,
    Node,
    Problem,
    Relation,
    Report,
    Source,
    StoreInfo,
    StreamInfo,
)
from ai_kb.report_sessions import Injected, read_sessions
from ai_kb.stores import HOME, Store


def gather(
    state: State, env: Mapping[str, str], now: datetime, *, only: str = "", limit: int = data.CAPSULES
) -> Report:
    """The report on the workspace of ``state``.

    Args:
        only: HOME or REPO for one store (NoStore when that is not there).
        limit: how many capsules are listed, newest first.
    """
    problems: list[Problem] = []
    seen = read_sessions(state, env, problems)
    readings = _read(state.workspace, env, only, problems)
    views = [_View(reading, env, seen.injected) for reading in readings]
    held = [(view, h) for view in views for h in view.reading.held]
    held.sort(key=lambda pair: _newest(pair[1].row.signed_timestamp, pair[1].row.id), reverse=True)
    relations = sorted(
        (r for view in views for r in view.relations()), key=lambda r: _newest(r.timestamp, r.source)
    )
    changed = [c for view, h in held for c in view.changed(h)]
    report = Report(data.VERSION, now.strftime("%Y-%m-%dT%H:%M:%SZ"), state.workspace)
    titles = {h.row.id: h.capsule.title for _, h in held}
    return replace(
        _with_times(report, views, now.timestamp()),
        problems=tuple(problems),
        stores=tuple(view.store() for view in views),
        capsules=tuple(view.capsule(h) for view, h in held[: max(0, limit)]),
        capsules_total=len(held),
        relations=tuple(relations[::-1][: data.RELATIONS]),
        relations_total=len(relations),
        changed=tuple(changed[: data.CHANGED]),
        changed_total=len(changed),
        sessions=tuple(session.named(titles) for session in seen.sessions[: data.SESSIONS]),
        sessions_total=len(seen.sessions),
        ledger=seen.ledger[: data.LEDGER],
        ledger_total=len(seen.ledger),
        open_failures=sum(not entry.resolved for entry in seen.ledger),
        waiting_for_policy=sum(view.recalled for view in views if not view.accepted),
    )


def _read(workspace: str, env: Mapping[str, str], only: str, problems: list[Problem]) -> list[Reading]:
    found: list[Reading] = []
    for name in (only,) if only else (HOME, stores.REPO):
        what = "home store" if name == HOME else "repository's store"
        try:
            opened = stores.open_home(env) if name == HOME else stores.open_repo(workspace, env)
            if opened is None and only:
                stores.stores(workspace, env, only)  # it says what is missing
            if opened is not None:
                found.append(corpus.read_store(opened))
        except SuiteError as error:
            if only and error.code == "no-store":
                raise
            problems.append(Problem(what, error.message, error.hint))
    return found


def _newest(timestamp: str, memory_id: str) -> tuple[float, str, str]:
    return report_time.seconds(timestamp), timestamp, memory_id


def _with_times(report: Report, views: Sequence[_View], now: float) -> Report:
    """``report`` with the graph and the chart of activity."""
    nodes = sorted((n for view in views for n in view.nodes()), key=lambda n: (n.seconds, n.store, n.id))
    recent = nodes[-data.NODES :]
    lanes = {key for key, _ in Counter(node.stream for node in recent).most_common(data.LANES)}
    drawn = [node for node in recent if node.stream in lanes]
    bins, unit, outside = report_time.bins(((n.seconds, _what(n)) for n in nodes), now)
    return replace(
        report,
        nodes=tuple(drawn),
        nodes_total=len(nodes),
        bins=tuple(bins),
        bin_unit=unit,
        outside_bins=outside,
        in_future=sum(node.seconds > now + report_time.DAY for node in nodes),
    )


def _busiest(stream: StreamInfo) -> tuple[int, str]:
    return -stream.memories, stream.key


def _what(node: Node) -> str:
    if not node.lifecycle:
        return report_time.OTHER
    return report_time.LEFT_OUT if node.left_out else report_time.RECALLED


def _listed(items: Iterable[str]) -> Listed:
    every = list(items)
    shown = tuple(item[: data.TEXT] for item in every[: data.ENTRIES])
    return Listed(shown, len(every) - len(shown))


class _View:
    """One store as the report sees it."""

    def __init__(self, reading: Reading, env: Mapping[str, str], injected: Mapping[str, Injected]) -> None:
        self.reading = reading
        self.name = reading.store.name
        self._injected = injected
        self._approved = consent.approved(env)
        self._all_approved = consent.approves_all(env)
        self._held = {h.row.id: h for h in reading.held}
        self.recalled = sum(not h.left_out for h in reading.held)
        memory = reading.policy.memory if reading.policy else None
        self._trusted_actors = memory.trusted_actors if memory else ()
        self._trusted_kinds = memory.trusted_kinds if memory else ()
        digest = reading.policy.digest if reading.policy else MISSING_DIGEST
        self.accepted = self.name == HOME or consent.accepted(env, reading.store.repo.common_dir, digest)
        self._actor = _own_actor(reading.store)
        self.streams = self._streams()
        self._now = _paths_now(reading)
        self._effects = self._relationships()

    # ------------------------------------------------------------ store and streams

    def store(self) -> StoreInfo:
        held = self.reading.held
        repo = self.reading.store.repo
        return StoreInfo(
            store=self.name,
            path=repo.work_tree or repo.git_dir,
            actor=self._actor,
            policy=self.reading.policy.digest if self.reading.policy else "",
            trusted_actors=_listed(self._trusted_actors),
            trusted_kinds=self._trusted_kinds,
            accepted=self.accepted,
            at=self.reading.at,
            records=len(held),
            recalled=self.recalled,
            lifecycle=_counted(h.row.lifecycle for h in held),
            trust=_counted(h.row.trust for h in held),
            applicability=_counted(h.row.applicability for h in held),
            evidence=_counted(h.row.evidence for h in held),
            source=_counted(self._source_class(h) for h in held),
            left_out=_counted(h.left_out for h in held if h.left_out),
            challenged=sum(bool(h.row.challengers) for h in held),
            waiting=sum(self._waits(h) for h in held),
            streams=tuple(sorted(self.streams, key=_busiest)[: data.STREAMS]),
            streams_total=len(self.streams),
        )

    def _streams(self) -> list[StreamInfo]:
        refs: dict[tuple[str, str], list[str]] = {}
        for ref, _ in self.reading.collection.sources:
            source = parse_ref(ref)
            assert source is not None
            refs.setdefault((source.actor, source.stream), []).append(source.remote or "local")
        members: dict[tuple[str, str], list[VerifiedMemory]] = {key: [] for key in refs}
        for memory in self.reading.collection.memories.values():
            members[memory.envelope.actor, memory.envelope.stream].append(memory)
        return [self._stream(*key, refs[key], found) for key, found in sorted(members.items())]

    def _stream(self, actor: str, stream: str, names: list[str], found: list[VerifiedMemory]) -> StreamInfo:
        found.sort(key=lambda memory: memory.envelope.sequence)
        return StreamInfo(
            key=_stream_key(self.name, actor, stream),
            store=self.name,
            stream=stream,
            actor=actor,
            actor_name=found[-1].envelope.actor_name,
            names=tuple(sorted(names)[: data.ENTRIES]),
            trusted=actor in self._trusted_actors,
            own=actor == self._actor,
            memories=len(found),
            records=sum(memory.envelope.record is not None for memory in found),
            first=found[0].envelope.timestamp,
            last=found[-1].envelope.timestamp,
        )

    # ------------------------------------------------------------ capsules

    def _waits(self, held: Held) -> bool:
        return held.needs_approval and not self._all_approved and held.row.id not in self._approved

    @staticmethod
    def _source_class(held: Held) -> str:
        if held.changed:
            return "changed"
        return "unchanged" if held.row.data.anchor.paths else "none"

    def _source_state(self, held: Held, path: str) -> str:
        if path in held.changed:
            return "gone" if self._now.get(path) == "absent" else "changed"
        return "unchanged"

    def changed(self, held: Held) -> list[Changed]:
        """The drift of one capsule."""
        title = inject_text.shorten(held.capsule.title, data.TITLE)
        return [
            Changed(self.name, held.row.id, title, path[: data.TEXT], self._source_state(held, path))
            for path in held.changed
        ]

    def capsule(self, held: Held) -> CapsuleInfo:
        """One capsule with its judgments."""
        row, capsule, record = held.row, held.capsule, held.row.data
        envelope = self.reading.collection.memories[row.id].envelope
        # What drifted stands first, so that no bound hides it.
        paths = sorted(record.anchor.paths, key=lambda entry: (entry.path not in held.changed, entry.path))
        times = self._injected.get(row.id, Injected())
        return CapsuleInfo(
            id=row.id,
            store=self.name,
            kind=capsule.kind,
            record_kind=row.kind,
            scope=capsule.scope,
            title=inject_text.shorten(capsule.title, data.TEXT),
            body=capsule.body[: data.BODY],
            body_more=max(0, len(capsule.body) - data.BODY),
            trailers=tuple((name, value[: data.TEXT]) for name, value in capsule.trailers[: data.ENTRIES]),
            topics=_listed(record.topics),
            outcome=inject_text.shorten(record.attempt_outcome, data.TEXT),
            handoff=_handoff(record.handoff),
            by=capsule.by,
            approved=row.id in self._approved,
            waiting=self._waits(held),
            timestamp=row.signed_timestamp,
            actor=row.actor,
            actor_name=envelope.actor_name,
            stream=row.stream,
            sequence=envelope.sequence,
            lifecycle=row.lifecycle,
            trust=row.trust,
            applicability=row.applicability,
            evidence=row.evidence,
            left_out=held.left_out,
            anchor=record.anchor.commit,
            mode=record.applicability.mode,
            subject=record.anchor.subject[: data.TEXT],
            sources=tuple(
                Source(entry.path[: data.TEXT], self._source_state(held, entry.path))
                for entry in paths[: data.ENTRIES]
            ),
            sources_more=max(0, len(paths) - data.ENTRIES),
            source_changed=bool(held.changed),
            evidence_details=_listed(f"{d.type}:{d.requested} ({d.status})" for d in row.evidence_details),
            supersedes=envelope.target,
            challengers=_listed(row.challengers),
            successors=_listed(row.successors),
            retractions=_listed(row.retractions),
            injected=times.sessions,
            last_injected=report_time.stamp(times.last),
        )

    # ------------------------------------------------------------ relations and graph

    def _relationships(self) -> dict[str, str]:
        """Every supersede, retract and challenge → why it has no effect, ``""`` when it has one."""
        memories = self.reading.collection.memories
        edges, diagnostics, missing = relationships(memories.values(), memories.get)
        found = {diagnostic.source: diagnostic.reason for diagnostic in diagnostics}
        found |= {dependency.owner: dependency.reason for dependency in missing}
        return found | {edge.source: "" for edge in edges if isinstance(edge, Edge)}

    def relations(self) -> list[Relation]:
        """Every supersede, retract and challenge."""
        memories = self.reading.collection.memories
        found: list[Relation] = []
        for memory_id, effect in self._effects.items():
            envelope = memories[memory_id].envelope
            target = self._held.get(envelope.target)
            found.append(
                Relation(
                    store=self.name,
                    operation=envelope.operation,
                    source=memory_id,
                    target=envelope.target,
                    target_title=inject_text.shorten(target.capsule.title, data.TITLE) if target else "",
                    timestamp=envelope.timestamp,
                    actor=envelope.actor,
                    actor_name=envelope.actor_name,
                    reason=inject_text.shorten(envelope.reason, data.TEXT),
                    effect=effect,
                )
            )
        return found

    def nodes(self) -> list[Node]:
        """Every memory as it may stand in the graph."""
        found: list[Node] = []
        for memory_id, memory in self.reading.collection.memories.items():
            envelope = memory.envelope
            held = self._held.get(memory_id)
            title = held.capsule.title if held else envelope.reason
            found.append(
                Node(
                    id=memory_id,
                    store=self.name,
                    stream=_stream_key(self.name, envelope.actor, envelope.stream),
                    operation=envelope.operation,
                    title=inject_text.shorten(title, data.TITLE),
                    timestamp=envelope.timestamp,
                    seconds=report_time.seconds(envelope.timestamp),
                    lifecycle=held.row.lifecycle if held else "",
                    left_out=held.left_out if held else "",
                    challenged=bool(held and held.row.challengers),
                    changed=bool(held and held.changed),
                    target=envelope.target if self._effects.get(memory_id) == "" else "",
                )
            )
        return found


def _handoff(handoff: Handoff | None) -> tuple[tuple[str, Listed], ...]:
    if handoff is None:
        return ()
    lists = (
        ("completed", handoff.completed),
        ("assumptions", handoff.assumptions),
        ("blockers", handoff.blockers),
        ("next actions", handoff.next_actions),
    )
    return tuple((name, _listed(entries)) for name, entries in lists if entries)


def _stream_key(store: str, actor: str, stream: str) -> str:
    return f"{store}:{actor}:{stream}"


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names).most_common())


def _own_actor(store: Store) -> str:
    try:
        return Keyring.of(store.repo).active_actor() or ""
    except SuiteError:
        return ""


def _paths_now(reading: Reading) -> dict[str, str | None]:
    """What stands now at every path that drifted."""
    paths = sorted({path for held in reading.held for path in held.changed})
    if not paths:
        return {}
    with reading.store.repo.objects() as reader:
        return dict(zip(paths, reader.path_blobs(reading.at, paths), strict=True))
