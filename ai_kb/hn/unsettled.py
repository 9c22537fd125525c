"""Readers and promotions: a promotion that was not completed is read as if it had not begun.

``hn sync`` moves accepted refs behind an anchor, a file in ``<git-dir>/hn/replication/anchors`` that
is written before and removed after. While one is there, its receipt says which refs it moves, and
a reader takes each of them where it was before: a stream accepted for the first time is not read at
all, an older one as far as it was accepted. Where that cannot be told, no stream of that remote
(or, when not even the anchor can be read, no accepted stream) is read. The next sync completes the
promotion or takes it back.

``Repository.refs`` asks this module when the directory is not empty: one ``listdir`` otherwise.

docs/protocol.md, "Replication" (Promotion).
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ANCHORS = "hn/replication/anchors"
TRANSACTIONS = "hn/replication/transactions"

# An anchor and a receipt name every object of a promotion: some 70 bytes each.
MAX_RECEIPT_BYTES = 256 << 20

_REMOTES = "refs/hn/remotes/"


def pending(common_dir: str) -> list[str]:
    """Names of the transactions that have an anchor, sorted; usually there is none.

    A directory that cannot be listed counts as one transaction without a name.
    """
    try:
        names = os.listdir(f"{common_dir}/{ANCHORS}")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return [""]
    return sorted(name[:-5] for name in names if name.endswith(".json") and not name.startswith("."))


def settle(common_dir: str, transactions: Iterable[str], refs: Mapping[str, str]) -> dict[str, str]:
    """``refs`` as they were before each of the uncompleted ``transactions``."""
    settled = dict(refs)
    for transaction in transactions:
        if not transaction:  # nobody can say what is being moved
            return {ref: head for ref, head in settled.items() if not ref.startswith(_REMOTES)}
        anchor = _load(f"{common_dir}/{ANCHORS}/{transaction}.json")
        if anchor is None and not os.path.lexists(f"{common_dir}/{ANCHORS}/{transaction}.json"):
            continue  # completed meanwhile
        path = f"{common_dir}/{TRANSACTIONS}/{transaction}.json"
        receipt = _load(path)
        if receipt is None and anchor is not None and not os.path.lexists(path):
            continue  # the receipt comes before the first ref is moved
        moves = None if receipt is None else moves_of(receipt)
        if moves is not None:
            for ref, old, new in moves:
                _take_back(settled, ref, old, new)
            continue
        remote = "" if anchor is None else str(anchor.get("remote") or "")
        prefix = f"{_REMOTES}{remote}/" if remote else _REMOTES
        settled = {ref: head for ref, head in settled.items() if not ref.startswith(prefix)}
    return settled


def moves_of(receipt: Mapping[str, object]) -> list[tuple[str, str, str]] | None:
    """(ref, where it was or ``""``, where it goes) of what a receipt moves; None for a damaged receipt.

    Nothing for a receipt of a completed promotion.
    """
    if receipt.get("state") == "complete":
        return []
    promotions = receipt.get("promotions")
    if promotions is None:
        promotions = []
    if receipt.get("state") != "validated" or not isinstance(promotions, list):
        return None
    moves: list[tuple[str, str, str]] = []
    for entry in promotions:
        if not isinstance(entry, dict):
            return None
        ref, old, new = entry.get("ref"), entry.get("oldOid") or "", entry.get("newOid")
        if not isinstance(ref, str) or not isinstance(old, str) or not isinstance(new, str) or not new:
            return None
        if not ref.startswith(_REMOTES):
            return None
        moves.append((ref, old, new))
    return moves


def _take_back(refs: dict[str, str], ref: str, old: str, new: str) -> None:
    now = refs.get(ref)
    if now is None or now == old:
        return
    if now == new and old:
        refs[ref] = old
    else:
        del refs[ref]


def _load(path: str) -> dict[str, object] | None:
    """The JSON object in a private file, None when there is none that can be believed."""
    import json

    from agent_base.errors import SuiteError
    from agent_base.files import read_private

    try:
        value = json.loads(read_private(path, MAX_RECEIPT_BYTES))
    except (OSError, SuiteError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def described(common_dir: str) -> str:
    """What to tell a person about uncompleted promotions; ``""`` when there is none."""
    transactions = pending(common_dir)
    if not transactions:
        return ""
    anchor = _load(f"{common_dir}/{ANCHORS}/{transactions[0]}.json") or {}
    remote = anchor.get("remote")
    named = f" {remote}" if isinstance(remote, str) and remote.isascii() and remote.isprintable() else ""
    return (
        f"replication acceptance pending; transaction={transactions[0]}; the streams it touches are read "
        f"as they were before; recovery=retry hn sync{named}"
    )
