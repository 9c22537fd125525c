"""What every Python hook runs in: payload in, at most one JSON object out, exit 0 whatever happens.

    def work(call: Call) -> str: ...          # the context to inject, or ""
    raise SystemExit(_entry.main("session_context", work))

A hook never blocks a prompt, never makes an agent go on, and never breaks one: every failure becomes
an entry in the error ledger and, where the harness keeps stderr from the user, one line there. So does a
hook that hangs: ``Watch`` ends it before the client would. The output shape is the harness's, named by
``--harness`` and not guessed from the environment (docs/harnesses.md, rules 1, 2 and 13).
"""

from __future__ import annotations

import os
import sys
import time

from agent_base.options import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agent_memory.payload import Event
    from agent_memory.topics import State

# Gemini shows a hook's stderr to the user even at exit 0.
_SHOWS_STDERR = frozenset({"gemini"})
_NESTED = frozenset({"claude", "codex", "gemini"})
# Claude Code hooks of a repository that another client runs: it reads other keys of the output.
_DETECTED_AS = "claude"

# Seconds after which a hook gives up that hangs where no deadline is known (a dead mount, a client that
# keeps stdin open). Less than any client waits, interpreter's start and grace included.
LIMIT = 8.0
_GRACE = 0.5


class Call:
    """One run of a hook.

    Attributes:
        harness: as the adapter says, "" when it does not.
        client: who really runs the hook: ``harness``, but ``copilot`` or ``cursor`` where those run
            Claude Code's hooks, which their payload shows.
        event: the payload, understood.
        env, cwd: the process's.
        now: seconds since the epoch.
        unkept: failures that the ledger could not keep.
    """

    __slots__ = ("_state", "client", "cwd", "env", "event", "harness", "name", "now", "unkept")

    def __init__(
        self, name: str, harness: str, client: str, event: Event, env: Mapping[str, str], cwd: str, now: float
    ) -> None:
        self.name = name
        self.harness = harness
        self.client = client
        self.event = event
        self.env = env
        self.cwd = cwd
        self.now = now
        self.unkept: list[str] = []
        self._state: State | None = None

    @property
    def state(self) -> State:
        """Session memory of the event's workspace; its directory may not exist."""
        if self._state is None:
            from agent_memory.topics import State
            from agent_memory.workspace import resolve_workspace

            workspace = resolve_workspace(self.event, self.env, self.cwd)
            self._state = State.of(self.env, workspace, hook=True)
        return self._state

    def ledger(self, kind: str, message: str) -> None:
        """Keep a failure for the next session start and for ``doctor``, or in ``unkept``; never fails."""
        try:
            from agent_memory import ledger

            self.state.ensure()
            kept = ledger.add(self.state.spec_dir, kind, message, repeats=True)
        except Exception:  # noqa: BLE001 - the ledger is where this would be said
            kept = False
        if not kept:
            self.unkept.append(message)

    def attempt(self, what: str, function: Callable[[], object]) -> object:
        """The result of ``function``; when it fails, None, and the ledger says why.

        For parts whose failure must not take the rest of the injection with them.
        """
        try:
            return function()
        except Exception as error:  # noqa: BLE001 - part of the hooks' wrapper
            self.ledger("hook", f"{self.name}: {what}: {describe(error)}")
            return None


def options(argv: Sequence[str]) -> tuple[str, str]:
    """Values of ``--harness`` and ``--event``, "" when absent."""
    harness, event = read(argv, "--harness", "--event")
    return harness.strip().lower(), event


def client_of(harness: str, data: bytes) -> str:
    """Who runs the hook. Copilot and Cursor also run a repository's Claude Code hooks
    (docs/harnesses.md, rule 3).

    A key cannot be forged by a prompt: quotes within a JSON string are escaped.
    """
    if harness not in ("", _DETECTED_AS):
        return harness
    if b'"cursor_version"' in data:
        return "cursor"
    if b'"timestamp"' in data and b'"hook_event_name"' in data and b'"transcript_path"' not in data:
        return "copilot"
    return harness


def shape(context: str, call: Call) -> str:
    """The JSON object that makes the client put ``context`` before the model; "" for nothing to say."""
    from agent_base import inert, lightjson

    if not context:
        # Cursor counts empty output as a failed hook.
        return "{}" if call.client == "cursor" else ""
    context = inert.clean_surrogates(context)
    nested: dict[str, object] = {
        "hookSpecificOutput": {"hookEventName": _event_name(call.event), "additionalContext": context}
    }
    strict = call.env.get("AGENT_HOOK_OUTPUT", "").strip().lower() == "hook_specific"
    result: dict[str, object]
    if call.harness in _NESTED or (strict and not call.harness):
        result = nested
        if call.client == "copilot":
            result["additionalContext"] = context
        elif call.client == "cursor":
            result["additional_context"] = context
    elif call.harness in ("copilot", "opencode"):
        result = {"additionalContext": context}
    elif call.harness == "cursor":
        result = {"additional_context": context}
    else:
        result = {"additional_context": context, **nested}
        if call.client == "copilot":
            result["additionalContext"] = context
    return lightjson.dumps(result)


def _event_name(event: Event) -> str:
    """The event's name as the client knows it: it refuses another event's output."""
    return event.name if event.style == "pascal" and event.name else event.event or "SessionStart"


def describe(error: BaseException) -> str:
    """One line about ``error``."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    from agent_base.errors import SuiteError

    if isinstance(error, SuiteError):
        return text
    return f"{kind}: {text}" if text else kind


def run(
    name: str,
    work: Callable[[Call], str],
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: bytes,
    cwd: str,
    now: float,
) -> tuple[str, str]:
    """Run ``work`` on a payload; what to write to stdout and to stderr (either may be ""). Never raises."""
    call: Call | None = None
    harness, event_name = options(argv)
    try:
        from agent_memory.payload import normalise

        event = normalise(stdin, harness or None, event_name or None)
        call = Call(name, harness, client_of(harness, stdin), event, env, cwd, now)
        out = shape(work(call), call)
        return out, _line(call.client, call.unkept[0]) if call.unkept else ""
    except BaseException as error:  # noqa: BLE001 - fail open: the hooks' wrapper
        return "{}" if harness == "cursor" else "", _failed(name, call, harness, error)


def _failed(name: str, call: Call | None, harness: str, error: BaseException) -> str:
    """Put ``error`` into the ledger; the line for stderr."""
    client = harness if call is None else call.client
    try:
        message = f"{name}: {describe(error)}"
        if call is not None:
            call.ledger("hook", message)
        return _line(client, message)
    except BaseException:  # noqa: BLE001 - out of memory, interrupted: still exit 0
        return "" if client in _SHOWS_STDERR else f"[agent-memory] {name} failed\n"


def _line(client: str, message: str) -> str:
    """What to write to stderr about a failure; "" where the user would see it."""
    from agent_base.inert import terminal

    return "" if client in _SHOWS_STDERR else f"[agent-memory] {terminal(message)}\n"


def read_stdin() -> bytes:
    """All of standard input, whatever its size; nothing when a terminal or nothing is there."""
    try:
        if os.isatty(0):
            return b""
        chunks = []
        while chunk := os.read(0, 1 << 20):
            chunks.append(chunk)
        return b"".join(chunks)
    except OSError:
        return b""


def _write(descriptor: int, text: str) -> None:
    """Write all of ``text``, or as much as whoever reads it takes."""
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        pass


class Watch:
    """Ends the process, with 0, when it has not answered ``seconds`` after this was made.

    Either the hook answers or ``give_up`` does (what it does may take half a second), never both.
    """

    __slots__ = ("_done", "_give_up", "_turn", "seconds")

    def __init__(self, seconds: float, give_up: Callable[[], object]) -> None:
        import _thread

        self.seconds = seconds
        self._give_up = give_up
        self._turn, self._done = _thread.allocate_lock(), _thread.allocate_lock()
        self._done.acquire()
        try:
            _thread.start_new_thread(self._wait, ())
        except RuntimeError:  # no more threads for this user: unwatched, as any program is
            pass

    def answer(self) -> None:
        """To be called before anything is written; does not return where ``give_up`` has the word."""
        self._turn.acquire()
        self._done.release()

    def _wait(self) -> None:
        if self._done.acquire(timeout=self.seconds) or not self._turn.acquire(blocking=False):
            return
        try:
            self._give_up()
        finally:
            os._exit(0)


def _gave_up(name: str, harness: str, call: Call | None, seconds: float) -> None:
    """Say that the hook hangs: to the client, on stderr and, when that is quick, to the ledger."""
    import _thread

    message = f"{name}: gave up after {seconds:g} s; nothing was injected"
    client = harness if call is None else call.client
    if call is not None:
        # In a thread of its own: the ledger may hang where the hook does.
        watched, kept = call, _thread.allocate_lock()
        kept.acquire()

        def keep() -> None:
            watched.ledger("hook", message)
            kept.release()

        _thread.start_new_thread(keep, ())
        kept.acquire(timeout=_GRACE)
    _write(1, "{}" if client == "cursor" else "")
    _write(2, _line(client, message))


def main(name: str, work: Callable[[Call], str], limit: Callable[[], float] = lambda: LIMIT) -> int:
    """Run a hook on the process's arguments, environment and streams; the exit code is always 0.

    After ``limit()`` seconds, or ``LIMIT`` when that fails, the process ends without an answer.
    """
    calls: list[Call] = []

    def watched(call: Call) -> str:
        calls.append(call)
        return work(call)

    try:
        seconds = limit()
    except Exception:  # noqa: BLE001 - part of the hooks' wrapper: `work` meets the same and says so
        seconds = LIMIT
    argv = sys.argv[1:]
    watch = Watch(seconds, lambda: _gave_up(name, options(argv)[0], calls[0] if calls else None, seconds))
    try:
        cwd = os.getcwd()
    except OSError:
        cwd = "/"
    out, err = run(name, watched, argv, env=os.environ, stdin=read_stdin(), cwd=cwd, now=time.time())
    watch.answer()
    _write(1, out)
    _write(2, err)
    return 0
