# SPDX-License-Identifier: GPL-2.0-only
"""A lab knows when its clock does not keep together with the other lab's."""

from __future__ import annotations

import pytest

from harness.linked.wire import WireError, check_clock


@pytest.mark.parametrize("now_ns", [1000, 1001])
def test_a_clock_may_be_a_nanosecond_late(now_ns: int) -> None:
    check_clock(1000, now_ns)


@pytest.mark.parametrize("now_ns", [999, 1002])
def test_a_clock_that_went_its_own_way(now_ns: int) -> None:
    with pytest.raises(WireError, match=f"met at 1000 ns, but this lab's clock is at {now_ns} ns"):
        check_clock(1000, now_ns)
