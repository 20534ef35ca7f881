# SPDX-License-Identifier: GPL-2.0-only
"""Where a satellite is, by the library sgp4. Outside `plan`, because labs do not have this library.

Source: Vallado, Crawford, Hujsak, Kelso: "Revisiting Spacetrack Report #3", AIAA 2006-6753.
"""

from __future__ import annotations

from plan.errors import MissingError
from plan.orbits import Propagator, Vector


def propagator(first: str, second: str) -> Propagator:
    """Return the propagator of a satellite; first, second: its two-line elements.

    Raises:
        MissingError: the library sgp4 is not installed.
    """
    try:
        from sgp4.api import SGP4_ERRORS, Satrec
    except ImportError as error:
        raise MissingError(
            "topology.path.kind = tle: the Python package sgp4 is missing; run ./cellbed setup"
            " --library"
        ) from error
    satellite = Satrec.twoline2rv(first, second)

    def position_km(day: float, share: float) -> Vector:
        error, found, _ = satellite.sgp4(day, share)
        if error:
            raise ValueError(f"error {error} of sgp4: {SGP4_ERRORS.get(error, 'no reason')}")
        x, y, z = found
        return x, y, z

    return position_km
