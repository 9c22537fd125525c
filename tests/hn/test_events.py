"""Collaboration events: what makes a chain count."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_kb.hn import keys
from ai_kb.hn.errors import HnError, InvalidEvent
from ai_kb.hn.events import (
    EVENT_KINDS,
    VerifiedEvent,
    event_files,
    event_ref_actor,
    verify_chain,
    verify_event,
)
from ai_kb.hn.fields import is_rfc3339
from tests.conftest import examples

NAMES = ["event.json", "signature"]
PRIVATE = keys.private_key_of_seed(bytes(range(32)))
ACTOR = keys.actor_of(PRIVATE[32:])
# The event that a recorded repository holds, with its id and signature.
RECORDED = (
    b'{"protocol":"hn/0","kind":"issue.open","actor":"56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c",'
    b'"actorName":"Alice Agent","publicKey":"A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg","sequence":1,'
    b'"timestamp":"2026-08-30T12:01:00.5Z","title":"First issue","body":"the body"}'
)
RECORDED_SIGNATURE = b"o7GdsYMEgvwxISdLXPF+0wa7bndwnRAH7ASr8eHe5uzDewl67mJNYO5k9AkcQLl5KYJORgXBgoKZoauTabZHDA"
RECORDED_ID = "sha256:02c4cdde8c3be0c6ce9677a633e595d12cd339936244c39a0af1e79961c2d341"


def event(sequence: int = 1, previous: str = "", **fields: Any) -> bytes:
    value = {
        "protocol": "hn/0",
        "kind": "issue.comment",
        "actor": ACTOR,
        "publicKey": keys.encode_b64(PRIVATE[32:]),
        "sequence": sequence,
        "previous": previous,
        "timestamp": "2026-08-30T12:00:00Z",
        **fields,
    }
    return json.dumps({name: entry for name, entry in value.items() if entry not in ("", ...)}).encode()


def signed(payload: bytes, names: list[str] = NAMES) -> tuple[bytes, bytes, list[str]]:
    return payload, keys.encode_b64(keys.sign(PRIVATE, payload)).encode(), names


def chain(
    *entries: tuple[bytes, bytes, list[str]], after: VerifiedEvent | None = None
) -> list[VerifiedEvent]:
    return list(verify_chain(ACTOR, entries, after))


def refused(payload: bytes) -> str:
    with pytest.raises(InvalidEvent) as error:
        chain(signed(payload))
    return error.value.message.removeprefix("collaboration event: ")


def test_the_recorded_event_verifies_under_its_recorded_id() -> None:
    assert [found.id for found in chain((RECORDED, RECORDED_SIGNATURE, NAMES))] == [RECORDED_ID]


def test_a_chain_counts_and_names_the_event_before() -> None:
    first = event()
    second = event(2, "sha256:" + hashlib.sha256(first).hexdigest())
    found = chain(signed(first), signed(second))
    assert [entry.sequence for entry in found] == [1, 2]
    assert chain(signed(second), after=found[0]) == found[1:]
    assert refused(event(2)) == "sequence does not count from the event before"
    for wrong in (0, 2, 1.0, "1", True, None, ...):
        assert refused(event(sequence=wrong)) == "sequence does not count from the event before"  # type: ignore[arg-type]
    assert refused(event(previous=RECORDED_ID)) == "previous does not name the event before"
    with pytest.raises(InvalidEvent, match="previous"):
        chain(signed(first), signed(event(2, RECORDED_ID)))


def test_what_was_verified_before_a_broken_event_stands() -> None:
    events = verify_chain(ACTOR, [signed(event()), signed(event(3))])
    assert next(events).sequence == 1
    with pytest.raises(InvalidEvent):
        next(events)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"protocol": "hn/1"}, "protocol is unsupported"),
        ({"protocol": ...}, "protocol is unsupported"),
        ({"actor": "0" * 64}, "actor does not match the ref"),
        ({"publicKey": "x"}, "publicKey is invalid"),
        ({"publicKey": ...}, "publicKey is invalid"),
        ({"publicKey": 1}, "invalid JSON: publicKey must be a string"),
        ({"publicKey": keys.encode_b64(b"\1" * 31)}, "publicKey is invalid"),
        ({"previous": []}, "previous does not name the event before"),
        ({"publicKey": keys.encode_b64(b"\1" * 32)}, "publicKey does not match the actor"),
        ({"timestamp": "yesterday"}, "timestamp is invalid"),
        ({"timestamp": 1}, "timestamp is invalid"),
        ({"kind": "issue.close"}, "kind is unsupported"),
        ({"kind": ["issue.open"]}, "kind is unsupported"),
    ],
)
def test_every_field_that_is_looked_at_has_its_rule(fields: dict[str, Any], rule: str) -> None:
    assert refused(event(**fields)) == rule


def test_every_kind_of_the_protocol_counts_and_other_fields_are_not_looked_at() -> None:
    for kind in EVENT_KINDS:
        assert chain(signed(event(kind=kind, anything={"x": [1.5]}), sorted(event_files(kind))))


def test_an_event_is_one_json_object_with_no_field_twice() -> None:
    assert refused(b"[1]") == "it must be an object"
    assert refused(b"{") == "invalid JSON"
    assert refused(event().replace(b'"kind"', b'"kind": "issue.open", "kind"')) == "duplicate JSON field"


def test_log_txt_belongs_to_a_run_result_alone() -> None:
    rule = "its tree does not hold exactly the files of its kind"
    assert chain(signed(event(kind="run.result"), [*NAMES, "log.txt"]))
    for kind, names in (
        ("run.result", NAMES),
        ("issue.open", [*NAMES, "log.txt"]),
        ("issue.open", NAMES[:1]),
    ):
        with pytest.raises(InvalidEvent, match=rule):
            chain(signed(event(kind=kind), names))


def test_the_signature_is_canonical_text_over_the_exact_bytes() -> None:
    payload, text, names = signed(event())
    for wrong in (text + b"=", text + b"\n", b"\xff" * 86, b""):
        with pytest.raises(InvalidEvent):
            chain((payload, wrong, names))
    with pytest.raises(InvalidEvent, match="the signature is invalid"):
        chain((payload + b" ", text, names))


def test_event_refs_name_their_actor() -> None:
    assert event_ref_actor(f"refs/hn/actors/{ACTOR}") == ACTOR
    assert event_ref_actor(f"refs/hn/remotes/origin/actors/{ACTOR}") == ACTOR
    for ref in (
        *("refs/heads/main", "refs/hn/actors", "refs/hn/actors/x", f"refs/hn/actors/{ACTOR}/x"),
        *(
            f"refs/hn/memory/{ACTOR}/{ACTOR}",
            f"refs/hn/remotes/origin/memory/{ACTOR}",
            "refs/hn/remotes/origin",
        ),
    ):
        assert event_ref_actor(ref) is None


def test_an_event_timestamp_is_rfc_3339_in_any_form() -> None:
    for text in ("2026-08-30T12:00:00.500Z", "2026-08-30T12:00:00+00:00", "2024-02-29T12:00:00-07:00"):
        assert is_rfc3339(text)
    for text in ("2026-02-29T12:00:00Z", "2026-08-30 12:00:00Z", "2026-08-30T12:00:00", "x"):
        assert not is_rfc3339(text)


@given(st.binary(max_size=100), st.binary(max_size=90))
@examples(100)
def test_untrusted_bytes_raise_nothing_but_the_librarys_own_error(payload: bytes, text: bytes) -> None:
    with pytest.raises(HnError):
        chain((payload, text, NAMES))
    with pytest.raises(HnError):
        verify_event(payload, text[:64], actor=ACTOR, sequence=1, previous="")
