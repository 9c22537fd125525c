"""Canonical JSON: the escapes, the strictness, and that any changed byte is refused."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ai_kb.hn import keys
from ai_kb.hn.canonical import NotCanonical, decode, encode
from ai_kb.hn.envelope import (
    Anchor,
    Applicability,
    Envelope,
    Handoff,
    PathAnchor,
    Record,
    decode_envelope,
    envelope_to_bytes,
    verify_memory,
)
from ai_kb.hn.errors import HnError
from ai_kb.hn.text import is_blank, normalize_topics
from tests.conftest import examples

SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
LONG = {"<", ">", "&", "\u2028", "\u2029"}


def go_string(text: str) -> str:
    """A string as Go's encoding/json writes it, character by character: the oracle."""
    out = []
    for char in text:
        if char in SHORT:
            out.append(SHORT[char])
        elif char < " " or char in LONG:
            out.append(f"\\u{ord(char):04x}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def test_every_character_is_written_as_go_writes_it() -> None:
    for code in [
        *range(0x3000),
        *range(0xD7F0, 0xD800),
        *range(0xE000, 0x10000, 97),
        *range(0x10000, 0x110000, 4093),
    ]:
        assert encode("a" + chr(code) + "b") == go_string("a" + chr(code) + "b").encode(), hex(code)


@given(st.text())
def test_every_text_is_written_as_go_writes_it_and_reads_back(text: str) -> None:
    data = encode(text)
    assert data == go_string(text).encode()
    assert decode(data) == text


def test_fields_keep_their_order_and_numbers_are_plain() -> None:
    value = {"b": 1, "a": [0, 2**64 - 1, -5, True, None, "x"], "c": ("y",)}
    assert encode(value) == b'{"b":1,"a":[0,18446744073709551615,-5,true,null,"x"],"c":["y"]}'


@pytest.mark.parametrize("value", ["\ud800", 2**64, -(2**63) - 1, {1: 2}, object(), b"x"])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(NotCanonical):
        encode(value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" 1",
        b"1 ",
        b"{",
        b'{"a":1,"a":1}',
        b'{"a": 1}',
        b'"\\u0041"',
        b'"<"',
        b"\xff",
        b"NaN",
        b"1e2",
        b"01",
    ],
)
def test_bytes_that_are_not_the_canonical_form_are_refused(data: bytes) -> None:
    with pytest.raises(NotCanonical):
        decode(data)


# --- envelopes ------------------------------------------------------------------------------------

PRIVATE = keys.private_key_of_seed(bytes(range(32)))
HEX = "0123456789abcdef"


def hexes(length: int) -> st.SearchStrategy[str]:
    return st.text(HEX, min_size=length, max_size=length)


digests = hexes(64).map("sha256:".__add__)
oids = hexes(40) | hexes(64)
texts = st.text(min_size=1, max_size=60).filter(lambda text: not is_blank(text))
names = texts.filter(lambda text: text.isprintable() and len(text.encode()) <= 256)
tokens = st.from_regex(r"[a-z0-9](?:[a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True)
subjects = st.builds("{}:{}".format, st.sampled_from(["issue", "run", "policy"]), digests)
evidence = st.lists(
    oids.map("git:".__add__) | digests.map("memory:".__add__) | digests.map("event:".__add__),
    unique=True,
    max_size=5,
).map(tuple)
topics = st.lists(st.text(min_size=1, max_size=20), max_size=5).map(
    lambda raw: tuple(t for t in normalize_topics(raw) if t and t.isprintable() and len(t.encode()) <= 128)
)
segments = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="/\\"), min_size=1, max_size=8
).filter(lambda part: part not in (".", ".."))
paths = st.lists(st.lists(segments, min_size=1, max_size=3).map("/".join), unique=True, max_size=4).flatmap(
    lambda found: st.tuples(
        *(st.builds(PathAnchor, st.just(p), oids | st.just("absent")) for p in sorted(found))
    )
)
handoffs = st.builds(Handoff, *[st.lists(texts, max_size=3).map(tuple)] * 4)
timestamps = st.builds(
    "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}".format,
    st.integers(0, 9999),
    st.integers(1, 12),
    st.integers(1, 28),
    st.integers(0, 23),
    st.integers(0, 59),
    st.integers(0, 59),
    st.sampled_from(["", ".5", ".25", ".000000001", ".123456789"]),
    st.sampled_from(["Z", "+05:30", "-11:45", "+24:59"]),
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    kind = draw(
        st.sampled_from(["observation", "decision", "assumption", "attempt", "verification", "handoff"])
    )
    subject = draw(st.just("") | subjects)
    mode = draw(st.sampled_from(["exact", "descendants"] + (["subject"] if subject else [])))
    return Record(
        kind,
        draw(texts),
        Anchor(draw(oids), draw(paths), subject),
        Applicability(mode, subject if mode == "subject" else ""),
        draw(topics),
        draw(evidence if kind != "verification" else evidence.filter(bool)),
        draw(tokens) if kind == "attempt" else "",
        draw(handoffs) if kind == "handoff" else None,
    )


@st.composite
def envelopes(draw: st.DrawFn) -> Envelope:
    operation = draw(st.sampled_from(["record", "supersede", "retract", "challenge"]))
    sequence = draw(st.integers(1, 2**64 - 1))
    actor = keys.actor_of(PRIVATE[32:])
    return Envelope(
        "hn-memory/0",
        operation,
        actor,
        draw(names),
        keys.encode_b64(PRIVATE[32:]),
        draw(digests),
        sequence,
        draw(timestamps),
        draw(digests) if sequence > 1 else "",
        draw(records()) if operation in ("record", "supersede") else None,
        draw(digests) if operation != "record" else "",
        draw(tokens) if operation in ("retract", "challenge") else "",
        draw(evidence) if operation == "challenge" else (),
    )


@given(envelopes())
@examples(200)
def test_decoding_what_was_encoded_gives_the_same_envelope(envelope: Envelope) -> None:
    payload = envelope_to_bytes(envelope)
    assert decode_envelope(payload) == envelope
    assert envelope_to_bytes(decode_envelope(payload)) == payload


@given(envelopes(), st.data())
@examples(150)
def test_any_changed_byte_is_refused(envelope: Envelope, data: st.DataObject) -> None:
    payload = envelope_to_bytes(envelope)
    signature = keys.sign(PRIVATE, payload)
    verify_memory(payload, signature)
    at = data.draw(st.integers(0, len(payload) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != payload[at]))
    changed = payload[:at] + bytes([byte]) + payload[at + 1 :]
    with pytest.raises(HnError):
        verify_memory(changed, signature)
    at = data.draw(st.integers(0, 511))
    flipped = bytearray(signature)
    flipped[at // 8] ^= 1 << at % 8
    with pytest.raises(HnError):
        verify_memory(payload, bytes(flipped))


@given(envelopes(), st.integers(0, 4000), st.binary(max_size=3))
@examples(100)
def test_bytes_put_in_or_taken_out_are_refused(envelope: Envelope, at: int, more: bytes) -> None:
    payload = envelope_to_bytes(envelope)
    signature = keys.sign(PRIVATE, payload)
    at %= len(payload)
    for changed in (payload[:at] + more + payload[at:], payload[:at] + payload[at + 1 :], payload[:at]):
        if changed != payload:
            with pytest.raises(HnError):
                verify_memory(changed, signature)


@given(st.binary(max_size=200))
@example(b"[" * 100_000)
@example(b'{"record":' * 50_000)
@example(b'{"a":1' + b"0" * 5000 + b"}")
@examples(200)
def test_untrusted_bytes_raise_nothing_but_the_librarys_own_error(data: bytes) -> None:
    with pytest.raises(HnError):
        verify_memory(data, data[:64].ljust(64, b"\0"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(envelopes(), st.data())
@examples(150)
def test_any_json_in_the_place_of_any_field_raises_nothing_but_the_librarys_own_error(
    envelope: Envelope, data: st.DataObject
) -> None:
    mapping = json.loads(envelope_to_bytes(envelope))
    inner = mapping
    while True:
        name = data.draw(st.sampled_from(sorted(inner)))
        if not isinstance(inner[name], dict) or data.draw(st.booleans()):
            break
        inner = inner[name]
    inner[name] = data.draw(json_values)
    with contextlib.suppress(HnError):
        decode_envelope(json.dumps(mapping, ensure_ascii=False, separators=(",", ":")).encode())
