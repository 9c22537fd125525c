"""Git servers on loopback: ``git daemon``, ``git http-backend`` behind a standard-library server, sshd."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

_LOCAL = "127.0.0.1"


@contextmanager
def _accepting(handle: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port that is ours from the start; each connection goes to ``handle``, in the thread that accepts."""
    server = socket.create_server((_LOCAL, 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                handle(server.accept()[0])

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        thread.join()
        server.close()


@contextmanager
def _served_by(argv: list[str]) -> Iterator[int]:
    """A port each of whose connections is the stdin and stdout of one process of its own."""
    children: list[subprocess.Popen[bytes]] = []

    def handle(connection: socket.socket) -> None:
        with connection:
            children.append(
                subprocess.Popen(
                    argv,
                    stdin=connection.fileno(),
                    stdout=connection.fileno(),
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )

    try:
        with _accepting(handle) as port:
            yield port
    finally:
        for child in children:
            with suppress(OSError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


@contextmanager
def listening() -> Iterator[int]:
    """A port that takes every connection, and never says anything."""
    connections: list[socket.socket] = []
    try:
        with _accepting(connections.append) as port:
            yield port
    finally:
        for connection in connections:
            connection.close()


def _has(program: str) -> bool:
    """Whether this git has ``program``."""
    directory = subprocess.check_output(["git", "--exec-path"], text=True).strip()
    return (Path(directory) / program).exists()


@contextmanager
def git_daemon(base: Path) -> Iterator[str]:
    """``git://`` of everything below ``base``; pushing is allowed."""
    if not _has("git-daemon"):
        pytest.skip("this git has no daemon")
    argv = ["git", "daemon", "--inetd", "--log-destination=none", f"--base-path={base}"]
    with _served_by([*argv, "--export-all", "--enable=receive-pack", str(base)]) as port:
        yield f"git://{_LOCAL}:{port}/"


class _Backend(BaseHTTPRequestHandler):
    """One request is one ``git http-backend``."""

    protocol_version = "HTTP/1.1"
    root = ""
    password = ""

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._serve(body)

    def _serve(self, body: bytes) -> None:
        if self.password and self.headers.get("X-Token") != self.password:
            self._answer(403, [], b"no")
            return
        path, _, query = self.path.partition("?")
        env = {
            **os.environ,
            "GIT_PROJECT_ROOT": self.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": "somebody",
            "REMOTE_ADDR": _LOCAL,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=env, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        status = 200
        fields = []
        for line in head.decode("latin-1").split("\r\n"):
            name, _, value = line.partition(": ")
            if name == "Status":
                status = int(value.split()[0])
            elif name:
                fields.append((name, value))
        self._answer(status, fields, content)

    def _answer(self, status: int, fields: list[tuple[str, str]], content: bytes) -> None:
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def http_backend(base: Path, password: str = "") -> Iterator[str]:
    """``http://`` of everything below ``base``; with ``password`` only with the header ``X-Token``."""
    if not _has("git-http-backend"):
        pytest.skip("this git has no http-backend")
    handler = type("Handler", (_Backend,), {"root": str(base), "password": password})
    server = ThreadingHTTPServer((_LOCAL, 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{_LOCAL}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def sshd(base: Path, scratch: Path) -> Iterator[tuple[str, str]]:
    """``ssh://`` to this machine as this user, and the ``core.sshCommand`` that reaches it."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if program is None or shutil.which("ssh") is None or shutil.which("ssh-keygen") is None:
        pytest.skip("there is no sshd here (apt-get install openssh-server)")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    scratch.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(scratch / name)], check=True)
    (scratch / "authorized").write_text((scratch / "user.pub").read_text())
    (scratch / "authorized").chmod(0o600)
    config = scratch / "config"
    config.write_text(
        f"HostKey {scratch / 'host'}\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {scratch / 'authorized'}\nStrictModes no\nPasswordAuthentication no\n"
        f"PermitRootLogin prohibit-password\nAcceptEnv GIT_PROTOCOL\nSetEnv HOME={os.environ['HOME']}\n"
    )
    command = (
        f"ssh -F none -i {scratch / 'user'} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no "
        f"-o UserKnownHostsFile={scratch / 'known'} -o BatchMode=yes -o LogLevel=ERROR"
    )
    with _served_by([program, "-i", "-e", "-f", str(config)]) as port:
        probe = subprocess.run(
            [*command.split(), "-p", str(port), f"{getpass.getuser()}@{_LOCAL}", "true"],
            capture_output=True,
            check=False,
        )
        if probe.returncode != 0:
            pytest.skip(f"sshd does not let this user in: {probe.stderr.decode('utf-8', 'replace')[-200:]}")
        yield f"ssh://{getpass.getuser()}@{_LOCAL}:{port}{base}/", command


@contextmanager
def cut_after(port: int, allowed: int) -> Iterator[int]:
    """A proxy to ``port`` that cuts every connection once ``allowed`` bytes came back through it."""
    threads: list[threading.Thread] = []

    def pump(source: socket.socket, target: socket.socket, left: int | None) -> None:
        with suppress(OSError):
            while left != 0 and (data := source.recv(4096 if left is None else min(4096, left))):
                target.sendall(data)
                left = None if left is None else left - len(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def forward(client: socket.socket) -> None:
        with client, suppress(OSError), socket.create_connection((_LOCAL, port)) as upstream:
            up = threading.Thread(target=pump, args=(client, upstream, None), daemon=True)
            up.start()
            pump(upstream, client, allowed)
            up.join()

    def handle(client: socket.socket) -> None:
        threads.append(threading.Thread(target=forward, args=(client,), daemon=True))
        threads[-1].start()

    try:
        with _accepting(handle) as cut:
            yield cut
    finally:
        for thread in threads:
            thread.join()
