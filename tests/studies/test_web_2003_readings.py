# SPDX-License-Identifier: GPL-2.0-only
"""The verdicts, the figures and the abstract of the web study's page, from claims.csv alone."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from analysis.kept import Kept
from harness.judge import studies
from studies.web_2003 import figures, readings
from studies.web_2003.abstract import AS_IN_NS_2, WHOLE

FOLDER = studies.folder("web_2003") / "results"
KEPT = Kept(FOLDER)
MADE = "(paired by seed; Holm over these 2)"


def with_verdicts(folder: Path, **verdicts: str) -> Kept:
    """The kept claims with other verdicts; a claim that is not named is undecided."""
    target = folder / WHOLE
    target.mkdir()
    rows = [
        {**row, "verdict_seeds": verdicts.get(row["id"].replace("-", "_"), "undecided")}
        for row in KEPT.claims(WHOLE).rows
    ]
    with (target / "claims.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return Kept(folder)


def test_every_reading_has_words_and_every_sentence_one_quote() -> None:
    found = readings.readings(KEPT)
    assert {one.id for one in found} == set(readings.WORDS)
    for one in found:
        assert [quote for quote in readings.QUOTES if quote in one.sentence] == [one.quote]
    assert len({one.quote for one in found}) == len(readings.QUOTES)


def test_a_sentence_has_a_number_and_its_readings_letters() -> None:
    assert [one.number for one in readings.readings(KEPT)][:5] == ["1a", "1b", "2", "3a", "3b"]


def test_both_claims_of_a_reading_have_the_same_limit() -> None:
    known = readings.limits()
    for one in readings.readings(KEPT):
        assert known[one.id] == known[one.id + AS_IN_NS_2]
    assert known["sack-median"] == "at least −5 %"
    assert known["sack-not-enough-flows"] == "at most 10 %"
    assert known["red-none-below-80-p90"] == "−10 % to +10 %"
    assert known["ecn-better-p90"] == "at most 0 %"


def test_the_abstract_names_each_reading_under_its_verdict(tmp_path: Path) -> None:
    kept = with_verdicts(
        tmp_path,
        sack_not_enough_flows="does not hold",
        sack_not_enough_flows_as_in_ns_2="does not hold",
        sack_median="holds",
        sack_median_as_in_ns_2="holds",
        ecn_better_p90_as_in_ns_2="holds",
        sack_large="does not hold",
    )
    found = readings.numbers(kept)
    assert found["holds"] == '"No benefit to using SACK" (median)'
    assert found["fails"] == '"not enough flows"'
    assert found["alone"] == (
        "With Linux's alone, \"larger-than-typical\" (105 %) does not hold; with ns-2's alone, "
        '"ARED with ECN performs better" (90th percentile) holds'
    )
    counts = [found[f"{name}_count"] for name in ("holds", "fails", "open")]
    assert counts == [1, 1, len(readings.WORDS) - 4]


def test_nothing_firm_leaves_an_abstract(tmp_path: Path) -> None:
    found = readings.numbers(with_verdicts(tmp_path))
    assert (found["holds_count"], found["fails_count"], found["alone_count"]) == (0, 0, 0)
    assert '"Complex tradeoffs exist",' in str(found["open"])


def test_every_kept_change_has_a_line() -> None:
    for row in KEPT.claims(WHOLE).rows:
        evidence = row["evidence_seeds"]
        changes = evidence.count(" % (")
        lines = figures.lines(evidence).split(figures.BREAK)
        shares = evidence.count(" ± ") + 1 if not changes else 0
        assert len(lines) == changes + shares + evidence.count("infinite in a trial")


@pytest.mark.parametrize(
    ("evidence", "lines"),
    [
        (
            f"80 % drop-tail +1.8 % (-1.2 % to +2.4 %), 5 % ARED -2.0 % (-3.0 % to -0.9 %) {MADE}",
            ["80 % drop-tail: +1.8 % (−1.2 to +2.4 %)", "5 % ARED: −2.0 % (−3.0 to −0.9 %)"],
        ),
        (
            "ARED as in ns-2 in place of drop-tail: p10_ms -1.0 % (-2.0 % to -0.5 %) (paired by "
            "seed (7 of 8); Holm over these 1 and 2 more); infinite in a trial: p90_ms, p99_ms",
            ["10th percentile: −1.0 % (−2.0 to −0.5 %)", "90th percentile: infinite in a trial",
             "99th percentile: infinite in a trial", "(7 of 8 seeds)"],
        ),
        (
            "sack_share 0.032 to 0.213 in 4 cells; 1 beyond, or not surely within: 80 SACK ARED as "
            "in ns-2 +0.0937 ± 0.0097 (paired by seed), at most 0.1",
            ["all 4: 3.2 to 21.3 %", "80 % ARED: 9.4 ± 1.0 %"],
        ),
        ("sack_share 0.032 to 0.050 in 4 cells, at most 0.1", ["all 4: 3.2 to 5.0 %"]),
        ("not measured: such a cell", ["–"]),
    ],
)  # fmt: skip
def test_a_figure_has_a_line_of_its_own(evidence: str, lines: list[str]) -> None:
    assert figures.lines(evidence).split(figures.BREAK) == lines
