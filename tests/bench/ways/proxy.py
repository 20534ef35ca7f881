# SPDX-License-Identifier: GPL-2.0-only
"""A proxy for HTTP and HTTPS on this machine that counts the bytes that servers send through it."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

ONE_READ = 1 << 16
MOST_HEAD = 1 << 16  # bytes of a request's head
TIMEOUT_S = 120
OF_CONNECTION = ("connection", "proxy-connection")


class Proxy(socketserver.ThreadingTCPServer):
    """Listens on a port of its own of the loopback; `received` grows by each byte of a server."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received = 0
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """As the environment names a proxy."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def count(self, size: int) -> None:
        """Add bytes that a server has sent."""
        with self._lock:
            self.received += size


class Handler(socketserver.BaseRequestHandler):
    """One connection of a client: a tunnel, or one request."""

    server: Proxy
    request: socket.socket

    def handle(self) -> None:
        # Who has gone, on either side, has seen why; the client's own error says so.
        with contextlib.suppress(OSError, ValueError):
            self.serve()

    def serve(self) -> None:
        """Read the head of the request, and pass on what both sides say."""
        head, rest = read_head(self.request)
        method, target, version = head.split("\r\n")[0].split(" ")
        host, port, first = split(method, target, version, head)
        with socket.create_connection((host, port), TIMEOUT_S) as upstream:
            if method == "CONNECT":
                self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            upstream.sendall(first + rest)
            forward = threading.Thread(target=pump, args=(self.request, upstream), daemon=True)
            forward.start()
            for piece in pieces(upstream):
                self.server.count(len(piece))
                self.request.sendall(piece)


def read_head(client: socket.socket) -> tuple[str, bytes]:
    """The head of a request, and what came behind it.

    Raises:
        ValueError: it has no end.
    """
    found = b""
    while b"\r\n\r\n" not in found:
        piece = client.recv(ONE_READ)
        if not piece or len(found) > MOST_HEAD:
            raise ValueError("a request without an end")
        found += piece
    head, _, rest = found.partition(b"\r\n\r\n")
    return head.decode("latin-1"), rest


def split(method: str, target: str, version: str, head: str) -> tuple[str, int, bytes]:
    """Host and port of the server, and the bytes that it is sent first.

    A server is asked to close after its answer: the next request may be another server's.
    """
    if method == "CONNECT":
        host, _, port = target.rpartition(":")
        return host.strip("[]"), int(port), b""
    url = urlsplit(target)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    fields = head.split("\r\n")[1:]
    kept = [x for x in fields if x.partition(":")[0].lower() not in OF_CONNECTION]
    lines = [f"{method} {path} {version}", *kept, "Connection: close", "", ""]
    return url.hostname or "", url.port or 80, "\r\n".join(lines).encode("latin-1")


def pieces(stream: socket.socket) -> Iterator[bytes]:
    """What a side says, to its end."""
    return iter(lambda: stream.recv(ONE_READ), b"")


def pump(source: socket.socket, target: socket.socket) -> None:
    """Pass on what one side says; its end, too."""
    with contextlib.suppress(OSError):
        for piece in pieces(source):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def running() -> Iterator[Proxy]:
    """A proxy for the duration."""
    with Proxy() as proxy:
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
