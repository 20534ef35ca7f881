# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for web traffic."""

from dataclasses import dataclass
from typing import ClassVar

from workload.limits import check_range, check_types
from workload.packmime.traffic import Traffic


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The traffic; the trace is drawn for the topology's link, counted in cells.

    load_percent  offered load, each direction, of the link's rate [%]
    exchanges     request-response pairs, both directions together (to within 5 %)
    http          "1.0": one pair a connection; "1.1": some connections carry more
    header_bytes  of IP and TCP: 40, with TCP timestamps 52 [bytes]
    duration_s    the trial ends when all is done, and then at the latest [s]
    """

    load_percent: float = 80.0
    exchanges: int = 250_000
    http: str = "1.0"
    header_bytes: int = 40
    duration_s: float = 3600.0

    delay: ClassVar[str] = "connection"
    serving: ClassVar[tuple[str, ...]] = ("server", "client")

    def __post_init__(self) -> None:
        check_types(self)
        check_range(self, duration_s=(1, 86400))
        self.traffic(10_000_000, 1460)

    def traffic(self, rate_bit_per_s: int, mss_bytes: int) -> Traffic:
        """What the trace is drawn from on a link."""
        return Traffic(
            load_percent=self.load_percent,
            rate_bit_per_s=rate_bit_per_s,
            exchanges=self.exchanges,
            http=self.http,
            mss_bytes=mss_bytes,
            header_bytes=self.header_bytes,
            cells=True,
        )
