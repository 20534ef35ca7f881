# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for the WWW clients of 98-0876R1."""

from dataclasses import dataclass

from workload.errors import WorkloadError
from workload.limits import check_one_of, check_range, check_types
from workload.poisson import FITS

NS_PER_S = 1_000_000_000
FIRST_BATCH = ("together", "jitter", "spread")
SERVER_STREAM = ("nginx", "joined")


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The workload's parameters; the defaults are the paper's.

    duration_s            length of a trial [s] (section 6.1)
    period_s              time from a batch's first request to the next batch's [s] (section 5.3)
    requests_mean         mean number of requests a batch (section 5.3)
    requests_min, _max    bounds of that number (section 5.3)
    gap_min_ms, _max_ms   bounds of the gap between two requests of a batch, uniform [ms] (5.3)
    request_bytes         size of a request on its connection [bytes] (section 6.2)
    poisson_fit           how a Poisson of mean 5 became 1..9: see poisson.py. Not in the paper;
                          "mean" yields the means that it states
    first_batch           when a client's first batch starts. Not in the paper. "together": all at
                          exactly 0; "jitter": uniform in 0..jitter_ms; "spread": in 0..period_s
    server_stream         what an answer is on its connection. "joined": one stream, the HTTP header
                          in the same segments as the file, the request's ACK with it (section 5.2:
                          the server "sends some data back"); "nginx": the header leaves at once, a
                          segment of its own where the window is open
    jitter_ms             bound for first_batch = "jitter" [ms]
    """

    duration_s: float = 100.0
    period_s: float = 10.0
    requests_mean: float = 5.0
    requests_min: int = 1
    requests_max: int = 9
    gap_min_ms: float = 100.0
    gap_max_ms: float = 500.0
    request_bytes: int = 128
    poisson_fit: str = "mean"
    first_batch: str = "together"
    jitter_ms: float = 10.0
    server_stream: str = "nginx"

    def __post_init__(self) -> None:
        check_types(self)
        check_range(
            self,
            duration_s=(0.001, 86400),
            period_s=(0.001, 86400),
            requests_min=(0, self.requests_max - 1),
            requests_max=(1, 1000),
            gap_min_ms=(0, self.gap_max_ms),
            gap_max_ms=(0, 86_400_000),
            request_bytes=(64, 1024),
            jitter_ms=(0, self.period_s * 1000),
        )
        check_one_of(self, poisson_fit=FITS, first_batch=FIRST_BATCH, server_stream=SERVER_STREAM)
        if not self.requests_min < self.requests_mean < self.requests_max:
            low, high = self.requests_min, self.requests_max
            raise WorkloadError(
                f"workload.requests_mean: {self.requests_mean:g}, must be inside {low}..{high}"
            )

    @property
    def duration_ns(self) -> int:
        """Length of a trial [ns]."""
        return round(self.duration_s * NS_PER_S)
