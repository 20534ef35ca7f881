# SPDX-License-Identifier: GPL-2.0-only
"""tests.bench.ways counts what servers send, and replaces only the rows that it measured."""

from __future__ import annotations

import http.server
import socket
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.bench.ways import proxy, run

CONTENT = b"x" * 1_000_000


class Server(http.server.BaseHTTPRequestHandler):
    """Sends the content; keeps the connection, as many servers do."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        assert self.path == "/a?b=c"
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, format: str, *words: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_address[1]}"
        served.shutdown()


def through_request(address: str, server: str) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": address}))
    found: bytes = opener.open(f"{server}/a?b=c", timeout=10).read()
    return found


def through_tunnel(address: str, server: str) -> bytes:
    there, behind = urlsplit(address), urlsplit(server).netloc
    assert there.hostname and there.port
    with socket.create_connection((there.hostname, there.port), 10) as tunnel:
        tunnel.sendall(f"CONNECT {behind} HTTP/1.1\r\nHost: {behind}\r\n\r\n".encode())
        stream = tunnel.makefile("rb")
        assert b" 200 " in stream.readline() and stream.readline() == b"\r\n"
        tunnel.sendall(b"GET /a?b=c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return stream.read().partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("through", [through_request, through_tunnel])
def test_each_byte_is_counted_and_passed_on(through: object, server: str) -> None:
    assert callable(through)
    with proxy.running() as counting:
        for turn in (1, 2):
            assert through(counting.address, server) == CONTENT
            assert 0 < counting.received - turn * len(CONTENT) < turn * 1000  # the answers' heads


def test_what_is_no_request_harms_nobody(server: str) -> None:
    with proxy.running() as counting:
        there = urlsplit(counting.address)
        assert there.hostname and there.port
        with socket.create_connection((there.hostname, there.port), 10) as client:
            client.sendall(b"what\r\n\r\n")
            assert client.recv(1) == b""
        assert through_request(counting.address, server) == CONTENT


def test_only_the_measured_rows_are_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In the order of the ways, whatever the order of the words."""
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- tests.bench.ways -->\n| way | x |\n| --- | --- |\n| source | old |\n| pip | old |\n"
        "<!-- end -->\nafter\n<!-- end -->\n"
    )
    monkeypatch.setattr(run, "PAGE", page)
    monkeypatch.setattr(run, "given", lambda folder, release: run.Given(folder, folder))
    times, fetched = {"a": 1.2, "b": 60.0}, {"git": 2_000_000, "packages": 40_000_000}
    monkeypatch.setattr(
        run, "measured", lambda way, given: run.Cost(way, [0.4, 2], times, fetched, 9_000_000)
    )
    run.main(["release", "source"])
    lines = page.read_text().splitlines()
    assert lines[0] == "<!-- tests.bench.ways -->" and "| seconds | of these |" in lines[1]
    assert [line.split(" | ")[0] for line in lines[3:6]] == ["| source", "| release", "| pip"]
    assert lines[3].endswith(" | 0 to 2 | 61 | a 1, b 60 | 42 | git 2, packages 40 | 9 |")
    assert lines[5] == "| pip | old |"
    assert lines[6:] == ["<!-- end -->", "after", "<!-- end -->"]


def test_the_page_has_a_place_for_the_table() -> None:
    assert run.PAGE.read_text("utf-8").count("<!-- tests.bench.ways -->") == 1
    assert run.TABLE.search(run.PAGE.read_text("utf-8"))
