# SPDX-License-Identifier: GPL-2.0-only
"""Cell-by-cell discrete-event simulator of one switch port.

Written from the definitions in the papers, for clarity and not for speed, and
used only by tests. One event per cell arrival and one per cell departure.

The model (DESIGN: "Cells"; ATM Forum 98-0876R1 section 4):

* An access link carries the cells of one VC. A frame announced at time ``a``
  starts when it has crossed the propagation delay, ``a + d``, or when its link
  has sent the frame before it, whichever is later. Its j-th cell (from 0) is in
  the switch at ``start + (j + 1) * c``.
* The buffer holds at most K cells, the one being sent included. It is served
  first in first out, one cell every ``s``, never idle while it holds a cell. A
  cell counts until its last bit has left.
* A cell that finds K cells in the buffer is lost.
* The policy's verdict falls on a frame's first cell. A refused frame loses all
  its cells. Under every policy but plain UBR the remaining cells of a frame
  that lost one are discarded.
* A frame is delivered when all its cells were accepted.

Ties, at one and the same time: a departure goes before an arrival. Two arrivals
go in the order of the announcements that began the current busy period of
their access links; a frame that starts at the very tick at which its link falls
idle begins a new busy period. A sample comes after both.

Times are integers in ps; a departure is reported in ns, rounded up.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib import import_module
from types import ModuleType

DEPARTURE, ARRIVAL = 0, 1

DELIVERED = "delivered"
LOST_FIRST = "lost_first"
LOST_MID = "lost_mid"


@dataclass(frozen=True, kw_only=True)
class Port:
    """Parameters of a port; thresholds as in the papers, X, X_i, K, R in cells."""

    policy: str
    buffer_cells: int
    threshold_cells: int
    z: Fraction
    service_ps: int
    access_ps: int
    access_delay_ps: int


@dataclass(frozen=True)
class Offered:
    """A frame as announced: VC (from 1), length in cells, time in ns."""

    vc: int
    cells: int
    announce_ns: int


@dataclass
class Frame:
    """A frame's life. ``found`` is (time_ps, X, X_i, N_a) at its undoing."""

    offered: Offered
    seq: int
    start_ps: int
    busy_period: int
    end_ps: int
    fate: str | None = None
    found: tuple[int, int, int, int] | None = None
    accepted: int = 0
    overflow: int = 0
    discarded: int = 0
    departure_ps: int | None = None

    @property
    def departure_ns(self) -> int | None:
        """Departure of the last cell, rounded up; None unless delivered."""
        if self.departure_ps is None:
            return None
        return -(-self.departure_ps // 1000)


@dataclass
class Result:
    """Frames in the order of announcement, and what the port as a whole did."""

    frames: list[Frame] = field(default_factory=list)
    peak_cells: int = 0
    busy_ps: int = 0
    cells_sent: int = 0
    samples: list[tuple[int, int, int]] = field(default_factory=list)


def refuse(port: Port, x: int, x_vc: int, active: int) -> str | None:
    """The policy's verdict on a first cell: a cause, or None to let it in."""
    rule = rules(port.policy)
    if rule.CAUSE is None or not x > port.threshold_cells:
        return None
    return rule.CAUSE if rule.refuses(port, x, x_vc, active) else None


@cache
def rules(policy: str) -> ModuleType:
    """The file of rules/ that has the policy."""
    return import_module(f"tests.bpf.rules.{policy}")


def schedule(port: Port, trace: Sequence[Offered]) -> list[Frame]:
    """When each frame crosses its access link; the trace is sorted by time."""
    free_ps: dict[int, int] = {}
    busy_period: dict[int, int] = {}
    frames = []
    for seq, offered in enumerate(trace):
        here_ps = offered.announce_ns * 1000 + port.access_delay_ps
        if offered.vc in free_ps and free_ps[offered.vc] > here_ps:
            start_ps = free_ps[offered.vc]
        else:
            start_ps = here_ps
            busy_period[offered.vc] = seq
        end_ps = start_ps + offered.cells * port.access_ps
        free_ps[offered.vc] = end_ps
        frames.append(Frame(offered, seq, start_ps, busy_period[offered.vc], end_ps))
    return frames


class Switch:
    """The buffer and its server, event by event."""

    def __init__(self, port: Port, frames: list[Frame]) -> None:
        self.port = port
        self.result = Result(frames=frames)
        self.buffer: deque[Frame] = deque()
        self.last_cell: set[int] = set()
        self.x_vc: Counter[int] = Counter()
        self.events: list[tuple[int, int, int, int, int]] = []

    def run(self, sample_ps: int | None = None, first_sample_ps: int = 0) -> Result:
        """Play all events; with ``sample_ps``, note X and N_a on that grid."""
        for frame in self.result.frames:
            self._expect(frame, 0)
        next_sample = first_sample_ps
        while self.events:
            time_ps, kind, _, seq, cell = heapq.heappop(self.events)
            while sample_ps is not None and next_sample < time_ps:
                self.result.samples.append((next_sample, len(self.buffer), self.active()))
                next_sample += sample_ps
            if kind == DEPARTURE:
                self._depart(time_ps)
            else:
                self._arrive(time_ps, self.result.frames[seq], cell)
        return self.result

    def active(self) -> int:
        """N_a: VCs with at least one cell in the buffer."""
        return len(self.x_vc)

    def _expect(self, frame: Frame, cell: int) -> None:
        time_ps = frame.start_ps + (cell + 1) * self.port.access_ps
        heapq.heappush(self.events, (time_ps, ARRIVAL, frame.busy_period, frame.seq, cell))

    def _depart(self, time_ps: int) -> None:
        frame = self.buffer.popleft()
        vc = frame.offered.vc
        self.x_vc[vc] -= 1
        if not self.x_vc[vc]:
            del self.x_vc[vc]
        self.result.cells_sent += 1
        self.result.busy_ps += self.port.service_ps
        if frame.fate == DELIVERED:
            frame.departure_ps = time_ps  # the last of its cells to leave stays
        if self.buffer:
            self._serve(time_ps)

    def _serve(self, time_ps: int) -> None:
        heapq.heappush(self.events, (time_ps + self.port.service_ps, DEPARTURE, 0, 0, 0))

    def _arrive(self, time_ps: int, frame: Frame, cell: int) -> None:
        if cell + 1 < frame.offered.cells:
            self._expect(frame, cell + 1)
        if self._lets_in(time_ps, frame, cell):
            frame.accepted += 1
            self.buffer.append(frame)
            self.x_vc[frame.offered.vc] += 1
            self.result.peak_cells = max(self.result.peak_cells, len(self.buffer))
            if len(self.buffer) == 1:
                self._serve(time_ps)
        if cell + 1 == frame.offered.cells and frame.fate is None:
            frame.fate = DELIVERED

    def _lets_in(self, time_ps: int, frame: Frame, cell: int) -> bool:
        x, x_vc = len(self.buffer), self.x_vc.get(frame.offered.vc, 0)
        found = (time_ps, x, x_vc, self.active())
        if cell == 0:
            frame.fate = refuse(self.port, x, x_vc, self.active())
            if frame.fate:
                frame.found = found
        if frame.fate and getattr(rules(self.port.policy), "DISCARDS_REST", True):
            frame.discarded += 1
            return False
        if x < self.port.buffer_cells:
            return True
        frame.overflow += 1
        if frame.fate is None:
            frame.fate = LOST_FIRST if cell == 0 else LOST_MID
            frame.found = found
        return False


def simulate(
    port: Port,
    trace: Sequence[Offered],
    *,
    sample_ns: int | None = None,
) -> Result:
    """Run a trace, sorted by announce time, through the port until it is empty.

    Samples fall on multiples of ``sample_ns`` from the first one after the
    first announcement to the last event. An empty trace gives an empty result.
    """
    switch = Switch(port, schedule(port, trace))
    if sample_ns is None or not trace:
        return switch.run()
    first_ns = (trace[0].announce_ns // sample_ns + 1) * sample_ns
    return switch.run(sample_ns * 1000, first_ns * 1000)
