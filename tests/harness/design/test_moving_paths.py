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
from harness.design.late_paths import late_paths, silent_paths, uneven_paths
from harness.design.trials import chosen, planned
from plan import plan
from plan.errors import UsageError
from plan.paths import gauss_markov
from tests.harness.cli.test_cli import cellbed
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
SHIFTED = """
[[rule]]
when = { workload.kind = "www" }
set.topology.path = "late.csv"
"""


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
            "topology.path: only link1 moves, and not behind a common link; set"
            " topology.common_rate_bit_per_s to 0",
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


@pytest.mark.parametrize(
    ("delays_us", "path_us", "used", "message"),
    [
        ("[7_000, 20_000]", 5_000_000, "link1", "topology.path: the round trip would take 10."),
        ("[5_000_000, 20_000]", 4_000_000, "link1", None),
        ("[7_000, 5_000_000]", 4_000_000, "link2", "topology.delay_us = [7000, 5000000]: the "),
        ("[7_000, 20_000]", 5_000_000, "link2", None),
    ],
)
def test_the_round_trip_is_that_of_the_links_in_use(
    tmp_path: Path, delays_us: str, path_us: int, used: str, message: str | None
) -> None:
    """Of the path's shortest delays on the link that moves, and of its own on the other link."""
    (tmp_path / "path.csv").write_text(f"time_s,delay_us\n0,9000000\n1,{path_us}\n")
    text = TWO_LINKS
    for old, new in (
        ("[7_000, 20_000]", delays_us),
        ('{ kind = "starlink" }', '"path.csv"'),
        ('links_used = "link1"', f'links_used = "{used}"'),
        ('"mptcp"', '"iperf"'),
    ):
        assert old in text
        text = text.replace(old, new)
    if message is None:
        assert trials_of(tmp_path, text)
        return
    with pytest.raises(UsageError) as caught:
        trials_of(tmp_path, text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ("0,10000000\n1.999999,9000000\n", ""),
        ("0,10000000\n2,9000000\n", "2"),
        (
            "0,10000000\n1,10000000\n2.000001,9000000\n",
            "2.000001",
        ),  # its second row changes nothing
        ("0,9000000\n", ""),  # a path of one row is not meant to change
    ],
)
def test_a_path_that_changes_too_late_is_told(tmp_path: Path, rows: str, first: str) -> None:
    (tmp_path / "path.csv").write_text(f"time_s,rate_bit_per_s\n{rows}")
    (tmp_path / "x.toml").write_text(text('"path.csv"'))
    design = experiment.load(tmp_path / "x.toml")
    found = late_paths(design, planned(design, tmp_path / "x.toml"), tmp_path / "x.toml")
    line = text("").split("\n").index("[base]") + 2
    said = f"topology.path: its first change is at {first} s, and workload.duration_s is 2; so"
    assert [one.partition(" the path does")[0] for one in found] == (
        [f"{tmp_path / 'x.toml'}, line {line}: {said}"] if first else []
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("0,,,,1\n2,,,,0\n", "clients carries no packet before 2 s, and the direction to the ser"),
        ("0,,0,,\n3,,9000000,,\n", "servers carries no packet before 3 s, and workload.duration_"),
        ("0,1,,,\n30,0,,,\n", "clients carries no packet before 30 s, and the direction to the se"),
        ("0,,,,1\n1.999999,,,,0\n", ""),
        ("0.000001,,,,1\n3,,,,0\n", ""),  # until then the link has its own rate
    ],
)
def test_a_path_that_carries_nothing_is_told(tmp_path: Path, rows: str, said: str) -> None:
    head = "time_s,loss,up_rate_bit_per_s,down_delay_us,outage\n"
    (tmp_path / "path.csv").write_text(head + rows)
    (tmp_path / "x.toml").write_text(text('"path.csv"'))
    design = experiment.load(tmp_path / "x.toml")
    trials = planned(design, tmp_path / "x.toml")
    found = silent_paths(design, trials, tmp_path / "x.toml")
    line = text("").split("\n").index("[base]") + 2
    begin = f"{tmp_path / 'x.toml'}, line {line}: topology.path: the direction to the {said}"
    assert [one[: len(begin)] for one in found] == ([begin] if said else [])
    if said:
        assert not late_paths(design, trials, tmp_path / "x.toml")


def test_a_workload_that_starts_later_has_more_time(tmp_path: Path) -> None:
    design_of = text('"path.csv"').replace('"iperf"', '"www"')
    for late_s, notes in ((61, 0), (63, 1)):
        (tmp_path / "path.csv").write_text(f"time_s,rate_bit_per_s\n0,10000000\n{late_s},9000000\n")
        (tmp_path / "x.toml").write_text(design_of)
        design = experiment.load(tmp_path / "x.toml")
        trials = planned(design, tmp_path / "x.toml")
        assert len(late_paths(design, trials, tmp_path / "x.toml")) == notes


@pytest.mark.parametrize(
    ("kinds", "rules", "notes"),
    [
        ('["www", "quic"]', "", 1),
        ('["www"]', "", 0),
        ('["quic", "iperf"]', "", 0),
        ('["www", "quic"]', SHIFTED, 0),  # the remedy that docs/moving-paths.md names
    ],
)
def test_workloads_that_meet_a_path_at_different_moments_are_told(
    tmp_path: Path, kinds: str, rules: str, notes: int
) -> None:
    (tmp_path / "path.csv").write_text("time_s,rate_bit_per_s\n0,10000000\n1,9000000\n")
    (tmp_path / "late.csv").write_text("time_s,rate_bit_per_s\n0,10000000\n4,9000000\n")
    given = text('"path.csv"').replace("[base]", f"workload.kind = {kinds}\n[base]")
    given = given.replace('kind = "iperf", ', "").replace("mss_bytes = 1024", "mss_bytes = 1460")
    (tmp_path / "x.toml").write_text(given + rules)
    design = experiment.load(tmp_path / "x.toml")
    found = uneven_paths(design, planned(design, tmp_path / "x.toml"), tmp_path / "x.toml")
    assert len(found) == notes
    for said in found:
        assert "www begins later than time 0 of the moving path, and quic at time 0" in said


def test_the_command_tells_that_nothing_passes(tmp_path: Path) -> None:
    (tmp_path / "path.csv").write_text("time_s,outage\n0,1\n30,0\n")
    (tmp_path / "x.toml").write_text(text('"path.csv"'))
    done = cellbed("run", tmp_path / "x.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0
    assert "carries no packet before 30 s" in done.stderr and "does not change" not in done.stderr


def test_the_command_tells_it(tmp_path: Path) -> None:
    (tmp_path / "path.csv").write_text("time_s,rate_bit_per_s\n0,10000000\n30,9000000\n")
    (tmp_path / "x.toml").write_text(text('"path.csv"'))
    done = cellbed("run", tmp_path / "x.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0
    assert "its first change is at 30 s, and workload.duration_s is 2" in done.stderr


@pytest.mark.parametrize("more", ["", ", period_s = 10"])
def test_more_work_until_the_end_than_has_room_is_refused(tmp_path: Path, more: str) -> None:
    """bpf/path.h would find a moment that is days away, and later a moment in the past."""
    (tmp_path / "path.csv").write_text("time_s,rate_bit_per_s\n0,1000000000\n5,999000000\n")
    given = text(f'{{ kind = "csv", file = "path.csv"{more} }}')
    with pytest.raises(UsageError, match="write a shorter duration or lower rates"):
        trials_of(tmp_path, given.replace("duration_s = 2 ", "duration_s = 3_000 "), seeds=1)
    assert trials_of(tmp_path, given.replace("duration_s = 2 ", "duration_s = 2_000 "), seeds=1)
