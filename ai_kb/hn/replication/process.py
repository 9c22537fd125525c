"""Native git that talks to somebody else: bounded in time, in output and in what it may store.

A remote may hang, trickle, or send without end. ``run`` gives up when nothing came for a while
(``idle``), when it has taken too long altogether (``deadline``), or when its caller's ``watch``
raises, and then ends git with everything it started: without a person, git runs in a session of its
own, which is killed as a whole and has no terminal to ask on. At a terminal it stays in the
foreground group, so that it can ask for a passphrase and Ctrl-C reaches it.

Who is asked to end meanwhile (SIGTERM, SIGHUP) ends git first and leaves by SystemExit, so that
nothing stays behind that talks to the remote, and whoever has something to clean up does.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import suppress

from agent_base.gitproc import GitError, GitTimeout, find_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType
    from typing import IO

_CHUNK = 1 << 16
_TICK = 0.1
# After git itself has ended, something it left behind (a shared ssh connection) may hold its pipes.
_AFTERMATH = 0.3
_STDERR_KEPT = 16 << 10


class OutputTooLarge(GitError):
    """git printed more than its caller accepts; it was stopped."""

    code = "git-too-large"


class TookTooLong(GitTimeout):
    """git was still at it when its deadline had come."""


class Done:
    """How a process ended: exit status, stdout, and the end of stderr."""

    __slots__ = ("err", "out", "status")

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status = status
        self.out = out
        self.err = err


def run(
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    path_env: Mapping[str, str],
    idle: float | None = None,
    deadline: float | None = None,
    limit: int = 64 << 20,
    stdin: IO[bytes] | None = None,
    person: bool = False,
    watch: Callable[[], object] | None = None,
    report: Callable[[bytes], None] | None = None,
) -> Done:
    """Run ``git arguments`` to its end.

    Args:
        env: the child's whole environment. path_env: where ``PATH`` is looked up.
        idle: seconds without output and without a change of what ``watch`` gives.
        deadline: ``time.monotonic()`` value.
        limit: bytes of stdout to accept.
        watch: called about ten times a second; may raise to stop git.
        report: gets stderr as it comes.

    Raises:
        GitTimeout (nothing came for a while), TookTooLong, OutputTooLarge, GitError (not started). A
        non-zero exit is not an error here.
    """
    with _Requests() as requests:
        try:
            child = subprocess.Popen(
                [find_git(path_env), *arguments],
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(env),
                start_new_session=not person,
            )
        except OSError as error:
            raise GitError(f"git could not be started: {error.strerror}") from error
        try:
            return _Watched(child, idle, deadline, limit, watch, report, requests).finish()
        except BaseException:
            _stop(child, alone=not person)
            raise
        finally:
            for pipe in (child.stdout, child.stderr):
                if pipe is not None:
                    pipe.close()


class _Requests:
    """SIGTERM and SIGHUP, where they would just kill: noted while the block runs, obeyed by ``obey``.

    Not at once: whoever is interrupted while a child is being started could not end it.
    """

    def __init__(self) -> None:
        self._caught: list[int] = []
        self._asked = 0

    def __enter__(self) -> _Requests:
        with suppress(ValueError):  # only the main thread gets signals
            for number in (signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) == signal.SIG_DFL:
                    signal.signal(number, self._note)
                    self._caught.append(number)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._caught:
            signal.signal(number, signal.SIG_DFL)
        self.obey()  # what came when git had ended

    def _note(self, number: int, _: FrameType | None) -> None:
        self._asked = number

    def obey(self) -> None:
        """Raise SystemExit, with the status that a shell gives, when one of them came."""
        if self._asked:
            raise SystemExit(128 + self._asked)


class _Watched:
    """One running child and what bounds it."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        idle: float | None,
        deadline: float | None,
        limit: int,
        watch: Callable[[], object] | None,
        report: Callable[[bytes], None] | None,
        requests: _Requests,
    ) -> None:
        self.child = child
        self.idle = idle
        self.deadline = deadline
        self.limit = limit
        self.watch = watch
        self.report = report
        self.requests = requests
        self.out: list[bytes] = []
        self.size = 0
        self.err = b""
        self.alive = time.monotonic()
        self.seen: object = None

    def finish(self) -> Done:
        assert self.child.stdout is not None
        assert self.child.stderr is not None
        streams = {self.child.stdout.fileno(): True, self.child.stderr.fileno(): False}
        with selectors.DefaultSelector() as selector:
            for number in streams:
                os.set_blocking(number, False)
                selector.register(number, selectors.EVENT_READ)
            ended: float | None = None
            while streams:
                ready = selector.select(_TICK)
                for key, _ in ready:
                    data = os.read(key.fd, _CHUNK)
                    if data:
                        self._take(data, streams[key.fd])
                    else:
                        selector.unregister(key.fd)
                        del streams[key.fd]
                now = time.monotonic()
                self._judge(now)
                if not ready and self.child.poll() is not None:
                    ended = ended or now
                    if now - ended > _AFTERMATH:
                        break
        while True:
            try:
                status = self.child.wait(_TICK)
                return Done(status, b"".join(self.out), self.err)
            except subprocess.TimeoutExpired:
                self._judge(time.monotonic())

    def _take(self, data: bytes, is_stdout: bool) -> None:
        self.alive = time.monotonic()
        if is_stdout:
            self.size += len(data)
            if self.size > self.limit:
                raise OutputTooLarge(f"git printed more than {self.limit} bytes; it was stopped")
            self.out.append(data)
            return
        self.err = (self.err + data)[-_STDERR_KEPT:]
        if self.report is not None:
            self.report(data)

    def _judge(self, now: float) -> None:
        self.requests.obey()
        if self.watch is not None:
            seen = self.watch()
            if seen != self.seen:
                self.seen, self.alive = seen, now
        if self.idle is not None and now - self.alive > self.idle:
            raise GitTimeout(f"nothing came for {self.idle:g} s; it was given up")
        if self.deadline is not None and now > self.deadline:
            raise TookTooLong("it took too long altogether; it was given up")


def _stop(child: subprocess.Popen[bytes], *, alone: bool) -> None:
    """End the child, and with it what it started where it has a session of its own."""
    if child.returncode is not None:
        return
    with suppress(ProcessLookupError, PermissionError):
        if alone:
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.terminate()  # git ends its helpers
    try:
        child.wait(2)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def reason(err: bytes, status: int) -> str:
    """Why git failed, in its own words on one line, made inert: a remote may have written them."""
    from agent_base.inert import terminal

    lines = [line.strip() for line in err.decode("utf-8", "replace").replace("\r", "\n").split("\n")]
    lines = [line for line in lines if line]
    for start in ("fatal: ", "error: ", "remote: fatal: ", "remote: error: "):
        for line in lines:
            if line.startswith(start):
                return terminal(line[:400])
    return terminal(lines[-1][:400]) if lines else f"exit status {status}"
