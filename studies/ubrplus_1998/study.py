# SPDX-License-Identifier: GPL-2.0-only
"""98-0876R1: M. Goyal, R. Goyal, Jain, Vandalore, Fahmy, vonDeak, Bhasin, Kota, Butts,
"Performance Analysis of TCP Enhancements for WWW Traffic using UBR+ with Limited Buffers over
Satellite Links", ATM Forum, December 1998: four TCP flavors, three buffers, two drop policies.

published/results.csv has its tables 4, 7 and 10; allocation_of_variation.csv tables 5, 8 and 11;
main_effects.csv tables 6, 9 and 12 (90 % intervals). The second and third follow from the first
to the printed digit, but for 20 of 258 figures whose last digit is cut off where rounding would
raise it; tests/studies/test_ubrplus_1998.py computes all of them.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from analysis.study import Study
from analysis.table import read_csv
from plan.plan import Plan
from studies.ubrplus_1998.simulation import PREDICTIONS

FOLDER = Path(__file__).parent
CELL = {
    "network": ("WAN", "MEO", "GEO"),
    "flavor": ("Vanilla", "Reno", "NewReno", "SACK"),
    "policy": ("EPD", "SD"),
    "buffer": ("0.5", "1", "2"),
}
"""Its factors and their levels: the networks, and its table 3."""


@cache
def results() -> dict[tuple[str, ...], dict[str, float]]:
    """Its 72 cells: (network, flavor, policy, buffer in round-trip times) -> responses."""
    columns = ("network", "tcp_flavor", "drop_policy", "buffer_rtt")
    return {
        tuple(row[column] for column in columns): {
            name: float(row[name]) for name in ("efficiency", "fairness")
        }
        for row in read_csv(FOLDER / "published" / "results.csv").rows
    }


@cache
def _in_any_case() -> dict[tuple[str, ...], dict[str, float]]:
    return {tuple(map(str.casefold, levels)): values for levels, values in results().items()}


def published(levels: Mapping[str, str], plan: Plan) -> Mapping[str, float] | None:
    """Its figures for a cell, whatever case the levels are written in."""
    del plan
    return _in_any_case().get(tuple(levels.get(factor, "").casefold() for factor in CELL))


STUDY = Study(
    id="ubrplus_1998",
    title="TCP enhancements for WWW traffic using UBR+",
    source="98-0876R1",
    cell=CELL,
    units={"buffer": "RTT"},
    by="network",
    anova=("flavor", "buffer", "policy"),
    about=(
        "Efficiency is the sum of the clients' throughputs over the link's maximum TCP "
        "throughput; fairness is Jain's index over throughput / max-min fair share "
        "(98-0876R1, section 7)."
    ),
    published=published,
    published_cells=tuple(
        (dict(zip(CELL, levels, strict=True)), values) for levels, values in results().items()
    ),
    predictions=PREDICTIONS,
    path="step",
    claims=FOLDER / "claims.toml",
    model="studies.ubrplus_1998.model",
    witness="studies.ubrplus_1998.ns3.witness",
    pages="studies.ubrplus_1998.pages",
)
