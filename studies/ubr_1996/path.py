# SPDX-License-Identifier: GPL-2.0-only
"""What follows from a plan alone: windows, path, and the queue that they leave, all in cells."""

import math

from analysis.cells import Cell
from plan import atm
from plan.atm import CELL_BITS, TCP_IP_HEADER_BYTES, frame_cells

ACK_CELLS = frame_cells(TCP_IP_HEADER_BYTES)


def sources(cell: Cell) -> int:
    """How many sources send."""
    return cell.plan.topology.pairs


def window_segments(cell: Cell) -> int:
    """Whole segments in a receiver's window."""
    return cell.plan.tcp.window_bytes // cell.plan.topology.mss_bytes


def segment_cells(cell: Cell) -> int:
    """Cells of a whole segment."""
    return atm.segment_cells(cell.plan.topology.mss_bytes)


def windows_cells(cell: Cell) -> int:
    """Sum of the receivers' windows in whole segments."""
    return sources(cell) * window_segments(cell) * segment_cells(cell)


def buffer_cells(cell: Cell) -> int:
    """Of the queue under test."""
    cells = cell.plan.queue.down.room_cells
    if cells is None:
        raise ValueError(f"{cell.name}: its queue does not count cells")
    return cells


def path_cells(cell: Cell) -> int:
    """Cells that the port sends from a segment's last cell to that of the one its ACK lets go.

    Round trip of propagation, the segment whole on the access links at both ends, its ACK
    the same and one cell of it at its port. What is in there is not in the queue.
    """
    topology = cell.plan.topology
    access_ns = round(CELL_BITS * 1e9 / topology.access_rate_bit_per_s)
    service_ns = CELL_BITS * 1e9 / topology.rate_bit_per_s
    path_ns = (
        2 * (2 * topology.access_delay_ns + topology.delay_ns)
        + 2 * (segment_cells(cell) + ACK_CELLS) * access_ns
        + service_ns
    )
    return math.floor(path_ns / service_ns)


def full_queue_cells(cell: Cell) -> int | None:
    """The queue with all windows open and none of their segments lost.

    None where the sources' own links together are no faster than the port: they wait there.
    """
    topology = cell.plan.topology
    if sources(cell) * topology.access_rate_bit_per_s <= topology.rate_bit_per_s:
        return None
    return max(0, windows_cells(cell) - path_cells(cell))


def lossless(cell: Cell) -> bool:
    """Did no trial of it lose a frame?"""
    return not any(cell.values("lost_frames"))
