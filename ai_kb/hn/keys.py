"""Ed25519 keys and signatures. The only module that imports nacl, and only when it must.

A public key that proves nothing (small order, or not the canonical encoding of a point)
is refused: anybody can make a signature under it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib

SIGNATURE_BYTES = 64
PUBLIC_KEY_BYTES = 32


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


def actor_of(public_key: bytes) -> str:
    """The actor id of 32 raw public-key bytes: their SHA-256, lowercase hex."""
    return hashlib.sha256(public_key).hexdigest()


def generate() -> bytes:
    """A new private key: 64 bytes, the random seed and then the public key."""
    raise NotImplementedError


def private_key_of_seed(seed: bytes) -> bytes:
    """The 64-byte private key (seed, then public key) of a 32-byte seed."""
    raise NotImplementedError


def sign(private_key: bytes, payload: bytes) -> bytes:
    """The 64 raw signature bytes of ``payload`` under a 64-byte private key."""
    raise NotImplementedError


def verify(public_key: bytes, payload: bytes, signature: bytes) -> None:
    """Raise InvalidSignature unless ``signature`` verifies over ``payload`` under a strong ``public_key``."""
    raise NotImplementedError
