# SPDX-License-Identifier: GPL-2.0-only
"""The published result tables, as read from `reference/*.csv`. Standard library only."""

import csv
from functools import cache
from pathlib import Path

from analysis.errors import TableError

REFERENCE = Path(__file__).parent / "reference"

Cell = tuple[str, str, str, float]
"""(network, flavor, policy, buffer in round-trip times)."""


def read_table(name: str) -> list[dict[str, str]]:
    """Rows of `reference/NAME.csv`, column name -> text; raises TableError when there is none."""
    path = REFERENCE / f"{name}.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        known = ", ".join(sorted(entry.stem for entry in REFERENCE.glob("*.csv")))
        raise TableError(f"{path}: no such published table (known: {known})") from None


@cache
def paper_cells() -> dict[Cell, tuple[float, float]]:
    """The 72 cells of 98-0876R1, tables 4, 7 and 10: cell -> (efficiency, fairness)."""
    return {
        (row["network"], row["tcp_flavor"], row["drop_policy"], float(row["buffer_rtt"])): (
            float(row["efficiency"]),
            float(row["fairness"]),
        )
        for row in read_table("ubrplus_1998_results")
    }


def paper(
    network: str, flavor: str, policy: str, buffer: float | str
) -> tuple[float, float] | None:
    """Published (efficiency, fairness) of one cell of 98-0876R1; None where it has none.

    network: WAN, MEO or GEO; flavor: Vanilla, Reno, NewReno or SACK; policy: EPD or SD, all
    three in any case; buffer: 0.5, 1 or 2 round-trip times (number or its text).
    """
    try:
        wanted = (network.lower(), flavor.lower(), policy.lower(), float(buffer))
    except ValueError:
        return None
    return _paper_cells_lower().get(wanted)


PersistentCell = tuple[str, str, int, int]
"""(network, policy, buffer in cells, receiver window in bytes)."""


@cache
def persistent_cells() -> dict[PersistentCell, tuple[float, float]]:
    """The 20 rows of 96-0518R1, LAN and WAN: cell -> (efficiency, fairness), as fractions.

    The paper's EPD column becomes the policy: Y is EPD, N is plain; N/A, where no cell is lost
    and a policy has nothing to do, is plain too.
    """
    return {
        (
            row["network"],
            "EPD" if row["epd"] == "Y" else "plain",
            int(row["buffer_cells"]),
            int(row["receiver_window_bytes"]),
        ): (float(row["efficiency_percent"]) / 100, float(row["fairness"]))
        for row in read_table("ubr_1996_results")
    }


def paper_persistent(
    network: str, policy: str, buffer_cells: int, window_bytes: int
) -> tuple[float, float] | None:
    """Published (efficiency, fairness) of one row of 96-0518R1; None where it has none."""
    return persistent_cells().get((network, policy, buffer_cells, window_bytes))


@cache
def _paper_cells_lower() -> dict[Cell, tuple[float, float]]:
    return {
        (network.lower(), flavor.lower(), policy.lower(), buffer): values
        for (network, flavor, policy, buffer), values in paper_cells().items()
    }
