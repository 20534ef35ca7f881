# SPDX-License-Identifier: GPL-2.0-only
"""The web study's page with a seed less, and with seeds more: every sentence follows."""

from __future__ import annotations

import csv
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from analysis.kept import Kept
from analysis.report.readme import with_tables
from harness.judge import studies
from studies.web_2003 import numbers, steps, when
from studies.web_2003.abstract import WHOLE

Row = dict[str, str]
FACTORS = ("load", "sender", "queue")
KEPT = Kept(studies.folder("web_2003") / "results")
LAST = max(int(row["seed"]) for row in KEPT.table(WHOLE, "trials").rows)
BEGUN = ("105", "SACK", "drop-tail", str(LAST))
LATER = "2026-12-24T01:00:00+00:00"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A copy of the study."""
    return Path(shutil.copytree(studies.folder("web_2003"), tmp_path / "study"))


def change(path: Path, one: Callable[[list[Row]], Sequence[Row]]) -> None:
    """Write a table anew."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(one(rows))


def kept_again(study: Path, one: Callable[[list[Row]], Sequence[Row]]) -> Kept:
    """Other long trials, with the counts and the verdicts that `study keep` writes of them."""
    kept = Kept(study / "results")
    folder = kept.folder / WHOLE
    change(folder / "trials.csv", one)
    seeds = Counter(
        tuple(row[name] for name in FACTORS) for row in kept.table(WHOLE, "trials").rows
    )
    verdicts = steps.verdicts(kept, steps.last_seed(kept))
    change(
        folder / "cells.csv",
        lambda rows: [
            {**row, "seeds": str(seeds[tuple(row[name] for name in FACTORS)])} for row in rows
        ],
    )
    change(
        folder / "claims.csv",
        lambda rows: [{**row, "verdict_seeds": verdicts[row["id"]]} for row in rows],
    )
    return kept


def page(study: Path) -> str:
    """The page, each of its paragraphs in one line."""
    return " ".join(with_tables(studies.find("web_2003"), study).split())


def test_a_seed_less(study: Path) -> None:
    ran = re.compile(rf"([Ss]eed|to|and) {LAST} ran on \d")
    assert ran.search(page(study)) and f"With all {LAST} seeds" in page(study)
    kept_again(study, lambda rows: [row for row in rows if row["seed"] != str(LAST)])
    text, left = page(study), LAST - 1
    assert f"({left} seeds, 3 below 80 % load)" in text
    assert f"With all {left} seeds," in text and f"{left} seeds a change)" in text
    assert not ran.search(text) and f"With all {LAST} seeds" not in text


def test_seeds_more_that_turn_what_was_found(study: Path) -> None:
    """As many seeds again on a later day, like the old seeds. But ns-2's rule triples the medians,
    and a 99th percentile is infinite.
    """

    def more(rows: list[Row]) -> Sequence[Row]:
        high = [row for row in rows if row["load"] in ("80", "105")]
        return [*rows, *(turned(row) for row in high)]

    def turned(row: Row) -> Row:
        rule = row["queue"].endswith("as in ns-2")
        p99 = "" if (row["queue"], row["seed"]) == ("ARED", "2") else row["p99_ms"]
        median = float(row["median_ms"]) * (3 if rule else 1)
        return {
            **row, "seed": str(int(row["seed"]) + LAST), "ended": LATER,
            "median_ms": str(median), "p99_ms": p99,
        }  # fmt: skip

    kept = kept_again(study, more)
    text = page(study)
    assert f"The seeds {LAST + 1} to {2 * LAST} ran on 24 December 2026." in text
    assert f"({2 * LAST} seeds, 3 below 80 % load)" in text
    infinite = 2 * int(numbers.tails(KEPT)["ecn_infinite"] or 0) + 1
    assert f"The 99th percentile is infinite in {infinite} of these trials" in text
    assert "changes the 99th percentile by" in text
    assert numbers.tails(kept)["ecn_infinite"] == infinite
    assert when.numbers(kept)["later"] == 2 * LAST - 3


def test_a_seed_that_has_only_begun(study: Path) -> None:
    """A single trial of the next seed: nothing needs all of its cells."""

    def more(rows: list[Row]) -> Sequence[Row]:
        (one,) = (r for r in rows if (r["load"], r["sender"], r["queue"], r["seed"]) == BEGUN)
        return [*rows, {**one, "seed": str(LAST + 1), "ended": LATER}]

    kept_again(study, more)
    text = page(study)
    assert f"({LAST} seeds, 3 below 80 % load)" in text
    assert f"Seed {LAST + 1} ran on 24 December 2026." in text
