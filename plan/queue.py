# SPDX-License-Identifier: GPL-2.0-only
"""What a queue under test is: the interface of the files in `topology/queues/`, one kind each.

Such a file has

    Settings   a frozen dataclass: the keys of an experiment's table [queue], its values
               checked when it is made (ValueError); `ports()` gives the two queues
    Queue      a frozen dataclass: one direction's parameters in the lab's units, as they
               stand in the plan, and below what is done with them

Where the two have the same keys, one class is both (topology/qdisc.py).

Nothing else names the file. Standard library only: it is read on the host and in the lab.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from plan.dumbbell import Dumbbell, Link

# What a queue has counted since it was loaded, as JSON; each kind has its own.
Counters = Mapping[str, Any]
DIRECTIONS = ("down", "up")


class Schedule(Protocol):
    """A path that moves (topology/moving)."""

    def file(self, direction: str) -> Path:
        """Its table, as the kernel reads it."""


@dataclass(frozen=True, kw_only=True)
class Port:
    """An end of the middle link, as a queue finds it in a lab.

    Attributes:
        direction: "down" (to the clients) or "up".
        device: the switch's port whose departures are queued.
        box_pid: holds the namespace of the box behind it.
        far_device: the box's device at which comes in what has left.
        delay_device: the box's device with the propagation delay of this direction.
        delay_link: the middle link, with the delay that it has there.
        sender_pids: hold the namespaces of the hosts whose eth0 sends to this port.
        dumbbell: the trial's network.
        frames, drops: are they wanted one by one?
        sample_ns: period of the queue's series; 0: none.
        late_tolerance_ns: how late a departure may be before it is a fault.
        schedule: of the middle link, where it moves; None: it is still.
    """

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
    """A queue at a port. What takes counters is pure, and asked of every record of its kind.

    Attributes:
        recordable: which of an experiment's record.frames, .drops, .queue_sample_ms it knows.
        qdiscs: kinds of queueing disciplines at the port whose drops are the queue's own; the
            first one's count has all of them.
        watches_wire: does it see the link at work? Else the link's rate is probed before a trial.
        since: what it needs of Linux, and the first release that has it.
        module: a kernel module of the lab's programs that it needs.
    """

    recordable: ClassVar[frozenset[str]] = frozenset()
    qdiscs: ClassVar[tuple[str, ...]] = ()
    watches_wire: ClassVar[bool] = False
    since: ClassVar[Mapping[str, tuple[int, int]]] = {}
    module: ClassVar[str | None] = None

    @property
    def room_cells(self) -> int | None:
        """How many cells it holds; None where it does not count cells."""
        return None

    @property
    def threshold_share(self) -> float | None:
        """R, above which its policy begins, as a share of room_cells; None: it has none."""
        return None

    @abstractmethod
    def load(self, port: Port) -> None:
        """Put it at the port."""

    @abstractmethod
    def unload(self, port: Port) -> None:
        """Take it away; the port and the box are as before."""

    @abstractmethod
    def read(self, port: Port) -> dict[str, Any]:
        """The counters."""

    def record_argv(self, port: Port, folder: Path) -> list[str]:
        """A program that records until SIGTERM what the port wants, into `folder`; none: []."""
        return []

    @staticmethod
    @abstractmethod
    def write_series(raw: Path, t0_ns: int, folder: Path, *, frames: bool) -> None:
        """Bring what was recorded of both directions into a record's folder.

        Args:
            raw: the folder of record_argv().
            t0_ns: start of the trial on the lab's clock; times in the record count from it.
            frames: are they wanted one by one?
        """

    @staticmethod
    @abstractmethod
    def idle_wait_ns(cells: int, arrival_ns: float, service_ns: float) -> float:
        """From the arrival of a frame's last cell at the idle port to its departure [ns].

        Cells come every `arrival_ns` and leave one every `service_ns`.
        """

    @staticmethod
    @abstractmethod
    def waiting(counters: Counters) -> int:
        """Packets in the queue."""

    @staticmethod
    @abstractmethod
    def delivered(counters: Counters) -> int:
        """Packets that have been let out, or will be for certain."""

    @staticmethod
    @abstractmethod
    def refused(counters: Counters) -> int:
        """Packets that did not and will not pass."""

    @staticmethod
    @abstractmethod
    def unaccounted(counters: Counters, sent: int, left: int) -> list[int]:
        """The law of conservation: packets that are missing at each of its steps, 0 by the law.

        Args:
            sent: by the hosts, as the interfaces count.
            left: by the port, as its interface counts.
        """

    @staticmethod
    def faults(counters: Counters) -> int | None:
        """Packets that the queue could not judge as its rule says; None: it has no such case."""
        return None

    @staticmethod
    def late(counters: Counters) -> tuple[int, int] | None:
        """Departures that were past when they were decided, and all; None: it decides none."""
        return None

    @staticmethod
    def wire(counters: Counters) -> Mapping[str, int] | None:
        """What came over the link: `cells` in `busy_ns` of `stretches`; None: unwatched."""
        return None

    @staticmethod
    def figures(counters: Counters, begin: Counters | None) -> dict[str, float | None]:
        """Figures of the measured interval for the judgement; `begin`: counters at its start."""
        return {}
