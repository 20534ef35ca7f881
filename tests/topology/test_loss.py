# SPDX-License-Identifier: GPL-2.0-only
"""Losses of the path: netem's words, the chain against a simulation of it, bad values."""

from __future__ import annotations

import random

import pytest

from plan.loss import Loss
from topology.loss import netem, seed_of


def simulated(loss: Loss, packets: int, seed: int) -> int:
    """Packets lost of so many, drawn in netem's order (net/sched/sch_netem.c, loss_gilb_ell)."""
    draw = random.Random(seed).random
    there, back = loss.chain()
    lost, bad = 0, False
    for _ in range(packets):
        if bad:
            bad = draw() >= back
            lost += draw() < loss.burst_share
        else:
            bad = draw() < there
    return lost


def test_netem_is_told_the_chain() -> None:
    assert netem(Loss(share=0.001)) == "loss random 0.1000000000%"
    bursts = Loss(share=0.01, burst_packets=4, burst_share=0.5)
    # 1/50 of the packets find the bad state: 0.25 / 49 of the others lead there.
    assert netem(bursts) == "loss gemodel 0.5102040816% 25.0000000000% 50.0000000000% 0%"


@pytest.mark.parametrize(
    "loss",
    [
        Loss(share=0.05, burst_packets=5),
        Loss(share=0.05, burst_packets=5, burst_share=0.5),
        Loss(share=0.3, burst_packets=1),
    ],
)
def test_the_chain_loses_its_share_with_its_spread(loss: Loss) -> None:
    packets, runs = 2000, 400
    counts = [simulated(loss, packets, seed) for seed in range(runs)]
    mean = sum(counts) / runs
    deviation = (sum((count - mean) ** 2 for count in counts) / (runs - 1)) ** 0.5
    spread = loss.spread(packets)
    assert mean == pytest.approx(packets * loss.share, abs=4 * spread / runs**0.5)
    assert deviation == pytest.approx(spread, rel=4 / (2 * runs) ** 0.5)


def test_each_direction_of_each_trial_draws_its_own() -> None:
    assert len({seed_of(trial, way) for trial in (1, 2) for way in ("down", "up")}) == 4
    assert Loss(share=0.1).directions == ("down",)
    assert Loss(share=0.1, direction="both").directions == ("down", "up")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"share": 0}, r"topology.loss.share = 0: allowed are 1e-06 to 0.5"),
        ({"share": 0.1, "burst_packets": 0.5}, r"burst_packets = 0.5: allowed are 1 to 10_000"),
        ({"share": 0.1, "burst_share": 0.5}, r"loss.burst_share also needs the key topology"),
        ({"share": 1e-6, "burst_packets": 10_000}, r"begin a burst = 1\..*: allowed are 1e-06"),
        (
            {"share": 0.4, "burst_packets": 1, "burst_share": 0.5},
            r"share = 0.4: .* more than 0.25;",
        ),
    ],
)
def test_what_is_no_loss_is_refused(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Loss(**wrong)  # type: ignore[arg-type]
