"""Full-text search: BM25 beside rank-bm25, gates, increments, bounded work."""

from __future__ import annotations

import random
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from ai_kb import search as module
from ai_kb.search import Collection, Source, query_tokens, search
from ai_kb.search_tokens import terms
from tests.kb.capsule_stores import Store, evaluation_capsules, numbers, record

QUERIES = (
    "postgres migration lock timeout",
    "docker image cache layer",
    "pytest fixture async loop",
    "useSearchParams suspense boundary",
    "git submodule detached HEAD",
    "how do I retry a failed request",
    "src/retry.py --no-verify crypto_sign_open",
    "环境变量",
    "cargo build feature workspace resolver",
    "CORS error 500",
)


# ---------------------------------------------------------------- ranking


@pytest.fixture
def capsules() -> tuple[Store, list[list[str]]]:
    """Some capsules in a store, and each one's tokens as often as its fields count."""
    chosen = random.Random(7).sample(evaluation_capsules(), 120)
    store = Store.of(*((c["title"], c["body"], *c["topics"]) for c in chosen))
    documents = [terms(c["title"]) * 2 + terms(c["body"]) + terms(" ".join(c["topics"])) * 2 for c in chosen]
    return store, documents


@pytest.mark.parametrize("query", QUERIES)
def test_scores_are_those_of_an_independent_bm25(capsules: tuple[Store, list[list[str]]], query: str) -> None:
    store, documents = capsules
    oracle = BM25Okapi(documents, k1=1.2, b=0.75)
    count = {token: sum(token in document for document in documents) for token in query_tokens(query)}
    # Its own formula is negative for tokens in most documents; this one is never.
    oracle.idf = {t: log(1 + (len(documents) - n + 0.5) / (n + 0.5)) for t, n in count.items() if n}
    expected = oracle.get_scores(query_tokens(query))
    found = search([store.source()], query, limit=200)
    assert {hit.number for hit in found} == {n for n, score in enumerate(expected) if score > 0}
    assert [hit.score for hit in found] == pytest.approx([expected[hit.number] for hit in found])
    assert [hit.score for hit in found] == pytest.approx(sorted((s for s in expected if s > 0), reverse=True))


@pytest.mark.parametrize("word", ["docker", "migration", "cache", "timeout"])
def test_one_word_ranks_as_in_the_unchanged_oracle(
    capsules: tuple[Store, list[list[str]]], word: str
) -> None:
    store, documents = capsules
    scores = BM25Okapi(documents, k1=1.2, b=0.75).get_scores(terms(word))
    ranked = sorted((n for n, s in enumerate(scores) if s), key=lambda n: (-scores[n], -n))
    assert numbers(search([store.source()], word, limit=200)) == ranked


@pytest.mark.parametrize(
    "query",
    ["crypto_sign_open", "cryptoSignOpen", "sign", "HttpRequest", "request", "retry.py", "src/retry.py",
     "--no-verify", "verify", "变量", "retries"],
)  # fmt: skip
def test_identifiers_and_other_scripts_are_found_whole_and_in_parts(query: str) -> None:
    store = Store.of(
        ("An unrelated thing", "Nothing of it."),
        ("Call crypto_sign_open", "In src/retry.py an HttpRequest with --no-verify; 环境变量."),
    )
    assert numbers(search([store.source()], query)) == [1]


def test_a_whole_identifier_ranks_before_its_parts() -> None:
    store = Store.of(
        ("sign the open crypto letter", "open and sign"),
        ("crypto_sign_open fails", "when it is short"),
        ("sign, then open crypto", "open"),
    )
    assert numbers(search([store.source()], "crypto_sign_open"))[0] == 1


def test_a_title_counts_more_than_a_body() -> None:
    store = Store.of(("a note on nothing", "vacuum and so on"), ("a note on vacuum", "nothing and so on"))
    assert numbers(search([store.source()], "vacuum")) == [1, 0]


def test_topics_and_the_source_are_searched_and_the_taxonomy_is_not() -> None:
    source = record(0, "Title", "Body.\n\nSource: src/loader.py:12", ("domain/database", "nightly"))
    store = Store([source])
    for query in ("database", "nightly", "loader.py"):
        assert numbers(search([store.source()], query)) == [0]
    for query in ("gotcha", "kind", "confidence", "medium"):
        assert search([store.source()], query) == []


def test_grammar_is_searched_only_when_there_is_nothing_else() -> None:
    store = Store.of(("what it is", "how it does that"), ("retry", "the request"))
    assert query_tokens("how do I retry the request") == ["retri", "request"]
    assert numbers(search([store.source()], "how is it")) == [0]
    assert search([store.source()], "!?") == []
    assert search([store.source()], "") == []


def test_equal_scores_put_the_newer_record_and_the_first_store_first() -> None:
    first = Store.of(("same words", "here"), ("same words", "here"), name="home")
    second = Store.of(("same words", "here"), name="repo")
    found = search([first.source(), second.source()], "words")
    assert [(hit.source, hit.number) for hit in found] == [("home", 1), ("home", 0), ("repo", 0)]


def test_two_stores_are_ranked_as_one() -> None:
    capsules = evaluation_capsules()[:80]
    texts = [(c["title"], c["body"], *c["topics"]) for c in capsules]
    one = Store.of(*texts)
    half = Store.of(*texts[:40], name="home"), Store.of(*texts[40:], name="repo")
    for query in QUERIES:
        together = search([one.source()], query, limit=40)
        apart = search([store.source() for store in half], query, limit=40)
        assert [hit.score for hit in apart] == pytest.approx([hit.score for hit in together])
        titles = [texts[hit.number + (40 if hit.source == "repo" else 0)][0] for hit in apart]
        assert sorted(titles) == sorted(texts[hit.number][0] for hit in together)


# ---------------------------------------------------------------- gates


def test_nothing_outside_the_allowed_set_comes_out_or_takes_a_place() -> None:
    store = Store.of(*[("vacuum table", "vacuum vacuum")] * 30, ("a word on vacuum", "in a long text on it"))
    assert numbers(search([store.source(1 << 30)], "vacuum table", limit=3)) == [30]
    assert search([store.source(0)], "vacuum") == []


def test_a_record_of_a_number_beyond_the_set_is_not_allowed() -> None:
    store = Store.of(*[("vacuum",)] * 20)
    for allowed in ([0, 2], [7], [7, 8], [15, 16]):
        assert sorted(store.source(sum(1 << n for n in allowed)).numbers("vacuum")) == allowed


# ---------------------------------------------------------------- the tables


def test_tables_after_any_history_are_those_of_a_fresh_build() -> None:
    rng = random.Random(3)
    capsules = evaluation_capsules()
    pool = [record(n, c["title"], c["body"], c["topics"]) for n, c in enumerate(capsules[:120])]
    store, held = Store(), {}
    for _ in range(30):
        added = rng.sample([r for r in pool if r.number not in held], 6) if len(held) < 100 else []
        removed = rng.sample(sorted(held.values(), key=lambda r: r.number), min(len(held), rng.randint(0, 5)))
        store.apply(added, removed)
        held.update({r.number: r for r in added})
        for gone in removed:
            del held[gone.number]
    fresh = Store(sorted(held.values(), key=lambda r: r.number))
    assert store.rows() == fresh.rows()
    allowed = sum(1 << number for number in held)
    for query in QUERIES:
        assert [(h.number, h.score) for h in search([store.source(allowed)], query)] == [
            (h.number, h.score) for h in search([fresh.source(allowed)], query)
        ]
    store.conn.execute("INSERT INTO search_fts (search_fts) VALUES ('integrity-check')")


def test_removing_everything_leaves_empty_tables() -> None:
    records = [record(0, "one", "two"), record(1, "three")]
    store = Store(records)
    store.apply(removed=records)
    assert store.rows() == {"search_docs": [], "search_terms": [], "search_totals": [(0, 0)]}
    assert search([store.source()], "one") == []


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80))
def test_every_token_of_any_text_finds_its_record(text: str) -> None:
    store = Store([record(0, text), record(1, "other")])
    title = text.replace("\r\n", "\n").strip("\n").partition("\n")[0]
    for token in terms(title):
        assert 0 in store.source().numbers(token)


def test_of_a_huge_record_a_bounded_part_is_indexed() -> None:
    store = Store.of(("title", " ".join(f"w{n}" for n in range(5_000))))
    (body,) = store.conn.execute("SELECT body FROM search_docs").fetchone()
    assert len(body.split()) == module.MAX_BODY_TOKENS


# ---------------------------------------------------------------- bounded work


class Counting(Source):
    """A source that counts what is read of it."""

    __slots__ = ("documents_read", "looked_up", "postings")

    def __init__(self, store: Store) -> None:
        super().__init__(store.name, store.conn, (1 << store.numbers) - 1)
        self.postings = self.looked_up = self.documents_read = 0

    def frequencies(self, tokens):  # type: ignore[no-untyped-def]
        self.looked_up += len(tokens)
        return super().frequencies(tokens)

    def numbers(self, token, newest=0):  # type: ignore[no-untyped-def]
        found = super().numbers(token, newest)
        self.postings += len(found)
        return found

    def documents(self, numbers):  # type: ignore[no-untyped-def]
        self.documents_read += len(numbers)
        return super().documents(numbers)


@pytest.fixture(scope="module")
def crowd() -> Store:
    """4,000 records: one word in all, some in many, one in a single one."""
    rng = random.Random(1)
    records = [
        record(n, f"common {rng.choice('abcdefgh') * 3}word", f"filler{n % 40} {'needle' if n == 77 else ''}")
        for n in range(4_000)
    ]
    return Store(records)


def test_a_query_reads_a_bounded_number_of_postings_and_records(crowd: Store) -> None:
    source = Counting(crowd)
    text = " ".join(
        ["common", "needle", *(f"filler{n}" for n in range(40)), *(f"no{n}" for n in range(9_000))]
    )
    found = search([source], text)
    assert found[0].number == 77
    assert source.looked_up <= module.MAX_LOOKED_UP
    assert source.postings <= module.MAX_POSTINGS
    assert source.documents_read <= module.MAX_CANDIDATES


def test_a_query_of_common_words_only_is_answered_from_the_newest(crowd: Store) -> None:
    source = Counting(crowd)
    found = search([source], "common")
    assert source.postings == module.MAX_POSTINGS
    assert all(hit.number >= 4_000 - module.MAX_POSTINGS for hit in found)


def test_the_rarest_tokens_are_looked_up_first() -> None:
    collection = Collection([Store().source()])
    assert collection.records == 0
    frequency = {"rare": 2, "middling": 400, "frequent": 900, "everywhere": 90_000}
    chosen, newest = module._decisive(dict.fromkeys(frequency, 1.0), frequency)
    assert (chosen, newest) == (["rare", "middling"], 0)
    assert module._decisive({"everywhere": 1.0}, frequency) == (["everywhere"], module.MAX_POSTINGS)
    assert module._decisive({"unknown": 1.0}, frequency) == ([], module.MAX_POSTINGS)
