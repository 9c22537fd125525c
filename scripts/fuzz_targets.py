"""What the fuzzers run: one function per reader of untrusted bytes.

Each takes bytes and returns None, or raises ``Finding`` (a promise is broken) or any exception that
the reader does not promise (a traceback for somebody). ``tests/fuzz`` runs every target over the corpus.
"""

from __future__ import annotations

import contextlib
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


def envelope(data: bytes) -> None:
    """A payload is accepted only if encoding what was decoded gives the same bytes."""
    from ai_kb.hn.envelope import decode_envelope, envelope_to_bytes

    try:
        decoded = decode_envelope(data)
    except HnError:
        return
    _need(envelope_to_bytes(decoded) == data, "decode then encode is the identity")


def payload(data: bytes) -> None:
    """Whatever a harness sends becomes an event, for each harness, and the redacted record is JSON."""
    from agent_memory.payload import normalise
    from agent_memory.redact import redact

    for harness in (None, "claude", "codex", "copilot", "cursor", "gemini", "opencode"):
        event = normalise(data, harness)
        _need(isinstance(event.event, str), "an event has a name")
        for text in (event.command, event.output, event.error, event.prompt):
            if text:
                _need(redact(redact(text)) == redact(text), "redacting twice is redacting once")


def recall_request(data: bytes) -> None:
    """Machine requests of recall are refused with an HnError or normalized once and for all."""
    from ai_kb.hn.request import from_input

    try:
        request = from_input(data)
    except HnError:
        return
    mapping = request.mapping("a" * 40)
    _need(mapping["topic"] == sorted(set(request.topics)), "topics are sorted and unique")


def policy(data: bytes) -> None:
    """A policy is refused with an HnError or says for each actor and kind what it is worth."""
    from ai_kb.hn.policy import parse_policy, trust_class

    try:
        parsed = parse_policy(data)
    except HnError:
        return
    _need(parsed.digest.startswith("sha256:"), "a policy has a digest")
    trust_class(parsed, "a" * 64, "decision")


def cursor(data: bytes) -> None:
    """A cursor is refused, or it is the one that would be made from what it says."""
    from ai_kb.hn.cursor import GREP, RECALL, decode_cursor, encode_cursor

    query = "sha256:" + "1" * 64
    for kind in (RECALL, GREP):
        try:
            last = decode_cursor(data.decode("utf-8", "replace"), query, kind=kind)
        except HnError:
            continue
        given = data.decode("utf-8", "replace").replace("\n", "").replace("\r", "")
        _need(encode_cursor(query, last, kind=kind) == given, "only its own maker's cursors are taken")


def index_file(data: bytes) -> None:
    """The index reader takes an index or raises InvalidIndex."""
    from ai_kb.hn import index_file as module

    with contextlib.suppress(HnError):
        module._decoded(data)


_scratch = tempfile.TemporaryDirectory(prefix="agent-hook-suite-fuzz-")


def _file(name: str, data: bytes) -> str:
    path = os.path.join(_scratch.name, name)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)
    return path


def worklog(data: bytes) -> None:
    """A damaged worklog keeps every complete record and takes the next one on a line of its own."""
    from agent_memory import worklog as module

    path = _file("t.worklog.jsonl", data)
    before = module.read(path)
    line = b'{"event":"x","worklog_id":"w1"}'
    module.append(path, [line], ["w1"])
    after = module.read(path)
    if b'"worklog_id":"w1"' in data:
        return  # taken for a replay of the same record
    kept = before[-(module.KEEP - 1) :] if before else []
    _need(after[: len(kept)] == kept or len(before) >= module.KEEP, "complete records are kept")
    _need(after[-1] == json.loads(line), "the next record stands last")


def queue_record(data: bytes) -> None:
    """A queue record is read whole or refused with a SuiteError."""
    from agent_memory import queue

    name = f"{1:020d}.json"
    path = _file(name, data)
    with contextlib.suppress(SuiteError):
        queue.read_record(os.path.dirname(path), "key", name)


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


def json_settings(data: bytes) -> None:
    """Settings are refused, or adding hooks and taking them out gives the very same bytes."""
    from agent_install import json_edit

    try:
        changed = json_edit.add(data, _WANTED)
    except SuiteError:
        return
    if b"MARK" not in data:
        restored = json_edit.remove(changed, "MARK", json_edit.original_arrays(data))
        # White space in a container that is empty is not kept here: uninstalling puts the original back.
        blank = not data.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n{}[]")
        _need(restored == data or blank or b"hooks" in data, "what was added goes again")


def toml_settings(data: bytes) -> None:
    """Codex's settings are refused, or still parse with the hooks and without them."""
    from agent_install import toml_edit

    try:
        changed = toml_edit.add(data, _WANTED)
        toml_edit.remove(changed, "MARK")
    except SuiteError:
        return


def pattern(data: bytes) -> None:
    """A pattern is refused, or its instructions fit the bound and re2 compiles it."""
    from ai_kb.hn.pattern import compile_pattern

    with contextlib.suppress(HnError):
        compile_pattern(data)


def correction(data: bytes) -> None:
    """Any prompt has a known signal or none."""
    from agent_memory.corrections import SIGNALS, detect

    _need(detect(data.decode("utf-8", "surrogateescape")) in {*SIGNALS, None}, "a known signal or none")


def inert(data: bytes) -> None:
    """What is rendered inert is one line without anything that acts, and JSON gives the text back."""
    from agent_base.inert import json_line, terminal

    text = data.decode("utf-8", "replace")
    line = json_line({"t": text})
    _need(json.loads(line) == {"t": text}, "the data comes back")
    for out in (line, terminal(text)):
        _need(out.isprintable() or not any(ord(c) < 32 or ord(c) == 127 for c in out), "no controls")
    _need(not any(c in line for c in "<>&\u2028\u2029\u202e\u200b"), "nothing that closes or hides")


TARGETS: dict[str, Callable[[bytes], None]] = {
    function.__name__: function
    for function in (
        envelope, payload, recall_request, policy, cursor, index_file, worklog, queue_record,
        json_settings, toml_settings, pattern, correction, inert,
    )
}  # fmt: skip
