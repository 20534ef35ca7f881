# SPDX-License-Identifier: GPL-2.0-only
"""Serves the page on this machine's own address: files, the campaign's state, a trial's record.

State comes as server-sent events, one when it is another than before; without a reader there is
a thread that waits for a connection, and nothing else.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from analysis.errors import AnalysisError
from harness.errors import MissingError, UsageError
from harness.watch.follow import Follower
from harness.watch.replay import replay

ADDRESS = "127.0.0.1"
PAGE = Path(__file__).with_name("page")
LOOK_S = 0.5
ALIVE_S = 15.0
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
# Nothing of the page comes from anywhere else. Plotly sets styles of its own.
POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "frame-ancestors 'none'"
)


class Server(ThreadingHTTPServer):
    """Of one campaign's directory."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.follower = Follower(folder)
        self.plotly = plotly()
        try:
            super().__init__((ADDRESS, port), Handler)
        except OSError as error:
            raise UsageError(f"--port {port}: {error.strerror}") from error

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_address[1]}/"

    def handle_error(self, *_: Any) -> None:
        """A reader who has left is no error."""


class Handler(BaseHTTPRequestHandler):
    """Answers GET."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # noqa: N802 (the name that http.server calls)
        if self.headers.get("Host", "").partition(":")[0] not in (ADDRESS, "localhost"):
            return self.send_error(HTTPStatus.FORBIDDEN)  # another name that leads here
        path = unquote(self.path.partition("?")[0])
        if path == "/events":
            return self._events()
        if path.startswith("/trial/"):
            return self._trial(path.removeprefix("/trial/"))
        if path == "/plotly.js":
            return self._send(self.server.plotly.read_bytes(), "text/javascript")
        file = PAGE / ("index.html" if path == "/" else path.removeprefix("/"))
        if file.parent == PAGE and file.suffix in TYPES and file.is_file():
            return self._send(file.read_bytes(), TYPES[file.suffix])
        return self.send_error(HTTPStatus.NOT_FOUND)

    def _events(self) -> None:
        """The state, and again whenever it has changed."""
        self._head("text/event-stream", {"Cache-Control": "no-store", "Connection": "close"})
        self.close_connection = True
        before, said = "", 0.0
        while True:
            text = json.dumps(self.server.follower.state())
            if text != before or time.monotonic() - said > ALIVE_S:
                self.wfile.write(f"data: {text}\n\n".encode())
                before, said = text, time.monotonic()
            time.sleep(LOOK_S)

    def _trial(self, name: str) -> None:
        """A recorded trial; only what is in the folder of the records."""
        trials = self.server.follower.folder / "trials"
        if not name or "/" in name or name.startswith(".") or not (trials / name).is_dir():
            return self.send_error(HTTPStatus.NOT_FOUND)
        try:
            found: dict[str, Any] = replay(trials / name)
        except (AnalysisError, KeyError) as error:
            found = {"error": str(error)}
        return self._send(json.dumps(found).encode(), "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self._head(kind, {"Content-Length": str(len(body))})
        self.wfile.write(body)

    def _head(self, kind: str, more: dict[str, str]) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """The terminal is the campaign's."""


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[Server]:
    """A server in a thread of its own.

    Raises:
        MissingError: there is no plotly.
        UsageError: the port cannot be had.
    """
    with Server(folder, port) as server:
        thread = threading.Thread(target=server.serve_forever, name="watch", daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@cache
def plotly() -> Path:
    """plotly.js, as the Python package ships it."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise MissingError("plotly is needed; run ./cellbed setup --library")
    return Path(spec.origin).with_name("package_data") / "plotly.min.js"
