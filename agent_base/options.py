"""Options of hooks: ``--name value`` and ``--name=value``, and no way to fail.

Not ``argparse``: that ends a process with 2, which blocks prompts, and it takes longer to import than a
hook may take.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def read(argv: Sequence[str], *names: str) -> list[str]:
    """The value of each of ``names``, the last one given, "" when there is none. What is not understood is
    passed over."""
    found = dict.fromkeys(names, "")
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if name in found:
            found[name] = value if equals else next(words, "")
    return list(found.values())
