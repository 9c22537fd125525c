"""Full-text search over the capsules of one or two stores: BM25 over title, body and topics.

``EXTENSION`` keeps the tables of search in the private index (``ai_kb.hn.cache``), so that one file
serves ``recall``, ``search`` and the hooks (``capsule_tables`` has those that
commands ask beside). FTS5 holds the postings; how many records hold a token is counted beside them, since
asking FTS5 costs as much as reading them.

Work is bounded: of a query the rarest tokens are looked up, at most ``MAX_TOKENS`` of them with
together at most ``MAX_POSTINGS`` postings, and the ``MAX_CANDIDATES`` records that these point to
most are scored with all tokens. So a pasted stack trace costs about the same over 1,000 and over
100,000 records. What may be shown is decided by the caller: a bit set of record numbers
(``Index.gate``) goes in, and nothing outside it comes out or takes a place.

This module ranks; it does not judge who may be believed. Standard library only; hooks import it.
"""

from __future__ import annotations

from math import log

from ai_kb.capsule import Capsule
from ai_kb.relevance_words import is_function_word
from ai_kb.search_tokens import scan, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from ai_kb.hn.cache import IndexedRecord

MAX_TOKENS = 32  # of a query that are looked up
MAX_POSTINGS = 800  # read for one query
MAX_CANDIDATES = 64  # scored for one query
MAX_LOOKED_UP = 240  # tokens of a query whose frequency is asked
MAX_BODY_TOKENS = 1_500  # of a record that are indexed
MAX_QUERY = 20_000  # characters of a query that are read

# A field counts as if it stood that often in the document.
TITLE_WEIGHT, BODY_WEIGHT, TOPICS_WEIGHT = 2, 1, 2
_K1, _B = 1.2, 0.75

_SCHEMA = (
    "CREATE TABLE search_docs (number INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL,"
    " topics TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE search_fts USING fts5(title, body, topics, content='search_docs',"
    " content_rowid='number', detail=none, columnsize=0, tokenize=\"ascii tokenchars '_'\")",
    "CREATE TABLE search_terms (term TEXT PRIMARY KEY, records INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE search_totals (records INTEGER NOT NULL, length INTEGER NOT NULL)",
    "INSERT INTO search_totals VALUES (0, 0)",
)
_UPSERT = (
    "INSERT INTO search_terms VALUES (?, ?)"
    " ON CONFLICT (term) DO UPDATE SET records = records + excluded.records"
)


class Document:
    """The tokens of a record, by field."""

    __slots__ = ("body", "number", "title", "topics")

    def __init__(self, number: int, title: str, body: str, topics: str) -> None:
        self.number = number
        self.title = title.split()
        self.body = body.split()
        self.topics = topics.split()

    @property
    def length(self) -> int:
        """Tokens, each counted as often as its field."""
        return (
            TITLE_WEIGHT * len(self.title) + BODY_WEIGHT * len(self.body) + TOPICS_WEIGHT * len(self.topics)
        )

    def counts(self, wanted: Mapping[str, float]) -> dict[str, int]:
        """How often each token of ``wanted`` stands in it, fields counted."""
        found: dict[str, int] = {}
        for tokens, weight in (
            (self.title, TITLE_WEIGHT),
            (self.body, BODY_WEIGHT),
            (self.topics, TOPICS_WEIGHT),
        ):
            for token in tokens:
                if token in wanted:
                    found[token] = found.get(token, 0) + weight
        return found


# ---------------------------------------------------------------- the tables


class CapsuleTables:
    """The extension of the private index that keeps the tables of search."""

    name = "search"
    version = 2
    where = "ai_kb.search:EXTENSION"

    def create(self, conn: sqlite3.Connection) -> None:
        """Make the tables; they do not exist."""
        from ai_kb import capsule_tables

        for statement in (*_SCHEMA, *capsule_tables.SCHEMA):
            conn.execute(statement)

    def apply(
        self, conn: sqlite3.Connection, added: Sequence[IndexedRecord], removed: Sequence[IndexedRecord]
    ) -> None:
        """Take in new records and forget vanished ones."""
        from ai_kb import capsule_tables

        capsules = [(record, _capsule(record)) for record in added]
        capsule_tables.remove(conn, [(record, _capsule(record)) for record in removed])
        capsule_tables.add(conn, capsules)
        gone = _documents(conn, [record.number for record in removed])
        new = [_document(record.number, capsule) for record, capsule in capsules]
        _count(conn, gone, -1)
        _count(conn, new, 1)
        rows = [(d.number, " ".join(d.title), " ".join(d.body), " ".join(d.topics)) for d in gone]
        conn.executemany(
            "INSERT INTO search_fts (search_fts, rowid, title, body, topics) VALUES ('delete', ?, ?, ?, ?)",
            rows,
        )
        conn.executemany("DELETE FROM search_docs WHERE number = ?", [row[:1] for row in rows])
        rows = [(d.number, " ".join(d.title), " ".join(d.body), " ".join(d.topics)) for d in new]
        conn.executemany("INSERT INTO search_docs VALUES (?, ?, ?, ?)", rows)
        conn.executemany("INSERT INTO search_fts (rowid, title, body, topics) VALUES (?, ?, ?, ?)", rows)


EXTENSION = CapsuleTables()


def _capsule(record: IndexedRecord) -> Capsule:
    data = record.data
    content, topics = data["content"], data["topics"]
    assert isinstance(content, str)
    assert isinstance(topics, list)
    return Capsule(str(data["kind"]), content, topics)


def _document(number: int, capsule: Capsule) -> Document:
    document = Document(number, "", "", "")
    document.title = terms(capsule.title)
    text = "\n".join([capsule.body, *capsule.trailer("Source")])
    document.body = terms(text)[:MAX_BODY_TOKENS]
    document.topics = terms(" ".join((*capsule.domains, *capsule.tags)))
    return document


def _count(conn: sqlite3.Connection, documents: Sequence[Document], sign: int) -> None:
    """Add documents to (or take them from) the frequencies and totals."""
    frequency: dict[str, int] = {}
    for document in documents:
        for token in {*document.title, *document.body, *document.topics}:
            frequency[token] = frequency.get(token, 0) + sign
    conn.executemany(_UPSERT, sorted(frequency.items()))
    if sign < 0:
        conn.executemany(
            "DELETE FROM search_terms WHERE term = ? AND records <= 0", [(token,) for token in frequency]
        )
    conn.execute(
        "UPDATE search_totals SET records = records + ?, length = length + ?",
        (sign * len(documents), sign * sum(document.length for document in documents)),
    )


def _documents(conn: sqlite3.Connection, numbers: Sequence[int]) -> list[Document]:
    """The stored documents of ``numbers``, in no order; unknown numbers are left out."""
    found: list[Document] = []
    for start in range(0, len(numbers), 500):
        part = numbers[start : start + 500]
        marks = ",".join("?" * len(part))
        rows = conn.execute(
            f"SELECT number, title, body, topics FROM search_docs WHERE number IN ({marks})", part
        )
        found.extend(Document(*row) for row in rows)
    return found


# ---------------------------------------------------------------- asking


class Source:
    """One store to be searched: its name, its open index file, and the numbers that may come out."""

    __slots__ = ("_bits", "conn", "name")

    def __init__(self, name: str, conn: sqlite3.Connection, allowed: int) -> None:
        self.name = name
        self.conn = conn
        # Bytes, since a shift of a long integer copies it.
        self._bits = allowed.to_bytes((allowed.bit_length() + 7) // 8, "little")

    def frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        """How many records hold each of ``tokens``; absent ones are left out."""
        found: dict[str, int] = {}
        for start in range(0, len(tokens), 500):
            part = tokens[start : start + 500]
            marks = ",".join("?" * len(part))
            found.update(
                self.conn.execute(f"SELECT term, records FROM search_terms WHERE term IN ({marks})", part)
            )
        return found

    def totals(self) -> tuple[int, int]:
        """Records, and the sum of their lengths."""
        records, length = self.conn.execute("SELECT records, length FROM search_totals").fetchone()
        return records, length

    def numbers(self, token: str, newest: int = 0) -> list[int]:
        """Allowed records that hold ``token``; with ``newest`` among that many with the highest numbers."""
        tail = f" ORDER BY rowid DESC LIMIT {newest}" if newest else ""
        rows = self.conn.execute(
            "SELECT rowid FROM search_fts WHERE search_fts MATCH ?" + tail, (f'"{token}"',)
        )
        bits = self._bits
        end = 8 * len(bits)
        return [n for (n,) in rows if n < end and bits[n >> 3] >> (n & 7) & 1]

    def documents(self, numbers: Sequence[int]) -> list[Document]:
        """The documents of ``numbers``, in no order."""
        return _documents(self.conn, numbers)


class Collection:
    """Several sources counted as one collection of documents."""

    __slots__ = ("average", "records", "sources")

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        totals = [source.totals() for source in sources]
        self.records = sum(records for records, _ in totals)
        self.average = sum(length for _, length in totals) / self.records if self.records else 1.0

    def frequencies(self, tokens: Iterable[str]) -> dict[str, int]:
        """How many records of all sources hold each of ``tokens``; absent ones are left out."""
        found: dict[str, int] = {}
        wanted = list(tokens)
        for source in self.sources:
            for token, records in source.frequencies(wanted).items():
                found[token] = found.get(token, 0) + records
        return found

    def candidates(
        self, value: Mapping[str, float], frequency: Mapping[str, int], limit: int = MAX_CANDIDATES
    ) -> list[tuple[Source, Document]]:
        """The allowed records that the rarest tokens of ``value`` point to most, at most ``limit``.

        Args:
            value: token → what a record that holds it gains.
            frequency: token → records that hold it; tokens that are not in it are not looked up.
        """
        chosen, newest = _decisive(value, frequency)
        found: list[tuple[float, int, int]] = []
        for place, source in enumerate(self.sources):
            gained: dict[int, float] = {}
            for token in chosen:
                gain = value[token]
                for number in source.numbers(token, newest):
                    gained[number] = gained.get(number, 0.0) + gain
            found.extend((-gain, place, -number) for number, gain in gained.items())
        found.sort()
        del found[limit:]
        out: list[tuple[Source, Document]] = []
        for place, source in enumerate(self.sources):
            numbers = [-number for _, at, number in found if at == place]
            out.extend((source, document) for document in source.documents(numbers))
        return out

    def bm25(self, value: Mapping[str, float], document: Document) -> float:
        """BM25 of a document: ``value`` gives each token's weight times its inverse frequency."""
        norm = _K1 * (1 - _B + _B * document.length / self.average)
        return sum(
            value[token] * count * (_K1 + 1) / (count + norm)
            for token, count in document.counts(value).items()
        )


def _decisive(value: Mapping[str, float], frequency: Mapping[str, int]) -> tuple[list[str], int]:
    """The tokens to look up, rarest first, and how many postings of each may be read (0: all).

    When even the rarest token has more postings than may be read, the newest of them stand for all.
    """
    ranked = sorted(
        (token for token in value if token in frequency), key=lambda t: (frequency[t], -value[t], t)
    )
    chosen: list[str] = []
    left = MAX_POSTINGS
    for token in ranked[:MAX_TOKENS]:
        left -= frequency[token]
        if left < 0:
            break
        chosen.append(token)
    return (chosen, 0) if chosen else (ranked[:1], MAX_POSTINGS)


# ---------------------------------------------------------------- the command


class Found:
    """A record that a search found: the source's name, its number there, and its score."""

    __slots__ = ("number", "score", "source")

    def __init__(self, source: str, number: int, score: float) -> None:
        self.source = source
        self.number = number
        self.score = score


def query_tokens(text: str) -> list[str]:
    """Distinct tokens of a query in order, without function words unless there is nothing else."""
    found = list(dict.fromkeys(token for token, _ in scan(text[:MAX_QUERY])))
    telling = [token for token in found if not is_function_word(token)]
    return (telling or found)[:MAX_LOOKED_UP]


def search(sources: Sequence[Source], text: str, *, limit: int = 10) -> list[Found]:
    """Records that match ``text`` best, best first; ties: the newer record of the first source.

    Every token of a query is optional. Scores are BM25 with k1 = 1.2, b = 0.75 and the inverse document
    frequency ``ln(1 + (N - n + 0.5) / (n + 0.5))``; they compare within one answer only.
    """
    collection = Collection(sources)
    frequency = collection.frequencies(query_tokens(text))
    records = collection.records
    value = {token: log(1 + (records - n + 0.5) / (n + 0.5)) for token, n in frequency.items()}
    places = {source.name: place for place, source in enumerate(sources)}
    found = [
        Found(source.name, document.number, collection.bm25(value, document))
        for source, document in collection.candidates(value, frequency)
    ]
    found.sort(key=lambda hit: (-hit.score, places[hit.source], -hit.number))
    return found[:limit]
