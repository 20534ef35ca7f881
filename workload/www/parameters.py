# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for the WWW clients of 98-0876R1."""

from dataclasses import dataclass
from typing import Annotated, Literal

from plan.schema import Within, check, check_range
from workload.errors import WorkloadError
from workload.poisson import FIT_TEXT, Fit

NS_PER_S = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """When clients ask for which files; the defaults are the paper's."""

    duration_s: Annotated[
        float,
        Within(0.001, 86_400),
        "The time for which the workload runs (98-0876R1, section 6.1).",
    ] = 100.0
    period_s: Annotated[
        float,
        Within(0.001, 86_400),
        "The time from the first request of a batch to the first request of the next batch"
        " (98-0876R1, section 5.3).",
    ] = 10.0
    requests_mean: Annotated[
        float,
        "The mean number of requests in a batch. It lies between `workload.requests_min` and"
        " `workload.requests_max` (98-0876R1, section 5.3).",
    ] = 5.0
    requests_min: Annotated[
        int, Within(0), "The smallest number of requests in a batch (98-0876R1, section 5.3)."
    ] = 1
    requests_max: Annotated[
        int, Within(1, 1000), "The largest number of requests in a batch (98-0876R1, section 5.3)."
    ] = 9
    gap_min_ms: Annotated[
        float,
        Within(0),
        "The shortest gap between two requests of a batch. Gaps are drawn uniformly (98-0876R1,"
        " section 5.3).",
    ] = 100.0
    gap_max_ms: Annotated[
        float, Within(0, 86_400_000), "The longest gap between two requests of a batch."
    ] = 500.0
    poisson_fit: Annotated[Fit, FIT_TEXT] = "mean"
    first_batch: Annotated[
        Literal["together", "jitter", "spread"],
        "The moment at which a client starts its first batch. 98-0876R1 does not say when."
        " `together`: all clients start when the workload starts. `jitter`: each client starts at"
        " a random moment in the next `workload.jitter_ms`. `spread`: each client starts at a"
        " random moment in the next `workload.period_s`.",
    ] = "together"
    jitter_ms: Annotated[
        float,
        Within(0),
        "The longest time from the start of the workload to the start of a client with"
        " `workload.first_batch ="
        ' "jitter"`.',
    ] = 10.0

    def check_schedule(self) -> None:
        """WorkloadError: keys that do not fit each other."""
        for key, most in (
            ("requests_min", self.requests_max - 1),
            ("gap_min_ms", self.gap_max_ms),
            ("jitter_ms", self.period_s * 1000),
        ):
            check_range(f"workload.{key}", getattr(self, key), 0, most)
        if not self.requests_min < self.requests_mean < self.requests_max:
            low, high = self.requests_min, self.requests_max
            raise WorkloadError(
                f"workload.requests_mean = {self.requests_mean:g}: must be above requests_min,"
                f" which is {low}, and below requests_max, which is {high}"
            )

    @property
    def duration_ns(self) -> int:
        """The length of a trial [ns]."""
        return round(self.duration_s * NS_PER_S)


@dataclass(frozen=True, kw_only=True)
class Parameters(Schedule):
    """The workload's parameters; the defaults are the paper's."""

    request_bytes: Annotated[
        int, Within(64, 1024), "The size of a request (98-0876R1, section 6.2)."
    ] = 128
    server_stream: Annotated[
        Literal["nginx", "joined"],
        "The way in which a server sends an answer. `nginx`: the server sends the HTTP header at"
        " once, in a segment of its own if the window is open. `joined`: the HTTP header shares"
        " segments with the file, and the acknowledgement of the request goes with them (98-0876R1,"
        ' section 5.2: the server "sends some data back").',
    ] = "nginx"

    def __post_init__(self) -> None:
        check(self, "workload")
        self.check_schedule()
