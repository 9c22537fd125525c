"""The tool part of a payload: what was called, with what, what came out, and whether it failed.

Pure functions over decoded JSON. Each harness hides a failed shell command somewhere else
(a failure event, a trailer in the text, a label, a field); ``status`` is ``failed`` wherever it is
shown, ``""`` where it is not (Codex gives a shell command's output without its exit code).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_memory.payload import Event

    Json = Mapping[str, object]

TOOL_NAME_KEYS = ("tool_name", "toolName")
RESULT_KEYS = ("tool_response", "toolResponse", "tool_result", "toolResult", "tool_output", "toolOutput")
ERROR_KEYS = ("error", "error_message", "errorMessage")
_INPUT_KEYS = ("tool_input", "toolInput", "toolArgs", "tool_args")
_CALL_KEYS = ("tool_use_id", "toolUseId", "tool_call_id", "toolCallId", "call_id", "callId", "callID")
_DURATION_KEYS = ("duration_ms", "durationMs", "duration")

OK, FAILED, INTERRUPTED = "ok", "failed", "interrupted"

SHELL_TOOLS = frozenset(
    {
        "bash",
        "shell",
        "run_shell_command",
        "exec_command",
        "shell_command",
        "local_shell",
        "powershell",
        "zsh",
    }
)
_PATH_KEYS = (
    *("file_path", "filePath", "filepath", "path", "absolute_path", "notebook_path", "target_file"),
    *("filename", "fileName", "file_name", "paths", "files"),
)
_SUBJECT_KEYS = (
    *("pattern", "query", "url", "description", "prompt", "message", "name", "skill", "agent_name"),
)
_GEMINI_LABELS = (*("Error:", "Exit Code:", "Signal:", "Background PIDs:", "Process Group PGID:"),)
_PATCH_HEADERS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
_PATHS_LIMIT = 50


def is_shell(tool_name: str) -> bool:
    """Whether the tool of this name runs shell commands."""
    return tool_name.lower() in SHELL_TOOLS


def read_tool(event: Event, payload: Json, views: tuple[Json, ...]) -> None:
    """Fill the tool fields of ``event``."""
    part = opencode_part(payload)
    event.tool_name = _string(payload, *TOOL_NAME_KEYS) or _string(*_given(payload), "tool")
    event.tool_name = event.tool_name or _string(part, "tool")
    if not event.tool_name and event.event in ("PostToolUse", "PostToolUseFailure", "PreToolUse"):
        event.tool_name = _implied_tool(event.name)
    event.is_shell = is_shell(event.tool_name)
    given = _tool_input(payload, part)
    event.command = _command(event, given, payload)
    event.paths = _paths(event, given, payload)
    event.call_id = next((c for view in views if (c := _string(view, *_CALL_KEYS))), "")
    event.duration = _duration(payload, part)
    if event.event == "PostToolUseFailure":
        _read_failure(event, payload, part)
    elif event.event == "PostToolUse":
        _read_result(event, payload)


def opencode_part(payload: Json) -> Json:
    """The message part of OpenCode's ``message.part.updated``, or {}."""
    properties = payload.get("properties")
    part = properties.get("part") if isinstance(properties, dict) else payload.get("part")
    return part if isinstance(part, dict) else {}


def _given(payload: Json) -> tuple[Json]:
    given = payload.get("input")
    return (given if isinstance(given, dict) else {},)


def _string(view: Json, *names: str) -> str:
    for name in names:
        value = view.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def _implied_tool(name: str) -> str:
    """Cursor's events of one kind of tool do not name it."""
    lowered = name.lower()
    if "shell" in lowered:
        return "Shell"
    return "Edit" if "fileedit" in lowered else ""


# ---------------------------------------------------------------- input


def _tool_input(payload: Json, part: Json) -> object:
    """The arguments: an object, or text where they are no JSON object (a patch)."""
    value: object = None
    for key in _INPUT_KEYS:
        if payload.get(key) is not None:
            value = payload[key]
            break
    else:
        state = part.get("state")
        if isinstance(state, dict):
            value = state.get("input")
        else:
            (given,) = _given(payload)
            changed = payload.get("output")
            value = given.get("args", changed.get("args") if isinstance(changed, dict) else None)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        decoded = _json_object(value)
        return value if decoded is None else decoded
    return value


def _json_object(text: str) -> Json | None:
    from agent_base.lightjson import loads

    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _command(event: Event, given: object, payload: Json) -> str:
    if isinstance(given, str):
        return given
    if not isinstance(given, dict):
        given = payload
        if event.event not in ("PostToolUse", "PostToolUseFailure", "PreToolUse"):
            return ""
    for key in ("command", "cmd", "script"):
        value = given.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return _joined(value)
    subject = [_listed(given.get(key)) for key in ("pattern", "query", "url")]
    subject += [_listed(given.get(key)) for key in _PATH_KEYS]
    subject = [text for text in subject if text]
    if not subject:
        subject = [text for key in _SUBJECT_KEYS if (text := _listed(given.get(key)))][:1]
    return " ".join(subject)


def _listed(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(item for item in value if isinstance(item, str))
    return ""


def _joined(words: list[str]) -> str:
    """An argument list as a person would type it; ``bash -lc CMD`` is just CMD."""
    if len(words) == 3 and words[1] in ("-c", "-lc") and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh"):
        return words[2]
    import shlex

    return shlex.join(words)


def _paths(event: Event, given: object, payload: Json) -> tuple[str, ...]:
    found: list[str] = []
    if isinstance(given, dict) or given is None:
        view = given if isinstance(given, dict) else payload
        for key in _PATH_KEYS:
            value = view.get(key)
            found += [value] if isinstance(value, str) else []
            found += [v for v in value if isinstance(v, str)] if isinstance(value, list) else []
    if event.tool_name == "apply_patch" or event.command.startswith("*** Begin Patch"):
        for line in event.command.split("\n"):
            found += [line[len(h) :].strip() for h in _PATCH_HEADERS if line.startswith(h)]
    return tuple(dict.fromkeys(path for path in found if path))[:_PATHS_LIMIT]


def _duration(payload: Json, part: Json) -> int | None:
    for key in _DURATION_KEYS:
        value = payload.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12:
            return int(value)
    state = part.get("state")
    times = state.get("time") if isinstance(state, dict) else None
    if isinstance(times, dict):
        start, end = times.get("start"), times.get("end")
        if isinstance(start, int | float) and isinstance(end, int | float) and 0 <= end - start < 1e12:
            return int(end - start)
    return None


# ---------------------------------------------------------------- output


def _read_failure(event: Event, payload: Json, part: Json) -> None:
    state = part.get("state")
    views = [payload, state if isinstance(state, dict) else {}]
    error = next((v for view in views for key in ERROR_KEYS if (v := view.get(key))), "")
    if isinstance(error, dict):
        error = error.get("message") or error.get("name") or ""
    event.error = error if isinstance(error, str) else str(error)
    event.status = INTERRUPTED if payload.get("is_interrupt") is True else FAILED
    result = next((payload[key] for key in RESULT_KEYS if payload.get(key) is not None), None)
    if result is not None:
        event.output = _flat(result)
    if not event.error:
        event.error = _string(payload, "failure_type", "message") or "failed"


def _read_result(event: Event, payload: Json) -> None:
    result = next((payload[key] for key in RESULT_KEYS if payload.get(key) is not None), None)
    if result is None:
        result = payload.get("output")
    if isinstance(payload.get("tool_output"), str) and isinstance(result, str):
        decoded = _json_object(result) if result.lstrip().startswith("{") else None
        result = decoded if decoded is not None and {"output", "exitCode"} & set(decoded) else result
    if isinstance(result, dict):
        _read_object(event, result)
    else:
        event.output = _flat(result)
        _codex_header(event)
    error = next((v for key in ERROR_KEYS if (v := payload.get(key))), None)
    if isinstance(error, str):
        event.error, event.status = event.error or error, FAILED
    elif event.status == "" and event.tool_name and not event.is_shell and isinstance(result, dict):
        event.status = OK  # the harness has another event for a tool that failed


def _read_object(event: Event, result: Json) -> None:
    if "llmContent" in result:
        _gemini(event, result)
    elif "textResultForLlm" in result or "text_result_for_llm" in result:
        _copilot(event, result)
    elif "stdout" in result or "stderr" in result:
        streams = [_flat(result.get(key)) for key in ("stdout", "stderr")]
        event.output = "\n".join(text.rstrip("\n") for text in streams if text)
        if result.get("interrupted") is True:
            event.status = INTERRUPTED
        elif not result.get("backgroundTaskId"):
            event.status = OK
        _exit_code(event, result.get("exitCode", result.get("exit_code")))
    else:
        _plain_object(event, result)


def _plain_object(event: Event, result: Json) -> None:
    """OpenCode ({title, output, metadata.exit}), Cursor ({output, exitCode}), Claude's other tools."""
    metadata = result.get("metadata")
    code = result.get("exitCode", result.get("exit_code"))
    if isinstance(metadata, dict):
        code = metadata.get("exit", code)
    file = result.get("file")
    patch = result.get("structuredPatch")
    if isinstance(patch, list) and patch:
        lines = [hunk.get("lines") for hunk in patch if isinstance(hunk, dict)]
        event.output = "\n".join(line for part in lines if isinstance(part, list) for line in map(str, part))
    elif isinstance(file, dict) and isinstance(file.get("content"), str):
        event.output = str(file["content"])
    else:
        for key in ("output", "content", "text", "result", "message"):
            if result.get(key) is not None:
                event.output = _flat(result[key])
                break
        else:
            event.output = _flat(dict(result))
    if result.get("is_error") is True or result.get("isError") is True:
        event.status, event.error = FAILED, event.output
    elif result.get("isAsync") is not True and (code is not None or not event.is_shell):
        event.status = OK
    _exit_code(event, code)


def _exit_code(event: Event, code: object) -> None:
    if isinstance(code, str) and code.isascii() and code.removeprefix("-").isdigit() and len(code) < 20:
        code = int(code)
    if not isinstance(code, int) or isinstance(code, bool):
        return
    event.status = FAILED if code else (event.status or OK)
    if code and not event.error:
        event.error = f"Exit code {code}"


def _copilot(event: Event, result: Json) -> None:
    event.output = _flat(result.get("textResultForLlm", result.get("text_result_for_llm")))
    kind = result.get("resultType", result.get("result_type"))
    event.status = OK if kind == "success" else FAILED
    head, newline, last = event.output.rstrip("\n").rpartition("\n")
    if last.startswith("<shellId: ") and last.endswith(">"):
        _, found, code = last[:-1].rpartition(" completed with exit code ")
        event.output = head if newline else ""
        if found:
            _exit_code(event, code.strip())
        else:
            event.status = ""  # still running, or in a state that is not known
    if event.status == FAILED and not event.error:
        event.error = _flat(result.get("error")) or event.output or str(kind)


def _gemini(event: Event, result: Json) -> None:
    text = _flat(result.get("llmContent"))
    event.output, event.status = text, OK
    if event.is_shell:
        begin, end = "<untrusted_context>\n", "\n</untrusted_context>"
        text = text.removeprefix(begin).removesuffix(end)
        lines = text.split("\n")
        # Labels that the client adds stand at the end; a look-alike in the output stands before them.
        while lines and lines[-1].startswith(_GEMINI_LABELS):
            label, _, value = lines.pop().partition(":")
            value = value.strip()
            if label == "Exit Code":
                _exit_code(event, value)
            elif label in ("Error", "Signal") and value not in ("", "(none)"):
                event.status, event.error = FAILED, f"{label}: {value}"
        text = "\n".join(lines)
        event.output = text if "Output: " not in text else text[text.index("Output: ") + len("Output: ") :]
        if event.output == "(empty)":
            event.output = ""
    error = result.get("error")
    if isinstance(error, dict):
        event.status, event.error = FAILED, _flat(error.get("message")) or "failed"


def _codex_header(event: Event) -> None:
    """``Exit code: 0``, ``Wall time: …``, ``Output:`` before the output of some of Codex's tools."""
    first, newline, rest = event.output.partition("\n")
    if not newline or not first.startswith("Exit code: ") or not rest.startswith("Wall time: "):
        return
    _, found, output = rest.partition("\nOutput:\n")
    if found:
        event.output = output
        _exit_code(event, first.removeprefix("Exit code: ").strip())


def _flat(value: object) -> str:
    """``value`` as text: strings as they are, lists of content parts joined, the rest as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        texts = [
            part if isinstance(part, str) else _string(part, "text") if isinstance(part, dict) else ""
            for part in value
        ]
        if any(texts):
            return "\n".join(text for text in texts if text)
    from agent_base.lightjson import dumps

    try:
        return dumps(value, ascii_only=False)
    except (TypeError, ValueError, RecursionError):
        return ""
