# SPDX-License-Identifier: GPL-2.0-only
"""Which lines of two clocks differ. No lab."""

from __future__ import annotations

import pytest

from harness.scripts.clocks import differences

SAID = "*** Results: 9.50 Mbit/s\nrtt min/avg = 10.0/12.0 ms\nno figure\n"


@pytest.mark.parametrize(
    ("real", "told"),
    [
        (SAID, []),
        (SAID.replace("9.50", "9.40"), []),
        (
            SAID.replace("9.50", "8.00"),
            [
                "line 1: '*** Results: 9.50 Mbit/s' on the virtual clock, "
                "'*** Results: 8.00 Mbit/s' on the real clock"
            ],
        ),
        (
            "one more\n" + SAID.replace("12.0", "0"),
            [
                "line 2: 'rtt min/avg = 10.0/12.0 ms' on the virtual clock, "
                "'rtt min/avg = 10.0/0 ms' on the real clock",
                "1 lines are in the output of one clock only",
            ],
        ),
        ("", ["3 lines are in the output of one clock only"]),
    ],
)
def test_a_line_whose_figures_differ_is_told(real: str, told: list[str]) -> None:
    assert differences(SAID, real) == told


def test_a_shape_may_come_often() -> None:
    virtual = "".join(f"{n} s\n" for n in range(1, 300))
    assert differences(virtual, virtual.replace("200 s", "900 s")) == [
        "line 200: '200 s' on the virtual clock, '900 s' on the real clock"
    ]


def test_the_end_of_a_long_output_is_not_compared() -> None:
    virtual = "x\n" * 3000
    assert differences(virtual, virtual) == ["only the first 2,000 lines were compared"]
