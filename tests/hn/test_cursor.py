"""What binds a page to its query."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_kb.hn.cursor import (
    GREP,
    RECALL,
    decode_cursor,
    encode_cursor,
    is_source_ref,
    normalized_request,
    query_digest,
    source_fingerprint,
)
from ai_kb.hn.errors import InvalidCursor
from ai_kb.hn.policy import MISSING_DIGEST

QUERY = "sha256:" + "1" * 64
OTHER = "sha256:" + "2" * 64
LAST = "sha256:" + "3" * 64
REQUEST: dict[str, Any] = {
    "version": 0,
    "atCommit": "a" * 40,
    "lifecycle": ["active"],
    "trust": ["qualified"],
    "maxRecords": 20,
    "maxContentBytes": 65536,
}


def cursor_of(payload: bytes, kind: str = RECALL) -> str:
    checksum = hashlib.sha256(f"hn-memory-{kind}-cursor-v0\0".encode() + payload).hexdigest()
    return base64.urlsafe_b64encode(payload).rstrip(b"=").decode() + "." + checksum


@pytest.mark.parametrize("kind", [RECALL, GREP])
def test_a_cursor_is_for_its_own_query_and_its_own_command(kind: str) -> None:
    cursor = encode_cursor(QUERY, LAST, kind=kind)
    assert decode_cursor(cursor, QUERY, kind=kind) == LAST
    with pytest.raises(InvalidCursor, match="does not match"):
        decode_cursor(cursor, OTHER, kind=kind)
    with pytest.raises(InvalidCursor, match="checksum"):
        decode_cursor(cursor, QUERY, kind=GREP if kind == RECALL else RECALL)


@given(st.integers(0, 400), st.characters(codec="ascii"))
def test_any_changed_character_of_a_cursor_is_refused(at: int, char: str) -> None:
    cursor = encode_cursor(QUERY, LAST)
    at %= len(cursor)
    changed = cursor[:at] + char + cursor[at + 1 :]
    if changed != cursor:
        with pytest.raises(InvalidCursor):
            decode_cursor(changed, QUERY)


@given(st.text(max_size=300))
def test_any_text_in_the_place_of_a_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        decode_cursor(text, QUERY)


@pytest.mark.parametrize(
    "payload",
    [
        b"[]",
        b"{",
        b"\xff",
        b'{"version":"0"}',
        b'{"version":0,"queryDigest":1}',
        b'{"x":0}',
        b'{"version":0}{}',
    ],
)
def test_a_cursor_with_a_good_checksum_over_anything_else_is_malformed(payload: bytes) -> None:
    with pytest.raises(InvalidCursor, match="malformed recall cursor"):
        decode_cursor(cursor_of(payload), QUERY)


def test_a_cursor_of_another_version_does_not_match() -> None:
    payload = f'{{"version":1,"queryDigest":"{QUERY}","lastMemoryId":"{LAST}"}}'.encode()
    with pytest.raises(InvalidCursor, match="does not match"):
        decode_cursor(cursor_of(payload), QUERY)


def test_a_cursor_of_impossible_base64_length_is_malformed() -> None:
    with pytest.raises(InvalidCursor, match="malformed"):
        decode_cursor("A." + "0" * 64, QUERY)


@pytest.mark.parametrize("spaces", [0, 1])
def test_spare_bits_at_the_end_of_the_base64_may_not_change(spaces: int) -> None:
    payload = f'{{"version":0,"queryDigest":"{QUERY}","lastMemoryId":"{LAST}"}}'.encode() + b" " * spaces
    assert len(payload) % 3  # so the last character has bits to spare
    cursor = cursor_of(payload)
    assert decode_cursor(cursor, QUERY) == LAST
    encoded, _, checksum = cursor.partition(".")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    twin = encoded[:-1] + alphabet[alphabet.index(encoded[-1]) ^ 1]
    assert base64.urlsafe_b64decode(twin + "=" * (-len(twin) % 4)) == payload
    with pytest.raises(InvalidCursor, match="malformed"):
        decode_cursor(f"{twin}.{checksum}", QUERY)


def test_a_request_is_digested_in_one_order_without_what_is_absent() -> None:
    shuffled = {"cursor": "x", "subject": "", "topic": [], "query": None, "includeUntrusted": False}
    assert normalized_request({**shuffled, **dict(reversed(REQUEST.items()))}) == REQUEST
    assert list(normalized_request(dict(reversed(REQUEST.items())))) == list(REQUEST)
    assert normalized_request({**REQUEST, "maxRecords": 0})["maxRecords"] == 0


@pytest.mark.parametrize(
    "change",
    [
        {"atCommit": "b" * 40},
        {"lifecycle": ["active", "superseded"]},
        {"trust": []},
        {"maxRecords": 21},
        {"maxContentBytes": 1},
        {"topic": ["a"]},
        {"kind": ["decision"]},
        {"actor": ["a" * 64]},
        {"subject": "run:" + LAST},
        {"path": "a"},
        {"query": "x"},
        {"includeUntrusted": True},
    ],
)
def test_every_filter_and_bound_changes_the_query_digest(change: dict[str, Any]) -> None:
    assert query_digest({**REQUEST, **change}, QUERY, OTHER) != query_digest(REQUEST, QUERY, OTHER)


def test_source_policy_command_and_extra_members_change_the_query_digest() -> None:
    digests = {
        query_digest(REQUEST, QUERY, OTHER),
        query_digest(REQUEST, LAST, OTHER),
        query_digest(REQUEST, QUERY, LAST),
        query_digest(REQUEST, QUERY, OTHER, kind=GREP),
        query_digest(REQUEST, QUERY, OTHER, kind=GREP, extra={"pattern": "a"}),
    }
    assert len(digests) == 5


def test_a_source_ref_is_a_stream_ref_in_its_one_form() -> None:
    tail = f"memory/{'a' * 64}/{'b' * 64}"
    for ref in (f"refs/hn/{tail}", f"refs/hn/remotes/origin/{tail}", f"refs/hn/remotes/up.stream-1/{tail}"):
        assert is_source_ref(ref)
    for ref in (
        *("", "refs/heads/main", f"refs/hn/{tail}/x", f"refs/hn/{tail}"[:-1], f"refs/hn/quarantine/{tail}"),
        *(
            f"refs/hn/remotes/{name}/{tail}"
            for name in ("", ".x", "-x", "a..b", "a.", "a.lock", "a/b", "x" * 129)
        ),
    ):
        assert not is_source_ref(ref), ref


def test_a_moved_head_changes_the_source_fingerprint() -> None:
    ref = f"refs/hn/memory/{'a' * 64}/{'b' * 64}"
    before = source_fingerprint(MISSING_DIGEST, [(ref, "1" * 40)])
    assert before != source_fingerprint(MISSING_DIGEST, [(ref, "2" * 40)])
    assert before != source_fingerprint(MISSING_DIGEST, [])
    assert before != source_fingerprint(OTHER, [(ref, "1" * 40)])
