# SPDX-License-Identifier: GPL-2.0-only
"""In the lab: the servers of all pairs, with aioquic. python3 -m workload.quic.server SPEC

A server answers each request at once with the whole file, and lives until it gets SIGINT.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aioquic.buffer import Buffer
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated
from aioquic.quic.packet import pull_quic_header

from workload.quic.endpoint import End, Logger, Loop, draw_alike, spec_of


class Server(End):
    """The server of one pair, whose client makes one connection."""

    def __init__(self, pair: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
        super().__init__(pair["descriptor"])
        self.docroot = Path(spec["docroot"])
        self.configuration = QuicConfiguration(
            is_client=False, alpn_protocols=H3_ALPN, idle_timeout=86_400.0,
            congestion_control_algorithm=spec["congestion"],
            max_datagram_size=spec["datagram_bytes"],
            quic_logger=Logger(Path(spec["folder"], f"s{pair['pair']}.sqlog")),
        )  # fmt: skip
        self.configuration.load_cert_chain(spec["certificate"], spec["key"])
        self.http: H3Connection | None = None

    def begin(self, data: bytes, peer: Any) -> None:
        self.peer = peer
        ids = self.configuration.connection_id_length
        header = pull_quic_header(Buffer(data=data), host_cid_length=ids)
        self.connection = QuicConnection(
            configuration=self.configuration,
            original_destination_connection_id=header.destination_cid,
        )

    def heed(self) -> None:
        """Answer what the client asks."""
        while (event := self.connection.next_event()) is not None:
            if isinstance(event, ProtocolNegotiated):
                self.http = H3Connection(self.connection)
            elif isinstance(event, ConnectionTerminated) and event.error_code not in (0, 0x100):
                print(f"connection ended with {event.error_code:#x} {event.reason_phrase}")
            if self.http is not None:
                for found in self.http.handle_event(event):
                    if isinstance(found, HeadersReceived):
                        self.answer(found)

    def answer(self, asked: HeadersReceived) -> None:
        assert self.http is not None
        path = dict(asked.headers)[b":path"].decode()
        body = (self.docroot / path.lstrip("/")).read_bytes()
        header = [(b":status", b"200"), (b"content-length", str(len(body)).encode())]
        self.http.send_headers(asked.stream_id, header)
        self.http.send_data(asked.stream_id, body, end_stream=True)


def nothing() -> None:
    """A socket is read in any case."""


def serve(loop: Loop, servers: list[Server]) -> None:
    """Work until a signal ends the program."""
    while True:
        loop.wait(server.timer_ns() for server in servers)
        for server in servers:
            server.take()
            if server.connection is not None:
                server.heed()
                server.send()


def main() -> None:
    draw_alike()
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    spec = spec_of(sys.argv[1])
    servers = [Server(pair, spec) for pair in spec["pairs"]]
    loop = Loop()
    for server in servers:
        loop.add(server.socket.fileno(), nothing)
    print("ready", flush=True)
    try:
        serve(loop, servers)
    finally:
        for server in servers:
            server.configuration.quic_logger.close()


if __name__ == "__main__":
    main()
