# SPDX-License-Identifier: GPL-2.0-only
"""Properties, limits and faults of the queue core, without the kernel."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bpf import reference
from tests.bpf.reference import Offered
from tests.bpf.test_differential import WAN, compare
from tests.bpf.traces import PPM, WRAP_NS, Case, Played, cases, play, random_trace
from topology import libcellq
from topology.libcellq import ANNOUNCE, MAX_FRAMES, POLICIES, VERDICT, Queue

relaxed = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def fates(played: Played) -> list[tuple[str, int, int]]:
    """(cause, departure, announce time) by order of announcement."""
    return [played.frames[seq] for seq in sorted(played.frames)]


def one_vc(case: Case) -> Case:
    """The same frames, all of VC 1."""
    trace = tuple(Offered(1, o.cells, o.announce_ns) for o in case.trace)
    return Case(params=case.params, policy=case.policy, trace=trace)


def lost_cells(played: Played) -> int:
    """Cells not let in."""
    return sum(vc["overflow"] + vc["discarded"] for vc in played.per_vc.values())


# ---- limits of the policies ----


@pytest.mark.parametrize("fair", ["sd", "fba"])
@relaxed
@given(st.data())
def test_large_z_is_ppd(library: Path, fair: str, data: st.DataObject) -> None:
    """X_i > Z X / N_a never holds for a large Z: only a full buffer drops."""
    case = data.draw(cases("ppd"))
    generous = case.with_policy(fair, z_ppm=2000 * PPM)
    assert fates(play(library, generous)) == fates(play(library, case))


@relaxed
@given(cases("epd"))
def test_sd_with_small_z_is_epd_for_one_vc(library: Path, case: Case) -> None:
    """One VC holds all of X: above R it is over any share below 1."""
    alone = one_vc(case)
    sd = fates(play(library, alone.with_policy("sd", z_ppm=PPM - 1)))
    epd = fates(play(library, alone))
    assert [cause.replace("fairness", "threshold") for cause, _, _ in sd] == [c for c, _, _ in epd]
    assert [departure for _, departure, _ in sd] == [departure for _, departure, _ in epd]


@relaxed
@given(cases("epd"))
def test_epd_with_threshold_k_is_ppd(library: Path, case: Case) -> None:
    """X > K never holds, for any number of VCs."""
    full = case.with_policy("epd", threshold_cells=case.params["buffer_cells"])
    assert fates(play(library, full)) == fates(play(library, case.with_policy("ppd")))


@relaxed
@given(cases("plain"), st.integers(1, 2000))
def test_larger_buffer_never_loses_more(library: Path, case: Case, more: int) -> None:
    """Plain UBR, one VC, a fixed trace."""
    alone = one_vc(case)
    larger = alone.with_policy("plain", buffer_cells=alone.params["buffer_cells"] + more)
    assert lost_cells(play(library, larger)) <= lost_cells(play(library, alone))


@pytest.mark.parametrize("policy", POLICIES)
@relaxed
@given(st.data())
def test_work_conservation(library: Path, policy: str, data: st.DataObject) -> None:
    """Never idle with a cell in the buffer: every cell sent took exactly one
    cell time of a busy period, and no frame waits longer than K cells."""
    case = data.draw(cases(policy))
    played = play(library, case)
    service_ps = case.params["service_ps"]
    assert played.stats["busy_ps"] == played.stats["cells_sent"] * service_ps
    ends = {f.seq: f.end_ps for f in reference.schedule(case.port(), case.trace)}
    for seq, (cause, departure_ns, _) in played.frames.items():
        if cause == "delivered":
            waited = departure_ns * 1000 - ends[seq]
            assert service_ps <= waited < case.params["buffer_cells"] * service_ps + 1000


def test_one_flow_at_full_load_loses_nothing(library: Path) -> None:
    """Frames back to back at exactly the port's rate (Show 3)."""
    params = WAN | {"service_ps": 9_422_000, "access_ps": 9_422_000}
    trace = tuple(Offered(1, 23, i * 23 * 9_422) for i in range(5000))
    played = play(library, Case(params=params, policy="epd", trace=trace))
    assert {cause for cause, _, _ in fates(played)} == {"delivered"}
    assert played.stats["peak_cells"] <= 2


def test_saturated_link_delivers_its_rate(library: Path) -> None:
    """45 Mbit/s to 0.1 %, from the departure times alone (Show 3)."""
    trace = tuple(Offered(1 + i % 20, 23, i * 108_353) for i in range(6000))  # load 2
    played = play(library, Case(params=WAN, policy="epd", trace=trace))
    span_ns = played.stats["last_departure_ns"] - played.stats["first_departure_ns"]
    sent = sum(vc["cells"]["delivered"] + vc["wasted"] for vc in played.per_vc.values())
    assert (sent - 23) * 424e9 / span_ns == pytest.approx(45e6, rel=1e-3)


LAST_OF_193 = 5000 + 2831 + -(-193 * 9_422_222 // 1000)  # alone on the port, ns


def test_backlog_of_116760_cells_drains_in_one_call(library: Path) -> None:
    """The GEO buffer, full, then silence, then one frame: nothing is left."""
    params = WAN | {"buffer_cells": 116_760, "threshold_cells": 116_760}
    burst = tuple(Offered(1 + i % 100, 193, (i // 100) * 400_000) for i in range(1000))
    silence = Offered(1, 193, 3600 * 10**9)
    played = play(library, Case(params=params, policy="ppd", trace=(*burst, silence)))
    assert played.stats["peak_cells"] == 116_760
    assert fates(played)[-1][:2] == ("delivered", 3600 * 10**9 + LAST_OF_193)


def test_largest_buffer_and_all_vcs(library: Path) -> None:
    """K = 10^6, 1024 VCs, fast access links: the ring wraps, nothing breaks."""
    params = WAN | {"buffer_cells": 10**6, "threshold_cells": 10**6, "access_ps": 424_000,
                    "service_ps": 424_000_000}  # fmt: skip
    trace = tuple(Offered(1 + i % 1024, 1366, i // 1024 * 600_000) for i in range(2048))
    played = play(library, Case(params=params, policy="plain", trace=trace))
    assert played.stats["peak_cells"] == 10**6
    assert lost_cells(played) == 2048 * 1366 - 10**6 - (
        sum(vc["cells"]["delivered"] + vc["wasted"] for vc in played.per_vc.values()) - 10**6
    )
    assert set(played.per_vc) == set(range(1, 1025))


def test_idle_for_longer_than_the_clock_wraps(library: Path) -> None:
    """A year between two bursts; picoseconds wrap after 213 days."""
    year_ns = 365 * 86400 * 10**9
    trace = tuple(Offered(1 + i % 3, 23, i // 30 * year_ns) for i in range(90))
    # Nobody looks at the port in between: it still holds cells a year later.
    compare(library, Case(params=WAN, policy="sd", trace=trace))


@pytest.mark.parametrize("start_ns", [WRAP_NS - 10**6, 2 * WRAP_NS - 10**6, 2**62])
def test_clock_wraps_in_the_middle_of_a_burst(library: Path, start_ns: int) -> None:
    """Same verdicts, same departures, whatever the clock shows."""
    rng = random.Random(3)
    trace = random_trace(rng, vcs=20, frames=200, gap_ns=100_000, grid_ns=1, start_ns=start_ns,
                         max_cells=193)  # fmt: skip
    compare(library, Case(params=WAN, policy="fba", trace=trace))


@relaxed
@given(cases("sd"), st.integers(0, 2**32))
def test_verdict_times_do_not_matter(library: Path, case: Case, seed: int) -> None:
    """Frames may come out of the access links early by up to the propagation
    delay, or late: the same frames are dropped and leave at the same times."""
    delay_ns = case.params["access_delay_ps"] // 1000
    exact = Case(params=case.params, policy="sd", trace=case.trace)
    loose = Case(params=case.params, policy="sd", trace=case.trace, seed=seed,
                 jitter_ns=(-delay_ns, 10**7))  # fmt: skip
    assert fates(play(library, loose)) == fates(play(library, exact))


# ---- FBA's arithmetic ----


@settings(max_examples=2000, deadline=None)
@given(
    x_vc=st.integers(0, 2**20),
    active=st.integers(1, 1024),
    k=st.integers(1, 2**20),
    data=st.data(),
)
def test_fairness_is_exact_at_every_size(
    library: Path, x_vc: int, active: int, k: int, data: st.DataObject
) -> None:
    """Integer tests against fractions, at the limits of every variable."""
    r = data.draw(st.integers(0, k - 1))
    x = data.draw(st.integers(r + 1, k))
    x_vc, active = min(x_vc, x), min(active, x)
    z_ppm = data.draw(st.sampled_from([1, 500_000, 800_000, PPM, 1000 * PPM]))
    for policy in ("sd", "fba"):
        case = Case(
            params=WAN | {"buffer_cells": k, "threshold_cells": r, "z_ppm": z_ppm},
            policy=policy,
            trace=(),
        )
        refused = reference.refuse(case.port(), x, x_vc, active) is not None
        assert libcellq.policy(library, case.core_params(), x, x_vc, active) == (
            "refused_fairness" if refused else "delivered"
        )


# ---- faults: counted by cause, packet dropped ----


def run(
    library: Path, ops: Iterable[tuple[int, int, int, int]], *, budget: int = 0, **changes: int
) -> tuple[list[int], dict[str, int], libcellq.Stats]:
    """Play raw operations; which succeeded, the faults, a copy of the stats."""
    case = Case(params=WAN, policy="epd", trace=())
    params = case.core_params()
    params.late_tolerance_ns = 0
    for name, value in changes.items():
        setattr(params, name, value)
    with Queue(library, params) as queue:
        if budget:
            queue.set_budget(budget)
        try:
            results = queue.run(list(ops))
        finally:
            queue.set_budget(8 << 20)
        stats = libcellq.Stats.from_buffer_copy(queue.stats())
        return [r.ok for r in results], stats.fault_counts(), stats


END = 5000 + 23 * 2831  # a 23-cell frame announced at 0 is in, in ns


def test_verdict_without_announce(library: Path) -> None:
    ok, faults, _ = run(library, [(VERDICT, 1, 23, 0), (ANNOUNCE, 2, 23, 0), (VERDICT, 1, 23, END)])
    assert ok == [0, 1, 0]
    assert faults == {"no_announce": 2}


def test_length_mismatch(library: Path) -> None:
    ok, faults, _ = run(library, [(ANNOUNCE, 1, 23, 0), (VERDICT, 1, 2, END)])
    assert ok == [1, 0]
    assert faults == {"length_mismatch": 1}


@pytest.mark.parametrize(("early_ns", "fault"), [(5000, {}), (5001, {"early": 1})])
def test_early_by_more_than_the_propagation_delay(
    library: Path, early_ns: int, fault: dict[str, int]
) -> None:
    ok, faults, _ = run(library, [(ANNOUNCE, 1, 23, 0), (VERDICT, 1, 23, END - early_ns)])
    assert faults == fault
    assert ok == [1, int(not fault)]


@pytest.mark.parametrize(
    ("late_ns", "tolerance_ns", "fault", "counted"),
    [(9423, 0, {}, 0), (9424, 0, {"late": 1}, 0), (9500, 77, {}, 1), (9501, 77, {"late": 1}, 0)],
)
def test_departure_already_past(
    library: Path, late_ns: int, tolerance_ns: int, fault: dict[str, int], counted: int
) -> None:
    """The last cell leaves 9422.2 ns after it came in."""
    ok, faults, stats = run(
        library,
        [(ANNOUNCE, 1, 1, 0), (VERDICT, 1, 1, 5000 + 2831 + late_ns)],
        late_tolerance_ns=tolerance_ns,
    )
    assert faults == fault
    assert ok == [1, int(not fault)]
    assert stats.frames_late == counted
    assert stats.late_max_ns == max(0, late_ns - 9423)


def test_frame_table_full_and_usable_after(library: Path) -> None:
    ops = [(ANNOUNCE, 1 + i % 1024, 1, 0) for i in range(MAX_FRAMES)]
    after = [(VERDICT, 1, 1, 10_000), (ANNOUNCE, 1, 1, 10_001)]
    ok, faults, _ = run(library, ops + after, late_tolerance_ns=10**9)
    assert faults == {"frame_table_full": 1}
    assert ok[-4:] == [1, 0, 1, 1]


def test_loop_budget(library: Path) -> None:
    """A call that would take too long gives up, and the next goes on."""
    burst = [(ANNOUNCE, vc, 23, 0) for vc in range(1, 51)]
    ok, faults, stats = run(
        library,
        [*burst, (VERDICT, 50, 23, END), (VERDICT, 49, 23, END), (VERDICT, 48, 23, END)],
        budget=500,
    )
    assert faults["loop_budget"] == 2
    assert ok[-3:] == [0, 0, 1]
    assert stats.frames_resolved == 3


def test_nothing_is_lost_when_the_loop_budget_is_used_up(library: Path) -> None:
    """Wherever a call gives up, all frames come in all the same.

    The last frame has its link and the port to itself: its cells are taken at once, and the
    departures meanwhile, each of another VC's cell, are steps of their own.
    """
    vcs = range(1, 17)
    begin = 23 * 2831
    announced = [(ANNOUNCE, vc, 23, begin if vc == vcs[-1] else 0) for vc in vcs]
    verdicts = [(VERDICT, vc, 23, begin + END) for vc in reversed(vcs)]
    afterwards = [
        one
        for at in range(3 * END, 300 * END, 30 * END)
        for one in ((ANNOUNCE, 99, 23, at), (VERDICT, 99, 23, at + END))
    ]
    for budget in range(200, 1200):
        ops = [*announced, *verdicts, *afterwards]
        _, faults, stats = run(library, ops, budget=budget, late_tolerance_ns=10**9)
        assert "model_stuck" not in faults, budget
        assert sum(sum(stats.vc[vc - 1].frames) for vc in vcs) == len(vcs), budget


def test_clock_that_steps_back_is_held(library: Path) -> None:
    """Two CPUs read the clock before they queue for the lock."""
    ops = [(ANNOUNCE, 1, 23, 100), (ANNOUNCE, 2, 23, 60)]
    case = Case(params=WAN, policy="epd", trace=())
    with Queue(library, case.core_params()) as queue:
        results = queue.run([*ops, (VERDICT, 1, 23, 90_000), (VERDICT, 2, 23, 90_000)])
        assert [r.frame.announce_ns for r in results[2:]] == [100, 100]
        assert not queue.stats().fault_counts()
