"""From a text to a signed capsule: checks, store, project, anchor, signature.

``remember`` is what the commands ``remember``, ``supersede`` and ``promote`` call. The order of its checks:

1. the text is a capsule (``capsule``): not empty, not oversized, known kind and scope;
2. it holds no credential, or ``allow_secret``;
3. the store is chosen, and says why;
4. evidence and what is superseded belong to that store;
5. no active capsule says (almost) the same, but the one that is superseded;
6. the anchor: the home store's root, or HEAD with the blobs of the named sources.

Until all of them hold nothing is written; then one signed commit is. docs/decisions.md, "Capsules" and
"Two stores, one corpus".
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from agent_base.errors import SuiteError
from agent_base.frozen import dataclass, replace
from ai_kb import capsule, relations, stores
from ai_kb.consulted import Consulted, consult, holders
from ai_kb.errors import HoldsSecret, InvalidCapsule
from ai_kb.held import full_id
from ai_kb.hn.envelope import Anchor, Applicability, Record
from ai_kb.hn.fields import is_path
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.streams import append
from ai_kb.project import Project, identify
from ai_kb.store_paths import described
from ai_kb.stores import HOME, REPO, Choice, Store


@dataclass(frozen=True, slots=True)
class Draft:
    """What somebody wants to be remembered, as they said it. ``""`` and ``()`` are: not said.

    ``scope_said`` is False where the scope was taken over from what is superseded.
    """

    title: str
    body: str
    kind: str = ""
    scope: str = ""
    scope_said: bool = True
    confidence: str = ""
    sources: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    verified_by: str = ""
    evidence: tuple[str, ...] = ()
    supersedes: str = ""
    store: str = ""
    by_agent: bool = True
    allow_secret: bool = False
    allow_duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Remembered:
    """What was written (``id`` and ``commit`` empty in a dry run), where and why, and what to mind."""

    id: str
    store: str
    why: str
    stream: str
    commit: str
    kind: str
    title: str
    content: str
    topics: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def remember(
    draft: Draft,
    *,
    workspace: str,
    env: Mapping[str, str],
    now: datetime,
    name: str = "",
    cwd: str = "",
    dry_run: bool = False,
) -> Remembered:
    """Check ``draft`` and, unless ``dry_run``, sign it into the store that is chosen.

    Args:
        workspace: resolved absolute path; scopes and the repository's store go by it.
        cwd: sources that are not found from the root of the work tree are looked for from here.
        name: for a home store that is made now; Git's ``user.name``.

    Raises:
        KbError, HnError: the first check that fails; nothing was changed.
    """
    # (1)
    title, body = capsule.checked_text(draft.title, draft.body)
    kind, left, warnings = _defaults(draft)
    # (2)
    if not draft.allow_secret:
        refuse_secrets(draft)
    # (3)
    opened = stores.stores(workspace, env)
    answers, failures = _consulted(draft, title, body, opened)
    choice = _chosen(draft, workspace, env, opened, answers)
    for name, failure in failures.items():
        if name == choice.name:
            raise failure
        warnings.append(
            f"the {described(name)} could not be read, so nothing was compared with it: {failure.message}"
        )
    project = project_of(workspace, env, opened)
    scope = _scope(draft, project)
    if not draft.scope:
        left.append(f"--scope {scope}")
    if left:
        warnings.insert(0, f"left at the default: {', '.join(left)}")
    # (4)
    target = relations.superseded(draft.supersedes, choice, answers)
    if target and not (draft.scope and draft.scope_said):
        relations.refuse_elsewhere(target, project, answers)
    evidence, extra_refs = relations.evidence_of(draft.evidence, choice, answers)
    # (5)
    if not draft.allow_duplicate:
        relations.refuse_known(title, body, answers, target)
    # (6)
    sources = tuple(
        _from_root(capsule.checked_value("--source", s), workspace, cwd or workspace) for s in draft.sources
    )
    trailers = [("Source", s) for s in sources]
    trailers.append(("Confidence", draft.confidence or capsule.DEFAULT_CONFIDENCE))
    trailers += [("Refs", capsule.checked_value("--ref", r)) for r in (*draft.refs, *extra_refs)]
    if draft.verified_by:
        trailers.append(("Verified-by", capsule.checked_value("--verified-by", draft.verified_by)))
    if choice.name == HOME:
        trailers.append(("Workspace", workspace))
        warnings += _missing(sources, workspace)
    content = capsule.checked_size(capsule.join_content(title, body, trailers))
    record_kind, outcome = capsule.record_kind(
        kind, verified=bool(draft.verified_by), has_evidence=bool(evidence)
    )
    topics = _topics(draft, kind, scope, project)
    anchor = Anchor(stores.HOME_ROOT)
    if choice.name == REPO:
        assert choice.store is not None
        anchor, notes = relations.anchor_at_head(choice.store, sources)
        warnings += notes + _trust_notes(choice.store, record_kind)
    record = Record(
        kind=record_kind,
        content=content,
        anchor=anchor,
        applicability=Applicability("descendants"),
        topics=topics,
        evidence=evidence,
        attempt_outcome=outcome,
    )
    result = Remembered("", choice.name, choice.why, "", "", kind, title, content, topics, tuple(warnings))
    if dry_run:
        return result
    return _write(result, record, choice, target, env=env, now=now, name=name)


# ---------------------------------------------------------------- (1), (2)


def _defaults(draft: Draft) -> tuple[str, list[str], list[str]]:
    """The kind, which fields were left at their default, and warnings."""
    left: list[str] = []
    kind = draft.kind or capsule.DEFAULT_KIND
    if kind not in capsule.KINDS:
        hint = "a question is noted, never remembered" if kind == "question" else ", ".join(capsule.KINDS)
        raise InvalidCapsule(f"there is no capsule kind {kind[:40]!r}; nothing was changed", hint)
    if draft.scope and draft.scope not in capsule.SCOPES:
        raise InvalidCapsule(
            f"there is no scope {draft.scope[:40]!r}; nothing was changed", ", ".join(capsule.SCOPES)
        )
    if draft.confidence and draft.confidence not in capsule.CONFIDENCES:
        raise InvalidCapsule(
            f"there is no confidence {draft.confidence[:40]!r}; nothing was changed",
            ", ".join(capsule.CONFIDENCES),
        )
    if not draft.kind:
        left.append(f"--kind {kind}")
    if not draft.confidence:
        left.append(f"--confidence {capsule.DEFAULT_CONFIDENCE}")
    warnings = []
    if not draft.sources and not draft.refs and not draft.evidence:
        warnings.append("neither --source nor --ref nor --evidence says where this was seen")
    return kind, left, warnings


def refuse_secrets(draft: Draft) -> None:
    """Raise HoldsSecret, naming field, line, column and type, when a text holds a credential."""
    from agent_memory import redact

    texts = [("title", draft.title), ("body", draft.body), ("--verified-by", draft.verified_by)]
    texts += [("--source", s) for s in draft.sources] + [("--ref", r) for r in draft.refs]
    texts += [("--evidence", e) for e in draft.evidence]  # what a home store lacks becomes a reference
    texts += [("--tag", t) for t in draft.tags] + [("--domain", d) for d in draft.domains]
    for name, text in texts:
        for found in redact.findings(text):
            raise HoldsSecret(
                f"the {name.removeprefix('--')} holds what looks like a credential: {found}; "
                "nothing was changed",
                "take it out, or say --allow-secret when it is none",
            )


# ---------------------------------------------------------------- (3)


def _consulted(
    draft: Draft, title: str, body: str, opened: Sequence[Store]
) -> tuple[list[Consulted], dict[str, SuiteError]]:
    """What the stores say, and why a store says nothing.

    A store that cannot be read is an error where something is to be written into it; elsewhere it
    is a warning that nothing was compared with it.
    """
    names = [draft.supersedes, *relations.memory_names(draft.evidence)]
    answers: list[Consulted] = []
    failures: dict[str, SuiteError] = {}
    for store in opened:
        try:
            answers.append(consult(store, names, title, body))
        except SuiteError as error:
            failures[store.name] = error
    return answers, failures


def _chosen(
    draft: Draft,
    workspace: str,
    env: Mapping[str, str],
    opened: Sequence[Store],
    answers: Sequence[Consulted],
) -> Choice:
    """Where the capsule goes: a replacement to where what it replaces is."""
    if not draft.supersedes or draft.store:
        return stores.choose(workspace, env, draft.store, opened)
    every = holders(answers)
    holder = every[full_id(draft.supersedes, every)].store
    return Choice(holder.name, "what it supersedes is there", holder)


def project_of(workspace: str, env: Mapping[str, str], opened: Sequence[Store] | None = None) -> Project:
    """The project of a workspace, asked of its repository (``opened``: the stores, where they are)."""
    store = stores.repo_of(workspace, env, opened)
    if store is None:
        return identify(workspace, None, None, env=env)
    with store.repo.objects() as reader:
        return identify(workspace, store.repo.common_dir, reader, env=env)


def _scope(draft: Draft, project: Project) -> str:
    scope = draft.scope
    if not scope:
        if draft.domains:
            return "domain"
        return "project" if project.ids else "workspace"
    if scope == "project" and not project.ids:
        raise InvalidCapsule(
            "scope project needs a Git repository with a commit around the workspace; nothing was changed",
            "use --scope workspace, domain or universal",
        )
    if scope == "domain" and not draft.domains:
        raise InvalidCapsule(
            "scope domain needs --domain; nothing was changed", "for instance --domain django"
        )
    return scope


def _topics(draft: Draft, kind: str, scope: str, project: Project) -> tuple[str, ...]:
    # What an agent made for everywhere stays in the project it came from until a person approves it.
    bound = scope in ("workspace", "project") or draft.by_agent
    projects = project.ids if bound and scope != "workspace" else ()
    here = scope == "workspace" or (bound and not projects)
    return capsule.topics_of(
        kind,
        scope,
        projects=projects,
        workspaces=(project.digest,) if here else (),
        domains=draft.domains,
        tags=draft.tags,
        by_agent=draft.by_agent,
    )


# ---------------------------------------------------------------- (6)


def _from_root(source: str, workspace: str, cwd: str) -> str:
    """``source`` relative to the workspace, where it leads to a file in it; else as it is."""
    path = relations.source_path(source)
    rest = source[len(path) :]
    if not os.path.isabs(path) and os.path.lexists(os.path.join(workspace, path)):
        return os.path.normpath(path) + rest
    whole = os.path.normpath(os.path.join(cwd, path))
    if whole.startswith(workspace.rstrip("/") + "/") and os.path.lexists(whole):
        return os.path.relpath(whole, workspace) + rest
    return source


def _missing(sources: Sequence[str], workspace: str) -> list[str]:
    """A warning for each source that reads like a file of the workspace and is none."""
    paths = {p for s in sources if is_path(p := relations.source_path(s)) and "://" not in p and " " not in p}
    gone = [p for p in sorted(paths) if not os.path.exists(os.path.join(workspace, p))]
    return [f"{path} is no file in {workspace}" for path in gone]


def _trust_notes(store: Store, kind: str) -> list[str]:
    try:
        policy = stores.policy_at_head(store)
        actor = store.identity().actor
    except SuiteError:
        return []
    memory = policy.memory if policy is not None else None
    if memory is None or actor not in memory.trusted_actors:
        return ["the repository's policy does not trust this clone's actor: default recall leaves it out"]
    if kind not in memory.trusted_kinds:
        return [f"the repository's policy does not trust the kind {kind}: default recall leaves it out"]
    return []


def _write(
    result: Remembered,
    record: Record,
    choice: Choice,
    target: str,
    *,
    env: Mapping[str, str],
    now: datetime,
    name: str,
) -> Remembered:
    store = choice.store
    if store is None:
        store, _ = stores.init_home(env, name, now)
    identity = store.identity()
    with store.repo.objects() as reader, PrefixStore.open(store.repo) as prefixes:
        appended = append(
            store.repo,
            reader,
            identity,
            operation="supersede" if target else "record",
            now=now,
            record=record,
            target=target,
            prefixes=prefixes,
        )
    keep_index_current(store)
    return replace(result, id=appended.id, stream=appended.stream, commit=appended.commit)


def keep_index_current(store: Store) -> None:
    """Take what was just signed into the private index, if there is one: the next prompt waits for nothing.

    An index that is not there yet is left to whoever asks first; a failure is theirs to report.
    """
    from ai_kb.hn.cache import open_index
    from ai_kb.hn.cache_file import index_path
    from ai_kb.search import EXTENSION

    repo = store.repo
    if not os.path.exists(index_path(repo.common_dir, repo.env, None)):
        return
    with suppress(SuiteError, OSError), open_index(repo, extension=EXTENSION):
        pass
