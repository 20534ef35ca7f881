# SPDX-License-Identifier: GPL-2.0-only
"""What a run builds before its trials: for the chosen trials, in a folder that is its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.api.experiment import Experiment
from harness.campaign.campaign import CampaignRun
from harness.campaign.lock import locked
from harness.design.shard import Shard
from harness.kernels import store
from plan.errors import LabError, UsageError
from tests.small import TINY

# A level without a kernel of its own, two with one, and one that needs a person's trust.
TEXT = (
    TINY.replace('["SACK"]', '["SACK", "quick", "slow", "patched"]')
    + """
[[rule]]
when = { flavor = "quick" }
set.lab.kernel = "6.12,hz=1000"
[[rule]]
when = { flavor = "slow" }
set.lab.kernel = "6.12,hz=250"
[[rule]]
when = { flavor = "patched" }
set.lab.kernel = "6.12,patch=nowhere.patch"
"""
)
WITHOUT_PATCH = TEXT.replace(",patch=nowhere.patch", ",hz=500")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of kernels that were built; none is there before."""
    found: list[str] = []
    monkeypatch.setattr(store, "ready", found.append)
    monkeypatch.setattr(store, "found", lambda name, **_: None)
    return found


def prepared(folder: Path, text: str = TEXT, **how: Any) -> CampaignRun:
    return Experiment.from_text(text).prepare(folder, jobs=1, **how)


def test_a_folder_in_use_is_refused_before_a_build(tmp_path: Path, built: list[str]) -> None:
    with locked(tmp_path), pytest.raises(UsageError, match="uses this folder; wait until it ends"):
        prepared(tmp_path, only=["flavor=quick"])
    assert built == []
    prepared(tmp_path, only=["flavor=quick"])
    assert built == ["6.12,hz=1000"]


def test_the_folder_is_held_while_a_kernel_is_built(
    tmp_path: Path, built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(name: str) -> None:
        with pytest.raises(UsageError, match="uses this folder"), locked(tmp_path):
            pass
        built.append(name)

    monkeypatch.setattr(store, "ready", build)
    prepared(tmp_path, only=["flavor=quick"])
    with locked(tmp_path):
        assert built == ["6.12,hz=1000"]


def test_a_folder_of_another_kind_is_refused_before_a_build(
    tmp_path: Path, built: list[str]
) -> None:
    (tmp_path / "letter").touch()
    with pytest.raises(UsageError, match="has files but no campaign.json"):
        prepared(tmp_path, only=["flavor=quick"])
    assert built == []


@pytest.mark.parametrize(
    ("only", "names"),
    [
        (["flavor=SACK"], []),
        (["flavor=slow"], ["6.12,hz=250"]),
        (["flavor=SACK,slow"], ["6.12,hz=250"]),
    ],
)
def test_only_what_the_chosen_trials_need_is_built(
    tmp_path: Path, built: list[str], only: list[str], names: list[str]
) -> None:
    """Also if a kernel of the others cannot be built at all."""
    running = prepared(tmp_path / "out", only=only, trust_kernels=True)
    assert built == names
    assert len(running.trials) == only[0].count(",") + 1 and len(running.every) == 4
    assert {one.name for one in running.trials} <= {one.name for one in running.every}
    if not names:
        assert not (tmp_path / "out").exists()


def test_what_is_refused_of_a_chosen_trial_is_said_before_a_build(
    tmp_path: Path, built: list[str]
) -> None:
    with pytest.raises(UsageError, match="6.12,patch=nowhere.patch: "):
        prepared(tmp_path / "out", only=["flavor=slow,patched"], trust_kernels=True)
    with pytest.raises(UsageError, match="6.12,patch=nowhere.patch: "):
        prepared(tmp_path / "out")
    assert built == [] and not (tmp_path / "out").exists()


def test_a_shard_has_the_names_of_all_trials(tmp_path: Path, built: list[str]) -> None:
    """They are in the header of each shard, by which shards are merged."""
    prepared(tmp_path, WITHOUT_PATCH, only=["flavor=slow"], shard=Shard(number=1, count=1))
    assert sorted(built) == ["6.12,hz=1000", "6.12,hz=250", "6.12,hz=500"]


def test_a_build_that_fails_gives_the_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        raise LabError(f"kernel {name} does not build")

    monkeypatch.setattr(store, "ready", fail)
    monkeypatch.setattr(store, "found", lambda name, **_: None)
    with pytest.raises(LabError):
        prepared(tmp_path, only=["flavor=quick"])
    with locked(tmp_path):
        pass
