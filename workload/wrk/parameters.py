# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for the closed loop."""

from dataclasses import dataclass

from workload.limits import check_one_of, check_range, check_types
from workload.poisson import FITS


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The closed loop.

    duration_s     whole seconds [s]
    connections    persistent connections a pair, each with one request under way
    request_bytes  size of a request [bytes] (98-0876R1, section 6.2)
    paths          how many files are drawn for each pair; the list is repeated when it ends
    poisson_fit    see poisson.py
    """

    duration_s: int = 100
    connections: int = 1
    request_bytes: int = 128
    paths: int = 4096
    poisson_fit: str = "mean"

    def __post_init__(self) -> None:
        check_types(self)
        check_range(
            self,
            duration_s=(1, 86400),
            connections=(1, 1000),
            request_bytes=(64, 1024),
            paths=(1, 1000000),
        )
        check_one_of(self, poisson_fit=FITS)
