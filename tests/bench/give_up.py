# SPDX-License-Identifier: GPL-2.0-only
"""How long a client of TCP tries to connect to a host that never answers, by the lab's clock.

    ./cellbed mininet tests/bench/give_up.py

Prints a line for each value of tcp_syn_retries: how often the SYN left again, and the seconds until
connect() failed. The figures are for docs/deep-space.md.
"""

from pathlib import Path

from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo

PROGRAM = Path("/tmp/connect.py")
CLIENT = """
import socket, time

def again():
    lines = [line.split() for line in open("/proc/net/netstat")]
    names, values = [line for line in lines if line[0] == "TcpExt:"]
    return int(values[names.index("TCPSynRetrans")])

before, begin = again(), time.monotonic()
try:
    socket.create_connection(("10.0.0.2", 80))
except OSError as error:
    print(f"{again() - before} times again, {time.monotonic() - begin:.1f} s: {error}")
"""

if __name__ == "__main__":
    PROGRAM.write_text(CLIENT)
    net = Mininet(SingleSwitchTopo(k=2), autoStaticArp=True)
    net.start()
    client, silent = net.get("h1", "h2")
    silent.cmd("ip link set h2-eth0 down")
    for retries in (6, 20):
        client.cmd(f"sysctl -w net.ipv4.tcp_syn_retries={retries}")
        print(f"tcp_syn_retries = {retries}:", client.cmd(f"python3 {PROGRAM}").strip())
    net.stop()
