# SPDX-License-Identifier: GPL-2.0-only
"""What a trace is drawn from."""

from dataclasses import dataclass

from workload.limits import check_one_of, check_range, check_types

HTTP = ("1.0", "1.1")


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Load and link of a trace; the defaults are those of the web study of 2003.

    load_percent        offered load, each direction, of the link's rate [%]
    rate_bit_per_s      the link's rate, each direction [bit/s]
    exchanges           request-response pairs, both directions together (to within 5 %)
    http                "1.0": one pair a connection; "1.1": some connections carry more
    mss_bytes           payload of a full segment, for the count of packets [bytes]
    header_bytes        what a packet has besides its payload where the link's rate is kept: IP and
                        TCP header, and 14 more where tc counts Ethernet frames [bytes]
    cells               does the link carry ATM cells? A packet is then its AAL5 frame's cells of 53
                        bytes, with 16 bytes of LLC/SNAP and trailer beside header_bytes
    round_trip_max_ms   longer ones are cut to this, the study's longest [ms]
    """

    load_percent: float = 80.0
    rate_bit_per_s: int = 10_000_000
    exchanges: int = 250_000
    http: str = "1.0"
    mss_bytes: int = 1460
    header_bytes: int = 40
    cells: bool = False
    round_trip_max_ms: float = 3500.0

    def __post_init__(self) -> None:
        check_types(self)
        check_range(
            self,
            load_percent=(1, 200),
            rate_bit_per_s=(1_000_000, 1_000_000_000),
            exchanges=(10, 4_000_000),
            mss_bytes=(88, 65495),
            header_bytes=(20, 200),
            round_trip_max_ms=(2, 10_000),
        )
        check_one_of(self, http=HTTP)
