"""Values that stand where a secret is named: ``export X_TOKEN=…``, ``"clientSecret": "…"``,
``password: …``, ``--api-key …``.

Every occurrence of a word like ``token`` is looked at once: the whole name around it must end in
that word (``token_count`` and ``max_tokens`` are no secrets), something must be assigned to it, and
the value must be one (no variable, type, call, mask or prose).
"""

from __future__ import annotations

from agent_memory.redact_rules import MARKER, is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from re import Pattern

    Span = tuple[int, int, str]

# What a secret is called: the last words of a name. The value says which type it becomes.
_NOUNS = {
    "password": "password",
    "passwd": "password",
    "passphrase": "password",
    "passcode": "password",
    "pwd": "password",
    "pass": "password",
    "secret": "secret",
    "token": "token",
    "pat": "token",
    "apikey": "api-key",
    "authkey": "api-key",
    "credential": "secret",
    "credentials": "secret",
    "key": "api-key",
}
# "key" alone is no secret (cache key, primary key): these words before it make it one.
_KEY_KINDS = frozenset(
    "api access secret private auth account encryption signing master shared storage service deploy"
    " license consumer client webhook admin app session subscription".split()
)
# Tokens of parsers, models and paging are no secrets.
_HARMLESS_TOKENS = frozenset(
    "next page continuation pad eos bos unk sep cls mask stop special start end sync cancel cancellation"
    " max min num per total input output prompt completion image sub word sentence current last first"
    " unexpected expected invalid reserved operator punctuation new line literal".split()
)
# Words that may follow the noun in a name without making it something else (DB_PASSWORD_PROD).
_TRAILERS = frozenset(
    "prod production dev development test testing staging stage base default old new root admin"
    " user ci".split()
)
_TRIGGERS = (
    "passw",
    "passphrase",
    "passcode",
    "pwd",
    "_pass",
    "secret",
    "token",
    "key",
    "credential",
    "_pat",
)
# What sets a variable without a `=`: a Dockerfile, fish, csh.
_SETS = ("ENV ", "-gx ", "-Ux ", "setenv ")
_SHELL_NAMES = frozenset({"pwd", "oldpwd"})
_NAME_LIMIT = 60
_TRAILER_LIMIT = 14
_VALUE_LIMIT = 8192
_JUDGED = 256  # characters of a value that are looked at to judge it
_KEYWORDS = frozenset({"return", "raise", "pass", "continue", "break", "yield", "await", "print", "exit"})

_PATTERNS: dict[str, Pattern[str]] = {}


def find(text: str, lowered: str) -> Iterator[Span]:
    """Spans of values in ``text`` that are named as secrets (``lowered`` is its lower case)."""
    if not any(word in lowered for word in _TRIGGERS):
        return
    done = 0
    for match in _pattern("word", _WORD).finditer(text):
        if match.start() < done:
            continue  # within a value that is gone already
        name_end = _name_end(text, match.end())
        if name_end - match.end() > _TRAILER_LIMIT:
            continue  # the noun is not at the end of the name
        start = _name_start(text, match.start(), done)
        kind = _kind(text[start:name_end])
        if kind is None or text[max(0, start - 11) : start].lower() == "public key ":
            continue
        if text.endswith(MARKER, 0, start):
            continue  # what stands there says what has been taken out, and names nothing
        for value_start, value_end in _value(text, start, name_end, kind):
            done = value_end
            yield value_start, value_end, kind


_WORD = (
    r"(?i)passw(?:or)?d|passphrase|passcode|pwd|(?<=_)pass(?![a-z])|secret|token|credentials?|(?<=_)pat(?![a-z])"
    r"|(?<=[a-z_-])key(?![a-z])"
)
_ASSIGNED = (
    r"(?P<close>\\{0,2}[\"'`])?\]? {0,8}(?P<sep>:=|=>|==?|:)(?P<space>[ \t]{0,8})"
    r"(?:(?P<prefix>[rbfu]{1,2}|b64:)?(?P<quote>\\{0,2}[\"'`]))?"
)
_FLAGGED = r"(?:=| {1,4})(?P<quote>\\{0,2}[\"'`])?"


def _pattern(name: str, source: str) -> Pattern[str]:
    compiled = _PATTERNS.get(name)
    if compiled is None:
        import re

        compiled = _PATTERNS[name] = re.compile(source)
    return compiled


def _is_name(char: str) -> bool:
    return char.isalnum() or char in "_-."


def _name_start(text: str, at: int, floor: int) -> int:
    limit = max(floor, at - _NAME_LIMIT, 0)
    while at > limit and _is_name(text[at - 1]):
        at -= 1
    return at


def _name_end(text: str, at: int) -> int:
    limit = min(len(text), at + _TRAILER_LIMIT + 1)
    while at < limit and (text[at].isalnum() or text[at] in "_-"):
        at += 1
    return at


def _words(name: str) -> list[str]:
    """Words of a name in lower case: parted by ``_``, ``-``, ``.`` and by camelCase."""
    words: list[str] = []
    current = ""
    previous = ""
    for i, char in enumerate(name):
        following = name[i + 1] if i + 1 < len(name) else ""
        humped = char.isupper() and (
            previous.islower() or previous.isdigit() or (previous.isupper() and following.islower())
        )
        if char in "_-." or humped:
            words += [current] if current else []
            current = "" if char in "_-." else char
        else:
            current += char
        previous = char
    words += [current] if current else []
    return [word.lower() for word in words]


def _kind(name: str) -> str | None:
    """Type of the secret that a name names, or None."""
    if name.lower().strip("-._") in _SHELL_NAMES:
        return None
    words = _words(name)
    if "public" in words:
        return None
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _TRAILERS):
        words.pop()
    if not words:
        return None
    noun, before = words[-1], words[-2] if len(words) > 1 else ""
    kind = _NOUNS.get(noun)
    if words[-3:] == ["secret", "access", "key"]:
        return "aws-secret-key"
    if kind is None:
        # PGPASSWORD, authtoken, mysecret: run together
        endings = [
            n for n in ("password", "passwd", "secret", "token", "apikey", "passphrase") if noun.endswith(n)
        ]
        return _NOUNS[endings[0]] if endings else None
    if noun == "key" and before not in _KEY_KINDS:
        return None
    if noun == "token" and (before in _HARMLESS_TOKENS):
        return None
    if noun in ("pass", "pat") and not before:
        return None
    return kind


def _value(text: str, start: int, end: int, kind: str) -> Iterator[tuple[int, int]]:
    """Where the value begins and ends that is assigned to the name ``text[start:end]``."""
    name = text[start:end]
    before = text[max(0, start - 4) : start]
    flag = name.startswith("-") and (not before or before[-1] in " \n\t\"'`[(")
    match = _pattern("flag", _FLAGGED).match(text, end) if flag or _sets(text, start) else None
    flagged = match is not None
    if match is None:
        match = _pattern("assigned", _ASSIGNED).match(text, end)
        if match is None:
            return
    value_start = match.end()
    value_end = _closing(text, value_start, match["quote"] or "")
    quoted = value_end >= 0
    if not quoted:
        value_end = _bare(text, value_start, _JUDGED)
    value = text[value_start:value_end]
    if is_placeholder(value) or value.startswith("-"):
        return
    shell = not flagged and match["sep"] == "=" and not match["space"] and not match["close"]
    if flagged:
        accepted = len(value) >= 3 if kind == "password" else _looks_random(value, 6)
    elif shell and _is_variable(name, before):
        accepted = len(value) >= 3 and (quoted or not _is_code(value, name))
    elif quoted:
        accepted = _quoted_secret(value, kind)
    else:
        accepted = _bare_secret(text, value, value_end, kind, name, shell)
    if accepted:
        yield value_start, value_end if quoted else _bare(text, value_start, _VALUE_LIMIT)


def _sets(text: str, start: int) -> bool:
    """Whether what stands before a name gives it the word after it."""
    return text[max(0, start - 8) : start].endswith(_SETS)


def _is_variable(name: str, before: str) -> bool:
    """Whether a name is an environment variable's: upper case, or exported."""
    return name.isupper() or before.endswith(("ort ", "env:"))


def _closing(text: str, start: int, quote: str) -> int:
    """End of a quoted value on the same line; -1 when it is not quoted, or not closed there."""
    if not quote:
        return -1
    limit = min(len(text), start + _VALUE_LIMIT)
    end = text.find(quote, start, limit)
    return end if end < 0 or text.find("\n", start, end) < 0 else -1


def _bare(text: str, start: int, limit: int) -> int:
    """End of an unquoted value; a call, an index or a template is taken whole, to be judged as code."""
    end = _end(text, "bare", r"[^\s\"'`,;|&<>()\[\]{}\\]*", start, limit)
    if text[end : end + 1] in ("(", "[", "{"):
        end = _end(text, "word end", r"\S*", end, limit)
    return end


def _end(text: str, name: str, source: str, start: int, limit: int) -> int:
    match = _pattern(name, source).match(text, start, min(len(text), start + limit))
    assert match is not None
    return match.end()


def _quoted_secret(value: str, kind: str) -> bool:
    if kind == "password":
        return len(value) >= 3 and not (" " in value and len(value.split()) > 6)
    return len(value) >= 6 and " " not in value.strip() and not _is_plain_word(value)


def _bare_secret(text: str, value: str, end: int, kind: str, name: str, shell: bool) -> bool:
    if _is_code(value, name):
        return False
    if shell:  # name=value, as in a properties file, a form or a connection string
        minimum = 3 if kind == "password" else 6
        return len(value) >= minimum and not (kind != "password" and _is_count(value))
    if kind == "password":
        return len(value) >= 3 and (_ends_there(text[end : end + 2]) or _looks_random(value, 6))
    return _looks_random(value, 12) and not _is_count(value)


def _ends_there(rest: str) -> bool:
    return not rest or rest[0] in "\r\n,;}#\"'" or rest in (" #", " }", "  ")


def _is_count(value: str) -> bool:
    return value.replace(".", "").replace(",", "").isdigit() and len(value) < 12


def _is_plain_word(value: str) -> bool:
    """A word of prose or an identifier made of words: no digit, one case per word."""
    if any(char.isdigit() for char in value):
        return False
    parts = value.replace("-", "_").replace(".", "_").split("_")
    return (
        all(part.islower() or part.istitle() or part.isupper() for part in parts if part)
        and max(map(len, parts)) < 16
    )


def _looks_random(value: str, minimum: int) -> bool:
    return len(value) >= minimum and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _is_code(value: str, name: str) -> bool:
    """A call, an attribute, an index, a path, a URL, a keyword or another name: names a secret
    without being one."""
    if any(char in value for char in "()[]{}") or value in _KEYWORDS:
        return True
    if value.startswith(("/", "./", "~/", "../", "http://", "https://")):
        return True
    if any(char.isdigit() for char in value):
        return False
    same = value.replace("-", "_").lower() == name.replace("-", "_").lower()
    constant = value.isupper() and "_" in value and value.isidentifier()
    dotted = "." in value and all(part.isidentifier() for part in value.split("."))
    attribute = "." in name and value.isidentifier()
    return same or constant or dotted or attribute
