# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for sources over one or several paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from plan.schema import Within, ZeroOr, check
from workload.errors import WorkloadError


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the sources."""

    multipath: ClassVar[bool] = True

    duration_s: Annotated[
        int,
        Within(1, 86_400),
        "The end of the measured interval, in whole seconds after time 0. All servers send until"
        " the measured interval has ended.",
    ] = 100
    measure_from_s: Annotated[
        int,
        Within(0, 86_399),
        "The beginning of the measured interval, in seconds after time 0.",
    ] = 0
    start_jitter_us: Annotated[
        int,
        Within(0, 86_400_000_000),
        "Each client connects at a random moment between time 0 and this time. If the measured"
        " interval begins later than time 0, all clients must connect before it begins.",
    ] = 1_000_000
    leave_link1_s: Annotated[
        int,
        ZeroOr(1, 86_399),
        "At this time, in seconds after time 0, each client with two links leaves link1: its kernel"
        " closes the subflow over link1 and tells the server (REMOVE_ADDR). With 0, no"
        " client leaves link1.",
    ] = 0
    unsent_bytes: Annotated[
        int,
        Within(65_536, 1 << 30),
        "The largest amount of unsent data that a source keeps in its socket.",
    ] = 1_048_576
    port: Annotated[int, Within(1, 65_535), "The TCP port of the servers."] = 5201

    def __post_init__(self) -> None:
        check(self, "workload")
        if self.measure_from_s >= self.duration_s:
            raise WorkloadError(
                f"workload.measure_from_s = {self.measure_from_s}: must be below"
                f" workload.duration_s, which is {self.duration_s}"
            )
        if self.leave_link1_s >= self.duration_s:
            raise WorkloadError(
                f"workload.leave_link1_s = {self.leave_link1_s}: must be below"
                f" workload.duration_s, which is {self.duration_s}"
            )
        most_us = (self.measure_from_s or self.duration_s) * 1_000_000
        if self.start_jitter_us > most_us:
            raise WorkloadError(
                f"workload.start_jitter_us = {self.start_jitter_us}: must be at most {most_us}, so"
                " that all clients connect before the measured interval begins or ends"
            )
