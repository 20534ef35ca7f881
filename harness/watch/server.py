# SPDX-License-Identifier: GPL-2.0-only
"""Serves the page on this machine's own address: files, the campaign's state, its trials.

Every path begins with a secret that only the printed address has: other users of the machine reach
the port, too. Host and Origin keep out the pages of other websites that a browser has open.

State comes as server-sent events, one when it is another than before, and so does a trial that
runs; without a reader there is a thread that waits for a connection, and nothing else.
"""

from __future__ import annotations

import json
import secrets
import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from analysis import plotly_js
from analysis.errors import AnalysisError
from harness import hold
from harness.watch.follow import Follower
from harness.watch.live import Live
from harness.watch.replay import replay
from plan.errors import MissingError, UsageError

ADDRESS = "127.0.0.1"
PAGE = Path(__file__).with_name("page")
NAMES = (ADDRESS, "localhost")
SECRET_BYTES = 16
LOOK_S = 0.5
ALIVE_S = 15.0
REST = 19  # times as long as a look at a trial took, the processor is the trial's,
LONGEST_REST_S = hold.LEASE_S / 2  # unless the lab would go on that is held
MOST_BYTES = 100
SILENT_S = 30.0  # a connection on which nothing is asked, or nothing taken, ends
HEADER = "X-Cellbed"
WHOLE_ADDRESS = "Open the whole address that the command printed."
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
# Nothing of the page comes from anywhere else. Plotly sets styles of its own.
POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "frame-ancestors 'none'"
)


class Server(ThreadingHTTPServer):
    """Of one campaign's directory."""

    daemon_threads = True
    # Each has a descriptor of the campaign's process: other users of the machine are to leave it
    # some.
    most_readers = 100

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.follower = Follower(folder)
        self.plotly = plotly()
        self.secret = secrets.token_urlsafe(SECRET_BYTES)
        # Of trials that are looked at, by name: each reader's wish.
        self.wishes: dict[str, dict[str, float | None]] = {}
        self._lock = threading.Lock()
        self._pages = 0  # that are open
        self._page_left = threading.Condition(self._lock)
        self._readers = threading.BoundedSemaphore(self.most_readers)
        try:
            super().__init__((ADDRESS, port), Handler)
        except OSError as error:
            raise UsageError(
                f"--port {port}: the page cannot be served there ({error.strerror}); choose another"
            ) from error

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_address[1]}/{self.secret}/"

    @property
    def hosts(self) -> list[str]:
        """What a browser may call it."""
        return [f"{name}:{self.server_address[1]}" for name in NAMES]

    @contextmanager
    def page(self) -> Iterator[None]:
        """A page is open in some browser."""
        with self._lock:
            self._pages += 1
        try:
            yield
        finally:
            with self._page_left:
                self._pages -= 1
                self._page_left.notify_all()

    @property
    def pages(self) -> int:
        """How many pages are open."""
        with self._lock:
            return self._pages

    def wait_for_readers(self) -> None:
        """Return when no page is open."""
        with self._page_left:
            self._page_left.wait_for(lambda: not self._pages)

    @contextmanager
    def reading(self, name: str, reader: str) -> Iterator[None]:
        """Somebody looks at a trial; with him goes what he wished, and nobody else's wish."""
        with self._lock:
            self.wishes.setdefault(name, {})[reader] = None
        try:
            yield
        finally:
            with self._lock:
                self.wishes[name].pop(reader, None)

    def wish(self, name: str, reader: str, until_s: float | None) -> bool:
        """How far a trial may go for a reader; False where he does not look at it."""
        with self._lock:
            found = self.wishes.get(name, {})
            if reader in found:
                found[reader] = until_s
            return reader in found

    def hold(self, lab: Path, name: str) -> None:
        """Hold a trial for a while where the slowest reader wants it; OSError without its lab."""
        with self._lock:
            wished = [x for x in self.wishes.get(name, {}).values() if x is not None]
            hold.write(lab, name, min(wished, default=None))

    def held_by_others(self, name: str, reader: str) -> float | None:
        """The second up to which another reader lets a trial go, if this reader wants more."""
        with self._lock:
            found = dict(self.wishes.get(name, {}))
        mine = found.pop(reader, None)
        others = min((x for x in found.values() if x is not None), default=None)
        return None if others is None or (mine is not None and mine <= others) else others

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, or leave alone who comes while there are too many."""
        if self._readers.acquire(blocking=False):
            try:
                super().process_request(request, client_address)
            except BaseException:
                self._readers.release()
                raise
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._readers.release()

    def handle_error(self, *_: Any) -> None:
        """A reader who has left is no error."""


class Handler(BaseHTTPRequestHandler):
    """Answers GET."""

    server: Server
    timeout = SILENT_S
    protocol_version = "HTTP/1.1"
    # An error is a sentence, and no page of the Python library.
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(explain)s\n"

    def do_GET(self) -> None:  # noqa: N802 (the name that http.server calls)
        asked = self._asked()
        if asked is None:
            return self.send_error(HTTPStatus.FORBIDDEN, explain=WHOLE_ADDRESS)
        path, reader = asked
        if path == "/events":
            return self._events()
        if path.startswith("/trial/"):
            return self._trial(path.removeprefix("/trial/"))
        if path.startswith("/live/"):
            return self._live(path.removeprefix("/live/"), reader)
        if path == "/plotly.js":
            return self._send(self.server.plotly.read_bytes(), "text/javascript")
        file = PAGE / ("index.html" if path == "/" else path.removeprefix("/"))
        if file.parent == PAGE and file.suffix in TYPES and file.is_file():
            return self._send(file.read_bytes(), TYPES[file.suffix])
        return self.send_error(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:  # noqa: N802
        """/hold/TRIAL with a number or null: until which second it may go."""
        asked = self._asked()
        # Another site's page cannot send this header without asking first, which is refused.
        if self.headers.get(HEADER) != "page" or asked is None:
            return self._refuse(HTTPStatus.FORBIDDEN)
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return self._refuse(HTTPStatus.BAD_REQUEST)
        text = self.rfile.read(int(length))
        name, reader = asked[0].removeprefix("/hold/"), asked[1]
        try:
            wanted = json.loads(text)
            until_s = None if wanted is None else float(wanted)
        except (ValueError, TypeError):
            return self.send_error(HTTPStatus.BAD_REQUEST)
        if not self.server.wish(name, reader, until_s):
            return self.send_error(HTTPStatus.NOT_FOUND)
        # At once: the next look may be some seconds away, in which a small trial ends.
        if lab := self.server.follower.lab(name):
            with suppress(OSError):  # it has ended meanwhile
                self.server.hold(lab, name)
        return self._send(b"{}", "application/json")

    def _refuse(self, status: HTTPStatus) -> None:
        """Of a request whose body is not read; what comes next on the line would be that."""
        self.close_connection = True
        self.send_error(status)

    def _events(self) -> None:
        """The state, and again whenever it has changed."""
        before, said = "", 0.0
        with self.server.page():
            self._stream()
            while not self._left(LOOK_S if before else 0):
                text = json.dumps(self.server.follower.state())
                if text != before or time.monotonic() - said > ALIVE_S:
                    self._say(text)
                    before, said = text, time.monotonic()

    def _live(self, name: str, reader: str) -> None:
        """A trial that runs, and again whenever it is further; nothing more when it has ended."""
        lab = self.server.follower.lab(name)
        if lab is None:
            return self.send_error(HTTPStatus.NOT_FOUND)
        self._stream()
        live = Live(lab, name)
        held_before: float | None = None
        with self.server.reading(name, reader), suppress(OSError, ValueError):
            while self.server.follower.lab(name) == lab:
                begin = time.monotonic()
                self.server.hold(lab, name)
                held = self.server.held_by_others(name, reader)
                if held != held_before:
                    self._say(json.dumps({"held_until_s": held}))
                    held_before = held
                found = live.look()
                # Also without news: so it is noticed when nobody reads any more.
                self._say("null" if found is None else json.dumps(found))
                rest_s = REST * (time.monotonic() - begin)
                time.sleep(min(max(LOOK_S, rest_s), LONGEST_REST_S))
        # Its lab has gone, or the reader, or it has ended.
        return self._say('"ended"')

    def _left(self, within_s: float) -> bool:
        """Whether the page was closed; a page that reads events sends nothing more."""
        reading = select.poll()
        reading.register(self.connection, select.POLLIN)
        return bool(reading.poll(within_s * 1000))

    def _stream(self) -> None:
        """The head of server-sent events."""
        self._head("text/event-stream", {"Cache-Control": "no-store", "Connection": "close"})
        self.close_connection = True

    def _say(self, text: str) -> None:
        self.wfile.write(f"data: {text}\n\n".encode())

    def _asked(self) -> tuple[str, str] | None:
        """The path behind the secret, and the reader's name for himself; None: not for us.

        By another name another site may lead here, whose page a browser then takes for this one.
        """
        hosts, origin = self.server.hosts, self.headers.get("Origin")
        if self.headers.get("Host") not in hosts:
            return None
        if origin is not None and origin.removeprefix("http://") not in hosts:
            return None
        address = urlsplit(self.path)
        secret, slash, path = address.path.removeprefix("/").partition("/")
        if not slash or not compare_digest(secret.encode(), self.server.secret.encode()):
            return None
        return f"/{unquote(path)}", parse_qs(address.query).get("reader", [""])[0]

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
        self.send_header("Referrer-Policy", "same-origin")
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
        raise MissingError("the live page needs plotly; run ./cellbed setup --library")
    return found
