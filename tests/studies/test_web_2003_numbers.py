# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of the web study's sentences: ratios paired by seed, as the tables have them."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from statistics import fmean

import pytest

from analysis.kept import Kept
from harness.judge import studies
from studies.web_2003 import numbers
from studies.web_2003.abstract import AS_IN_NS_2, NOT_RUN, ONE_SEED, WHOLE

KEPT = Kept(studies.folder("web_2003") / "results")
REDS = ("ARED", "ARED+ECN", "ARED as in ns-2", "ARED+ECN as in ns-2")
HEADS = ["load", "queue", "first_timeout", "seed", "trial", "plan", "digest"]
REST = ["virtual_s", "wall_s", "ended", "p90_ms"]


def made(folder: Path, ratios: list[float]) -> Kept:
    """web-first: with 3 s, the 90th percentile of a seed is its own times its ratio."""
    target = folder / numbers.FIRST
    target.mkdir()
    lines: list[list[object]] = []
    for queue in ("drop-tail", "ARED", "ARED as in ns-2"):
        for seed, ratio in enumerate(ratios, start=1):
            for level, times in (("of the handshake", 1.0), ("3 s", ratio)):
                own = 1000.0 * seed * times
                ran = [queue, level, seed, "t", "p", "d", 1, 1, "", own]
                lines += [[load, *ran] for load in ("80", "105")]
    for name, heads in (("trials", [*HEADS, *REST]), ("cells", ["load", "queue", "seeds"])):
        rows = lines if name == "trials" else [["80", "ARED", len(ratios)]]
        with (target / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([heads, *rows])
    return Kept(folder)


def test_a_change_is_paired_by_seed(tmp_path: Path) -> None:
    """The seeds differ by a factor of three; what all share has no interval to speak of."""
    found = numbers.first(made(tmp_path, [2.0, 2.0, 2.0]))
    assert found["linux"] == "+100 % (+100 % to +100 %)"
    assert found["seeds"] == 3 and "3 seeds, paired" in str(found["how"])


def test_a_mean_change_is_that_of_the_logarithms(tmp_path: Path) -> None:
    found = numbers.first(made(tmp_path, [4.0, 1.0]))
    assert found["linux_value"] == pytest.approx(1.0)  # the root of 4 times 1


def test_one_seed_has_no_interval_and_says_so(tmp_path: Path) -> None:
    found = numbers.first(made(tmp_path, [0.5]))
    assert (found["linux"], found["how"]) == ("−50 %", "one seed, so without an interval")


def test_frames_are_compared_with_the_cells_of_their_seed(tmp_path: Path) -> None:
    """Frames halve the median and leave the 90th percentile; only the first is sure."""
    target = tmp_path / numbers.LINK
    target.mkdir()
    factors = ["load", "sender", "queue", "topology.link_layer"]
    heads = [*factors, "seed", "trial", "plan", "digest", "virtual_s", "wall_s", "ended"]
    lines = [
        ["80", "SACK", queue, layer, seed, "t", "p", "d", 1, 1, "", 100 * seed * times,
         900 * seed * (1.1 if layer == "ethernet" and seed == 2 else 1)]
        for queue in ("drop-tail", "ARED as in ns-2")
        for layer, times in (("atm", 1.0), ("ethernet", 0.5))
        for seed in (1, 2, 3)
    ]  # fmt: skip
    cells = [["80", "SACK", "drop-tail", "atm", 3]]
    for name, columns, rows in (
        ("trials", [*heads, "median_ms", "p90_ms"], lines),
        ("cells", [*factors, "seeds"], cells),
    ):
        with (target / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([columns, *rows])
    found = numbers.link(Kept(tmp_path))
    assert found["tail_median"] == found["ns_2_median"] == "−50 % (−50 % to −50 %)"
    assert str(found["tail_p90"]).startswith("+3 % (−")
    assert (found["figures"], found["sure"]) == (4, 2) and str(found["how"]).startswith("3 seeds")


def test_sack_changes_large_responses_as_its_claim_has_it() -> None:
    """The kept claim at 80 % has the same changes of the same seeds."""
    evidence = {row["id"]: row["evidence_seeds"] for row in KEPT.claims(WHOLE).rows}
    found = numbers.large(KEPT)
    for name, claim, queue in (
        ("tail", "sack-large-below", "drop-tail"),
        ("linux", "sack-large-below", "ARED"),
        ("ns_2", f"sack-large-below{AS_IN_NS_2}", "ARED as in ns-2"),
    ):
        told = re.search(rf"80 % {queue} -([\d.]+) % \(", evidence[claim])
        shown = re.match(r"−(\d+) % \(", str(found[name]))
        assert told is not None and shown is not None
        # Half of a last digit of each: a figure rounded twice can be another than rounded once.
        assert abs(float(shown[1]) - float(told[1])) <= 0.5 + 0.05
    assert (found["sure"], found["figures"]) == (3, 3)


def of_seeds(campaign: str, queue: str) -> dict[str, dict[str, str]]:
    """The kept lines of SACK at 105 % with a queue, by their seed."""
    return {
        row["seed"]: row
        for row in KEPT.table(campaign, "trials").rows
        if (row["load"], row["sender"], row["queue"]) == ("105", "SACK", queue)
    }


def test_long_trials_are_compared_with_short_trials_of_the_same_seeds() -> None:
    found = numbers.length(KEPT)
    ratios: dict[str, list[float]] = {}
    for queue in ("drop-tail", *REDS):
        short, long = (of_seeds(name, queue) for name in (numbers.CAMPAIGN, WHOLE))
        ratios[queue] = [float(long[seed]["median_ms"]) / float(short[seed]["median_ms"])
                         for seed in long.keys() & short.keys()]  # fmt: skip
    means = [fmean(map(math.log, some)) for some in ratios.values()]
    assert found["least_105"] == pytest.approx(math.exp(min(means)))
    assert found["most_seed_105"] == pytest.approx(max(map(max, ratios.values())))
    assert found["seeds_105"] == len(ratios["ARED"]) >= 5


def test_seeds_in_which_drop_tail_leaves_most_exchanges_without_a_response() -> None:
    found = numbers.tails(KEPT)
    tail, *reds = (
        {seed: float(row["unfinished_share"]) for seed, row in of_seeds(WHOLE, queue).items()}
        for queue in ("drop-tail", *REDS)
    )
    fewer = [seed for seed in tail if tail[seed] > max(red[seed] for red in reds)]
    more = [seed for seed in tail if tail[seed] < min(red[seed] for red in reds)]
    assert "4" in more and {"1", "2", "3", "5"} <= {*fewer}
    assert (found["fewer"], found["more"], found["of"]) == (len(fewer), len(more), len(tail))
    assert str(found["lost_tail"]).startswith("4 %, 0.97 %")


def test_only_a_load_that_no_trial_has_leaves_a_reading_without_a_verdict() -> None:
    """70 % was not run. At 90 and 98 %, no reading needs what the slides do not show."""
    without = {
        row["id"].removesuffix(AS_IN_NS_2)
        for row in KEPT.claims(numbers.CAMPAIGN).rows
        if row["evidence_seeds"].startswith(NOT_RUN) or row["verdict_seeds"] == ONE_SEED
    }
    assert without == {"red-none-below-80-median", "red-none-below-80-p90"}


def test_the_panels_that_hold_are_readings_of_one_sentence() -> None:
    found = numbers.abstract(KEPT)
    holds = [row for row in KEPT.claims(WHOLE).rows if row["verdict_seeds"] == "holds"]
    for rule, own in (("linux", False), ("ns_2", True)):
        some = [row for row in holds if row["id"].endswith(AS_IN_NS_2) is own]
        panels = [row for row in some if row["sentence"].startswith("Complex tradeoffs")]
        assert (found[f"{rule}_holds"], found[f"{rule}_panels"]) == (len(some), len(panels))


def test_the_clock_is_no_cause_while_its_interval_has_0() -> None:
    """Of six figures, four are farther from ns-2's with the clock of 10 ms."""
    found = numbers.clock(KEPT)
    assert (found["worse"], found["figures"], found["seeds"]) == (4, 6, 3)
    assert found["change"] == pytest.approx(3.8 - 8.7, abs=0.1)
    assert found["half"] == pytest.approx(7.5, abs=0.1)


def test_the_change_of_one_queue_is_that_of_the_table() -> None:
    """FQ-CoDel's part of drop tail's 90th percentile, by the cells."""
    kept = [row for row in KEPT.cells(numbers.TODAY).rows if row["sender"] == numbers.CUBIC]
    for load in numbers.LOADS:
        p90 = {row["queue"]: float(row["p90_ms"]) for row in kept if row["load"] == load}
        value = numbers.today(KEPT)[f"fq_codel_{load}_value"]
        assert isinstance(value, float)
        assert math.isclose(value, p90["FQ-CoDel"] / p90["drop-tail"] - 1, abs_tol=0.05)


def test_the_rules_of_red_are_compared_in_one_kernel() -> None:
    """The ratio of the geometric means over the seeds, of the kept trials."""
    found = numbers.rules(KEPT)
    for length, campaign in (("short", numbers.CAMPAIGN), ("long", WHOLE)):
        medians: dict[str, list[float]] = {}
        for row in KEPT.table(campaign, "trials").rows:
            if (row["load"], row["sender"]) == ("105", "SACK"):
                medians.setdefault(row["queue"], []).append(math.log(float(row["median_ms"])))
        assert found[f"seeds_{length}"] == len(medians["ARED"])
        for name, queue in (("ared", "ARED"), ("ecn", "ARED+ECN")):
            change = fmean(medians[f"{queue} as in ns-2"]) - fmean(medians[queue])
            assert found[f"{name}_{length}_value"] == pytest.approx(change)
    assert (found["ecn_short_sure"], found["ecn_long_sure"]) == (1, 0)
    each = re.split(", | and ", str(found["each"]))
    assert each[:5] == ["+25 %", "+27 %", "+25 %", "−17 %", "+6 %"]
    assert (len(each), found["first_sure"]) == (found["seeds_long"], 1)
