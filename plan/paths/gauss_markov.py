# SPDX-License-Identifier: GPL-2.0-only
"""A mobile link. Its rate is a Gauss-Markov process that is drawn from the trial's seed.

    x' = a x + (1 - a) mean + sqrt(1 - a^2) deviation w        w: standard normal

with a = exp(-step / memory). The mean and the standard deviation are constant. The correlation
decays over `memory`. A rate below `least_bit_per_s` is set to `least_bit_per_s`.

Source: Liang, Haas: "Predictive Distance-Based Mobility Management for PCS Networks", INFOCOM 1999,
section II (the paper models a speed).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Annotated

from plan.path import LEAST_RATE, MOST_RATE, MOST_ROWS, US_PER_S, Path, Row, of_rows
from plan.paths.site import Site
from plan.queue import DIRECTIONS
from plan.schema import Within


@dataclass(frozen=True, kw_only=True)
class Settings:
    deviation_bit_per_s: Annotated[
        int,
        Within(1, MOST_RATE),
        "The standard deviation of the rate. The mean rate is `topology.rate_bit_per_s`. Each"
        " direction has a rate of its own.",
    ]
    memory_us: Annotated[
        int,
        Within(1, 1_000_000_000),
        "If two moments are this time apart, the rates at these moments have a correlation of 1/e."
        " With a longer time, the rate changes more slowly.",
    ] = 1_000_000
    step_us: Annotated[
        int, Within(1_000, 10_000_000), "The time from one change of the rate to the next."
    ] = 10_000
    least_bit_per_s: Annotated[
        int,
        Within(LEAST_RATE, MOST_RATE),
        "The smallest rate. If the computed rate is below this value, the link has this value.",
    ] = 100_000
    duration_s: Annotated[
        int,
        Within(1, 86_400),
        "After this time, the path repeats: the same rates and delays come again.",
    ] = 120

    def path(self, site: Site) -> Path:
        """Return the path of seed 0. Its `drawn` makes the path of any other seed."""
        mean = site.still.rate_bit_per_s
        if self.least_bit_per_s > mean:
            raise ValueError(
                f"topology.path.least_bit_per_s = {self.least_bit_per_s}: must be at most"
                f" topology.rate_bit_per_s, {mean}"
            )
        rows = self.duration_s * US_PER_S // self.step_us
        if rows > MOST_ROWS:
            raise ValueError(
                f"topology.path.duration_s = {self.duration_s}: these are {rows} steps; allowed are"
                f" at most {MOST_ROWS}"
            )
        return self.of_seed(site, 0)

    def of_seed(self, site: Site, seed: int) -> Path:
        end_us = self.duration_s * US_PER_S
        down, up = (
            of_rows(list(self._rows(site, Random(f"gauss-markov {way} {seed}"))), end_us)
            for way in DIRECTIONS
        )
        return Path(down=down, up=up, drawn=lambda other: self.of_seed(site, other))

    def _rows(self, site: Site, draw: Random) -> list[Row]:
        mean, keeps = site.still.rate_bit_per_s, math.exp(-self.step_us / self.memory_us)
        spread = math.sqrt(1 - keeps**2) * self.deviation_bit_per_s
        rate, rows = draw.gauss(mean, self.deviation_bit_per_s), []
        for time_us in range(0, self.duration_s * US_PER_S, self.step_us):
            held = min(MOST_RATE, max(self.least_bit_per_s, round(rate)))
            rows.append(Row(time_us, held, site.still.delay_us, 0.0, 0))
            rate = keeps * rate + (1 - keeps) * mean + draw.gauss(0, spread)
        return rows
