"""What a new capsule refers to: what it supersedes, its evidence, what is known already, its anchor.

Each is checked against the store the capsule goes to; nothing reaches across stores. Raises, and
writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ai_kb import capsule
from ai_kb.consulted import Consulted, holders
from ai_kb.errors import AlreadyKnown, InvalidCapsule, KbError, NoStore
from ai_kb.gates import is_from
from ai_kb.held import full_id
from ai_kb.hn.envelope import ABSENT, Anchor, PathAnchor
from ai_kb.hn.fields import is_evidence, is_path
from ai_kb.hn.gitobjects import NOT_A_BLOB, ObjectReader
from ai_kb.likeness import Corpus
from ai_kb.project import Project
from ai_kb.store_paths import described
from ai_kb.stores import HOME, REPO, Choice, Store


def superseded(asked: str, choice: Choice, answers: Sequence[Consulted]) -> str:
    """Full id of the record that is superseded, ``""`` for none."""
    if not asked:
        return ""
    every = holders(answers)
    target = full_id(asked, every)
    holder = every[target].store
    if holder.name != choice.name:
        raise KbError(
            f"{target} is in the {holder.described}, and nothing supersedes across stores; "
            "nothing was changed",
            f"use --store {holder.name}",
        )
    memory = every[target].named[target]
    if memory.envelope.record is None:
        raise KbError(f"{target} is a {memory.envelope.operation}, not a record; nothing was changed")
    if memory.envelope.actor != holder.identity().actor:
        raise KbError(
            f"{target} is another actor's, and only its own actor supersedes it; nothing was changed",
            "`,ai-kb challenge` disputes it",
        )
    return target


def refuse_elsewhere(target: str, project: Project, answers: Sequence[Consulted]) -> None:
    """Raise KbError when the capsule ``target`` belongs to another project or workspace than ``project``.

    What replaces it would be shown here and no longer where it belongs.
    """
    for answer in answers:
        old = answer.capsule(target)
        if old is None or old.scope not in ("workspace", "project"):
            continue
        if not is_from(project, old, answer.store.name):
            raise KbError(
                f"{target} belongs to another {old.scope}; nothing was changed",
                "replace it there (--workspace DIR), or say with --scope where the new one belongs",
            )


def evidence_of(
    asked: Sequence[str], choice: Choice, answers: Sequence[Consulted]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Evidence that the store can resolve, and what becomes a ``Refs:`` trailer instead."""
    for text in asked:
        capsule.checked_value("--evidence", text)
    kept: list[str] = []
    refs: list[str] = []
    git = [e for e in asked if e.startswith("git:")]
    held_objects: dict[str, str | None] = {}
    if git and choice.store is not None:
        with choice.store.repo.objects() as reader:
            names = [e[4:] for e in git]
            found = reader.info(names)
            held_objects = {n: f[0] if f else None for n, f in zip(names, found, strict=True)}
    for text in dict.fromkeys(asked):
        kind, _, name = text.partition(":")
        if kind == "git" and name:
            oid = held_objects.get(name)
            if oid is None and choice.name == REPO:
                raise KbError(
                    f"evidence {text[:80]!r} is no object of this repository; nothing was changed",
                    "commit it first, or leave it out",
                )
            if oid is None or not is_evidence(f"git:{oid}"):
                refs.append(text)
            else:
                kept.append(f"git:{oid}")
        elif kind == "memory" and name:
            kept.append("memory:" + _evidence_memory(name, choice, answers))
        elif is_evidence(text):
            if choice.name == HOME:
                raise KbError(
                    f"evidence {text[:80]!r} cannot be resolved by the home store; nothing was changed",
                    "name it with --ref, or use --store repo",
                )
            kept.append(text)
        else:
            raise InvalidCapsule(
                f"{text[:80]!r} is no evidence; nothing was changed",
                "git:<object>, memory:<id> or event:sha256:<id>",
            )
    return tuple(dict.fromkeys(kept)), tuple(refs)


def memory_names(evidence: Sequence[str]) -> list[str]:
    """The memories that stated evidence names."""
    return [text.removeprefix("memory:") for text in evidence if text.startswith("memory:")]


def _evidence_memory(name: str, choice: Choice, answers: Sequence[Consulted]) -> str:
    every = holders(answers)
    target = full_id(name, every)
    if every[target].store.name != choice.name:
        raise KbError(
            f"evidence {target} is in the {every[target].store.described}, and evidence does not "
            "reach across stores; nothing was changed",
            f"use --store {every[target].store.name}",
        )
    return target


def refuse_known(title: str, body: str, answers: Sequence[Consulted], target: str) -> None:
    """Raise AlreadyKnown when an active capsule other than ``target`` says almost the same."""
    near = [known for answer in answers for known in answer.near if known.id != target]
    match = Corpus(near).most_alike(title, body)
    if match is not None:
        held, share = match
        same = "the same" if share == 1 else "almost the same"
        raise AlreadyKnown(
            f"an active capsule says {same}: {held.id} in the {described(held.store)}; nothing was changed",
            f"replace it with --supersedes {held.id}, or say --allow-duplicate",
        )


def anchor_at_head(store: Store, sources: Sequence[str]) -> tuple[Anchor, list[str]]:
    """HEAD, and the blobs that the named files have there."""
    with store.repo.objects() as reader:
        head = reader.head()
        if head is None:
            raise NoStore(
                "the repository has no commit to anchor a capsule to; nothing was changed", "commit first"
            )
        paths = sorted({p for p in map(source_path, sources) if is_path(p)}, key=str.encode)
        return _path_anchors(reader, head, paths)


def _path_anchors(reader: ObjectReader, head: str, paths: Sequence[str]) -> tuple[Anchor, list[str]]:
    entries: list[PathAnchor] = []
    notes: list[str] = []
    for path, blob in zip(paths, reader.path_blobs(head, paths), strict=True):
        if blob is None or blob in (ABSENT, NOT_A_BLOB):
            notes.append(f"{path} is no file at HEAD, so the capsule cannot tell when it changes")
        else:
            entries.append(PathAnchor(path, blob))
    return Anchor(head, tuple(entries)), notes


def source_path(source: str) -> str:
    """The path of ``path``, ``path:line`` or ``path:first-last``."""
    path, colon, number = source.rpartition(":")
    return path if colon and number.replace("-", "", 1).isdigit() else source
