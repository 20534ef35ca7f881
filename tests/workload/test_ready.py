# SPDX-License-Identifier: GPL-2.0-only
"""What /proc says: who listens."""

import os
import socket

import pytest

from workload import ready
from workload.errors import WorkloadError

# Verbatim from a lab: nginx on port 80, iperf3 on 5201, a connection from port 80 (0x0050).
PROC_NET_TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1187 1
   1: 0100020A:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1190 1
   2: 0100020A:01BB 0100010A:B3C4 01 00000000:00000000 00:00000000 00000000     0        0 1201 1
"""


@pytest.mark.parametrize(("port", "listens"), [(80, True), (5201, True), (443, False), (8, False)])
def test_listening(port, listens):
    assert ready.listening(PROC_NET_TCP, port) is listens


def test_is_listening_sees_a_socket_come_and_go():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert ready.is_listening(os.getpid(), port)
    assert not ready.is_listening(os.getpid(), port)


def test_a_process_that_is_gone():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(WorkloadError, match=f"process {child} has ended"):
        ready.is_listening(child, 80)
