# SPDX-License-Identifier: GPL-2.0-only
"""The agent: builds the network once, then does the jobs of the inbox in their order.

{"kind": "network", ...}   build the network (first job)
{"kind": "trial", ...}     run one trial
{"kind": "shell", ...}     Mininet's prompt on the console, or for the jobs
{"kind": "command", ...}   of which each is one line of it
{"kind": "end"}            power off
"""

from __future__ import annotations

import itertools
import json
import time
import traceback
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.agent import memory
from harness.agent.events import RUN, emit
from harness.agent.kernel_log import KernelComplaintError
from harness.agent.power_off import power_off
from harness.agent.reason import reason

if TYPE_CHECKING:
    from harness.agent.bench import Bench

POLL_S = 0.2


def next_job(number: int) -> dict[str, Any]:
    """Wait for job `number`. The harness keeps a job ahead, so this seldom waits."""
    path = RUN / "inbox" / f"{number:04d}.json"
    while not path.exists():
        time.sleep(POLL_S)
    job: dict[str, Any] = json.loads(path.read_text())
    return job


def work(kind: type[Bench] | None) -> None:
    """Do jobs until one says end."""
    from harness.agent.bench import Bench

    with ExitStack() as until_end:
        bench = (kind or Bench)(until_end)
        for number in itertools.count(1):
            job = next_job(number)
            if job["kind"] == "end":
                return
            bench.do(job)
            if number == 1:
                memory.page_by_page()


def main(kind: type[Bench] | None = None) -> None:
    """All that a lab does; `kind` of bench does the jobs, Bench unless a test has its own."""
    emit("boot", kernel=Path("/proc/sys/kernel/osrelease").read_text().strip())
    try:
        work(kind)
    except KernelComplaintError as error:
        emit("failed", error=str(error))
    except Exception as error:  # noqa: BLE001 (the last stop before the power goes)
        traceback.print_exc()
        emit("failed", error=reason(error))
    finally:
        power_off()
