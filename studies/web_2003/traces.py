# SPDX-License-Identifier: GPL-2.0-only
"""How much a single response weighs in the traces of the long trials (web.toml).

    ./cellbed python -m studies.web_2003.traces 10

draws the traces of the seeds 1 to 10 at the slides' loads, and writes a line for each into
results/web/traces.csv. A response is heavy where it adds more than HEAVY % of the link to the load
of its direction.
"""

import csv
import sys
from collections.abc import Mapping
from pathlib import Path

from analysis.kept import Kept
from analysis.report.model import Sheet, Value, listed, plain
from analysis.report.sentences import Numbers
from studies.web_2003.abstract import SLIDES, WHOLE
from workload.packmime.calibrate import DIRECTIONS, calibrate
from workload.packmime.traffic import Traffic
from workload.packmime.wire import to_client

NAME = "traces"
COLUMNS = ("load", "seed", "direction", "offered_percent", "largest_bytes", "largest_percent")
"""`largest_percent`: what the largest response adds to the load of its direction [% of the link]"""
MB = 1_000_000
HEAVY = 10
"""What a response must add to the load of its direction to be named [% of the link]."""


def traffic(load: str) -> Traffic:
    """Of web.toml at a load."""
    return Traffic(load_percent=float(load), cells=True)


def largest(load: str, seed: int) -> Mapping[str, str]:
    """The line of a trace: its direction is that of the response that adds most to the load."""
    params = traffic(load)
    found = calibrate(params, seed)
    sides = zip(DIRECTIONS, (found.down, found.up), found.offered_percent, strict=True)
    capacity = params.rate_bit_per_s / 8 * found.duration_s
    lines = []
    for direction, side, offered in sides:
        sent = to_client(side.request_bytes, side.response_bytes, params)
        most = int(sent.argmax())
        lines.append((100 * int(sent[most]) / capacity, direction, offered,
                      int(side.response_bytes[most])))  # fmt: skip
    added, direction, offered, size = max(lines)
    values = (load, seed, direction, f"{offered:.3f}", size, f"{added:.3f}")
    return dict(zip(COLUMNS, map(str, values), strict=True))


def write(path: Path, seeds: int) -> str:
    """Write the lines of the seeds from 1 on at both loads; tell how many there are."""
    lines = [largest(load, seed) for load in SLIDES for seed in range(1, seeds + 1)]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(lines)
    return f"{path} has {len(lines)} traces now."


def sheet(kept: Kept) -> Sheet:
    """The largest response of each seed, and what it adds to the load of its direction."""
    rows: list[list[Value]] = [
        [row["seed"], f"{row['load']} %", row["direction"], float(row["largest_bytes"]) / MB,
         float(row["largest_percent"])]
        for row in kept.table(WHOLE, NAME).rows
    ]  # fmt: skip
    heads = [("largest response (MB)", ",.1f"), ("it adds to the load (%)", ".1f")]
    return plain(rows, "seed", "load", "its direction", *heads)


def numbers(kept: Kept) -> Numbers:
    """The heaviest response at 105 %, and what the other seeds have."""
    rows = [row for row in kept.table(WHOLE, NAME).rows if row["load"] == SLIDES[-1]]
    rows.sort(key=lambda row: float(row["largest_percent"]), reverse=True)
    first = rows[0]
    heavy = sorted(int(row["seed"]) for row in rows if float(row["largest_percent"]) > HEAVY)
    return {
        "seeds": len(rows),
        "seed": first["seed"],
        "megabytes": float(first["largest_bytes"]) / MB,
        "added": float(first["largest_percent"]),
        "without": float(first["offered_percent"]) - float(first["largest_percent"]),
        "heavy": len(heavy),
        "which": listed(map(str, heavy)),
    }


if __name__ == "__main__":
    print(write(Path(__file__).parent / "results" / WHOLE / f"{NAME}.csv", int(sys.argv[1])))
