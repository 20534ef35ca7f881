# SPDX-License-Identifier: GPL-2.0-only
"""The satellites of a file, as a terminal and a gateway on the ground see them.

Standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from plan.elements import Elements
from plan.errors import UsageError
from plan.orbits import Place, Propagator, Vector, earth_fixed, seen, sidereal_angle
from plan.path import US_PER_S

J2000 = datetime(2000, 1, 1, 12, tzinfo=UTC)
J2000_DAY = 2_451_545.0  # the Julian day of this moment
US = timedelta(microseconds=1)
US_PER_DAY = 86_400 * US_PER_S


@dataclass(frozen=True)
class View:
    """A satellite at a moment.

    Attributes:
        range_km: from the terminal to the satellite and on to the gateway.
        elevation_deg: seen from the terminal.
        high_enough: whether it can carry the path.
    """

    range_km: float
    elevation_deg: float
    high_enough: bool


@dataclass(frozen=True)
class Satellite:
    """A satellite of the file, and its propagator."""

    elements: Elements
    propagator: Propagator

    def position_km(self, utc_us: int) -> Vector:
        """Return the position in the Earth-fixed frame.

        utc_us: microseconds since 1 January 2000, 12:00, without leap seconds.
        """
        days, rest_us = divmod(utc_us, US_PER_DAY)
        share = rest_us / US_PER_DAY
        try:
            teme_km = self.propagator(J2000_DAY + days, share)
        except ValueError as error:
            raise UsageError(
                f"topology.path.file: {self.elements.name} has no position at"
                f" {J2000 + utc_us * US:%Y-%m-%dT%H:%M:%SZ} ({error}); leave out line"
                f" {self.elements.at} of the file and the line behind it"
            ) from error
        return earth_fixed(teme_km, sidereal_angle(days + share))


@dataclass(frozen=True, kw_only=True)
class Sky:
    """The satellites, and both places on the ground.

    Attributes:
        start_us: time 0 of the path, in microseconds of UTC since 2000, without leap seconds.
    """

    satellites: Sequence[Satellite]
    terminal: Place
    gateway: Place
    start_us: int
    least_elevation_deg: float

    def highest(self, time_us: int) -> Satellite | None:
        """Return the highest satellite that can carry the path; of equals the first in the file."""
        views = [(self.view(one, time_us), one) for one in self.satellites]
        able = [(view.elevation_deg, one) for view, one in views if view.high_enough]
        return max(able, key=lambda found: found[0])[1] if able else None

    def view(self, satellite: Satellite, time_us: int) -> View:
        """Return what both places see of a satellite at a time of the path."""
        position_km = satellite.position_km(self.start_us + time_us)
        up_km, elevation_deg = seen(self.terminal, position_km)
        down_km, other_deg = seen(self.gateway, position_km)
        return View(
            up_km + down_km,
            elevation_deg,
            min(elevation_deg, other_deg) >= self.least_elevation_deg,
        )
