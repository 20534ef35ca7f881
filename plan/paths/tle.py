# SPDX-License-Identifier: GPL-2.0-only
"""A path over real satellites: the delay follows from two-line elements (TLE).

The path is a bent pipe: from a terminal on the ground to a satellite, and from it to a gateway on
the ground. The one-way delay is the sum of both slant ranges over the speed of light, plus a time
in the stations. At regular moments, the terminal gets the satellite that is highest in its sky. A
satellite counts only if it is high enough for both places. If it changes, the link sends nothing
for a moment. From a satellite's setting until the next of these moments, the link sends nothing.

The library sgp4 computes the positions of a satellite (harness/design/propagator.py), plan/sky.py
turns them into what both places see, and plan/orbits.py has the geometry. Elements are exact to
about 1 km at their epoch, and the error grows by 1 to 3 km in a day. Light needs 3.3 us for 1 km.
Positions are those of the moment at which a packet leaves the link: a satellite on a low orbit
moves less than 100 m within the delay of a packet.

Sources: Vallado, Crawford, Hujsak, Kelso: "Revisiting Spacetrack Report #3", AIAA 2006-6753 (the
propagator and its errors); Tanveer, Puchol, Singh, Bianchi, Nithyanand: "Making Sense of
Constellations: Methodologies for Understanding Starlink's Scheduling Algorithms", CoNEXT Companion
2023 (new satellites each 15 s, more often those high in the sky).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated

from plan.elements import read
from plan.errors import UsageError
from plan.orbits import LIGHT_KM_PER_S, Propagator, place
from plan.path import MOST_ROWS, US_PER_S, Path, Row, of_rows
from plan.paths.site import FileName, Site
from plan.schema import Matches, Within
from plan.sky import J2000, US, Satellite, Sky

MOST_AGE_DAYS = 30
SEARCH_STEP_S = 10
MOST_SEARCHED = 100_000  # positions: about a second


@dataclass(frozen=True, kw_only=True)
class Settings:
    file: Annotated[
        FileName,
        "The name of a file with the two-line elements of one or several satellites. A line with"
        " the name of a satellite may stand above its two lines. cellbed looks for the file in the"
        " folder of the experiment file, and then in the folder of the file that it extends.",
    ]
    start: Annotated[
        str,
        Matches(
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z",
            "a moment in UTC, as 2019-12-09T20:42:00Z",
        ),
        "The moment (UTC, coordinated universal time) that is time 0 of the path, as"
        ' `"2019-12-09T20:42:00Z"`. It must be at most 30 days from the epoch of all elements.',
    ]
    terminal_latitude_deg: Annotated[
        float, Within(-90, 90), "The latitude of the terminal; north is positive."
    ]
    terminal_longitude_deg: Annotated[
        float, Within(-180, 180), "The longitude of the terminal; east is positive."
    ]
    terminal_height_m: Annotated[
        float, Within(-500, 9_000), "The height of the terminal above the ellipsoid WGS 84."
    ] = 0.0
    gateway_latitude_deg: Annotated[
        float | None,
        Within(-90, 90),
        "The latitude of the gateway. The default is that of the terminal.",
    ] = None
    gateway_longitude_deg: Annotated[
        float | None,
        Within(-180, 180),
        "The longitude of the gateway. The default is that of the terminal.",
    ] = None
    gateway_height_m: Annotated[
        float, Within(-500, 9_000), "The height of the gateway above the ellipsoid WGS 84."
    ] = 0.0
    least_elevation_deg: Annotated[
        float,
        Within(0, 90),
        "The least elevation above the horizon, seen from the terminal and from the gateway, at"
        " which a satellite can carry the path.",
    ] = 25.0
    stations_us: Annotated[
        int,
        Within(0, 1_000_000),
        "The part of the one-way delay that the ground stations and the satellite add.",
    ] = 10_000
    outage_us: Annotated[
        int,
        Within(0, 1_000_000),
        "The time for which the link sends nothing when the satellite changes.",
    ] = 50_000
    interval_us: Annotated[
        int,
        Within(1_000_001, 600_000_000),
        "The time from one choice of a satellite to the next choice.",
    ] = 15_000_000
    first_us: Annotated[
        int | None,
        Within(1, 600_000_000),
        "The time from time 0 of the path ([moving paths](moving-paths.md#packets-at-a-change))"
        " to the second choice of a satellite. The first choice is at time 0. The default is"
        " `interval_us`.",
    ] = None
    step_us: Annotated[
        int, Within(1_000, 10_000_000), "The time from one change of the delay to the next."
    ] = 100_000
    duration_s: Annotated[
        int,
        Within(1, 86_400),
        "The path is computed for this time. Later, the values of the last row stay.",
    ] = 600

    def path(self, site: Site) -> Path:
        """Return the path of the satellites that the terminal gets, one after the other.

        Raises:
            UsageError: the file or the start is of no use; the text says what is allowed.
            MissingError: the library of the propagator is not installed.
        """
        count = self.duration_s * US_PER_S // self.step_us
        if count > MOST_ROWS:
            raise UsageError(
                f"topology.path.step_us = {self.step_us}: the path would have {count} rows;"
                f" allowed are at most {MOST_ROWS}"
            )
        assert site.propagator is not None
        lines = tuple(site.lines(self.file))
        return computed(self, lines, site.still.rate_bit_per_s, site.propagator)

    def of_elements(
        self,
        lines: Sequence[str],
        rate_bit_per_s: int,
        propagator: Callable[[str, str], Propagator],
    ) -> Path:
        """Return the path; lines: of the file."""
        sky = self.sky(lines, propagator)
        if sky.highest(0) is None:
            raise self._nothing_at_the_start(sky)
        rows = list(self._rows(sky, rate_bit_per_s))
        if not rows[-1].rate_bit_per_s:
            raise UsageError(
                f"topology.path.duration_s = {self.duration_s}: no satellite of {self.file} is"
                f" {self.least_elevation_deg:g} degrees high from {rows[-1].time_us / US_PER_S:g} s"
                f" until then; it must be at most {rows[-1].time_us // US_PER_S}"
            )
        way = of_rows(rows)
        return Path(down=way, up=way)

    def sky(self, lines: Sequence[str], propagator: Callable[[str, str], Propagator]) -> Sky:
        """Return the satellites and the places; lines: of the file."""
        start = self._start()
        found = read(self.file, lines)
        for one in found:
            days = (start - one.epoch()) / timedelta(days=1)
            if abs(days) > MOST_AGE_DAYS:
                raise UsageError(
                    f"topology.path.start = {self.start}: this is {abs(days):.0f} days"
                    f" {'after' if days > 0 else 'before'} the epoch of {one.name} ({self.file},"
                    f" line {one.at}); allowed are {MOST_AGE_DAYS}; take elements of that time"
                )
        latitude, longitude = self.terminal_latitude_deg, self.terminal_longitude_deg
        other = self.gateway_latitude_deg, self.gateway_longitude_deg
        return Sky(
            satellites=tuple(Satellite(one, propagator(one.first, one.second)) for one in found),
            terminal=place(latitude, longitude, self.terminal_height_m),
            gateway=place(
                latitude if other[0] is None else other[0],
                longitude if other[1] is None else other[1],
                self.gateway_height_m,
            ),
            start_us=(start - J2000) // US,
            least_elevation_deg=self.least_elevation_deg,
        )

    def _start(self) -> datetime:
        try:
            return datetime.fromisoformat(self.start)
        except ValueError as error:
            raise UsageError(
                f"topology.path.start = {self.start}: there is no such moment ({error})"
            ) from error

    def _rows(self, sky: Sky, rate_bit_per_s: int) -> Iterator[Row]:
        """Rows from time 0 on. While the link sends nothing, the delay of no packet is asked."""
        last: Row | None = None
        before: Satellite | None = None
        for from_us, to_us in self._slots():
            chosen = sky.highest(from_us)
            changes = before is not None and chosen is not None and chosen is not before
            again_us = from_us + self.outage_us * changes
            before = chosen or before
            for time_us in self._times(from_us, again_us, to_us):
                view = sky.view(chosen, time_us) if chosen else None
                up = view is not None and view.high_enough and time_us >= again_us
                if not up and last is not None and not last.rate_bit_per_s:
                    continue
                row = last
                if view is not None:
                    row = Row(time_us, rate_bit_per_s, self._delay_us(view.range_km), 0.0, 0)
                assert row is not None  # at time 0 there is a satellite
                row = row._replace(time_us=time_us, rate_bit_per_s=rate_bit_per_s if up else 0)
                if last is None or row[1:] != last[1:]:
                    yield row
                last = row

    def _slots(self) -> Iterator[tuple[int, int]]:
        """Each choice of a satellite, and the next choice [us]."""
        end_us = self.duration_s * US_PER_S
        first_us = self.interval_us if self.first_us is None else self.first_us
        starts = [0, *range(first_us, end_us, self.interval_us)]
        yield from zip(starts, [*starts[1:], end_us], strict=True)

    def _times(self, from_us: int, again_us: int, to_us: int) -> Iterator[int]:
        """The moments of rows between two choices: a multiple of the step, and those of changes."""
        step = self.step_us
        grid = range(-(-from_us // step) * step, to_us, step)
        yield from sorted({from_us, *grid, *(x for x in (again_us,) if x < to_us)})

    def _delay_us(self, range_km: float) -> int:
        return self.stations_us + round(range_km / LIGHT_KM_PER_S * US_PER_S)

    def _nothing_at_the_start(self, sky: Sky) -> UsageError:
        steps = min(86_400 // SEARCH_STEP_S, MOST_SEARCHED // len(sky.satellites))
        times_us = (step * SEARCH_STEP_S * US_PER_S for step in range(1, steps + 1))
        found_us = next((x for x in times_us if sky.highest(x) is not None), None)
        if found_us is None:
            later = f"nor in the {steps * SEARCH_STEP_S} s after it"
        else:
            moment = self._start() + found_us * US
            later = f"at {moment.isoformat(timespec='seconds').replace('+00:00', 'Z')}, there is"
        return UsageError(
            f"topology.path.start = {self.start}: no satellite of {self.file} is then"
            f" {self.least_elevation_deg:g} degrees above the horizon of the terminal and of the"
            f" gateway; {later}"
        )


@lru_cache(maxsize=16)
def computed(
    settings: Settings,
    lines: Sequence[str],
    rate_bit_per_s: int,
    propagator: Callable[[str, str], Propagator],
) -> Path:
    """Return the path, which all cells of an experiment share: it takes seconds to compute."""
    return settings.of_elements(lines, rate_bit_per_s, propagator)
