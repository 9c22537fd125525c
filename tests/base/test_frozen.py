"""Frozen classes behave as those of ``dataclasses``, digests as those of ``hashlib``, without either."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_base import frozen
from agent_base.digests import sha1_hex, sha256_hex


@frozen.dataclass(frozen=True, slots=True, order=True)
class Light:
    """Documented."""

    name: str
    size: int
    tags: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Real:
    """Documented."""

    name: str
    size: int
    tags: tuple[str, ...] = ()


fields = st.tuples(st.text(max_size=3), st.integers(-2, 2), st.tuples(st.text(max_size=1)))


@given(fields, fields)
def test_equality_order_and_hash_are_those_of_the_fields(
    a: tuple[str, int, tuple[str]], b: tuple[str, int, tuple[str]]
) -> None:
    light, real = (Light(*a), Light(*b)), (Real(*a), Real(*b))
    assert (light[0] == light[1]) == (real[0] == real[1])
    assert (light[0] < light[1]) == (real[0] < real[1])
    assert (light[0] <= light[1]) == (real[0] <= real[1])
    assert (light[0] > light[1]) == (real[0] > real[1])
    assert (light[0] >= light[1]) == (real[0] >= real[1])
    assert hash(light[0]) == hash(Light(*a))
    assert repr(light[0]).replace("Light", "Real") == repr(real[0])


def test_arguments_and_defaults_are_those_of_a_dataclass() -> None:
    assert Light("a", 1) == Light(name="a", size=1, tags=())
    for arguments in ((), ("a",), ("a", 1, (), 2)):
        with pytest.raises(TypeError):
            Light(*arguments)  # type: ignore[call-arg, arg-type]
    assert Light.__doc__ == "Documented."
    assert Light("a", 1) != Real("a", 1)
    match Light("a", 7):
        case Light(name, size):
            assert (name, size) == ("a", 7)


def test_fields_cannot_be_assigned_added_or_deleted() -> None:
    value = Light("a", 1)
    for name in ("name", "other"):
        with pytest.raises(AttributeError):
            setattr(value, name, "b")
    with pytest.raises(AttributeError):
        del value.name
    assert not hasattr(value, "__dict__")


def test_copies_and_pickles_are_equal() -> None:
    value = Light("a", 1, ("x",))
    for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert other == value
        assert type(other) is Light


def test_only_frozen_classes_with_slots_are_made() -> None:
    with pytest.raises(TypeError):
        frozen.dataclass(frozen=False, slots=True)


def test_a_class_without_order_has_none() -> None:
    @frozen.dataclass(frozen=True, slots=True)
    class Plain:
        number: int

    assert Plain(1) == Plain(1)
    with pytest.raises(TypeError):
        sorted([Plain(1), Plain(2)])  # type: ignore[type-var]


@given(st.binary())
def test_a_digest_is_that_of_hashlib(data: bytes) -> None:
    assert sha256_hex(data) == hashlib.sha256(data).hexdigest()


def test_a_digest_without_openssl_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = hashlib.sha256(b"abc").hexdigest()
    monkeypatch.delitem(sys.modules, "hashlib")
    assert sha256_hex(b"abc") == wanted
    assert "hashlib" not in sys.modules
    for name in ("_sha2", "_sha256"):
        monkeypatch.setitem(sys.modules, name, None)
    assert sha256_hex(b"abc") == wanted


@given(st.binary())
def test_a_digest_of_git_is_that_of_hashlib(data: bytes) -> None:
    assert sha1_hex(data) == hashlib.sha1(data).hexdigest()


def test_a_digest_of_git_without_openssl_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = hashlib.sha1(b"abc").hexdigest()
    monkeypatch.delitem(sys.modules, "hashlib")
    assert sha1_hex(b"abc") == wanted
    assert "hashlib" not in sys.modules
    monkeypatch.setitem(sys.modules, "_sha1", None)
    assert sha1_hex(b"abc") == wanted


def test_a_copy_differs_in_what_is_changed() -> None:
    light, real = Light("a", 1, ("x",)), Real("a", 1, ("x",))
    for changes in ({}, {"size": 2}, {"name": "b", "tags": ()}):
        assert repr(frozen.replace(light, **changes)) == repr(dataclasses.replace(real, **changes)).replace(
            "Real", "Light"
        )
    assert light == Light("a", 1, ("x",))
    with pytest.raises(TypeError, match="has no field 'nothing'"):
        frozen.replace(light, nothing=1)


def test_neither_imports_what_it_stands_for() -> None:
    code = (
        "import sys; from agent_base.digests import sha256_hex; from agent_base.frozen import dataclass\n"
        "print(sha256_hex(b'abc'))\n"
        "print([name for name in ('hashlib', 'dataclasses', 'inspect', 'typing') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == [hashlib.sha256(b"abc").hexdigest(), "[]"]
