# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for the closed loop."""

from dataclasses import dataclass
from typing import Annotated

from plan.schema import Within, check
from workload.poisson import FIT_TEXT, Fit


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The closed loop."""

    duration_s: Annotated[
        int, Within(1, 86_400), "The time for which the workload runs, in whole seconds."
    ] = 100
    connections: Annotated[
        int,
        Within(1, 1000),
        "The number of persistent connections of each pair. Each connection has one request"
        " under way.",
    ] = 1
    request_bytes: Annotated[
        int, Within(64, 1024), "The size of a request (98-0876R1, section 6.2)."
    ] = 128
    paths: Annotated[
        int,
        Within(1, 1_000_000),
        "The number of files that are drawn for each pair. All connections of a client take their"
        " next file from one list. When the list ends, it begins again.",
    ] = 4096
    poisson_fit: Annotated[Fit, FIT_TEXT] = "mean"

    def __post_init__(self) -> None:
        check(self, "workload")
