# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for web traffic."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from plan.framing import Framing
from plan.schema import Within, check
from workload.packmime.traffic import Exchanges, HeaderBytes, Http, Load, Traffic


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of web traffic. The trace is drawn for the topology's link."""

    load_percent: Load = 80.0
    exchanges: Exchanges = 250_000
    http: Http = "1.0"
    header_bytes: HeaderBytes = 40
    duration_s: Annotated[
        float,
        Within(1, 86_400),
        "The longest time for which the workload runs, on the trial's clock. The workload ends"
        " earlier when all exchanges have ended.",
    ] = 3600.0

    delay: ClassVar[str] = "connection"
    serving: ClassVar[tuple[str, ...]] = ("server", "client")

    def __post_init__(self) -> None:
        check(self, "workload")

    def traffic(self, rate_bit_per_s: int, mss_bytes: int, framing: Framing) -> Traffic:
        """Return the input of the draw for a link."""
        of_frame = 0 if framing.has_cells else framing.overhead_bytes
        return Traffic(
            load_percent=self.load_percent,
            rate_bit_per_s=rate_bit_per_s,
            exchanges=self.exchanges,
            http=self.http,
            mss_bytes=mss_bytes,
            header_bytes=self.header_bytes + of_frame,
            cells=framing.has_cells,
        )
