"""What a report says, as plain data: what ``,ai-kb report --json`` prints and the page shows.

Everything is bounded here, not by whoever shows it: lists have a longest length, texts a most of
characters, and how much is missing stands beside (``…_total``, ``more``). Texts of authors are as they
were signed: hostile until shown through ``agent_base.inert``.
"""

from __future__ import annotations

from dataclasses import dataclass

VERSION = 1

CAPSULES = 500  # on a page, unless --limit says otherwise
NODES = 120  # memories in the graph
LANES = 12  # streams in the graph
BINS = 60  # columns of the activity chart
STREAMS = 50  # rows of the table of streams, per store
RELATIONS = 200
CHANGED = 200
SESSIONS = 30
IN_SESSION = 30
LEDGER = 100
BODY = 1_200  # characters of a body
TEXT = 300  # of a reason, a path, a capsule's own title
TITLE = 120  # of a capsule's title where another thing is about it
ENTRIES = 12  # of any list of one capsule: topics, evidence, paths, …


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read; the rest of the report stands."""

    what: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """The first entries of a list, and how many more there are."""

    items: tuple[str, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class StreamInfo:
    """One actor's stream in one store. ``names``: the refs that hold it, ``local`` or a remote's name.

    ``actor_name`` is what the actor calls itself; only ``actor`` is proved. ``trusted``: the policy in
    force lists the actor. ``first`` and ``last`` are claimed times.
    """

    key: str
    store: str
    stream: str
    actor: str
    actor_name: str
    names: tuple[str, ...]
    trusted: bool
    own: bool
    memories: int
    records: int
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """One store: who signs and is trusted, and its records counted by each judgment."""

    store: str
    path: str
    actor: str
    policy: str  # digest, "" for none
    trusted_actors: Listed
    trusted_kinds: tuple[str, ...]
    accepted: bool  # its records may be injected by themselves
    at: str
    records: int
    recalled: int
    lifecycle: dict[str, int]
    trust: dict[str, int]
    applicability: dict[str, int]
    evidence: dict[str, int]
    source: dict[str, int]  # unchanged, changed, none
    left_out: dict[str, int]
    challenged: int
    waiting: int
    streams: tuple[StreamInfo, ...]
    streams_total: int


@dataclass(frozen=True, slots=True)
class Source:
    """An anchored path: ``unchanged``, ``changed``, ``gone``, or ``unknown``."""

    path: str
    state: str


@dataclass(frozen=True, slots=True)
class CapsuleInfo:
    """One record read as a capsule, with its judgments. ``left_out``: why default recall passes it over.

    ``injected``: into how many sessions of this workspace, ``last_injected`` when (``""``: not known).
    """

    id: str
    store: str
    kind: str
    record_kind: str
    scope: str
    title: str
    body: str
    body_more: int
    trailers: tuple[tuple[str, str], ...]
    topics: Listed
    outcome: str  # of an attempt
    handoff: tuple[tuple[str, Listed], ...]
    by: str
    approved: bool
    waiting: bool
    timestamp: str
    actor: str
    actor_name: str
    stream: str
    sequence: int
    lifecycle: str
    trust: str
    applicability: str
    evidence: str
    left_out: str
    anchor: str
    mode: str
    subject: str
    sources: tuple[Source, ...]
    sources_more: int
    source_changed: bool
    evidence_details: Listed
    supersedes: str
    challengers: Listed
    successors: Listed
    retractions: Listed
    injected: int
    last_injected: str


@dataclass(frozen=True, slots=True)
class Relation:
    """One supersede, retract or challenge. ``effect``: ``""`` when it counts, else why it does not."""

    store: str
    operation: str
    source: str
    target: str
    target_title: str
    timestamp: str
    actor: str
    actor_name: str
    reason: str
    effect: str


@dataclass(frozen=True, slots=True)
class Changed:
    """An anchored path that is no longer what it was."""

    store: str
    id: str
    title: str
    path: str
    state: str


@dataclass(frozen=True, slots=True)
class Node:
    """One memory in the graph. ``seconds``: its claimed time since the epoch; ``targets``: what it does
    something to, with effect. Of a retract or challenge ``lifecycle`` is ``""``."""

    id: str
    store: str
    stream: str  # StreamInfo.key
    operation: str
    title: str
    timestamp: str
    seconds: float
    lifecycle: str
    left_out: str
    challenged: bool
    changed: bool
    target: str


@dataclass(frozen=True, slots=True)
class Bin:
    """One column of the activity chart."""

    label: str
    recalled: int
    left_out: int
    other: int  # retractions and challenges


@dataclass(frozen=True, slots=True)
class Injection:
    """A capsule in a session. ``at`` ``""``: it is not known when."""

    id: str
    title: str
    at: str
    in_context: bool


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """What was injected into one session, newest first."""

    session_key: str
    topic: str
    changed_at: str
    in_context: int
    injections: tuple[Injection, ...]
    injections_total: int


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One entry of the error ledger. ``injecting``: something that should have been injected was not."""

    at: str
    kind: str
    session_key: str
    message: str
    resolved: bool
    injecting: bool


@dataclass(frozen=True, slots=True)
class Report:
    """Everything. Lists are newest first but ``nodes`` and ``bins`` (oldest first)."""

    version: int
    generated: str
    workspace: str
    problems: tuple[Problem, ...] = ()
    stores: tuple[StoreInfo, ...] = ()
    capsules: tuple[CapsuleInfo, ...] = ()
    capsules_total: int = 0
    nodes: tuple[Node, ...] = ()
    nodes_total: int = 0
    bins: tuple[Bin, ...] = ()
    bin_unit: str = ""
    outside_bins: int = 0
    in_future: int = 0
    relations: tuple[Relation, ...] = ()
    relations_total: int = 0
    changed: tuple[Changed, ...] = ()
    changed_total: int = 0
    sessions: tuple[SessionInfo, ...] = ()
    sessions_total: int = 0
    ledger: tuple[LedgerEntry, ...] = ()
    ledger_total: int = 0
    open_failures: int = 0
    waiting_for_policy: int = 0  # records that are recalled, but not injected until `policy accept`
