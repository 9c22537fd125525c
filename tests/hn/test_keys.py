"""Ed25519: keys, signatures, and the keys that prove nothing."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_kb.hn import keys
from ai_kb.hn.errors import InvalidSignature

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P


@cache
def points_of_small_order() -> frozenset[int]:
    """y coordinates of the eight points of order dividing 8, from the curve itself."""
    order = 2**252 + 27742317777372353535851937790883648493  # of the large subgroup
    found: set[int] = set()
    y = 2
    while len(found) < 5:
        x = x_of(y)
        if x is not None:
            torsion = multiply((x, y), order)  # what is left of the point is of small order
            point = (0, 1)
            for _ in range(8):
                found.add(point[1])
                point = add(point, torsion)
        y += 1
    return frozenset(found)


def x_of(y: int) -> int | None:
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return x if (x * x - square) % P == 0 else None


def add(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    product = D * a[0] * b[0] * a[1] * b[1]
    x = (a[0] * b[1] + b[0] * a[1]) * pow(1 + product, -1, P)
    y = (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, -1, P)
    return x % P, y % P


def multiply(point: tuple[int, int], times: int) -> tuple[int, int]:
    result = (0, 1)
    while times:
        if times & 1:
            result = add(result, point)
        point = add(point, point)
        times >>= 1
    return result


def test_every_key_of_small_order_is_weak_with_either_sign() -> None:
    ys = points_of_small_order()
    assert len(ys) == 5  # eight points: x and -x share their y
    for y in ys:
        for sign in (0, 1 << 255):
            assert keys.is_weak((y | sign).to_bytes(32, "little"))


@pytest.mark.parametrize("beyond", range(19))
def test_every_encoding_that_is_not_reduced_is_weak(beyond: int) -> None:
    for sign in (0, 1 << 255):
        assert keys.is_weak((P + beyond | sign).to_bytes(32, "little"))


def test_a_weak_key_is_refused_before_any_library_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def accepting(signed: bytes, key: bytes) -> bool:
        return bool(signed) and bool(key)

    monkeypatch.setattr(keys, "_verifier", lambda: accepting)
    keys.verify(b"\2" * 32, b"payload", bytes(64))
    for y in points_of_small_order():
        with pytest.raises(InvalidSignature):
            keys.verify(y.to_bytes(32, "little"), b"payload", bytes(64))


def test_a_generated_key_signs_what_its_own_public_key_verifies() -> None:
    private = keys.generate()
    assert len(private) == 64
    assert private != keys.generate()
    assert private == keys.private_key_of_seed(private[:32])
    signature = keys.sign(private, b"payload")
    keys.verify(private[32:], b"payload", signature)
    with pytest.raises(InvalidSignature):
        keys.verify(private[32:], b"payloae", signature)
    with pytest.raises(InvalidSignature):
        keys.verify(private[32:-1], b"payload", signature)


@given(st.binary(max_size=70))
def test_base64_reads_back_and_has_one_form(data: bytes) -> None:
    text = keys.encode_b64(data)
    assert keys.decode_b64(text) == data
    assert "=" not in text


@pytest.mark.parametrize("text", ["A", "AB", "AAA=", "AA==", "A\nAA", "-_AA", "é", "AAAA A", "AAB"])
def test_text_that_is_not_canonical_base64_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="base64"):
        keys.decode_b64(text)


def test_importing_the_library_loads_neither_nacl_nor_anything_of_its_own(isolated: dict[str, str]) -> None:
    code = (
        "import sys, ai_kb.hn; print([m for m in sys.modules if m.startswith(('nacl', 'ai_kb.', 'orjson'))])"
    )
    root = str(keys.__file__).rsplit("/ai_kb/", 1)[0]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root, env=isolated
    )
    assert done.stdout.strip() == "['ai_kb.hn']"


def test_only_verifying_and_signing_load_nacl(isolated: dict[str, str]) -> None:
    code = (
        "import sys, ai_kb.hn.envelope, ai_kb.hn.projection, ai_kb.hn.events, ai_kb.hn.cursor\n"
        "assert not [m for m in sys.modules if m.startswith('nacl')]"
    )
    root = str(keys.__file__).rsplit("/ai_kb/", 1)[0]
    done: Any = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=root, env=isolated)
    assert done.returncode == 0, done.stderr
