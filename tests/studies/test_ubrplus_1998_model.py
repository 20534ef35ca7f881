# SPDX-License-Identifier: GPL-2.0-only
"""The study's model as a command: a line a trial, each once; what it cannot compute it says.

tests/flavors/test_flavor_network.py holds the model itself to the kernel, frame for frame.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.table import read_csv
from harness.api.model import compute
from plan.errors import UsageError
from tests.small import write_small

EXPERIMENT = """
name = "few"
title = "three connections"
study = "ubrplus_1998"
seeds = 2
[factors]
flavor = ["Vanilla", "SACK"]
[base]
topology = { pairs = 3, rate_bit_per_s = 3_000_000, delay_us = 20_000, mss_bytes = 1024 }
queue = { policy = "sd", buffer_cells = 300, threshold = 0.8, z = 0.8 }
workload = { kind = "www", duration_s = 12.0, server_stream = "joined" }
tcp.window_bytes = 65_535
tcp.ssthresh_bytes = 15_000
tcp.parameters.byte_window = true
[[rule]]
when = { flavor = "Vanilla" }
set = { tcp.flavor = "vanilla" }
[[rule]]
when = { flavor = "SACK" }
set = { tcp.flavor = "sack" }
"""


def test_a_line_a_trial_and_each_once(tmp_path: Path) -> None:
    file, out = write_small(tmp_path, EXPERIMENT), tmp_path / "model.csv"
    first = list(compute(file, ["flavor=SACK"], 1, out))
    assert [line.split()[:2] for line in first] == [["SACK", "1"]]
    more = [line.split()[:2] for line in compute(file, [], None, out)]
    assert more == [["Vanilla", "1"], ["Vanilla", "2"], ["SACK", "2"]]
    table = read_csv(out)
    assert list(table.columns) == ["flavor", "seed", "efficiency", "fairness"]
    found = [(float(row["efficiency"]), float(row["fairness"])) for row in table.rows]
    assert len(set(found)) == 4 and all(0.1 < value <= 1 for both in found for value in both)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('study = "ubrplus_1998"', 'study = "ubr_1996"', "this study has no model"),
        ('server_stream = "joined"', 'server_stream = "nginx"', "server_stream"),
    ],
)
def test_what_it_cannot_compute(tmp_path: Path, old: str, new: str, says: str) -> None:
    file = write_small(tmp_path, EXPERIMENT.replace(old, new))
    with pytest.raises(UsageError, match=says):
        list(compute(file, [], 1, tmp_path / "model.csv"))


def test_a_file_of_another_experiment_is_left_as_it_is(tmp_path: Path) -> None:
    file, out = write_small(tmp_path, EXPERIMENT), tmp_path / "model.csv"
    text = "sender,seed,efficiency,fairness\nSACK,1,0.9,0.9\n"
    out.write_text(text)
    with pytest.raises(UsageError, match="does not have the columns flavor, seed"):
        list(compute(file, [], 1, out))
    assert out.read_text() == text
