"""Tokens and what the protocol knows of Unicode, over every code point."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ai_kb.hn.text import (
    SPACES,
    has_control,
    is_blank,
    is_letter_or_number,
    lower,
    lower_code,
    normalize_topics,
    trim,
    utf8_length,
)
from ai_kb.hn.tokens import index_tokens, indexed_text

EVERY_CODE_POINT = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def members(ranges: list[list[int]]) -> set[int]:
    return {code for first, last in ranges for code in range(first, last + 1)}


def test_every_code_point_has_the_recorded_class_and_lowercase(unicode_tables: dict[str, Any]) -> None:
    tokens, lowercase = members(unicode_tables["letter_or_number"]), dict(unicode_tables["lower"])
    assert [c for c in EVERY_CODE_POINT if is_letter_or_number(c) != (c in tokens)] == []
    assert [c for c in EVERY_CODE_POINT if lower_code(c) != lowercase.get(c, c)] == []


def test_every_character_by_itself_is_the_recorded_token_or_none(unicode_tables: dict[str, Any]) -> None:
    tokens, lowercase = members(unicode_tables["letter_or_number"]), dict(unicode_tables["lower"])
    wrong = [
        code
        for code in EVERY_CODE_POINT
        if index_tokens(chr(code)) != ([chr(lowercase.get(code, code))] if code in tokens else [])
    ]
    assert wrong == []


def test_spaces_and_controls_are_the_recorded_ones(unicode_tables: dict[str, Any]) -> None:
    assert set(map(ord, SPACES)) == members(unicode_tables["space"])
    controls = members(unicode_tables["control"])
    assert [c for c in EVERY_CODE_POINT if has_control(chr(c)) != (c in controls)] == []
    assert [c for c in range(0x3001) if is_blank(chr(c)) != (c in members(unicode_tables["space"]))] == []


def test_every_character_lowercases_by_itself_without_final_sigma_or_growth() -> None:
    assert lower("ΟΔΥΣΣΕΥΣ İ ẞ") == "οδυσσευσ i ß"
    assert lower("ASCII only") == "ascii only"


def test_trimming_leaves_what_python_would_also_strip() -> None:
    assert trim("\u3000 a\x1c\u2028") == "a\x1c"


@given(st.text())
def test_tokens_are_sorted_unique_and_independent_of_what_is_between(text: str) -> None:
    tokens = index_tokens(text)
    assert tokens == sorted(set(tokens))
    assert index_tokens(" ".join(tokens)) == tokens
    assert index_tokens(text + "\n" + text) == tokens
    assert index_tokens(text.swapcase() if text.isascii() else text) == tokens


@given(st.text(), st.text())
def test_tokens_of_two_texts_are_those_of_each(one: str, two: str) -> None:
    assert index_tokens(one + "\n" + two) == sorted({*index_tokens(one), *index_tokens(two)})


def test_indexed_text_is_content_and_topics() -> None:
    assert indexed_text("content", ("a", "b")) == "content\na\nb"
    assert indexed_text("content", []) == "content\n"


@given(st.lists(st.text(max_size=8), max_size=6))
def test_normalizing_topics_twice_changes_nothing(topics: list[str]) -> None:
    once = normalize_topics(topics)
    assert normalize_topics(once) == once


def test_length_is_in_bytes_of_utf_8() -> None:
    assert [utf8_length(text) for text in ("", "a", "é", "汉", "😀", "\ud800")] == [0, 1, 2, 3, 4, 3]
