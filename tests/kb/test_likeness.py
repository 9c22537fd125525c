"""Whether two short texts say almost the same."""

from __future__ import annotations

import pytest

from ai_kb.likeness import Corpus, Known, likeness, words


def known(number: int, title: str, body: str) -> Known:
    return Known(f"sha256:{number:064x}", title, body, "active", "home")


def test_words_have_one_spelling() -> None:
    assert words("Ｆｕｌｌ-width, ÉCOLE; don't") == ["full", "width", "école", "don", "t"]
    assert words("日本語の文") == ["日本", "本語", "語の", "の文"]
    assert words("日本") == ["日本"]
    assert words("—!") == []


def test_likeness_is_the_share_of_common_words() -> None:
    assert likeness(["a", "b"], ["a", "b"]) == 1
    assert likeness(["a", "b"], ["c"]) == 0
    assert likeness([], ["a"]) == 0
    assert likeness(["a", "a"], ["a"]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("size", [10, 1_000])
def test_the_most_alike_is_found_among_few_and_among_many(size: int) -> None:
    corpus = Corpus(
        [known(n, f"Title {n * 7919}", f"body of {n * 104_729} with words {n}") for n in range(size)]
    )
    match = corpus.most_alike("Title 39595", "body of 523645 with words 5")
    assert match is not None
    assert match[0].id == f"sha256:{5:064x}"
    assert match[1] == 1
    assert corpus.most_alike("Something else", "entirely, of other tokens") is None
    assert corpus.most_alike("", "") is None


def test_the_same_title_needs_less_of_the_body() -> None:
    corpus = Corpus([known(1, "The cache lives in var", "It is made at the first start and kept.")])
    assert corpus.most_alike("The cache lives in var", "It is made at start.") is not None
    assert corpus.most_alike("Cache", "It is made at the first start.") is None
