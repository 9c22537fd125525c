"""Query commits of the private index: which anchors they descend from, which policy they carry.

A context is one query commit. It keeps two sets: the anchor commits that are the query commit or
ancestors of it, and the records anchored there. A new context is made from the last one by the
commits that differ between the two, so that a commit on the branch costs that commit and a
switch of branches what lies between them.

docs/protocol.md, "Projection" (applicability) and "Policy".
"""

from __future__ import annotations

from ai_kb.hn import cache_bits as bits
from ai_kb.hn.errors import HnError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from ai_kb.hn.gitstore import ObjectReader, Repository

# Contexts kept in one file: worktrees and branches that somebody goes to and fro between.
_KEPT = 32
# More differing commits than this, and all anchors are asked about at once instead.
_MAX_DIFFERENCE = 20_000
# A context whose ancestry could not be told for sure is made again each time.
_UNSURE = -1

_ANCESTORS = bits.DESCENDS + "a"
_RECORDS = bits.DESCENDS + "r"


def descendants_key(context: int) -> str:
    """The set of records anchored at the context's commit or an ancestor of it."""
    return f"{_RECORDS}{context}"


def ancestors_key(context: int) -> str:
    """The set of anchors, by number, that are the context's commit or ancestors of it."""
    return f"{_ANCESTORS}{context}"


def is_unborn(commit: str) -> bool:
    """Whether a query commit stands for a HEAD that names no commit yet."""
    return commit.count("0") == len(commit)


class Context:
    """A query commit in the index. ``trusted``: actors and kinds, None without a memory section."""

    __slots__ = ("commit", "id", "policy_digest", "trusted")

    def __init__(
        self, id: int, commit: str, policy_digest: str, trusted: tuple[frozenset[str], frozenset[str]] | None
    ) -> None:
        self.id = id
        self.commit = commit
        self.policy_digest = policy_digest
        self.trusted = trusted


def find(conn: sqlite3.Connection, commit: str, *, just_updated: bool = False) -> Context | None:
    """The context of ``commit`` if it takes in every record of the index.

    ``just_updated``: also one that will have to be made again next time.
    """
    row = conn.execute(
        "SELECT c.id, c.policy, p.actors, p.kinds FROM context c JOIN policy p ON p.digest = c.policy, state"
        " WHERE c.oid = ? AND c.upto = state.next AND (c.epoch = state.epoch OR ?)",
        (commit, just_updated),
    ).fetchone()
    if row is None:
        return None
    id, digest, actors, kinds = row
    trusted = None if actors is None else (frozenset(actors.split()), frozenset(kinds.split()))
    return Context(id, commit, digest, trusted)


def update(conn: sqlite3.Connection, repo: Repository, reader: ObjectReader, commit: str) -> None:
    """Make or bring up to date the context of ``commit``. Inside the caller's transaction.

    Raises HnError: an invalid policy, or none that can be read.
    """
    (next_number, epoch) = conn.execute("SELECT next, epoch FROM state").fetchone()
    row = conn.execute("SELECT id, upto, epoch FROM context WHERE oid = ?", (commit,)).fetchone()
    if row is not None and row[2] == epoch:
        id = row[0]
        sure = _extend(conn, repo, id, commit, row[1])
    else:
        policy = _policy(conn, reader, commit)
        base = _base(conn, epoch)
        if row is None:
            made = conn.execute(
                "INSERT INTO context (oid, policy, upto, epoch, used) VALUES (?, ?, 0, ?, 0)",
                (commit, policy, _UNSURE),
            )
            id = made.lastrowid or 0
        else:
            id = row[0]
        from_base = _from_base(conn, repo, id, commit, base)
        sure = _from_nothing(conn, repo, id, commit) if from_base is None else from_base
    conn.execute(
        "UPDATE context SET upto = ?, epoch = ?, used = (SELECT max(used) + 1 FROM context) WHERE id = ?",
        (next_number, epoch if sure else _UNSURE, id),
    )
    _drop_oldest(conn)


def ancestor_oids(conn: sqlite3.Connection, context: int) -> set[str]:
    """Anchor commits that the context's commit is or descends from."""
    ancestors = bits.read(conn, ancestors_key(context))
    return {oid for number, oid in conn.execute("SELECT number, oid FROM anchor") if ancestors >> number & 1}


def _base(conn: sqlite3.Connection, epoch: int) -> tuple[int, str, int] | None:
    """(id, commit, first number it lacks) of the context used last."""
    row = conn.execute(
        "SELECT id, oid, upto FROM context WHERE epoch = ? ORDER BY used DESC LIMIT 1", (epoch,)
    ).fetchone()
    return None if row is None else (row[0], row[1], row[2])


def _drop_oldest(conn: sqlite3.Connection) -> None:
    rows = conn.execute("SELECT id FROM context ORDER BY used DESC LIMIT -1 OFFSET ?", (_KEPT,))
    for (id,) in rows.fetchall():
        for key in (ancestors_key(id), descendants_key(id)):
            conn.execute("DELETE FROM flag WHERE key = ?", (key,))
        conn.execute("DELETE FROM context WHERE id = ?", (id,))


# --- policy -------------------------------------------------------------------------------------


def _policy(conn: sqlite3.Connection, reader: ObjectReader, commit: str) -> str:
    """Digest of the policy at ``commit``, which is then in the ``policy`` table."""
    data = None if is_unborn(commit) else read_policy(reader, commit)
    from ai_kb.hn.policy import parse_policy, policy_digest

    digest = policy_digest(data)
    if conn.execute("SELECT 1 FROM policy WHERE digest = ?", (digest,)).fetchone() is None:
        memory = None if data is None else parse_policy(data).memory
        actors = None if memory is None else " ".join(memory.trusted_actors)
        kinds = None if memory is None else " ".join(memory.trusted_kinds)
        conn.execute("INSERT INTO policy VALUES (?, ?, ?)", (digest, actors, kinds))
    return digest


def read_policy(reader: ObjectReader, commit: str) -> bytes | None:
    """The exact bytes of ``.hn/policy.json`` at ``commit``; None where there is no such file.

    Raises HnError when it is no file, or cannot be read.
    """
    from ai_kb.hn.gitstore import ABSENT, NOT_A_BLOB
    from ai_kb.hn.policy import MAX_POLICY_BYTES, POLICY_PATH

    blob = reader.path_blobs(commit, [POLICY_PATH])[0]
    if blob == ABSENT:
        return None
    found = None if blob in (None, NOT_A_BLOB) else reader.info([str(blob)])[0]
    if found is None:
        raise HnError(f"inspect memory policy at commit {commit}")
    if found[2] > MAX_POLICY_BYTES:
        raise HnError(f"memory policy at commit {commit} exceeds {MAX_POLICY_BYTES} bytes")
    data = reader.read(found[0])
    if data is None:
        raise HnError(f"inspect memory policy at commit {commit}")
    return data[1]


# --- ancestry -----------------------------------------------------------------------------------


def _anchors(conn: sqlite3.Connection, first: int) -> tuple[dict[int, list[int]], dict[int, str]]:
    """(records of each anchor, id of each anchor) among the records from number ``first`` on.

    Anchors that are not commits of this repository have no part in ancestry; the sets of anchored
    records leave them out.
    """
    records: dict[int, list[int]] = {}
    oids: dict[int, str] = {}
    rows = conn.execute(
        "SELECT m.number, m.anchor, a.oid FROM memory m JOIN anchor a ON a.number = m.anchor"
        " WHERE m.number >= ? AND m.anchored = 'applicable'",
        (first,),
    )
    for number, anchor, oid in rows:
        records.setdefault(anchor, []).append(number)
        oids[anchor] = oid
    return records, oids


def _judge(repo: Repository, commit: str, oids: dict[int, str]) -> tuple[list[int], bool]:
    """(the anchors among ``oids`` that ``commit`` is or descends from, whether that is sure)."""
    if is_unborn(commit):
        return [], True
    answers = repo.ancestry((oid for oid in oids.values() if oid != commit), commit)
    found = [anchor for anchor, oid in oids.items() if oid == commit or answers[oid]]
    # Where history is missing nobody can say; asked again next time.
    return found, None not in answers.values()


def _extend(
    conn: sqlite3.Connection,
    repo: Repository,
    id: int,
    commit: str,
    first: int,
) -> bool:
    """Take the records from number ``first`` on into a context. Says whether its ancestry is sure."""
    records, oids = _anchors(conn, first)
    if not records:
        return True
    ancestors = bits.read(conn, ancestors_key(id))
    known = {anchor for anchor in oids if ancestors >> anchor & 1}
    # An anchor that an older record has as well was judged with that one.
    older = {
        anchor
        for anchor in oids
        if anchor not in known
        and conn.execute(
            "SELECT 1 FROM memory INDEXED BY memory_anchor WHERE kind IS NOT NULL"
            " AND anchor = ? AND number < ? AND anchored = 'applicable' LIMIT 1",
            (anchor, first),
        ).fetchone()
    }
    fresh = {anchor: oid for anchor, oid in oids.items() if anchor not in known and anchor not in older}
    found, sure = _judge(repo, commit, fresh)
    staged = bits.Staged()
    for anchor in found:
        staged.add(anchor, ancestors_key(id))
    for anchor in (*found, *known):
        for number in records[anchor]:
            staged.add(number, descendants_key(id))
    staged.flush(conn)
    return sure


def _from_nothing(conn: sqlite3.Connection, repo: Repository, id: int, commit: str) -> bool:
    """Make a context by asking about every anchor at once."""
    records, oids = _anchors(conn, 0)
    found, sure = _judge(repo, commit, oids)
    bits.write(conn, ancestors_key(id), bits.union(found))
    bits.write(conn, descendants_key(id), bits.union(n for anchor in found for n in records[anchor]))
    return sure


def _from_base(
    conn: sqlite3.Connection,
    repo: Repository,
    id: int,
    commit: str,
    base: tuple[int, str, int] | None,
) -> bool | None:
    """Make a context from another by the commits that differ, as ``_extend``; None: not possible."""
    if base is None or base[0] == id:
        return None
    base_id, base_commit, upto = base
    difference = _difference(repo, base_commit, commit)
    if difference is None:
        return None
    ancestors, anchored = bits.read(conn, ancestors_key(base_id)), bits.read(conn, descendants_key(base_id))
    for oid, added in difference:
        row = conn.execute("SELECT number FROM anchor WHERE oid = ?", (oid,)).fetchone()
        if row is None:
            continue
        anchor = row[0]
        records = bits.read(conn, bits.key_of(bits.ANCHOR, str(anchor)))
        if added:
            ancestors |= 1 << anchor
            anchored |= records
        else:
            ancestors &= ~(1 << anchor)
            anchored &= ~records
    bits.write(conn, ancestors_key(id), ancestors)
    bits.write(conn, descendants_key(id), anchored)
    return _extend(conn, repo, id, commit, upto)


def _difference(repo: Repository, base: str, commit: str) -> Sequence[tuple[str, bool]] | None:
    """(commit, whether it is new) of all that is reachable from only one of the two; None: too much."""
    status, out, _ = repo.run(
        "rev-list", "--left-right", f"--max-count={_MAX_DIFFERENCE + 1}", f"{base}...{commit}", "--"
    )
    lines = out.decode("ascii", "replace").split()
    if status != 0 or len(lines) > _MAX_DIFFERENCE:
        return None
    return [(line[1:], line[0] == ">") for line in lines]
