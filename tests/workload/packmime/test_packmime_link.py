# SPDX-License-Identifier: GPL-2.0-only
"""What web traffic counts of the link that carries it: bytes of cells or of Ethernet frames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plan.framing import ATM, ETHERNET
from workload.packmime import wire
from workload.packmime.parameters import Parameters
from workload.packmime.source import syn_bytes
from workload.packmime.trace import place

PARAMETERS = Parameters(exchanges=10_000)
IN_CELLS = PARAMETERS.traffic(10_000_000, 1460, ATM)
IN_FRAMES = PARAMETERS.traffic(10_000_000, 1460, ETHERNET)


@pytest.mark.parametrize(("payload", "in_cells", "in_frames"), [(0, 106, 78), (1460, 1696, 1538)])
def test_a_packet_counts_as_on_its_link(payload: int, in_cells: int, in_frames: int) -> None:
    assert wire.packet(payload, IN_CELLS) == in_cells == ATM.link_bytes(payload + 40)
    assert wire.packet(payload, IN_FRAMES) == in_frames == ETHERNET.link_bytes(payload + 40)


def test_the_largest_header_has_room_for_a_frame() -> None:
    largest = replace(PARAMETERS, header_bytes=200)
    assert largest.traffic(10_000_000, 1460, ETHERNET).header_bytes == 238


def test_a_trace_in_cells_has_the_name_that_it_had(tmp_path: Path) -> None:
    assert place(tmp_path, IN_CELLS, 1).name == "packmime-633ce269077e38f2"
    assert place(tmp_path, IN_FRAMES, 1) != place(tmp_path, IN_CELLS, 1)


@pytest.mark.parametrize(
    ("settings", "size"),
    [
        ({"timestamps": 1, "window_scaling": 1, "sack": 1}, 60),
        ({"timestamps": 1, "window_scaling": 1, "sack": 0}, 60),
        ({"timestamps": 0, "window_scaling": 0, "sack": 1}, 48),
        ({"timestamps": 0, "window_scaling": 1, "sack": 0}, 48),
        ({"timestamps": 0, "window_scaling": 0, "sack": 0}, 44),
    ],
)
def test_size_of_a_syn(settings: dict[str, int], size: int) -> None:
    """Each has two cells, so records of links of cells are as they were."""
    assert syn_bytes(lambda name: settings[name.removeprefix("tcp_")]) == size
    assert ATM.units(size) == 2
