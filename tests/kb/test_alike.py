"""What the index gives as possibly alike: nothing that an exhaustive comparison would name is missing."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from ai_kb import alike, likeness
from ai_kb.capsule import Capsule
from ai_kb.hn import cache_bits as bits
from ai_kb.hn import cache_file, cache_records, cache_rows, keys
from ai_kb.hn.cache_index import Index
from ai_kb.hn.cache_records import IndexedRecord
from ai_kb.hn.envelope import VerifiedMemory, decode_envelope, encode_envelope, memory_id
from ai_kb.hn.verification import Entry
from ai_kb.likeness import Corpus, Known
from ai_kb.search import EXTENSION
from ai_kb.spelling import words
from tests.hn.conftest import Person

# Words in several spellings, scripts without spaces, and what is no word.
VOCABULARY = """
    the a of to in is retry timeout request post get lock cache migration table index Ｆｕｌｌ full
    ﬁne fine x² x2 Straße strasse STRASSE über Über 日本語の文 日本 日本語 配置文件 설정 don't
    src/retry.py --no-verify HttpRequest httprequest … — é e\u0301 \ufdfa İ ǆ ٣ 3 ³
""".split()


_opened: list[Index] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Every index that a test made is closed after it."""
    yield
    while _opened:
        _opened.pop().conn.close()


class Indexed(Index):
    """Records in the tables of an index, in memory; no repository behind them."""

    def __init__(self, capsules: Sequence[tuple[str, str]], person: Person) -> None:
        conn = cache_file.connect(":memory:", write=True, timeout=0)
        assert conn is not None
        self.conn = conn
        _opened.append(self)
        self.person = person
        self.gone = set()
        EXTENSION.create(conn)
        self.records_: list[IndexedRecord] = []
        self.add(capsules)

    def add(self, capsules: Sequence[tuple[str, str]]) -> None:
        entries = [self._entry(len(self.records_) + n, *c) for n, c in enumerate(capsules)]
        staged = bits.Staged()
        sid = cache_rows.stream_number(self.conn, self.person.actor, self.person.stream)
        new = cache_rows.insert(self.conn, staged, entries, sid, len(self.records_))
        for each in new:
            lifecycle = "active" if each.number % 3 else "retracted"
            staged.add(each.number, bits.LIFECYCLE + lifecycle)
            self.conn.execute("UPDATE memory SET lifecycle = ? WHERE number = ?", (lifecycle, each.number))
        staged.flush(self.conn)
        added = [each.indexed for each in new if each.indexed is not None]
        EXTENSION.apply(self.conn, added, [])
        self.records_ += added

    def _entry(self, number: int, title: str, body: str) -> Entry:
        payload = encode_envelope(
            {
                "protocol": "hn-memory/0",
                "operation": "record",
                "actor": self.person.actor,
                "actorName": self.person.name,
                "publicKey": keys.encode_b64(self.person.public_key),
                "stream": self.person.stream,
                "sequence": number + 1,
                # Out of order, and some at the same time.
                "timestamp": f"2026-08-30T12:{number * 7 % 60:02}:00Z",
                "previous": f"sha256:{number:064x}" if number else None,
                "record": {
                    "kind": "observation",
                    "content": f"{title}\n\n{body}\n\nConfidence: medium",
                    "anchor": {"commit": "a" * 40},
                    "applicability": {"mode": "descendants"},
                    "topics": ["kind/fact", "retry"],
                    "evidence": [],
                },
            }
        )
        memory = VerifiedMemory(memory_id(payload), decode_envelope(payload), payload)
        return Entry(memory, f"{number:040x}", "b" * 40)

    def everything(self) -> int:
        return (1 << len(self.records_)) - 1


def exhaustive(index: Indexed, allowed: int) -> Corpus:
    """Every record of ``allowed``, newest first, to be compared with one by one."""
    held = [record for record in index.records_ if allowed >> record.number & 1]
    held.sort(key=lambda record: (record.timestamp, record.id), reverse=True)
    known = []
    for record in held:
        capsule = Capsule("observation", str(record.data["content"]), ())
        lifecycle = index.lifecycle_of(record.number)
        known.append(Known(record.id, capsule.title, capsule.body, lifecycle, "home"))
    return Corpus(known)


def text(rng: random.Random, longest: int) -> tuple[str, str]:
    def some(least: int, most: int) -> str:
        return " ".join(rng.choices(VOCABULARY, k=rng.randint(least, most)))

    return some(1, 4), some(1, longest)


def variant(rng: random.Random, capsule: tuple[str, str]) -> tuple[str, str]:
    """A text like ``capsule``: some words others, more, fewer, in another order; the title kept or not."""
    title, body = capsule
    inside = body.split()
    for _ in range(rng.randint(0, 4)):
        place = rng.randrange(len(inside) + 1)
        change = rng.randrange(3)
        if change == 0:
            inside.insert(place, rng.choice(VOCABULARY))
        elif inside[place:]:
            inside[place : place + 1] = [rng.choice(VOCABULARY)] if change == 1 else []
    if rng.random() < 0.3:
        rng.shuffle(inside)
    if rng.random() < 0.4:
        title = rng.choice((f"{title} {rng.choice(VOCABULARY)}", title.upper(), text(rng, 3)[0]))
    return title, " ".join(inside)


@pytest.mark.parametrize("seed", range(12))
def test_the_answer_is_that_of_comparing_with_every_record(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likeness, "_COMPARE_ALL", 10**9)
    rng = random.Random(seed)
    longest = rng.choice((3, 12, 40))
    capsules = [text(rng, longest) for _ in range(rng.choice((1, 9, 60)))]
    capsules += [variant(rng, rng.choice(capsules)) for _ in range(rng.choice((1, 9, 60)))]
    index = Indexed(capsules, Person("Alice", 0))
    places = alike.Places(index)
    found = 0
    for _ in range(60):
        title, body = variant(rng, rng.choice(capsules)) if rng.random() < 0.8 else text(rng, longest)
        allowed = rng.choice((index.everything(), index.read_set(bits.LIFECYCLE, "active")))
        allowed &= ~(1 << rng.randrange(len(capsules)))
        wanted = exhaustive(index, allowed).most_alike(title, body)
        near = alike.near(index, "home", title, body, allowed, rng.choice((None, places)))
        assert Corpus(near).most_alike(title, body) == wanted, (title, body)
        found += wanted is not None
    assert found


def test_a_long_text_is_found_by_some_of_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    invented = [f"{rng.choice(VOCABULARY[:12])}{n}" for n in range(4000)]

    def essay(count: int) -> tuple[str, str]:
        return "An essay", " ".join(rng.choices(invented, k=count))

    capsules = [essay(rng.randint(200, 3000)) for _ in range(12)]
    index = Indexed(capsules, Person("Alice", 0))
    looked_up: list[int] = []
    members = alike.Places.members

    def counting(places: alike.Places, asked: Sequence[str]) -> dict[str, int]:
        looked_up.append(len(asked))
        return members(places, asked)

    monkeypatch.setattr(alike.Places, "members", counting)
    for capsule in capsules:
        title, body = capsule
        changed = body.split()
        for place in rng.sample(range(len(changed)), len(changed) // 10):
            changed[place] = "other"
        for heading in (title, "Another heading"):
            wanted = exhaustive(index, index.everything()).most_alike(heading, " ".join(changed))
            near = alike.near(index, "home", heading, " ".join(changed), index.everything())
            assert Corpus(near).most_alike(heading, " ".join(changed)) == wanted
            assert wanted is not None
    assert max(looked_up) < 1000


def test_nothing_is_like_a_text_without_words() -> None:
    index = Indexed([("—", "…"), ("— !", "word"), ("word", "…")], Person("Alice", 0))
    assert alike.near(index, "home", "—", "…", index.everything()) == []
    assert alike.near(index, "home", "word", "word", 0) == []
    assert Corpus(alike.near(index, "home", "—", "word", index.everything())).most_alike("—", "word")


def test_of_very_many_those_that_share_most_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alike, "MAX_NEAR", 5)
    body = "one two three four five six seven eight nine ten"
    capsules = [("The same heading", f"{body} {n}") for n in range(20)] + [("The same heading", body)]
    index = Indexed(capsules, Person("Alice", 0))
    near = alike.near(index, "home", "The same heading", body, index.everything())
    assert len(near) == 5
    match = Corpus(near).most_alike("The same heading", body)
    assert match is not None
    assert match[0].body == body
    assert match[1] == 1


def test_what_shares_the_rarest_words_alone_does_not_crowd_out_what_shares_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(alike, "MAX_NEAR", 5)
    rare, common = "alpha beta gamma delta", "one two three four five six"
    capsules = [(rare, common)]
    capsules += [(f"Other {n}", f"{common} x{n} y{n}") for n in range(20)]
    capsules += [(f"{rare} {n}", f"a{n} b{n} c{n} d{n} e{n}") for n in range(10)]
    index = Indexed(capsules, Person("Alice", 0))
    near = alike.near(index, "home", "Alpha beta", f"gamma delta {common}", index.everything())
    assert [known.title for known in near] == [rare]


def test_what_is_read_does_not_grow_with_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    index = Indexed([], Person("Alice", 0))
    reads: list[object] = []
    read = cache_records.read

    def counting(row: Any) -> IndexedRecord:
        reads.append(row)
        return read(row)

    monkeypatch.setattr(cache_records, "read", counting)
    index.add([("Retry only idempotent requests", "A POST that timed out may have been carried out.")])
    counts = []
    for more in (50, 1000):
        index.add([(f"{text(rng, 1)[0]} {n}", f"{text(rng, 20)[1]} {n}") for n in range(more)])
        reads.clear()
        near = alike.near(
            index,
            "home",
            "Retry only idempotent requests!",
            "A POST that timed out may have been carried out",
            index.everything(),
        )
        assert [known.title for known in near] == ["Retry only idempotent requests"]
        counts.append(len(reads))
    assert counts == [1, 1]


def test_records_that_vanish_leave_nothing_behind() -> None:
    rng = random.Random(5)
    capsules = [text(rng, 12) for _ in range(30)]
    index = Indexed(capsules, Person("Alice", 0))
    tables = ("search_alike", "search_spelled", "search_paths")

    def rows() -> list[list[Any]]:
        return [index.conn.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables]

    before = rows()
    assert before[0]
    assert before[1]
    index.add([text(rng, 12) for _ in range(30)])
    assert rows() != before
    EXTENSION.apply(index.conn, [], index.records_[30:])
    assert rows() == before
    EXTENSION.apply(index.conn, [], index.records_[:30])
    assert rows() == [[], [], []]


def test_every_word_of_a_record_is_among_its_tokens_or_beside_them() -> None:
    rng = random.Random(7)
    capsules = [text(rng, 12) for _ in range(40)]
    capsules.append(("w" * 500 + "Ｗ" * 300, "y" * 300))
    index = Indexed(capsules, Person("Alice", 0))
    for number, (title, body) in enumerate(capsules):
        mine = [*words(title), *words(body)]
        held = alike.Places(index).members(mine)
        assert all(held[word] >> number & 1 for word in mine), (title, body)


def test_the_words_that_most_records_hold_are_not_looked_at() -> None:
    common = "the same words stand in each of these records and in what is asked about too"
    index = Indexed([(f"Title {n}", f"{common} rare{n} odd{n}") for n in range(40)], Person("Alice", 0))
    places = alike.Places(index)
    near = alike.near(index, "home", "Title 7", f"{common} rare7 odd7", index.everything(), places)
    match = Corpus(near).most_alike("Title 7", f"{common} rare7 odd7")
    assert match is not None
    assert (match[0].title, match[1]) == ("Title 7", 1)
    # 20 words; a record that is alike shares 15 of them at least, so 6 of any tell, and 2 more are taken.
    assert len(places._members) == 8
    assert {"rare7", "odd7", "7"} <= places._members.keys()
