# SPDX-License-Identifier: GPL-2.0-only
"""Seeds that left the same record are said to be no replicates."""

import json
import warnings
from pathlib import Path

import pytest

from analysis import anova_cli, replicates
from analysis.cells import Cell, cells_of
from analysis.errors import TableError
from analysis.records import read_campaign
from analysis.report.results import results_of
from analysis.report.summary import in_short
from analysis.study import NONE
from harness.cli.result_table import replicates_that_are_none
from tests.analysis import synthetic

CELLS = {
    ("WAN", "SACK", policy, 1.0): (value, 0.9) for policy, value in (("EPD", 0.8), ("SD", 0.7))
}
SENTENCE = "all seeds left the same figures. Such a combination counts as one observation"


def cells(folder: Path, noise: float, with_series: bool = False) -> tuple[Cell, ...]:
    synthetic.write_campaign(
        folder, seeds=(1, 2, 3), noise=noise, cells=CELLS, with_series=with_series
    )
    return cells_of(read_campaign(folder).trials)


def test_equal_records_have_no_interval(tmp_path: Path) -> None:
    for cell in cells(tmp_path, noise=0):
        found = cell.estimate("efficiency")
        assert cell.one_record and found is not None
        assert (found.n, found.half_width) == (3, None)


def test_records_that_differ_have_one(tmp_path: Path) -> None:
    for cell in cells(tmp_path, noise=0.01):
        found = cell.estimate("efficiency")
        assert not cell.one_record and found is not None and found.half_width


def test_equal_metrics_of_other_flows_are_one_observation(tmp_path: Path) -> None:
    """The table of `run` knows only the metrics, and a report must say the same."""
    first, second = cells(tmp_path, noise=0)
    (second.trials[1].folder / "flows.csv").write_text("pair,bytes\n1,7\n")
    assert replicates.left_the_same(first.trials)
    assert replicates.left_the_same(second.trials)
    assert not replicates.left_the_same(first.trials[:1])


@pytest.mark.parametrize(("noise", "said"), [(0, True), (0.01, False)])
def test_the_table_says_it(noise: float, said: bool, tmp_path: Path) -> None:
    trials = [trial for cell in cells(tmp_path, noise) for trial in cell.trials]
    documents = [{"factors": dict(one.factors), "metrics": one.metrics} for one in trials]
    assert (SENTENCE in replicates_that_are_none(documents)) == said
    assert replicates_that_are_none(documents[:1]) == ""


@pytest.mark.parametrize(("noise", "said"), [(0, True), (0.01, False)])
def test_the_report_says_itin_short(noise: float, said: bool, tmp_path: Path) -> None:
    cells(tmp_path, noise)
    told = in_short(results_of(read_campaign(tmp_path), NONE, {}), NONE)
    assert (f"In 2 of 2 combinations of levels, {SENTENCE}" in told[-1]) == said


ROWS = "flavor,seed,eff\n" + "".join(
    f"{flavor},{seed},{value}\n" for flavor, value in (("a", 0.1), ("b", 0.3)) for seed in (1, 2, 3)
)


def test_anova_refuses_and_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(ROWS)
    with pytest.raises(TableError) as caught:
        anova_cli.run(str(path), response="eff", factors=["flavor"])
    assert str(caught.value).startswith(f"{path}: all rows with the same levels have the same eff")
    assert "workload.start_jitter_us" in str(caught.value) and "\n" not in str(caught.value)
    two = tmp_path / "two.csv"
    two.write_text("trial,flavor,queue,seed,eff\n" + "".join(
        f"t,{flavor},{queue},{seed},{0.1 * at + 0.2 * place}\n"
        for at, flavor in enumerate("ab") for place, queue in enumerate("xy") for seed in (1, 2)
    ))  # fmt: skip
    for factors in (["flavor"], ["flavor", "seed"]):
        with pytest.raises(TableError, match="the seeds changed nothing"):
            anova_cli.run(str(two), response="eff", factors=factors)


SOME_EQUAL = "trial,network,flavor,seed,eff\n" + "".join(
    f"t,WAN,{flavor},{seed},{value}\n"
    for flavor, values in (
        ("a", (0.5, 0.5, 0.5)),
        ("b", (0.30, 0.33, 0.31)),
        ("c", (0.7, 0.6, 0.8)),
    )
    for seed, value in enumerate(values, 1)
)


def test_one_combination_without_spread_allows_no_test(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text(SOME_EQUAL)
    text = anova_cli.run(str(path), response="eff", factors=["flavor"])
    told = " ".join(text.split())
    assert "Warning: all rows have the same eff in: flavor=a. F, p and the confidence" in told
    flavor, *_ = [line.split() for line in text.splitlines() if line.split()[:1] == ["flavor"]]
    assert len(flavor) == 4  # sum of squares, share and degrees of freedom; neither F nor p
    assert "confidence intervals (* excludes 0)" not in text and "-0.0044" in text
    document = json.loads(
        anova_cli.run(str(path), response="eff", factors=["flavor"], as_json=True)
    )
    assert document["without_spread"] == ["flavor=a"]
    assert document["components"][0]["p"] is document["effects"][0]["low"] is None
    path.write_text(SOME_EQUAL.replace("a,2,0.5", "a,2,0.51"))
    text = anova_cli.run(str(path), response="eff", factors=["flavor"])
    assert "Warning: all rows" not in text and text.splitlines()[-1].endswith("*")
    document = json.loads(
        anova_cli.run(str(path), response="eff", factors=["flavor"], as_json=True)
    )
    assert "without_spread" not in document and document["components"][0]["p"] < 0.05


def test_no_warning_of_a_library_is_printed(tmp_path: Path) -> None:
    """The test of equal variances divides by 0 if distances from the medians are equal."""
    equal, even = tmp_path / "equal.csv", tmp_path / "even.csv"
    equal.write_text(ROWS)
    even.write_text("flavor,eff\n" + "".join(
        f"{flavor},{value + sign * (1 + value) / 10}\n"
        for flavor, value in (("a", 0.1), ("b", 0.3)) for sign in (1, 1, -1, -1)
    ))  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "Allocation" in anova_cli.run(str(even), response="eff", factors=["flavor"])
        with pytest.raises(TableError, match="the seeds changed nothing"):
            anova_cli.run(str(equal), response="eff", factors=["flavor"])
