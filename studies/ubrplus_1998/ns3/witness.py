# SPDX-License-Identifier: GPL-2.0-only
"""What `./cellbed study witness ubrplus_1998` runs, and the figures that it keeps of a run."""

from pathlib import Path

from analysis.metrics import trial_metrics
from analysis.witness import Figures, Witness
from plan.plan import Plan
from studies.ubrplus_1998.ns3 import options, program
from studies.ubrplus_1998.ns3.program import Outcome
from workload.www.schedule import scheduled_bytes

PLAN = "as the plan"


def run(plan: Plan, folder: Path, variant: str) -> Figures | None:
    """The figures of one run; None where ns-3 has not the plan's sender.

    Raises RecordError where ns-3 fails, and MissingLibraryError where there is no ns-3.
    """
    del folder, variant  # the requests follow from the plan, and it is the only variant
    if not options.has(plan):
        return None
    return figures(plan, program.run(options.lines(plan), options.options(plan)))


def figures(plan: Plan, found: Outcome) -> Figures:
    """Named as those of the kernel's trials."""
    topology = plan.topology
    metrics = trial_metrics(
        received_bytes=found.received_bytes,
        scheduled_bytes=scheduled_bytes(options.requests(plan), topology.pairs),
        duration_s=plan.workload.duration_s,
        mss_bytes=topology.mss_bytes,
        rate_bit_per_s=topology.rate_bit_per_s,
    )
    return {
        "efficiency": round(metrics.efficiency, 4),
        "fairness": None if metrics.fairness is None else round(metrics.fairness, 4),
        "timeouts": sum(found.timeouts),
        "dropped_share": round(found.dropped / found.arrived, 5),
        "peak_cells": found.most_cells,
    }


WITNESS = Witness(name="ns-3", experiments=("ubrplus-www-rfc",), variants=(PLAN,), run=run)
