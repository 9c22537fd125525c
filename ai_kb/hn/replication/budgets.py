"""How large a fetched history is, and whether that is within its budgets.

Measured before anything of it is read: events (commits of the whole history), objects, the largest
object, the largest attachment, bytes altogether; the last four beyond what is reachable from the
accepted head. Bounds are inclusive and checked in this order; the first that is exceeded decides.

docs/protocol.md, "Replication" (Sync).
"""

from __future__ import annotations

from agent_base.gitproc import GitError
from ai_kb.hn.gitstore import ObjectReader, Repository, git_reason, parse_commit
from ai_kb.hn.replication.outcomes import OVER_BUDGET, STRUCTURALLY_INVALID, Outcome
from ai_kb.hn.replication.selection import BUDGETS, Budgets
from ai_kb.hn.replication.state import ReplicationError

# An entry of a listing: an id, a space, a path. A longer path than this is not one of the protocol.
_LINE_BYTES = 512
_LEAST_LIMIT = 8 << 20
# What a pack may hold beside the objects' bytes: headers, checksums, what does not compress.
_PACK_OVERHEAD = 1 << 20
_ENTRY_OVERHEAD = 64
_LEAST_ALLOCATION = 256 << 20

Listed = list[tuple[str, str, int]]


def transfer_cap(budgets: Budgets) -> int:
    """Bytes that a pack within ``budgets`` can have at most."""
    total = budgets.total_bytes
    return total + total // 64 + budgets.objects * _ENTRY_OVERHEAD + _PACK_OVERHEAD


def allocation_limit(budgets: Budgets) -> int:
    """Bytes that git may ask for at a time while it takes in objects within ``budgets``."""
    return max(2 * budgets.object_bytes, _LEAST_ALLOCATION)


def over_transfer(outcome: Outcome, budgets: Budgets, size: int) -> None:
    """Decide against a history of which more than the cap had come when it was stopped."""
    outcome.measurements.total_bytes = size
    _exceeded(outcome, "max-total-bytes", budgets.total_bytes, size)


def measure(
    repo: Repository,
    reader: ObjectReader,
    outcome: Outcome,
    head: str,
    accepted: str,
    accepted_events: int | None,
    budgets: Budgets,
) -> Listed | None:
    """Measure the history of the commit ``head`` in the quarantine ``repo``; None: over budget, and the
    outcome says so.

    Args:
        accepted: the accepted head, ``""`` when there is none.
        accepted_events: how many events end in ``accepted``, where that is known.

    Returns:
        (id, type, size) of every object beyond the accepted head.
    """
    found = outcome.measurements
    listing = _Listing(repo, head, accepted, budgets)
    # (1) events
    counted = not accepted or (accepted_events is not None and _extends(reader, listing.commits, accepted))
    if counted and not listing.cut_short:
        found.events = len(listing.commits) + (accepted_events or 0)
    else:
        found.events = _count(repo, head)
    if _over(outcome, "events", found.events, budgets):
        return None
    # (2) objects
    found.objects = len(listing.commits) + len(listing.others)
    if listing.cut_short:
        found.objects = _count(repo, head, accepted, objects=True)
    if _over(outcome, "objects", found.objects, budgets):
        return None
    if listing.cut_short:
        outcome.fail(
            STRUCTURALLY_INVALID,
            f"selection {outcome.name} is structurally invalid: its trees hold far more than they may",
        )
        return None
    # (3) each object
    names = [*listing.commits, *(oid for oid, _ in listing.others)]
    paths = [b""] * len(listing.commits) + [path for _, path in listing.others]
    objects: Listed = []
    for oid, header in zip(names, reader.info(names), strict=True):
        kind, size = ("missing", 0) if header is None else (header[1], header[2])
        found.largest_object = max(found.largest_object, size)
        if _over(outcome, "object_bytes", size, budgets):
            return None
        objects.append((oid, kind, size))
    # (4) each attachment
    for (_, _, size), path in zip(objects, paths, strict=True):
        if path == b"log.txt":
            found.largest_attachment = max(found.largest_attachment, size)
            if _over(outcome, "attachment_bytes", size, budgets):
                return None
    # (5) all of it
    for _, _, size in objects:
        found.total_bytes += size
        if _over(outcome, "total_bytes", found.total_bytes, budgets):
            return None
    return objects


def check_unchanged(outcome: Outcome, events: int, budgets: Budgets) -> bool:
    """Whether a history of which nothing is new is within its budget of events."""
    outcome.measurements.events = events
    return not _over(outcome, "events", events, budgets)


def _over(outcome: Outcome, budget: str, measured: int, budgets: Budgets) -> bool:
    bound = getattr(budgets, budget)
    if measured <= bound:
        return False
    flag = next(flag for attribute, _, flag in BUDGETS if attribute == budget)
    _exceeded(outcome, flag, bound, measured)
    return True


def _exceeded(outcome: Outcome, flag: str, bound: int, measured: int) -> None:
    outcome.fail(
        OVER_BUDGET,
        f"selection {outcome.name} exceeded {flag} budget: configured={bound} measured={measured}",
        flag,
    )


class _Listing:
    """``git rev-list --objects``: commits first, then (id, path) of trees and blobs.

    ``cut_short``: it is too long for any history within the budgets, and was not read.
    """

    def __init__(self, repo: Repository, head: str, accepted: str, budgets: Budgets) -> None:
        self.commits: list[str] = []
        self.others: list[tuple[str, bytes]] = []
        self.cut_short = False
        limit = max(_LEAST_LIMIT, (min(budgets.objects, budgets.events * 8) + 1) * _LINE_BYTES)
        boundary = [f"^{accepted}"] if accepted else []
        try:
            status, out, err = repo.run("rev-list", "--objects", head, *boundary, "--", limit=limit)
        except GitError:
            self.cut_short = True
            return
        if status != 0:
            raise ReplicationError(f"git rev-list failed: {git_reason(err, status)}")
        for line in out.split(b"\n"):
            oid, space, path = line.partition(b" ")
            if space:
                self.others.append((oid.decode("ascii"), path))
            elif oid:
                self.commits.append(oid.decode("ascii"))


def _count(repo: Repository, head: str, accepted: str = "", *, objects: bool = False) -> int:
    boundary = [f"^{accepted}"] if accepted else []
    options = ["--objects"] if objects else []
    return int(repo.git("rev-list", "--count", *options, head, *boundary, "--") or b"0")


def _extends(reader: ObjectReader, commits: list[str], accepted: str) -> bool:
    """Whether the history listed beyond ``accepted`` begins right above it."""
    if not commits:
        return False
    found = reader.content(commits[-1])
    try:
        return found is not None and accepted in parse_commit(found[2])[1]
    except ValueError:
        return False
