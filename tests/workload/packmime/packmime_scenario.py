# SPDX-License-Identifier: GPL-2.0-only
"""Runs packmime_client and packmime_server, or a server that misbehaves.

Prints what came of it. Arguments: PROGRAMS TRACE CASE DURATION_S. Meant for a network namespace of
its own.
"""

import json
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from workload.packmime import carriers, ports

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
    argv = carriers.server_argv(programs / "packmime_server", ADDRESS, folder / "server.csv")
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def client(programs, folder, trace, duration_s):
    """One client with the whole of the direction down."""
    side = carriers.Side(direction="down", hosts=1, host=0, address=ADDRESS, server=ADDRESS)
    argv = carriers.client_argv(
        programs / "packmime_client",
        trace,
        side,
        t0_ns=time.monotonic_ns() + LEAD_NS,
        duration_ns=round(duration_s * 1e9),
        out=folder / "client.csv",
    )
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    used_kib, lines = 0, []
    for line in process.stdout:  # one a second, and the summary at its end
        lines.append(line)
        used_kib = most_kib(process.pid) or used_kib
    _, errors = process.communicate()
    found = {"status": process.returncode, "stdout": "".join(lines), "stderr": errors}
    return found, used_kib


def most_kib(pid):
    """The most memory that a process has had; None of one that has ended.

    Not ru_maxrss: that has in it what was this Python's before the program took its place.
    """
    said = Path(f"/proc/{pid}/status").read_text()
    return next((int(line.split()[1]) for line in said.splitlines() if "VmHWM" in line), None)


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
    found, used_kib = client(programs, folder, trace, duration_s)
    if case == "good":
        found["most_kib"] = {"client": used_kib, "server": most_kib(server.pid)}
        found["server"] = end(server)
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], float(sys.argv[4]))
