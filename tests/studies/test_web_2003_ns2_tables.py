# SPDX-License-Identifier: GPL-2.0-only
"""The tables that set ns-2 beside the kernel, of made lines."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from analysis.kept import Kept
from studies.web_2003.abstract import WHOLE, abstract
from studies.web_2003.ns2 import tables
from studies.web_2003.ns2.tables import CAMPAIGN, FIGURES, PLAN

Levels = tuple[str, str, str, int]


def row(levels: Levels, median_ms: float | None, **more: str) -> dict[str, object]:
    """A line whose other figures are ten times as much, the shares 0."""
    ten = None if median_ms is None else 10 * median_ms
    times = {name: ten for name in FIGURES if name.endswith("_ms")}
    shares = {name: 0 for name in FIGURES if name.endswith("_share")}
    names = ("load", "sender", "queue", "seed")
    return {
        **dict(zip(names, levels, strict=True)),
        **more,
        **times,
        **shares,
        "median_ms": median_ms,
    }


def write(path: Path, rows: list[dict[str, object]]) -> None:
    with path.open("w", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """Two seeds of drop tail, one of which ns-2 has not; Linux's RED, and that of ns-2."""
    tail, red = ("80", "SACK", "drop-tail"), ("80", "SACK", "ARED as in ns-2")
    folder = tmp_path / CAMPAIGN
    folder.mkdir()
    write(
        folder / "trials.csv",
        [row((*tail, 1), 100), row((*tail, 2), 900), row((*red, 1), 200),
         row(("80", "SACK", "ARED", 1), 400), row(("105", "SACK", "ARED", 1), 400)],
    )  # fmt: skip
    write(
        folder / "ns-2.csv",
        [row((*tail, 1), 110, variant=PLAN), row((*red, 1), 150, variant=PLAN),
         row((*tail, 1), 55, variant="Nagle"), row((*red, 2), 55, variant="Nagle")],
    )  # fmt: skip
    return Kept(tmp_path)


def test_a_line_stands_beside_that_of_the_same_trace(kept: Kept) -> None:
    found = [list(row[:6]) for row in tables.side_by_side(kept).rows]
    assert found == [
        ["80 %", "SACK", "drop-tail", 1, "100, 110", "1,000, 1,100"],
        ["80 %", "SACK", "ARED as in ns-2", 1, "200, 150", "2,000, 1,500"],
        ["80 %", "SACK", "ARED", 1, "400, 150", "4,000, 1,500"],
    ]


def test_the_agreement_is_told_by_rule(kept: Kept) -> None:
    found = [list(row[:4]) for row in tables.agreement(kept).rows]
    assert found == [
        ["drop tail", "80 %", 1, "+10 % (+10 to +10)"],
        ["ns-2's rule in the kernel", "80 %", 1, "−25 % (−25 to −25)"],
        ["Linux's rule in the kernel", "80 %", 1, "−62 % (−62 to −62)"],
    ]
    assert tables.agreement(kept).rows[0][-1] == "–"  # of a share of 0 there is no ratio


def test_a_variant_is_compared_with_the_plan_of_its_own_seeds(kept: Kept) -> None:
    """That of seed 2 has no plan's run beside it."""
    assert [list(row[:4]) for row in tables.variants(kept).rows] == [
        ["drop-tail", "Nagle", 1, "55 (−50 %)"]
    ]


def test_the_abstract_has_the_kept_results_numbers(tmp_path: Path) -> None:
    """ns-2 is 10 % above drop tail and its own rule; Linux's differs by load."""
    cells = {"drop-tail": 100, "ARED as in ns-2": 200, "ARED": 400}
    of_ns_2 = {"drop-tail": 110, "ARED as in ns-2": 220}
    (tmp_path / CAMPAIGN).mkdir()
    at: list[Levels] = [("80", "SACK", queue, 1) for queue in cells]
    high: Levels = ("105", "SACK", "ARED", 1)
    write(
        tmp_path / CAMPAIGN / "trials.csv",
        [*(row(one, cells[one[2]]) for one in at), row(high, 400)],
    )
    more = {"variant": PLAN, "exchanges": "9990"}
    write(
        tmp_path / CAMPAIGN / "ns-2.csv",
        [row(one, of_ns_2[one[2]], **more) for one in at if one[2] in of_ns_2]
        + [row(("105", "SACK", "ARED as in ns-2", 1), 440, **more)],
    )
    verdicts = {"a": "holds", "b": "undecided", "c": "does not hold", "a-as-in-ns-2": "holds"}
    verdicts |= {"d": "one seed: no verdict", "not-run": "undecided"}
    evidence = {"not-run": "not measured: SACK"}
    (tmp_path / WHOLE).mkdir()
    few: Levels = ("70", "SACK", "ARED", 1)
    long = [row(one, 900) for one in (few, high, (*high[:3], 2))]
    write(tmp_path / WHOLE / "trials.csv", long)
    of_whole = row(("105", "SACK", "ARED as in ns-2", 2), 720, **more)
    write(tmp_path / WHOLE / "ns-2.csv", [of_whole])
    write(
        tmp_path / WHOLE / "claims.csv",
        [
            {"id": name, "verdict_seeds": verdict, "evidence_seeds": evidence.get(name, "")}
            for name, verdict in verdicts.items()
        ],
    )
    found = abstract(Kept(tmp_path))
    assert {name: found[name] for name in ("trials", "exchanges", "seeds", "runs")} == {
        "trials": 4, "exchanges": 9990, "seeds": 1, "runs": 2,
    }  # fmt: skip
    assert (found["whole_trials"], found["whole_seeds"], found["few_seeds"]) == (3, 2, 1)
    assert found["whole_runs"] == 0  # the kernel has only Linux's rule there
    away = {"tail": 10, "rule": 10, "linux": 10, "linux_least": 45, "linux_most": 45}
    assert {name: found[name] for name in away} == pytest.approx(away)
    names = ("holds", "fails", "undecided", "not_run", "one_seed")
    assert [found[f"linux_{name}"] for name in names] == [1, 1, 1, 1, 1]
    assert [found[f"ns_2_{name}"] for name in names] == [1, 0, 0, 0, 0]
