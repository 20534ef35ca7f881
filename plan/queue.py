# SPDX-License-Identifier: GPL-2.0-only
"""The interface of a queue under test. Each file in `topology/queues/` is one kind of queue.

The file defines two classes:

    Settings   a frozen dataclass with the keys of the experiment's table [queue]. The constructor
               checks the values (ValueError). `ports(mss_bytes)` returns the two queues: "down" and
               "up".
    Queue      a frozen dataclass and a subclass of Queue below. Its fields are the parameters of
               one direction in the lab's units; the plan stores them.

If both have the same keys, one class can be both (topology/qdisc.py).

No other file names the kind. The host and the lab import the file: standard library only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from plan.dumbbell import Dumbbell
from plan.layout import DIRECTIONS as DIRECTIONS
from plan.layout import Link

# Counters of a queue since it was loaded, as JSON. Each kind has its own keys.
Counters = Mapping[str, Any]


class Schedule(Protocol):
    """A moving path (topology/moving)."""

    def file(self, direction: str) -> Path:
        """Return the file with the path's table for one direction, in the kernel's format."""


@dataclass(frozen=True, kw_only=True)
class Port:
    """One end of a middle link in a lab, where a queue is loaded.

    Attributes:
        name: the name of the queue in records. With one middle link, it is the direction.
        direction: "down" (to the clients) or "up".
        device: the switch's port; the queue holds its outgoing packets.
        box_pid: a process in the network namespace of the box in the middle of the link.
        far_device: the box's device that receives the packets from this port.
        delay_device: the box's device that adds the propagation delay of this direction.
        delay_link: the middle link, with the delay that delay_device adds.
        sender_pids: processes in the network namespaces of the hosts that send to this port.
        dumbbell: the middle link with all pairs of the trial, as a dumbbell has them.
        frames, drops: whether to record each frame, and each drop.
        sample_ns: the period of the queue's time series; 0: no series.
        late_tolerance_ns: a departure that is later than this is a fault.
        schedule: how the middle link moves; None: the link is still.
    """

    name: str
    direction: str
    device: str
    box_pid: int
    far_device: str
    delay_device: str
    delay_link: Link
    sender_pids: Sequence[int]
    dumbbell: Dumbbell
    frames: bool = False
    drops: bool = False
    sample_ns: int = 0
    late_tolerance_ns: int = 0
    schedule: Schedule | None = None


class Queue(ABC):
    """A queue at a port. Methods that take `counters` are pure, and they also run on old records.

    Attributes:
        recordable: the keys of the table [record] that the queue supports: frames, drops,
            queue_sample_ms.
        qdiscs: the kinds of queueing disciplines at the port whose drops are the queue's drops. The
            count of the first kind includes the others.
        watches_wire: whether the queue measures the rate of the link during the trial. If not, the
            lab probes the rate before the trial.
        since: a feature of Linux that the queue needs -> the first release that has it.
        module: the kernel module of the lab's programs that the queue needs; None: it needs none.
    """

    recordable: ClassVar[frozenset[str]] = frozenset()
    qdiscs: ClassVar[tuple[str, ...]] = ()
    watches_wire: ClassVar[bool] = False
    since: ClassVar[Mapping[str, tuple[int, int]]] = {}
    module: ClassVar[str | None] = None

    @property
    def room_cells(self) -> int | None:
        """The number of cells that fit into the queue; None: the queue does not count cells."""
        return None

    @property
    def patched(self) -> str | None:
        """The key and its value that need a patch of lab/kernel/patches; None: nothing does."""
        return None

    @property
    def threshold_share(self) -> float | None:
        """The threshold R of the policy as a share of room_cells; None: there is no threshold."""
        return None

    def limit(self, mtu_bytes: int) -> tuple[str, int] | None:
        """Return the unit of the queue's limit, "packets" or "bytes", and the limit; None: none."""
        return None

    @abstractmethod
    def load(self, port: Port) -> None:
        """Load the queue at the port."""

    @abstractmethod
    def unload(self, port: Port) -> None:
        """Remove the queue and restore the port and the box."""

    @abstractmethod
    def read(self, port: Port) -> dict[str, Any]:
        """Return the counters since load()."""

    def passed(self, port: Port) -> tuple[int, int]:
        """Return delivered() and waiting() of the present counters.

        The end of a trial asks for them often.
        """
        counters = self.read(port)
        return self.delivered(counters), self.waiting(counters)

    def record_argv(self, port: Port, folder: Path) -> list[str]:
        """Return the command that records into `folder` until SIGTERM; [] if there is none."""
        return []

    @staticmethod
    @abstractmethod
    def write_series(
        raw: Path, t0_ns: int, folder: Path, *, frames: bool, queues: Sequence[str] = DIRECTIONS
    ) -> None:
        """Write the recorded series of all queues into the folder of a record.

        Args:
            raw: the folder that record_argv() got.
            t0_ns: the start of the trial on the lab's clock; the series count time from it.
            frames: whether the record gets each frame.
            queues: the names of the queues (Port.name).
        """

    @staticmethod
    @abstractmethod
    def idle_wait_ns(cells: int, arrival_ns: float, service_ns: float) -> float:
        """Return the time from the arrival of a frame's last cell to the frame's departure [ns].

        The port is idle. A cell arrives every `arrival_ns`, and the link sends one every
        `service_ns`.
        """

    @staticmethod
    @abstractmethod
    def waiting(counters: Counters) -> int:
        """Return the number of packets in the queue."""

    @staticmethod
    @abstractmethod
    def delivered(counters: Counters) -> int:
        """Return the number of packets that have left or are certain to leave."""

    @staticmethod
    @abstractmethod
    def refused(counters: Counters) -> int:
        """Return the number of packets that the queue dropped."""

    @staticmethod
    @abstractmethod
    def unaccounted(counters: Counters, sent: int, left: int) -> list[int]:
        """Return for each step through the queue the packets that no counter has; it should be 0.

        Args:
            sent: packets that the hosts sent, by the interfaces' counters.
            left: packets that left the port, by the port's counters.
        """

    @staticmethod
    def faults(counters: Counters) -> int | None:
        """Return the packets that the queue could not treat by its rule; None: there are none."""
        return None

    @staticmethod
    def late(counters: Counters) -> tuple[int, int] | None:
        """Return the numbers of late departure decisions and of all; None: the queue makes none.

        A decision is late if it comes after the departure time that it sets.
        """
        return None

    @staticmethod
    def wire(counters: Counters) -> Mapping[str, int] | None:
        """Return the use of the link as seen from outside (bpf/wire.h); None: it is not watched.

        The link carried `cells` cells in `busy_ns`. This time consists of `stretches` busy periods.
        """
        return None

    @staticmethod
    def figures(counters: Counters, begin: Counters | None) -> dict[str, float | None]:
        """Return figures of the measured interval. `begin` has the counters at its start."""
        return {}
