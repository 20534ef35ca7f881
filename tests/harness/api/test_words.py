# SPDX-License-Identifier: GPL-2.0-only
"""Errors of the library name its arguments, and no option of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.api import Experiment
from harness.api.words import in_words
from plan.errors import UsageError
from tests import small


def test_an_experiment_shows_what_it_is() -> None:
    said = repr(Experiment.from_text(small.SMALL))
    assert said == "Experiment('small', network: 2 levels, flavor: 2 levels, seeds: 1)"


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("leave out --lab", "leave out the argument lab"),
        ("add --trust-kernels", "add the argument trust_kernels"),
        ("--kernel: a name is empty", "kernels: a name is empty"),
        ("--jobs 3: one lab; leave out --jobs", "jobs = 3: one lab; leave out the argument jobs"),
        ("./cellbed run a --out b; or --out", "./cellbed run a --out b; or the argument out"),
        ("a--b and -- c", "a--b and -- c"),
    ],
)  # fmt: skip
def test_options_become_arguments(said: str, wanted: str) -> None:
    assert in_words(said) == wanted


def test_calls(tmp_path: Path) -> None:
    experiment = Experiment.from_text(small.SMALL)
    with pytest.raises(UsageError, match="^only = nothing=1: the experiment has no factor"):
        experiment.trials(only={"nothing": 1})
    with pytest.raises(UsageError, match="^only: None: must be a level or a list of levels"):
        experiment.trials(only={"flavor": None})  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="^table = {}: the dict is empty"):
        Experiment.from_mapping({})
    with pytest.raises(UsageError, match="^out = '': must be the name of a file or folder"):
        experiment.run("")
    with pytest.raises(UsageError, match="in the uml lab of this machine; leave out the argument"):
        experiment.run(tmp_path / "out", lab="vm", debug=["kasan"])
