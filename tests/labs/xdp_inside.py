# SPDX-License-Identifier: GPL-2.0-only
"""Attaches XDP programs and registers a congestion control in BPF, by turns, in a lab.

Prints a line for each step: what comes through two pairs of devices, and how many bytes arrive that
are sent with this congestion control.
"""

from __future__ import annotations

import socket
import subprocess

SOURCE, OBJECT = "tests/labs/drops_ping.bpf.c", "/tmp/drops_ping.o"
CLANG = "clang -O2 -g -target bpf -mcpu=v3 -I/usr/include/x86_64-linux-gnu"
CONTROL = "/opt/cellbed/mine.struct_ops.o"
REGISTRATIONS = 5  # each measures the trampolines of three functions
PAIRS = (1, 2)
WRITES, WRITTEN = 50, 1000  # of a sender; bytes


def main() -> None:
    """Do all steps."""
    run(f"{CLANG} -c {SOURCE} -o {OBJECT}")
    run("ip link set lo up")
    for pair in PAIRS:
        join(pair)
    tell("nothing attached")
    run(f"ip -n far1 link set near1 xdp obj {OBJECT} sec xdp")
    tell("one attached")
    register()
    tell("registered", sends())
    run(f"ip -n far2 link set near2 xdp obj {OBJECT} sec xdp")
    for _ in range(REGISTRATIONS):
        run("bpftool struct_ops unregister name mine")
        register()
    tell("two attached, registered again", sends())
    run("ip -n far1 link set near1 xdp off")
    tell("one detached", sends())


def join(pair: int) -> None:
    """A pair of devices: far end in a namespace of its own, where XDP will be."""
    run(f"ip netns add far{pair}")
    run(f"ip link add veth{pair} type veth peer name near{pair} netns far{pair}")
    run(f"ip addr add 10.9.{pair}.1/24 dev veth{pair}")
    run(f"ip -n far{pair} addr add 10.9.{pair}.2/24 dev near{pair}")
    run(f"ip link set veth{pair} up")
    run(f"ip -n far{pair} link set near{pair} up")


def register() -> None:
    run(f"bpftool struct_ops register {CONTROL}")


def sends() -> int:
    """How many bytes arrive from a sender that uses the congestion control."""
    arrived = 0
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as sender:
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"bpf_mine")
        sender.connect(listener.getsockname())
        receiver, _ = listener.accept()
        with receiver:
            for _ in range(WRITES):
                sender.sendall(bytes(WRITTEN))
                arrived += len(receiver.recv(WRITTEN, socket.MSG_WAITALL))
    return arrived


def tell(step: str, sent: int = 0) -> None:
    """Print whether a ping was answered through each pair, and what arrived."""
    answered = [run(f"ping -c 1 -W 1 10.9.{pair}.2", check=False) == 0 for pair in PAIRS]
    print(f"step {step}: answered {answered}, arrived {sent}", flush=True)


def run(command: str, *, check: bool = True) -> int:
    """Run a line of the shell; what it complains about is in the lab's console."""
    quiet = subprocess.DEVNULL  # a lab shows only the end of a long console
    return subprocess.run(["sh", "-c", command], stdout=quiet, check=check).returncode


if __name__ == "__main__":
    main()
