# SPDX-License-Identifier: GPL-2.0-only
"""The report of persistent sources: what stands in it, from records made for the test."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.records import read_campaign, read_facts, record_of
from analysis.report import Written, write_report
from harness.judge.judgement import measured
from studies.ubr_1996.study import STUDY
from tests.analysis import synthetic
from tests.made_plans import plan_json

LAN = ("LAN", 5, 1000, 65_535)
LINK = {"rate_bit_per_s": 155_520_000, "access_rate_bit_per_s": 155_520_000, "mss_bytes": 512}
SHARES = (5, 4, 3, 2, 1)


def write_trial(
    folder: Path, levels: Mapping[str, Any], seed: int, efficiency: float, lost: int
) -> Path:
    """One record; the sources have 5, 4, 3, 2, 1 parts of what arrives, or one each."""
    name = "-".join(map(str, [*levels.values(), seed]))
    trial = folder / "trials" / name
    trial.mkdir(parents=True)
    pairs = levels["sources"]
    parts = [SHARES[i % 5] if lost else 1 for i in range(pairs)]
    received = [round(15_649_811 * efficiency * part / sum(parts)) for part in parts]
    squares = pairs * sum(count**2 for count in received)
    delay_ns = 5_000 if levels["network"] == "LAN" else 5_000_000
    delays = {"delay_ns": delay_ns, "access_delay_ns": delay_ns}
    record = {
        "trial": name,
        "factors": levels,
        "seed": seed,
        "valid": True,
        "checks": [],
        "plan": plan_json(
            {
                "study": "ubr_1996",
                "topology": {"pairs": pairs, **LINK, **delays},
                "tcp": {"window_bytes": levels["window"], "flavor": {"name": "vanilla"}},
                "queue": {"down": {"buffer_cells": levels["buffer"]}},
            },
            workload="iperf",
        ),
        "metrics": {
            "efficiency": efficiency,
            "fairness": sum(received) ** 2 / squares,
            "capacity_bit_per_s": 125_198_490.6,
            "efficiency_from_start": efficiency / 2,
            "timeouts": 3 * lost,
            "retransmits": 4 * lost,
            "wasted_share": 0.01 if lost else 0.0,
            "peak_cells": levels["buffer"] if lost else pairs * 127 * 12 - 40,
        },
        "published": {"efficiency": 0.2, "fairness": 0.38} if lost else {},
        "queue": {"down": {"frames": {"in": 1000 + lost, "delivered": 1000}}},
        "source": {"received_whole_bytes": received, "measured_s": 1.0},
        "virtual_s": 16.0,
        "wall_s": 8.0,
        "cpu_s": 7.5,
    }
    fair = [15_649_811 // pairs] * pairs
    synthetic.write_record(trial, record | {"expected_bytes": fair})
    with (trial / "flows.csv").open("w") as stream:
        stream.write("pair,received_bytes\n")
        stream.writelines(f"{pair},{count}\n" for pair, count in enumerate(received, 1))
    measure(trial)
    return trial


def measure(trial: Path) -> None:
    """Put what the study measures of a record into its judgement, as judging does."""
    record, path = record_of(trial, read_facts(trial)), trial / "judgement.json"
    document = json.loads(path.read_text())
    document["metrics"] |= measured(record, STUDY, [])
    path.write_text(json.dumps(document))


def write_campaign(folder: Path, extra: Sequence[Mapping[str, Any]] = ({},)) -> Path:
    """Plain and EPD on a row with losses, two seeds; 1, 2 and 5 sources without."""
    folder.mkdir()
    text = '[factors]\npolicy = ["plain", "EPD"]\nsources = [1, 2, 5]\nbuffer = [1000, 10000]\n'
    document = {"format": "cellbed-campaign/1", "name": "made", "title": "made", "text": text}
    (folder / "campaign.json").write_text(json.dumps(document))
    names = ("network", "sources", "buffer", "window")
    for more in extra:
        for policy, efficiency in (("plain", 0.3), ("EPD", 0.6)):
            levels = dict(zip(names, LAN, strict=True)) | {"policy": policy, "flavor": "Vanilla"}
            for seed in (1, 2):
                write_trial(folder, levels | more, seed, efficiency + seed / 100, 7)
        for sources in (1, 2, 5):
            levels = dict(zip(names, ("LAN", sources, 10_000, 65_535), strict=True))
            levels |= {"policy": "plain", "flavor": "Vanilla", **more}
            write_trial(folder, levels, 1, 1.0, 0)
    return folder


def write(folder: Path) -> Written:
    return write_report(read_campaign(folder), STUDY)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return write(write_campaign(tmp_path_factory.mktemp("persistent") / "made"))


def table(written: Written, name: str) -> list[dict[str, str]]:
    with (written.tables / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_rows_stand_beside_the_published(written: Written) -> None:
    plain = next(r for r in table(written, "cells-lan") if r["buffer"] == "1000")
    assert plain["policy"] == "plain"
    assert plain["seeds"] == "2"
    assert float(plain["efficiency"]) == pytest.approx(0.315)
    assert float(plain["efficiency_half_width"]) == pytest.approx(12.706 * 0.005, rel=1e-3)
    assert float(plain["efficiency_difference"]) == pytest.approx(0.115)
    free = next(r for r in table(written, "cells-lan") if r["sources"] == "1")
    assert (free["efficiency_published"], free["efficiency_half_width"]) == ("", "")


def test_what_was_lost_and_who_had_least(written: Written) -> None:
    plain = next(r for r in table(written, "losses-lan") if r["buffer"] == "1000")
    assert (float(plain["lost_frames"]), float(plain["timeouts"])) == (7, 21)
    assert float(plain["efficiency_from_start"]) == pytest.approx(0.1575)
    assert float(plain["fairness_from_start"]) == pytest.approx(225 / 275, abs=1e-6)
    assert float(plain["wasted_percent"]) == pytest.approx(1)
    assert float(plain["least_mbit_per_s"]) == pytest.approx(125.2 * 0.315 / 15, abs=0.01)
    assert float(plain["most_mbit_per_s"]) == pytest.approx(125.2 * 0.315 / 3, abs=0.01)


def test_the_queue_to_the_cell_where_nothing_is_lost(written: Written) -> None:
    found = table(written, "windows")
    assert [int(row["sources"]) for row in found] == [2, 5]  # one waits before its own link
    assert [int(row["difference_cells"]) for row in found] == [0, 0]
    assert [int(row["windows_cells"]) for row in found] == [3048, 7620]


def test_observations_are_judged(written: Written) -> None:
    verdicts = {row["id"]: row["verdict_seeds"] for row in table(written, "claims")}
    assert len(verdicts) == 34
    assert verdicts["seven-2-sources"] == "one seed: no verdict"
    assert verdicts["seven-1-queue-is-windows"] == "one seed: no verdict"
    assert verdicts["lan-epd-efficiency"] == "holds"
    assert verdicts["wan-better-efficiency"] == "undecided"
    text = written.markdown.read_text()
    for verdict in set(verdicts.values()):
        assert text.count(f"**{verdict}** (95 %") == list(verdicts.values()).count(verdict)


def test_where_nobody_received_anything(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "made")
    for path in (folder / "trials").glob("*-plain-Vanilla-*/trial.json"):
        pairs = json.loads(path.read_text())["factors"]["sources"]
        judgement, lab = path.with_name("judgement.json"), path.with_name("lab.json")
        document = json.loads(judgement.read_text())
        document["metrics"] |= {"efficiency": 0.0, "fairness": None, "wasted_share": None}
        judgement.write_text(json.dumps(document))
        document = json.loads(lab.read_text())
        document["source"]["received_whole_bytes"] = [0] * pairs
        lab.write_text(json.dumps(document))
        measure(path.parent)
    written = write(folder)
    starved = next(r for r in table(written, "cells-lan") if r["policy"] == "plain")
    assert float(starved["efficiency"]) == 0
    assert starved["fairness"] == ""
    starved = next(r for r in table(written, "losses-lan") if r["policy"] == "plain")
    assert starved["fairness_from_start"] == ""
    verdicts = {row["id"]: row["verdict_seeds"] for row in table(written, "claims")}
    assert verdicts["lan-epd-fairness"] == "undecided"
    assert verdicts["seven-7-no-starvation"] == "one seed: no verdict"


def test_a_source_keeps_its_pair(tmp_path: Path) -> None:
    """A flow without a count leaves the others' numbers alone."""
    folder = write_campaign(tmp_path / "made")
    for path in (folder / "trials").glob("LAN-2-*/flows.csv"):
        path.write_text("pair,received_bytes,expected_bytes\n1,,10\n2,1000,10\n")
    found = [r for r in table(write(folder), "sources") if r["sources"] == "2"]
    assert [(r["source"], r["throughput_bit_per_s"]) for r in found] == [("2", "8000.0")]


def test_every_source_is_in_a_table(written: Written) -> None:
    found = table(written, "sources")
    assert len(found) == 4 * 5 + 1 + 2 + 5
    lone = next(row for row in found if row["sources"] == "1")
    assert float(lone["throughput_bit_per_s"]) == pytest.approx(125.2e6, rel=1e-4)


def test_plots_are_there_and_tell_their_means(written: Written) -> None:
    links = dict(re.findall(r"!\[([^\]]+)\]\(figures/([^)]+)\.svg\)", written.markdown.read_text()))
    assert set(links.values()) == {
        "scatter-efficiency", "scatter-fairness", "rows-lan-efficiency", "rows-lan-fairness",
        "sources-lan-efficiency", "sources-lan-fairness",
    }  # fmt: skip
    assert any("mean of 1 rows under EPD 0.615" in alt for alt in links)
    assert any("1.000 with 1, 1.000 with 5" in alt for alt in links)


def test_a_campaign_that_varies_more_is_judged_by_the_variant_named_first(tmp_path: Path) -> None:
    extra = [{"assumption": "base"}, {"assumption": "other"}]
    folder = write_campaign(tmp_path / "made", extra)
    for path in (folder / "trials").glob("*-EPD-*-base-*/judgement.json"):
        document = json.loads(path.read_text())
        document["metrics"]["efficiency"] = 0.1
        path.write_text(json.dumps(document))
    written = write(folder)
    verdicts = {row["id"]: row["verdict_seeds"] for row in table(written, "claims")}
    assert verdicts["lan-epd-efficiency"] == "does not hold"
    assert {row["assumption"] for row in table(written, "cells-lan")} == {"base", "other"}


def test_each_level_is_set_against_the_first(tmp_path: Path) -> None:
    extra = [{"assumption": "base"}, {"assumption": "other"}]
    folder = write_campaign(tmp_path / "made", extra)
    for path in (folder / "trials").glob("*-EPD-*-other-*/judgement.json"):
        document = json.loads(path.read_text())
        document["metrics"]["efficiency"] += 0.1
        path.write_text(json.dumps(document))
    base, other = table(write(folder), "variants")
    found = (base["variant"], base["efficiency_effect"], base["shared_cells"])
    assert found == ("assumption=base", "", "")
    assert float(base["efficiency_mean"]) == pytest.approx((0.315 + 0.615 + 3) / 5)
    assert other["shared_cells"] == "5"
    assert float(other["efficiency_effect"]) == pytest.approx(0.1 / 5)
    assert float(other["efficiency_distance"]) == pytest.approx((0.115 + 0.515) / 2)


def test_a_campaign_of_other_factors_has_its_cells_and_no_claims(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "made")
    for path in (folder / "trials").glob("*/trial.json"):
        document = json.loads(path.read_text())
        del document["factors"]["window"]
        path.write_text(json.dumps(document))
    written = write(folder)
    assert "does not have the design of 96-0518R1" in written.markdown.read_text()
    assert len(table(written, "cells")) == 5
    assert not (written.tables / "windows.csv").exists()
    assert not (written.tables / "claims.csv").exists()
