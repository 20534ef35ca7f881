# SPDX-License-Identifier: GPL-2.0-only
"""Cells of packets, by hand."""

import pytest

from plan import atm


@pytest.mark.parametrize(
    ("ip_bytes", "cells"),
    [(32, 1), (33, 2), (1064, 23), (9220, 193), (552, 12), (40, 2), (80, 2), (81, 3)],
)
def test_frame_cells(ip_bytes: int, cells: int) -> None:
    assert atm.frame_cells(ip_bytes) == cells


def test_a_packet_has_bytes() -> None:
    with pytest.raises(ValueError, match="ip_bytes is 0, but"):
        atm.frame_cells(0)


def test_a_segment_has_a_header() -> None:
    assert atm.segment_cells(1024) == 23
