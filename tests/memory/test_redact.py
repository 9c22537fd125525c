"""What is a secret, and what is not. All credentials here are made up."""

from __future__ import annotations

import random
import string

import pytest

from agent_memory.redact import WINDOW, findings, redact, redact_bounded

# text → types of what is found in it. A "·" within a made-up credential keeps scanners of repositories
# from taking it for a real one; ``plain`` takes it out.
SECRETS: list[tuple[str, list[str]]] = [
    ("AK·IAIOSFODNN7EXAMPLE", ["aws-access-key"]),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ["aws-secret-key"]),
    ('"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"', ["aws-secret-key"]),
    ("AK·IAIOSFODNN7EXAMPLE,wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ["aws-access-key", "aws-secret-key"]),
    ("AI·zaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", ["gcp-api-key"]),
    ("ya·29.a0AfH6SMBxxxxxxxxxxxxxxxxxxxx", ["gcp-oauth"]),
    ("GO·CSPX-abcdefghijklmnopqrstuvwx", ["gcp-oauth"]),
    (
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;EndpointSuffix=core.windows.net",
        ["azure-key"],
    ),
    (
        "https://x.blob.core.windows.net/c?sv=2020&sig=abcdefghijklmnopqrstuvwxyz0123456789ABCD%3D",
        ["azure-sas"],
    ),
    ("abc8Q~abcdefghijklmnopqrstuvwxyz01234567", ["azure-client-secret"]),
    ("gh·p_0123456789abcdefghijABCDEFGHIJ012345", ["github-token"]),
    (
        "gi·thub_pat_11ABCDEFG0123456789012_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVW",
        ["github-token"],
    ),
    ("gl·pat-ABCDEFGHIJKLMNOPQRST", ["gitlab-token"]),
    ("xo·xb-123456789012-1234567890123-abcdefghijklmnopqrstuvwx", ["slack-token"]),
    ("https://ho·oks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", ["slack-webhook"]),
    ("sk·_live_abcdefghijklmnopqrstuvwx", ["stripe-key"]),
    ("rk·_test_abcdefghijklmnopqrstuvwx", ["stripe-key"]),
    ("np·m_abcdefghijklmnopqrstuvwxyz0123456789", ["npm-token"]),
    ("py·pi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMAACKlsz", ["pypi-token"]),
    ("sk·-abcdefghijklmnopqrstT3BlbkFJabcdefghijklmnopqrst", ["openai-key"]),
    ("sk·-proj-abcdefghijklmnopqrstuvwxyz0123456789", ["openai-key"]),
    ("sk·-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789-AA", ["anthropic-key"]),
    (
        "ey·JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        ["jwt"],
    ),
    (
        "-----BE·GIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123456789abcdefghijklmnopqrstuvwxyz\nabc\n"
        "-----END RSA PRIVATE KEY-----",
        ["private-key"],
    ),
    (
        '"private_key": "-----BE·GIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\\n'
        '-----END PRIVATE KEY-----\\n"',
        ["private-key"],
    ),
    (
        "-----BE·GIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n"
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n",
        ["private-key"],
    ),
    ("Authorization: Bearer abc123", ["authorization"]),
    ("Authorization: Basic dXNlcjpwYXNz", ["authorization"]),
    ("curl -H 'Authorization: token 0123abcd' x", ["authorization"]),
    ('"Authorization": "Bearer abcdefgh"', ["authorization"]),
    ("authorization: hunter2secret", ["authorization"]),
    ("Proxy-Authorization: Basic dXNlcjpwYXNz", ["authorization"]),
    ("postgres://user:hunter2@localhost/db", ["url-password"]),
    ("https://x-access-token:abcdef@github.com/x", ["url-password"]),
    ("redis://:s3cret@host:6379", ["url-password"]),
    ("export X_TOKEN=abcdef", ["token"]),
    ("export GITHUB_TOKEN='abcdefgh'", ["token"]),
    ('API_KEY="abcd1234efgh"', ["api-key"]),
    ("password: hunter2", ["password"]),
    ("Password: correct-horse", ["password"]),
    ("password=hunter2", ["password"]),
    ('password = "hunter2"', ["password"]),
    ("db_password: s3cr3t", ["password"]),
    ("--password hunter2", ["password"]),
    ("--token=abcdef123", ["token"]),
    ("PGPASSWORD=letmein psql", ["password"]),
    ("MYSQL_PWD=abc123", ["password"]),
    ("DB_PASS=abc123", ["password"]),
    ('{"clientSecret": "abcDEF123456"}', ["secret"]),
    ('{\\"password\\":\\"hunter2\\"}', ["password"]),
    ("client_secret=abcdefghijkl&grant_type=x", ["secret"]),
    ("curl -u admin:hunter2 http://x", ["password"]),
    ("X-Api-Key: abcd1234efgh5678", ["api-key"]),
    ("_authToken=abcdef-1234-567890", ["token"]),
    ("SECRET_KEY_BASE=abcdef0123456789", ["api-key"]),
    ("Cookie: session=abcdef0123456", ["cookie"]),
    ("password: 'x y z'", ["password"]),
    ("aws_session_token=FwoGZXIvYXdzEBYaD", ["token"]),
    ("CREATE USER x IDENTIFIED BY 'hunter2'", ["password"]),
    ("$env:API_KEY='abcdefgh123'", ["api-key"]),
    ("set DB_PASSWORD=hunter2", ["password"]),
    ("export X_TOKEN=550e8400-e29b-41d4-a716-446655440000", ["token"]),
    ("PASSWORD=hunter2 ./run", ["password"]),
    ("secret: abcdef1234567890", ["secret"]),
    ("passphrase: opensesame", ["password"]),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ["aws-secret-key"]),
    ("token: abcdef1234567890abcdef", ["token"]),
    ("os.environ['API_KEY'] = 'abcdef123456'", ["api-key"]),
    ("const password = 'hunter2';", ["password"]),
    ("password:hunter2", ["password"]),
    ("Enter password: hunter2", ["password"]),
    ("ENV DB_PASSWORD hunter2", ["password"]),
    ("set -gx GITHUB_TOKEN abcdef1234567", ["token"]),
    ("setenv DB_PASSWORD hunter2", ["password"]),
    ("export X_TOKEN=abc", ["token"]),
]

NO_SECRETS = [
    "4a0a2e7c6f1d3b5a9e8d7c6b5a4f3e2d1c0b9a87",
    "commit 4a0a2e7c6f1d3b5a9e8d7c6b5a4f3e2d1c0b9a87 (HEAD -> main)",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "550e8400-e29b-41d4-a716-446655440000",
    "aGVsbG8gd29ybGQgdGhpcyBpcyBub3RoaW5nIHNlY3JldA==",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "token_count: 120",
    '"input_tokens": 12345',
    "max_tokens=4096",
    "password: str",
    "password: Optional[str] = None",
    "password=$PASSWORD",
    "export X_TOKEN=$(cat t)",
    "export X_TOKEN=${TOKEN}",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer ${TOKEN}",
    'headers={"Authorization": f"Bearer {token}"}',
    "the Authorization: header is missing here",
    "password = getpass.getpass()",
    "password=args.password",
    "token = request.headers.get('X')",
    "syntax error near unexpected token: }",
    "Unexpected token: punc (;)",
    "if password: return",
    "PWD=/home/user",
    "OLDPWD=/x",
    "secrets: inherit",
    "token: null",
    "password: <your password>",
    "Enter password: ",
    "the password is wrong",
    "the env password manager",
    "fix: password reset flow",
    "feat(token): add refresh",
    "git push https://github.com/o/r.git",
    "http://localhost:8080/@scope/pkg",
    "ssh://git@github.com/o/r.git",
    "--password-stdin",
    "sk-learn-contrib-something",
    "npm_config_registry=http://x",
    "grep -r -- '-----BE·GIN PRIVATE KEY-----' .",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7 user@host",
    "-----BE·GIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n"
    "-----END CERTIFICATE-----",
    "-----BE·GIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
    "integrity sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+"
    "LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==",
    "password: ********",
    "key: value",
    "primary_key: id",
    "cache_key=abcdef123456",
    "keyboard: us",
    "monkey=123456789abc",
    "tokenizer=abcdefgh1234",
    "token_type=bearer",
    "password_file=/run/secrets/x",
    "secret_name: my-secret-1",
    "Tests pass: 12",
    "h1:abc=",
    "next_token=abcdef1234567890",
    "export PATH=/usr/bin",
    "password: string;",
    "password?: string",
    "self.password = password",
    "os.environ['API_KEY']",
    "process.env.API_KEY",
    "API_KEY=$API_KEY",
    "'token': token,",
    "api_key=API_KEY",
    "the secret: be kind to others",
    "password must be at least 8",
    "The token: abc",
    "def f(token: str, key: bytes) -> None:",
    "token: Token",
    "tree 4a0a2e7c6f1d3b5a9e8d7c6b5a4f3e2d1c0b9a87",
    'etag: "33a64df551425fcc55e4d42a148795d9f25f89d4"',
    "x-request-id: 550e8400-e29b-41d4-a716-446655440000",
    "Public key token: b77a5c561934e089",
    "https://user@host/path",
    "secret: true",
    "func token(s string)",
    'assert token == "x"',
    "token = tokens[0]",
    "key=lambda x: x",
    "KeyError: 'password'",
    "--token-file x",
    '<input type="password" name="pw">',
    "type: password",
    "kind: secret",
    "apiVersion: v1\nkind: Secret\n",
    "SECRET_TOKENS=12",
    "password=true",
    "gh·p_short",
    "AK·IA",
    "pypi-attestations-verifier-package",
]


def plain(text: str) -> str:
    return text.replace("·", "")


@pytest.mark.parametrize(("text", "types"), SECRETS)
def test_a_secret_is_found_and_replaced(text: str, types: list[str]) -> None:
    text = plain(text)
    found = findings(text)
    assert [finding.type for finding in found] == types
    redacted = redact(text)
    for finding in found:
        assert text[finding.start : finding.end] not in redacted
        assert f"[redacted:{finding.type}]" in redacted
    assert redact(redacted) == redacted


@pytest.mark.parametrize(("text", "types"), SECRETS)
def test_a_secret_is_found_wherever_it_stands(text: str, types: list[str]) -> None:
    for before, after in [("first line\n", "\nlast line"), ("x ", ""), ("  ", "\r\n"), ("é ☃ ", "")]:
        whole = f"{before}{plain(text)}{after}"
        redacted = redact(whole)
        assert [finding.type for finding in findings(whole)] == types
        assert redacted.startswith(before)


@pytest.mark.parametrize("text", NO_SECRETS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(plain(text)) == plain(text)
    assert findings(plain(text)) == []


def test_hashes_ids_and_base64_are_no_secrets() -> None:
    rng = random.Random(7)
    for _ in range(200):
        digest = "".join(rng.choices("0123456789abcdef", k=rng.choice([7, 12, 32, 40, 64, 128])))
        encoded = "".join(rng.choices(string.ascii_letters + string.digits + "+/", k=rng.randint(10, 120)))
        for text in (
            digest,
            f"commit {digest}",
            f"index {digest[:7]}..{digest[-7:]} 100644",
            f"sha512-{encoded}==",
            f"+{encoded}",
            f"uuid={digest[:8]}-{digest[:4]}-4{digest[:3]}-8{digest[:3]}-{digest[-12:]}",
        ):
            assert redact(text) == text


def test_findings_say_where_and_never_what() -> None:
    text = plain("first\n  token: gh·p_0123456789abcdefghijABCDEFGHIJ012345\n")
    (finding,) = findings(text)
    assert (finding.type, finding.line, finding.column) == ("github-token", 2, 10)
    assert str(finding) == "github-token at line 2, column 10"
    assert text[finding.start : finding.end].startswith("gh" + "p_")


def test_the_rest_of_a_line_stays() -> None:
    assert redact("curl -H 'Authorization: Bearer abc123' https://x/y") == (
        "curl -H 'Authorization: Bearer [redacted:authorization]' https://x/y"
    )
    assert redact("postgres://app:s3cret@db/x?y=1") == "postgres://app:[redacted:url-password]@db/x?y=1"
    assert redact("export A_TOKEN=abc B=2") == "export A_TOKEN=[redacted:token] B=2"


def test_several_secrets_in_one_text() -> None:
    text = plain("DB_PASSWORD=hunter2\nAWS=AK·IAIOSFODNN7EXAMPLE\nurl: https://u:pw1@h/\n")
    assert redact(text) == (
        "DB_PASSWORD=[redacted:password]\nAWS=[redacted:aws-access-key]\nurl: https://u:[redacted:url-password]@h/\n"
    )


PEM_LINES = [f"{letter * 64}" for letter in "ABCDEFGH"]


def test_a_private_key_is_gone_with_all_its_lines() -> None:
    for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "):
        body = "\n".join(PEM_LINES)
        key = f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"
        assert redact(f"before\n{key}\nafter") == "before\n[redacted:private-key]\nafter"


def test_a_private_key_with_headers_and_a_pgp_key() -> None:
    body = "\n".join(PEM_LINES)
    begin = "-----BEG" + "IN"
    rsa = f"{begin} RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n{body}"
    pgp = f"{begin} PGP PRIVATE KEY BLOCK-----\n\n{body}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----"
    assert redact(rsa) == "[redacted:private-key]"
    assert redact(pgp) == "[redacted:private-key]"


def test_a_private_key_that_was_cut_at_either_end() -> None:
    body = "\n".join(PEM_LINES)
    begin = "-----BEG" + "IN PRIVATE KEY-----"
    end = "-----END PRIVATE KEY-----"
    assert redact(f"{begin}\n{body}\nand then prose.") == "[redacted:private-key]and then prose."
    assert redact(f"prose here\n{body}\n{end}\nmore") == "prose here\n[redacted:private-key]\nmore"
    twice = f"{begin}\n{body}\n{begin}\n{body}\n{end}"
    assert PEM_LINES[0] not in redact(twice)


def test_a_cut_private_key_is_gone_though_something_else_stands_on_its_line() -> None:
    first, second = PEM_LINES[:2]
    begin = "-----BEG" + "IN PRIVATE KEY-----"
    end = "-----END PRIVATE KEY-----"
    for body in (first, f"\n{first}", f"\\n{first}\\n{second}", f" {first} {second[:16]}=="):
        assert redact(f"{begin}{body} and then prose") == "[redacted:private-key] and then prose"
    assert redact(f"the end is {first}\n{second}\n{end}.") == "the end is [redacted:private-key]."
    assert redact(f"the end is {first} {end}.") == "the end is [redacted:private-key]."


@pytest.mark.parametrize(
    "text",
    [
        'export API_TOKEN=Zt\x18 : "Ba\x00\x00sh"',
        "Authorization:8abc =7=)(",
        "Bearer a-real-one-Qw77https:user:api-key",
        "-----BEG" + "IN PRIVATE KEY-----t" + "gh" + "p_789abcdefghijABCDEFGHIJ012345hunter2",
        'password: "hunter2" token: "abc123def"',
    ],
)
def test_twice_is_once(text: str) -> None:
    once = redact(text)
    assert once != text
    assert redact(once) == once


def test_what_stands_behind_a_secret_is_no_secret_for_that() -> None:
    assert redact('A_TOKEN=Zt81 : "words"') == 'A_TOKEN=[redacted:token] : "words"'
    assert redact("Authorization: a1b2c3d4, 7=8") == "Authorization: [redacted:authorization], 7=8"


def test_a_secret_right_behind_a_secret_is_gone_too() -> None:
    text = plain("-----END PRIVATE KEY-----").join(["A" * 64 + "\n", "eyJabcdefghi.eyJabcd.abc"])
    assert redact(text) == "[redacted:private-key][redacted:jwt]"


def test_an_escaped_private_key_in_json() -> None:
    body = "\\n".join(PEM_LINES)
    key = f'{{"private_key": "-----BEGIN PRIVATE KEY-----\\n{body}\\n-----END PRIVATE KEY-----\\n", "x": 1}}'
    assert redact(key) == '{"private_key": "[redacted:private-key]\\n", "x": 1}'
    cut = key[:200]
    assert PEM_LINES[0] not in redact(cut)


def test_markers_without_a_key_stay() -> None:
    begin = "-----BEG" + "IN PRIVATE KEY-----"
    code = f'if "{begin}" in text and "-----END PRIVATE KEY-----" in text:'
    assert redact(code) == code
    assert redact(f"{begin}\n{begin}") == f"{begin}\n{begin}"
    assert redact("-----END PRIVATE KEY-----") == "-----END PRIVATE KEY-----"


def test_a_putty_key_and_an_age_key() -> None:
    lines = "\n".join(["A" * 64] * 3)
    assert "AAAA" not in redact(f"PuTTY-User-Key-File-3: x\nPrivate-Lines: 3\n{lines}\nPrivate-MAC: y")
    assert redact("AGE-SECRET-" + "KEY-1" + "Q" * 58) == "[redacted:private-key]"


def test_authorization_headers_of_several_parameters() -> None:
    signature = "AWS4-HMAC-SHA256 Credential=X/2026/us, SignedHeaders=host, Signature=abc123"
    assert "abc123" not in redact(f"Authorization: {signature}")
    assert "abc123" not in redact('Authorization: Digest username="u", response="abc123"')
    assert redact("Authorization: Digest username=u, response=abc") == (
        "Authorization: Digest [redacted:authorization]"
    )


def test_prose_about_authorization_stays() -> None:
    for text in (
        "the Authorization: header must be set",
        "authorization: required",
        "Authorization = compute(x)",
        "'Authorization': auth,",
        "authorization",
        "Authorization:",
        "Authorization: Bearer",
        "İ Authorization: Bearer $TOKEN",
    ):
        assert redact(text) == text


def test_letters_that_change_length_in_lower_case_shift_nothing() -> None:
    text = "İİİ Authorization: Bearer abc123"
    assert redact(text) == "İİİ Authorization: Bearer [redacted:authorization]"


def test_a_huge_text_keeps_its_ends_without_secrets_and_its_length() -> None:
    secret = plain("gh·p_0123456789abcdefghijABCDEFGHIJ012345")
    text = f"start {secret} " + "x" * (4 * WINDOW) + f" password: hunter2\nend {secret}"
    redacted = redact_bounded(text, 1200)
    assert redacted.startswith("start [redacted:github-token] ")
    assert redacted.endswith("password: [redacted:password]\nend [redacted:github-token]")
    assert secret not in redacted
    assert len(redacted) > 3 * WINDOW


def test_a_secret_at_the_edge_of_what_is_looked_at_does_not_survive_in_part() -> None:
    token = plain("gh·p_0123456789abcdefghijABCDEFGHIJ012345")
    for shift in range(0, 60, 7):
        text = "a " * (WINDOW // 2 - 30) + "b" * shift + " " + token + " c" * (2 * WINDOW)
        assert token[:12] not in redact_bounded(text, 1200)
        text = "a " * (2 * WINDOW) + token + " " + "b" * shift + " c" * (WINDOW // 2 - 30)
        assert token[-12:] not in redact_bounded(text, 1200)


def test_a_bounded_text_that_is_small_is_looked_at_whole() -> None:
    text = "x " * WINDOW
    assert redact_bounded(text, 1200) == text
    long = "y" * (3 * WINDOW)
    assert len(redact_bounded(long, 1200)) == len(long)
    assert redact_bounded("password: hunter2 " * 20_000, 2 * WINDOW).count("hunter2") == 0


HOSTILE = [
    "password: ",
    "eyJ",
    "://:",
    "token=",
    "sk-ant-",
    "xoxb-",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n" + "A" * 60 + "\n",
    "bearer ",
    "curl -u ",
    "authorization: ",
    "cookie: a=",
    "secret_",
    "api_key",
    '"password":"',
    "AKIA",
    "A",
    "\\",
    '"',
    "(",
    "a1Q~",
    "login x password ",
]


@pytest.mark.timeout(600)  # work that grows with the square of the text would take longer
@pytest.mark.parametrize("piece", HOSTILE)
def test_work_does_not_grow_with_the_square_of_the_text(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    assert isinstance(redact(text), str)


@pytest.mark.parametrize("seed", range(20))
def test_random_text_made_of_triggers_never_raises(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [*HOSTILE, *(plain(text) for text, _ in SECRETS), "\n", " ", "=", ":", "é", "\ud800", "'", "{"]
    text = "".join(rng.choice(pieces) for _ in range(200))
    redacted = redact(text)
    assert isinstance(redacted, str)
    for finding in findings(text):
        assert 0 <= finding.start < finding.end <= len(text)
