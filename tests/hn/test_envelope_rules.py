"""A test for every rule of "Validity of an envelope", at the bound and one step over it."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from ai_kb.hn import keys
from ai_kb.hn.envelope import (
    MAX_PAYLOAD_BYTES,
    Envelope,
    Handoff,
    PathAnchor,
    decode_envelope,
    encode_envelope,
    envelope_mapping,
    envelope_to_bytes,
    verify_memory,
)
from ai_kb.hn.errors import InvalidEnvelope, InvalidSignature

Make = Callable[..., dict[str, Any]]
OID = "b" * 40
DIGEST = "sha256:" + "f" * 64
SUBJECT = "issue:sha256:" + "c" * 64


def accepted(mapping: dict[str, Any]) -> Envelope:
    return decode_envelope(encode_envelope(mapping))


def refused(mapping: Any) -> str:
    with pytest.raises(InvalidEnvelope) as error:
        encode_envelope(mapping)
    return error.value.message


def test_any_mapping_is_taken_and_nothing_else(make: Make) -> None:
    assert encode_envelope(MappingProxyType(make())) == encode_envelope(make())
    for other in ([], "{}", None, 1):
        assert refused(other)


# --- protocol, identity ---------------------------------------------------------------------------


def test_the_protocol_is_hn_memory_0_and_nothing_else(make: Make) -> None:
    assert accepted(make()).protocol == "hn-memory/0"
    for other in ("hn-memory/1", "hn/0", "", "HN-MEMORY/0"):
        assert refused(make(protocol=other)) == "memory protocol is unsupported"


def test_there_are_four_operations(make: Make) -> None:
    for other in ("", "delete", "Record"):
        assert refused(make(operation=other)) == "memory operation is unsupported"


def test_the_actor_is_64_lowercase_hex_digits(make: Make, alice: Any) -> None:
    for other in (
        alice.actor[:-1],
        alice.actor + "0",
        alice.actor.upper(),
        "g" * 64,
        "",
        "sha256:" + "a" * 57,
    ):
        assert refused(make(actor=other)) == "memory actor is invalid"


def test_the_actor_is_the_fingerprint_of_the_public_key(make: Make, bob: Any) -> None:
    assert refused(make(actor=bob.actor)) == "memory actor does not match publicKey"
    assert refused(make(publicKey=keys.encode_b64(bob.public_key))) == "memory actor does not match publicKey"


def test_the_public_key_is_canonical_unpadded_base64_of_32_bytes(make: Make, alice: Any) -> None:
    text = keys.encode_b64(alice.public_key)
    for other in (
        text + "=",
        "A" * 65,
        text[:-1],
        text[:-2],
        "",
        text.replace("/", "_"),
        "é" * 43,
        text[:-1] + "h",
    ):
        assert refused(make(publicKey=other)) == "memory publicKey is invalid"
    for break_ in ("\n", "\r"):
        assert refused(make(publicKey=text[:8] + break_ + text[8:])) == "memory publicKey is not canonical"


def test_the_actor_name_is_not_blank_at_most_256_bytes_and_without_controls(make: Make) -> None:
    for name in ("a", "x" * 256, "é" * 128, " padded ", "\u200b", "name\u2028line", "\u202eRLO"):
        assert accepted(make(actorName=name)).actor_name == name
    for name in ("", " \t", "\u3000", "\u2028", "x" * 257, "é" * 129, "a\0b", "a\tb", "a\x7f", "a\x9fb"):
        assert refused(make(actorName=name)) == "memory actorName is invalid"


def test_text_that_is_no_utf_8_is_refused(make: Make) -> None:
    for field in ("actorName",):
        assert refused(make(**{field: "lone \ud800"})) == "memory text is not valid UTF-8"
    assert refused(make(record={"content": "lone \udfff"})) == "memory text is not valid UTF-8"
    assert refused(make(record={"topics": ["\ud800"]})) == "memory text is not valid UTF-8"


# --- stream position ------------------------------------------------------------------------------


def test_the_stream_is_a_full_digest(make: Make) -> None:
    for other in (
        "",
        "f" * 64,
        "sha256:" + "f" * 63,
        "sha256:" + "F" * 64,
        "SHA256:" + "f" * 64,
        DIGEST + "0",
    ):
        assert refused(make(stream=other)) == "memory stream is invalid"


def test_the_sequence_is_at_least_1_and_at_most_64_bits(make: Make) -> None:
    assert accepted(make(sequence=2**64 - 1, previous=DIGEST)).sequence == 2**64 - 1
    for other in (0, -1, 2**64, None, ...):
        assert refused(make(sequence=other)) == "memory sequence must be positive"
    for wrong in (1.0, True, "1", [1]):
        assert refused(make(sequence=wrong)) == "invalid memory JSON"


def test_previous_is_absent_at_sequence_1_and_required_after(make: Make) -> None:
    assert accepted(make(sequence=2, previous=DIGEST)).previous == DIGEST
    assert accepted(make(previous=None)).previous == accepted(make(previous="")).previous == ""
    assert refused(make(previous=DIGEST)) == "memory previous must be absent at sequence 1"
    for other in (..., "", "f" * 64, DIGEST[:-1]):
        assert refused(make(sequence=2, previous=other)) == "memory previous is required after sequence 1"


def test_the_timestamp_is_the_form_that_formatting_gives_back(make: Make) -> None:
    for text in (
        "2026-08-30T12:34:56Z",
        "2026-08-30T12:34:56.1Z",
        "2026-08-30T12:34:56.000000001Z",
        "2026-08-30T12:34:56+05:30",
        "2026-08-30T12:34:56.25-23:59",
        "2026-08-30T12:34:56+24:59",
        "0000-02-29T00:00:00Z",
        "2000-02-29T23:59:59Z",
        "9999-12-31T23:59:59-00:01",
    ):
        assert accepted(make(timestamp=text)).timestamp == text
    for text in (
        "",
        "2026-08-30",
        "2026-08-30T12:34:56",
        "2026-08-30t12:34:56Z",
        "2026-08-30T12:34:56z",
        "2026-08-30 12:34:56Z",
        "2026-08-30T24:00:00Z",
        "2026-08-30T12:34:60Z",
        "2026-08-30T12:34:56.0Z",
        "2026-08-30T12:34:56.10Z",
        "2026-08-30T12:34:56.1234567891Z",
        "2026-08-30T12:34:56,5Z",
        "2026-08-30T12:34:56+00:00",
        "2026-08-30T12:34:56-00:00",
        "2026-08-30T12:34:56+25:00",
        "2026-08-30T12:34:56+05:60",
        "2026-08-30T12:34:56+0530",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-08-30T12:34:56Z\n",
    ):
        assert refused(make(timestamp=text)) == "memory timestamp is invalid", text


# --- operations -----------------------------------------------------------------------------------


def test_a_record_carries_a_record_and_no_target_reason_or_evidence(make: Make) -> None:
    message = "memory record operation has invalid fields"
    assert refused({**make(), "record": None}) == message
    assert refused(make(target=DIGEST)) == message
    assert refused(make(reason="incorrect")) == message
    assert refused(make(evidence=["git:" + OID])) == message


def test_a_supersede_carries_a_record_and_a_target_and_no_reason_or_evidence(make: Make) -> None:
    message = "memory supersede operation has invalid fields"
    envelope = accepted(make(operation="supersede", target=DIGEST))
    assert envelope.target == DIGEST
    assert envelope.record is not None
    assert refused(make(operation="supersede")) == message
    assert refused(make(operation="supersede", target=DIGEST[:-1])) == message
    assert refused({**make(operation="supersede", target=DIGEST), "record": None}) == message
    assert refused(make(operation="supersede", target=DIGEST, reason="incorrect")) == message
    assert refused(make(operation="supersede", target=DIGEST, evidence=["git:" + OID])) == message


def test_a_retract_carries_a_target_and_a_reason_and_no_record_or_evidence(make: Make) -> None:
    message = "memory retract operation has invalid fields"
    base = {**make(operation="retract", target=DIGEST, reason="incorrect"), "record": None}
    assert accepted(base).reason == "incorrect"
    assert refused({**base, "target": ""}) == message
    assert refused({**base, "reason": ""}) == message
    assert refused({**base, "record": make()["record"]}) == message
    assert refused({**base, "evidence": ["git:" + OID]}) == message


def test_a_challenge_carries_a_target_a_reason_and_optional_evidence_and_no_record(make: Make) -> None:
    message = "memory challenge operation has invalid fields"
    base = {**make(operation="challenge", target=DIGEST, reason="outdated"), "record": None}
    assert accepted(base).evidence == ()
    assert accepted({**base, "evidence": []}).evidence == ()
    assert accepted({**base, "evidence": ["git:" + OID]}).evidence == ("git:" + OID,)
    assert refused({**base, "target": None}) == message
    assert refused({**base, "reason": None}) == message
    assert refused({**base, "record": make()["record"]}) == message
    for bad in (["git:short"], ["git:" + OID] * 2, [f"git:{i:040x}" for i in range(65)]):
        assert refused({**base, "evidence": bad}) == "memory challenge evidence is invalid"


def test_a_reason_is_lowercase_letters_digits_and_inner_hyphens_of_at_most_128_bytes(make: Make) -> None:
    base = {**make(operation="retract", target=DIGEST), "record": None}
    for reason in ("a", "0", "a-b", "a--b", "r" * 128):
        assert accepted({**base, "reason": reason}).reason == reason
    for reason in ("-a", "a-", "A", "a b", "a_b", "é", "r" * 129, "a\n", "-"):
        assert refused({**base, "reason": reason}) == "memory retract operation has invalid fields"


def test_an_attempt_outcome_is_like_a_reason_of_at_most_64_bytes(make: Make) -> None:
    for outcome in ("failed", "0", "o" * 64):
        made = make(record={"kind": "attempt", "attemptOutcome": outcome})
        assert accepted(made).record.attempt_outcome == outcome  # type: ignore[union-attr]
    for outcome in ("Failed", "-a", "o" * 65, ""):
        made = make(record={"kind": "attempt", "attemptOutcome": outcome})
        assert refused(made) == "memory attempt fields are invalid"


# --- record ---------------------------------------------------------------------------------------


def test_content_is_not_blank_and_at_most_65536_bytes(make: Make) -> None:
    for content in ("x" * 65_536, "é" * 32_768, "\0", " x ", "\u200b", "\x1c"):
        assert accepted(make(record={"content": content})).record.content == content  # type: ignore[union-attr]
    for content in ("", " \n\t", "\u3000\u2028\x85", "x" * 65_537, "é" * 32_769):
        assert refused(make(record={"content": content})) == "memory record content is invalid"


def test_there_are_at_most_32_topics(make: Make) -> None:
    topics = [f"t{i:02}" for i in range(33)]
    assert len(accepted(make(record={"topics": topics[:32]})).record.topics) == 32  # type: ignore[union-attr]
    assert refused(make(record={"topics": topics})) == "memory record topics exceed limit"


def test_a_topic_is_1_to_128_bytes_in_its_own_trimmed_lowercase_form(make: Make) -> None:
    for topic in ("a", "a b", "t" * 128, "é" * 64, "ς", "ß", "\u2028x\u2028y"[1:], "<&>"):
        assert accepted(make(record={"topics": [topic]})).record.topics == (topic,)  # type: ignore[union-attr]
    message = "memory record topics are invalid, duplicate, or unsorted"
    for topic in ("", " a", "a\u3000", "A", "Über", "Ⅷ", "İ", "a\0", "a\x7f", "t" * 129, "é" * 65):
        assert refused(make(record={"topics": [topic]})) == message


def test_topics_ascend_strictly_by_their_bytes(make: Make) -> None:
    message = "memory record topics are invalid, duplicate, or unsorted"
    assert accepted(make(record={"topics": ["a", "b", "\uffee", "\U00010428"]}))
    assert refused(make(record={"topics": ["b", "a"]})) == message
    assert refused(make(record={"topics": ["a", "a"]})) == message
    assert refused(make(record={"topics": ["\U00010428", "\uffee"]})) == message  # UTF-16 order


def test_evidence_is_typed_unique_and_at_most_64(make: Make) -> None:
    message = "memory record evidence is invalid"
    many = [f"git:{i:040x}" for i in range(65)]
    good = ["memory:" + DIGEST, "event:" + DIGEST, "git:" + OID, "git:" + "d" * 64]
    assert accepted(make(record={"evidence": good})).record.evidence == tuple(good)  # type: ignore[union-attr]
    assert accepted(make(record={"evidence": many[:64]}))
    assert refused(make(record={"evidence": many})) == message
    assert refused(make(record={"evidence": ["git:" + OID, "git:" + OID]})) == message
    for bad in (
        "",
        "git:" + OID[1:],
        "git:" + OID.upper(),
        "GIT:" + OID,
        "run:" + DIGEST,
        "memory:" + "f" * 64,
        OID,
    ):
        assert refused(make(record={"evidence": [bad]})) == message


def test_topics_and_evidence_are_required_arrays_of_a_record(make: Make) -> None:
    assert refused(make(record={"topics": ...})) == "memory record topics are required"
    assert refused(make(record={"topics": None})) == "memory record topics are required"
    assert refused(make(record={"evidence": ...})) == "memory record evidence is required"


def test_there_are_at_most_128_paths_and_65536_bytes_of_them(make: Make) -> None:
    def paths(names: list[str]) -> dict[str, Any]:
        entries = [{"path": name, "blob": "absent"} for name in names]
        return make(record={"anchor": {"commit": OID, "paths": entries}})

    assert accepted(paths([f"p{i:03}" for i in range(128)]))
    assert refused(paths([f"p{i:03}" for i in range(129)])) == "memory anchor paths exceed limit"
    long = [f"{i:02}" + "x" * 4094 for i in range(17)]
    assert accepted(paths(long[:16]))
    assert refused(paths([*long[:16], "y"])) == "memory anchor paths exceed limit"


def test_paths_ascend_strictly_by_their_bytes(make: Make) -> None:
    def paths(*names: str) -> dict[str, Any]:
        entries = [{"path": name, "blob": OID} for name in names]
        return make(record={"anchor": {"commit": OID, "paths": entries}})

    made = accepted(paths("Z", "a", "a-b", "a/b", "é", "\uffff", "\U00010000")).record
    assert made is not None
    assert made.anchor.paths[0] == PathAnchor("Z", OID)
    for names in (("b", "a"), ("a", "a"), ("\U00010000", "\uffff")):
        assert refused(paths(*names)) == "memory anchor paths are duplicate or unsorted"


def test_a_path_is_relative_clean_and_without_backslash_or_control(make: Make) -> None:
    def path(name: str) -> dict[str, Any]:
        return make(record={"anchor": {"commit": OID, "paths": [{"path": name, "blob": "absent"}]}})

    for name in (
        "a",
        "a/b.c",
        "x" * 4096,
        "..a",
        "...",
        "a/..b",
        "-a",
        "a:b",
        "*?[x]",
        " a ",
        ":/x",
        "../a",
        "../../a",
    ):
        assert accepted(path(name))
    for name in (
        *(
            "",
            "/a",
            "a/",
            "a//b",
            ".",
            "./a",
            "a/.",
            "a/./b",
            "..",
            "../..",
            "a/..",
            "a/../b",
            "../a/..",
            "../",
        ),
        *("a\\b", "a\0b", "a\nb", "a\x85b", "x" * 4097, "é" * 2049),
    ):
        assert refused(path(name)) == "memory anchor path is invalid", name


def test_a_blob_is_a_full_object_id_or_absent(make: Make) -> None:
    def blob(text: Any) -> dict[str, Any]:
        return make(record={"anchor": {"commit": OID, "paths": [{"path": "a", "blob": text}]}})

    for text in (OID, "c" * 64, "absent"):
        assert accepted(blob(text))
    for text in ("", None, "Absent", OID[1:], OID.upper()):
        assert refused(blob(text)) == "memory anchor blob is invalid"


def test_the_anchor_commit_is_a_full_lowercase_object_id(make: Make) -> None:
    for commit in (OID, "0" * 64):
        assert accepted(make(record={"anchor": {"commit": commit}}))
    for commit in ("", "HEAD", OID[1:], OID + "b", "b" * 63, OID.upper()):
        assert refused(make(record={"anchor": {"commit": commit}})) == "memory anchor commit is invalid"
    assert refused(make(record={"anchor": ...})) == "memory anchor commit is invalid"


def test_a_subject_is_typed_and_full(make: Make) -> None:
    for kind in ("issue", "proposal", "event", "policy", "pipeline", "run"):
        assert accepted(make(record={"anchor": {"commit": OID, "subject": f"{kind}:{DIGEST}"}}))
    for subject in (
        DIGEST,
        "commit:" + DIGEST,
        "Issue:" + DIGEST,
        "issue:" + "f" * 64,
        "git:" + OID,
        "issue:",
    ):
        made = make(record={"anchor": {"commit": OID, "subject": subject}})
        assert refused(made) == "memory anchor subject is invalid"


def test_applicability_exact_and_descendants_carry_no_subject(make: Make) -> None:
    for mode in ("exact", "descendants"):
        assert accepted(make(record={"applicability": {"mode": mode}}))
        both = {
            "anchor": {"commit": OID, "subject": SUBJECT},
            "applicability": {"mode": mode, "subject": SUBJECT},
        }
        assert refused(make(record=both)) == "memory applicability subject is not allowed"
    for mode in ("", "always", "Exact", ...):
        made = make(record={"applicability": {"mode": mode} if mode is not ... else {}})
        assert refused(made) == "memory applicability mode is unsupported"


def test_applicability_subject_carries_the_subject_of_the_anchor(make: Make) -> None:
    message = "memory applicability subject must match anchor"
    anchor = {"commit": OID, "subject": SUBJECT}
    assert accepted(make(record={"anchor": anchor, "applicability": {"mode": "subject", "subject": SUBJECT}}))
    assert refused(make(record={"anchor": anchor, "applicability": {"mode": "subject"}})) == message
    other = {"mode": "subject", "subject": "run:" + DIGEST}
    assert refused(make(record={"anchor": anchor, "applicability": other})) == message
    assert refused(make(record={"applicability": {"mode": "subject"}})) == message


# --- kinds ----------------------------------------------------------------------------------------

HANDOFF: dict[str, list[str]] = {
    "completed": ["done"],
    "assumptions": [],
    "blockers": [],
    "nextActions": ["next"],
}


def test_there_are_six_kinds(make: Make) -> None:
    for kind in ("", "note", "Decision", "fact"):
        assert refused(make(record={"kind": kind})) == "memory record kind is unsupported"


@pytest.mark.parametrize("kind", ["observation", "decision", "assumption"])
def test_a_plain_kind_carries_neither_outcome_nor_handoff(make: Make, kind: str) -> None:
    assert accepted(make(record={"kind": kind, "evidence": ["git:" + OID]}))
    for extra in ({"attemptOutcome": "failed"}, {"handoff": HANDOFF}):
        assert refused(make(record={"kind": kind, **extra})) == "memory record kind has invalid fields"


def test_an_attempt_needs_an_outcome_and_carries_no_handoff(make: Make) -> None:
    message = "memory attempt fields are invalid"
    assert refused(make(record={"kind": "attempt"})) == message
    assert refused(make(record={"kind": "attempt", "attemptOutcome": "x", "handoff": HANDOFF})) == message


def test_a_verification_needs_evidence_and_carries_neither_outcome_nor_handoff(make: Make) -> None:
    message = "memory verification fields are invalid"
    good = {"kind": "verification", "evidence": ["git:" + OID]}
    assert accepted(make(record=good))
    assert refused(make(record={**good, "evidence": []})) == message
    assert refused(make(record={**good, "attemptOutcome": "failed"})) == message
    assert refused(make(record={**good, "handoff": HANDOFF})) == message


def test_a_handoff_needs_the_handoff_object_and_carries_no_outcome(make: Make) -> None:
    message = "memory handoff fields are invalid"
    made = accepted(make(record={"kind": "handoff", "handoff": HANDOFF})).record
    assert made is not None
    assert made.handoff == Handoff(("done",), (), (), ("next",))
    assert refused(make(record={"kind": "handoff"})) == message
    assert refused(make(record={"kind": "handoff", "handoff": HANDOFF, "attemptOutcome": "x"})) == message


@pytest.mark.parametrize("name", ["completed", "assumptions", "blockers", "nextActions"])
def test_a_handoff_list_is_there_and_bounded(make: Make, name: str) -> None:
    def handoff(entries: Any) -> dict[str, Any]:
        lists: dict[str, Any] = {**HANDOFF, name: entries}
        return make(record={"kind": "handoff", "handoff": {k: v for k, v in lists.items() if v is not ...}})

    message = "memory handoff list is missing or exceeds limit"
    assert accepted(handoff(["x"] * 64))
    assert accepted(handoff(["x" * 4096] * 16))
    assert refused(handoff(["x"] * 65)) == message
    assert refused(handoff(["x" * 4096] * 16 + ["y"])) == message
    assert refused(handoff(...)) == message
    assert refused(handoff(None)) == message
    for entry in ("", " ", "\u3000", "x" * 4097, "é" * 2049):
        assert refused(handoff([entry])) == "memory handoff entry is invalid"


# --- form -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place", [(), ("record",), ("record", "anchor"), ("record", "applicability"), ("record", "handoff")]
)
def test_an_unknown_field_is_refused_at_every_level(make: Make, place: tuple[str, ...]) -> None:
    mapping = make(record={"kind": "handoff", "handoff": dict(HANDOFF)})
    inner = mapping
    for name in place:
        inner = inner[name]
    inner["extra"] = 1
    assert refused(mapping) == "invalid memory JSON"
    del inner["extra"]
    first = next(iter(inner))
    inner[first.upper()] = inner.pop(first)
    assert refused(mapping) == "memory JSON is not canonical"
    inner[1] = "a key that is no text"
    assert refused(mapping) == "invalid memory JSON"


@pytest.mark.parametrize(
    ("record", "fields"),
    [
        ({}, {"protocol": 0}),
        ({}, {"evidence": "git"}),
        ({}, {"evidence": {}}),
        ({"kind": []}, {}),
        ({"topics": ["a", 1]}, {}),
        ({"anchor": []}, {}),
        ({"anchor": {"commit": OID, "paths": "a"}}, {}),
        ({"anchor": {"commit": OID, "paths": {}}}, {}),
        ({"anchor": {"commit": OID, "paths": [1]}}, {}),
        ({"applicability": "exact"}, {}),
        ({"handoff": ["x"]}, {}),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(make: Make, record: Any, fields: Any) -> None:
    assert refused(make(record=record, **fields)) == "invalid memory JSON"


def test_an_envelope_is_a_mapping(make: Make) -> None:
    for value in ([], "x", 1, (make(),)):
        assert refused(value) == "invalid memory JSON"
    assert refused(None) == refused({}) == "memory protocol is unsupported"
    assert refused({**make(), "record": "x"}) == "invalid memory JSON"


def test_a_payload_is_at_most_524288_bytes(make: Make) -> None:
    # Control characters take six bytes each as JSON, so valid fields can exceed the bound together.
    entries = ["\x01" * 4096] * 16
    record = {
        "kind": "handoff",
        "content": "\x01" * 65_530 + "x",
        "handoff": {**HANDOFF, "completed": entries},
    }
    message = f"memory JSON exceeds {MAX_PAYLOAD_BYTES} bytes"
    assert refused(make(record=record)) == message
    with pytest.raises(InvalidEnvelope, match="exceeds"):
        decode_envelope(b" " * (MAX_PAYLOAD_BYTES + 1))


def test_fields_in_any_order_and_empty_optional_ones_encode_to_the_one_canonical_form(make: Make) -> None:
    mapping = make()
    shuffled = dict(reversed(mapping.items()))
    shuffled["record"] = dict(reversed(mapping["record"].items()))
    shuffled.update(previous=None, target="", reason=None, evidence=[])
    shuffled["record"].update(attemptOutcome="", handoff=None)
    shuffled["record"]["anchor"].update(paths=None, subject="")
    shuffled["record"]["applicability"].update(subject=None)
    assert encode_envelope(shuffled) == encode_envelope(mapping)


def test_an_envelope_object_encodes_as_its_mapping_does(make: Make) -> None:
    mapping = make(record={"kind": "handoff", "handoff": HANDOFF, "topics": ["a"]})
    envelope = accepted(mapping)
    assert envelope_to_bytes(envelope) == encode_envelope(mapping)
    assert encode_envelope(envelope_mapping(envelope)) == encode_envelope(mapping)


def test_only_a_signature_of_the_envelopes_own_key_over_the_exact_bytes_verifies(
    make: Make, alice: Any, bob: Any
) -> None:
    payload = encode_envelope(make())
    signature = keys.sign(alice.private_key, payload)
    memory = verify_memory(payload, signature)
    assert memory.envelope.actor == alice.actor
    for wrong in (
        keys.sign(bob.private_key, payload),
        keys.sign(alice.private_key, payload + b" "),
        signature[:-1],
        signature + b"\0",
        b"",
    ):
        with pytest.raises(InvalidSignature, match="invalid memory signature"):
            verify_memory(payload, wrong)
    with pytest.raises(InvalidEnvelope, match="not canonical"):
        verify_memory(payload + b" ", keys.sign(alice.private_key, payload + b" "))
