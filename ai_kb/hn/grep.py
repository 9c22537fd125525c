"""The explicit regex fallback: records in which a pattern is found, each field searched by itself.

The eligible records are those of recall; the pattern was bounded before (``pattern``), and
the work over all eligible records is bounded here, before the first of them is searched.

memory-v0, "Explicit regex fallback"; docs/protocol.md, "Private index, recall, cursors" (domains of grep).
"""

from __future__ import annotations

from agent_base.inert import terminal
from ai_kb.hn import cache_bits as bits
from ai_kb.hn import cursor as cursors
from ai_kb.hn import page as pages
from ai_kb.hn import recall as recalls
from ai_kb.hn.errors import HnError
from ai_kb.hn.rowjson import searchable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ai_kb.hn.cache_index import Index
    from ai_kb.hn.pattern import Pattern
    from ai_kb.hn.recall import Result
    from ai_kb.hn.request import Request
    from ai_kb.hn.rowjson import RowFacts

MAX_WORK = 67_108_864


def grep(index: Index, request: Request, pattern: Pattern) -> Result:
    """The page of records in which ``pattern`` is found. ``request`` has no query.

    Raises HnError: too much work, a record over the byte bound; InvalidCursor. In each case nothing
    was searched or nothing is returned.
    """

    def matching() -> int:
        eligible = recalls.eligible(index, request)
        _check_work(index, eligible, pattern)
        return bits.union(record.number for record in index.each(eligible) if _found(record.data, pattern))

    digest = cursors.query_digest(
        request.mapping(index.at_commit),
        index.fingerprint,
        index.policy_digest,
        kind=cursors.GREP,
        extra={"pattern": pattern.text.decode(), "ignoreCase": pattern.ignore_case},
    )
    return recalls.draw(
        index, request, matching, digest, kind=cursors.GREP, column=pages.DATA_BYTES, what="data"
    )


def _check_work(index: Index, eligible: int, pattern: Pattern) -> None:
    """Raise HnError when instructions times text exceed what one search may cost."""
    units = index.total("units", eligible)
    if pattern.instructions * units > MAX_WORK:
        raise HnError(
            f"regex work of {pattern.instructions} instructions over {units} units of text exceeds"
            f" {MAX_WORK}; nothing was searched",
            "narrow the filters or simplify the pattern",
        )


def _found(record: dict[str, object], pattern: Pattern) -> bool:
    return any(pattern.matches(text.encode()) for _, text in searchable(record))


def field_lines(row: RowFacts, pattern: Pattern) -> list[str]:
    """What grep shows of a record on a terminal: a label and the escaped value of every matching field."""
    return [
        f"  {label}: {terminal(text)}"
        for label, text in searchable(row.record)
        if pattern.matches(text.encode())
    ]
