# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for the closed loop."""

from dataclasses import dataclass
from typing import Annotated

from plan.schema import Within, check
from workload.poisson import FIT_TEXT, Fit


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The closed loop."""

    duration_s: Annotated[int, Within(1, 86_400), "length of a trial, whole seconds"] = 100
    connections: Annotated[
        int, Within(1, 1000), "persistent connections a pair, each with one request under way"
    ] = 1
    request_bytes: Annotated[
        int, Within(64, 1024), "size of a request (98-0876R1, section 6.2)"
    ] = 128
    paths: Annotated[
        int,
        Within(1, 1_000_000),
        "how many files are drawn for each pair; the list is repeated when it ends",
    ] = 4096
    poisson_fit: Annotated[Fit, FIT_TEXT] = "mean"

    def __post_init__(self) -> None:
        check(self, "workload")
