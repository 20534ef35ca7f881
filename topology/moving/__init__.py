# SPDX-License-Identifier: GPL-2.0-only
"""Realises a moving path (plan/path.py) on a middle link.

    port: the server, below it the queue under test          box: the delay and the losses

Both are the queueing discipline "moving", a kernel module of the lab (sch_moving.c, rule.h). It
reads the whole table of the path before the trial (table.py). The cell queue has its own server in
bpf/, which reads the same table. So no setting changes during the trial.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as File

from plan import queue
from plan.layout import Layout
from plan.path import MODULE, Path
from topology import commands, modules, netlink, rtnetlink
from topology.adaptive_red import NLA_F_NESTED, ROOT, RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS
from topology.clock import NS_PER_S, sleep_until
from topology.moving import table
from topology.rtnetlink import CREATE, QDISC, REPLACE, Request, attribute
from topology.run import batch, in_namespace

KIND = "moving"
TCA_PARMS, APP_STATS = 1, 4
SERVER, REORDER, BYTES = 1, 2, 4
SERVER_HANDLE = 0x1_0000  # 1: of tc
# Time for the probes, the captures and the workload's servers to start. Virtual time is free.
LEAD_NS = 20 * NS_PER_S
LEAD_ROUND_TRIPS = 12
# struct moving_parms of rule.h; struct moving_xstats begins with it.
PARMS = struct.Struct("=QIIII96s")


class Schedule:
    """A moving path on the link of a network that moves (Layout.moved).

    Attributes:
        epoch_ns, origin_ns: the start of the table, and time 0 of the path, on the lab's monotonic
            clock. set() sets both.
    """

    def __init__(self, path: Path, network: Layout) -> None:
        self.path = path
        self.network = network
        self.epoch_ns = self.origin_ns = 0

    def set(self) -> None:
        """Set time 0 to a whole second that leaves enough time to probe the network before it."""
        lead_ns = LEAD_NS + LEAD_ROUND_TRIPS * self.network.propagation_ns()
        self.epoch_ns = time.monotonic_ns()
        self.origin_ns = -(-(self.epoch_ns + lead_ns) // NS_PER_S) * NS_PER_S
        self.epoch_ns = self.epoch_ns // 1000 * 1000  # the table counts whole microseconds

    def await_begin(self) -> int:
        """Sleep until time 0; return it [ns].

        Raises:
            RuntimeError: time 0 has passed, so the path would not be the path of the plan.
        """
        late_ns = time.monotonic_ns() - self.origin_ns
        if late_ns > 0:
            raise RuntimeError(f"the workload was ready {late_ns} ns after time 0 of its path")
        sleep_until(self.origin_ns)
        return self.origin_ns

    def file(self, direction: str) -> File:
        """Write the table of a direction into this lab; return its file."""
        found = File(f"/tmp/path-{direction}")
        found.write_bytes(
            table.packed(self.path, direction, self.network, self.epoch_ns, self.origin_ns)
        )
        return found


def serve(schedule: queue.Schedule, direction: str, device: str) -> None:
    """Let a port of this namespace send at the rate of the path. Its class 1:1 holds the queue."""
    assert isinstance(schedule, Schedule)
    overhead = schedule.path.overhead_bytes
    flags = SERVER | (0 if overhead is None else BYTES)
    packed = PARMS.pack(0, flags, overhead or 0, 0, 0, bytes(schedule.file(direction)))
    put(packed, device, SERVER_HANDLE)


def delay(schedule: Schedule, direction: str, device: str, seed: int) -> None:
    """Let a device of this namespace apply the delay and the losses of the path."""
    flags = REORDER if schedule.path.reorder else 0
    limit = commands.NETEM_LIMIT_PACKETS
    put(PARMS.pack(seed, flags, 0, limit, 0, bytes(schedule.file(direction))), device, 0)


def put(packed: bytes, device: str, handle: int) -> None:
    """Create the discipline at a device's root, and read its parameters back.

    Raises:
        RuntimeError: this lab has no such module, or the kernel has other parameters.
        NetlinkError: the kernel refused; the text names the device by its index.
    """
    modules.load(MODULE, "topology.path")
    index = socket.if_nametoindex(device)
    body = QDISC.pack(socket.AF_UNSPEC, index, handle, ROOT, 0)
    body += attribute(TCA_KIND, KIND.encode() + b"\0")
    body += attribute(TCA_OPTIONS | NLA_F_NESTED, attribute(TCA_PARMS, packed))
    with netlink.open_here() as link:
        rtnetlink.apply(
            link, [Request(f"{KIND} at {device}", RTM_NEWQDISC, CREATE | REPLACE, body)]
        )
        found = {at: stats[APP_STATS] for at, kind, stats in netlink.qdiscs(link) if kind == KIND}
    if found[index][: PARMS.size] != packed:
        raise RuntimeError(f"{device}: the kernel did not keep the parameters of {KIND}")


@contextmanager
def delaying(schedule: Schedule, box_pid: int, seeds: dict[str, int]) -> Iterator[None]:
    """Let the box apply delays and losses of the path. seeds: direction -> seed of losses."""
    devices = {"down": commands.SAT_UP, "up": commands.SAT_DOWN}
    with in_namespace(box_pid):
        for direction, device in devices.items():
            delay(schedule, direction, device, seeds[direction])
    try:
        yield
    finally:
        with in_namespace(box_pid):
            batch("tc", commands.sat_delay(schedule.network.moved.link))
