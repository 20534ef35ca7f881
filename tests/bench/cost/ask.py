# SPDX-License-Identifier: GPL-2.0-only
"""What to ask a batch system for: processor time and memory of typical trials.

    python -m tests.bench.cost.ask [TURNS]

in the project's environment. It runs each trial TURNS times (3), from command to table in one lab,
and writes the largest values into the table of docs/cluster.md.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence

from tests.bench.cost.run import NEW, PR_SET_CHILD_SUBREAPER, Cost, command
from tests.bench.cost.words import words

PAGE = NEW / "docs" / "cluster.md"
TABLE = re.compile(r"(?<=<!-- tests\.bench\.cost\.ask -->\n).*?(?=<!-- end -->)", re.DOTALL)
HEAD = "| trial | CPU s | MiB |\n| --- | --- | --- |\n"
WWW = "studies/ubrplus_1998/ubrplus-www.toml"
CELL = ("flavor=SACK", "policy=EPD", "buffer=1")
TRIALS: dict[str, tuple[str, Sequence[str]]] = {
    "3 pairs, 10 Mbit/s, 8 virtual seconds": ("tests/fresh/small.toml", ()),
    "100 pairs, 45 Mbit/s, a geostationary satellite, 99 virtual seconds": (
        WWW,
        ("network=GEO", *CELL),
    ),
    "100 pairs, 45 Mbit/s, a wide-area network, 106 virtual seconds": (WWW, ("network=WAN", *CELL)),
}


def costs(file: str, levels: Sequence[str], turns: int) -> list[Cost]:
    """Of a trial, once a turn."""
    only = [word for level in levels for word in ("--only", level)]
    return [command(NEW, "run", file, *only, "--seeds", "1", "--jobs", "1") for _ in range(turns)]


def line(what: str, found: Sequence[Cost]) -> str:
    """A row: the most of all turns."""
    cpu_s, memory = max(c.cpu_s for c in found), max(c.memory_mib for c in found)
    return f"| {what} | {cpu_s:.1f} | {memory:.0f} |\n"


def main(turns: int = 3) -> None:
    """Measure, and write the table."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    rows = [line(what, costs(*trial, turns)) for what, trial in TRIALS.items()]
    load = os.getloadavg()[0]
    said = f"The largest of {turns} turns, at a load of {load:.0f} at the end:\n\n"
    text = said + HEAD + "".join(rows)
    print(text)
    PAGE.write_text(TABLE.sub(lambda _: text, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, words(__doc__)))
