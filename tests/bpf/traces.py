# SPDX-License-Identifier: GPL-2.0-only
"""Random arrival traces, and one way to play them to the core."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.bpf import reference
from topology import libcellq
from topology.libcellq import ANNOUNCE, POLICIES, VERDICT, Params, Queue

PPM = 10**6
WRAP_NS = 2**64 // 1000
"""The core's picoseconds wrap at this clock reading."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """Parameters of a port, a trace, and how the verdicts are asked for."""

    params: dict[str, int]
    policy: str
    trace: tuple[reference.Offered, ...]
    jitter_ns: tuple[int, int] = (0, 0)
    seed: int = 0

    def with_policy(self, policy: str, **changes: int) -> Case:
        """The same trace under another policy or other parameters."""
        return replace(self, policy=policy, params={**self.params, **changes})

    def core_params(self) -> Params:
        """For the core."""
        return Params(
            policy=POLICIES.index(self.policy),
            vcs=libcellq.MAX_VCS,
            max_frame_cells=1366,
            late_tolerance_ns=10**15,
            **self.params,
        )

    def port(self) -> reference.Port:
        """For the reference."""
        p = self.params
        return reference.Port(
            policy=self.policy,
            buffer_cells=p["buffer_cells"],
            threshold_cells=p["threshold_cells"],
            z=Fraction(p["z_ppm"], PPM),
            service_ps=p["service_ps"],
            access_ps=p["access_ps"],
            access_delay_ps=p["access_delay_ps"],
        )


def operations(case: Case) -> list[tuple[int, int, int, int]]:
    """Both hooks' calls in the order of time.

    A frame comes out of its access link at the modelled time plus jitter_ns,
    first in first out within its VC.
    """
    rng = random.Random(case.seed)
    calls = []
    last: dict[int, int] = {}
    for frame in reference.schedule(case.port(), case.trace):
        o = frame.offered
        out_ns = -(-frame.end_ps // 1000) + rng.randint(*case.jitter_ns)
        out_ns = last[o.vc] = max(out_ns, last.get(o.vc, 0), o.announce_ns)
        calls.append((o.announce_ns, 0, frame.seq, (ANNOUNCE, o.vc, o.cells)))
        calls.append((out_ns, 1, frame.seq, (VERDICT, o.vc, o.cells)))
    calls.sort()
    return [(*call, now_ns) for now_ns, _, _, call in calls]


@dataclass
class Played:
    """What the core made of a trace; ``frames`` and ``drops`` by seq."""

    stats: dict[str, Any]
    per_vc: dict[int, dict[str, Any]]
    frames: dict[int, tuple[str, int, int]]
    drops: dict[int, tuple[int, int, int, int, int]]
    samples: list[tuple[int, int, int]]


def play(library: Path, case: Case, path: bytes = b"") -> Played:
    """Run a case through the core, on a moving path with its table; a fault is an error."""
    ops = operations(case)
    with Queue(library, case.core_params(), samples=20_000, path=path) as queue:
        results = queue.run(ops)
        stats = queue.stats()
        if stats.fault_counts():
            raise AssertionError(f"faults: {stats.fault_counts()}")
        played = Played(
            stats={
                n: getattr(stats, n)
                for n in (f[0] for f in stats._fields_)
                if n not in ("vc", "faults")
            },
            per_vc={vc: _vc_counters(stats.vc[vc - 1]) for vc in {o.vc for o in case.trace}},
            frames={},
            drops={},
            samples=queue.samples(),
        )
        for op, result in zip(ops, results, strict=True):
            if op[0] == VERDICT:
                _keep(played, result)
    return played


def _keep(played: Played, result: libcellq.OpResult) -> None:
    f, d = result.frame, result.drop
    cause = libcellq.CAUSES[f.cause]
    played.frames[f.seq] = (cause, f.departure_ns, f.announce_ns)
    if cause != "delivered":
        played.drops[f.seq] = (
            d.time_ns,
            d.occupancy_cells,
            d.vc_cells,
            d.active_vcs,
            d.accepted_cells,
        )


def _vc_counters(vc: libcellq.VcStats) -> dict[str, Any]:
    return {
        "frames": dict(zip(libcellq.CAUSES, vc.frames, strict=True)),
        "cells": dict(zip(libcellq.CAUSES, vc.cells, strict=True)),
        "wasted": vc.cells_wasted,
        "overflow": vc.cells_overflow,
        "discarded": vc.cells_discarded,
    }


def random_trace(
    rng: random.Random,
    *,
    vcs: int,
    frames: int,
    gap_ns: float,
    grid_ns: int,
    start_ns: int,
    max_cells: int,
) -> tuple[reference.Offered, ...]:
    """Frames with exponential gaps (in bursts now and then), on a time grid.

    A grid of the access cell time makes cells of many VCs coincide.
    """
    sizes = [1, 2, 12, 23, 193, rng.randint(1, max_cells)]
    sizes = [n for n in sizes if n <= max_cells]
    now, trace = 0.0, []
    for _ in range(frames):
        if rng.random() < 0.7:
            now += rng.expovariate(1.0) * gap_ns / 0.7
        at = start_ns + int(now) // grid_ns * grid_ns
        trace.append(reference.Offered(rng.randint(1, vcs), rng.choice(sizes), at))
    return tuple(trace)


@st.composite
def cases(draw: st.DrawFn, policy: str) -> Case:
    """1-100 VCs, frames of 1-193 cells, K from 1 frame to 5,000 cells,
    loads 0.1-5; all rates from 1 to 622 Mbit/s; wrap of the clock."""
    seed = draw(st.integers(0, 2**32))
    rng = random.Random(seed)
    access_ps = rng.choice([681, 2726, 2831, 9422, rng.randint(400, 400_000)]) * 1000
    service_ps = rng.choice(
        [
            9_422_222,
            424_000_000,
            681_585,
            access_ps,
            2 * access_ps,
            3 * access_ps + 1,
            rng.randint(600_000, 50_000_000),
        ]
    )
    max_cells = rng.choice([1, 3, 23, 23, 193])
    buffer_cells = rng.choice(
        [max_cells, 2 * max_cells, rng.randint(max_cells, 300), 531, rng.randint(max_cells, 5000)]
        if max_cells <= 300
        else [max_cells]
    )
    load = draw(st.sampled_from([0.1, 0.3, 0.8, 1.0, 1.2, 2.0, 5.0]))
    frames = min(draw(st.integers(1, 120)), 2400 // max_cells)
    mean_cells = max(1.0, max_cells / 2)
    trace = random_trace(
        rng,
        vcs=draw(st.sampled_from([1, 2, 3, 10, 100])),
        frames=frames,
        gap_ns=mean_cells * service_ps / 1000 / load,
        grid_ns=rng.choice([1, 1, access_ps // 1000, service_ps // 1000 + 1]),
        start_ns=rng.choice([0, 10**9, WRAP_NS - rng.randint(0, 10**7), 2**63 - 10**7]),
        max_cells=max_cells,
    )
    delay_ns = rng.choice([0, 5000, 5000, rng.randint(0, 10**6)])
    params = {
        "service_ps": service_ps,
        "access_ps": access_ps,
        "access_delay_ps": delay_ns * 1000,
        "buffer_cells": buffer_cells,
        "threshold_cells": rng.choice(
            [0, buffer_cells, buffer_cells * 8 // 10, rng.randint(0, buffer_cells)]
        ),
        "z_ppm": rng.choice([1, 500_000, 800_000, PPM, rng.randint(1, 3 * PPM), 1000 * PPM]),
        "sample_ns": rng.choice([0, 0, rng.randint(1, 10) * service_ps // 200]),
    }
    jitter = (-min(delay_ns, rng.choice([0, 300])), rng.choice([0, 300, 10**6]))
    return Case(params=params, policy=policy, trace=trace, jitter_ns=jitter, seed=seed)
