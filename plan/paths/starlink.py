# SPDX-License-Identifier: GPL-2.0-only
"""A path with a handover every 15 s, as Starlink has. The trial's seed draws the values.

For each interval, the seed gives one rate for both directions and a delay for each direction. The
values are uniform in a range. Each handover begins with an outage. The model reproduces the changes
and is not fitted to measurements: the experiment gives the ranges.

Source: Tanveer, Puchol, Singh, Bianchi, Nithyanand: "Making Sense of Constellations: Methodologies
for Understanding Starlink's Scheduling Algorithms", CoNEXT Companion 2023 (all terminals get
satellites anew each 15 s); Mohan et al.: "A Multifaceted Look at Starlink Performance", WWW 2024
(delays and rates change at these moments).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Annotated

from plan.path import MOST_DELAY_US, US_PER_S, Path, Row, of_rows
from plan.paths.site import Site
from plan.queue import DIRECTIONS
from plan.schema import Within, check_range


@dataclass(frozen=True, kw_only=True)
class Settings:
    least_delay_us: Annotated[
        int,
        Within(0, MOST_DELAY_US),
        "An interval is the time from one handover to the next. The seed draws a one-way delay for"
        " each interval and direction. This key is the smallest delay that the seed can draw.",
    ] = 15_000
    most_delay_us: Annotated[
        int, Within(0, MOST_DELAY_US), "The largest one-way delay that the seed can draw."
    ] = 35_000
    least_share: Annotated[
        float,
        Within(0.01, 1),
        "The seed draws one rate for each interval. Both directions have this rate. This key is"
        " the smallest rate that the seed can draw, as a share of `topology.rate_bit_per_s`. The"
        " largest rate is `topology.rate_bit_per_s`.",
    ] = 0.5
    outage_us: Annotated[
        int, Within(0, 1_000_000), "The time for which the link sends nothing at a handover."
    ] = 50_000
    loss: Annotated[
        float,
        Within(0, 1),
        "The share of packets that each direction loses, also between handovers. 1 is not allowed.",
    ] = 0.0
    interval_us: Annotated[
        int, Within(1_000_001, 600_000_000), "The time from one handover to the next."
    ] = 15_000_000
    first_us: Annotated[
        int | None,
        Within(1, 600_000_000),
        "The time from time 0 of the path ([moving paths](moving-paths.md#packets-at-a-change))"
        " to the first handover. The default is `interval_us`.",
    ] = None
    duration_s: Annotated[
        int,
        Within(1, 86_400),
        "After this time, the path repeats: the same rates and delays come again. The path begins"
        " again without an outage.",
    ] = 600

    def path(self, site: Site) -> Path:
        """Return the path of seed 0. Its `drawn` makes the path of any other seed."""
        least, most = self.least_delay_us, self.most_delay_us
        check_range("topology.path.most_delay_us", most, least, MOST_DELAY_US)
        return self.of_seed(site, 0)

    def of_seed(self, site: Site, seed: int) -> Path:
        draw = Random(f"starlink {seed}")
        end_us = self.duration_s * US_PER_S
        first_us = self.interval_us if self.first_us is None else self.first_us
        rows: dict[str, list[Row]] = {way: [] for way in DIRECTIONS}
        for time_us in (0, *range(first_us, end_us, self.interval_us)):
            least_rate = round(self.least_share * site.still.rate_bit_per_s)
            rate = draw.randint(least_rate, site.still.rate_bit_per_s)
            for way in DIRECTIONS:
                delay_us = draw.randint(self.least_delay_us, self.most_delay_us)
                row = Row(time_us, rate, delay_us, self.loss, 0)
                if time_us and self.outage_us:
                    rows[way].append(row._replace(rate_bit_per_s=0))
                    row = row._replace(time_us=time_us + self.outage_us)
                rows[way].append(row)
        down, up = (
            of_rows([row for row in rows[way] if row.time_us < end_us], end_us)
            for way in DIRECTIONS
        )
        return Path(down=down, up=up, drawn=lambda other: self.of_seed(site, other))
