# SPDX-License-Identifier: GPL-2.0-only
"""Calibration over machines of paper: where each row ends, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from harness.machine import calibrate as calibration
from harness.machine.calibrate import (
    MORE_PAIRS,
    RATES_BIT_PER_S,
    Step,
    TimeUpError,
    calibrate,
    summary,
)

MBIT = 1_000_000


def machine(monkeypatch: pytest.MonkeyPatch, product: int, trials: int = 1000) -> list[tuple]:
    """A machine that carries what has at most this pairs times rate, for so many trials."""
    tried: list[tuple] = []

    def grow(lab: str, sizes: Sequence[tuple[int, int]], deadline: float) -> Iterator[Step]:
        for pairs, rate in sizes:
            if len(tried) == trials:
                raise TimeUpError
            tried.append((pairs, rate))
            failed = [] if pairs * rate <= product else ["stalls"]
            yield Step(pairs=pairs, rate_bit_per_s=rate, failed=failed)
            if failed:
                return

    monkeypatch.setattr(calibration, "grow", grow)
    return tried


@pytest.mark.parametrize(
    ("product", "says", "last"),
    [
        (0, "not even 5 pairs at 2 Mbit/s", (5, 2 * MBIT)),
        (5 * 5 * MBIT, "carries 5 pairs at 5 Mbit/s", (10, 5 * MBIT)),
        (5 * 45 * MBIT, "carries 5 pairs at 45 Mbit/s and 20 pairs at 10 Mbit/s", (50, 10 * MBIT)),
        (10**12, "carries 5 pairs at 140 Mbit/s and 100 pairs at 10 Mbit/s", (100, 10 * MBIT)),
    ],
)
def test_each_row_ends_at_its_first_failure(
    monkeypatch: pytest.MonkeyPatch, product: int, says: str, last: tuple[int, int]
) -> None:
    tried = machine(monkeypatch, product)
    result = calibrate("uml")
    assert says in summary(result)[0] and result.complete
    assert tried[-1] == last and len(set(tried)) == len(tried)
    assert [step["carried"] for step in result.as_dict()["steps"]].count(False) <= 2


def test_without_a_trial_nothing_is_said_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, 10**12, trials=0)
    assert summary(calibrate("vm")) == ["the time was up before an end was found"]


def test_time_up_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, 10**12, trials=3)
    result = calibrate("uml")
    assert not result.complete and len(result.steps) == 3
    assert summary(result)[0].endswith("carries 5 pairs at 10 Mbit/s")


@pytest.mark.parametrize("pairs", [5, *MORE_PAIRS])
def test_every_size_is_a_trial(pairs: int) -> None:
    for rate in RATES_BIT_PER_S:
        topology = calibration.sized(pairs, rate).plan.topology
        assert (topology.pairs, topology.rate_bit_per_s) == (pairs, rate)


@pytest.mark.lab
def test_a_lab_is_tried_no_longer_than_allowed(tmp_path: Path) -> None:
    """Whatever this machine carries meanwhile: a bounded time, and steps that are whole."""
    result = calibrate("uml", 8.0)
    assert not result.complete and len(result.steps) <= 1
