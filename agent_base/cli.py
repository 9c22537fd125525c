"""The shell around every command: streams, and errors turned into exit codes.

A command is a function ``run(args, console) -> int`` in a module ``commands/<verb>.py`` with
``add_parser(subparsers)`` beside it. What it may touch of the world is in ``Console``, so that
a test runs it in the same process with streams, environment and clock of its own.

Guarantees: a ``SuiteError`` is one line on stderr (``prog: message (hint)``) or, with ``--json``,
one JSON object on stdout, and its exit code; a closed pipe ends quietly with 141, Ctrl-C with 130;
anything unforeseen is one line too, its traceback goes to a private log. Hooks do not use this
module: ``argparse`` exits with 2, which blocks prompts.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, TextIO

from agent_base import env as environment
from agent_base import inert
from agent_base.errors import SuiteError, UsageError
from agent_base.parsing import Exit, Parser, print_completion

EXIT_INTERRUPTED = 130  # 128 + SIGINT
EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE, what a program without a handler would have ended with
_LOG_LIMIT = 1 << 20
# As the protocol's verbs also take it.
_JSON = frozenset({"--json", "-json", "--json=true", "-json=true"})


class Console:
    """What a command may touch: environment, streams, working directory and clock.

    Attributes:
        env: the environment; only commands read it, and pass on what deeper layers need.
        stdin, stdout, stderr: text streams. ``stdin`` may have a ``buffer`` of bytes.
        now: the current time, aware, UTC.
        cwd: absolute working directory.
    """

    __slots__ = ("cwd", "env", "now", "stderr", "stdin", "stdout")

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        stdin: IO[str],
        stdout: IO[str],
        stderr: IO[str],
        now: Callable[[], datetime],
        cwd: str | None = None,
    ) -> None:
        self.env = env
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.now = now
        self.cwd = os.getcwd() if cwd is None else cwd

    @classmethod
    def real(cls) -> Console:
        """The process's own environment, streams and clock; output is UTF-8 whatever the locale."""
        _open_standard_streams()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="surrogateescape")
        try:
            cwd = os.getcwd()
        except OSError:  # the directory was removed under us
            cwd = "/"
        return cls(
            env=os.environ, stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr, now=utc_now, cwd=cwd
        )

    def out(self, text: str = "") -> None:
        """Write ``text`` and a line break to stdout. ``text`` must already be fit to be shown."""
        self.stdout.write(text + "\n")

    def err(self, text: str) -> None:
        """Write ``text`` and a line break to stderr, after all that went to stdout before it."""
        with suppress(OSError, ValueError):  # a closed pipe is found out when stdout is used next
            self.stdout.flush()
        self.stderr.write(text + "\n")

    def json(self, value: object) -> None:
        """Write ``value`` as indented JSON: ASCII, so that a terminal cannot be written to by it."""
        import json

        self.stdout.write(json.dumps(value, ensure_ascii=True, indent=2) + "\n")

    def stdin_bytes(self, limit: int | None = None) -> bytes:
        """All of stdin, or a SuiteError when it holds more than ``limit`` bytes."""
        size = -1 if limit is None else limit + 1
        buffer = getattr(self.stdin, "buffer", None)
        if buffer is not None:
            data: bytes = buffer.read(size)
        else:
            data = self.stdin.read(size).encode("utf-8", "surrogateescape")
        if limit is not None and len(data) > limit:
            raise SuiteError(f"standard input is larger than {limit} bytes; nothing was changed")
        return data

    def person(self) -> bool:
        """Whether stdin and stderr are a terminal: a person is there to be asked."""
        return _isatty(self.stdin) and _isatty(self.stderr)


def _isatty(stream: IO[str]) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def _open_standard_streams() -> None:
    """Give a process that was started without one of its three streams an empty one.

    Otherwise the next file that is opened would take its descriptor, and be written to by a child.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:  # the lowest that is free
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def utc_now() -> datetime:
    """The current time, aware, in UTC."""
    return datetime.now(UTC)


def _wants_json(argv: Iterable[str]) -> bool:
    for word in argv:
        if word == "--":
            return False
        if word in _JSON:
            return True
    return False


def run_command(
    prog: str,
    parser_factory: Callable[[Sequence[str]], Parser],
    argv: Sequence[str],
    console: Console,
    *,
    json_errors: bool = True,
) -> int:
    """Parse ``argv``, run the handler that the parser set as ``run``, and return the exit code.

    Args:
        prog: name at the start of every error line.
        parser_factory: makes the parser from ``argv`` (see ``add_verbs``); a parser reached by
            ``argv`` has called ``set_defaults(run=handler)``.
        argv: arguments without the program's name.
        console: streams, environment, clock.
        json_errors: whether an error of a run with ``--json`` is a JSON object on stdout, and a
            usage error names the help; ``hn`` keeps its errors on stderr, as they are recorded.
    """
    as_json = json_errors and _wants_json(argv)
    before, Parser.console = Parser.console, console
    try:
        status = _guarded(prog, parser_factory, argv, console, as_json, json_errors)
    except BrokenPipeError:
        _silence(console)
        return EXIT_BROKEN_PIPE
    finally:
        Parser.console = before
    return status


def _guarded(
    prog: str,
    parser_factory: Callable[[Sequence[str]], Parser],
    argv: Sequence[str],
    console: Console,
    as_json: bool,
    json_errors: bool,
) -> int:
    """Run and turn every exception but a broken pipe into one line and a code."""
    try:
        try:
            status = _parse_and_run(parser_factory, argv, console, json_errors)
        finally:
            console.stdout.flush()
    except Exit as leave:
        status = leave.status
    except SuiteError as error:
        status = error.exit_code
        _report(prog, console, error, as_json)
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
        console.err(f"{prog}: interrupted")
    except BrokenPipeError:
        raise
    except OSError as error:
        status = 1
        _report(prog, console, _from_os_error(error), as_json)
    except Exception as error:  # noqa: BLE001 - the one handler; the traceback goes to the log
        status = 1
        where = _log_traceback(prog, console, error)
        failure = SuiteError(f"internal error: {type(error).__name__}: {error}", where)
        _report(prog, console, failure, as_json)
    console.stdout.flush()
    console.stderr.flush()
    return status


def _parse_and_run(
    parser_factory: Callable[[Sequence[str]], Parser], argv: Sequence[str], console: Console, hints: bool
) -> int:
    if argv and argv[0] == "help":
        argv = [*argv[1:], "--help"]
    parser = parser_factory(argv)
    if len(argv) == 2 and argv[0] == "--print-completion":
        return print_completion(parser, argv[1], console)
    args = parser.parse_args(list(argv))
    handler: Callable[[argparse.Namespace, Console], int] | None = getattr(args, "run", None)
    if handler is None:
        parser.error("a command is required")
    try:
        return handler(args, console)
    except SuiteError as error:
        if hints and error.exit_code == UsageError.exit_code and not error.hint:
            verb = getattr(args, "verb", None)
            error.hint = f"see `{parser.prog}{f' {verb}' if verb else ''} --help`"
        raise


def _report(prog: str, console: Console, error: SuiteError, as_json: bool) -> None:
    message = inert.clean_surrogates(error.message)
    hint = inert.clean_surrogates(error.hint)
    if as_json:
        console.json({"error": {"code": error.code, "message": message, "hint": hint}})
        return
    line = f"{prog}: {one_line(message)}"
    console.err(f"{line} ({one_line(hint)})" if hint else line)


def one_line(text: str) -> str:
    """``text`` on one line of a terminal: spaces for line breaks, other controls escaped."""
    return inert.terminal(" ".join(text.split())).replace("\\\\", "\\")


def _from_os_error(error: OSError) -> SuiteError:
    reason = error.strerror or str(error) or type(error).__name__
    names = [os.fsdecode(n) for n in (error.filename, error.filename2) if isinstance(n, str | bytes)]
    return SuiteError(f"{' -> '.join(names)}: {reason}" if names else reason)


def _log_traceback(prog: str, console: Console, error: Exception) -> str:
    """Append the traceback to ``$XDG_STATE_HOME/agent-hook-suite/errors.log``; gives the hint."""
    import traceback

    from agent_base import files

    directory = os.path.join(environment.xdg(console.env, "XDG_STATE_HOME"), environment.SUITE)
    path = os.path.join(directory, "errors.log")
    text = "".join(traceback.format_exception(error))
    entry = f"{console.now().isoformat(timespec='seconds')} {prog}\n{text}\n".encode("utf-8", "replace")
    try:
        files.ensure_private_dir(directory)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(path, flags, files.FILE_MODE)
        try:
            status = os.fstat(fd)
            files.check_private(path, status)
            if status.st_size > _LOG_LIMIT:
                os.ftruncate(fd, 0)
            files.write_all(fd, entry)
        finally:
            os.close(fd)
    except (OSError, SuiteError):
        return "this is a defect; its log could not be written"
    return f"this is a defect; its traceback is in {path}"


def _silence(console: Console) -> None:
    """Keep the interpreter from complaining about the closed pipe when it flushes at exit."""
    stream = console.stdout
    with suppress(OSError, ValueError, io.UnsupportedOperation):
        descriptor = stream.fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        os.close(null)


def main(
    prog: str,
    parser_factory: Callable[[Sequence[str]], Parser],
    argv: Sequence[str] | None = None,
    console: Console | None = None,
    *,
    json_errors: bool = True,
) -> int:
    """What a command's own ``main`` calls: ``run_command`` with the process's arguments and console."""
    words = sys.argv[1:] if argv is None else argv
    return run_command(prog, parser_factory, words, console or Console.real(), json_errors=json_errors)


def string_console(
    env: Mapping[str, str],
    *,
    stdin: bytes | str = b"",
    now: Callable[[], datetime] = utc_now,
    cwd: str | None = None,
) -> Console:
    """A console on strings: read ``.stdout.getvalue()`` and ``.stderr.getvalue()`` after a run."""
    data = stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin
    reader: TextIO = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="surrogateescape")
    return Console(env=env, stdin=reader, stdout=io.StringIO(), stderr=io.StringIO(), now=now, cwd=cwd)
