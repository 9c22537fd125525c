"""Credentials that are known by their form.

A rule is a type, the words of which one must be in the text, and a pattern; group 1, when there is
one, is the secret, else the whole match is. Every repetition is bounded, and no two neighbouring
ones can match the same characters, so that matching is linear.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from re import Pattern

    Span = tuple[int, int, str]

# Stands before the type of what has been taken out: that type names nothing itself.
MARKER = "[redacted:"
_BEFORE = r"(?<![A-Za-z0-9_])"
_AFTER = r"(?![A-Za-z0-9_])"

# (type, words of which one must be there (lower case), pattern)
_RULES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "aws-access-key",
        ("akia", "asia", "abia", "acca"),
        _BEFORE + r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}" + _AFTER,
    ),
    (
        "aws-secret-key",
        ("akia", "asia"),
        _BEFORE + r"A[KS]IA[A-Z0-9]{16}[\s,;:\"'|]{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    ("gcp-api-key", ("aiza",), _BEFORE + r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("gcp-oauth", ("ya29.",), _BEFORE + r"ya29\.[A-Za-z0-9_.-]{20,2000}"),
    ("gcp-oauth", ("gocspx-",), _BEFORE + r"GOCSPX-[A-Za-z0-9_-]{20,60}"),
    ("gcp-oauth", ("1//0",), r"(?<![A-Za-z0-9_/.:])1//0[A-Za-z0-9_-]{30,200}"),
    (
        "azure-key",
        ("accountkey=", "sharedaccesskey=", "sharedsecret="),
        r"(?i)(?:AccountKey|SharedAccessKey|SharedSecret)=([A-Za-z0-9+/]{20,128}={0,2})",
    ),
    ("azure-sas", ("sig=",), r"(?<=[?&;]sig=)[A-Za-z0-9%+/=_-]{20,200}"),
    (
        "azure-client-secret",
        ("q~",),
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])",
    ),
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _BEFORE + r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    ("github-token", ("github_pat_",), _BEFORE + r"github_pat_[A-Za-z0-9_]{36,255}"),
    (
        "gitlab-token",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glrtr-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glsoat-",
            "glffct-",
            "glwt-",
        ),
        _BEFORE + r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9_.-]{20,300}",
    ),
    ("gitlab-token", ("gr1348941",), _BEFORE + r"GR1348941[A-Za-z0-9_-]{20,50}"),
    (
        "slack-token",
        ("xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-"),
        _BEFORE + r"xox[abcdeprs]-[A-Za-z0-9%-]{10,400}",
    ),
    ("slack-token", ("xoxe.xox",), _BEFORE + r"xoxe\.xox[bp]-[A-Za-z0-9-]{10,400}"),
    ("slack-token", ("xapp-",), _BEFORE + r"xapp-[0-9]-[A-Za-z0-9-]{20,400}"),
    (
        "slack-webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]{20,200})",
    ),
    (
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_"),
        _BEFORE + r"[rs]k_(?:live|test)_[A-Za-z0-9]{10,250}",
    ),
    ("stripe-key", ("whsec_",), _BEFORE + r"whsec_[A-Za-z0-9+/=]{24,120}"),
    ("npm-token", ("npm_",), _BEFORE + r"npm_[A-Za-z0-9]{36}" + _AFTER),
    ("pypi-token", ("pypi-",), _BEFORE + r"pypi-(?:Ag[A-Za-z0-9_-]{16,2000}|[A-Za-z0-9_]{85,2000})"),
    ("anthropic-key", ("sk-ant-",), r"(?<![A-Za-z0-9_-])sk-ant-[A-Za-z0-9_-]{16,250}"),
    (
        "openai-key",
        ("sk-",),
        r"(?<![A-Za-z0-9_-])sk-(?:proj|svcacct|admin|service|None)-[A-Za-z0-9_-]{20,300}",
    ),
    (
        "openai-key",
        ("sk-",),
        r"(?<![A-Za-z0-9_-])sk-(?:or-v1-)?(?=[A-Za-z]{0,80}[0-9])[A-Za-z0-9]{32,80}(?![A-Za-z0-9_-])",
    ),
    ("token", ("hf_",), _BEFORE + r"hf_[A-Za-z0-9]{30,60}" + _AFTER),
    ("token", ("gsk_",), _BEFORE + r"gsk_[A-Za-z0-9]{40,80}" + _AFTER),
    ("token", ("xai-",), _BEFORE + r"xai-[A-Za-z0-9]{40,120}" + _AFTER),
    ("token", ("sg.",), _BEFORE + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}(?![A-Za-z0-9_-])"),
    ("token", ("dop_v1_", "doo_v1_", "dor_v1_"), _BEFORE + r"do[por]_v1_[a-f0-9]{64}"),
    ("token", ("glsa_",), _BEFORE + r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    ("token", ("dckr_pat_",), _BEFORE + r"dckr_pat_[A-Za-z0-9_-]{20,60}"),
    ("token", ("shpat_", "shpca_", "shppa_", "shpss_"), _BEFORE + r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("token", ("hvs.", "hvb."), _BEFORE + r"hv[sb]\.[A-Za-z0-9_-]{24,300}"),
    ("private-key", ("age-secret-key-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{50,70}"),
    (
        "jwt",
        ("eyj",),
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{4,16000}\.[A-Za-z0-9_-]{0,2000}",
    ),
    (
        "jwt",
        ("eyj",),
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{0,2000}\.[A-Za-z0-9_-]{8,100}\.[A-Za-z0-9_-]{8,16000}\.[A-Za-z0-9_-]{8,100}",
    ),
    (
        "authorization",
        ("bearer ",),
        r"(?i)(?<![A-Za-z])bearer (?=[A-Za-z._~+/-]{0,200}[0-9])([A-Za-z0-9._~+/-]{20,4000}={0,2})",
    ),
    (
        "url-password",
        ("://",),
        r"(?<=[A-Za-z]://)[^\s/:@\"'<>]{0,200}:([^\s/\"'<>`]{1,200})@(?=[A-Za-z0-9\[_$%{-])",
    ),
    (
        "url-password",
        ("://",),
        r"(?<=[A-Za-z]://)((?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,250})@(?=[A-Za-z0-9\[])",
    ),
    (
        "cookie",
        ("cookie:",),
        r"(?im)(?:^|[\"'>*<\s])(?:set-)?cookie: {0,4}([^\r\n\"';=\s]{1,200}=[^\r\n\"']{4,4000})",
    ),
    (
        "password",
        ("curl",),
        r"(?<![A-Za-z])curl(?: [^\n]{0,200}?)? (?:-u|--user|-U|--proxy-user)[ =]?[\"']?"
        r"[^\s:\"'$]{1,100}:([^\s\"']{1,200})",
    ),
    ("password", ("sshpass",), r"(?<![A-Za-z])sshpass -p ?[\"']?([^\s\"']{1,200})"),
    ("password", ("password",), r"(?<![A-Za-z])login [^\s]{1,100} password ([^\s]{1,200})"),
    ("password", ("identified",), r"(?i)identified (?:with \S{1,60} )?by ['\"]([^'\"\n]{1,200})['\"]"),
    ("authorization", ('"auth"',), r"\"auth\" {0,4}: {0,4}\"([A-Za-z0-9+/]{8,500}={0,2})\""),
)

_COMPILED: dict[str, Pattern[str]] = {}


def _compiled(pattern: str) -> Pattern[str]:
    compiled = _COMPILED.get(pattern)
    if compiled is None:
        import re

        compiled = _COMPILED[pattern] = re.compile(pattern)
    return compiled


def find(text: str, lowered: str) -> Iterator[Span]:
    """Spans of credentials in ``text`` (``lowered`` is its lower case)."""
    for kind, words, pattern in _RULES:
        if not any(word in lowered for word in words):
            continue
        compiled = _compiled(pattern)
        group = 1 if compiled.groups else 0
        for match in compiled.finditer(text):
            if not (group and is_placeholder(match[group])):
                yield (*match.span(group), kind)
    if "private" in lowered and (
        "-----begin" in lowered or "-----end" in lowered or "private-lines" in lowered
    ):
        yield from _private_keys(text)
    if "authorization" in lowered:
        yield from _authorization_headers(text)


_NOTHING = frozenset(
    "none null nil undefined true false yes no required optional inherit empty unset missing invalid"
    " str string bytes int text any object bool boolean number char varchar secretstr password passwd"
    " token secret redacted hidden masked example value".split()
)


def is_placeholder(value: str) -> bool:
    """Whether ``value`` stands for a secret without being one: a variable, a mask, a type, a template."""
    bare = value.strip("\"'`,;)]}\\")
    if not bare or bare.startswith(("$", "<", "{", "%", MARKER, "(", "@{", "…", "...")):
        return True
    if "${" in bare or "{{" in bare or "$(" in bare:
        return True
    if bare.lower() in _NOTHING:
        return True
    return len(set(bare)) == 1 and bare[0] in "*xX.•-_#?"


_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
_KEY_LIMIT = 64 * 1024


def _private_keys(text: str) -> Iterator[Span]:
    """PEM, OpenSSH and PGP private keys, whole, also with ``\\n`` for line breaks and cut at either
    end; PuTTY's private lines. A marker without key material is only a marker."""
    import re

    marker = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
    position = 0
    begin: re.Match[str] | None = None
    for match in marker.finditer(text):
        if match[1] == "BEGIN":
            if begin is not None:
                yield from _unterminated(text, begin.start(), begin.end(), match.start())
            begin = match
            continue
        if begin is None:
            start = _material_before(text, position, match.start())
            if start < match.start():
                yield start, match.end(), "private-key"
        elif _has_material(text[begin.end() : match.start()]):
            yield begin.start(), match.end(), "private-key"
        begin, position = None, match.end()
    if begin is not None:
        yield from _unterminated(text, begin.start(), begin.end(), len(text))
    for match in re.finditer(r"Private-Lines: \d{1,4}\s{1,4}((?:[A-Za-z0-9+/=]{1,80}\s{1,3}){1,200})", text):
        yield (*match.span(1), "private-key")


def _has_material(body: str) -> bool:
    run = 0
    for char in body[:_KEY_LIMIT]:
        run = run + 1 if char in _BASE64 else 0
        if run >= 30:
            return True
    return False


def _unterminated(text: str, start: int, body: int, limit: int) -> Iterator[Span]:
    """A key whose end is missing: everything after the marker that can be key material or its headers."""
    if not _has_material(text[body : min(limit, body + 400)]):
        return
    end = body
    while end < limit:
        line_end = text.find("\n", end, limit)
        line_end = limit if line_end < 0 else line_end
        line = text[end:line_end].strip(" \t\r\"'+,")
        if line and not _key_line(line):
            end = _material_after(text, end, line_end)
            break
        end = min(line_end + 1, limit)
    yield start, end, "private-key"


def _material_after(text: str, start: int, end: int) -> int:
    """Where the words of base64 end that a line begins with before it goes on with something else."""
    word = _compiled(r"(?:\s|\\[nr])*[A-Za-z0-9+/]{16,}={0,2}")
    while match := word.match(text, start, end):
        start = match.end()
    return start


def _key_line(line: str) -> bool:
    if ": " in line and len(line) < 100:
        return True  # Proc-Type, DEK-Info, Version, Comment
    words = line.replace("\\n", " ").replace("\\r", " ").split()
    return all(_BASE64.issuperset(word) for word in words) and " " not in line.strip()


def _material_before(text: str, start: int, end: int) -> int:
    """Where the lines of base64 begin that stand right before an END marker."""
    place = end
    while place > start:
        line_start = text.rfind("\n", start, place - 1) + 1 if place - 1 > start else start
        line_start = max(line_start, start)
        line = text[line_start:place].strip(" \t\r\n\"'+,")
        words = line.replace("\\n", " ").split()
        if not words or not all(_BASE64.issuperset(word) for word in words) or len(words[0]) < 16:
            if words and len(words[-1]) >= 30 and _BASE64.issuperset(words[-1]):
                place = text.rindex(words[-1], line_start, place)  # a line that began with something else
            break
        place = line_start
    return place


_HEADER = r"(?i)authorization\\?[\"']?\]? {0,4}([:=,]) {0,4}(\\?[\"'])?"
_SCHEME = (
    r"(?i)(bearer|basic|token|negotiate|api-?key|key|ntlm"
    r"|(?P<parameters>digest|aws4-hmac[a-z0-9-]{0,20})) {1,4}"
)
_VALUE = r"[^\r\n\"'\\]{0,1500}"
_WHOLE_LINE = r"[^\r\n]{0,1500}"


def _authorization_headers(text: str) -> Iterator[Span]:
    """The credentials of ``Authorization:`` headers, however quoted."""
    for header in _compiled(_HEADER).finditer(text):
        if text.endswith(MARKER, 0, header.start()):
            continue
        quoted = header[2] is not None
        scheme = _compiled(_SCHEME).match(text, header.end())
        start = header.end() if scheme is None else scheme.end()
        parameters = scheme is not None and scheme["parameters"] is not None
        match = _compiled(_WHOLE_LINE if parameters and not quoted else _VALUE).match(text, start)
        value = match[0].rstrip() if match is not None else ""
        words = value.split()
        if not parameters:
            value = words[0].rstrip(",;)") if words else ""
        if len(value) < 4 or is_placeholder(value):
            continue
        if scheme is None and not any(char.isdigit() for char in value):
            # A variable, or prose: without a scheme a value has to look like one.
            if len(words) > 1 or (not quoted and (header[1] != ":" or len(value) < 12 or "(" in value)):
                continue
        yield start, start + len(value), "authorization"
