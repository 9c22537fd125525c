"""Words of a text in one spelling, for telling whether two texts say the same in the same words.

Pure, standard library only; the private index keeps its tables with it, so hooks import this.
"""

from __future__ import annotations

_GRAM_FROM = 0x2E80  # from here on, scripts that put no space between words


class _Spaces(dict[int, str]):
    """For str.translate: letters and numbers stay, anything else is a blank; filled as met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kept = char if char.isalnum() else " "
        self[code] = kept
        return kept


_SPACES = _Spaces()


def words(text: str) -> list[str]:
    """Words of ``text`` in one spelling: NFKC, case folded, runs of letters and numbers; runs in a
    script without spaces as pairs of characters."""
    if text.isascii():
        return text.lower().translate(_SPACES).split()
    import unicodedata

    found: list[str] = []
    for run in unicodedata.normalize("NFKC", text).casefold().translate(_SPACES).split():
        if len(run) > 2 and ord(max(run)) >= _GRAM_FROM:
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
        else:
            found.append(run)
    return found
