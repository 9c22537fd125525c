"""Patterns of grep: what Go accepts, never counted lower than Go, bounded before anything is expanded."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import re2

from ai_kb.hn.pattern import (
    MAX_INSTRUCTIONS,
    MAX_PATTERN_BYTES,
    InvalidPattern,
    compile_pattern,
    count_instructions,
)
from tests.hn.conftest import VECTORS

_DATA: dict[str, Any] = json.loads((VECTORS / "grep-patterns.json").read_text())
TEXTS = [text.encode() for text in _DATA["texts"]]
CASES: list[dict[str, Any]] = _DATA["cases"]
ACCEPTED = [case for case in CASES if "instructions" in case]
REFUSED = [case for case in CASES if "error" in case]


def _name(case: dict[str, Any]) -> str:
    return f"{case['pattern'][:24]!a}{'-i' if case['ignoreCase'] else ''}"


@pytest.mark.parametrize("case", ACCEPTED, ids=_name)
def test_what_go_accepts_is_never_counted_lower_than_go_counts(case: dict[str, Any]) -> None:
    assert count_instructions(case["pattern"]) >= case["instructions"]


@pytest.mark.parametrize("case", ACCEPTED, ids=_name)
def test_what_go_accepts_matches_the_same_texts(case: dict[str, Any]) -> None:
    source = case["pattern"].encode()
    if len(source) > MAX_PATTERN_BYTES or count_instructions(case["pattern"]) > MAX_INSTRUCTIONS:
        with pytest.raises(InvalidPattern):
            compile_pattern(source, case["ignoreCase"])
        return
    pattern = compile_pattern(source, case["ignoreCase"])
    assert [pattern.matches(text) for text in TEXTS] == case["matches"]


@pytest.mark.parametrize("case", REFUSED, ids=_name)
def test_what_go_refuses_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(InvalidPattern):
        compile_pattern(case["pattern"].encode(), case["ignoreCase"])


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("", 3),
        ("abc", 5),
        ("a.c$", 6),
        ("(ab)", 6),
        ("(?:ab)", 4),
        ("a*", 4),
        ("(?:a*)*", 6),
        ("(a*)*", 8),
        ("(?:^)*", 5),
        ("a+?", 4),
        ("a{3}", 5),
        ("a{0}", 3),
        ("a{2,}", 5),
        ("a{0,3}", 8),
        ("a|b|c", 7),
        ("[a-z]{1000}", 1002),
        ("(a{100}){10}", 1022),
        (r"\Qa.b\E*", 6),
        (r"\x41\x{1F642}\012\0", 6),
        ("a{,3}", 7),
        ("a{01}", 7),
        (r"[\]a]b", 4),
        ("[]a]b", 4),
        ("[^]a]b", 4),
        ("[[:alpha:]-]b", 4),
        ("[+-[:a]b", 4),
    ],
)
def test_instructions_are_counted_as_the_protocol_counts_them(pattern: str, count: int) -> None:
    assert count_instructions(pattern) == count


def test_repetitions_are_multiplied_and_never_written_out() -> None:
    nested = "a"
    for _ in range(60):
        nested = f"(?:{nested}){{1000}}"
    with pytest.raises(InvalidPattern, match="more than"):
        compile_pattern(nested.encode())


def test_the_instruction_bound_is_inclusive() -> None:
    compile_pattern(b"[a-z]{1000}" * 4 + b"a" * 94)
    with pytest.raises(InvalidPattern, match="4097"):
        compile_pattern(b"[a-z]{1000}" * 4 + b"a" * 95)


def test_the_size_bound_counts_bytes_and_is_inclusive() -> None:
    compile_pattern("é".encode() * 2000)
    compile_pattern(b"(?:" + b"[a-z]" * 818 + b")")
    with pytest.raises(InvalidPattern, match="exceeds 4096 bytes"):
        compile_pattern("é".encode() * 2049)


@pytest.mark.parametrize("pattern", [b"\xff", b"a\xc3", "\ud800".encode("utf-8", "surrogatepass")])
def test_a_pattern_that_is_not_utf8_is_refused(pattern: bytes) -> None:
    with pytest.raises(InvalidPattern, match="not valid UTF-8"):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"\C", r"a\Cb", r"[\C]", "(" * 1001 + ")" * 1001, "(" * 999 + "a*" + ")" * 999 + "*" + "(", ")", "a)"],
)
def test_what_re2_takes_and_go_does_not_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidPattern):
        compile_pattern(pattern.encode())


def test_a_thousand_levels_are_the_limit() -> None:
    compile_pattern(b"(" * 999 + b"a" + b")" * 999)
    with pytest.raises(InvalidPattern, match="nests deeper"):
        compile_pattern(b"(" * 1000 + b"a" + b")" * 1000)


@pytest.mark.parametrize(
    "pattern", [r"(?=a)", r"(?<!a)b", r"(a)\1", r"\Z", r"(?P=n)", "a**", r"\p{Nothing}", "[b-a]"]
)
def test_a_refusal_names_the_rule_and_not_the_pattern(pattern: str) -> None:
    with pytest.raises(InvalidPattern) as caught:
        compile_pattern(pattern.encode())
    assert caught.value.message.startswith("invalid regex pattern: ")
    assert pattern not in caught.value.message


def test_a_large_class_repeated_to_the_bound_compiles_and_matches() -> None:
    pattern = compile_pattern(rb"\p{L}{1000}\p{L}{1000}\p{L}{1000}\p{L}{1000}")
    assert not pattern.matches("абв".encode() * 100)


def test_case_is_ignored_only_where_asked_and_inline_flags_count() -> None:
    assert not compile_pattern(b"STREAM").matches(b"stream")
    assert compile_pattern(b"STREAM", ignore_case=True).matches(b"stream")
    assert compile_pattern("(?i)ÜBER".encode()).matches("über".encode())
    assert not compile_pattern(b"(?-i)X", ignore_case=True).matches(b"x")


_TOKENS = [
    *'ab()|*+?{}[]-^$.,1é<>:"P ',
    *("{2}", "{1,3}", "{,3}", "{0,}", "[^", "a-z", r"\d", r"\p{L}", r"\pN", r"\b", "(?:", "(?i)", "(?i:"),
    *("(?P<n>", "(?<m>", r"\Q", r"\E", r"\x41", r"\x{41}", r"\07", r"\0", r"\1", r"\12", "[:alpha:]"),
    *("[[:alpha:]]", "[[:^digit:]", r"\\", r"\n", r"\z", r"\A", r"\B", "(?s-m)", "(?U)", r"\]", r"\Z"),
    *("{01}", "{1001}", "{3,2}", "(?", r"\p{^L}", r"\p{", r"\x{", "(?-", "i)"),
]


@pytest.mark.parametrize("seed", range(4))
def test_the_counter_reads_whatever_re2_reads(seed: int) -> None:
    rng = random.Random(seed)
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    accepted = 0
    for _ in range(4000):
        pattern = "".join(rng.choices(_TOKENS, k=rng.randint(1, 8)))
        try:
            re2.compile(pattern.encode(), options)
        except re2.error:
            continue
        accepted += 1
        assert count_instructions(pattern) >= 3, pattern
    assert accepted > 200
