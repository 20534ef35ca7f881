# SPDX-License-Identifier: GPL-2.0-only
"""What a report says of each factor's effect, and the figure that shows it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from analysis.records import read_campaign
from analysis.report import effects, summary
from analysis.report.overview import overview
from analysis.report.results import Results, results_of
from analysis.statistics import estimate
from analysis.study import GENERIC, NONE
from tests.analysis import synthetic

# Efficiency: 0.1 for SACK, and 0.2 for a large buffer with EPD alone.
CELLS = {
    ("WAN", flavor, policy, buffer): (
        0.5 + 0.1 * (flavor == "SACK") + 0.2 * (buffer == 2.0) * (policy == "EPD"),
        0.9,
    )
    for flavor in ("Vanilla", "SACK")
    for policy in ("EPD", "SD")
    for buffer in (0.5, 2.0)
}


def measured(folder: Path, seeds: Sequence[int], noise: float) -> Results:
    synthetic.write_campaign(folder / "campaign", cells=CELLS, seeds=seeds, noise=noise)
    return results_of(read_campaign(folder / "campaign"), NONE, {})


def told(results: Results, *words: str) -> str:
    (found,) = (one for one in effects.sentences(results) if all(word in one for word in words))
    return found


def test_an_effect_has_its_size_and_interval(tmp_path: Path) -> None:
    results = measured(tmp_path, range(1, 11), 0.001)
    found = re.fullmatch(
        r"With flavor SACK instead of Vanilla, efficiency is higher by (0\.\d+) ± (0\.\d+)"
        r" on average\.",
        told(results, "With flavor", "efficiency"),
    )
    assert found is not None
    assert abs(float(found[1]) - 0.1) < 0.002
    assert 0 < float(found[2]) < 0.002


def test_an_effect_says_what_it_depends_on(tmp_path: Path) -> None:
    sentence = told(measured(tmp_path, range(1, 6), 0.001), "With buffer", "efficiency")
    assert sentence.startswith("With buffer 0.5 instead of 2, efficiency is lower by 0.1")
    low, high = re.findall(r"policy (?:EPD|SD): ([+−]?\d\.\d+)", sentence)
    assert low.startswith("−0.2") or low.startswith("−0.19")
    assert abs(float(high.replace("−", "-"))) < 0.01


def shaped(folder: Path, values: dict[tuple[str, float], float], noise: float) -> Results:
    """Measured efficiencies by policy and buffer, with three seeds."""
    cells = {("WAN", "SACK", *key): (value, 0.9) for key, value in values.items()}
    synthetic.write_campaign(folder / "campaign", cells=cells, seeds=[1, 2, 3], noise=noise)
    return results_of(read_campaign(folder / "campaign"), NONE, {})


def test_an_effect_that_a_large_buffer_ends_says_so(tmp_path: Path) -> None:
    """Three levels, three seeds: the smallest gain surely differs from the largest."""
    gains = {0.5: 0.042, 1.0: 0.03, 2.0: 0.002}
    values = {(policy, buffer): 0.9 + gain * (policy == "EPD")
              for buffer, gain in gains.items() for policy in ("SD", "EPD")}  # fmt: skip
    sentence = told(shaped(tmp_path, values, 0.001), "With policy", "efficiency")
    assert [f"buffer {level:g}: " in sentence for level in gains] == [True] * 3


def test_middle_levels_outside_the_ends_are_compared(tmp_path: Path) -> None:
    values = {("EPD", 0.5): 0.95, ("EPD", 1.0): 0.85, ("EPD", 2.0): 0.951}
    sentence = told(shaped(tmp_path, values, 0.001), "With buffer", "efficiency")
    assert sentence.startswith("With buffer 1 instead of 2, efficiency is lower by 0.1")


def test_no_effect_is_said_to_be_none(tmp_path: Path) -> None:
    """Of many seeds' noise one interval in twenty leaves out 0: one response, not all."""
    results = measured(tmp_path, range(1, 11), 0.01)
    fairness = [one for one in effects.sentences(results) if "fairness" in one]
    assert sum("fairness does not change measurably" in one for one in fairness) >= 2


@pytest.mark.parametrize(("seeds", "words"), [([1], "--seeds 5"), ([1, 2, 3], "equal figures")])
def test_without_an_interval_the_report_says_why(
    tmp_path: Path, seeds: Sequence[int], words: str
) -> None:
    results = measured(tmp_path, seeds, 0.0)
    assert told(results, words)
    assert "±" not in " ".join(effects.sentences(results))


def test_a_missing_trial_makes_no_effect_sure(tmp_path: Path) -> None:
    measured(tmp_path, [1, 2], 0.001)
    missing = next((tmp_path / "campaign" / "trials").glob("*sack*-2"))
    shutil.rmtree(missing)
    results = results_of(read_campaign(tmp_path / "campaign"), NONE, {})
    said = effects.sentences(results)
    assert said[-1] == "There are no intervals, because trials are missing."
    assert all("is higher" not in one and "is lower" not in one for one in said)
    assert sum("differs by" in one and "Trials are missing" in one for one in said) == len(said) - 1


def test_a_change_that_is_printed_as_0_is_none(tmp_path: Path) -> None:
    cells = {key: (0.5 + 1e-7 * (key[1] == "SACK"), 0.9) for key in CELLS}
    synthetic.write_campaign(tmp_path / "campaign", cells=cells, seeds=[1], noise=0.0)
    results = results_of(read_campaign(tmp_path / "campaign"), NONE, {})
    assert "does not change measurably" in told(results, "With flavor", "efficiency")


def test_a_large_change_has_its_commas() -> None:
    """A form such as ",.1f" writes a comma between thousands, which no number can be read with."""
    large = replace(GENERIC[0], name="work", form=",.1f")
    found = effects.Effect(
        response=large, factor="queue.policy", new="epd", old="plain",
        change=estimate([-1546.1]), averaged=False,
    )  # fmt: skip
    study = SimpleNamespace(level=lambda _, level: level)
    results = cast("Results", SimpleNamespace(study=study, factors=["queue.policy"]))
    said = effects._sentence(results, found)  # noqa: SLF001
    assert said == "With epd instead of plain, work is lower by 1,546.1."


def test_a_figure_for_each_response(tmp_path: Path) -> None:
    plots = overview(measured(tmp_path, [1, 2], 0.001))
    assert {plot.title.partition(" (")[0] for plot in plots} == {one.title for one in GENERIC}
    assert all(re.search(r"0\.5: 0\.\d{4}, 2: 0\.\d{4}", plot.alt) for plot in plots)


@pytest.mark.parametrize(
    ("means", "said"),
    [
        ([0.7], ["Efficiency is 0.7000 (buffer 1 cells)."]),
        ([0.70001, 0.70002], ["Efficiency is 0.7000 in all combinations of levels."]),
        ([0.7, 0.8], [
                "Efficiency lies between 0.7000 (buffer 1 cells) and 0.8000 (buffer 2 cells)."
            ]),
    ],
)
@pytest.mark.parametrize("seeds", [1, 2])
def test_the_summary_does_not_name_two_extremes_where_there_is_one(
    means: list[float], said: list[str], seeds: int
) -> None:
    cells = [
        SimpleNamespace(
            levels={"queue.buffer_cells": str(number)},
            mean=lambda _, mean=mean: mean,
            trials=(None,) * seeds,
        )
        for number, mean in enumerate(means, 1)
    ]
    of_study = SimpleNamespace(means=[GENERIC[0]])
    if seeds > 1:
        said = [one.replace("Efficiency", "The mean efficiency") for one in said]
    assert summary.extremes(cast("Results", SimpleNamespace(study=of_study, cells=cells))) == said


@pytest.mark.parametrize(
    ("width", "form", "said"),
    [(0.0123, ".4f", "0.0123"), (0.00001, ".4f", "less than 0.0001"), (0.2, ",.0f", "less than 1")],
)
def test_a_half_width_is_never_printed_as_0(width: float, form: str, said: str) -> None:
    assert effects.half_text(width, form) == said
