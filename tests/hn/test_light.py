"""Verifying a record or two takes other ways than verifying thousands, and says the same."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_kb.hn import cache_file, canonical, keys
from ai_kb.hn.canonical import NotCanonical
from ai_kb.hn.envelope import decode_envelope, envelope_to_bytes, verify_memory
from ai_kb.hn.errors import InvalidEnvelope, InvalidSignature
from tests.hn.conftest import Person

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON as in a process that has not imported orjson."""
    monkeypatch.setattr(canonical, "_fast", lambda: None)


def _payload(vector: dict[str, Any]) -> bytes:
    return base64.b64decode(vector["payload_b64"])


@pytest.mark.usefixtures("light")
def test_every_valid_payload_is_decoded_and_encoded_to_the_same_bytes(wire: dict[str, Any]) -> None:
    assert len(wire["valid"]) > 20
    for vector in wire["valid"]:
        payload = _payload(vector)
        assert envelope_to_bytes(decode_envelope(payload)) == payload, vector["name"]


@pytest.mark.usefixtures("light")
def test_every_invalid_payload_is_refused(wire: dict[str, Any]) -> None:
    assert len(wire["invalid"]) > 50
    for vector in wire["invalid"]:
        if "signature" in vector["error"]:
            continue  # the payload itself is valid
        with pytest.raises(InvalidEnvelope):
            decode_envelope(_payload(vector))


@pytest.mark.parametrize("left", [canonical._LIGHT_CALLS, 3, 2, 1, 0])  # reading one takes two
def test_a_refusal_has_the_recorded_reason_however_much_was_read_before(
    wire: dict[str, Any], monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    for vector in wire["invalid"]:
        if "signature" in vector["error"]:
            continue
        monkeypatch.delitem(sys.modules, "orjson", raising=False)  # as in a process that has read little
        monkeypatch.setattr(canonical, "_light_calls", canonical._LIGHT_CALLS - left)
        with pytest.raises(InvalidEnvelope) as error:
            decode_envelope(_payload(vector))
        assert error.value.message == vector["error"], vector["name"]


@pytest.mark.usefixtures("light")
@pytest.mark.parametrize(
    "data",
    [
        b"[" * 200_000,
        b'{"a":"\\ud800"}',
        b'{"a":NaN}',
        b'{"a":"\x01"}',
        b"\xef\xbb\xbf{}",
        b'{"a":1,"a":1}',
        b'{"a":1.0}x',
        b'{"a":1E2}',
        b"\xff",
        b"",
        b'{"a": 1}',
        b'{"a":18446744073709551616}',
    ],
)
def test_what_is_not_canonical_json_is_refused(data: bytes) -> None:
    with pytest.raises(NotCanonical):
        canonical.decode(data)


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(_values)
def test_both_ways_print_the_same_bytes_and_read_them_back(value: object) -> None:
    fast = canonical.encode(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical, "_fast", lambda: None)
        assert canonical.encode(value) == fast
        assert canonical.decode(fast) == value


@pytest.mark.usefixtures("light")
@pytest.mark.parametrize("value", ["\ud800", 2**64, -(2**63) - 1, {"a": [2**70]}, {1, 2}, b"x"])
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(NotCanonical):
        canonical.encode(value)


def test_a_few_calls_do_without_orjson_and_many_import_it() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from ai_kb.hn import canonical\n"
        "for number in range(canonical._LIGHT_CALLS): assert canonical.encode([number]) == b'[%d]' % number\n"
        "print('orjson' in sys.modules)\n"
        "canonical.encode([])\n"
        "print('orjson' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_one_record_is_verified_without_the_heavy_libraries(wire: dict[str, Any]) -> None:
    vector = wire["valid"][0]
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from ai_kb.hn import keys; from ai_kb.hn.envelope import verify_memory\n"
        f"print(verify_memory({_payload(vector)!r}, keys.decode_b64({vector['signature']!r})).id)\n"
        "print(sorted({'orjson', 'dataclasses', 'hashlib', 'json', 'nacl.bindings'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [vector["id"], "[]"]


@pytest.fixture(params=["the extension alone", "its bindings"])
def verifier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    keys._verifier.cache_clear()
    if request.param == "its bindings":
        monkeypatch.setitem(sys.modules, "nacl._sodium", None)
        __import__("nacl.bindings")
    yield
    keys._verifier.cache_clear()


@pytest.mark.usefixtures("verifier")
def test_signatures_are_judged_the_same_either_way(wire: dict[str, Any], alice: Person) -> None:
    for vector in wire["valid"][:5]:
        signature = keys.decode_b64(vector["signature"])
        assert verify_memory(_payload(vector), signature).id == vector["id"]
        with pytest.raises(InvalidSignature):
            verify_memory(_payload(vector), bytes([signature[0] ^ 1]) + signature[1:])
    for message in (b"", b"x" * 100_000):
        keys.verify(alice.public_key, message, keys.sign(alice.private_key, message))


def test_sqlite_is_the_same_module_with_or_without_its_date_adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    with closing(cache_file.sqlite().connect(":memory:")) as conn:
        assert conn.execute("SELECT 1").fetchone() == (1,)
    assert cache_file.sqlite().DatabaseError is sqlite3.DatabaseError
    monkeypatch.setitem(sys.modules, "_sqlite3", None)
    assert cache_file.sqlite() is sqlite3
