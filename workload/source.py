# SPDX-License-Identifier: GPL-2.0-only
"""What a workload is: the interface of the kinds beside this file, a folder or a file each.

What such a folder's __init__.py, or the file, has:

    Parameters  a frozen dataclass: the keys of an experiment's table [workload], all with a
                default, a duration_s among them; checked when it is made (WorkloadError).
                `delay`, a class variable: the topology.delay that it needs, and no other; else it
                may be any that does not ask for the workload's help (topology/delay.py)
    Source      runs it inside a lab and leaves flows.csv

and where the lab needs what only the host can make

    ON_HOST     name of a module with share(plan, folder): the host calls it before each trial,
                with the folder that the lab sees as Testbed.shared
    LIBRARIES   what that module needs beside Python: their versions are part of a trial's identity

A folder with C programs has them in programs/, with a Makefile (common/programs.mk); set-up
builds them, and a lab has them in /opt/cellbed.

Nothing else names the kind. The host needs the first, the lab both.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import Popen
from typing import Any, ClassVar, Protocol

from plan.checks import Check

FLOW_COLUMNS = (
    "pair,received_bytes,scheduled_bytes,requests,answered,"
    "retransmits,timeouts,cwnd_segments,ssthresh_segments,srtt_us"
).split(",")


class Host(Protocol):
    """An end system."""

    @property
    def pair(self) -> int: ...
    @property
    def ip(self) -> str: ...
    @property
    def peer_ip(self) -> str: ...


class Connection(Protocol):
    """An established connection, as the kernel counts it at its sender.

    ports: its own and its peer's. cwnd_segments: None where a module does not tell.
    """

    @property
    def ports(self) -> tuple[int, int]: ...
    @property
    def cwnd_segments(self) -> int | None: ...
    @property
    def peer_window_bytes(self) -> int: ...


class Programs(Protocol):
    """Programs that are started together and all ended on leaving the `with`."""

    def start(
        self,
        pid: int,
        argv: Sequence[str],
        environment: Mapping[str, str] = ...,
        inherited: Sequence[int] = ...,
    ) -> Popen[str]:
        """Start one in the network namespace of a process; its output is in its stdout.

        environment is added to its environment; inherited: file descriptors that it gets.
        """


class Testbed(Protocol):
    """What a lab lends to a workload. Times are of the lab's monotonic clock.

    Attributes:
        seed: of all draws of the trial.
        folder: takes the workload's own files.
        shared: has what the host made for it (share() of its module ON_HOST).
        delay: the trial's; one that is the workload's to tell (Parameters.delay) lends how.
        rate_bit_per_s, mss_bytes: of the middle link, in cells; payload of a full segment.
        clients, servers: in the order of their pairs.
    """

    seed: int
    folder: Path
    shared: Path
    delay: Any
    rate_bit_per_s: int
    mss_bytes: int
    clients: Sequence[Host]
    servers: Sequence[Host]

    def client_pid(self, pair: int) -> int:
        """Process that holds the network namespace of client `pair`."""

    def server_pid(self, pair: int) -> int:
        """Process that holds the network namespace of server `pair`."""

    def programs(self) -> AbstractContextManager[Programs]:
        """For the programs of a trial."""

    def inside(self, pid: int) -> AbstractContextManager[None]:
        """Be in the network namespace of a process."""

    def wait_until(self, ready: Callable[[], bool], what: str) -> None:
        """Wait for a condition; RuntimeError naming `what` when it does not come."""

    def whole_second(self) -> int:
        """Sleep until the clock shows a whole second, the one at which a moving path begins.

        Returns it [ns].
        """

    def sleep_until(self, moment_ns: int) -> None:
        """Sleep until a moment, exact to the nanosecond in virtual time."""

    def idle_round_trip_ns(self, ip_bytes: int) -> float:
        """Of an IP packet and its echo over idle links, without a connection's own delay."""

    def sample_tcp(self, second: int) -> None:
        """Once a second of the trial: looks at a sending socket when it is time to."""

    def snapshot(self, name: str) -> None:
        """Note the queues' counters under a name."""

    def connections(self, pid: int) -> Sequence[Connection]:
        """The established connections in the namespace of a process."""

    def shown_connection(self, pid: int, port: int) -> Mapping[str, str]:
        """What `ss` says of the one with this port at either end; empty when there is none."""

    def tcp_totals(self, pid: int) -> Mapping[str, int]:
        """`timeouts` and `retransmits` so far in the namespace of a process."""


class Source(ABC):
    """A workload on a testbed.

    Attributes:
        files: tables of its own beside flows.csv, which the record takes.
        checks: what its trials are held to beside what all are (checks.py; a kind's own).
        begins_itself: does it begin at another moment than Testbed.whole_second()? A moving path
            then begins before it.
    """

    files: ClassVar[tuple[str, ...]] = ()
    checks: ClassVar[tuple[Check, ...]] = ()
    begins_itself: ClassVar[bool] = False

    def __init__(self, testbed: Testbed, parameters: Any) -> None:
        self.testbed = testbed
        self.parameters = parameters

    @abstractmethod
    def run(self, progress: Callable[[int], None]) -> None:
        """Run to the end, leaving flows.csv in the folder; `progress` once a virtual second."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Totals for the record, and what the checks want to know (plan/facts.py).

        t0_ns: the start, from which times in the record count. peer_window_bytes: the window
        that each pair's sender was last told, None where it is not known. Where the workload
        has such: offered, answered, outstanding, unsent, bad_status, unexplained_bytes
        (requests); server_complaints; max_late_ns; and what its own checks go by. Where it
        measures an interval of its own: measured_s.
        """

    def write_flows(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Write flows.csv; a value that is None or absent is an empty cell."""
        with (self.testbed.folder / "flows.csv").open("w", newline="", encoding="ascii") as stream:
            table = csv.DictWriter(stream, FLOW_COLUMNS, restval="", extrasaction="ignore")
            table.writeheader()
            table.writerows(rows)
