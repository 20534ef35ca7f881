# SPDX-License-Identifier: GPL-2.0-only
"""Serves the page on this machine's own address: files, the campaign's state, its trials.

State comes as server-sent events, one when it is another than before, and so does a trial that
runs; without a reader there is a thread that waits for a connection, and nothing else.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from analysis import plotly_js
from analysis.errors import AnalysisError
from harness import hold
from harness.errors import MissingError, UsageError
from harness.watch.follow import Follower
from harness.watch.live import Live
from harness.watch.replay import replay

ADDRESS = "127.0.0.1"
PAGE = Path(__file__).with_name("page")
LOOK_S = 0.5
ALIVE_S = 15.0
REST = 19  # times as long as a look at a trial took, the processor is the trial's,
LONGEST_REST_S = hold.LEASE_S / 2  # unless the lab would go on that is held
MOST_BYTES = 100
HEADER = "X-Cellbed"
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
        self.until_s: dict[str, float | None] = {}  # of trials that are looked at, by name
        self._lock = threading.Lock()
        try:
            super().__init__((ADDRESS, port), Handler)
        except OSError as error:
            raise UsageError(f"--port {port}: {error.strerror}") from error

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_address[1]}/"

    def hold(self, lab: Path, name: str) -> None:
        """Hold a trial as was last asked, for a while; OSError when its lab has gone."""
        with self._lock:
            hold.write(lab, name, self.until_s.setdefault(name, None))

    def handle_error(self, *_: Any) -> None:
        """A reader who has left is no error."""


class Handler(BaseHTTPRequestHandler):
    """Answers GET."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # noqa: N802 (the name that http.server calls)
        if not self._for_us():
            return self.send_error(HTTPStatus.FORBIDDEN)
        path = unquote(self.path.partition("?")[0])
        if path == "/events":
            return self._events()
        if path.startswith("/trial/"):
            return self._trial(path.removeprefix("/trial/"))
        if path.startswith("/live/"):
            return self._live(path.removeprefix("/live/"))
        if path == "/plotly.js":
            return self._send(self.server.plotly.read_bytes(), "text/javascript")
        file = PAGE / ("index.html" if path == "/" else path.removeprefix("/"))
        if file.parent == PAGE and file.suffix in TYPES and file.is_file():
            return self._send(file.read_bytes(), TYPES[file.suffix])
        return self.send_error(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:  # noqa: N802
        """/hold/TRIAL with a number or null: until which second it may go."""
        name = unquote(self.path).removeprefix("/hold/")
        text = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), MOST_BYTES))
        # Another site's page cannot send this header without asking first, which is refused.
        if self.headers.get(HEADER) != "page" or not self._for_us():
            return self.send_error(HTTPStatus.FORBIDDEN)
        if name not in self.server.until_s:
            return self.send_error(HTTPStatus.NOT_FOUND)
        try:
            until_s = json.loads(text)
            self.server.until_s[name] = None if until_s is None else float(until_s)
        except (ValueError, TypeError):
            return self.send_error(HTTPStatus.BAD_REQUEST)
        # At once: the next look may be some seconds away, in which a small trial ends.
        if lab := self.server.follower.lab(name):
            with suppress(OSError):  # it has ended meanwhile
                self.server.hold(lab, name)
        return self._send(b"{}", "application/json")

    def _events(self) -> None:
        """The state, and again whenever it has changed."""
        self._stream()
        before, said = "", 0.0
        while True:
            text = json.dumps(self.server.follower.state())
            if text != before or time.monotonic() - said > ALIVE_S:
                self._say(text)
                before, said = text, time.monotonic()
            time.sleep(LOOK_S)

    def _live(self, name: str) -> None:
        """A trial that runs, and again whenever it is further; nothing more when it has ended."""
        lab = self.server.follower.lab(name)
        if lab is None:
            return self.send_error(HTTPStatus.NOT_FOUND)
        self._stream()
        live = Live(lab, name)
        try:
            while self.server.follower.lab(name) == lab:
                begin = time.monotonic()
                self.server.hold(lab, name)
                found = live.look()
                # Also without news: so it is noticed when nobody reads any more.
                self._say("null" if found is None else json.dumps(found))
                rest_s = REST * (time.monotonic() - begin)
                time.sleep(min(max(LOOK_S, rest_s), LONGEST_REST_S))
        except (OSError, ValueError):
            pass  # the lab has gone, or the reader
        finally:
            self.server.until_s.pop(name, None)
        return self._say('"ended"')

    def _stream(self) -> None:
        """The head of server-sent events."""
        self._head("text/event-stream", {"Cache-Control": "no-store", "Connection": "close"})
        self.close_connection = True

    def _say(self, text: str) -> None:
        self.wfile.write(f"data: {text}\n\n".encode())

    def _for_us(self) -> bool:
        """Was the page asked for by its own name? Another one may lead here too."""
        return self.headers.get("Host", "").partition(":")[0] in (ADDRESS, "localhost")

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
    found = plotly_js.path()
    if found is None:
        raise MissingError("plotly is needed; run ./cellbed setup --library")
    return found
