# SPDX-License-Identifier: GPL-2.0-only
"""Bad experiment files give one line that names the file, the key and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import PROJECT, SMALL, small_trials, write_small

from harness import experiment, plan
from harness.errors import UsageError

MISTAKES = [
    ("name = ", "nme = ", "nme: unknown key"),
    ('policy = "epd"', 'policy = "edp"', "queue.policy"),
    ("buffer_cells = 300", "buffer_cells = 0", "queue.buffer_cells"),
    ("buffer_cells = 300", 'buffer_cells = "300"', "queue.buffer_cells"),
    ("threshold = 0.8", "threshold = 1.8", "queue.threshold"),
    (", threshold = 0.8", "", "queue.threshold: required"),
    ("topology.pairs = 4", "topology.pairs = 4000", "topology.pairs"),
    ("topology.rate_bit_per_s = 45_000_000\n", "", "topology.rate_bit_per_s: required"),
    ('kind = "www"', 'kind = "ftp"', "workload.kind"),
    ("duration_s = 12.0", "duration_m = 12.0", "workload.duration_m: unknown key"),
    ('network = ["WAN", "GEO"]', 'network = ["WAN", "wan"]', "factors.network"),
    ('when = { flavor = "SACK" }', 'when = { flavour = "SACK" }', "when.flavour: no such factor"),
    ('when = { flavor = "SACK" }', 'when = { flavor = "FACK" }', "no such level"),
    ('tcp.flavor = "sack"', 'tcp.flavor = "fack"', "fack: no such TCP flavor"),
    ("grow_app_limited = true", "grow_applimited = true", "grow_applimited"),
    ("[factors]", "[factors", "not TOML"),
    ("[[rule]]", "tcp.sysctl.tcp_sacked = 1\n[[rule]]", "tcp_sacked: flavor newreno does not"),
]


@pytest.mark.parametrize(("right", "wrong", "said"), MISTAKES)
def test_mistake_gives_one_line(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    text = SMALL.replace(right, wrong, 1) if right == "[[rule]]" else SMALL.replace(right, wrong)
    if right == 'network = ["WAN", "GEO"]':
        text = text.replace('network = "GEO"', 'network = "WAN"')
    assert text != SMALL
    path = write_small(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        plan.trials(experiment.load(path), path)
    message = str(caught.value)
    assert said in message and "\n" not in message
    assert str(path) in message or "TCP flavor" in message


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere.toml: No such file"):
        experiment.load(tmp_path / "nowhere.toml")


def test_every_experiment_of_the_project_is_complete() -> None:
    files = sorted((PROJECT / "experiments").glob("*.toml"))
    assert files
    for path in files:
        assert plan.trials(experiment.load(path), path)


def test_the_papers_factorial_has_72_cells_and_its_buffers() -> None:
    path = PROJECT / "experiments" / "ubrplus-www.toml"
    trials = plan.trials(experiment.load(path), path)
    assert len(trials) == 72
    buffers = {
        (t.factors["network"], t.factors["buffer"]): t.plan["queue"]["down"]["buffer_cells"]
        for t in trials
    }
    assert buffers["WAN", 0.5] == 531 and buffers["GEO", 2] == 116_760
    assert {t.plan["tcp"]["ssthresh_segments"] for t in trials} == {55, 123, 337}


def test_levels_match_without_case_and_1_is_1_0(tmp_path: Path) -> None:
    assert len(small_trials(tmp_path, "network=geo", "flavor=sack,NEWRENO")) == 2
    path = PROJECT / "experiments" / "ubrplus-www.toml"
    loaded = experiment.load(path)
    assert len(plan.trials(loaded, path, ["buffer=1.0", "network=wan"])) == 8


@pytest.mark.parametrize("only", ["network=MARS", "planet=GEO", "network"])
def test_wrong_only_says_what_there_is(tmp_path: Path, only: str) -> None:
    with pytest.raises(UsageError, match="WAN|network"):
        small_trials(tmp_path, only)


def test_a_trial_is_known_by_its_plan_and_code(tmp_path: Path) -> None:
    path = write_small(tmp_path)
    loaded = experiment.load(path)
    first, again = (plan.trials(loaded, path, code="a") for _ in range(2))
    assert [t.name for t in first] == [t.name for t in again]
    assert not {t.name for t in first} & {t.name for t in plan.trials(loaded, path, code="b")}
    changed = write_small(tmp_path, SMALL.replace("buffer_cells = 29_190", "buffer_cells = 29_191"))
    other = {t.name for t in plan.trials(experiment.load(changed), changed, code="a")}
    kept = {t.name for t in first} & other
    assert {name.split("-")[0] for name in kept} == {"WAN"} and len(kept) == 2


def test_an_experiment_extends_another(tmp_path: Path) -> None:
    write_small(tmp_path)
    child = tmp_path / "child.toml"
    child.write_text(
        'extends = "small.toml"\nname = "child"\n[factors]\nnetwork = ["GEO"]\npairs = [2, 3]\n'
        "[[rule]]\nwhen = { pairs = 2 }\nset = { topology.pairs = 2 }\n"
    )
    trials = plan.trials(experiment.load(child), child)
    assert [t.plan["topology"]["pairs"] for t in trials] == [2, 4, 2, 4]
    assert {t.plan["topology"]["mss_bytes"] for t in trials} == {9180}


def test_the_assumptions_change_one_thing_each() -> None:
    """Beside the default of its network and buffer, the same trial with one thing changed."""
    path = PROJECT / "experiments" / "ubrplus-www-assumptions.toml"
    plans = {}
    for trial in plan.trials(experiment.load(path), path):
        *cell, assumption = trial.factors.values()
        rest = {k: v for k, v in trial.plan.items() if k != "factors"}
        plans.setdefault(tuple(cell), {})[assumption] = rest
    for of_cell in plans.values():
        default = of_cell.pop("default")
        changed = [changes(default, other) for other in of_cell.values()]
        assert all(len(keys) == 1 for keys in changed), changed


def changes(one: dict, other: dict, prefix: str = "") -> list[str]:
    """The keys of nested tables whose values differ."""
    found = []
    for key, value in one.items():
        if isinstance(value, dict):
            found += changes(value, other[key], f"{prefix}{key}.")
        elif value != other[key]:
            found.append(prefix + key)
    return found


def test_the_initial_window_can_be_set(tmp_path: Path) -> None:
    text = SMALL.replace("[[rule]]", "tcp.initial_window_segments = 3\n[[rule]]", 1)
    path = write_small(tmp_path, text)
    routes = [t.plan["tcp"]["flavor"]["route"] for t in plan.trials(experiment.load(path), path)]
    assert all(r["server"]["initcwnd"] == 3 and r["client"]["initcwnd"] == 1 for r in routes)
