# SPDX-License-Identifier: GPL-2.0-only
"""A queue of packets that uses a queueing discipline of the kernel, before a link.

    port: tbf, a bucket of one full frame -> the discipline      box: netem, rate and delay

The bucket releases a packet when the link has sent the packet before. The discipline decides which
packet this is. The box's netem then sends the packet, in cells or in an Ethernet frame as all
links do (plan/framing.py). Together they form a link without a buffer of its own; the packet in
transmission does not count against the queue. On a moving path, one discipline at the port replaces
both the bucket and the rate of netem (topology/moving).

As a program (python3 -m topology.qdisc), this module writes a discipline's series until SIGTERM.
"""

from __future__ import annotations

import csv
import json
import signal
import socket
import struct
import sys
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from plan.atm import ETHERNET_HEADER_BYTES
from plan.queue import DIRECTIONS, Counters, Port, Queue
from plan.schema import Within, check
from topology import commands, moving, netlink
from topology.clock import NS_PER_S, sleep_until
from topology.run import in_namespace, run

# tc requires a limit, but the discipline replaces tbf's own queue and has its own limit.
UNUSED_LIMIT_BYTES = 1_000_000
# The place of the discipline; tc writes 1:1 and 2:.
CHILD_PARENT, CHILD_HANDLE = 0x1_0001, 0x2_0000
SERIES = "backlog_packets,backlog_bytes,dropped_packets,marked_packets".split(",")
# linux/gen_stats.h
QUEUE_STATS = struct.Struct("=III")  # packets, bytes, drops; more fields follow
APP_STATS = 4
COUNTER = struct.Struct("=I")


Packets = Annotated[int, Within(1, 1_000_000), "The size of the queue in packets."]
Ecn = Annotated[
    bool,
    "Mark a packet instead of dropping it, if the packet allows ECN (explicit congestion"
    " notification).",
]


class QdiscQueue(Queue):
    """The base of a kind that uses a discipline: a subclass is both Settings and Queue of its file.

    A kind is a frozen dataclass with `kind` and `discipline()`; if it marks packets, also with
    `marks` and `marks_at`. Its fields are the keys of an experiment's table [queue]. In the plan,
    the same fields are the parameters of each direction.

    Attributes:
        kind: tc's name of the discipline.
        marks: tc's name of the counter of marked packets; None: the discipline marks none.
        marks_at: the place of the same counter in the kernel's statistics of the discipline: the
            types of the nested attributes around it, then its offset in the last one [bytes]; ():
            none.
        more_at: more columns of queue.csv -> the places of their counters, as in `marks_at`.
    """

    kind: ClassVar[str]
    marks: ClassVar[str | None] = None
    marks_at: ClassVar[tuple[int, ...]] = ()
    more_at: ClassVar[Mapping[str, tuple[int, ...]]] = {}
    recordable: ClassVar[frozenset[str]] = frozenset({"queue_sample_ms"})

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # tbf, above the discipline, counts each of its drops again.
        cls.qdiscs = (cls.kind, "tbf")

    def __post_init__(self) -> None:
        check(self, "queue")

    def ports(self, mss_bytes: int) -> tuple[Self, Self]:
        """Return the same queue for both ends of the link."""
        return self, self

    def limit(self, mtu_bytes: int) -> tuple[str, int] | None:
        found: int | None = getattr(self, "limit_packets", None)
        return None if found is None else ("packets", found)

    @abstractmethod
    def discipline(self) -> str:
        """Return the discipline and its parameters in tc's words."""

    def load(self, port: Port) -> None:
        if port.schedule is not None:
            moving.serve(port.schedule, port.direction, port.device)
            self.add(port)
            return
        network = port.dumbbell
        bytes_per_s, framing = network.middle.rate_bit_per_s // 8, network.framing
        burst = network.mtu_bytes + ETHERNET_HEADER_BYTES
        run([
            *f"tc qdisc replace dev {port.device} root handle 1: tbf rate {bytes_per_s}bps".split(),
            *f"burst {burst} limit {UNUSED_LIMIT_BYTES}".split(),
            *f"overhead {framing.beside_ethernet_bytes} linklayer {framing.link_layer}".split(),
        ])  # fmt: skip
        self.add(port)
        words = " ".join(map(str, commands.netem_framing(framing)))
        set_box(port, f"rate {bytes_per_s}bps {words}")

    def add(self, port: Port) -> None:
        """Add the discipline below the bucket. A kind overrides this if tc cannot set it up."""
        run(f"tc qdisc add dev {port.device} parent 1:1 handle 2: {self.discipline()}".split())

    def unload(self, port: Port) -> None:
        run(["tc", "qdisc", "del", "dev", port.device, "root"])
        if port.schedule is None:
            set_box(port, "")

    def read(self, port: Port) -> dict[str, Any]:
        """Return tc's counters of the discipline, and `sent` and `marked`.

        `sent` counts the packets that the server has released, and `marked` those with a mark.
        """
        shown = json.loads(run(["tc", "-s", "-j", "qdisc", "show", "dev", port.device]))
        by_kind = {one["kind"]: one for one in shown}
        counters = by_kind[self.kind]
        sent = by_kind[moving.KIND if port.schedule else "tbf"]["packets"]
        return {**counters, "sent": sent, "marked": self.marked(counters)}

    @classmethod
    def marked(cls, counters: Counters) -> int:
        """Return the number of marked packets among tc's counters."""
        return int(counters[cls.marks]) if cls.marks else 0

    def record_argv(self, port: Port, folder: Path) -> list[str]:
        if not port.sample_ns:
            return []
        places = [self.marks_at, *self.more_at.values()]
        counted = ",".join(".".join(map(str, place)) for place in places)
        out = folder / f"{port.name}.qdisc.csv"
        words = [port.device, self.kind, counted, str(port.sample_ns), str(out)]
        return ["python3", "-B", "-m", "topology.qdisc", *words]

    @classmethod
    def write_series(
        cls,
        raw: Path,
        t0_ns: int,
        folder: Path,
        *,
        frames: bool,
        queues: Sequence[str] = DIRECTIONS,
    ) -> None:
        series = {name: raw / f"{name}.qdisc.csv" for name in queues}
        if not all(path.exists() for path in series.values()):
            return
        with (folder / "queue.csv").open("w", newline="", encoding="ascii") as stream:
            table = csv.writer(stream)
            table.writerow(("time_ns", "port", *SERIES, *cls.more_at))
            for name, path in series.items():
                with path.open(newline="", encoding="ascii") as rows:
                    table.writerows(
                        (int(time_ns) - t0_ns, name, *counted)
                        for time_ns, *counted in csv.reader(rows)
                        if int(time_ns) >= t0_ns
                    )

    @staticmethod
    def idle_wait_ns(cells: int, arrival_ns: float, service_ns: float) -> float:
        """The queue takes a packet when it is complete; the link then sends all its cells."""
        return cells * service_ns

    @staticmethod
    def waiting(counters: Counters) -> int:
        return int(counters["qlen"])

    @staticmethod
    def delivered(counters: Counters) -> int:
        return int(counters["sent"])

    @staticmethod
    def refused(counters: Counters) -> int:
        return int(counters["drops"])

    @staticmethod
    def unaccounted(counters: Counters, sent: int, left: int) -> list[int]:
        """A packet that a host sent was released, was dropped, or waits. A released one left."""
        out, dropped, waiting = counters["sent"], counters["drops"], counters["qlen"]
        return [sent - out - dropped - waiting, out - left]

    @staticmethod
    def figures(counters: Counters, begin: Counters | None) -> dict[str, float | None]:
        """Return the shares of dropped packets, and of marked packets among the released."""
        first = begin or {}
        names = ("sent", "drops", "marked")
        out, dropped, marked = (counters.get(k, 0) - first.get(k, 0) for k in names)
        return {
            "dropped_share": dropped / (out + dropped) if out + dropped else None,
            "marked_share": marked / out if out else None,
        }


def set_box(port: Port, rate: str) -> None:
    """Set up the box's delay of one direction anew; `rate` is in netem's words, or "".

    The qdisc is deleted first, because netem keeps each setting that a change does not mention.
    """
    with in_namespace(port.box_pid):
        run(["tc", "qdisc", "del", "dev", port.delay_device, "root"])
        run(["tc", *commands.box_delay(port.delay_device, port.delay_link, rate).split()])


def series(
    device: str, kind: str, places: Sequence[Sequence[int]], period_ns: int
) -> Iterator[list[int]]:
    """Yield a row in each period: time [ns], SERIES, the other places' counters.

    places: of the marks (QdiscQueue.marks_at), then of QdiscQueue.more_at.
    """
    index = socket.if_nametoindex(device)
    due_ns = time.monotonic_ns() // period_ns * period_ns
    with netlink.open_here() as link:
        while True:
            due_ns += period_ns
            sleep_until(due_ns)
            for found_index, found_kind, stats in netlink.qdiscs(link):
                if (found_index, found_kind) == (index, kind):
                    queue = QUEUE_STATS.unpack_from(stats[netlink.QUEUE_STATS])
                    counted = [counter_at(stats[APP_STATS], at) if at else 0 for at in places]
                    yield [due_ns, *queue, *counted]


def counter_at(stats: bytes, place: Sequence[int]) -> int:
    """Return a counter of a discipline's own statistics; for `place` see QdiscQueue.marks_at."""
    *nested, offset = place
    for kind in nested:
        stats = dict(netlink.attributes(stats, 0))[kind]
    return int(COUNTER.unpack_from(stats, offset)[0])


def main() -> None:
    """Arguments: DEVICE KIND PLACES PERIOD_NS OUT.

    PLACES has commas between the places. A place has dots between its numbers; "": no counter.
    """
    device, kind, counted, period_ns, out = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Path(out).open("w", newline="", encoding="ascii") as stream:
        table = csv.writer(stream)
        places = [[int(x) for x in place.split(".") if x] for place in counted.split(",")]
        for row in series(device, kind, places, int(period_ns)):
            table.writerow(row)
            if row[0] % NS_PER_S < int(period_ns):
                stream.flush()  # a user may read the file during the trial


if __name__ == "__main__":
    main()
