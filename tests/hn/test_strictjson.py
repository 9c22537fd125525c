"""Strict JSON of machine requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_kb.hn.errors import HnError, InvalidRequest
from ai_kb.hn.strictjson import MAX_REQUEST_BYTES, Reader
from tests.conftest import examples

READER = Reader("recall input", InvalidRequest)


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(InvalidRequest) as error:
        call()
    return error.value.message.removeprefix("recall input: ")


def test_a_request_is_at_most_1_mib() -> None:
    assert READER.load(b"1" + b" " * (MAX_REQUEST_BYTES - 1)) == 1
    assert refused(lambda: READER.load(b"1" + b" " * MAX_REQUEST_BYTES)) == "JSON exceeds 1048576 bytes"
    assert refused(lambda: READER.load(b"12", limit=1)) == "JSON exceeds 1 bytes"


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "invalid JSON: it is empty"),
        (b" \n", "invalid JSON: it is empty"),
        (b"\xff", "JSON is not valid UTF-8"),
        (b"\xef\xbb\xbf{}", "invalid JSON"),
        (b"{", "invalid JSON"),
        (b"NaN", "invalid JSON"),
        (b"[-Infinity]", "invalid JSON"),
        (b"{} {}", "JSON must contain exactly one value"),
        (b"{}x", "JSON must contain exactly one value"),
        (b"\x0b1", "invalid JSON"),
        (b"[" * 200_000, "invalid JSON: it is nested too deeply"),
        (b"1" * 10_000, "invalid JSON"),
        (b'{"a":1,"a":2}', 'duplicate JSON field "a"'),
        (b'{"x":[{"b":{},"a":0,"b":1}]}', 'duplicate JSON field "b"'),
        (b'{"a\\u0007<b>":1,"a\\u0007<b>":2}', 'duplicate JSON field "a\\u0007<b>"'),
    ],
)
def test_what_is_not_one_json_value_without_repeated_fields_is_refused(data: bytes, rule: str) -> None:
    assert refused(lambda: READER.load(data)) == rule


def test_a_long_or_lone_surrogate_field_name_is_shown_cut_and_escaped() -> None:
    message = refused(lambda: READER.fields({"k" * 500: 1}, ("a",)))
    assert message == f'invalid JSON: unknown field "{"k" * 128}"'
    message = refused(lambda: READER.fields({"\ud800\x1b": 1}, ("a",)))
    assert message == 'invalid JSON: unknown field "\ufffd\\u001b"'


def test_names_are_left_out_of_messages_where_the_text_is_not_the_callers() -> None:
    quiet = Reader("policy", InvalidRequest, quote_fields=False)
    with pytest.raises(InvalidRequest, match=r"^policy: invalid JSON: unknown field$"):
        quiet.fields({"secret": 1}, ("a",))
    with pytest.raises(InvalidRequest, match=r"^policy: duplicate JSON field$"):
        quiet.load(b'{"secret":1,"secret":2}')


def test_fields_ignore_the_case_of_keys_and_leave_nulls_out() -> None:
    names = ("atCommit", "kind")
    assert READER.fields({"ATCOMMIT": 1, "\u212aind": None}, names) == {"atCommit": 1}
    assert READER.fields({"kind": 1, "Kind": 2}, names) == {"kind": 2}
    assert READER.fields({"kind": 1, "KIND": None}, names) == {}
    assert READER.fields(None, names) == {}
    assert refused(lambda: READER.fields([], names)) == "invalid JSON: it must be an object"
    assert refused(lambda: READER.fields("x", names, "anchor")) == "invalid JSON: anchor must be an object"
    assert (
        refused(lambda: READER.fields({"x": 1}, names, "anchor"))
        == 'invalid JSON: unknown field "x" in anchor'
    )
    assert refused(lambda: READER.fields({"kınd": 1}, names)) == 'invalid JSON: unknown field "kınd"'


def test_a_sharp_s_is_not_two() -> None:
    assert refused(lambda: READER.fields({"aßumptions": []}, ("assumptions",))).startswith(
        "invalid JSON: unknown"
    )
    assert READER.fields({"a\u017fsumptions": 1}, ("assumptions",)) == {"assumptions": 1}


def test_values_have_exact_types() -> None:
    fields = {"text": "a\ud800", "int": 5, "flag": True, "texts": ["a", None, "\udfff"]}
    assert READER.text(fields, "text") == "a\ufffd"
    assert READER.text(fields, "none") == ""
    assert READER.integer(fields, "int") == 5
    assert READER.integer(fields, "none") is None
    assert READER.flag(fields, "flag") is True
    assert READER.flag(fields, "none") is False
    assert READER.texts(fields, "texts") == ["a", "", "\ufffd"]
    assert READER.texts(fields, "none") is None
    assert refused(lambda: READER.text(fields, "int")) == "invalid JSON: int must be a string"
    for wrong in (1.0, True, "1", 2**63, -(2**63) - 1):
        assert refused(lambda: READER.integer({"n": wrong}, "n")) == "invalid JSON: n must be an integer"  # noqa: B023
    assert refused(lambda: READER.flag(fields, "int")) == "invalid JSON: int must be true or false"
    for value in ("a", [1], [[]], {}):
        assert refused(lambda: READER.texts({"t": value}, "t")) == "invalid JSON: t must be a list of strings"  # noqa: B023


@given(
    st.binary(max_size=40)
    | st.recursive(
        st.none() | st.integers() | st.text(), lambda i: st.lists(i) | st.dictionaries(st.text(), i)
    ).map(lambda v: json.dumps(v).encode())
)
@examples(100)
def test_untrusted_bytes_raise_nothing_but_the_librarys_own_error(data: bytes) -> None:
    try:
        value = READER.load(data)
        READER.fields(value, ("a",))
    except HnError:
        return
    assert value is None or isinstance(value, dict)
