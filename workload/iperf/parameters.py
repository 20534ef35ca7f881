# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for persistent sources."""

from dataclasses import dataclass, field

from workload.errors import WorkloadError
from workload.limits import check_range, check_types


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The persistent sources.

    duration_s       end of the measured interval; they send until after it, whole seconds [s]
    measure_from_s   its begin, counted as its end from when the first may start [s]
    start_jitter_us  each source starts at a random moment of the first so many us; ends before
                     the interval begins, unless that begins at 0 and so has the starts in it [us]
    late_start_us    those of pairs 2, 4, 6, ... start so much later than they would; within the
                     same bound [us]
    unsent_bytes     what a source keeps ready beyond its window [bytes]
    block_bytes      size of a read and of a write [bytes]
    port             TCP port of the listening end; the data connection leaves from the next one
    reverse          the receiver connects (iperf3.py)
    """

    duration_s: int = 100
    measure_from_s: int = 0
    start_jitter_us: int = 0
    unsent_bytes: int = 1048576
    block_bytes: int = 16384
    port: int = 5201
    reverse: bool = False
    late_start_us: int = field(default=0, metadata={"later": True})

    def __post_init__(self) -> None:
        check_types(self)
        check_range(
            self,
            duration_s=(1, 86400),
            measure_from_s=(0, 86399),
            start_jitter_us=(0, 86_400_000_000),
            late_start_us=(0, 86_400_000_000),
            unsent_bytes=(65536, 1 << 30),
            block_bytes=(512, 1048576),
            port=(1, 65534),
        )
        if self.measure_from_s >= self.duration_s:
            raise WorkloadError(
                f"workload.measure_from_s: {self.measure_from_s}, must be below duration_s"
            )
        last_start_us = self.start_jitter_us + self.late_start_us
        if last_start_us > (self.measure_from_s or self.duration_s) * 1_000_000:
            name = "late_start_us" if self.late_start_us else "start_jitter_us"
            raise WorkloadError(f"workload.{name}: {last_start_us}, ends after the interval begins")

    @property
    def data_port(self) -> int:
        """Port from which the data connection is opened; iperf3's control connection has another.

        Both go to `port`, so that this one alone tells them apart, at either end.
        """
        return self.port + 1
