"""Synchronizing one repository with one remote: import what is selected, then publish what is local.

Under one lock per repository:

1. what an interrupted sync left is completed or taken back, its quarantine removed;
2. the remote says what it has;
3. each selector is matched with its one ref;
4. what is new is fetched into a quarantine, measured, verified, and judged together;
5. everything that holds is promoted in one transaction;
6. each local history is published by its exact ref.

Selectors fail independently of each other, and importing and publishing do too. Nothing that was
refused is left anywhere. A selection authorizes transport, not trust.

memory-v0, "Select and synchronize"; docs/protocol.md, "Replication".
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from agent_base.errors import SuiteError
from ai_kb.hn.events import ACTORS_PREFIX
from ai_kb.hn.gitstore import ObjectReader, Repository
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.replication import outcomes as names
from ai_kb.hn.replication import publish as publishing
from ai_kb.hn.replication import quarantine as quarantines
from ai_kb.hn.replication import shallow
from ai_kb.hn.replication.candidates import Candidate, Judge
from ai_kb.hn.replication.fetching import Fetching
from ai_kb.hn.replication.floors import Floors
from ai_kb.hn.replication.matching import match
from ai_kb.hn.replication.outcomes import ACTOR, MEMORY
from ai_kb.hn.replication.promotion import Journal, Move, Transaction, promote, raw_refs, recover
from ai_kb.hn.replication.quarantine import Quarantine
from ai_kb.hn.replication.relationships import Relationships, tip_of
from ai_kb.hn.replication.remote import IDLE_SECONDS, TOTAL_SECONDS, Remote, Unanswered
from ai_kb.hn.replication.result import Result
from ai_kb.hn.replication.selection import DEFAULT_REMOTE, Selection, check_remote_name, load
from ai_kb.hn.replication.shallow import Boundaries, Gap
from ai_kb.hn.replication.state import ReplicationError, State
from ai_kb.hn.streamrefs import LOCAL_PREFIX, REMOTES_PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DIRECTORIES = ("anchors", "transactions", "quarantine")


class NoSelection(ReplicationError):
    """Nothing was selected for the remote, and the caller wants somebody to choose first."""

    code = "no-selection"


@dataclass(frozen=True, slots=True)
class Options:
    """How to sync.

    Attributes:
        recover_shallow: fetch only what a shallow boundary cut, from its recorded supplier.
        selection_required: refuse to take nothing saved for all.
        idle, total: seconds to wait for the remote, without a sign of it and altogether.
        person: somebody may be asked for a passphrase.
        report: gets what git says of its progress.
    """

    recover_shallow: bool = False
    selection_required: bool = False
    idle: float = IDLE_SECONDS
    total: float = TOTAL_SECONDS
    person: bool = False
    report: Callable[[bytes], None] | None = None


def synchronize(repo: Repository, remote: str = DEFAULT_REMOTE, options: Options | None = None) -> Result:
    """Exchange with ``remote``; what failed on the way is in the result.

    Raises SuiteError when nothing could be begun: no such remote, another sync at work, an unsafe
    directory, nothing selected, nothing to recover.
    """
    options = options or Options()
    check_remote_name(remote)
    if options.recover_shallow and not repo.is_shallow():
        raise ReplicationError("selected shallow recovery requires a shallow repository")
    far = Remote(
        repo,
        remote,
        idle=options.idle,
        total=options.total,
        person=options.person,
        report=options.report,
    )
    here = _offline(repo) if far.promises_objects else repo
    with here.objects() as reader, PrefixStore.open(repo) as prefixes:
        reader.start()  # git loads while the remote is asked
        selection = load(repo, remote)
        if options.selection_required and not selection.saved:
            raise NoSelection(
                f"nothing is selected for remote {remote} yet; nothing was exchanged",
                f"choose first: `hn replication select {remote} --all`, or --memory STREAM, --actor ACTOR",
            )
        state = State(repo)
        state.prepare(*_DIRECTORIES)
        with state.lock():
            return _Sync(here, reader, prefixes, far, selection, state, options).run()


def _offline(repo: Repository) -> Repository:
    """``repo`` without what a partial clone fetches when something is missing: here much is, by intent."""
    return Repository(
        git_dir=repo.git_dir,
        common_dir=repo.common_dir,
        work_tree=repo.work_tree,
        object_format=repo.object_format,
        env={**repo.env, "GIT_NO_LAZY_FETCH": "1"},
        where=repo.where,
    )


class _Sync:
    """One sync, the lock held."""

    def __init__(
        self,
        repo: Repository,
        reader: ObjectReader,
        prefixes: PrefixStore,
        far: Remote,
        selection: Selection,
        state: State,
        options: Options,
    ) -> None:
        self.repo = repo
        self.reader = reader
        self.prefixes = prefixes
        self.far = far
        self.selection = selection
        self.state = state
        self.options = options
        self.journal = Journal(state)
        self.floors = Floors(repo)
        self.result = Result(far.name)
        self.transaction = Transaction(f"txn-{time.time_ns()}", far.name)
        self.gaps: list[Gap] = []
        self.advertised: dict[str, str] | None = None

    def run(self) -> Result:
        recovered = recover(self.journal, self.repo, self.reader)
        self.result.notes += recovered
        quarantines.clear(self.state)
        wanted = self._recorded_gaps() if self.options.recover_shallow else None
        try:
            self._import(wanted)
        except (SuiteError, OSError) as error:
            self.result.import_error = _as_error(error)
            for outcome in self.result.outcomes:
                if not outcome.status:
                    outcome.fail(
                        names.DEPENDENCY_MISSING,
                        f"selection {outcome.name} was not fetched from remote {self.far.name}",
                        names.NOT_FETCHED,
                    )
        if wanted is None:
            self._publish()
        self.journal.prune()
        return self.result

    # --- import -----------------------------------------------------------------------------------

    def _import(self, wanted: set[str] | None) -> None:
        """Steps 2 to 5. ``wanted``: only these selectors, whole (shallow recovery)."""
        self.advertised = self.far.advertise()
        candidates = self._candidates(wanted)
        self.transaction.outcomes = self.result.outcomes
        new = [c for c in candidates if not c.outcome.status and (c.whole or c.head != c.accepted)]
        here = Judge(self.repo, self.reader, self.prefixes, self.floors, self.selection.budgets)
        for candidate in candidates:
            if not candidate.outcome.status and candidate not in new:
                here.unchanged(candidate)
        if new:
            shared = not any(candidate.whole for candidate in new)
            with Quarantine(self.state, self.repo, self.transaction.id, shared=shared) as quarantine:
                self._judge_new(new, quarantine)
                self._accept(candidates, quarantine)
        else:
            self._accept(candidates, None)
        shallow.record_gaps(self.state, self.far.name, self._remaining_gaps(wanted))

    def _candidates(self, wanted: set[str] | None) -> list[Candidate]:
        """Step 3: the history of each selector that has one; the outcomes of all selectors are begun."""
        assert self.advertised is not None
        matched = match(self.selection, self.advertised, only=wanted)
        self.result.outcomes = matched.outcomes
        self.result.notes += matched.notes
        refs = raw_refs(self.repo, f"{REMOTES_PREFIX}/{self.far.name}", LOCAL_PREFIX, ACTORS_PREFIX)
        boundaries = Boundaries(self.repo, self.reader)
        for candidate in matched.candidates:
            candidate.accepted = refs.get(candidate.accepted_ref, "")
            candidate.whole = wanted is not None
        if wanted is None:
            self._find_lost(matched.candidates)
        for candidate in matched.candidates:
            heads = [head for head in (candidate.accepted, refs.get(candidate.ref, "")) if head]
            cut = None if candidate.whole else boundaries.cut(heads)
            if cut is not None:
                self.gaps.append(shallow.report_cut(candidate.outcome, self.far.name, cut))
        return matched.candidates

    def _find_lost(self, candidates: list[Candidate]) -> None:
        """Ask for all of each history whose accepted head is not here any more."""
        known = [candidate for candidate in candidates if candidate.accepted]
        there = self.reader.types([candidate.accepted for candidate in known])
        for candidate, kind in zip(known, there, strict=True):
            if kind is None:
                candidate.whole = True
                self.result.notes.append(
                    f"{candidate.outcome.name}: the accepted head {candidate.accepted} is missing in this "
                    "repository; all of the history is fetched again"
                )

    def _judge_new(self, new: list[Candidate], quarantine: Quarantine) -> None:
        """Step 4."""
        assert self.advertised is not None
        fetching = Fetching(self.far, quarantine, self.selection.budgets)
        try:
            fetching.fetch(new)
        finally:
            self.gaps += fetching.gaps
        judge = Judge(quarantine.repo, quarantine.reader, self.prefixes, self.floors, self.selection.budgets)
        for candidate in new:
            if not candidate.outcome.status:
                judge.judge(candidate)
        # Anchors and evidence, and they alone, a partial clone may have to fetch.
        with self.far.repo.objects() as online:
            Relationships(
                self.repo,
                self.reader,
                self.prefixes,
                new,
                online=online if self.far.repo is not self.repo else self.reader,
                remote=self.far.name,
                advertised=self.advertised,
                selected={outcome.name for outcome in self.result.outcomes},
            ).judge()

    def _accept(self, candidates: list[Candidate], quarantine: Quarantine | None) -> None:
        """Step 5, and what is remembered of it."""
        accepted = [candidate for candidate in candidates if candidate.structurally_sound]
        transaction = self.transaction
        transaction.moves = [
            Move(candidate.accepted_ref, candidate.head, candidate.accepted)
            for candidate in sorted(accepted, key=lambda candidate: candidate.accepted_ref)
        ]
        whole = any(candidate.whole for candidate in accepted)  # objects alone may be missing
        if whole or any(move.new != move.old for move in transaction.moves):
            assert quarantine is not None
            objects = sorted({oid for candidate in accepted for oid, _, _ in candidate.objects})
            there = self.reader.types(objects)
            transaction.accepted = objects
            transaction.pending = [o for o, kind in zip(objects, there, strict=True) if kind is None]
            promote(self.journal, self.repo, self.reader, quarantine, transaction, self._boundaries(accepted))
        for candidate in accepted:
            candidate.outcome.status = names.PROMOTED
            candidate.outcome.accepted = candidate.head
        self._remember(accepted)
        self.journal.complete(transaction)

    def _boundaries(self, accepted: list[Candidate]) -> Callable[[], None] | None:
        """What makes the promoted histories whole in a shallow repository, once their objects are here."""
        commits = [entry[0] for candidate in accepted if candidate.whole for entry in candidate.placed]
        if not commits:
            return None
        return lambda: shallow.remove_boundaries(self.repo, self.reader, commits)

    def _remember(self, accepted: list[Candidate]) -> None:
        for candidate in accepted:
            if candidate.placed:
                self.prefixes.extend(candidate.source, candidate.below, candidate.placed)
            tip = tip_of(candidate)
            events = tip.sequence if tip else candidate.outcome.measurements.events
            self.floors.raise_to(candidate.accepted_ref, candidate.head, events)
            if not candidate.is_memory:
                self.result.events += events
        try:
            self.floors.save()
        except (SuiteError, OSError) as error:
            self.result.notes.append(
                "the highest accepted heads could not be kept in the state directory: "
                + _as_error(error).message
            )

    # --- shallow recovery -------------------------------------------------------------------------

    def _recorded_gaps(self) -> set[str]:
        """Selectors to recover. Raises ReplicationError where there is nothing to."""
        remote = self.far.name
        if not self.selection.saved or self.selection.all:
            raise ReplicationError(
                f"selected shallow recovery requires a saved exact selection for remote {remote}; "
                "nothing was fetched",
                f"hn replication select {remote} --memory STREAM",
            )
        recorded = {gap.selector for gap in shallow.load_gaps(self.state) if gap.remote == remote}
        if not recorded:
            raise ReplicationError(
                f"no shallow gap was recorded for remote {remote}; nothing was fetched",
                f"hn sync {remote} records the gaps it meets",
            )
        selected = {f"{MEMORY} {stream}" for stream in self.selection.memories}
        selected |= {f"{ACTOR} {actor}" for actor in self.selection.actors}
        if not recorded & selected:
            raise ReplicationError(
                f"the shallow gaps recorded for remote {remote} are outside its saved selection; "
                "nothing was fetched",
                "select them: recovery never adds a selector",
            )
        return recorded & selected

    def _remaining_gaps(self, wanted: set[str] | None) -> list[Gap]:
        """What is still cut: what was met now, and in a recovery what was not recovered."""
        if wanted is None:
            return self.gaps
        promoted = {outcome.name for outcome in self.result.outcomes if outcome.promoted}
        known = [gap for gap in shallow.load_gaps(self.state) if gap.remote == self.far.name]
        return [*self.gaps, *(gap for gap in known if gap.selector not in promoted)]

    # --- publication ------------------------------------------------------------------------------

    def _publish(self) -> None:
        """Step 6."""
        try:
            publications = publishing.local_histories(self.repo)
            self.result.publications = publications
            if not publications:
                return
            if isinstance(self.result.import_error, Unanswered):
                raise ReplicationError("it was not tried: the remote does not answer")
            publishing.publish(
                self.repo, self.reader, self.prefixes, self.far, self.advertised or {}, publications
            )
        except (SuiteError, OSError) as error:
            self.result.publication_error = _as_error(error)
            for publication in self.result.publications:
                if not publication.status:
                    publication.status, publication.reason = publishing.NOT_SENT, _as_error(error).message
        self.result.notes += [
            f"{publication.kind} {publication.id}: {publication.reason} (local {publication.local_head}, "
            f"remote {publication.remote_head}): bring it forward before you write to it"
            for publication in self.result.publications
            if publication.status == publishing.BEHIND
        ]


def _as_error(error: SuiteError | OSError) -> SuiteError:
    if isinstance(error, SuiteError):
        return error
    return ReplicationError(f"{error.filename or 'the repository'}: {error.strerror or error}")
