# SPDX-License-Identifier: GPL-2.0-only
"""98-0876R1's experiments: what each has that another has not, plan by plan."""

from __future__ import annotations

from itertools import pairwise

from harness.design import experiment
from harness.design.experiment import Level
from harness.design.trials import planned
from plan.plan import from_json, to_json
from studies.ubrplus_1998.simulation import PREDICTIONS
from tests.small import PROJECT

CELL = ("network", "flavor", "policy", "buffer")
Plans = dict[Level, dict]


def plans_of(name: str) -> dict[tuple[Level, ...], Plans]:
    """Of an experiment: cell -> level of its further factor, or "" -> the first seed's plan."""
    path = PROJECT / "studies" / "ubrplus_1998" / f"ubrplus-www{name}.toml"
    found: dict[tuple[Level, ...], Plans] = {}
    for trial in planned(experiment.load(path), path, seeds=1):
        cell = tuple(trial.factors[factor] for factor in CELL)
        level = next((v for f, v in trial.factors.items() if f not in CELL), "")
        rest = {k: v for k, v in to_json(trial.plan).items() if k not in ("factors", "experiment")}
        found.setdefault(cell, {})[level] = rest
    return found


def changes(one: dict, other: dict, prefix: str = "") -> list[str]:
    """The keys of nested tables whose values differ."""
    found = []
    for key in one | other:
        before, after = one.get(key), other.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            found += changes(before, after, f"{prefix}{key}.")
        elif before != after:
            found.append(prefix + key)
    return found


def test_the_default_is_the_texts_first_reading() -> None:
    text = plans_of("-text")
    for cell, plans in plans_of("").items():
        assert plans[""] == text[cell]["2 ticks"]
        assert changes(*text[cell].values()) == ["tcp.flavor.parameters.rto_min_ticks"]


def test_the_path_leads_from_the_later_rfcs_to_the_text() -> None:
    """Each step is the one before it and a cause more; the last two are the text's readings."""
    text, rfc = plans_of("-text"), plans_of("-rfc")
    changed: dict[Level, set[str]] = {}
    for cell, steps in plans_of("-path").items():
        assert next(iter(steps.values())) == rfc[cell][""]
        assert list(steps.values())[-2:] == list(text[cell].values())
        for before, after in pairwise(steps):
            changed.setdefault(after, set()).update(changes(steps[before], steps[after]))
    keys = list(map(len, changed.values()))
    assert keys == [1, 1, 1, 1, 1, 1, 2, 1], changed


def test_each_set_of_the_simulation_is_of_one_experiment() -> None:
    simulated = {("today", "-rfc", ""), ("literal", "", ""), ("literal", "-text", "2 ticks")}
    simulated |= {("model", "", ""), ("model", "-text", "2 ticks"), ("model", "-text", "1 s")}
    found = set()
    for name in ("", "-rfc", "-text"):
        for cell, plans in plans_of(name).items():
            levels = dict(zip(CELL, map(str, cell), strict=True))
            found |= {
                (prediction.name, name, level)
                for prediction in PREDICTIONS
                for level, plan in plans.items()
                if prediction.of(levels, from_json({**plan, "experiment": "", "factors": {}}), 1)
            }
    assert found == simulated
