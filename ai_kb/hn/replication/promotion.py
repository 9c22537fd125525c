"""Validated histories become accepted refs: all of them, or none, whatever interrupts.

1. the pending anchor is written: a promotion has begun;
2. the receipt is written, ``validated``: which refs move, from where to where, with which objects;
3. the objects are copied from the quarantine, and looked for in the receiver;
4. one ``update-ref --stdin`` transaction moves the refs;
5. the receipt is written, ``complete``;
6. the anchor is removed.

Killed before 4, nothing has moved; killed in or after it, the receipt tells what has to move, and
``recover``, which the next sync runs first, completes it when all objects are there and takes it
back when not. Readers meanwhile see what was there before (``unsettled``).

docs/protocol.md, "Replication" (Promotion).
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field

from agent_base import gitproc
from agent_base.env import git_environment
from agent_base.errors import SuiteError
from agent_base.files import FILE_MODE, fsync_dir, read_private, write_atomic
from ai_kb.hn import unsettled
from ai_kb.hn.errors import HnError
from ai_kb.hn.events import event_ref_actor
from ai_kb.hn.gitstore import Repository, git_reason, is_oid
from ai_kb.hn.replication.outcomes import PROMOTABLE, PROMOTED, Outcome
from ai_kb.hn.replication.process import reason
from ai_kb.hn.replication.state import ReplicationError, State
from ai_kb.hn.streamrefs import REMOTES_PREFIX, is_remote_name, parse_ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ai_kb.hn.gitstore import ObjectReader
    from ai_kb.hn.replication.quarantine import Quarantine

# Receipts kept for whoever wants to know what a sync did.
KEPT_RECEIPTS = 20

_RECEIPT_VERSION = 2
_ANCHOR_VERSION = 1
# So few objects are stored one by one, as git does when it fetches (fetch.unpackLimit).
_LOOSE = 100
# A ref that is locked for longer than this, with the promotion's process gone, stays so for ever.
_STALE_LOCK = 1.0
_DURABLE = ("-c", "core.fsync=committed", "-c", "gc.auto=0")


@dataclass(frozen=True, slots=True)
class Move:
    """One accepted ref: where it goes, and where it was (``""``: it did not exist)."""

    ref: str
    new: str
    old: str = ""


@dataclass(slots=True)
class Transaction:
    """One sync as its receipt records it.

    Attributes:
        pending: objects that the receiver lacked. accepted: objects beyond the heads accepted before.
    """

    id: str
    remote: str
    outcomes: list[Outcome] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)

    def receipt(self, state: str) -> bytes:
        """The receipt in ``state`` (``validated`` or ``complete``)."""
        value: dict[str, object] = {
            "version": _RECEIPT_VERSION,
            "id": self.id,
            "remote": self.remote,
            "state": state,
            "outcomes": [outcome.receipt() for outcome in self.outcomes] or None,
        }
        if self.moves:
            value["promotions"] = [
                {"ref": move.ref, "newOid": move.new, **({"oldOid": move.old} if move.old else {})}
                for move in self.moves
            ]
        value["pendingObjects"] = sorted(self.pending)
        value["acceptedObjects"] = sorted(self.accepted)
        return json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    def anchor(self) -> bytes:
        """The pending anchor."""
        value = {
            "version": _ANCHOR_VERSION,
            "id": self.id,
            "remote": self.remote,
            "pendingObjects": sorted(self.pending),
        }
        return json.dumps(value, indent=2).encode("ascii") + b"\n"


class Interrupted(ReplicationError):
    """A promotion that could be neither completed nor taken back; its anchor stays."""

    code = "promotion-pending"


class Journal:
    """Anchors and receipts of one repository. Call it with the lock held."""

    def __init__(self, state: State) -> None:
        self.state = state

    def begin(self, transaction: Transaction) -> None:
        """Steps 1 and 2."""
        write_atomic(self._anchor(transaction.id), transaction.anchor(), mode=FILE_MODE)
        write_atomic(self._receipt(transaction.id), transaction.receipt("validated"), mode=FILE_MODE)

    def complete(self, transaction: Transaction) -> None:
        """Steps 5 and 6; only the receipt where nothing had begun.

        Neither is flushed to the disk: what a power cut takes of them, ``recover`` does again.
        """
        data = transaction.receipt("complete")
        write_atomic(self._receipt(transaction.id), data, mode=FILE_MODE, durable=False)
        self.discard(transaction.id)

    def discard(self, transaction: str) -> None:
        """Remove the anchor of a promotion that is complete, or of which nothing is left."""
        with suppress(FileNotFoundError):
            os.unlink(self._anchor(transaction))

    def abandon(self, transaction: str) -> None:
        """Forget a promotion that moved nothing: its receipt goes first, so that it never counts."""
        with suppress(FileNotFoundError):
            os.unlink(self._receipt(transaction))
            fsync_dir(self.state.transactions)
        self.discard(transaction)

    def load(self, transaction: str) -> dict[str, object] | None:
        """The receipt, None when there is none that can be read."""
        try:
            value = json.loads(read_private(self._receipt(transaction), unsettled.MAX_RECEIPT_BYTES))
        except (OSError, SuiteError, ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    def finish_receipt(self, transaction: str, receipt: dict[str, object]) -> None:
        """Complete a receipt that another process wrote."""
        outcomes = receipt.get("outcomes")
        for outcome in outcomes if isinstance(outcomes, list) else ():
            if isinstance(outcome, dict) and outcome.get("status") == PROMOTABLE:
                outcome["status"] = PROMOTED
        receipt["state"] = "complete"
        data = json.dumps(receipt, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        write_atomic(self._receipt(transaction), data, mode=FILE_MODE)
        self.discard(transaction)

    def prune(self) -> None:
        """Remove all but the latest receipts, and what interrupted writes left."""
        pending = set(unsettled.pending(os.path.dirname(self.state.home)))
        names = sorted(os.listdir(self.state.transactions))
        receipts = [name for name in names if name.endswith(".json") and not name.startswith(".")]
        old = [name for name in receipts[:-KEPT_RECEIPTS] if name[:-5] not in pending]
        torn = [name for name in names if name.startswith(".")]
        for name in (*old, *torn):
            with suppress(OSError):
                os.unlink(os.path.join(self.state.transactions, name))
        for name in os.listdir(self.state.anchors):
            if name.startswith("."):
                with suppress(OSError):
                    os.unlink(os.path.join(self.state.anchors, name))

    def _anchor(self, transaction: str) -> str:
        return os.path.join(self.state.anchors, f"{transaction}.json")

    def _receipt(self, transaction: str) -> str:
        return os.path.join(self.state.transactions, f"{transaction}.json")


def promote(
    journal: Journal,
    repo: Repository,
    reader: ObjectReader,
    quarantine: Quarantine,
    transaction: Transaction,
    copied: Callable[[], None] | None = None,
) -> None:
    """Steps 1 to 4. Raises ReplicationError when nothing moved, Interrupted when that cannot be told.

    Args:
        copied: called between 3 and 4.
    """
    try:
        journal.begin(transaction)
        copy_objects(repo, quarantine, transaction.pending)
        if None in reader.types(transaction.pending):
            raise ReplicationError("copied objects are not in the object database")
        if copied is not None:
            copied()
        move_refs(repo, transaction.moves)
    except (SuiteError, OSError) as error:
        if _where(repo, transaction.moves) == {move.ref: move.old for move in transaction.moves}:
            with suppress(OSError):
                journal.abandon(transaction.id)
        elif not isinstance(error, Interrupted):
            raise Interrupted(
                f"promotion for remote {transaction.remote} was interrupted: {error}",
                f"retry hn sync {transaction.remote}, which completes it or takes it back",
            ) from error
        raise


def copy_objects(repo: Repository, quarantine: Quarantine, objects: Sequence[str]) -> None:
    """Store exactly ``objects`` of the quarantine in the receiver. Nothing refers to them yet."""
    if not objects:
        return
    listing = os.path.join(quarantine.path, "promoted")
    with open(listing, "w", encoding="ascii") as file:
        file.writelines(f"{oid}\n" for oid in objects)
    git, env = gitproc.find_git(repo.env), git_environment(repo.env)
    pack = ("pack-objects", "--stdout", "-q", "--delta-base-offset", "--threads=1")
    take = ("unpack-objects", "-q") if len(objects) < _LOOSE else ("index-pack", "--stdin")
    with (
        open(listing, "rb") as names,
        subprocess.Popen(
            [git, "--git-dir", quarantine.path, *pack],
            stdin=names,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
        ) as packer,
    ):
        assert packer.stdout is not None
        with subprocess.Popen(
            [git, *repo.where, *_DURABLE, *take],
            stdin=packer.stdout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        ) as taker:
            packer.stdout.close()  # so that the packer notices when the taker ends first
            _, err = taker.communicate()
    if taker.returncode != 0 or packer.returncode != 0:
        raise ReplicationError(f"copying objects failed: {reason(err, taker.returncode)}")


def move_refs(repo: Repository, moves: Iterable[Move]) -> None:
    """Move every ref from its old to its new value in one transaction, or none. Raises ReplicationError."""
    lines = [_instruction(repo, move) for move in moves if move.new != move.old]
    if not lines:
        return
    text = "".join(lines).encode("ascii")
    status, _, err = repo.run(*_DURABLE, "update-ref", "--no-deref", "-z", "--stdin", stdin=text)
    if status != 0:
        raise ReplicationError(f"accepted refs could not be moved: {git_reason(err, status)}")


def _instruction(repo: Repository, move: Move) -> str:
    if not move.new:
        return f"delete {move.ref}\0{move.old}\0"
    old = move.old or "0" * repo.hash_length
    return f"update {move.ref}\0{move.new}\0{old}\0"


def _remove_stale_locks(repo: Repository, moves: Iterable[Move]) -> None:
    """Remove the lock files that a killed ``update-ref`` left on the refs of ``moves``.

    Whoever else locks a ref (``git pack-refs``) does so for an instant: what stays is nobody's.
    """
    paths = [os.path.join(repo.common_dir, f"{move.ref}.lock") for move in moves]
    end = time.monotonic() + _STALE_LOCK
    while paths := [path for path in paths if os.path.lexists(path)]:
        if time.monotonic() > end:
            for path in paths:
                with suppress(FileNotFoundError):
                    os.unlink(path)
            return
        time.sleep(0.05)


def _where(repo: Repository, moves: Iterable[Move]) -> dict[str, str]:
    """Where the refs of ``moves`` are now, as git has them."""
    refs = [move.ref for move in moves]
    found = raw_refs(repo, *refs) if refs else {}
    return {ref: found.get(ref, "") for ref in refs}


def raw_refs(repo: Repository, *prefixes: str) -> dict[str, str]:
    """``repo.refs`` without regard to promotions that are not completed."""
    return gitproc.for_each_ref(repo.where, prefixes, env=repo.reading_env, hook=repo.hook)


def recover(journal: Journal, repo: Repository, reader: ObjectReader) -> list[str]:
    """Complete or take back every promotion that was interrupted; what was done, one line each.

    A ref that is neither where the promotion found it nor where it goes was moved by somebody else
    since, and stays. Without a receipt that can be read nothing can be told and nothing is moved:
    every accepted ref names a history that readers verify.
    """
    notes: list[str] = []
    for transaction in unsettled.pending(repo.common_dir):
        receipt = journal.load(transaction)
        found = None if receipt is None else unsettled.moves_of(receipt)
        moves = [Move(ref, new, old) for ref, old, new in found or ()]
        if receipt is None or found is None or not all(_well_formed(repo, move) for move in moves):
            journal.abandon(transaction)
            notes.append(f"an interrupted promotion was set aside: {transaction}")
        elif receipt.get("state") == "complete":
            journal.discard(transaction)
        else:
            _remove_stale_locks(repo, moves)
            now = _where(repo, moves)
            if _all_there(repo, reader, receipt, moves):
                move_refs(repo, [move for move in moves if now[move.ref] == move.old])
                journal.finish_receipt(transaction, receipt)
                notes.append(f"an interrupted promotion was completed: {transaction}")
            else:
                move_refs(repo, [Move(m.ref, m.old, m.new) for m in moves if now[m.ref] == m.new])
                journal.abandon(transaction)
                notes.append(f"an interrupted promotion was taken back: {transaction}")
    return notes


def _well_formed(repo: Repository, move: Move) -> bool:
    """Whether ``move`` is one that ``promote`` makes."""
    heads = [head for head in (move.new, move.old) if head]
    return _is_accepted_ref(move.ref) and all(is_oid(head, repo.hash_length) for head in heads)


def _is_accepted_ref(ref: str) -> bool:
    """Whether ``ref`` is where an accepted stream or chain is kept; nothing else is ever moved."""
    if not ref.startswith(f"{REMOTES_PREFIX}/"):
        return False
    try:
        return parse_ref(ref) is not None or (
            event_ref_actor(ref) is not None and is_remote_name(ref.split("/")[3])
        )
    except HnError:
        return False


def _all_there(
    repo: Repository, reader: ObjectReader, receipt: dict[str, object], moves: Sequence[Move]
) -> bool:
    """Whether every object of a promotion is in the receiver."""
    pending = receipt.get("pendingObjects")
    names = [oid for oid in pending if isinstance(oid, str)] if isinstance(pending, list) else []
    names += [move.new for move in moves]
    if None in reader.types(names):
        return False
    boundary = [f"^{move.old}" for move in moves if move.old]
    wanted = "\n".join([*(move.new for move in moves), *boundary, ""])
    status, _, _ = repo.run("rev-list", "--objects", "--quiet", "--stdin", stdin=wanted.encode("ascii"))
    return status == 0
