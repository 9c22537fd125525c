"""Git servers on loopback: ``git daemon``, ``git http-backend`` behind a standard-library server, sshd."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

_LOCAL = "127.0.0.1"


def _free_port() -> int:
    with socket.create_server((_LOCAL, 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        with suppress(OSError), socket.create_connection((_LOCAL, port), timeout=1):
            return
        time.sleep(0.02)
    process.kill()
    _, err = process.communicate()
    pytest.skip(f"the server does not run here: {(err or b'').decode('utf-8', 'replace')[-300:]}")


@contextmanager
def _running(argv: list[str], port: int) -> Iterator[int]:
    process = subprocess.Popen(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        _wait_for(port, process)
        yield port
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=5)
        process.kill()
        process.communicate()


@contextmanager
def git_daemon(base: Path) -> Iterator[str]:
    """``git://`` of everything below ``base``; pushing is allowed."""
    port = _free_port()
    argv = ["git", "daemon", "--reuseaddr", f"--listen={_LOCAL}", f"--port={port}"]
    argv += [f"--base-path={base}", "--export-all", "--enable=receive-pack", str(base)]
    with _running(argv, port):
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
    if not (
        Path(subprocess.check_output(["git", "--exec-path"], text=True).strip()) / "git-http-backend"
    ).exists():
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
    port = _free_port()
    config = scratch / "config"
    config.write_text(
        f"Port {port}\nListenAddress {_LOCAL}\nHostKey {scratch / 'host'}\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {scratch / 'authorized'}\nStrictModes no\nPasswordAuthentication no\n"
        f"PermitRootLogin prohibit-password\nAcceptEnv GIT_PROTOCOL\nSetEnv HOME={os.environ['HOME']}\n"
    )
    command = (
        f"ssh -F none -i {scratch / 'user'} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no "
        f"-o UserKnownHostsFile={scratch / 'known'} -o BatchMode=yes -o LogLevel=ERROR"
    )
    with _running([program, "-D", "-e", "-f", str(config)], port):
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
    server = socket.create_server((_LOCAL, 0))
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
        with client, socket.create_connection((_LOCAL, port)) as upstream:
            up = threading.Thread(target=pump, args=(client, upstream, None), daemon=True)
            up.start()
            pump(upstream, client, allowed)
            up.join()

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                threads.append(threading.Thread(target=forward, args=(client,), daemon=True))
                threads[-1].start()

    accepting = threading.Thread(target=serve, daemon=True)
    accepting.start()
    try:
        yield server.getsockname()[1]
    finally:
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        for thread in (accepting, *threads):
            thread.join(10)
