"""Ed25519 keys and signatures. The only module that imports nacl, and only when it must.

A public key that proves nothing (a point of small order, or bytes that are not the one
encoding of a point) is refused: anybody can make a signature under it.

docs/protocol.md, "Identity" and "Where this differs from the first implementation", 7.
"""

from __future__ import annotations

import base64
import binascii
from functools import cache, lru_cache

from agent_base.digests import sha256_hex
from ai_kb.hn.errors import InvalidSignature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SEED_BYTES = 32
PRIVATE_KEY_BYTES = 64
PUBLIC_KEY_BYTES = 32
SIGNATURE_BYTES = 64

_FIELD = 2**255 - 19
_ORDER_8_Y = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
# y coordinates of the points whose order divides 8; x may have either sign.
_SMALL_ORDER_Y = frozenset({0, 1, _FIELD - 1, _ORDER_8_Y, _FIELD - _ORDER_8_Y})


def encode_b64(data: bytes) -> str:
    """Standard base64 without padding."""
    return base64.b64encode(data).rstrip(b"=").decode()


def decode_b64(text: str) -> bytes:
    """The bytes that ``text`` encodes canonically, unpadded. Raises ValueError otherwise."""
    try:
        data = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise ValueError("not unpadded base64") from error
    if encode_b64(data) != text:
        raise ValueError("not canonical base64")
    return data


def decode_signature(text: bytes) -> bytes:
    """The bytes of a signature as a blob holds it. Raises ValueError unless canonical, unpadded."""
    if len(text) != 86:  # of 64 bytes; whatever else is refused for what it is
        return decode_b64(text.decode("ascii"))
    data = binascii.a2b_base64(text + b"==", strict_mode=True)
    if binascii.b2a_base64(data, newline=False) != text + b"==":
        raise ValueError("not canonical base64")
    return data


@lru_cache(maxsize=4096)
def actor_of(public_key: bytes) -> str:
    """The actor id of 32 raw public-key bytes: their SHA-256, lowercase hex."""
    return sha256_hex(public_key)


@lru_cache(maxsize=4096)
def is_weak(public_key: bytes) -> bool:
    """Whether 32 raw bytes are no canonical encoding, or one of a point of small order.

    Whether they encode a point at all is left to the verification itself.
    """
    y = int.from_bytes(public_key, "little") & (2**255 - 1)
    return y >= _FIELD or y in _SMALL_ORDER_Y


def generate() -> bytes:
    """A new private key: 64 bytes, a random seed and then the public key."""
    import os

    return private_key_of_seed(os.urandom(SEED_BYTES))


def private_key_of_seed(seed: bytes) -> bytes:
    """The 64-byte private key (seed, then public key) of a 32-byte seed."""
    from nacl.bindings import crypto_sign_seed_keypair

    _, private_key = crypto_sign_seed_keypair(seed)
    return private_key


def sign(private_key: bytes, payload: bytes) -> bytes:
    """The 64 raw signature bytes of ``payload`` under a 64-byte private key."""
    from nacl.bindings import crypto_sign

    return crypto_sign(payload, private_key)[:SIGNATURE_BYTES]


def verify(public_key: bytes, payload: bytes, signature: bytes) -> None:
    """Raise InvalidSignature unless ``signature`` verifies over ``payload`` under a strong ``public_key``."""
    if len(signature) != SIGNATURE_BYTES or len(public_key) != PUBLIC_KEY_BYTES or is_weak(public_key):
        raise InvalidSignature("invalid memory signature")
    if not _verifier()(signature + payload, public_key):
        raise InvalidSignature("invalid memory signature")


@cache
def _verifier() -> Callable[[bytes, bytes], bool]:
    """Whether a signature followed by its message verifies under a key: libsodium's crypto_sign_open.

    Taken from the extension of pynacl alone where that is as it is known to be: ``nacl.bindings`` takes
    longer to import than everything else that verifying one record needs.
    """
    try:
        from nacl._sodium import ffi, lib  # type: ignore[import-not-found]

        if lib.sodium_init() < 0 or not callable(lib.crypto_sign_open):
            return _verifier_of_bindings()
    except (ImportError, AttributeError):
        return _verifier_of_bindings()

    def verifies(signed: bytes, public_key: bytes) -> bool:
        message = ffi.new("unsigned char[]", len(signed))
        length = ffi.new("unsigned long long *")
        return bool(lib.crypto_sign_open(message, length, signed, len(signed), public_key) == 0)

    return verifies


def _verifier_of_bindings() -> Callable[[bytes, bytes], bool]:
    from nacl.bindings import crypto_sign_open
    from nacl.exceptions import BadSignatureError

    def verifies(signed: bytes, public_key: bytes) -> bool:
        try:
            crypto_sign_open(signed, public_key)
        except BadSignatureError:
            return False
        return True

    return verifies
