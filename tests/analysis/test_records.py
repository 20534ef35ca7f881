# SPDX-License-Identifier: GPL-2.0-only
"""What a campaign's reader takes, lists and refuses."""

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import RecordError
from analysis.records import CampaignRecords, level_text, read_campaign, read_facts
from tests.analysis import synthetic

ONE_CELL = {("WAN", "SACK", "EPD", 0.5): (0.8144, 0.7937)}
TRIAL = "wan-sack-epd-0.5-1"


def small(folder: Path, **options: Any) -> Path:
    return synthetic.write_campaign(folder, cells=ONE_CELL, **options)


def edit(folder: Path, change: Callable[[dict[str, Any]], Any], file: str = "trial") -> None:
    path = folder / "trials" / TRIAL / f"{file}.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def test_all_trials_in_the_experiments_order(campaign: CampaignRecords) -> None:
    assert len(campaign.trials) == 72 * 3
    assert campaign.levels("network") == ("WAN", "MEO", "GEO")
    assert campaign.levels("flavor") == ("Vanilla", "Reno", "NewReno", "SACK")
    assert campaign.levels("buffer") == ("0.5", "1", "2")
    assert campaign.trials[0].name == "wan-vanilla-epd-0.5-1"
    assert not campaign.invalid
    assert not campaign.unreadable


def test_invalid_trials_are_listed_and_not_among_the_valid(tmp_path: Path) -> None:
    small(tmp_path)
    edit(tmp_path, lambda d: d.update(valid=False), "judgement")
    campaign = read_campaign(tmp_path)
    assert [trial.name for trial in campaign.invalid] == [TRIAL]
    assert [trial.seed for trial in campaign.trials] == [2, 3]


@pytest.mark.parametrize(
    ("file", "change", "reason"),
    [
        ("trial", lambda d: d.update(format="cellbed-trial/1"), "has the format 'cellbed-trial/1'"),
        ("trial", lambda d: d.pop("format"), "has the format 'None'"),
        ("run", lambda d: d.pop("format"), "run.json has the format 'None'"),
        ("judgement", lambda d: d.pop("format"), "judgement.json has the format 'None'"),
        ("judgement", lambda d: d.pop("valid"), "the key 'valid' is missing"),
        ("judgement", lambda d: d.update(valid="yes"), "'yes' is neither true nor false"),
        ("judgement", lambda d: d.update(metrics=[1]), "a value has the wrong type"),
        ("trial", lambda d: d.update(seed=None), "trial.json: seed = null: must be a whole number"),
        ("trial", lambda d: d.update(factors={"buffer": math.inf}), "trial.json: factors.buffer"),
        ("trial", lambda d: d.pop("plan"), "trial.json: plan: this key is missing"),
        ("trial", lambda d: d["plan"]["topology"].update(pairs="4"), 'plan.topology.pairs = "4": '),
        (
            "trial",
            lambda d: d["plan"]["topology"].update(
                loss={"share": 0.1, "burst_packets": None, "burst_share": 0.5, "direction": "up"}
            ),
            "trial.json: topology.loss.burst_share also needs",
        ),
        ("lab", lambda d: d.update(links=[1]), "lab.json: links = [1]: must be a table"),
        ("run", lambda d: d.update(wall_s="8"), 'run.json: wall_s = "8": must be a number'),
        ("run", lambda d: d.update(lab=[1]), "run.json: lab = [1]: must be a table"),
    ],
)
def test_a_damaged_record_is_listed_with_its_reason(
    tmp_path: Path, file: str, change: Callable[[dict[str, Any]], Any], reason: str
) -> None:
    small(tmp_path)
    edit(tmp_path, change, file)
    campaign = read_campaign(tmp_path)
    assert len(campaign.trials) == 2
    [(name, found)] = campaign.unreadable
    assert name == TRIAL
    assert reason in found
    assert TRIAL in found
    assert "\n" not in found


@pytest.mark.parametrize("file", ["trial", "lab", "run", "judgement"])
def test_a_record_that_lacks_a_file_is_listed(tmp_path: Path, file: str) -> None:
    small(tmp_path)
    (tmp_path / "trials" / TRIAL / f"{file}.json").unlink()
    [(name, found)] = read_campaign(tmp_path).unreadable
    assert name == TRIAL and f"{file}.json cannot be read" in found


def test_the_labs_document_is_whole_again(tmp_path: Path) -> None:
    """run.json holds the part of it that tells of the run."""
    small(tmp_path)
    edit(tmp_path, lambda d: d.update(source={"measured_s": 8.0}), "lab")
    edit(tmp_path, lambda d: d.update(lab={"virtual_s": 1.5, "source": {"t0_ns": 7}}), "run")
    facts = read_facts(tmp_path / "trials" / TRIAL)
    assert facts["source"] == {"measured_s": 8.0, "t0_ns": 7} and facts["virtual_s"] == 1.5


@pytest.mark.parametrize(
    ("lab", "place"),
    [
        ({"source": {"measured_s": 4.0}}, "lab.source.measured_s"),
        ({"queue": {"down": {"peak_cells": 7}}}, "lab.queue.down.peak_cells"),
        ({"idle_round_trip_ns": [1]}, "lab.idle_round_trip_ns"),
        ({"source": 3}, "lab.source"),
    ],
)
def test_what_tells_of_the_run_takes_the_place_of_nothing_else(
    tmp_path: Path, lab: dict[str, Any], place: str
) -> None:
    """run.json differs from run to run, so nobody compares it: a figure in it would be believed."""
    small(tmp_path)
    edit(tmp_path, lambda d: d.update(lab={"virtual_s": 1.5, **lab}), "run")
    with pytest.raises(RecordError, match=f"run.json: the key {place} belongs in lab.json"):
        read_facts(tmp_path / "trials" / TRIAL)


@pytest.mark.parametrize("file", ["run", "trial"])
def test_a_key_that_a_header_has_not_takes_the_place_of_nothing(tmp_path: Path, file: str) -> None:
    small(tmp_path)
    edit(tmp_path, lambda d: d.update(source={"measured_s": 8.0}), "lab")
    edit(tmp_path, lambda d: d.update(source={"measured_s": 4.0}, more={}), file)
    facts = read_facts(tmp_path / "trials" / TRIAL)
    assert facts["source"] == {"measured_s": 8.0} and "more" not in facts


def test_a_trial_without_record_is_listed_and_one_being_written_is_not(tmp_path: Path) -> None:
    small(tmp_path)
    (tmp_path / "trials" / "broken").mkdir()
    (tmp_path / "trials" / ".new-trial").mkdir()
    assert [name for name, _ in read_campaign(tmp_path).unreadable] == ["broken"]


def test_trials_that_the_campaign_does_not_list_do_not_count(tmp_path: Path) -> None:
    small(tmp_path)
    path = tmp_path / "campaign.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"trials": [TRIAL]}))
    assert [trial.name for trial in read_campaign(tmp_path).trials] == [TRIAL]


@pytest.mark.parametrize(
    ("ended", "kept"),
    [("2026-05-02T10:00:00+00:00", TRIAL), ("2026-04-30T10:00:00+00:00", "wan-sack-epd-0.5-2")],
)
def test_of_two_records_of_one_trial_the_later_run_counts(
    tmp_path: Path, ended: str, kept: str
) -> None:
    """By what the records say, whatever a copy has made of the files' times."""
    small(tmp_path)
    edit(tmp_path, lambda d: d.update(seed=2))
    edit(tmp_path, lambda d: d.update(ended=ended), "run")
    for name, time_s in ((TRIAL, 1e9), ("wan-sack-epd-0.5-2", 2e9)):
        for path in (tmp_path / "trials" / name).iterdir():
            os.utime(path, (time_s, time_s))
    campaign = read_campaign(tmp_path)
    [left] = [trial.name for trial in campaign.superseded]
    assert [trial.name for trial in campaign.trials] == [kept, "wan-sack-epd-0.5-3"]
    assert {left, kept} == {TRIAL, "wan-sack-epd-0.5-2"}


def test_the_header_names_also_what_the_experiment_inherits(tmp_path: Path) -> None:
    cells = {(network, "SACK", "SD", 2.0): (0.9, 0.9) for network in ("GEO", "MEO", "WAN")}
    synthetic.write_campaign(tmp_path, cells=cells, seeds=[1])
    path = tmp_path / "campaign.json"
    header = json.loads(path.read_text()) | {"text": "extends = 'other.toml'"}
    path.write_text(json.dumps(header))
    assert read_campaign(tmp_path).levels("network") == ("GEO", "MEO", "WAN")  # the folders'
    path.write_text(json.dumps(header | {"factors": {"network": ["WAN", "MEO", "GEO"]}}))
    assert read_campaign(tmp_path).levels("network") == ("WAN", "MEO", "GEO")


def test_numbers_that_nobody_names_come_by_their_size(tmp_path: Path) -> None:
    small(tmp_path, extra_factors=[{"size": size} for size in (100, 20, 3)])
    assert read_campaign(tmp_path).levels("size") == ("3", "20", "100")


def test_levels_come_in_the_experiments_order(tmp_path: Path) -> None:
    small(tmp_path, extra_factors=[{"idle": "b"}, {"idle": "a"}])
    campaign = read_campaign(tmp_path)
    assert campaign.levels("idle") == ("a", "b")  # not named there: the order of the folders
    assert tuple(campaign.factors) == ("network", "flavor", "policy", "buffer", "idle")
    header = {"text": '[factors]\nidle = ["b", "c", "a"]'}
    path = tmp_path / "campaign.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | header))
    assert read_campaign(tmp_path).levels("idle") == ("b", "a")
    assert read_campaign(tmp_path).levels("network") == ("WAN",)


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda folder: (folder / "trials").mkdir(), "is no folder of results"),
        (lambda folder: (folder / "campaign.json").write_text("{"), "not JSON"),
        (lambda folder: (folder / "campaign.json").write_text("[]"), "not a JSON object"),
        (lambda folder: small(folder, seeds=()), "has no recorded trials yet"),
        (
            lambda folder: (small(folder, seeds=[1]), edit(folder, lambda d: d.pop("format"))),
            "no trial in .* can be read: .*format",
        ),
    ],
)
def test_no_campaign(tmp_path: Path, prepare: Callable[[Path], Any], message: str) -> None:
    prepare(tmp_path)
    with pytest.raises(RecordError, match=message):
        read_campaign(tmp_path)
    with pytest.raises(RecordError, match="does not exist; name a folder"):
        read_campaign(tmp_path / "none")


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (0.5, "0.5"),
        (2.0, "2"),
        (1, "1"),
        (1_800_001, "1800001"),
        (1_800_000.0, "1800000"),
        (True, "true"),
        ("EPD", "EPD"),
    ],
)
def test_level_text(level: object, text: str) -> None:
    assert level_text(level) == text


def test_series_are_typed_and_missing_is_none(tmp_path: Path) -> None:
    small(tmp_path, seeds=[1])
    [trial] = read_campaign(tmp_path).trials
    assert trial.series("queue") is None
    (trial.folder / "queue.csv").write_text("time_ns,port,occupancy_cells\n5,down,\n6,up,7\n")
    assert trial.series("queue") == [
        {"time_ns": 5.0, "port": "down", "occupancy_cells": None},
        {"time_ns": 6.0, "port": "up", "occupancy_cells": 7.0},
    ]
    (trial.folder / "queue.csv").write_text("time_ns,port\n5\n")
    with pytest.raises(RecordError, match="line 2 has the wrong number of fields"):
        trial.series("queue")
