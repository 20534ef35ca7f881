# SPDX-License-Identifier: GPL-2.0-only
"""The core equals the reference: every verdict, loss and departure time.

10,000 random traces, the published hard case (531 cells, 100 VCs of 23-cell
frames), and each tie rule by itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bpf import reference
from tests.bpf.reference import Offered
from tests.bpf.traces import Case, cases, play
from topology.libcellq import CAUSES, POLICIES

TRACES_PER_POLICY = 2_000

WAN = {
    "service_ps": 9_422_222,
    "access_ps": 2_831_000,
    "access_delay_ps": 5_000_000,
    "buffer_cells": 531,
    "threshold_cells": 424,
    "z_ppm": 800_000,
    "sample_ns": 0,
}


def compare(library: Path, case: Case) -> reference.Result:
    """Play a case to both sides and assert that they agree on everything."""
    sample_ns = case.params["sample_ns"] or None
    want = reference.simulate(case.port(), case.trace, sample_ns=sample_ns)
    got = play(library, case)
    for f in want.frames:
        assert got.frames[f.seq] == (f.fate, f.departure_ns or 0, f.offered.announce_ns)
        if f.found:
            at_ps, x, x_vc, active = f.found
            accepted = f.accepted
            assert got.drops[f.seq] == (at_ps // 1000, x, x_vc, active, accepted)
    assert len(got.frames) == len(want.frames)
    compare_counters(want, got.per_vc)
    assert got.stats["peak_cells"] == want.peak_cells
    if sample_ns:
        compare_samples(want.samples, got.samples)
    return want


def compare_counters(want: reference.Result, per_vc: dict[int, dict[str, Any]]) -> None:
    """Frames and cells per VC and cause, and the cells sent for nothing."""
    for vc, counters in per_vc.items():
        mine = [f for f in want.frames if f.offered.vc == vc]
        for cause in CAUSES:
            of_cause = [f for f in mine if f.fate == cause]
            assert counters["frames"][cause] == len(of_cause)
            assert counters["cells"][cause] == sum(f.offered.cells for f in of_cause)
        torn = [f for f in mine if f.fate and f.fate.startswith("lost")]
        assert counters["wasted"] == sum(f.accepted for f in torn)
        assert counters["overflow"] == sum(f.overflow for f in torn)
        assert counters["discarded"] == sum(f.discarded for f in torn)


def compare_samples(want: list[tuple[int, int, int]], got: list[tuple[int, int, int]]) -> None:
    """The core leaves out samples that repeat X = 0, and those after its last
    verdict; all that it has are right, and all that it leaves out are 0."""
    exact = {at_ps // 1000: (x, active) for at_ps, x, active in want}
    for at_ns, x, active in got:
        assert exact.get(at_ns, (0, 0)) == (x, active)
    have = {at_ns for at_ns, _, _ in got}
    if have:
        inside = [at for at in exact if at <= max(have)]
        assert all(exact[at] == (0, 0) for at in inside if at not in have)


@pytest.mark.parametrize("policy", POLICIES)
def test_random_traces(library: Path, policy: str) -> None:
    """10,000 traces over the five policies."""

    @settings(
        max_examples=TRACES_PER_POLICY,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(policy))
    def run(case: Case) -> None:
        compare(library, case)

    run()


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    frames=st.lists(
        st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(0, 8)), min_size=1, max_size=12
    ),
    buffer_cells=st.integers(1, 8),
    ratio=st.integers(1, 4),
    policy=st.sampled_from(POLICIES),
)
def test_small_traces_full_of_ties(
    library: Path, frames: list[tuple[int, int, int]], buffer_cells: int, ratio: int, policy: str
) -> None:
    """All times on the cell grid: nearly every event coincides with another."""
    now, trace = 0, []
    for vc, cells, gap in frames:
        now += gap * 1000
        trace.append(Offered(vc, cells, now))
    params = WAN | {
        "access_ps": 1_000_000,
        "service_ps": ratio * 1_000_000,
        "buffer_cells": buffer_cells,
        "threshold_cells": buffer_cells // 2,
        "sample_ns": 1000,
    }
    compare(library, Case(params=params, policy=policy, trace=tuple(trace)))


def hard_case(stagger_ns: int) -> tuple[Offered, ...]:
    """100 VCs send a 23-cell frame each, in 40 rounds at 1.25 times the load
    that the port carries; VC after VC by stagger_ns."""
    round_ns = 100 * 23 * 9_422 * 4 // 5
    return tuple(
        Offered(vc, 23, turn * round_ns + vc * stagger_ns)
        for turn in range(40)
        for vc in range(1, 101)
    )


@pytest.mark.parametrize("stagger_ns", [0, 7, 2_831, 20_000])
@pytest.mark.parametrize("policy", POLICIES)
def test_published_hard_case(library: Path, policy: str, stagger_ns: int) -> None:
    """531 cells for 100 VCs of 23-cell frames: no room for a frame of each."""
    result = compare(library, Case(params=WAN, policy=policy, trace=hard_case(stagger_ns)))
    delivered = sum(f.fate == "delivered" for f in result.frames)
    assert delivered < len(result.frames)
    if stagger_ns < 100:
        # All first cells come before any other: the policies let every frame
        # in, and every frame then loses a cell.
        assert delivered == 0
    else:
        assert delivered > 0


@pytest.mark.parametrize(
    ("name", "trace", "buffer_cells", "fates"),
    [
        # Cell time 1 us on the access links, 1 us on the port, no propagation.
        ("departure before arrival: the second cell finds room",
         [(1, 1, 0), (2, 1, 1000)], 1, ["delivered", "delivered"]),
        ("fresh frames in the order of announcement",
         [(2, 1, 0), (1, 1, 0)], 1, ["delivered", "lost_first"]),
        ("a train in progress before a fresh frame, however low its VC",
         [(2, 2, 0), (3, 1, 0), (1, 1, 1000)], 2, ["delivered", "delivered", "lost_first"]),
        ("a frame queued behind its VC's own keeps the link's place",
         [(2, 1, 0), (2, 1, 0), (1, 1, 1000)], 1, ["delivered", "delivered", "lost_first"]),
        ("a frame that starts as its link falls idle has no such place",
         [(2, 1, 0), (1, 1, 1000), (2, 1, 1000)], 1, ["delivered", "delivered", "lost_first"]),
    ],
)  # fmt: skip
def test_ties(
    library: Path,
    name: str,
    trace: list[tuple[int, int, int]],
    buffer_cells: int,
    fates: list[str],
) -> None:
    """The tie rules, each where it decides who is lost."""
    params = WAN | {
        "access_ps": 1_000_000,
        "service_ps": 1_000_000,
        "access_delay_ps": 0,
        "buffer_cells": buffer_cells,
    }
    offered = tuple(Offered(*o) for o in trace)
    result = compare(library, Case(params=params, policy="plain", trace=offered))
    assert [f.fate for f in result.frames] == fates, name
