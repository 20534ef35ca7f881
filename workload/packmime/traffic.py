# SPDX-License-Identifier: GPL-2.0-only
"""The input of a trace's draw."""

from dataclasses import dataclass
from typing import Annotated, Literal

from plan.framing import ETHERNET
from plan.schema import Within, check

Load = Annotated[
    float, Within(1, 200), "The offered load of each direction, in percent of the link's rate."
]
Exchanges = Annotated[
    int,
    Within(10, 4_000_000),
    "The number of request-response exchanges, both directions together (to within 5 percent).",
]
Http = Annotated[
    Literal["1.0", "1.1"],
    "`1.0`: each connection carries one exchange. `1.1`: some connections carry more than one"
    " exchange.",
]
HeaderBytes = Annotated[
    int,
    Within(20, 200),
    "The size of the IP and TCP headers of a packet. cellbed computes the load with this size. Set"
    " 52 if the flavor has TCP timestamps. The key does not change the packets.",
]


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """The load and the link of a trace; the defaults are those of the web study of 2003.

    rate_bit_per_s      rate of the link in each direction [bit/s]
    mss_bytes           payload of a full segment, to count packets [bytes]
    header_bytes        bytes of a packet beside its payload, as the link counts them: IP and TCP
                        header, plus 38 on a link of Ethernet frames [bytes]
    cells               whether the link carries ATM cells. A packet then counts as the cells of its
                        AAL5 frame, 53 bytes each. The frame has header_bytes, the payload, and 16
                        bytes of LLC/SNAP and trailer.
    round_trip_max_ms   larger round trips are reduced to this value, the study's largest [ms]
    """

    load_percent: Load = 80.0
    rate_bit_per_s: Annotated[int, Within(1_000_000, 1_000_000_000)] = 10_000_000
    exchanges: Exchanges = 250_000
    http: Http = "1.0"
    mss_bytes: Annotated[int, Within(88, 65_495)] = 1460
    header_bytes: Annotated[int, Within(20, 200 + ETHERNET.overhead_bytes)] = 40
    cells: bool = False
    round_trip_max_ms: Annotated[float, Within(2, 10_000)] = 3500.0

    def __post_init__(self) -> None:
        check(self, "workload")
