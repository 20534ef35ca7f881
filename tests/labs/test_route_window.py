# SPDX-License-Identifier: GPL-2.0-only
"""A receiver offers at most its route's window, whatever segments come (patch 0020)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import scripts_in_lab

pytestmark = pytest.mark.lab

WINDOW = 60_000
# The first segments are short. The long ones that follow let Linux reckon with more payload in a
# buffer, and compute its windows anew.
PROGRAM = f"""
import socket, subprocess, time
WINDOW = {WINDOW}
"""
PROGRAM += """
def run(command):
    subprocess.check_call(command, shell=True)

run("sysctl -qw net.ipv4.tcp_rmem='4096 4000000 4000000'")
run("ip link set lo up mtu 1500")
run(f"ip route change table local local 127.0.0.1 dev lo window {WINDOW}")
listener = socket.create_server(("127.0.0.1", 5000))
sender = socket.create_connection(("127.0.0.1", 5000))
receiver, _ = listener.accept()
sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for size in (100, 100, 100, 100, 300, 700, 1400, 1400, 1400):
    for _ in range(20):
        sender.sendall(bytes(size))
        time.sleep(0.01)
        receiver.recv(size)
        print(subprocess.check_output(["ss", "-tinH", "sport", "=", "5000"], text=True))
"""


def test_segments_of_all_sizes_leave_it(tmp_path: Path) -> None:
    script = f"cat > x << 'END'\n{PROGRAM}\nEND\npython3 x\n"
    said = scripts_in_lab.run({"x": script}, tmp_path)["x"]
    assert (said.status, said.err) == (0, "")
    offered = {int(window) for window in re.findall(r"rcv_wnd:(\d+)", said.out)}
    assert offered
    assert max(offered) <= WINDOW
