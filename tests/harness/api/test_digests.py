# SPDX-License-Identifier: GPL-2.0-only
"""The table of digests: its trials are there, and what another machine left is compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.api import digests
from harness.api.digests import Line
from harness.api.experiment import Experiment
from harness.judge import studies
from plan.errors import UsageError

FOLDER = studies.folder("ubr_1996").parent
LINE = Line(machine="Debian 12, gcc 12, x86_64, root", trial="t seed 1", plan="p1", digest="d1")
OTHER = replace(LINE, machine="Debian 13, gcc 14, x86_64, user")


def test_twenty_two_trials_of_all_studies() -> None:
    trials = digests.wanted(FOLDER)
    assert len({trial.name for trial in trials}) == 22
    assert {Path(trial.experiment).parts[0] for trial in trials} == {
        path.name for path in FOLDER.iterdir() if path.is_dir() and any(path.glob("*.toml"))
    } - {"__pycache__"}
    for trial in trials:
        levels = {name: [level] for name, level in trial.levels.items()}
        found = Experiment.from_file(FOLDER / trial.experiment).trials(seeds=trial.seed)
        there = {digests._key(one) for one in found}
        assert (frozenset(trial.levels.items()), trial.seed) in there, levels


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "agrees with 1 kept"),
        ({"digest": "d2"}, "differs from Debian 13, gcc 14, x86_64, user"),
        ({"plan": "p2"}, "a trial with other settings is kept"),
        ({"trial": "u seed 1"}, "nothing is kept"),
        ({"digest": ""}, "it left no record"),
    ],
)
def test_a_line_is_compared_with_other_machines(changed: dict[str, str], said: str) -> None:
    assert digests.agreement(replace(LINE, **changed), [OTHER]) == said


def test_a_machine_replaces_its_own_lines_only(tmp_path: Path) -> None:
    assert digests.kept(tmp_path) == []
    digests.keep(tmp_path, [LINE])
    said = digests.keep(tmp_path, [OTHER])
    assert said == f"{tmp_path / digests.KEPT} now has 1 line of this machine."
    again = replace(LINE, digest="d3")
    said = digests.keep(tmp_path, [again, replace(LINE, trial="u seed 1", digest="")])
    assert said.endswith("now has 1 line of this machine, in place of 1 line of the same name.")
    assert digests.kept(tmp_path) == [OTHER, again]


def test_a_trial_that_its_experiment_has_not(tmp_path: Path) -> None:
    [first, *_] = digests.wanted(FOLDER)
    lost = replace(first, levels={**first.levels, "network": "MAN"})
    with pytest.raises(UsageError, match="names 'ubr-persistent MAN"):
        list(digests.run(FOLDER, [lost], tmp_path, None))


def test_a_bad_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the trials in .* cannot be read"):
        digests.wanted(tmp_path)
    (tmp_path / digests.TRIALS).write_text("[[trial]]\nseed = 1\nplace = 2\n")
    with pytest.raises(UsageError, match="the trials in .* cannot be read"):
        digests.wanted(tmp_path)


def test_a_machine_is_told_in_words() -> None:
    told = digests.machine()
    assert told.endswith((", root", ", user")) and told.count(", ") >= 3
    assert digests.processor(digests.CPUINFO) in told


@pytest.mark.parametrize(
    ("cpuinfo", "said"),
    [
        ("processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD  EPYC \nsize\t: 1 KB\n", "AMD EPYC"),
        ("processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n",
         "CPU implementer 0x41 CPU part 0xd0c"),
        ("processor\t: 0\nmodel name\t:\nflags\t: fpu\n", "unknown processor"),
        (None, "unknown processor"),
    ],
)  # fmt: skip
def test_a_processor_has_the_name_of_its_model(
    tmp_path: Path, cpuinfo: str | None, said: str
) -> None:
    path = tmp_path / "cpuinfo"
    if cpuinfo is not None:
        path.write_text(cpuinfo)
    assert digests.processor(path) == said
