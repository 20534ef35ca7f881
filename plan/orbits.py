# SPDX-License-Identifier: GPL-2.0-only
"""A satellite as seen from a place on the ground: its distance and its elevation.

A propagator gives positions in the frame TEME (true equator, mean equinox), which does not turn
with the Earth. Here, TEME is turned into an Earth-fixed frame by Greenwich mean sidereal time
alone. Two small terms are left out. The motion of the poles is less than 15 m on the ground. The
difference between UT1 (the time of the Earth's rotation) and UTC is below 0.9 s, or 420 m on the
ground. Together they change a delay by less than 1.5 us for each place.

Sources: Vallado: "Fundamentals of Astrodynamics and Applications", fourth edition, 2013, equation
3-47 (sidereal time), section 3.2 (positions on the ellipsoid); Vallado, Crawford, Hujsak, Kelso:
"Revisiting Spacetrack Report #3", AIAA 2006-6753, appendix C (TEME); National Imagery and Mapping
Agency: "World Geodetic System 1984", TR8350.2, table 3.1 (the ellipsoid). Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import asin, cos, degrees, dist, pi, radians, sin, sqrt

EQUATOR_KM = 6_378.137
FLATTENING = 1 / 298.257_223_563
LIGHT_KM_PER_S = 299_792.458
DAYS_IN_CENTURY = 36_525
SECONDS_IN_DAY = 86_400

Vector = tuple[float, float, float]
# From a Julian day and a share of a day [UTC] to a position in TEME [km]; ValueError: it has none.
Propagator = Callable[[float, float], Vector]


@dataclass(frozen=True)
class Place:
    """A place, in the Earth-fixed frame.

    Attributes:
        position_km: from the centre of the Earth.
        up: a vector of length 1, perpendicular to the ellipsoid.
    """

    position_km: Vector
    up: Vector


def place(latitude_deg: float, longitude_deg: float, height_m: float = 0.0) -> Place:
    """Return a place by its geodetic latitude, longitude, and height above the ellipsoid."""
    latitude, longitude = radians(latitude_deg), radians(longitude_deg)
    flat = FLATTENING * (2 - FLATTENING)  # the square of the eccentricity
    radius_km = EQUATOR_KM / sqrt(1 - flat * sin(latitude) ** 2)
    up = (cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude))
    height_km = height_m / 1000
    x, y = ((radius_km + height_km) * one for one in up[:2])
    return Place((x, y, (radius_km * (1 - flat) + height_km) * up[2]), up)


def sidereal_angle(days: float) -> float:
    """Return Greenwich mean sidereal time [radians].

    days: UT1 since 1 January 2000, 12:00 (Julian day 2,451,545).
    """
    centuries = days / DAYS_IN_CENTURY
    seconds = 67_310.548_41 + centuries * (
        876_600 * 3_600 + 8_640_184.812_866 + centuries * (0.093_104 - 6.2e-6 * centuries)
    )
    return seconds % SECONDS_IN_DAY / SECONDS_IN_DAY * 2 * pi


def earth_fixed(teme_km: Vector, angle: float) -> Vector:
    """Return a position in the Earth-fixed frame; angle: the sidereal time [radians]."""
    x, y, z = teme_km
    return (x * cos(angle) + y * sin(angle), y * cos(angle) - x * sin(angle), z)


def seen(here: Place, satellite_km: Vector) -> tuple[float, float]:
    """Return the distance of a satellite [km] and its elevation above the horizon [degrees]."""
    range_km = dist(here.position_km, satellite_km)
    above_km = sum(
        (there - own) * up
        for there, own, up in zip(satellite_km, here.position_km, here.up, strict=True)
    )
    return range_km, degrees(asin(max(-1.0, min(1.0, above_km / range_km))))
