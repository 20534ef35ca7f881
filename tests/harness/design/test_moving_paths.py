# SPDX-License-Identifier: GPL-2.0-only
"""Paths that move, in the planning of an experiment: drawn once, and never without any packet."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.design import experiment
from harness.design.trials import chosen, planned
from plan import plan
from plan.errors import UsageError
from plan.paths import gauss_markov
from tests.small import trials_of

TEXT = """
name = "moving"
title = "a path that moves"
[factors]
queue.buffer_cells = [250, 1000]
[base]
topology = { pairs = 1, rate_bit_per_s = 10_000_000, delay_us = 5_000, mss_bytes = 1024 }
topology.path = PATH
queue = { policy = "plain" }
tcp = { flavor = "sack", window_bytes = 65_535, ssthresh_bytes = 65_535 }
workload = { kind = "iperf", duration_s = 2 }
""".replace("}\ntopology.path = PATH", ", path = PATH }")
DRAWN = '{ kind = "gauss-markov", deviation_bit_per_s = 1_000_000, duration_s = 2 }'


def text(path: str) -> str:
    return TEXT.replace("PATH", path)


def test_a_path_is_drawn_once_for_all_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: Counter[int] = Counter()
    draw = gauss_markov.Settings.of_seed

    def counted(self: gauss_markov.Settings, site: Any, seed: int) -> plan.Path:
        drawn[seed] += 1
        return draw(self, site, seed)

    monkeypatch.setattr(gauss_markov.Settings, "of_seed", counted)
    trials = trials_of(tmp_path, text(DRAWN), seeds=3)
    assert len(trials) == 6
    assert drawn == {0: 1, 1: 1, 2: 1, 3: 1}


def test_settings_of_their_own_have_a_path_of_their_own(tmp_path: Path) -> None:
    one, other = (
        trials_of(tmp_path, text(DRAWN.replace("1_000_000", deviation)), seeds=1)[0]
        for deviation in ("1_000_000", "1_000_001")
    )
    assert one.plan.topology.path != other.plan.topology.path


def test_the_name_has_the_hash_of_the_whole_plan(tmp_path: Path) -> None:
    for trial in trials_of(tmp_path, text(DRAWN), seeds=2):
        whole = json.dumps([plan.to_json(trial.plan), ""], sort_keys=True)
        assert trial.name.endswith(hashlib.sha256(whole.encode()).hexdigest()[:10])


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    found = []
    for rate in (2_000_000, 3_000_000):
        (tmp_path / "path.csv").write_text(f"time_s,rate_bit_per_s\n0,{rate}\n")
        path = trials_of(tmp_path, text('"path.csv"'))[0].plan.topology.path
        assert path is not None
        found += path.down.rates_bit_per_s
    assert found == [2_000_000, 3_000_000]


@pytest.mark.parametrize(
    ("path", "rows", "message"),
    [
        (
            '{ kind = "starlink", loss = 1 }',
            "",
            "topology.path.loss = 1: no packet could ever pass; it must be less than 1",
        ),
        (
            '"path.csv"',
            "time_s,loss\n0,1\n",
            "topology.path: path.csv: loss = 1 in every row in which the link towards the clients"
            " sends, so no packet could ever pass",
        ),
        (
            '"path.csv"',
            "time_s,up_loss,outage\n0,1,0\n1,0,1\n2,1,0\n",
            "loss = 1 in every row in which the link towards the servers sends",
        ),
    ],
)
def test_a_path_that_loses_everything_is_refused(
    tmp_path: Path, path: str, rows: str, message: str
) -> None:
    (tmp_path / "path.csv").write_text(rows)
    with pytest.raises(UsageError) as caught:
        trials_of(tmp_path, text(path))
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'small.toml'}, line 7: ")


@pytest.mark.parametrize("rows", ["time_s,loss\n0,1\n1,0.5\n", "time_s,loss\n0,0.99\n"])
def test_a_path_that_lets_packets_pass_is_planned(tmp_path: Path, rows: str) -> None:
    (tmp_path / "path.csv").write_text(rows)
    assert len(trials_of(tmp_path, text('"path.csv"'))) == 2


def test_only_chooses_of_the_planned_trials(tmp_path: Path) -> None:
    path = tmp_path / "moving.toml"
    path.write_text(text('"none"'))
    design = experiment.load(path)
    only = ["queue.buffer_cells=1000"]
    every = planned(design, path, (), 2)
    assert chosen(design, path, every, only) == planned(design, path, only, 2)
    assert chosen(design, path, every, ()) == every
    with pytest.raises(UsageError, match="7 is no level of queue.buffer_cells"):
        chosen(design, path, every, ["queue.buffer_cells=7"])


TWO_LINKS = """
name = "moving"
title = "one of two links moves"
[factors]
seed_of = [1]
[base]
topology.kind = "multihomed"
topology.pairs = 1
topology.links_used = "link1"
topology.rate_bit_per_s = [10_000_000, 5_000_000]
topology.delay_us = [7_000, 20_000]
topology.mss_bytes = 1400
topology.path = { kind = "starlink" }
queue = { kind = "drop-tail", limit_packets = 40 }
tcp = { flavor = "cubic", window_bytes = 65_535, ssthresh_bytes = 65_535 }
workload = { kind = "mptcp", duration_s = 2 }
"""


def test_the_first_of_two_links_moves(tmp_path: Path) -> None:
    topology = trials_of(tmp_path, TWO_LINKS)[0].plan.topology
    assert topology.path is not None
    assert topology.layout().moved.name == "link1"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "topology.mss",
            "topology.common_rate_bit_per_s = 4_000_000\ntopology.mss",
            "topology.path: it has its own delays and losses; with it,"
            " topology.common_rate_bit_per_s must be 0",
        ),
        (
            '{ kind = "starlink" }',
            '{ kind = "mahimahi", down = "trace", up = "trace" }',
            "topology.path: its kind counts other bytes than the other links",
        ),
        (
            '{ kind = "drop-tail", limit_packets = 40 }',
            '{ policy = "plain", buffer_cells = 1000 }',
            "topology.path: with topology.kind = multihomed, queue.kind = cells counts cells",
        ),
    ],
)
def test_what_cannot_move_beside_another_link_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    (tmp_path / "trace").write_text("1\n")
    with pytest.raises(UsageError) as caught:
        trials_of(tmp_path, TWO_LINKS.replace(old, new))
    assert message in str(caught.value)
