"""Index tokens: the deterministic terms of ``recall --query``.

Runs of Unicode letters and numbers, every character lowercased by its simple mapping,
everything else a boundary. docs/protocol.md, "Private index, recall, cursors".
"""

from __future__ import annotations

from ai_kb.hn.text import is_letter_or_number, is_unicode, lower_code

_BOUNDARY = " "


class _TokenTable(dict[int, int | str]):
    """For str.translate: a token character to its lowercase, any other to a blank; filled as met."""

    def __missing__(self, code: int) -> int | str:
        value = lower_code(code) if is_letter_or_number(code) else _BOUNDARY
        self[code] = value
        return value


_table = _TokenTable({code: chr(code).lower() if chr(code).isalnum() else _BOUNDARY for code in range(128)})


def index_tokens(text: str) -> list[str]:
    """The sorted, unique tokens of ``text``; none at all when it holds a lone surrogate
    (what is not valid Unicode as a whole gives no tokens)."""
    if not is_unicode(text):
        return []
    return sorted(set(text.translate(_table).split()))


def indexed_text(content: str, topics: tuple[str, ...] | list[str]) -> str:
    """What of a record is indexed: content, newline, topics joined by newlines."""
    return content + "\n" + "\n".join(topics)
