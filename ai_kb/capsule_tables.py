"""Tables of the private index beside those of search: what capsules are compared by, and their sources.

- ``search_alike``: of every record how many words its title and body have, and a digest of the title's
  words; with ``search_spelled`` it lets ``alike`` find what says almost the same without reading the
  rest. The index has the protocol's tokens of every record already; ``search_spelled`` holds only those
  words (as ``spelling`` writes them) that are not among them: of compatibility characters, of scripts
  without spaces.
- ``search_paths``: anchored paths and the blobs they had, to count the records whose source changed.

They change with the tables of ``search`` (``CapsuleTables``). Standard library only: hooks keep them.
"""

from __future__ import annotations

from agent_base.digests import sha256_hex
from ai_kb.spelling import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from ai_kb.capsule import Capsule
    from ai_kb.hn.cache import IndexedRecord

SCHEMA = (
    "CREATE TABLE search_alike (number INTEGER PRIMARY KEY, words INTEGER NOT NULL, title INTEGER NOT NULL)",
    "CREATE INDEX search_alike_title ON search_alike (title)",
    "CREATE TABLE search_spelled (word TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (word, number))"
    " WITHOUT ROWID",
    "CREATE TABLE search_paths (path TEXT NOT NULL, blob TEXT NOT NULL, number INTEGER NOT NULL,"
    " PRIMARY KEY (path, blob, number)) WITHOUT ROWID",
)
_MAX_WORD = 96  # a longer one is named by its digest


def title_key(heading: Sequence[str]) -> int:
    """What the words of a title are found by."""
    return int(sha256_hex(" ".join(heading).encode("utf-8", "surrogatepass"))[:15], 16)


def word_key(word: str) -> str:
    """What a word is found by in ``search_spelled``."""
    return word if len(word) <= _MAX_WORD else f":{sha256_hex(word.encode('utf-8', 'surrogatepass'))}"


def add(conn: sqlite3.Connection, capsules: Sequence[tuple[IndexedRecord, Capsule]]) -> None:
    """Take in new records."""
    alike: list[tuple[int, int, int]] = []
    spelled: list[tuple[str, int]] = []
    for record, capsule in capsules:
        heading = words(capsule.title)
        body = words(capsule.body)
        alike.append((record.number, len(heading) + len(body), title_key(heading)))
        spelled.extend(_spelled(record, capsule, {*heading, *body}))
    conn.executemany("INSERT INTO search_alike VALUES (?, ?, ?)", alike)
    conn.executemany("INSERT INTO search_spelled VALUES (?, ?)", sorted(spelled))
    conn.executemany("INSERT INTO search_paths VALUES (?, ?, ?)", sorted(_paths(capsules)))


def remove(conn: sqlite3.Connection, capsules: Sequence[tuple[IndexedRecord, Capsule]]) -> None:
    """Forget vanished records."""
    conn.executemany("DELETE FROM search_alike WHERE number = ?", [(r.number,) for r, _ in capsules])
    spelled = [
        row
        for record, capsule in capsules
        for row in _spelled(record, capsule, {*words(capsule.title), *words(capsule.body)})
    ]
    conn.executemany("DELETE FROM search_spelled WHERE word = ? AND number = ?", spelled)
    conn.executemany("DELETE FROM search_paths WHERE path = ? AND blob = ? AND number = ?", _paths(capsules))


def _spelled(record: IndexedRecord, capsule: Capsule, mine: set[str]) -> list[tuple[str, int]]:
    """Those of a record's words that the protocol's tokens of it lack. ASCII is spelled the same in both."""
    if capsule.title.isascii() and capsule.body.isascii():
        return []
    from ai_kb.hn.tokens import index_tokens, indexed_text

    topics = record.data["topics"]
    assert isinstance(topics, list)
    lacking = mine.difference(index_tokens(indexed_text(str(record.data["content"]), topics)))
    return [(word_key(word), record.number) for word in lacking]


def _paths(capsules: Iterable[tuple[IndexedRecord, Capsule]]) -> Iterator[tuple[str, str, int]]:
    for record, _ in capsules:
        anchor = record.data.get("anchor")
        if isinstance(anchor, dict):
            for entry in anchor.get("paths") or ():
                yield entry["path"], entry["blob"], record.number
