# SPDX-License-Identifier: GPL-2.0-only
"""The study's trials without a kernel: `./cellbed study model EXPERIMENT` computes them.

senders     Vanilla, Reno, NewReno, by the RFCs and the paper; sack: the fourth
connection  a sender with its timer
receiver    what acknowledges each segment
links       access links, and a port: the queue's own core (bpf/), in user space
server      what answers requests
network     all of it: one trial

Its senders know nothing of the kernel. Its queue is the project's, which tests/bpf holds to a
reference of its own.
"""

import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from plan.plan import Plan
from studies.ubrplus_1998.model.network import Network
from topology import libcellq


def trial(plan: Plan) -> Mapping[str, float]:
    """Efficiency and fairness of a trial.

    Raises:
        ValueError: the plan has what is not modelled; names it.
    """
    with Network(plan, Path(_folder().name) / "libcellq.so") as network:
        network.run()
        metrics = network.metrics()
    return {"efficiency": metrics.efficiency, "fairness": metrics.fairness or 0.0}


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where the queue's core is compiled, until the program ends."""
    folder = tempfile.TemporaryDirectory(prefix="cellbed-model-")
    libcellq.build(Path(folder.name))
    return folder
