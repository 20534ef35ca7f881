# SPDX-License-Identifier: GPL-2.0-only
"""Runs www_client against a server that misbehaves in one named way; prints what came of it.

Arguments: CLIENT DIRECTORY CASE. Meant for a network namespace of its own (conftest.isolated).
"""

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

from workload.www import www_client
from workload.www.parameters import Parameters
from workload.www.schedule import Request

REQUEST_BYTES = 128
# Batch 0 at once, without gaps: pipelined. Sizes on both sides of what the client reads at a time.
SIZES = (102, 4096, 30720, 4095, 409600, 1)
REQUESTS = tuple(
    Request(1, 0, number, 0, 1, size, number // 4 * 100_000_000)
    for number, size in enumerate(SIZES)
)


def header(size, status=b"200 OK", extra=b""):
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n" % (status, size, extra)


def good(number):
    return header(SIZES[number]) + bytes(SIZES[number])


def second(text):
    """An answer stream whose second answer is `text`."""
    return lambda number: text if number == 1 else good(number)


CASES = {
    "good": good,
    "length": second(header(4095) + bytes(4095)),
    "status": second(header(4096, b"404 Not Found") + bytes(4096)),
    "chunked": second(header(4096, extra=b"Transfer-Encoding: chunked\r\n") + bytes(4096)),
    "close": second(header(4096, extra=b"Connection: close\r\n") + bytes(4096)),
    "garbage": second(bytes(5000)),
    "long": second(header(4096, extra=b"X: " + b"x" * 1100 + b"\r\n") + bytes(4096)),
    "unasked": lambda number: good(number) + (b"!" if number == len(SIZES) - 1 else b""),
    "short": lambda number: good(number)[:-1] if number == len(SIZES) - 1 else good(number),
    "silent": lambda number: good(number) if number < 3 else b"",
    "ends": lambda number: good(number) if number < 3 else None,
}


def serve(listener, answer, piece):
    """Answer each request in order; each write is at most `piece` bytes in a segment of its own."""
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        for number in range(len(SIZES)):
            asked = connection.recv(REQUEST_BYTES, socket.MSG_WAITALL)
            text = answer(number) if len(asked) == REQUEST_BYTES else None
            if text is None:
                # An end. If requests stayed unread, close() would send a reset in its place.
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
                break
            # A single byte a segment where it matters, lumps for the long ones' rest.
            while text:
                step = piece if len(text) < 5000 else max(piece, 7001)
                connection.sendall(text[:step])
                text = text[step:]
        else:
            connection.recv(1)  # until the client goes
    except ConnectionError:
        pass
    connection.close()


def main(client, directory, case, piece):
    listener = socket.create_server(("127.0.0.1", 0))
    answer = CASES.get(case, good)
    threading.Thread(target=serve, args=(listener, answer, piece), daemon=True).start()
    port = 1 if case == "refused" else listener.getsockname()[1]
    netns = "/proc/1/no-such" if case == "netns" else "/proc/self/ns/net"
    pair = www_client.Pair(
        pair=1,
        client_netns=netns,
        server_address="127.0.0.1",
        server_port=port,
        server_netns="/proc/self/ns/net",
    )
    params = Parameters(duration_s=0.5, request_bytes=REQUEST_BYTES)
    www_client.prepare(directory, params, [pair], REQUESTS)
    # The default buffer of a namespace holds 128 KiB.
    argv = www_client.argv(client, directory, params, lead_ns=1_000_000, low_water_bytes=20000)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    found = {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
