"""SHA-256 and SHA-1 without OpenSSL's import time: ``import hashlib`` takes a hook 4 ms, a digest some
microseconds."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _constructor() -> Callable[[bytes], Any]:
    if "hashlib" not in sys.modules:
        try:
            if sys.version_info >= (3, 12):
                from _sha2 import sha256
            else:
                from _sha256 import sha256  # type: ignore[import-not-found]
        except ImportError:
            pass
        else:
            builtin: Callable[[bytes], Any] = sha256
            return builtin
    from hashlib import sha256 as portable

    return portable


def sha256_hex(data: bytes) -> str:
    """SHA-256 of ``data`` in lowercase hex, the same as hashlib's."""
    digest: str = _constructor()(data).hexdigest()
    return digest


def sha1_hex(data: bytes) -> str:
    """SHA-1 of ``data`` in lowercase hex: what Git names objects by, no protection against anybody."""
    if "hashlib" not in sys.modules:
        try:
            from _sha1 import sha1  # type: ignore[import-not-found]
        except ImportError:
            pass
        else:
            digest: str = sha1(data).hexdigest()
            return digest
    import hashlib

    return hashlib.sha1(data, usedforsecurity=False).hexdigest()
