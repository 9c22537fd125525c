"""Native git for code that an agent waits for: ``posix_spawn``, pipes, a deadline.

``subprocess`` costs 10 ms to import, as much as a bare interpreter; this module costs
less than one. It guarantees that

- a child gets the environment of ``env.git_environment`` and, in a hook, the hardening
  arguments: no lazy fetch, no replace objects, no prompt, no implicit bare repository;
- git is an absolute path found in ``PATH``, never a file of the current directory;
- nothing blocks past the deadline, whatever the child does: it is killed and
  ``GitTimeout`` raised;
- no child outlives its ``CatFile`` or ``run`` call.

It knows nothing of repositories beyond the arguments that select one. Names asked of
``CatFile`` never contain a line break (ValueError), so a request cannot become two.
"""

from __future__ import annotations

import os
import select
import time

from agent_base.env import GIT_HARDENING_ARGS, git_environment
from agent_base.errors import SuiteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

# Importing ``signal`` costs 4 ms (it builds enums); POSIX fixes these two numbers.
_SIGKILL = 9
_SIGPIPE = 13

_CHUNK = 1 << 16
# Requests written ahead of the answers read: far below what two pipe buffers hold.
_WINDOW = 128
_STDERR_LIMIT = 8192
_TOO_SLOW = "git did not answer in time; it was stopped"
# What for-each-ref says on stderr, and ends with 0.
_PASSED_OVER = ("warning: ignoring broken ref ", "warning: ignoring ref with broken name ")


class GitError(SuiteError):
    """git failed, or could not be started."""

    code = "git"


class GitTimeout(GitError):
    """git did not answer before the deadline; it was stopped."""

    code = "git-timeout"


class TooMuchOutput(GitError):
    """git printed more than the caller is prepared to take."""

    code = "git-output"


class TooLarge(GitError):
    """An object is larger than the caller is prepared to read."""

    code = "git-too-large"


def find_git(env: Mapping[str, str]) -> str:
    """Absolute path of git in ``env["PATH"]``; relative entries of PATH are passed over."""
    for directory in env.get("PATH", os.defpath).split(":"):
        if not directory.startswith("/"):
            continue
        path = directory + "/git"
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    raise GitError("git was not found in PATH", "install git, or add its directory to PATH")


def command(where: Sequence[str], arguments: Sequence[str], *, hook: bool) -> list[str]:
    """Arguments after ``git``: hardening (in a hook), ``where`` (what selects the repository), the rest."""
    return [*(GIT_HARDENING_ARGS if hook else ()), *where, *arguments]


class _Child:
    """One spawned git with pipes on stdin and stdout, and stderr on a pipe or nowhere."""

    __slots__ = ("_pid", "_status", "stderr", "stdin", "stdout")

    def __init__(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        hook: bool,
        capture: bool,
        lossy: bool = False,
    ) -> None:
        git = find_git(env)
        opened: list[int] = []

        def pipe() -> tuple[int, int]:
            ends = os.pipe()
            opened.extend(ends)
            return ends

        try:
            read_in, write_in = pipe()
            read_out, write_out = pipe()
            read_err, write_err = pipe() if capture else (-1, os.open(os.devnull, os.O_WRONLY))
            if not capture:
                opened.append(write_err)
            if lossy:  # nobody reads it while git runs: what does not fit is lost, and git never waits
                os.set_blocking(write_err, False)
            # Python's descriptors are close-on-exec; dup2 clears the flag on the copies only.
            actions = [
                (os.POSIX_SPAWN_DUP2, read_in, 0),
                (os.POSIX_SPAWN_DUP2, write_out, 1),
                (os.POSIX_SPAWN_DUP2, write_err, 2),
            ]
            try:
                self._pid = os.posix_spawn(
                    git,
                    ["git", *arguments],
                    git_environment(env, hook=hook),
                    file_actions=actions,
                    setsigdef=[_SIGPIPE],
                )
            except OSError as error:
                raise GitError(f"git could not be started: {error.strerror}") from error
        except BaseException:
            for fd in opened:
                os.close(fd)
            raise
        for fd in (read_in, write_out, write_err):
            os.close(fd)
        self._status: int | None = None
        self.stdin, self.stdout, self.stderr = write_in, read_out, read_err
        for fd in (write_in, read_out):
            os.set_blocking(fd, False)
        if capture:
            os.set_blocking(read_err, False)

    def close_stdin(self) -> None:
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def wait(self, deadline: float | None) -> int:
        """Exit status. Raises GitTimeout where the child goes on at the deadline; ``close`` stops it."""
        while self._status is None:
            pid, status = os.waitpid(self._pid, 0 if deadline is None else os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
            elif deadline is not None:
                if time.monotonic() >= deadline:
                    raise GitTimeout(_TOO_SLOW)
                time.sleep(0.001)
        return self._status

    def kill(self) -> None:
        if self._status is None:
            os.kill(self._pid, _SIGKILL)  # not reaped yet, so the number is still the child's

    def close(self) -> None:
        """Close every pipe, stop the child if it still runs, reap it."""
        self.close_stdin()
        for fd in (self.stdout, self.stderr):
            if fd >= 0:
                os.close(fd)
        self.stdout = self.stderr = -1
        if self._status is None:
            self.kill()
            self.wait(None)


def _left(deadline: float | None) -> float | None:
    """Seconds until the deadline; raises GitTimeout when there are none."""
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise GitTimeout(_TOO_SLOW)
    return left


def _poll(read: Iterable[int], write: Iterable[int], deadline: float | None) -> tuple[list[int], list[int]]:
    """Descriptors that are ready; raises GitTimeout when the deadline passes first.

    A deadline that has passed is that also where a descriptor is ready: a child that never
    stops talking has no more time than a silent one.
    """
    timeout = _left(deadline)
    if hasattr(select, "poll"):
        poller = select.poll()
        readers, writers = set(read), set(write)
        for fd in readers:
            poller.register(fd, select.POLLIN)
        for fd in writers:
            poller.register(fd, select.POLLOUT)
        events = poller.poll(None if timeout is None else int(timeout * 1000) + 1)
        ready = [fd for fd, _ in events]
        result = [fd for fd in ready if fd in readers], [fd for fd in ready if fd in writers]
    else:  # pragma: no cover - every supported platform has poll
        readable, writable, _ = select.select(list(read), list(write), [], timeout)
        result = readable, writable
    if not result[0] and not result[1]:
        raise GitTimeout(_TOO_SLOW)
    return result


def run(
    where: Sequence[str],
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    hook: bool = True,
    stdin: bytes = b"",
    deadline: float | None = None,
    limit: int | None = None,
) -> tuple[int, bytes, bytes]:
    """Run one git to its end: exit status, stdout, stderr (at most 8 KiB of it).

    Args:
        where: what selects the repository, ``("-C", dir)`` or ``("--git-dir", dir)``.
        deadline: a ``time.monotonic()`` value, or None to wait for ever.
        limit: bytes of stdout to accept; more is a GitError.

    Raises:
        GitTimeout, GitError: not started, too slow, too much output. A non-zero exit is not an error here.
    """
    child = _Child(command(where, arguments, hook=hook), env, hook, capture=True)
    try:
        out: list[bytes] = []
        err = b""
        size = 0
        pending = memoryview(stdin)
        if not pending:
            child.close_stdin()
        reading = {child.stdout, child.stderr}
        while reading:
            readable, writable = _poll(reading, [child.stdin] if child.stdin >= 0 else [], deadline)
            if writable:
                try:
                    pending = pending[os.write(child.stdin, pending[:_CHUNK]) :]
                except BrokenPipeError:
                    pending = pending[:0]
                if not pending:
                    child.close_stdin()
            for fd in readable:
                data = os.read(fd, _CHUNK)
                if not data:
                    reading.discard(fd)
                elif fd == child.stderr:
                    err = (err + data)[:_STDERR_LIMIT]
                else:
                    size += len(data)
                    if limit is not None and size > limit:
                        raise TooMuchOutput(f"git printed more than {limit} bytes; it was stopped")
                    out.append(data)
        return child.wait(deadline), b"".join(out), err
    finally:
        child.close()


class CatFile:
    """One ``git cat-file --batch-command`` for a whole hook or command.

    Requests are written ahead and answers read in order, so a hundred objects cost one
    round trip. Use as a context manager; started at the first request.
    """

    __slots__ = ("_arguments", "_buffer", "_child", "_deadline", "_env", "_hook")

    def __init__(
        self,
        where: Sequence[str],
        *,
        env: Mapping[str, str],
        hook: bool = True,
        deadline: float | None = None,
    ) -> None:
        self._arguments = command(where, ("cat-file", "--batch-command", "--buffer"), hook=hook)
        self._env = env
        self._hook = hook
        self._deadline = deadline
        self._child: _Child | None = None
        self._buffer = bytearray()

    def __enter__(self) -> CatFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process; a later request starts a new one."""
        if self._child is not None:
            self._child.close()
            self._child = None
            self._buffer.clear()

    def start(self) -> None:
        """Start git now, so that it loads while the caller does something else."""
        if self._child is None:
            self._child = _Child(self._arguments, self._env, self._hook, capture=True, lossy=True)

    def info(self, names: Iterable[str]) -> list[tuple[str, str, int] | None]:
        """(object id, type, size) of each name, None where there is no such object."""
        return list(self._ask("info", names))

    def contents(
        self, names: Iterable[str], limit: int | None = None
    ) -> Iterator[tuple[str, str, bytes] | None]:
        """(object id, type, bytes) of each name in order, None where there is no such object.

        An object is in memory only while it is the current one. Stopping early ends the process, and
        so does an object of more than ``limit`` bytes: TooLarge, before it is read.
        """
        return self._ask("contents", names, limit)

    def content(self, name: str, limit: int | None = None) -> tuple[str, str, bytes] | None:
        """``contents`` of one name."""
        (found,) = self.contents([name], limit)
        return found

    def _ask(self, verb: str, names: Iterable[str], limit: int | None = None) -> Iterator[Any]:
        """Answers in order: (id, type, size) to ``info``, (id, type, bytes) to ``contents``, None."""
        self.start()
        complete = False
        asked = 0
        try:
            for window in _windows(names):
                self._request(verb, window)
                # git looks up this window while the caller works through the one before.
                yield from self._answers(asked, verb == "contents", limit)
                asked = len(window)
            yield from self._answers(asked, verb == "contents", limit)
            complete = True
        finally:
            if not complete:
                self.close()

    def _request(self, verb: str, window: list[str]) -> None:
        lines = "".join([f"{verb} {name}\n" for name in window]) + "flush\n"
        request = memoryview(lines.encode("utf-8", "surrogateescape"))
        assert self._child is not None
        while request:  # answers are taken in where git must get rid of some first
            readable, writable = _poll([self._child.stdout], [self._child.stdin], self._deadline)
            if writable:
                try:
                    request = request[os.write(self._child.stdin, request[:_CHUNK]) :]
                except BrokenPipeError:
                    return  # its output says how it went, as where it took this in just before it left
            elif readable:
                self._fill()

    def _answers(self, count: int, contents: bool, limit: int | None) -> Iterator[Any]:
        buffer = self._buffer
        position = 0
        for _ in range(count):
            while (end := buffer.find(b"\n", position)) < 0:
                self._await()
            fields = buffer[position:end].split(b" ")
            position = end + 1
            if len(fields) != 3 or not fields[2].isdigit():
                yield None  # "NAME missing", "NAME ambiguous"
                continue
            oid, kind, size = fields[0].decode("ascii"), fields[1].decode("ascii"), int(fields[2])
            if not contents:
                yield oid, kind, size
                continue
            if limit is not None and size > limit:
                raise TooLarge(f"a Git object has {size} bytes, more than the {limit} expected")
            end = position + size
            while len(buffer) <= end:  # a line break follows
                self._await()
            data = bytes(buffer[position:end])
            position = end + 1
            if position > _CHUNK:
                del buffer[:position]
                position = 0
            yield oid, kind, data
        del buffer[:position]

    def _ended(self) -> GitError:
        """The error for a git that went away, with the last thing it said."""
        said = ""
        if self._child is not None:
            try:
                text = os.read(self._child.stderr, _STDERR_LIMIT).decode("utf-8", "replace")
            except BlockingIOError:
                text = ""
            said = next((line for line in reversed(text.splitlines()) if line.strip()), "")
        self.close()
        reason = said.removeprefix("fatal: ").removeprefix("error: ")
        hint = "is this a readable Git repository, with all its objects?"
        if "promisor remote" in reason:
            hint = "of this partial clone an object is not here, and fetching it failed or is forbidden"
        return GitError(f"git cat-file ended unexpectedly{': ' if reason else ''}{reason}", hint)

    def _fill(self) -> None:
        assert self._child is not None
        data = os.read(self._child.stdout, _CHUNK)
        if not data:
            raise self._ended()
        self._buffer += data

    def _await(self) -> None:
        assert self._child is not None
        _left(self._deadline)  # one that always has something to say is stopped too
        try:
            self._fill()
        except BlockingIOError:  # git is still at it
            _poll([self._child.stdout], [], self._deadline)
            self._fill()


def _windows(names: Iterable[str]) -> Iterator[list[str]]:
    """``names`` in lists of at most _WINDOW, each one non-empty line."""
    window: list[str] = []
    for name in names:
        if "\n" in name or "\0" in name or not name:
            raise ValueError("an object name is one non-empty line")
        window.append(name)
        if len(window) >= _WINDOW:
            yield window
            window = []
    if window:
        yield window


def for_each_ref(
    where: Sequence[str],
    prefixes: Sequence[str],
    *,
    env: Mapping[str, str],
    hook: bool = True,
    deadline: float | None = None,
    broken: list[str] | None = None,
) -> dict[str, str]:
    """Ref name to object id for every ref below ``prefixes`` (or equal to one), in git's order.

    Names of refs that git passes over, since they hold no object id, are appended to ``broken``.
    """
    status, out, err = run(
        where,
        ("for-each-ref", "--format=%(objectname) %(refname)", *prefixes),
        env=env,
        hook=hook,
        deadline=deadline,
    )
    if status != 0:
        message = err.decode("utf-8", "replace").strip().splitlines()
        raise GitError(f"git for-each-ref failed: {message[0] if message else status}")
    if err and broken is not None:
        for line in err.decode("utf-8", "surrogateescape").split("\n"):
            for start in _PASSED_OVER:
                if line.startswith(start):
                    broken.append(line[len(start) :])
    refs: dict[str, str] = {}
    for line in out.decode("utf-8", "surrogateescape").split("\n")[:-1]:
        oid, _, name = line.partition(" ")
        refs[name] = oid
    return refs
