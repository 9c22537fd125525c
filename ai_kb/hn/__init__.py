"""The ``hn-memory/0`` protocol as a library: signed agent memory carried by Git.

Knows nothing of hooks, topics or capsules. These names are stable; they are imported
when first used, so that ``import ai_kb.hn`` costs nothing. ``docs/library.md`` shows them
at work.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ai_kb.hn.envelope import VerifiedMemory, encode_envelope, verify_memory
    from ai_kb.hn.errors import HnError
    from ai_kb.hn.policy import Policy, parse_policy
    from ai_kb.hn.tokens import index_tokens

__all__ = [
    "HnError",
    "Policy",
    "VerifiedMemory",
    "encode_envelope",
    "index_tokens",
    "parse_policy",
    "verify_memory",
]

_HOME = {
    "HnError": "errors",
    "Policy": "policy",
    "VerifiedMemory": "envelope",
    "encode_envelope": "envelope",
    "index_tokens": "tokens",
    "parse_policy": "policy",
    "verify_memory": "envelope",
}


def __getattr__(name: str) -> object:
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
