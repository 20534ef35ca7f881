# SPDX-License-Identifier: GPL-2.0-only
"""A campaign's folder hides nothing: whatever is run in it later, and however it ends. No lab."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.omissions import omissions
from analysis.records import CampaignRecords, read_campaign
from harness.api.experiment import Experiment
from harness.campaign import costs
from harness.design.trials import PlannedTrial
from harness.judge import judgement
from harness.labs import LABS
from harness.records import identity, record
from tests.paper import PaperLab, finish
from tests.small import TINY

TEXT = (
    TINY.replace('["SACK"]', '["SACK", "large"]\nbuffer = [2.0, 3]')
    # Else another delay would also give the sources another time to start within.
    .replace("duration_s = 2", "duration_s = 2, start_jitter_us = 0")
    + """
[[rule]]
when = { flavor = "large" }
set.tcp.initial_window_segments = 4
[[rule]]
when = { buffer = 3 }
set.queue.buffer_cells = 450
"""
)


def captured(trial: PlannedTrial, software: Any, raw: Path, *rest: Any) -> None:
    """Of what was to be captured there is a file."""
    for port in ("down", "up"):
        (raw / f"{port}.pcap").touch()
    finish(trial, software, raw, *rest)


class Folder:
    """A campaign's folder, and what is run in it; every trial is valid."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, text: str = TEXT, **how: Any) -> CampaignRecords:
        """Run an experiment there; what a report then reads."""
        running = Experiment.from_text(text).prepare(self.path, lab="paper", jobs=1, **how)
        running.run()
        for trial in running.trials:
            path = running.records / trial.name / judgement.FILE
            document = json.loads(path.read_text())
            path.write_text(json.dumps(document | {"valid": True}))
        return read_campaign(self.path)

    @property
    def header(self) -> dict[str, Any]:
        return dict(json.loads((self.path / "campaign.json").read_text()))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    class Fresh(PaperLab):
        script: dict[str, list[str]] = {}

    monkeypatch.setitem(LABS, "paper", Fresh)
    monkeypatch.setattr(costs, "file", lambda: tmp_path / "costs.json")
    monkeypatch.setattr(record, "finish", captured)
    return Folder(tmp_path / "out")


def cells(found: CampaignRecords) -> set[tuple[object, ...]]:
    return {(*trial.factors.values(), trial.seed) for trial in found.trials}


ALL = {(flavor, buffer, seed) for flavor in ("SACK", "large") for buffer in ("2", "3")
       for seed in (1, 2, 3)}  # fmt: skip


@pytest.mark.parametrize(
    "later",
    [
        {"seeds": 1},
        {"only": ["flavor=large"]},
        {"seeds": 2, "only": ["buffer=3"], "pcap": ["down"]},
        {"seeds": 3, "pcap": ["down", "up"]},
    ],
)
def test_whatever_is_run_later_the_rest_stays(folder: Folder, later: dict[str, Any]) -> None:
    folder.run(seeds=3)
    found = folder.run(**later)
    assert cells(found) == ALL and not found.others
    again = folder.run(seeds=3)
    assert cells(again) == ALL and not again.others


def test_of_one_trial_the_record_with_captures_counts(folder: Folder) -> None:
    """Whichever was run last: facts are the same, and an export needs the captures."""
    for how in ({"pcap": ["down"]}, {}):
        found = folder.run(seeds=1, **how)
        assert all((trial.folder / "down.pcap").exists() for trial in found.trials)
    assert len(found.superseded) == len(found.trials) == 4
    assert "4 of 8 records" in omissions(found) and "same levels and seed" in omissions(found)


def test_another_plan_is_left_out_by_name_and_comes_back(folder: Folder) -> None:
    first = folder.run(seeds=2)
    changed = TEXT.replace("delay_us = 5_000", "delay_us = 6_000")
    found = folder.run(changed, seeds=1)
    assert {trial.seed for trial in found.trials} == {1} and len(found.trials) == 4
    assert {name for name, _ in found.others} == {trial.name for trial in first.trials}
    assert {why for _, why in found.others} == {"it ran with other settings: topology.delay_ns"}
    line = omissions(found)
    assert line.startswith(f"{folder.path}: left out 8 of 12 records: ") and "\n" not in line
    assert "it ran with other settings: topology.delay_ns" in line
    assert cells(folder.run(seeds=1)) == {cell for cell in ALL if cell[2] != 3}


def test_a_level_that_is_gone(folder: Folder) -> None:
    folder.run()
    found = folder.run(TEXT.replace("[2.0, 3]", "[3]"))
    assert len(found.trials) == 2
    assert {why for _, why in found.others} == {"the experiment does not have buffer=2"}


@pytest.mark.parametrize(("text", "left_out"), [(TEXT, 0), (TEXT.replace("5_000", "6_000"), 4)])
def test_a_kernel_that_only_others_need_is_not_built(
    folder: Folder, text: str, left_out: int
) -> None:
    """Its records count as before, unless the plan is another; and its trials are listed."""
    folder.run()
    running = Experiment.from_text(text).prepare(
        folder.path, lab="paper", jobs=1, only=["flavor=SACK"]
    )
    nowhere = folder.path / "nowhere"
    running.every = [
        one
        if one.factors["flavor"] == "SACK"
        else replace(one, kernel=nowhere, name=f"{one.name}?")
        for one in running.every
    ]
    running.run()
    others = {one.name for one in running.every if one.kernel}
    listed = {one["trial"]: one for one in folder.header["trials"]}
    assert others <= listed.keys() and not any(listed[name]["cell"] for name in others)
    assert sum(not one["counts"] for one in listed.values()) == left_out
    found = folder.run()  # and when it is built, it is as before
    assert cells(found) == {cell for cell in ALL if cell[2] == 1}
    assert others.isdisjoint(one["trial"] for one in folder.header["trials"])


def test_other_software(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.run()
    code = {**identity.software("paper"), "code": "another"}
    monkeypatch.setattr(identity, "software", lambda *_: code)
    monkeypatch.setattr(identity, "found", lambda *_: code)
    found = folder.run(only=["buffer=3"])
    others = dict(found.others).values()
    assert len(found.trials) == 2 and len(others) == 4
    no_like = "it ran with other settings or software, and no trial with these levels counts"
    assert set(others) == {"it ran with other software: code", no_like}


def test_each_trial_has_its_levels_as_they_are(folder: Folder) -> None:
    folder.run(seeds=2)
    listed = folder.header["trials"]
    assert [(one["factors"], one["seed"]) for one in listed[:2]] == [
        ({"flavor": "SACK", "buffer": 2.0}, 1), ({"flavor": "SACK", "buffer": 3}, 1),
    ]  # fmt: skip
    assert [type(one["factors"]["buffer"]) for one in listed[:2]] == [float, int]


def earlier(folder: Folder, seeds: tuple[int, ...]) -> None:
    """Its header as earlier versions wrote it: names, of the last run's seeds."""
    names = [one["trial"] for one in folder.header["trials"] if one["seed"] in seeds]
    header = {**folder.header, "format": "cellbed-campaign/1", "trials": names}
    (folder.path / "campaign.json").write_text(json.dumps(header))


def test_an_earlier_header_is_read(folder: Folder) -> None:
    folder.run(seeds=3)
    earlier(folder, (1,))
    found = read_campaign(folder.path)
    assert cells(found) == {cell for cell in ALL if cell[2] == 1}
    assert {why for _, why in found.others} == {"campaign.json does not list it"}
    assert cells(folder.run(seeds=1)) == ALL  # and what it hid comes back


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_killed_while_the_header_is_written(
    folder: Folder, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.run(seeds=2)
    before = (folder.path / "campaign.json").read_bytes()
    child = os.fork()
    if child == 0:
        at: Callable[..., None] = lambda *_: kill()  # noqa: E731
        monkeypatch.setattr(*((os, "fsync", at) if moment == "fsync" else (Path, "replace", at)))
        folder.run(seeds=1)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert (folder.path / "campaign.json").read_bytes() == before
    assert len(folder.run(seeds=1).trials) == 8
