# SPDX-License-Identifier: GPL-2.0-only
"""examples/shell.tle: `python -m tests.shell` writes it. Its satellites do not exist.

The shell has the shape of Starlink's first shell: 72 planes of 22 satellites, inclined by 53
degrees, 550 km high (application to the Federal Communications Commission, SAT-MOD-20190830-00087).
The file has only the satellites that the example can use in its time.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from harness.design.propagator import propagator
from plan.elements import checksum, read
from plan.path import US_PER_S
from plan.paths import tle
from tests.small import PROJECT

FILE = PROJECT / "examples" / "shell.tle"
EXAMPLE = PROJECT / "examples" / "shell.toml"
PLANES, IN_PLANE, INCLINATION, PHASE = 72, 22, 53.0, 17
REVOLUTIONS = 15.055  # in a day, at a height of 550 km
HEAD = """\
# SPDX-License-Identifier: GPL-2.0-only
# Satellites that do not exist: a part of an artificial shell (python -m tests.shell).
"""


def made(number: int, node: float, anomaly: float) -> str:
    """The lines of a satellite on a circular orbit; the epoch is 9 December 2019, 16:38 UTC."""
    lines = (
        f"1 {number:05d}U 19999A   19343.69305556  .00000000  00000-0  00000-0 0  999",
        f"2 {number:05d} {INCLINATION:8.4f} {node:8.4f} 0000000   0.0000 {anomaly:8.4f}"
        f" {REVOLUTIONS:11.8f}    0",
    )
    return "".join(f"{line}{checksum(line)}\n" for line in lines)


def shell() -> Iterator[str]:
    """Each satellite of the shell. Each plane is ahead of the plane before by a part of a gap."""
    for plane in range(PLANES):
        for place in range(IN_PLANE):
            anomaly = 360 * (place / IN_PLANE + PHASE * plane / PLANES / IN_PLANE) % 360
            yield made(90_001 + plane * IN_PLANE + place, 360 * plane / PLANES, anomaly)


def used() -> str:
    """The file: the satellites that are ever high enough for both places."""
    path = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))["base"]["topology"]["path"]
    settings = tle.Settings(**{key: value for key, value in path.items() if key != "kind"})
    text = HEAD
    for lines in shell():
        sky = settings.sky(lines.splitlines(), propagator)
        [one] = sky.satellites
        times = range(0, settings.duration_s * US_PER_S, US_PER_S)
        if any(sky.view(one, time_us).high_enough for time_us in times):
            text += lines
    return text


if __name__ == "__main__":
    FILE.write_text(used(), encoding="utf-8")
    print(len(read(FILE.name, FILE.read_text(encoding="utf-8").splitlines())), "satellites")
