# SPDX-License-Identifier: GPL-2.0-only
"""The sentences on one change alone, and on single trials: not written where they are not true."""

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.kept import Kept
from analysis.report.readme import with_tables
from harness.judge import studies
from studies.ubr_1996 import abstract, lengths, verdicts

Row = dict[str, str]
OPEN = "ubr-persistent-assumptions/cells.csv"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A copy of the study."""
    return Path(shutil.copytree(studies.folder("ubr_1996"), tmp_path / "study"))


def change(path: Path, one: Callable[[Row], Row]) -> None:
    """Write each row of a table anew."""
    with path.open(newline="") as file:
        rows = [one(row) for row in csv.DictReader(file)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def at(assumption: str, **values: str) -> Callable[[Row], Row]:
    """Put these values into the cells of the LAN with one change."""
    levels = {"network": "LAN", "assumption": assumption}
    return lambda row: {**row, **values} if levels.items() <= row.items() else row


def page(study: Path) -> str:
    """The page in one line."""
    return " ".join(with_tables(studies.find("ubr_1996"), study).split())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (at("rto-min-1s", efficiency_difference="0.4"), "no sign that the minimum moves"),
        (
            at("first-second", efficiency="0.45"),
            "may come from the start of the sources",
        ),
    ],
    ids=["the minimum moves the LAN away", "the first second is not surely less efficient"],
)
def test_a_change_alone(study: Path, changed: Callable[[Row], Row], message: str) -> None:
    assert message in page(study)
    change(study / "results" / OPEN, changed)
    assert message not in page(study)


def test_a_list_of_sentences_that_hold_in_part_is_there_only_if_one_does(study: Path) -> None:
    """With such buffers, the throughput is full: two readings, and one of them changes."""
    assert "Hold in part" not in page(study)
    change(
        study / "results/ubr-persistent/claims.csv",
        lambda row: (
            row | {"verdict_seeds": "undecided"} if row["id"] == "wan-full-throughput" else row
        ),
    )
    kept = Kept(study / "results")
    assert verdicts.numbers(kept)["parts"] == 1
    assert (
        verdicts.named(kept)["which_part"] == "With such buffers, the throughput is full (1 of 2)."
    )


def test_the_seeds_whose_queue_is_what_the_path_leaves_are_counted(study: Path) -> None:
    def shorter(row: Row) -> Row:
        levels = {"network": "WAN", "window": "120000", "sources": "5", "seed": "1"}
        return row | {"peak_cells": "3007.0"} if levels.items() <= row.items() else row

    before = abstract.queue(Kept(study / "results"))
    change(study / "results/ubr-persistent/trials.csv", shorter)
    after = abstract.queue(Kept(study / "results"))
    assert (before["seeds"], before["exact_seeds"], before["shorter_seeds"]) == (10, 5, 0)
    assert (after["seeds"], after["exact_seeds"], after["shorter_seeds"]) == (10, 4, 1)


def test_trials_near_the_paper_and_different_outcomes_are_counted(study: Path) -> None:
    """Each trial of 20 s with 1 s becomes the paper's row: all are near, and they are one."""
    kept = Kept(study / "results")
    before = lengths.numbers(kept)
    [trials] = [of for place, of in lengths.measured(kept).items() if place == ("1 s", 20)]
    paper = {"efficiency": "0.15", "fairness": "0.48"}
    change(
        study / "results" / lengths.LENGTH / "trials.csv",
        lambda row: row | paper if (row["minimum"], row["seconds"]) == ("1 s", "20") else row,
    )
    after = lengths.numbers(Kept(study / "results"))
    assert (before["near"], after["near"]) == (1, len(trials))
    assert before["trials"] == after["trials"] == sum(map(len, lengths.measured(kept).values()))
    outcomes = {(one.metrics["efficiency"], one.metrics["fairness"]) for one in trials}
    assert before["different"] - after["different"] == len(outcomes) - 1  # type: ignore[operator]
