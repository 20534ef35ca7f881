# SPDX-License-Identifier: GPL-2.0-only
"""A web server that does not answer what it is asked, and says that it did.

Stands in for packmime_server (workload/packmime/programs) in test_broken_trials.py, with the same
words after its first, which is what is wrong. Of its table what the kernel counts is true, and all
else is claimed.
"""

from __future__ import annotations

import argparse
import json
import signal
import socket
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path

from workload.packmime.carriers import SERVER_FORMAT, SERVER_HEADER

CARRIED = struct.Struct("200x QQ")  # bytes_sent and bytes_retrans in struct tcp_info
WINDOW = 65_535
GIVEN = {
    "too-much": lambda asked: asked + 1,
    "too-little": lambda asked: asked - 1,
    "ends-early": lambda asked: asked // 2,
}
ROWS: list[str] = []


def answer(wrong: str, end: socket.socket) -> None:
    """One connection, to the client's end of it, or a reset."""
    request = end.recv(48)
    _, size, response, delay_ns, *_ = (word.decode("latin-1") for word in request.split(b"/"))
    missing = int(size) - len(request)
    while missing:
        missing -= len(end.recv(missing))
    time.sleep(int(delay_ns) / 1e9)
    end.sendall(bytes(GIVEN[wrong](int(response))))
    (client, client_port), (_, port) = end.getpeername(), end.getsockname()
    end.shutdown(socket.SHUT_WR)
    with suppress(ConnectionResetError):
        end.recv(1)
    sent, again = CARRIED.unpack_from(end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256))
    claimed = ["done", 1, int(response), 0, 0, 0, 0, sent - again, again, WINDOW, int(delay_ns), 0]
    ROWS.append(",".join(map(str, [client, client_port, port, *claimed])))
    end.close()


def serve(wrong: str, listener: socket.socket) -> None:
    while True:
        end, _ = listener.accept()
        threading.Thread(target=answer, args=(wrong, end), daemon=True).start()


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("wrong", choices=GIVEN)
    words.add_argument("--address", required=True)
    words.add_argument("--first-port", type=int, required=True)
    words.add_argument("--ports", type=int, required=True)
    words.add_argument("--out", type=Path, required=True)
    found = words.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    for port in range(found.first_port, found.first_port + found.ports):
        listener = socket.create_server((found.address, port), backlog=4096)
        threading.Thread(target=serve, args=(found.wrong, listener), daemon=True).start()
    print("ready", flush=True)
    signal.sigwait([signal.SIGTERM])
    found.out.write_text("\n".join([SERVER_HEADER, *ROWS, ""]))
    print(json.dumps({"format": SERVER_FORMAT}))


if __name__ == "__main__":
    main()
