"""What the fuzzers run: one function per reader of untrusted bytes.

Each takes bytes and returns whether the reader took them, or raises ``Finding`` (a promise is broken) or
any exception that the reader does not promise (a traceback for somebody). ``tests/fuzz`` runs every target
over its corpus, which holds bytes that are taken and bytes that are refused.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent_base.errors import SuiteError
from ai_kb.hn.errors import HnError


class Finding(Exception):
    """A promise that does not hold for this input."""


def _need(holds: bool, promise: str) -> None:
    if not holds:
        raise Finding(promise)


def _with_its_canonical_form(data: bytes, *, indented: bool = False) -> list[bytes]:
    """``data``, and when it is JSON the canonical form of that: so that more gets past the first door."""
    from ai_kb.hn import canonical

    try:
        value = json.loads(data)
        form = canonical.encode_indented(value) + b"\n" if indented else canonical.encode(value)
    except (ValueError, RecursionError, HnError):
        return [data]
    return [data, form]


def envelope(data: bytes) -> bool:
    """A payload is accepted only if encoding what was decoded gives the same bytes."""
    from ai_kb.hn.envelope import decode_envelope, envelope_to_bytes

    taken = []
    for payload in _with_its_canonical_form(data):
        try:
            decoded = decode_envelope(payload)
        except HnError:
            continue
        _need(envelope_to_bytes(decoded) == payload, "decode then encode is the identity")
        taken.append(payload)
    return data in taken


def event(data: bytes) -> bool:
    """Whatever an actor signs as an event is refused with an HnError, or has its digest as its id."""
    from ai_kb.hn import keys
    from ai_kb.hn.events import verify_event

    private = keys.private_key_of_seed(bytes(range(32)))
    signature = keys.sign(private, data)
    try:
        found = verify_event(data, signature, actor=keys.actor_of(private[32:]), sequence=1, previous="")
    except HnError:
        return False
    _need(found.id == "sha256:" + hashlib.sha256(data).hexdigest(), "the id is the digest of the bytes")
    return True


def payload(data: bytes) -> bool:
    """Whatever a harness sends becomes an event, for each harness, and its record is one line of JSON."""
    from agent_base.lightjson import dumps
    from agent_memory.entries import tool_entry
    from agent_memory.payload import normalise
    from agent_memory.redact import redact

    texts: set[str] = set()
    for harness in (None, "claude", "codex", "copilot", "cursor", "gemini", "opencode"):
        event = normalise(data, harness)
        _need(isinstance(event.event, str), "an event has a name")
        record = tool_entry(event, ts=0.0, workspace="/w", topic="t")
        line = dumps(record, ascii_only=False).encode()
        _need(b"\n" not in line and json.loads(line) == record, "the record is one line of JSON")
        texts.update((event.command, event.output, event.error, event.prompt))
    for text in texts:
        once = redact(text)
        _need(redact(once) == once, "redacting twice is redacting once")
    return event.raw_ok


def recall_request(data: bytes) -> bool:
    """Machine requests of recall are refused with an HnError or normalized once and for all."""
    from ai_kb.hn.request import from_input

    try:
        request = from_input(data)
    except HnError:
        return False
    mapping = request.mapping("a" * 40)
    _need(mapping["topic"] == sorted(set(request.topics)), "topics are sorted and unique")
    return True


class _AnyRepository:
    """A repository in which every commit, and every path as it is stated, is there."""

    def __init__(self, blobs: dict[str, str]) -> None:
        self._blobs = blobs

    def resolve_commit(self, revision: str) -> str:
        return "a" * 40

    def types(self, names: list[str]) -> list[str | None]:
        return ["commit"] * len(names)

    def path_blobs(self, commit: str, paths: list[str]) -> list[str | None]:
        return [self._blobs.get(path, "absent") for path in paths]


def record_request(data: bytes) -> bool:
    """Machine requests of record and handoff are refused with an HnError, or can be signed as they are."""
    from ai_kb.hn import canonical
    from ai_kb.hn.envelope import record_mapping
    from ai_kb.hn.envelope_codec import read_record
    from ai_kb.hn.recordrequest import from_json

    taken = False
    for handoff in (False, True):
        reader = _AnyRepository({"src/a.py": "b" * 40})
        try:
            request = from_json(reader, data, handoff=handoff, at="HEAD" if handoff else "")  # type: ignore[arg-type]
        except HnError:
            continue
        record = request.record
        _need(list(record.topics) == sorted(set(record.topics)), "topics are sorted and unique")
        form = canonical.encode(record_mapping(record))
        _need(read_record(canonical.decode(form)) == record, "what would be signed reads back as the record")
        taken = True
    return taken


def policy(data: bytes) -> bool:
    """A policy is refused with an HnError or says for each actor and kind what it is worth."""
    from ai_kb.hn.policy import parse_policy, trust_class

    try:
        parsed = parse_policy(data)
    except HnError:
        return False
    _need(parsed.digest.startswith("sha256:"), "a policy has a digest")
    trust_class(parsed, "a" * 64, "decision")
    return True


def cursor(data: bytes) -> bool:
    """A cursor is refused, or it is the one that would be made from what it says.

    The bytes are tried as a cursor, and as what a cursor says, with its checksum.
    """
    from ai_kb.hn.cursor import GREP, RECALL, _checksum, decode_cursor, encode_cursor

    query = "sha256:" + "1" * 64
    taken = False
    for kind in (RECALL, GREP):
        said = base64.urlsafe_b64encode(data).rstrip(b"=").decode() + "." + _checksum(kind, data)
        for text in (data.decode("utf-8", "replace"), said):
            try:
                last = decode_cursor(text, query, kind=kind)
            except HnError:
                continue
            given = text.replace("\n", "").replace("\r", "")
            remade = encode_cursor(query, last, kind=kind)
            _need(remade == given or text == said, "only its own maker's cursors are taken")
            _need(decode_cursor(remade, query, kind=kind) == last, "a cursor says what it was made of")
            taken = True
    return taken


def index_file(data: bytes) -> bool:
    """The index reader takes an index in its one encoding or raises InvalidIndex."""
    from ai_kb.hn.errors import InvalidIndex
    from ai_kb.hn.index_file import checked

    taken = []
    for index in _with_its_canonical_form(data, indented=True):
        try:
            checked(index)
        except InvalidIndex:
            continue
        taken.append(index)
    return data in taken


_scratch = tempfile.TemporaryDirectory(prefix="agent-hook-suite-fuzz-")


def _file(name: str, data: bytes) -> str:
    path = os.path.join(_scratch.name, name)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)
    return path


def worklog(data: bytes) -> bool:
    """A damaged worklog keeps every complete record and takes the next one on a line of its own."""
    from agent_memory import worklog as module

    path = _file("t.worklog.jsonl", data)
    before = module.read(path)
    line = b'{"event":"x","worklog_id":"w1"}'
    module.append(path, [line], ["w1"])
    after = module.read(path)
    last, count = module.tail(path, 3)
    _need(last == after[-3:] and count >= len(after), "the tail is the end of the whole")
    if b'"worklog_id":"w1"' in data:
        return False  # taken for a replay of the same record
    kept = before[-(module.KEEP - 1) :] if before else []
    # Further up a damaged line with braces around it takes one of the places.
    full = data.count(b"\n") >= module.KEEP - 1
    _need(after[: len(kept)] == kept or full, "complete records are kept")
    _need(after[-1] == json.loads(line), "the next record stands last")
    return bool(before)


def queue_record(data: bytes) -> bool:
    """A queue record is refused with a SuiteError, or its line is recorded once, however often tried."""
    from agent_memory import queue, worklog

    name = f"{1:0{queue._DIGITS}d}{queue.SUFFIX}"
    path = _file(name, data)
    try:
        record, line = queue.read_record(os.path.dirname(path), "key", name)
    except SuiteError:
        return False
    _need(json.loads(line, strict=False) == record, "the line is the record's")
    into = _file("q.worklog.jsonl", b"")
    for _ in range(2):
        worklog.append(into, [line], [str(record["worklog_id"])])
    _need(worklog.read(into) == [record], "it is recorded once")
    return True


_WANTED = {
    "SessionStart": [
        {"hooks": [{"type": "command", "command": "/x/.agents/hooks/start # MARK", "timeout": 10}]}
    ],
    "PostToolUse": [
        {
            "matcher": "*",
            "hooks": [{"type": "command", "command": "/x/.agents/hooks/tool # MARK", "timeout": 10}],
        }
    ],
}


def json_settings(data: bytes) -> bool:
    """Settings are refused, or adding hooks and taking them out gives the very same bytes."""
    from agent_install import json_edit

    try:
        changed = json_edit.add(data, _WANTED)
    except SuiteError:
        return False
    if not json_edit.entries(data, "MARK"):
        restored = json_edit.remove(changed, "MARK", json_edit.shape(data))
        _need(restored == data, "what was added goes again")
    return True


def toml_settings(data: bytes) -> bool:
    """Codex's settings are refused, or adding hooks and taking them out gives the very same bytes."""
    from agent_install import toml_edit

    try:
        changed = toml_edit.add(data, _WANTED)
    except SuiteError:
        return False
    if not toml_edit.entries(data, "MARK") and toml_edit.remove_trust(data) == data:
        text = data.removeprefix(b"\xef\xbb\xbf")
        newline = b"\r\n" if b"\r\n" in text else b"\n"
        missing = (
            newline if text and not text.endswith(b"\n") else b""
        )  # the last line gets its end, and keeps it
        _need(toml_edit.remove(changed, "MARK") == data + missing, "what was added goes again")
    return True


def pattern(data: bytes) -> bool:
    """A pattern is refused, or its instructions fit the bound, re2 compiles it, and it can be searched."""
    from ai_kb.hn.pattern import MAX_INSTRUCTIONS, compile_pattern

    try:
        compiled = compile_pattern(data)
    except HnError:
        return False
    _need(2 < compiled.instructions <= MAX_INSTRUCTIONS, "the count is within its bounds")
    compiled.matches(data)
    return True


def capsule(data: bytes) -> bool:
    """Any content of a record can be read, joins to what reads the same, and becomes one inert line."""
    from ai_kb.capsule import TRAILERS, Capsule, join_content, split_content
    from ai_kb.inject_text import BODY_LIMIT, TITLE_LIMIT, line, shorten

    text = data.decode("utf-8", "replace")
    title, body, trailers = split_content(text)
    _need("\n" not in title, "a title is one line")
    _need(all(name in TRAILERS and "\n" not in value for name, value in trailers), "trailers are known lines")
    if title and trailers:
        again = split_content(join_content(title, body, trailers))
        _need(again == (title, body, trailers), "joined and split again it is the same")
    read = Capsule("observation", text, text.split("\n"))
    shown = line(
        "sha256:" + "1" * 64, kind=read.kind, title=read.title, body=read.body, trust="qualified",
        age="today", by=read.by, depth="deep",
    )  # fmt: skip
    _need(shown.isascii() or shown.isprintable(), "nothing in it acts")
    _need(not any(c in shown for c in "<>&\n\r"), "nothing that closes or breaks")
    told = json.loads(shown)
    _need(told["title"] == shorten(read.title, TITLE_LIMIT), "the line gives the title back")
    _need(len(told["body"]) <= BODY_LIMIT["deep"], "the line is bounded")
    return bool(trailers)


def correction(data: bytes) -> bool:
    """Any prompt has a known signal or none."""
    from agent_memory.corrections import SIGNALS, detect

    signal = detect(data.decode("utf-8", "surrogateescape"))
    _need(signal in {*SIGNALS, None}, "a known signal or none")
    return signal is not None


def inert(data: bytes) -> bool:
    """What is rendered inert is one line without anything that acts, and JSON gives the text back.

    It takes everything; what this returns is whether there was anything to escape.
    """
    from agent_base.inert import json_line, terminal

    text = data.decode("utf-8", "replace")
    line = json_line({"t": text})
    _need(json.loads(line) == {"t": text}, "the data comes back")
    for out in (line, terminal(text)):
        _need(out.isprintable() or not any(ord(c) < 32 or ord(c) == 127 for c in out), "no controls")
    _need(not any(c in line for c in "<>&\u2028\u2029\u202e\u200b"), "nothing that closes or hides")
    return text not in line


TARGETS: dict[str, Callable[[bytes], bool]] = {
    function.__name__: function
    for function in (
        envelope, event, payload, recall_request, record_request, policy, cursor, index_file, worklog,
        queue_record, json_settings, toml_settings, pattern, capsule, correction, inert,
    )
}  # fmt: skip
