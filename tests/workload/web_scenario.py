# SPDX-License-Identifier: GPL-2.0-only
"""Runs web_client and web_server, or a server that misbehaves, and prints what came of it.

Arguments: PROGRAMS TRACE CASE DURATION_S. Meant for a network namespace of its own.
"""

import json
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from workload.packmime import ports, web

LEAD_NS = 300_000_000
ADDRESS = "127.0.0.1"
RESET = struct.pack("ii", 1, 0)


def answer(connection, case):
    """One connection of a server that misbehaves."""
    asked = connection.recv(1 << 16)
    response = int(asked.split(b"/")[2])
    if case == "short":
        connection.sendall(bytes(response - 1))
    elif case == "reset":
        connection.sendall(bytes(response // 2))
        time.sleep(0.05)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    elif case == "silent":
        time.sleep(60)
    elif case == "half":
        connection.sendall(bytes(response // 2))
        time.sleep(60)
    connection.close()


def misbehave(case):
    """Serve every connection in the named way, for ever."""
    listener = socket.create_server((ADDRESS, ports.FIRST_SERVER_PORT))

    def serve():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection, case), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()


def start_server(programs, folder):
    """The server under test, listening."""
    argv = web.server_argv(programs / "web_server", ADDRESS, folder / "server.csv")
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def client(programs, folder, trace, duration_s):
    """One client with the whole of the direction down."""
    side = web.Side(direction="down", hosts=1, host=0, address=ADDRESS, server=ADDRESS)
    argv = web.client_argv(
        programs / "web_client",
        trace,
        side,
        t0_ns=time.monotonic_ns() + LEAD_NS,
        duration_ns=round(duration_s * 1e9),
        out=folder / "client.csv",
    )
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def end(server):
    """End the server under test; what it said."""
    server.send_signal(signal.SIGTERM)
    said = server.stdout.read()
    return {"status": server.wait(), "stdout": said}


def main(programs, trace, case, duration_s):
    folder = trace.parent
    server = start_server(programs, folder) if case in ("good", "killed") else None
    if server is None and case != "refused":
        misbehave(case)
    if case == "killed":
        threading.Timer(0.6, server.kill).start()
    done = client(programs, folder, trace, duration_s)
    found = {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
    if case == "good":
        found["server"] = end(server)
        found["max_rss_kib"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], float(sys.argv[4]))
