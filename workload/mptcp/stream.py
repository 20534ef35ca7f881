# SPDX-License-Identifier: GPL-2.0-only
"""The two ends of a connection.

    stream receive FD ADDRESS PORT SINCE_NS    connects FD, and reads to the end
    stream send FD UNTIL_NS                    accepts a connection from FD, and sends

FD is a socket that the program inherits. The receiver prints the number of bytes, and the longest
time without data after a moment of the monotonic clock. The sender stops at a moment, waits until
the receiver closes, and prints what the kernel says of the connection.
"""

from __future__ import annotations

import json
import socket
import sys
import time

from workload.mptcp import info

BLOCK_BYTES = 16_384
READ_BYTES = 1 << 18


def receive(one: socket.socket, address: str, port: int, since_ns: int) -> dict[str, int]:
    """Connect and read to the end; return the number of bytes and the longest pause [ns].

    A pause is a time between two reads that ends after `since_ns`.
    """
    one.connect((address, port))
    room, total, pause_ns, before_ns = bytearray(READ_BYTES), 0, 0, time.monotonic_ns()
    while count := one.recv_into(room):
        total += count
        now_ns = time.monotonic_ns()
        if now_ns > since_ns:
            pause_ns = max(pause_ns, now_ns - before_ns)
        before_ns = now_ns
    return {"bytes": total, "pause_ns": pause_ns}


def send(listener: socket.socket, until_ns: int) -> dict[str, int] | None:
    """Send until a moment; return what MPTCP counts at the sender (info.read())."""
    one, _ = listener.accept()
    with one:
        block = bytes(BLOCK_BYTES)
        while time.monotonic_ns() < until_ns:
            one.sendall(block)
        one.shutdown(socket.SHUT_WR)
        while one.recv(BLOCK_BYTES):
            pass
        return info.read(one)


def main(what: str, descriptor: str, *words: str) -> None:
    with socket.socket(fileno=int(descriptor)) as own:
        if what == "send":
            print(json.dumps(send(own, int(words[0]))))
        else:
            print(json.dumps(receive(own, words[0], int(words[1]), int(words[2]))))


if __name__ == "__main__":
    main(*sys.argv[1:])
