# SPDX-License-Identifier: GPL-2.0-only
"""Passes of satellites in a low circular orbit (LEO) over two ground stations at one place.

The satellites of one orbital plane pass over the place one after another, through its zenith. The
path leads from the ground to the nearest satellite and back to the ground. The one-way delay is
twice the slant range over the speed of light, plus a time in the stations. When the next satellite
is nearer, a handover takes place, and the link sends nothing for a moment.

Let R be the radius of the Earth, and g the angle between the place and a satellite at height h,
seen from the centre of the Earth. Then the slant range is

    sqrt(R^2 + (R + h)^2 - 2 R (R + h) cos g)

The angle changes with the mean motion, sqrt(GM / (R + h)^3). The Earth does not rotate in this
model; with rotation, a pass takes 5 to 7 % longer.

Source: Wertz, Larson (editors): "Space Mission Analysis and Design", third edition, 1999, sections
5.2 and 6.1. For real satellites, there is the kind `tle`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from plan.path import US_PER_S, Path, Row, of_rows
from plan.paths.site import Site
from plan.schema import Within

EARTH_KM = 6_371.0  # mean radius
EARTH_GM_KM3_PER_S2 = 398_600.4418  # World Geodetic System 1984
LIGHT_KM_PER_S = 299_792.458


@dataclass(frozen=True, kw_only=True)
class Settings:
    height_km: Annotated[float, Within(160, 2_000), "The height of the satellites."] = 550.0
    satellites: Annotated[
        int,
        Within(3, 200),
        "The number of satellites in the orbit. Neighbours are all equally far apart.",
    ] = 22
    stations_us: Annotated[
        int,
        Within(0, 1_000_000),
        "The part of the one-way delay that the ground stations add.",
    ] = 10_000
    outage_us: Annotated[
        int, Within(0, 1_000_000), "The time for which the link sends nothing at a handover."
    ] = 50_000
    step_us: Annotated[
        int, Within(1_000, 10_000_000), "The time from one change of the delay to the next."
    ] = 100_000

    def path(self, site: Site) -> Path:
        """Return a path that repeats from handover to handover; time 0 has no outage."""
        orbit_km = EARTH_KM + self.height_km
        motion_per_s = math.sqrt(EARTH_GM_KM3_PER_S2 / orbit_km**3)
        half = math.pi / self.satellites
        pass_us = round(2 * half / motion_per_s * US_PER_S)
        if EARTH_KM / orbit_km > math.cos(half):
            raise ValueError(
                f"topology.path.satellites = {self.satellites}: too few for this height; a"
                " satellite would be below the horizon"
            )
        if pass_us <= self.outage_us + self.step_us:
            raise ValueError(
                f"topology.path.outage_us = {self.outage_us}: a pass takes only {pass_us} us"
            )
        still = site.still
        times = range(0, pass_us, self.step_us)
        delays = [
            self.stations_us + round(2 * slant_km / LIGHT_KM_PER_S * US_PER_S)
            for slant_km in (
                slant(orbit_km, -half + motion_per_s * time_us / US_PER_S) for time_us in times
            )
        ]
        rows = [
            Row(time_us, still.rate_bit_per_s, delay_us, 0.0, 0)
            for time_us, delay_us in zip(times, delays, strict=True)
        ]
        if self.outage_us:
            rows = with_outage(rows, pass_us - self.outage_us)
        way = of_rows(rows, pass_us)
        return Path(down=way, up=way)


def slant(orbit_km: float, angle: float) -> float:
    """Return the distance from the place on the ground to a satellite [km]."""
    across = EARTH_KM**2 + orbit_km**2 - 2 * EARTH_KM * orbit_km * math.cos(angle)
    return math.sqrt(across)


def with_outage(rows: list[Row], from_us: int) -> list[Row]:
    """Return the rows with rate 0 from `from_us` to the end."""
    before = [row for row in rows if row.time_us < from_us]
    during = [row for row in rows if row.time_us > from_us]
    first = before[-1]._replace(time_us=from_us)
    return before + [row._replace(rate_bit_per_s=0) for row in (first, *during)]
