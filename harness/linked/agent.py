# SPDX-License-Identifier: GPL-2.0-only
"""The agent of one of two labs on one link: python3 -m harness.linked.agent SIDE."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

from harness.agent.bench import Bench
from harness.agent.jobs import main
from harness.linked import trial
from harness.linked.wire import Wire
from plan.plan import Plan


class LinkedBench(Bench):
    """Builds the network with the wire in its middle, and runs halves of trials."""

    side = ""

    def __init__(self, until_end: ExitStack) -> None:
        super().__init__(until_end)
        self.wire: Wire | None = None

    def build(self, job: dict[str, Any]) -> None:
        super().build(job)
        assert self.network is not None
        self.wire = Wire(self.network, self.side)

    def run_trial(self, job: dict[str, Any], wanted: Plan) -> None:
        network, tuner, losses, wire = self.network, self.tuner, self.losses, self.wire
        assert network is not None and tuner is not None and losses is not None
        assert wire is not None
        trial.run_trial(
            network, tuner, losses, self.log, job["trial"], wanted, side=self.side, wire=wire
        )


if __name__ == "__main__":
    LinkedBench.side = sys.argv[1]
    main(LinkedBench)
