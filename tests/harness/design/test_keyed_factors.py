# SPDX-License-Identifier: GPL-2.0-only
"""A factor that is named by the key that it sets, and levels that mean the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.design import distinct, experiment
from harness.design.trials import PlannedTrial, planned
from plan import plan
from plan.errors import UsageError
from tests.small import TINY, trials_of

FLAVOR = 'flavor = ["SACK"]'
RULED = """[[rule]]
when = { buffer = 250 }
set = { queue.buffer_cells = 250 }
[[rule]]
when = { buffer = 500 }
set = { queue.buffer_cells = 500 }
"""


def tiny(factors: str, more: str = "") -> str:
    return TINY.replace(FLAVOR, factors) + more


def same_but_for_names(trials: list[PlannedTrial]) -> list[str]:
    found = [{**plan.to_json(trial.plan), "factors": {}} for trial in trials]
    return [json.dumps(one, sort_keys=True) for one in found]


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(UsageError) as caught:
        trials_of(folder, text)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", ['"queue.buffer_cells"', "queue.buffer_cells"])
def test_a_key_needs_no_rule(tmp_path: Path, name: str) -> None:
    keyed = trials_of(tmp_path, tiny(f"{name} = [250, 500]"))
    ruled = trials_of(tmp_path, tiny("buffer = [250, 500]", RULED))
    assert [trial.factors for trial in keyed] == [{"queue.buffer_cells": b} for b in (250, 500)]
    assert same_but_for_names(keyed) == same_but_for_names(ruled)


def test_each_kind_of_level_sets_its_key(tmp_path: Path) -> None:
    factors = (
        'tcp.flavor = ["reno", "sack"]\ntcp.server_quickack = [true, false]\n'
        "tcp.parameters.grow_app_limited = [true, false]\nqueue.policy = ['epd']\n"
        "queue.threshold = [0.5, 0.8]\n"
    )
    trials = trials_of(tmp_path, tiny(factors))
    first, last = trials[0].plan, trials[-1].plan
    assert len(trials) == 16
    assert [one.tcp.flavor.name for one in (first, last)] == ["reno", "sack"]
    assert [one.tcp.flavor.parameters["grow_app_limited"] for one in (first, last)] == [1, 0]
    assert [one.queue.down.threshold_ppm for one in (first, last)] == [500_000, 800_000]  # type: ignore[attr-defined]
    assert trials[0].name.startswith("reno-true-true-epd-0.5-s1-")


def test_levels_of_a_key_keep_their_type(tmp_path: Path) -> None:
    text = tiny("queue.buffer_cells = [1000, 250]\nworkload.reverse = [false, true]")
    trials = trials_of(tmp_path, text, "queue.buffer_cells=250.0", "workload.reverse=True")
    assert [trial.factors for trial in trials] == [
        {"queue.buffer_cells": 250, "workload.reverse": True}
    ]
    again = plan.from_json(json.loads(json.dumps(plan.to_json(trials[0].plan))))
    assert again == trials[0].plan and again.factors["workload.reverse"] is True


def test_rules_and_only_name_a_key_too(tmp_path: Path) -> None:
    factors = 'queue.policy = ["plain", "epd", "sd"]\nqueue.buffer_cells = [250, 500]'
    more = """[[rule]]
when = { queue.policy = ["epd", "sd"] }
set = { queue.threshold = 0.8, queue.z = 0.8 }
[[only]]
queue.policy = ["plain", "epd"]
[[only]]
"queue.policy" = ["sd"]
queue.buffer_cells = [500]
"""
    trials = trials_of(tmp_path, tiny(factors, more))
    levels = [tuple(trial.factors.values()) for trial in trials]
    assert levels == [("plain", 250), ("plain", 500), ("epd", 250), ("epd", 500), ("sd", 500)]
    assert trials[-1].plan.queue.down.z_ppm == 800_000  # type: ignore[attr-defined]


def test_a_child_replaces_the_levels_of_a_key(tmp_path: Path) -> None:
    (tmp_path / "parent.toml").write_text(tiny('"queue.buffer_cells" = [250, 500]'))
    child = tmp_path / "child.toml"
    child.write_text('extends = "parent.toml"\nname = "c"\nfactors.queue.buffer_cells = [400]\n')
    [only] = planned(experiment.load(child), child)
    assert only.plan.queue.down.room_cells == 400


@pytest.mark.parametrize(
    ("factors", "more", "said"),
    [
        ("queue.buffer_cells = [250, 0]", "",
         "small.toml, line 5: queue.buffer_cells = 0: allowed are 1 to 1_000_000"),
        ('queue.buffer_cells = [250, "many"]', "",
         'line 5: queue.buffer_cells = "many": must be a whole number'),
        ("queue.bufer_cells = [250, 500]", "", "queue.bufer_cells: "),
        ('"queue.buffer_cells" = [250]\nqueue.buffer_cells = [500]', "",
         "factors.queue.buffer_cells: stands there twice"),
        ("queue.buffer_cells = 250", "", "factors.queue.buffer_cells = 250: must be a list; if "),
        ("queue = {}", "", "factors.queue: must be a list"),
        ("queue.buffer_cells = [250, 500]", "[[rule]]\nwhen = {}\nset.queue.buffer_cells = 99\n",
         "rule 1: set.queue.buffer_cells: the factor queue.buffer_cells sets this key already"),
        ("tcp.parameters.grow_app_limited = [true, false]",
         '[[rule]]\nwhen = {}\nset.tcp.parameters = "none"',
         "rule 1: set.tcp.parameters.grow_app_limited: the factor "),
    ],
)  # fmt: skip
def test_a_key_that_will_not_do(tmp_path: Path, factors: str, more: str, said: str) -> None:
    assert said in refusal(tmp_path, tiny(factors, more))


def test_a_rule_may_repeat_what_its_level_says(tmp_path: Path) -> None:
    rule = '[[rule]]\nwhen.queue.policy = "epd"\nset.queue = { policy = "epd", threshold = 0.8 }\n'
    assert len(trials_of(tmp_path, tiny('queue.policy = ["plain", "epd"]', rule))) == 2


@pytest.mark.parametrize(
    ("factors", "more", "said"),
    [
        ("buffer = [250, 500]", "",
         "factors.buffer: 250 and 500 mean the same: is a rule missing? No [[rule]] has"
         " buffer = 250 or 500 in its `when`"),
        ("buffer = [300, 250, 500]", RULED.partition("[[rule]]\nwhen = { buffer = 500 }")[0],
         "300 and 500 mean the same: is a rule missing? No [[rule]] has buffer = 300 or 500 in"),
        ("buffer = [250, 500]", RULED.replace("buffer_cells = 500", "buffer_cells = 250"),
         "250 and 500 mean the same: is a rule missing? Both lead to the same trials"),
        ('tcp.flavor = ["sack", "vanilla"]\nrun = [1, 2]', "", "factors.run: 1 and 2 mean the"),
        ("queue.threshold = [0.5, 0.8]", "",
         "factors.queue.threshold: 0.5 and 0.8 mean the same: no trial of this file uses queue.th"),
    ],
)  # fmt: skip
def test_two_levels_that_mean_the_same(tmp_path: Path, factors: str, more: str, said: str) -> None:
    assert said in refusal(tmp_path, tiny(factors, more))


def test_a_level_that_matters_in_some_cells_does(tmp_path: Path) -> None:
    """A threshold means nothing to the policy plain; --only does not make it a mistake."""
    text = tiny('queue.policy = ["plain", "epd"]\nqueue.threshold = [0.5, 0.8]')
    assert len(trials_of(tmp_path, text, "queue.policy=plain")) == 2
    with pytest.raises(UsageError, match="0.5 and 0.8 mean the same"):
        trials_of(tmp_path, text + '[[only]]\nqueue.policy = ["plain"]\n')


HALF = """[[rule]]
when = { buffer = 1000, tcp.flavor = "sack" }
set = { queue.buffer_cells = 1000 }
"""
TWO_FLAVORS = 'tcp.flavor = ["sack", "reno", "vanilla"]\nbuffer = [300, 1000]'


def test_a_rule_for_some_combinations_leaves_the_others_the_same(tmp_path: Path) -> None:
    """Else the table of results would show the figures of 300 cells under the name 1000."""
    said = refusal(tmp_path, tiny(TWO_FLAVORS, HALF))
    assert "small.toml, line 6: factors.buffer: 300 and 1000 mean the same with" in said
    assert "with tcp.flavor reno or vanilla: is a rule missing?" in said
    some = refusal(tmp_path, tiny(f"{TWO_FLAVORS}\nqueue.policy = ['plain', 'epd']", HALF))
    assert "mean the same with tcp.flavor reno or vanilla: is" in some
    only = "[[only]]\nbuffer = [300]\n[[only]]\ntcp.flavor = ['sack']\n"
    assert len(trials_of(tmp_path, tiny(TWO_FLAVORS, HALF + only))) == 4
    assert (
        len(trials_of(tmp_path, tiny(TWO_FLAVORS, HALF.replace(', tcp.flavor = "sack"', "")))) == 6
    )


def test_where_words_do_not_name_all_places_the_first_stands(tmp_path: Path) -> None:
    factors = 'tcp.flavor = ["sack", "reno"]\nqueue.policy = ["plain", "ppd"]\nbuffer = [300, 1000]'
    one_of = '[[rule]]\nwhen = {{ buffer = 1000, tcp.flavor = "{}", queue.policy = "{}" }}\n'
    rules = "".join(
        one_of.format(*pair) + "set = { queue.buffer_cells = 1000 }\n"
        for pair in (("sack", "plain"), ("reno", "ppd"))
    )
    said = refusal(tmp_path, tiny(factors, rules))
    assert "mean the same with tcp.flavor sack and queue.policy ppd: is a rule" in said


def test_levels_with_one_plan_in_some_combinations_are_told(tmp_path: Path) -> None:
    """The file tells them apart, and the policy plain has no threshold."""
    path = tmp_path / "small.toml"
    path.write_text(tiny('queue.policy = ["plain", "epd"]\nqueue.threshold = [0.5, 0.8]'))
    design = experiment.load(path)
    [said] = distinct.equal_plans(design, planned(design, path), path)
    assert said == (
        f"{path}, line 6: factors.queue.threshold: 0.5 and 0.8 mean the same with queue.policy"
        " plain; their trials give equal figures"
    )
    assert distinct.equal_plans(design, planned(design, path, ["queue.policy=epd"]), path) == []


def test_levels_that_no_cell_sets_side_by_side_are_two(tmp_path: Path) -> None:
    """Nothing says that they mean the same where no two cells differ in them alone."""
    text = tiny('tcp.flavor = ["sack", "reno"]\nrun = [1, 2]')
    text += (
        '[[only]]\ntcp.flavor = ["sack"]\nrun = [1]\n[[only]]\ntcp.flavor = ["reno"]\nrun = [2]\n'
    )
    assert len(trials_of(tmp_path, text)) == 2


def test_a_factor_without_the_table_of_its_key(tmp_path: Path) -> None:
    without = TINY.replace(", buffer_cells = 300", "")
    assert without != TINY
    said = refusal(tmp_path, without.replace(FLAVOR, "buffer_cells = [250, 1000]"))
    assert said.endswith("; did you mean the factor queue.buffer_cells?")
