"""Values that stand where a secret is named: ``export X_TOKEN=…``, ``"clientSecret": "…"``,
``password: …``, ``--api-key …``.

Every occurrence of a word like ``token`` is looked at once: the whole name around it must end in
that word (``token_count`` and ``max_tokens`` are no secrets), something must be assigned to it, and
the value must be one (no variable, type, call, mask or prose).
"""

from __future__ import annotations

from agent_memory.redact_rules import is_placeholder

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
_SHELL_NAMES = frozenset({"pwd", "oldpwd"})
_NAME_LIMIT = 80

_PATTERNS: dict[str, Pattern[str]] = {}


def find(text: str, lowered: str) -> Iterator[Span]:
    """Spans of values in ``text`` that are named as secrets (``lowered`` is its lower case)."""
    if not any(word in lowered for word in _TRIGGERS):
        return
    done = 0
    for match in _pattern("word", _WORD).finditer(text):
        start = _name_start(text, match.start(), done)
        name_end = _name_end(text, match.end())
        kind = _kind(text[start:name_end])
        if kind is None:
            continue
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
    limit = min(len(text), at + _NAME_LIMIT)
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
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _TRAILERS):
        words.pop()
    if not words:
        return None
    noun, before = words[-1], words[-2] if len(words) > 1 else ""
    kind = _NOUNS.get(noun)
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
    flag = text[start:end].startswith("-") and text[start - 1 : start] in (
        "",
        " ",
        "\n",
        '"',
        "'",
        "`",
        "[",
        "(",
    )
    match = _pattern("flag", _FLAGGED).match(text, end) if flag else None
    if match is None:
        match = _pattern("assigned", _ASSIGNED).match(text, end)
        if match is None:
            return
    quote = match["quote"] or ""
    value_start = match.end()
    if quote:
        value_end = _closing(text, value_start, quote)
        if value_end < 0:
            quote, value_end = "", _bare_end(text, value_start)
    else:
        value_end = _bare_end(text, value_start)
    value = text[value_start:value_end]
    if is_placeholder(value) or value.startswith("-"):
        return
    if flag and match.re is _PATTERNS.get("flag"):
        accepted = len(value) >= 4
    elif quote:
        accepted = _quoted_secret(value, kind)
    else:
        shell = match["sep"] == "=" and not match["space"] and text[end : end + 1] == "="
        accepted = _bare_secret(text, value, value_end, kind, shell)
    if accepted:
        yield value_start, value_end


def _closing(text: str, start: int, quote: str) -> int:
    """End of a quoted value on the same line; -1 when it is not closed there."""
    limit = min(len(text), start + 4000)
    line_end = text.find("\n", start, limit)
    return text.find(quote, start, limit if line_end < 0 else line_end)


def _bare_end(text: str, start: int) -> int:
    limit = min(len(text), start + 4000)
    end = start
    while end < limit and not text[end].isspace() and text[end] not in "\"'`,;|&<>()[]{}\\":
        end += 1
    if end < limit and text[end] in "({[":
        # a call, an index, a template: take it whole, so that it is judged as code
        while end < limit and not text[end].isspace():
            end += 1
    return end


def _quoted_secret(value: str, kind: str) -> bool:
    if kind == "password":
        return len(value) >= 3 and not (" " in value and len(value.split()) > 6)
    return len(value) >= 6 and " " not in value.strip() and not _is_plain_word(value)


def _bare_secret(text: str, value: str, end: int, kind: str, shell: bool) -> bool:
    if _is_code(value):
        return False
    if shell:  # NAME=value, as in a shell, a properties file or a connection string
        minimum = 3 if kind == "password" else 6
        return len(value) >= minimum and not (kind != "password" and _is_count(value))
    if kind == "password":
        if len(value) < 3:
            return False
        rest = text[end : end + 2]
        return _ends_there(rest) or _looks_random(value, 6)
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


def _is_code(value: str) -> bool:
    """A call, an attribute, an index, a path or a URL: names a secret without being one."""
    if any(char in value for char in "()[]{}") or value.startswith(
        ("/", "./", "~/", "../", "http://", "https://")
    ):
        return True
    head = value.split(".", 1)[0]
    dotted = "." in value and head.isidentifier() and all(p.isidentifier() for p in value.split("."))
    return dotted and not any(char.isdigit() for char in value)
