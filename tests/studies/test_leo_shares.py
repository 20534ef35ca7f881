# SPDX-License-Identifier: GPL-2.0-only
"""The intervals of shares of variation, and what rests on BBR."""

import csv
import shutil
import tomllib
from pathlib import Path
from statistics import fmean

import pytest

from analysis.kept import Kept
from analysis.report.readme import with_tables
from analysis.statistics import estimate
from analysis.table import Table
from harness.judge import studies
from studies.leo import shares

FOLDER = studies.folder("leo")


def numbers(table: Table) -> list[float]:
    return table.numbers("efficiency")


def test_the_jackknife_of_a_mean_is_the_t_interval_of_the_seeds_means() -> None:
    trials = Kept(FOLDER / "results").table(shares.CAMPAIGN, "trials")
    found = shares.jackknife(trials, lambda some: fmean(numbers(some)))
    means = [fmean(numbers(trials.where("seed", seed))) for seed in trials.levels("seed")]
    wanted = estimate(means)
    assert (found.n, found.mean) == (10, pytest.approx(wanted.mean))
    assert found.half_width == pytest.approx(wanted.half_width)


def test_the_limit_is_that_of_the_claim() -> None:
    claims = tomllib.loads((FOLDER / "claims.toml").read_text())["claim"]
    [limit] = [one["percent"] for one in claims if one["id"] == "ubr-policy-negligible"]
    assert limit == shares.LIMIT


@pytest.mark.parametrize(
    ("policy", "by", "message"),
    [
        ("EPD", 0.002, "does not need this cell"),
        ("SD", 0.01, " Each interval is wholly above"),
    ],
)
def test_what_no_longer_rests_on_bbr_or_is_not_sure_is_not_written(
    tmp_path: Path, policy: str, by: float, message: str
) -> None:
    """With one policy, the other senders are less fair, too."""
    study = Path(shutil.copytree(FOLDER, tmp_path / "leo"))
    path = study / "results" / shares.CAMPAIGN / "trials.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["sender"] != "BBR" and row["policy"] == policy:
            row["fairness"] = str(float(row["fairness"]) - by)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    others = shares.without_bbr(Kept(study / "results"))
    assert float(others["others_policy_percent"] or 0) > shares.LIMIT
    text = " ".join(with_tables(studies.find("leo"), study).split())
    assert message not in text and message in " ".join((FOLDER / "README.md").read_text().split())
