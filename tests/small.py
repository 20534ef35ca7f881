# SPDX-License-Identifier: GPL-2.0-only
"""A small experiment, and what runs it in a real lab."""

from __future__ import annotations

from pathlib import Path

from harness.campaign.campaign import CampaignRun
from harness.design import experiment
from harness.design.trials import PlannedTrial, planned
from harness.runners.options import Options

PROJECT = Path(__file__).resolve().parent.parent

SMALL = """
name = "small"
title = "a small experiment for the tests"
[factors]
network = ["WAN", "GEO"]
flavor = ["NewReno", "SACK"]
[base]
topology.pairs = 4
topology.rate_bit_per_s = 45_000_000
queue = { policy = "epd", buffer_cells = 300, threshold = 0.8 }
workload = { kind = "www", duration_s = 12.0 }
record.queue_sample_ms = 100
record.cwnd_sample_ms = 100
record.cwnd_pairs = [2, 4]
record.drops = true
tcp.parameters = { grow_app_limited = true }
[[rule]]
when = { network = "WAN" }
set.topology = { delay_us = 5_000, mss_bytes = 1024 }
set.tcp = { window_bytes = 65_535, ssthresh_bytes = 56_250 }
[[rule]]
when = { network = "GEO" }
set.topology = { delay_us = 275_000, mss_bytes = 9180 }
set.tcp = { window_bytes = 4_194_240, ssthresh_bytes = 3_093_750 }
set.queue.buffer_cells = 29_190
[[rule]]
when = { flavor = "NewReno" }
set = { tcp.flavor = "newreno" }
[[rule]]
when = { flavor = "SACK" }
set = { tcp.flavor = "sack" }
"""


def write_small(folder: Path, text: str = SMALL) -> Path:
    path = folder / "small.toml"
    path.write_text(text)
    return path


def trials_of(folder: Path, text: str, *only: str, seeds: int | None = None) -> list[PlannedTrial]:
    """The trials of an experiment's text, which is written into a folder."""
    path = write_small(folder, text)
    return planned(experiment.load(path), path, only, seeds)


def small_trials(folder: Path, *only: str, seeds: int = 1) -> list[PlannedTrial]:
    return trials_of(folder, SMALL, *only, seeds=seeds)


# Trials of two seconds with two pairs: as quick as a lab can do one.
TINY = """
name = "tiny"
title = "trials of two seconds"
[factors]
flavor = ["SACK"]
[base]
topology = { pairs = 2, rate_bit_per_s = 10_000_000, delay_us = 5_000, mss_bytes = 1024 }
queue = { policy = "plain", buffer_cells = 300 }
tcp = { flavor = "sack", window_bytes = 65_535, ssthresh_bytes = 12_500 }
workload = { kind = "iperf", duration_s = 2 }
"""


def write_tiny(folder: Path) -> Path:
    path = folder / "tiny.toml"
    path.write_text(TINY)
    return path


def tiny_trials(folder: Path, seeds: int = 1) -> list[PlannedTrial]:
    return trials_of(folder, TINY, seeds=seeds)


def run_trials(folder: Path, trials: list[PlannedTrial], jobs: int = 1) -> dict[str, dict]:
    """Run trials in a real lab; a failure shows its reason, an invalid trial its checks."""
    campaign = CampaignRun(folder, trials, {"name": "small"}, Options(jobs=jobs))
    documents = campaign.run()
    assert not campaign.failures, campaign.failures
    failed = {n: [c for c in d["checks"] if not c["ok"]] for n, d in documents.items()}
    assert not any(failed.values()), failed
    return documents
