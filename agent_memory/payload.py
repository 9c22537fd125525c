"""Any harness's hook payload as one ``Event``.

``normalise`` never raises and never guesses the harness from the environment. What it does not
understand it leaves empty; bytes that are no JSON object are kept as the event's output, so that
nothing is lost without a trace. Text is as the harness sent it: unbounded, unredacted, hostile.
The recorded payloads in ``tests/data/payloads`` are the contract (Hook memory, Runtime recall wiring).

Standard library only and light: hooks run this.
"""

from __future__ import annotations

from agent_base.lightjson import loads
from agent_memory import payload_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Json = Mapping[str, object]

HARNESSES = ("claude", "codex", "gemini", "copilot", "opencode", "cursor")

SESSION_START = "SessionStart"
PROMPT = "UserPromptSubmit"
TOOL = "PostToolUse"
TOOL_FAILURE = "PostToolUseFailure"

# Event names of all harnesses, letters and digits only, lower case → one name.
_EVENTS = {
    "sessionstart": SESSION_START,
    "sessioncreated": SESSION_START,
    "sessionend": "SessionEnd",
    "userpromptsubmit": PROMPT,
    "userpromptsubmitted": PROMPT,
    "beforeagent": PROMPT,
    "beforesubmitprompt": PROMPT,
    "chatmessage": PROMPT,
    "posttooluse": TOOL,
    "aftertool": TOOL,
    "toolexecuteafter": TOOL,
    "aftershellexecution": TOOL,
    "aftermcpexecution": TOOL,
    "afterfileedit": TOOL,
    "posttoolusefailure": TOOL_FAILURE,
    "messagepartfailed": TOOL_FAILURE,
    "pretooluse": "PreToolUse",
    "beforetool": "PreToolUse",
    "toolexecutebefore": "PreToolUse",
    "beforeshellexecution": "PreToolUse",
    "beforemcpexecution": "PreToolUse",
    "stop": "Stop",
    "agentstop": "Stop",
    "afteragent": "Stop",
    "sessionidle": "Stop",
    "subagentstart": "SubagentStart",
    "subagentstop": "SubagentStop",
    "precompact": "PreCompact",
    "precompress": "PreCompact",
    "sessioncompacting": "PreCompact",
    "experimentalsessioncompacting": "PreCompact",
    "postcompact": "PostCompact",
    "sessioncompacted": "PostCompact",
}
_SOURCES = frozenset({"startup", "resume", "clear", "compact", "fork"})

# Prompts that a client writes itself: results of background agents and of local commands.
_CLIENTS_OWN_PROMPTS = ("<task-notification", "<local-command-", "<bash-stdout", "<bash-stderr")
_GEMINI_CONTEXT = ("<hook_context>", "</hook_context>")
_OPENCODE_SUBAGENTS = frozenset({"general", "explore"})


class Event:
    """One hook event, whatever harness it came from. Absent text is "", absent lists are ()."""

    __slots__ = (
        "agent_id",  # set when a sub-agent caused the event
        "call_id",
        "command",  # the shell command; of other tools what they were pointed at (path, pattern, URL)
        "cwd",
        "duration",  # milliseconds, or None
        "error",
        "event",  # canonical name: SessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure, …
        "harness",  # as the adapter says, else ""
        "is_shell",  # the tool runs shell commands
        "model",
        "name",  # the event's name as the payload has it, or as its shape implies
        "output",
        "parent_id",  # session of a sub-agent's parent, when the payload names it
        "paths",
        "prompt",
        "prompt_is_users",
        "raw_ok",  # the payload was a JSON object
        "session_id",
        "source",  # of SessionStart: startup, resume, clear, compact, fork
        "status",  # ok, failed, interrupted, or "" where the harness does not show it
        "tool_name",
        "workspace_roots",
    )

    def __init__(self, harness: str = "") -> None:
        self.harness = harness
        self.event = self.name = self.session_id = self.parent_id = self.agent_id = ""
        self.workspace_roots: tuple[str, ...] = ()
        self.cwd = self.source = self.prompt = self.model = ""
        self.prompt_is_users = False
        self.tool_name = self.command = self.output = self.error = self.status = self.call_id = ""
        self.is_shell = False
        self.duration: int | None = None
        self.paths: tuple[str, ...] = ()
        self.raw_ok = True

    def fields(self) -> Iterator[tuple[str, object]]:
        """Name and value of every field, for tests and for people."""
        for name in self.__slots__:
            yield name, getattr(self, name)

    @property
    def is_tool_event(self) -> bool:
        """Whether a tool ended: what the worklog is for."""
        return self.event in (TOOL, TOOL_FAILURE)

    @property
    def style(self) -> str:
        """``pascal``, ``camel`` or ``dotted``: which naming the event was delivered under."""
        if "." in self.name:
            return "dotted"
        return "pascal" if self.name[:1].isupper() else "camel"


def normalise(data: bytes, harness: str | None = None, name: str | None = None) -> Event:
    """The event that ``data`` (a payload as it came on stdin) tells of.

    ``harness`` is what the adapter says it is (one of ``HARNESSES``; anything else counts as
    unknown), ``name`` the event's name where the adapter passes it: both win over the payload.
    """
    event = Event(harness if harness in HARNESSES else "")
    payload = _decode(data)
    if payload is None:
        text = data.decode("utf-8", "replace")
        event.raw_ok = False
        payload = _salvaged(text)
        event.output = text
    views = _views(payload)
    event.name = name or _name(payload)
    event.event = canonical_event(event.name)
    _identify(event, payload, views)
    if event.event == SESSION_START:
        source = _text(views, "source")
        event.source = source if source in _SOURCES else "startup"
    _read_prompt(event, payload, views)
    if event.raw_ok:
        payload_tools.read_tool(event, payload, views)
    else:
        event.tool_name = _text(views, *payload_tools.TOOL_NAME_KEYS)
    return event


def _decode(data: bytes) -> Json | None:
    try:
        value = loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# Of a payload that is no JSON (cut, or with a line before it) so much is looked for.
_SALVAGED = (
    *("hook_event_name", "conversation_id", "session_id", "sessionId", "sessionID", "parentAgentId"),
    *("cwd", "tool_name", "toolName"),
)
_SALVAGE_LIMIT = 64 * 1024


def _salvaged(text: str) -> Json:
    """Who, where and what, from the beginning of a payload that is no JSON: a cut payload still
    belongs to its session. Within a JSON string quotes are escaped, so nothing else looks like a key."""
    found: dict[str, object] = {}
    head = text[:_SALVAGE_LIMIT]
    for name in _SALVAGED:
        _, key, rest = head.partition(f'"{name}"')
        rest = rest.lstrip()
        if not key or not rest.startswith(":"):
            continue
        rest = rest[1:].lstrip()
        end = 1
        while end < len(rest) and rest[end] != '"':
            end += 2 if rest[end] == "\\" else 1
        try:
            value = loads(rest[: end + 1]) if rest.startswith('"') else None
        except ValueError:
            continue
        if isinstance(value, str):
            found[name] = value
    return found


def canonical_event(name: str) -> str:
    """The one name for an event's name of any harness; a name that is not known stays as it is."""
    return _EVENTS.get("".join(c for c in name.lower() if c.isalnum()), name)


def _views(payload: Json) -> tuple[Json, ...]:
    """The objects in which a field may stand: the payload, and OpenCode's parts of it."""
    views: list[Json] = [payload]
    for key in ("input", "output", "properties"):
        part = payload.get(key)
        if isinstance(part, dict):
            views.append(part)
            views.extend(inner for k in ("info", "part", "message") if isinstance(inner := part.get(k), dict))
    return tuple(views)


def _text(views: tuple[Json, ...], *names: str) -> str:
    """First non-empty string under any of ``names``, names before places."""
    for name in names:
        for view in views:
            value = view.get(name)
            if isinstance(value, str) and value:
                return value
    return ""


def _name(payload: Json) -> str:
    """The event's name, or what the payload's shape implies: Copilot's camelCase payloads and
    OpenCode's plugin arguments do not carry it."""
    for key in ("hook_event_name", "hookEventName", "event_name", "eventName", "event", "hook"):
        value = payload.get(key)
        if isinstance(value, str) and value:
            return _opencode_event(value, payload)
    value = payload.get("type")
    if isinstance(value, str) and isinstance(payload.get("properties"), dict):
        return _opencode_event(value, payload)
    if isinstance(payload.get("input"), dict) and isinstance(payload.get("output"), dict):
        return _opencode_hook(payload["input"], payload["output"])
    return _implied(payload)


def _opencode_event(name: str, payload: Json) -> str:
    """A part of a message tells of a tool only once that has failed (there is no other event then)."""
    if name != "message.part.updated":
        return name
    part = payload_tools.opencode_part(payload)
    state = part.get("state")
    failed = isinstance(state, dict) and state.get("status") == "error"
    return "message.part.failed" if part.get("type") == "tool" and failed else name


def _opencode_hook(given: object, changed: object) -> str:
    assert isinstance(given, dict)
    assert isinstance(changed, dict)
    if "tool" in given:
        return "tool.execute.before" if "args" in changed else "tool.execute.after"
    if "parts" in changed or "message" in changed:
        return "chat.message"
    return "session.compacting" if "context" in changed else ""


def _implied(payload: Json) -> str:
    camel = "sessionId" in payload or "toolName" in payload

    def spelled(name: str) -> str:
        return name[0].lower() + name[1:] if camel else name

    if any(key in payload for key in payload_tools.RESULT_KEYS):
        return spelled(TOOL)
    if any(key in payload for key in payload_tools.TOOL_NAME_KEYS):
        failed = any(key in payload for key in payload_tools.ERROR_KEYS)
        return spelled(TOOL_FAILURE if failed else "PreToolUse")
    if "transformedPrompt" in payload:
        return "userPromptTransformed"
    if "prompt" in payload:
        return "userPromptSubmitted" if camel else PROMPT
    if "agentName" in payload:
        return "subagentStop" if "stopReason" in payload else "subagentStart"
    if "source" in payload:
        return spelled(SESSION_START)
    if "stopReason" in payload:
        return "agentStop"
    return spelled("SessionEnd") if "reason" in payload else ""


def _identify(event: Event, payload: Json, views: tuple[Json, ...]) -> None:
    event.session_id = _text(
        views,
        *("conversation_id", "conversationId"),
        *("session_id", "sessionId", "sessionID"),
        *("generation_id", "generationId"),
    )
    event.parent_id = _text(
        views,
        *("parentAgentId", "parent_agent_id", "parentSessionId", "parent_session_id"),
        *("parentSessionID", "parentID"),
    )
    event.agent_id = _text(views, "agent_id", "agentId", "agentID")
    event.cwd = _text(views, "cwd", "directory", "worktree")
    event.model = _model(views)
    roots = payload.get("workspace_roots", payload.get("workspaceRoots"))
    if isinstance(roots, list):
        event.workspace_roots = tuple(_path(root) for root in roots if isinstance(root, str) and root)


def _path(root: str) -> str:
    if not root.startswith("file://"):
        return root
    from urllib.parse import unquote

    return unquote(root[len("file://") :])


def _model(views: tuple[Json, ...]) -> str:
    for view in views:
        value = view.get("model")
        if isinstance(value, dict):
            value = value.get("modelID", value.get("id"))
        if isinstance(value, str) and value:
            return value
    return ""


def _read_prompt(event: Event, payload: Json, views: tuple[Json, ...]) -> None:
    if event.event != PROMPT:
        return
    prompt = _text(views, "prompt") or _parts(payload)
    users = not event.agent_id and not event.parent_id
    begin, end = _GEMINI_CONTEXT
    if prompt.startswith(begin) and end in prompt:
        # Headless Gemini puts what session start injected before what the user wrote.
        prompt = prompt.split(end, 1)[1].lstrip("\n")
    if _text(views, "agent") in _OPENCODE_SUBAGENTS:
        users = False
    event.prompt = _unquoted(prompt) if event.name == "chat.message" else prompt
    event.prompt_is_users = (
        users and bool(event.prompt) and not event.prompt.lstrip().startswith(_CLIENTS_OWN_PROMPTS)
    )


def _parts(payload: Json) -> str:
    output = payload.get("output")
    parts = output.get("parts") if isinstance(output, dict) else payload.get("parts")
    if not isinstance(parts, list):
        return ""
    texts = [
        part["text"]
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str) and not part.get("synthetic")
    ]
    return "\n".join(texts)


def _unquoted(prompt: str) -> str:
    """``opencode run "two words"`` delivers the words within quotation marks, inner ones escaped."""
    inner = prompt[1:-1]
    if len(prompt) < 2 or prompt[0] != '"' or prompt[-1] != '"' or '"' in inner.replace('\\"', ""):
        return prompt
    return inner.replace('\\"', '"')
