# SPDX-License-Identifier: GPL-2.0-only
"""Satellites as seen from the ground: published answers, and a path by two-line elements."""

from __future__ import annotations

import sys
from datetime import datetime
from itertools import pairwise
from math import atan2, cos, degrees, pi, radians, sin
from pathlib import Path

import pytest

from harness.design.propagator import propagator
from plan import elements, orbits, sky
from plan.errors import MissingError, UsageError
from plan.path import Path as Moving
from plan.path import Row
from plan.paths import tle
from plan.paths.site import Site

STILL = Row(0, 10_000_000, 5_000, 0.0, 0)
# The example of the documentation of sgp4: the International Space Station.
ISS = """\
ISS (ZARYA)
1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991
2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482
"""
# The first verification case of AIAA 2006-6753.
FIRST = """\
1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753
2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667
"""


def made(number: int, inclination: float, node: float, anomaly: float, motion: float) -> str:
    """Elements of no real satellite, with the epoch 9 December 2019, 16:38:00 UTC."""
    lines = (
        f"1 {number:05d}U 19999A   19343.69305556  .00000000  00000-0  00000-0 0  999",
        f"2 {number:05d} {inclination:8.4f} {node:8.4f} 0000000   0.0000 {anomaly:8.4f}"
        f" {motion:11.8f}    0",
    )
    return "".join(f"{line}{elements.checksum(line)}\n" for line in lines)


def satellite(text: str) -> sky.Satellite:
    [one] = elements.read("x", text.splitlines())
    return sky.Satellite(one, propagator(one.first, one.second))


def path(folder: Path, text: str, **settings: object) -> Moving:
    (folder / "some.tle").write_text(text)
    given = {
        "file": "some.tle",
        "start": "2019-12-09T16:38:30Z",
        "terminal_latitude_deg": 48.2,
        "terminal_longitude_deg": 11.6,
        "least_elevation_deg": 10,
        "duration_s": 60,
    }
    wanted = tle.Settings(**given | settings)  # type: ignore[arg-type]
    return wanted.path(Site(folders=[folder], still=STILL, propagator=propagator))


def test_sidereal_time_is_that_of_a_published_example() -> None:
    """Vallado, example 3-5: 20 August 1992, 12:14 UT1. Its Julian day has too few digits for the
    last two digits of its result."""
    days = (datetime(1992, 8, 20, 12, 14) - datetime(2000, 1, 1, 12)).total_seconds() / 86_400
    assert degrees(orbits.sidereal_angle(days)) == pytest.approx(152.578_787_810, abs=1e-7)


def test_a_place_is_that_of_a_published_example() -> None:
    """Vallado, example 3-3: from a position to latitude, longitude and height."""
    found = orbits.place(34.352_496, 46.446_4, 5_085_220)
    assert found.position_km == pytest.approx((6_524.834, 6_862.875, 6_448.296), abs=0.01)


def test_positions_turn_with_the_earth_as_published() -> None:
    """AIAA 2006-6753, appendix C: from TEME to the pseudo Earth-fixed frame."""
    utc = datetime(2004, 4, 6, 7, 51, 28, 386_009) - datetime(2000, 1, 1, 12)
    angle = orbits.sidereal_angle((utc.total_seconds() - 0.439_961_9) / 86_400)
    found = orbits.earth_fixed((5_094.180_162_1, 6_127.644_659_5, 6_380.344_532_7), angle)
    assert found == pytest.approx((-1_033.475_031_3, 7_901.305_585_6, 6_380.344_532_7), abs=1e-5)


@pytest.mark.parametrize(
    ("minutes", "teme_km"),
    [
        (0, (7_022.465_292_66, -1_400.082_967_55, 0.039_951_55)),
        (360, (-7_154.031_202_02, -3_783.176_825_04, -3_536.194_122_94)),
    ],
)
def test_a_satellite_is_where_the_verification_case_says(
    minutes: int, teme_km: tuple[float, float, float]
) -> None:
    one = satellite(FIRST)
    utc_us = (one.elements.epoch() - sky.J2000) // sky.US + minutes * 60_000_000
    angle = orbits.sidereal_angle(utc_us / sky.US_PER_DAY)
    assert one.position_km(utc_us) == pytest.approx(orbits.earth_fixed(teme_km, angle), abs=1e-5)


def test_at_the_zenith_the_distance_is_the_height() -> None:
    for latitude in (-90, -33.9, 0, 52.5):
        here = orbits.place(latitude, 18.4)
        range_km, elevation_deg = orbits.seen(here, orbits.place(latitude, 18.4, 550e3).position_km)
        assert range_km == pytest.approx(550)
        assert elevation_deg == pytest.approx(90, abs=1e-5)


def test_the_elevation_is_that_of_the_triangle_on_the_equator() -> None:
    """Wertz and Larson, section 5.2, with the place, the satellite and the Earth's centre."""
    orbit_km = 6_928.137
    for apart_deg in (1.0, 8.0, 20.0, 100.0):
        apart = radians(apart_deg)
        _, found = orbits.seen(
            orbits.place(0, 0), (orbit_km * cos(apart), orbit_km * sin(apart), 0)
        )
        expected = atan2(cos(apart) - orbits.EQUATOR_KM / orbit_km, sin(apart))
        assert found == pytest.approx(degrees(expected))


def test_a_geostationary_satellite_has_a_delay_of_120_ms_a_leg(tmp_path: Path) -> None:
    """Above the place below it: 35,786 km up, and as far down. It stays where it is."""
    start = datetime(2019, 12, 9, 16, 38) - datetime(2000, 1, 1, 12)
    # Its right ascension at the epoch is that of the place at 18.4 degrees east.
    node = (degrees(orbits.sidereal_angle(start.total_seconds() / 86_400)) + 18.4) % 360
    text = made(90_001, 0, node, 0, 1.002_737_91)
    found = path(
        tmp_path,
        text,
        start="2019-12-09T16:38:00Z",
        terminal_latitude_deg=0,
        terminal_longitude_deg=18.4,
        stations_us=0,
    )
    delays = [row.delay_us for row in found.down.rows()]
    assert min(delays) == pytest.approx(2 * 35_786 / 299_792.458 * 1e6, abs=50)
    assert max(delays) - min(delays) < 5
    assert len(set(found.down.rates_bit_per_s)) == 1


def test_the_station_passes_over_its_place(tmp_path: Path) -> None:
    """Up and down in less than 10 minutes; nearest at less than 500 km; the same path again."""
    found = path(tmp_path, ISS, start="2019-12-09T16:38:10Z", duration_s=300, stations_us=1_000)
    rows = list(found.down.rows())
    assert found.down == found.up
    assert [row.time_us % 100_000 for row in rows] == [0] * len(rows)
    delays = [row.delay_us - 1_000 for row in rows]
    nearest = delays.index(min(delays))
    assert 0 < nearest < len(delays) - 1
    assert delays[:nearest] == sorted(delays[:nearest], reverse=True)
    assert delays[nearest:] == sorted(delays[nearest:])
    again = path(tmp_path, ISS, start="2019-12-09T16:38:10Z", duration_s=300, stations_us=1_000)
    assert again == found


def test_the_way_to_the_gateway_counts(tmp_path: Path) -> None:
    near = path(tmp_path, ISS)
    far = path(tmp_path, ISS, gateway_latitude_deg=47.0, gateway_longitude_deg=9.0)
    own = path(tmp_path, ISS, terminal_latitude_deg=47.0, terminal_longitude_deg=9.0)
    for both, one, other in zip(far.down.rows(), near.down.rows(), own.down.rows(), strict=True):
        assert abs(both.delay_us - (one.delay_us + other.delay_us) / 2) <= 1


def shell() -> str:
    """Three satellites on the plane of the station, each 8 degrees behind the one before."""
    return "".join(made(90_001 + n, 51.6439, 211.2001, 103.3 - 8 * n, 15.5) for n in range(3))


def test_the_highest_satellite_is_chosen_each_15_s(tmp_path: Path) -> None:
    found = path(tmp_path, shell(), start="2019-12-09T16:38:00Z", duration_s=400)
    rows = list(found.down.rows())
    outages = [row.time_us for row in rows if not row.rate_bit_per_s]
    assert outages
    assert all(time_us % 15_000_000 == 0 for time_us in outages)
    ends = [b.time_us - a.time_us for a, b in pairwise(rows) if not a.rate_bit_per_s]
    assert set(ends) == {50_000}
    first = path(
        tmp_path, shell(), start="2019-12-09T16:38:00Z", duration_s=400, first_us=4_000_000
    )
    changed = [row.time_us for row in first.down.rows() if not row.rate_bit_per_s]
    assert all(time_us % 15_000_000 == 4_000_000 for time_us in changed)


def test_a_satellite_that_sets_leaves_the_link_still(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        path(tmp_path, ISS, duration_s=600)
    said = str(caught.value)
    assert "topology.path.duration_s = 600: no satellite of some.tle is 10 degrees high" in said
    most = int(said.rpartition(" ")[2])
    rows = list(path(tmp_path, ISS, duration_s=most).down.rows())
    assert all(row.rate_bit_per_s for row in rows)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"start": "2019-12-09T16:30:00Z"}, "of the gateway; at 2019-12-09T16:38:"),
        ({"start": "2019-12-09T16:30:00Z", "least_elevation_deg": 89.9}, "; nor in the 86400 s"),
        ({"start": "2019-02-30T16:30:00Z"}, "start = 2019-02-30T16:30:00Z: there is no such mom"),
        ({"start": "2020-12-09T16:30:00Z"}, "366 days after the epoch of ISS (ZARYA) (some.tle, "),
        ({"duration_s": 86_400, "step_us": 1_000}, "step_us = 1000: the path would have 864000"),
    ],
)
def test_a_mistake_in_the_settings_is_told(
    tmp_path: Path, settings: dict[str, object], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        path(tmp_path, ISS, **settings)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("15.50103472", "15.50103473", "line 3: 2: the checksum must be 3"),
        (" 51.6439", "  51.644", 'line 3: "  51.644": the inclination (columns 9 to 16) is as'),
        ("19343.69", "1934x.69", 'line 2: "1934x.69339541": the epoch (columns 19 to 32) is as'),
        ("19343.69", "193 3.69", 'line 2: "193 3.69339541": the epoch (columns 19 to 32) is as'),
        (" 51.6439", "5 1.6439", 'line 3: "5 1.6439": the inclination (columns 9 to 16) is as'),
        ("2 25544", "2 25545", "line 3: 2: the checksum must be 3"),
        ("202482", "2024", "line 3: 2 25544"),
        ("1 25544U", "# 1 25544U", "must be line 1 of two-line elements"),
        (ISS[ISS.index("2 25544") :], "", "the file ends here: must be line 2 of two-line el"),
        (ISS, "", "some.tle: the file has no two-line elements"),
        (ISS, ISS + "NAME\n", "some.tle: the two lines behind NAME are missing"),
    ],
)
def test_a_mistake_in_the_elements_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in ISS
    with pytest.raises(UsageError) as caught:
        path(tmp_path, ISS.replace(old, new))
    assert said in str(caught.value)
    assert str(caught.value).startswith("topology.path: some.tle")


def test_a_satellite_that_has_fallen_is_told(tmp_path: Path) -> None:
    """Its orbit would be within the Earth."""
    with pytest.raises(UsageError, match=r"90001 has no position at 2019-12-09T16:38:30Z \(error"):
        path(tmp_path, made(90_001, 51.6, 211, 0, 17.9))


def test_without_the_library_the_command_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sgp4.api", None)
    tle.computed.cache_clear()
    with pytest.raises(MissingError, match=r"sgp4 is missing; run ./cellbed setup --library"):
        path(tmp_path, ISS)


def test_light_takes_its_time(tmp_path: Path) -> None:
    """The delay of the first row, from the positions of the library and the angle by hand."""
    [row, *_] = path(tmp_path, ISS, stations_us=7).down.rows()
    one = satellite(ISS)
    utc_us = (datetime(2019, 12, 9, 16, 38, 30) - datetime(2000, 1, 1, 12)) // sky.US
    range_km, _ = orbits.seen(orbits.place(48.2, 11.6), one.position_km(utc_us))
    assert row.delay_us == 7 + round(2 * range_km / 299_792.458 * 1e6)
    assert 0 <= orbits.sidereal_angle(utc_us / sky.US_PER_DAY) < 2 * pi


def test_the_cells_of_an_experiment_share_the_path(tmp_path: Path) -> None:
    one, again = (path(tmp_path, ISS) for _ in range(2))
    assert one is again
    other = path(tmp_path, ISS.replace("ISS", "ZARYA"))
    assert other == one and other is not one
