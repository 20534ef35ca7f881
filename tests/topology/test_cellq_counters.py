# SPDX-License-Identifier: GPL-2.0-only
"""The counters of a cell queue that the agent reads itself, as the queue's core writes them."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from topology import cellq_counters, libcellq
from topology.libcellq import ANNOUNCE, POLICIES, VERDICT, Params, Queue, Stats

VCS = 3
SIZE = Stats.vc.offset + VCS * cellq_counters.VC_BYTES


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """libcellq.so, built from the tree under test."""
    return libcellq.build(tmp_path_factory.mktemp("bpf"))


def test_it_is_what_the_core_counts(library: Path) -> None:
    """Five frames are announced, four of them judged; the last VC is among them."""
    params = Params(
        service_ps=9_422_222, access_ps=2_831_000, buffer_cells=100, threshold_cells=80,
        vcs=VCS, policy=POLICIES.index("plain"), max_frame_cells=1366, ifindex_base=0,
    )  # fmt: skip
    with Queue(library, params) as queue:
        for vc in (1, 2, 3, 3, 3):
            queue.step(ANNOUNCE, vc, 2, 1_000_000)
        for vc in (1, 2, 3, 3):
            queue.step(VERDICT, vc, 2, 2_000_000)
        stats = queue.stats()
        assert (stats.frames_announced, stats.frames_resolved) == (5, 4)
        assert sum(vc.frames[0] for vc in stats.vc[:VCS]) == 4
        assert cellq_counters.counted(bytes(stats)[:SIZE]) == (4, 1)


class Busy:
    """Memory that a hook writes until the reader has looked some times."""

    def __init__(self, looks: int, generation: int = 2) -> None:
        self.looks, self.stats = looks, Stats(generation=generation)

    def __getitem__(self, part: slice, /) -> bytes:
        self.looks -= 1
        if self.looks >= 0:
            self.stats.generation += 2
            self.stats.frames_announced += 1
        return bytes(self.stats)[part]


def test_a_copy_that_a_hook_changed_is_not_taken() -> None:
    memory = Busy(looks=5)
    found = Stats.from_buffer_copy(cellq_counters.at_rest(memory, ctypes.sizeof(Stats)))
    assert (found.generation, found.frames_announced) == (12, 5)
    assert memory.looks <= -3


@pytest.mark.parametrize("memory", [Busy(looks=10**9), Busy(looks=0, generation=3)])
def test_without_a_moment_of_rest_it_is_an_error(memory: Busy) -> None:
    """A hook that always writes, and one that was stopped as it wrote."""
    with pytest.raises(RuntimeError, match="change too fast"):
        cellq_counters.at_rest(memory, SIZE)
