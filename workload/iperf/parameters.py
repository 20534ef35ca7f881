# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for persistent sources."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Self

from plan.layout import Layout
from plan.schema import Within, check
from workload.errors import WorkloadError

NS_PER_S = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class Interval:
    """The measured interval of persistent sources, and their starts."""

    duration_s: Annotated[
        int,
        Within(1, 86_400),
        "The end of the measured interval, in whole seconds after time 0. Time 0 is the moment at"
        " which the first server may start to send. All servers send until the measured interval"
        " has ended.",
    ] = 100
    measure_from_s: Annotated[
        int,
        Within(0, 86_399),
        "The beginning of the measured interval, in seconds after time 0.",
    ] = 0
    start_jitter_us: Annotated[
        int | None,
        Within(0, 86_400_000_000),
        "Each server that sends (a *source*) starts at a random moment between time 0 and this"
        " time. If the measured interval begins later than time 0, all sources must start before it"
        " begins. The default is one round trip of the path with an empty queue. If the measured"
        " interval begins after time 0, but within the first round trip, the default is the time"
        " from 0 to the beginning of the measured interval. With 0 and without"
        " `workload.late_start_us`, all sources start together.",
    ] = None
    late_start_us: Annotated[
        int,
        Within(0, 86_400_000_000),
        "cellbed adds this time to the start of each source of the pairs 2, 4, 6, ... If"
        " the measured interval begins later than time 0, these sources, too, must start before the"
        " measured interval begins.",
    ] = field(default=0, metadata={"later": True})

    def check_interval(self) -> None:
        """WorkloadError: the interval is empty, or a source starts too late for it."""
        if self.measure_from_s >= self.duration_s:
            raise WorkloadError(
                f"workload.measure_from_s = {self.measure_from_s}: must be below"
                f" workload.duration_s, which is {self.duration_s}"
            )
        last_start_us = self.jitter_us + self.late_start_us
        if last_start_us > self._most_us:
            name = "late_start_us" if self.late_start_us else "start_jitter_us"
            raise WorkloadError(
                f"workload.{name}: the last source would start after {last_start_us} us; it must"
                f" start within {self._most_us} us, before the measured interval begins or ends"
            )

    def on_path(self, path: Layout) -> Self:
        """Return the same parameters with the starts for a path: within one round trip of the path,
        or within the time in which sources may start, if that is shorter.
        """
        if self.start_jitter_us is not None:
            return self
        left_us = self._most_us - self.late_start_us
        return replace(self, start_jitter_us=min(path.propagation_ns() // 1000, left_us))

    @property
    def jitter_us(self) -> int:
        """The time within which the sources start; 0 if neither a file nor a path sets it."""
        return self.start_jitter_us or 0

    @property
    def _most_us(self) -> int:
        """The time within which all sources must have started."""
        return (self.measure_from_s or self.duration_s) * 1_000_000

    @property
    def ends_s(self) -> tuple[int, int]:
        """The beginning and the end of the measured interval [s]."""
        return self.measure_from_s, self.duration_s


@dataclass(frozen=True, kw_only=True)
class Parameters(Interval):
    """The parameters of the persistent sources.

    Attributes:
        round_trip_below_ns: iperf3 waits this long for an answer on its control connection, and
            then gives up (nread_read_timeout in src/net.c of iperf 3.18). An answer takes one round
            trip. In a trial, iperf3 bore a delay of 4,999,500 us, and none of 5,000,000 us.
    """

    round_trip_below_ns: ClassVar[int] = 10_000_000_000

    unsent_bytes: Annotated[
        int,
        Within(65_536, 1 << 30),
        "The largest amount of unsent data that a source keeps in its socket.",
    ] = 1_048_576
    block_bytes: Annotated[
        int, Within(512, 1_048_576), "The size of each read and of each write of iperf3."
    ] = 16_384
    port: Annotated[
        int,
        Within(1, 65_534),
        "The TCP port of the end that listens. The end that opens the data connection sends"
        " from the port with this number plus 1.",
    ] = 5201
    reverse: Annotated[
        bool, "true: the receiver opens the connection. false: the source opens the connection."
    ] = False

    def __post_init__(self) -> None:
        check(self, "workload")
        self.check_interval()

    @property
    def data_port(self) -> int:
        """The port from which the data connection is opened.

        iperf3 also opens a control connection, from another port. Both go to `port`. So only this
        port identifies the data connection, at either end.
        """
        return self.port + 1
