# SPDX-License-Identifier: GPL-2.0-only
"""The interface of a workload. Each workload is a folder or a file beside this file.

The folder's __init__.py, or the file, defines:

    Parameters  a frozen dataclass with the keys of an experiment's table [workload]. Each key has a
                default. One key is duration_s. The constructor checks the values (WorkloadError).
                The class variable `delay` names the topology.delay that the workload requires.
                Without it, any delay that needs no help of the workload is allowed
                (topology/delay.py). The class variables `least_mss_bytes` and
                `most_mss_bytes` are the smallest and the largest topology.mss_bytes with which the
                workload can run. With the class variable `kernel_tcp` = False, the programs do not
                use the kernel's TCP, so tcp.flavor cannot be a list. With `multipath` = True, the
                workload can use connections with several paths (Testbed.bundles).
    Source      runs the workload inside a lab and writes flows.csv

If only the host can make a part that the lab needs, it also defines:

    ON_HOST     the name of a module with share(plan, folder). The host calls share() before each
                trial. The lab sees the same folder as Testbed.shared.
    LIBRARIES   the Python libraries of that module; their versions are part of a trial's identity

If its programs need packages that the lab image has not, it also defines:

    LAYER       the name of these packages: lab/NAME/ has their recipe (harness/labs/layers.py). The
                host makes them when a trial first needs them. The lab sees them at
                Testbed.layer(NAME).

C programs are in the folder's programs/, with a Makefile (common/programs.mk). Set-up builds them,
and a lab has them in /opt/cellbed.

No other file names the kind. The host needs Parameters, and the lab needs both classes.
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
from plan.layout import Link

NS_PER_S = 1_000_000_000
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

    ports: its own port and its peer's port. cwnd_segments: None if the TCP module does not tell it.
    """

    @property
    def ports(self) -> tuple[int, int]: ...
    @property
    def cwnd_segments(self) -> int | None: ...
    @property
    def peer_window_bytes(self) -> int: ...


class Subflow(Protocol):
    """A connection of TCP, or a subflow of MPTCP (topology/subflows.py)."""

    @property
    def local_ip(self) -> str: ...
    @property
    def peer_ip(self) -> str: ...
    @property
    def received_bytes(self) -> int: ...
    @property
    def segments_in(self) -> int: ...
    @property
    def retransmits(self) -> int: ...
    @property
    def retransmitted_bytes(self) -> int: ...
    @property
    def queued_bytes(self) -> int: ...
    @property
    def timeouts(self) -> int | None: ...
    @property
    def cwnd_segments(self) -> int | None: ...
    @property
    def ssthresh_segments(self) -> int: ...
    @property
    def srtt_us(self) -> int: ...
    @property
    def peer_window_bytes(self) -> int: ...


class Programs(Protocol):
    """Programs that start together. All of them end at the end of the `with`."""

    def start(
        self,
        pid: int,
        argv: Sequence[str],
        environment: Mapping[str, str] = ...,
        inherited: Sequence[int] = ...,
    ) -> Popen[str]:
        """Start a program in the network namespace of a process; its stdout has its output.

        Args:
            environment: variables to add to the program's environment.
            inherited: file descriptors that the program inherits.
        """


class Testbed(Protocol):
    """The part of a lab that a workload can use. Times are of the lab's monotonic clock.

    Attributes:
        seed: the seed of all draws of the trial.
        folder: the folder for the workload's own files.
        shared: the folder with the files that the host made (share() of the module ON_HOST).
        delay: the trial's delay (topology/delay.py). If Parameters.delay names its kind, the
            workload tells it the round trip of each connection.
        rate_bit_per_s: the rate of the middle link, with all bits of cells or frames.
        access: the link of each host to its switch.
        mss_bytes: the payload of a full segment.
        clients, servers: in the order of their pairs.
        bundles: kind of a connection -> the pairs of each one: the paths that it may use. If one of
            them has several, the class variable `multipath` of Parameters must be True.
    """

    seed: int
    folder: Path
    shared: Path
    delay: Any
    rate_bit_per_s: int
    access: Link
    mss_bytes: int
    clients: Sequence[Host]
    servers: Sequence[Host]
    bundles: Mapping[str, Sequence[tuple[int, ...]]]

    def client_pid(self, pair: int) -> int:
        """Return the process that holds the network namespace of client `pair`."""

    def server_pid(self, pair: int) -> int:
        """Return the process that holds the network namespace of server `pair`."""

    def programs(self) -> AbstractContextManager[Programs]:
        """Return a group of programs, to be used in a `with`."""

    def inside(self, pid: int) -> AbstractContextManager[None]:
        """Enter the network namespace of a process for the duration of a `with`."""

    def wait_until(self, ready: Callable[[], bool], what: str) -> None:
        """Wait until a condition is true. Raise RuntimeError with `what` if it stays false."""

    def whole_second(self) -> int:
        """Sleep until the clock shows a whole second; return it [ns].

        A moving path begins at this moment.
        """

    def sleep_until(self, moment_ns: int) -> None:
        """Sleep until a moment; exact to the nanosecond in virtual time."""

    def at_once(self) -> AbstractContextManager[None]:
        """Let readings of the lab take no virtual time on any kernel, for the duration of a `with`.

        Outside of it, a reading takes some milliseconds on Linux 6.1 (topology/run.py).
        """

    def idle_round_trip_ns(self, ip_bytes: int) -> float:
        """Return an IP packet's round trip over idle links, without connections' delays [ns]."""

    def layer(self, name: str) -> Path:
        """Return the folder with the packages of a layer; the workload's LAYER must name it."""

    def sample_tcp(self, second: int) -> None:
        """Let the lab inspect a sending socket if it is due. Call this once a second."""

    def snapshot(self, name: str) -> None:
        """Note the queues' counters under a name."""

    def connections(self, pid: int) -> Sequence[Connection]:
        """Return the established connections in the namespace of a process."""

    def several_paths(self) -> AbstractContextManager[None]:
        """Let connections of MPTCP use all paths of their clients for the duration of a `with`."""

    def leave_first_path(self) -> None:
        """Let each client with several paths close the subflow of its first address."""

    def subflows(self, pid: int) -> Sequence[Subflow]:
        """Return the connections and subflows in the namespace of a process that are not closed."""

    def mptcp_totals(self, pid: int) -> Mapping[str, int]:
        """Return the counters of MPTCP in the namespace of a process; {}: it has none."""

    def shown_connection(self, pid: int, port: int) -> Mapping[str, str]:
        """Return what `ss` shows of the connection with this port at either end; {}: none."""

    def tcp_totals(self, pid: int) -> Mapping[str, int]:
        """Return `timeouts` and `retransmits` so far in the namespace of a process."""


class Source(ABC):
    """A workload on a testbed.

    Attributes:
        files: the workload's own tables beside flows.csv, for the record.
        checks: the checks of its trials, beside those of all trials (checks.py, or its own).
        responses: name -> heading of the figures that only this workload has. Tables show them. Its
            summary has their values as `figures`: name -> value (None: there is none).
        begins_itself: whether it begins at a moment of its own and not at Testbed.whole_second(). A
            moving path then begins before the workload.
    """

    files: ClassVar[tuple[str, ...]] = ()
    checks: ClassVar[tuple[Check, ...]] = ()
    responses: ClassVar[Mapping[str, str]] = {}
    begins_itself: ClassVar[bool] = False

    def __init__(self, testbed: Testbed, parameters: Any) -> None:
        self.testbed = testbed
        self.parameters = parameters

    @abstractmethod
    def run(self, progress: Callable[[int], None]) -> None:
        """Run to the end, and write flows.csv. Call `progress` once a virtual second."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return totals for the record, and the facts that the checks need (plan/facts.py).

        Always: t0_ns, the start from which times in the record count, and peer_window_bytes, the
        last window that each pair's sender got (None: unknown). If the workload has them: the
        requests (offered, answered, outstanding, unsent, bad_status, unexplained_bytes),
        server_complaints, max_late_ns, and the facts of its own checks. If it measures an interval:
        measured_s. If it has responses: figures.
        """

    def follow(self, t0_ns: int, progress: Callable[[int], None]) -> None:
        """Wait until the duration has passed since t0_ns; once a second, sample and call back."""
        for second in range(1, int(self.parameters.duration_s) + 1):
            self.testbed.sleep_until(t0_ns + second * NS_PER_S)
            self.testbed.sample_tcp(second)
            progress(second)

    def write_flows(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Write flows.csv; a value that is None or absent becomes an empty cell."""
        with (self.testbed.folder / "flows.csv").open("w", newline="", encoding="ascii") as stream:
            table = csv.DictWriter(stream, FLOW_COLUMNS, restval="", extrasaction="ignore")
            table.writeheader()
            table.writerows(rows)
