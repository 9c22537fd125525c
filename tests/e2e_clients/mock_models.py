#!/usr/bin/env python3
"""Stand-in for the model services that coding agents talk to: loopback only, scripted, recording.

    mock_models.py --plans FILE --record DIR [--isolated] -- CLIENT ARGUMENT...

Runs CLIENT against a server on a free port of 127.0.0.1 and ends with its exit code. `{url}` in its
arguments and in the values of environment variables becomes the server's address. `--isolated` first
brings up the loopback device of the network namespace it was started in (`unshare -n`).

FILE is a JSON object: a name such as `plan-3` that a prompt mentions → {"run": [COMMAND…], "say": TEXT,
"tokens": N}. The model then calls the client's shell tool once per COMMAND and ends with TEXT, reporting
N input tokens with that (so that the client compacts its conversation). The newest mention counts.
Nothing is remembered between requests: how far a plan has come is read off the conversation. A request
without tools (a title, a summary) gets a short text.

Spoken: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions, Gemini generateContent; streamed
or not. Every request is written to DIR as NNNN-API.json (path, body), without its headers.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import http.server
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]

PLAN = re.compile(r"\bplan-\d+\b")
SHELL_TOOLS = ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "local_shell")
NO_TOOLS_TEXT = "A short text."
MOST_REQUESTS = 200


class Progress:
    """How far the conversation in a request has come."""

    def __init__(self) -> None:
        self.plan: str | None = None
        self.calls = 0

    def user(self, text: str) -> None:
        """A text of the user: a plan it mentions starts afresh."""
        for name in PLAN.findall(text):
            self.plan, self.calls = name, 0

    def called(self, count: int = 1) -> None:
        """The model has called tools."""
        self.calls += count


class Reply:
    """What the model says: a shell command through ``tool``, or a text."""

    def __init__(
        self, text: str = "", tool: str = "", arguments: Json | None = None, tokens: int = 100
    ) -> None:
        self.text, self.tool, self.arguments, self.tokens = text, tool, arguments or {}, tokens
        self.custom = False


def decide(progress: Progress, tools: dict[str, Json], plans: dict[str, Json]) -> Reply:
    """The next reply of the plan in progress."""
    plan = plans.get(progress.plan or "", {})
    if not tools:
        return Reply(NO_TOOLS_TEXT)
    commands = plan.get("run", [])
    if progress.calls >= len(commands):
        return Reply(str(plan.get("say", "Nothing is planned.")), tokens=int(plan.get("tokens", 100)))
    name = next((tool for tool in SHELL_TOOLS if tool in tools), None)
    if name is None:
        return Reply(f"There is no shell tool among {sorted(tools)}.")
    return Reply(tool=name, arguments=shell_arguments(tools[name], commands[progress.calls]))


def shell_arguments(schema: Json, command: str) -> Json:
    """Arguments for a shell tool with this schema: the command, and something for what else is required."""
    properties: Json = schema.get("properties") or {}
    key = next((key for key in ("command", "cmd") if key in properties), "command")
    arguments = {name: placeholder(properties.get(name) or {}) for name in schema.get("required") or ()}
    listed = str((properties.get(key) or {}).get("type")).lower() == "array"
    arguments[key] = ["bash", "-c", command] if listed else command
    return arguments


def placeholder(schema: Json) -> Any:
    """A small value of the schema's type."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = str(schema.get("type", "string")).lower()
    return {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}.get(kind, "scripted")


def flat(content: Any) -> Iterator[str]:
    """All text in a message's content, in any of the four dialects."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from flat(part)
    elif isinstance(content, dict) and isinstance(content.get("text"), str):
        yield content["text"]


# ---------------------------------------------------------------- the four dialects


class Anthropic:
    """Messages."""

    name, path = "anthropic", re.compile(r"/v1/messages$")

    @staticmethod
    def read(body: Json) -> tuple[Progress, dict[str, Json]]:
        progress = Progress()
        for message in body.get("messages", []):
            content = message.get("content")
            if message.get("role") == "assistant":
                calls = (
                    [p for p in content if p.get("type") == "tool_use"] if isinstance(content, list) else []
                )
                progress.called(len(calls))
            elif message.get("role") == "user":
                for text in flat(content):
                    progress.user(text)
        return progress, {
            t["name"]: t.get("input_schema") or {} for t in body.get("tools") or [] if "name" in t
        }

    @staticmethod
    def write(body: Json, reply: Reply, number: int) -> tuple[Json, list[tuple[str, Json]]]:
        usage = {"input_tokens": reply.tokens, "output_tokens": 9}
        block: Json = {"type": "text", "text": reply.text}
        if reply.tool:
            block = {
                "type": "tool_use",
                "id": f"toolu_{number:09d}",
                "name": reply.tool,
                "input": reply.arguments,
            }
        reason = "tool_use" if reply.tool else "end_turn"
        message = {
            "id": f"msg_{number:09d}", "type": "message", "role": "assistant", "model": body.get("model"),
            "content": [block], "stop_reason": reason, "stop_sequence": None, "usage": usage,
        }  # fmt: skip
        opening, delta = {**block, "text": ""}, {"type": "text_delta", "text": reply.text}
        if reply.tool:
            opening = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
        events: list[Json] = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": opening},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": usage,
            },
            {"type": "message_stop"},
        ]
        return message, [(event["type"], event) for event in events]


class Responses:
    """OpenAI Responses."""

    name, path = "responses", re.compile(r"/responses$")

    @staticmethod
    def read(body: Json) -> tuple[Progress, dict[str, Json]]:
        progress = Progress()
        for item in body.get("input") or []:
            kind = item.get("type", "message")
            if kind in ("function_call", "custom_tool_call", "local_shell_call"):
                progress.called()
            elif kind == "message" and item.get("role") == "user":
                for text in flat(item.get("content")):
                    progress.user(text)
        return progress, {
            t["name"]: t.get("parameters") or {}
            for t in body.get("tools") or []
            if t.get("type") == "function"
        }

    @staticmethod
    def write(body: Json, reply: Reply, number: int) -> tuple[Json, list[tuple[str, Json]]]:
        item: Json = {
            "type": "message", "id": f"msg_{number:09d}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
        }  # fmt: skip
        if reply.tool:
            item = {
                "type": "function_call", "id": f"fc_{number:09d}", "call_id": f"call_{number:09d}",
                "name": reply.tool, "arguments": json.dumps(reply.arguments), "status": "completed",
            }  # fmt: skip
        usage = {
            "input_tokens": reply.tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": reply.tokens + 9,
        }  # fmt: skip
        whole = {
            "id": f"resp_{number:09d}", "object": "response", "created_at": 0, "status": "completed",
            "model": body.get("model"), "output": [item], "usage": usage, "error": None,
        }  # fmt: skip
        events: list[Json] = [
            {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
            {
                "type": "response.output_item.added",
                "output_index": 0,
                "item": {**item, "status": "in_progress"},
            },
        ]
        if not reply.tool:
            where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            events.append({"type": "response.output_text.delta", "delta": reply.text, **where})
        events += [
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]
        return whole, [(event["type"], {**event, "sequence_number": n}) for n, event in enumerate(events)]


class Chat:
    """OpenAI Chat Completions."""

    name, path = "chat", re.compile(r"/chat/completions$")

    @staticmethod
    def read(body: Json) -> tuple[Progress, dict[str, Json]]:
        progress = Progress()
        for message in body.get("messages", []):
            if message.get("role") == "assistant":
                progress.called(len(message.get("tool_calls") or ()))
            elif message.get("role") == "user":
                for text in flat(message.get("content")):
                    progress.user(text)
        functions = [t["function"] for t in body.get("tools") or [] if t.get("type") == "function"]
        return progress, {f["name"]: f.get("parameters") or {} for f in functions}

    @staticmethod
    def write(body: Json, reply: Reply, number: int) -> tuple[Json, list[tuple[str, Json]]]:
        usage = {"prompt_tokens": reply.tokens, "completion_tokens": 9, "total_tokens": reply.tokens + 9}
        message: Json = {"role": "assistant", "content": reply.text or None}
        if reply.tool:
            function = {"name": reply.tool, "arguments": json.dumps(reply.arguments)}
            message["tool_calls"] = [
                {"index": 0, "id": f"call_{number:09d}", "type": "function", "function": function}
            ]
        reason = "tool_calls" if reply.tool else "stop"
        base = {"id": f"chatcmpl-{number:09d}", "created": 0, "model": body.get("model")}
        whole = {
            **base, "object": "chat.completion", "usage": usage,
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        }  # fmt: skip
        chunk = {**base, "object": "chat.completion.chunk"}
        events = [
            {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {**chunk, "choices": [], "usage": usage},
        ]
        return whole, [("", event) for event in events]


class Gemini:
    """generateContent."""

    name, path = "gemini", re.compile(r":(streamGenerateContent|generateContent)$")

    @staticmethod
    def read(body: Json) -> tuple[Progress, dict[str, Json]]:
        progress = Progress()
        for content in body.get("contents", []):
            parts = content.get("parts") or []
            if content.get("role") == "model":
                progress.called(sum("functionCall" in part for part in parts))
            else:
                for text in flat(parts):
                    progress.user(text)
        tools = {}
        for group in body.get("tools") or []:
            for function in group.get("functionDeclarations") or []:
                schema = function.get("parametersJsonSchema") or function.get("parameters")
                tools[function["name"]] = schema or {}
        return progress, tools

    @staticmethod
    def write(body: Json, reply: Reply, number: int) -> tuple[Json, list[tuple[str, Json]]]:
        part: Json = {"text": reply.text}
        if reply.tool:
            part = {"functionCall": {"id": f"call_{number:09d}", "name": reply.tool, "args": reply.arguments}}
        if "json" in str((body.get("generationConfig") or {}).get("responseMimeType")):
            part = {"text": "{}"}
        whole = {
            "candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": reply.tokens,
                "candidatesTokenCount": 9,
                "totalTokenCount": reply.tokens + 9,
            },
        }
        return whole, [("", whole)]


DIALECTS = (Anthropic, Responses, Chat, Gemini)


# ---------------------------------------------------------------- the server


class Server(http.server.ThreadingHTTPServer):
    """The service: plans to follow, a directory for what was asked."""

    daemon_threads = True

    def __init__(self, plans: dict[str, Json], record: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plans, self.directory = plans, record
        self.lock = threading.Lock()
        record.mkdir(parents=True, exist_ok=True)
        self.count = len(list(record.iterdir()))
        self.unique = os.getpid() * 1000

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def record(self, api: str, path: str, body: Any) -> int:
        """Keep a request; gives its number."""
        with self.lock:
            self.count += 1
            number = self.count
        text = json.dumps({"path": path, "body": body}, indent=1, ensure_ascii=False)
        (self.directory / f"{number:04d}-{api}.json").write_text(text, encoding="utf-8", errors="replace")
        return number

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class Handler(http.server.BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the client's own output is what counts."""

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        coding = self.headers.get("Content-Encoding", "")
        if coding == "gzip":
            return gzip.decompress(data)
        return zlib.decompress(data) if coding == "deflate" else data

    def _send(self, value: Any, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterable[tuple[str, Json]], done: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, event in events:
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {json.dumps(event)}\n\n".encode())
        if done:
            self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()
        self.close_connection = True

    def do_GET(self) -> None:
        """Lists of models."""
        path = self.path.split("?")[0]
        self.server.record("get", path, None)
        if path.endswith("/models"):
            model = {"id": "mock-model", "object": "model", "owned_by": "mock", "created": 0}
            self.send_models([model])
        else:
            self._send({"error": {"message": "there is nothing here"}}, 404)

    def send_models(self, models: list[Json]) -> None:
        """The list in the form that all of the clients take."""
        self._send({"object": "list", "data": models, "models": [], "has_more": False})

    def do_POST(self) -> None:
        """Ask the model."""
        path = self.path.split("?")[0]
        raw = self._body()
        body: Any = None
        with contextlib.suppress(ValueError):
            body = json.loads(raw or b"{}")
        dialect = next((d for d in DIALECTS if d.path.search(path)), None)
        number = self.server.record(dialect.name if dialect else "other", path, body)
        if path.endswith(("count_tokens", ":countTokens")):
            self._send({"input_tokens": 10, "totalTokens": 10})
        elif dialect is None or not isinstance(body, dict):
            self._send({"error": {"message": "there is nothing here"}}, 404)
        elif number > MOST_REQUESTS:
            self._send({"error": {"type": "invalid_request_error", "message": "too many requests"}}, 400)
        else:
            reply = decide(*dialect.read(body), self.server.plans)
            whole, events = dialect.write(body, reply, self.server.unique + number)
            streamed = body.get("stream") or "stream" in path.rsplit(":", 1)[-1]
            if streamed:
                self._stream(events, done=dialect is Chat)
            else:
                self._send(whole)


def loopback_up() -> None:
    """Bring up ``lo`` in a fresh network namespace (Linux: SIOCGIFFLAGS, SIOCSIFFLAGS)."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = fcntl.ioctl(probe, 0x8913, struct.pack("16sH14x", b"lo", 0))
        flags = struct.unpack("16sH14x", request)[1]
        fcntl.ioctl(probe, 0x8914, struct.pack("16sH14x", b"lo", flags | 1))


def main() -> int:
    """Serve while the client runs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plans", type=Path, required=True)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--isolated", action="store_true")
    parser.add_argument("client", nargs="+")
    given = parser.parse_args()
    if given.isolated:
        loopback_up()
    server = Server(json.loads(given.plans.read_text()), given.record)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {name: value.replace("{url}", server.url) for name, value in os.environ.items()}
    try:
        words = [word.replace("{url}", server.url) for word in given.client]
        return subprocess.call(words, env=environment, stdin=sys.stdin)
    finally:
        server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
