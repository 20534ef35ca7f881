# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for persistent sources."""

from dataclasses import dataclass, field
from typing import Annotated

from plan.schema import Within, check
from workload.errors import WorkloadError


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The persistent sources."""

    duration_s: Annotated[
        int,
        Within(1, 86_400),
        "end of the measured interval; the sources send until after it, whole seconds",
    ] = 100
    measure_from_s: Annotated[
        int,
        Within(0, 86_399),
        "begin of the measured interval, counted as its end from when the first source may start",
    ] = 0
    start_jitter_us: Annotated[
        int,
        Within(0, 86_400_000_000),
        "each source starts at a random moment of the first so many us; they end before the"
        " interval begins, unless that begins at 0 and so has the starts in it",
    ] = 0
    unsent_bytes: Annotated[
        int, Within(65_536, 1 << 30), "what a source keeps ready beyond its window"
    ] = 1_048_576
    block_bytes: Annotated[int, Within(512, 1_048_576), "size of a read and of a write"] = 16_384
    port: Annotated[
        int,
        Within(1, 65_534),
        "TCP port of the listening end; the data connection leaves from the next one",
    ] = 5201
    reverse: Annotated[bool, "the receiver connects, and not the source"] = False
    late_start_us: Annotated[
        int,
        Within(0, 86_400_000_000),
        "the sources of pairs 2, 4, 6, ... start so much later than they would; within the same"
        " bound",
    ] = field(default=0, metadata={"later": True})

    def __post_init__(self) -> None:
        check(self, "workload")
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
