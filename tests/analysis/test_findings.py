# SPDX-License-Identifier: GPL-2.0-only
"""Direction and size of a claim, Holm's rule among its figures, and the published cells outside."""

import csv
from pathlib import Path
from typing import Any

import pytest

from analysis.cells import Cell
from analysis.claims import Evidence, Finding, Method, Verdict
from analysis.claims.checks import CHECKS
from analysis.claims.findings import Figure, Side, bounded, intervals, sure_sides
from analysis.contrasts import contrast
from analysis.draws import outside, outside_kept
from analysis.records import read_campaign
from analysis.report import write_report
from studies.ubrplus_1998.study import STUDY
from tests.analysis import synthetic


def cell(flavor: str, values: list[float], published: float, **more: str) -> Cell:
    levels = {"network": "WAN", "flavor": flavor, "policy": "EPD", "buffer": "1"} | more
    return Cell(
        levels=levels,
        metrics={"efficiency": dict(enumerate(values, start=1))},
        published={"efficiency": published},
    )


def found(cells: list[Cell], **more: Any) -> Finding:
    parameters = {
        "where": {}, "response": "efficiency", "of": {"flavor": ["SACK"]},
        "minus": {"flavor": ["Reno"]}, "at_least": 0.0, **more,
    }  # fmt: skip
    return CHECKS["difference"](Evidence(cells, STUDY, Method.REPLICATIONS), **parameters)


RENO = [0.70, 0.60, 0.80, 0.66]
# Differences 0.10, 0.12, 0.08, 0.14: mean 0.11, s 0.025820, t[0.975; 3] 3.182446; the interval of
# the mean is ± 0.041084, that of one draw ± 0.091866.
SACK = [0.80, 0.72, 0.88, 0.80]


@pytest.mark.parametrize(
    ("published", "size"),
    [
        (0.20, Verdict.HOLDS),
        (0.2017, Verdict.HOLDS),
        (0.2022, Verdict.FAILS),
        (-0.1, Verdict.FAILS),
    ],
)
def test_size_is_of_one_draw_and_direction_of_the_mean(published: float, size: Verdict) -> None:
    told = found([cell("Reno", RENO, 0.5), cell("SACK", SACK, 0.5 + published)])
    assert told.evidence == "+0.1100 ± 0.0411 (paired by seed), at least 0"
    assert told.direction is not None and told.direction.verdict is Verdict.HOLDS
    assert told.size is not None and told.size.verdict is size
    assert "one seed of ours +0.0181 to +0.2019" in told.size.evidence


def test_the_direction_may_be_the_other_one_or_unsure() -> None:
    wrong = found([cell("Reno", SACK, 0.5), cell("SACK", RENO, 0.5)])
    assert wrong.direction is not None and wrong.direction.verdict is Verdict.FAILS
    unsure = found([cell("Reno", RENO, 0.5), cell("SACK", [0.8, 0.5, 0.9, 0.6], 0.5)])
    assert unsure.direction is not None and unsure.direction.verdict is Verdict.UNDECIDED
    assert (
        found([cell("Reno", RENO, 0.5), cell("SACK", SACK, 0.5)], at_least=-1.0).direction is None
    )


def figure(values: list[float], side: Side = Side.ABOVE) -> Figure:
    measured = contrast([(1.0, dict(enumerate(values)))])
    return Figure(name="", measured=measured, side=side)


def test_figures_of_one_claim_are_a_family() -> None:
    """t = 3.5 with 3 degrees of freedom: p = 0.0395; two of them, 0.0790 by Holm."""
    # Mean 1, s / sqrt(4) = 2 / 7: values 1 ± a, twice each, a = 2 / 7 * sqrt(3).
    a = 2 / 7 * 3**0.5
    alone = figure([1 - a, 1 + a, 1 - a, 1 + a])
    assert alone.measured.p_against(0) == pytest.approx(0.03948, abs=2e-5)
    assert bounded([alone], [(0.0, None)]) is Verdict.HOLDS
    assert bounded([alone, alone], [(0.0, None)] * 2) is Verdict.UNDECIDED
    both = Finding(verdict=Verdict.HOLDS, evidence="", figures=[alone, alone])
    assert both.direction is not None and both.direction.verdict is Verdict.UNDECIDED
    assert "Holm over these 2" in both.direction.evidence


def test_a_figure_without_a_test_counts_in_the_family() -> None:
    """The same t, and a figure that is infinite in a trial: again 0.0790 by Holm."""
    a = 2 / 7 * 3**0.5
    one = [figure([1 - a, 1 + a, 1 - a, 1 + a])]
    assert (sure_sides(one), sure_sides(one, 1)) == ([Side.ABOVE], [Side.NEITHER])
    assert intervals(one).endswith("(paired by seed)")
    assert intervals(one, 1).endswith("(paired by seed; Holm over these 1 and 1 more)")


def test_one_seed_has_neither() -> None:
    told = found([cell("Reno", RENO[:1], 0.5), cell("SACK", SACK[:1], 0.6)])
    assert told.direction is not None and told.direction.verdict is Verdict.ONE_SEED
    assert told.size is not None and told.size.verdict is Verdict.ONE_SEED


def test_published_cells_that_one_seed_could_not_have_given() -> None:
    # RENO: mean 0.69, s 0.084063; one draw 0.69 ± 0.299105, so from 0.390895 to 0.989105.
    cells = [cell("Reno", RENO, value) for value in (0.390, 0.391, 0.989, 0.990, 0.9893)]
    cells.append(cell("Reno", RENO[:1], 0.0))
    told = outside(cells, "efficiency")
    assert told is not None
    assert [one.published["efficiency"] for one in told.outside] == [0.390, 0.990, 0.9893]
    assert (told.cells, told.single) == (5, 1) and told.by_chance == pytest.approx(0.25)
    rounded = outside(cells, "efficiency", known_to=0.0005)
    assert rounded is not None and len(rounded.outside) == 2
    assert outside([cell("Reno", RENO, 0.5)], "fairness") is None


def test_the_report_and_its_tables_have_both(tmp_path: Path) -> None:
    wan = {c: v for c, v in synthetic.paper_cells().items() if c[0] == "WAN"}
    synthetic.write_campaign(tmp_path, seeds=(1, 2, 3), cells=wan)
    written = write_report(read_campaign(tmp_path), STUDY)

    def table(name: str) -> dict[str, dict[str, str]]:
        with (written.tables / f"{name}.csv").open(newline="") as stream:
            return {row.get("id") or row["response"]: row for row in csv.DictReader(stream)}

    claims = table("claims")
    assert claims["wan-efficiency-newreno-sack-above"]["direction"] == "holds"
    assert claims["wan-efficiency-newreno-sack-above"]["size"] == "holds"
    assert claims["wan-efficiency-newreno-sack-alike"]["direction"] == ""
    assert "Holm over these 4" in claims["wan-efficiency-newreno-sack-above"]["direction_evidence"]
    assert "published" in claims["wan-efficiency-flavor-largest"]["size_evidence"]
    cells = table("one-draw")["efficiency"]
    assert (cells["cells"], cells["one_seed"]) == ("24", "0") and int(cells["outside"]) <= 5
    assert "of the 72 combinations" in written.markdown.read_text()


def test_the_report_of_a_whole_campaign_counts_directions(tmp_path: Path) -> None:
    synthetic.write_campaign(tmp_path, seeds=(1, 2, 3))
    written = write_report(read_campaign(tmp_path), STUDY)
    assert "claims say in which direction" in written.markdown.read_text()


def test_the_same_of_kept_cells() -> None:
    """As above: the mean's interval is ± 0.133764 (t * s / 2), that of one draw ± 0.299105."""
    row = {"seeds": "4", "efficiency_published": "x", "efficiency_half_width": "0.133764"}
    rows = [{**row, "efficiency_difference": text} for text in ("-0.2990", "0.2992", "0.31")]
    rows.append({**row, "efficiency_published": "", "efficiency_difference": ""})
    rows.append({**row, "efficiency_half_width": "", "efficiency_difference": "0.9"})
    assert outside_kept(rows, "efficiency") == (3, 2)
    assert outside_kept(rows, "efficiency", known_to=0.0005) == (3, 1)
