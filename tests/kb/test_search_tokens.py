"""Tokens of search: identifiers whole and in parts, Unicode, unspaced scripts, light stems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_kb.search_tokens import MAX_TOKEN, PAIR, PART, WHOLE, WORD, scan, stem, terms


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("crypto_sign_open", ["crypto_sign_open", "crypto", "sign", "open"]),
        ("HttpRequest", ["httprequest", "http", "request"]),
        ("src/retry.py", ["src_retry_py", "src", "retri", "py"]),
        ("--no-verify", ["no_verify", "no", "verifi"]),
        ("HTTPServerError", ["httpservererror", "http", "server", "error"]),
        ("MAX_VALUE", ["max_value", "max", "valu"]),
        ("foo::bar", ["foo_bar", "foo", "bar"]),
        ("useSearchParams()", ["usesearchparams", "use", "search", "param"]),
        ("edition2024", ["edition2024", "edit", "2024"]),
        ("utf8mb4 p99 k8s TS6305", ["utf8mb4", "p99", "k8s", "ts6305"]),
        ("c++ C# f#.", ["cplusplus", "csharp", "fsharp"]),
        ("502s", ["502"]),
        ("can't", ["can", "t"]),
        ("a/b", ["a_b", "a", "b"]),
        ("…!? --", []),
    ],
)
def test_identifiers_are_tokens_whole_and_in_parts(text: str, tokens: list[str]) -> None:
    assert terms(text) == tokens


def test_an_identifier_is_the_same_whole_whatever_separates_its_parts() -> None:
    assert {terms(text)[0] for text in ("no-verify", "no_verify", "--no-verify", "no.verify")} == {
        "no_verify"
    }


def test_the_kind_of_each_token_is_told() -> None:
    assert scan("fix HttpRequest 环境变") == [
        ("fix", WORD),
        ("httprequest", WHOLE),
        ("http", PART),
        ("request", PART),
        ("环境", PAIR),
        ("境变", PAIR),
    ]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("détachée DÉTACHÉE", ["detache", "detache"]),
        ("Straße STRASSE", ["strass", "strass"]),
        ("журнал Журнал", ["журнал", "журнал"]),
        ("ＨＴＴＰ ﬁle", ["http", "file"]),
        ("हिन्दी", ["हिन्दी"]),
        ("신규 한", ["신규", "한"]),
        ("tmux新窗口export", ["tmux", "新窗", "窗口", "export"]),
        ("型アフィニティ", ["型ア", "アフ", "フィ", "ィニ", "ニテ", "ティ"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
    ],
)
def test_every_script_has_tokens(text: str, tokens: list[str]) -> None:
    assert terms(text) == tokens


@pytest.mark.parametrize(
    "words",
    [
        "retry retries retrying retried",
        "cache caches caching cached",
        "migrate migrates migrating migrated migration migrations",
        "stop stops stopping stopped",
        "process processes processing processed",
        "watch watches watching watched",
        "file files",
        "connect connects connecting connected connection connections",
        "add adds adding added",
    ],
)
def test_inflections_of_a_word_share_a_stem(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(
    "pair", ["status stat", "bus bu", "this thi", "need ne", "sing s", "string str", "class clas"]
)
def test_short_and_irregular_words_keep_their_ends(pair: str) -> None:
    word, cut = pair.split()
    assert stem(word) != cut


def test_a_long_word_is_left_out_and_its_neighbours_are_not() -> None:
    assert terms(f"before {'x' * (MAX_TOKEN + 1)} after") == ["befor", "after"]
    assert terms("a" + "/part" * 40)[:2] == ["a", "part"]  # no whole, but its parts


@given(st.text(st.characters(), max_size=300))
def test_any_text_gives_tokens_that_can_be_stored_apart_by_spaces(text: str) -> None:
    found = terms(text)
    assert " ".join(found).split() == found
    assert all(0 < len(token) <= MAX_TOKEN for token in found)
    assert all(char == "_" or not char.isascii() or char.isalnum() for token in found for char in token)


@given(st.text(max_size=100), st.text(max_size=100))
def test_lines_are_read_on_their_own(first: str, second: str) -> None:
    assert terms(f"{first}\n{second}") == terms(first) + terms(second)
