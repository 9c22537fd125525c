"""Words of a text as search sees them: Unicode-aware, identifiers whole and in parts, light stems.

``terms`` gives the tokens of a text in order. A plain word gives its stem. A compound
(``crypto_sign_open``, ``HttpRequest``, ``src/retry.py``, ``--no-verify``) gives itself, with every
separator written ``_`` and without its leading punctuation, followed by the stems of its
parts, so that it is found whole and in parts. A run of Chinese, Japanese, Korean or Thai
characters gives its overlapping pairs. Tokens hold letters, digits and ``_`` only, so they can
be stored separated by spaces.

Guarantees: the same text gives the same tokens on every platform; linear time; no token longer
than ``MAX_TOKEN``. It is no linguistic analysis: the stemmer only joins English inflections,
and the tokens of the protocol's own ``recall`` are ``ai_kb.hn.tokens``, not these.

Standard library only, and without ``re``: hooks import this, and compiling the expression that
this module would need costs as much as a bare interpreter.
"""

from __future__ import annotations

MAX_TOKEN = 64

WORD, WHOLE, PART, PAIR = "word", "whole", "part", "pair"

_JOINS = "_.-/:@\\"  # what joins the parts of a compound
_SHARP = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp"}
_VOWELS = frozenset("aeiouy")
_UNSPACED_MARK = "\x01"
# Scripts written without spaces between words: Thai, Lao, kana, Han, Hangul.
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x3005, 0x30FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)


class _Letters(dict[int, str]):
    """Translation that keeps letters, digits and joins, marks unspaced scripts, and blanks the rest."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char.isascii():
            kept = char if char.isalnum() or char in _JOINS or char in "+#" else " "
        elif char.isalnum():
            unspaced = any(low <= code <= high for low, high in _UNSPACED)
            kept = _UNSPACED_MARK + char if unspaced else char
        else:  # combining accents and the vowel signs of Indic scripts belong to their word
            kept = char if 0x300 <= code <= 0x36F or 0x900 <= code <= 0xDFF else " "
        self[code] = kept
        return kept


_LETTERS = _Letters()
_PARTS = {ord(join): " " for join in _JOINS + "+#"}


def terms(text: str) -> list[str]:
    """The tokens of ``text`` in order: stems, compounds before their parts, pairs of unspaced scripts."""
    return [token for token, _ in scan(text)]


def scan(text: str) -> list[tuple[str, str]]:
    """``terms`` with what each token is: WORD, WHOLE (a compound), PART (of the one before) or PAIR."""
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFKC", text)
    out: list[tuple[str, str]] = []
    for chunk in text.translate(_LETTERS).split():
        if chunk.isalpha() and (chunk.islower() or chunk[1:].islower()):
            word = _plain(chunk) if len(chunk) <= MAX_TOKEN else chunk
            if len(word) <= MAX_TOKEN:
                out.append((word, WORD))
        elif _UNSPACED_MARK in chunk:
            _scan_unspaced(chunk, out)
        else:
            _scan_compound(chunk, out)
    return out


def _scan_unspaced(chunk: str, out: list[tuple[str, str]]) -> None:
    """Runs of marked characters as pairs, and what stands between them as usual."""
    before, *marked = chunk.split(_UNSPACED_MARK)
    if before:
        _scan_compound(before, out)
    run = ""
    for piece in marked:
        run += piece[0]
        if len(piece) > 1:
            out.extend(_pairs(run))
            run = ""
            _scan_compound(piece[1:], out)
    out.extend(_pairs(run))


def _pairs(run: str) -> list[tuple[str, str]]:
    if len(run) < 2:
        return [(run, PAIR)] if run else []
    return [(run[i : i + 2], PAIR) for i in range(len(run) - 1)]


def _scan_compound(chunk: str, out: list[tuple[str, str]]) -> None:
    name = chunk.strip(_JOINS).lower()
    if name in _SHARP:
        out.append((_SHARP[name], WORD))
        return
    words = [word for word in chunk.translate(_PARTS).split() if len(word) <= MAX_TOKEN]
    stems = [_plain(part) for word in words for part in _humps(word)]
    parts = [part for part in stems if part and len(part) <= MAX_TOKEN]  # an accent alone is nothing
    if len(parts) < 2:
        out.extend((part, WORD) for part in parts)
        return
    whole = "_".join(word.lower() if word.isascii() else _without_marks(word) for word in words)
    if len(whole) <= MAX_TOKEN:
        out.append((whole, WHOLE))
    out.extend((part, PART) for part in parts)


def _humps(word: str) -> list[str]:
    """``HTTPServerError`` as ``HTTP``, ``Server``, ``Error``; ``edition2024`` as ``edition``, ``2024``."""
    if not word.isascii() or (word.islower() and word.isalpha()) or word.isdigit():
        return [word]
    cuts = [0]
    for at in range(1, len(word)):
        left, char = word[at - 1], word[at]
        if char.isupper():
            follows = word[at + 1 : at + 2]
            cut = left.islower() or left.isdigit() or (left.isupper() and follows.islower())
        else:  # digits after a word, but not in names such as utf8 or p99
            cut = char.isdigit() and at - cuts[-1] >= 4 and word[cuts[-1] : at].isalpha()
        if cut:
            cuts.append(at)
    cuts.append(len(word))
    return [word[cuts[n] : cuts[n + 1]] for n in range(len(cuts) - 1)]


def _plain(word: str) -> str:
    return stem(word.lower()) if word.isascii() else stem(_without_marks(word))


def _without_marks(word: str) -> str:
    """Latin, Greek and Cyrillic letters without their accents; other scripts as they are."""
    if any("\u0530" <= c < "\u1e00" or c > "\u1fff" for c in word):
        return word
    import unicodedata

    plain = unicodedata.normalize("NFD", word.casefold())
    return "".join(c for c in plain if not "\u0300" <= c <= "\u036f")


def stem(word: str) -> str:
    """English inflections of a lower-case word joined: plural, -ed, -ing, -ion, final e and y.

    Words of up to three letters, and words with a character outside a-z, come back as they are
    (a number with a plural s loses it: ``502s``).
    """
    if len(word) < 4:
        return word
    if not (word.isascii() and word.isalpha()):
        return word[:-1] if word[-1] == "s" and word[:-1].isdigit() else word
    word = _singular(word)
    for suffix in ("ing", "ed"):
        root = word[: -len(suffix)]
        if word.endswith(suffix) and len(root) > 2 and not _VOWELS.isdisjoint(root):
            doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz"
            word = root[:-1] if doubled else root
            break
    else:
        if word.endswith(("sion", "tion")) and len(word) > 6:
            word = word[:-3]
    if word[-1] == "e" and len(word) > 4:
        word = word[:-1]
    if word[-1] == "y" and len(word) > 3 and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    return word


def _singular(word: str) -> str:
    if word[-1] != "s" or word[-2] in "su" or word.endswith("is"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]
