# SPDX-License-Identifier: GPL-2.0-only
"""One trial inside the lab: tune, load the queues, probe, run the workload, drain, record.

What it leaves in results/TRIAL is raw: `lab.json` and the workload's own files. The
harness judges and renames.
"""

from __future__ import annotations

import json
import shutil
import time
from contextlib import nullcontext
from typing import Any

from harness.agent import probe, provenance
from harness.agent.capture import Capture
from harness.agent.events import RUN, emit
from harness.agent.losses import Losses
from harness.agent.queues import Queues
from harness.agent.realtime import LATE_TOLERANCE_NS, Watch
from harness.agent.recorder import Recorder
from harness.agent.sources import SOURCES
from harness.agent.tune import Tuner
from harness.agent.tune_plan import plan_dumbbell
from harness.agent.windows import Windows
from topology.build import Network

DRAIN_LIMIT_S = 120.0
DRAIN_STEP_S = 0.5
# What may still go to and fro: the last data, their resets, a reset that was lost.
DRAIN_ROUND_TRIPS = 10
# For what the hosts still have to do with the last packets.
SETTLE_S = 2.0


def run_trial(network: Network, tuner: Tuner, job: dict[str, Any]) -> None:
    """Run the trial of a job; raises when anything but the measured traffic goes wrong."""
    plan, name = job["plan"], job["trial"]
    folder = RUN / "results" / name
    shutil.rmtree(folder, ignore_errors=True)  # of a first attempt that failed
    folder.mkdir(parents=True)
    tuner.tune(plan)
    dumbbell = plan_dumbbell(network.dumbbell, plan["topology"])
    source = SOURCES[plan["workload"]["kind"]](network, plan, folder)
    exact = job["exact"]
    if not exact:
        plan = {**plan, "late_tolerance_ns": LATE_TOLERANCE_NS}
    capture = Capture(plan, folder)
    with capture, Queues(network, plan) as queues, Recorder(plan, folder):
        before = provenance.state(network)
        links, losses = probe.link_counters(network), Losses(network)
        emit("phase", trial=name, phase="probe")
        idle = probe.idle_round_trip(network, dumbbell)
        marks: dict[str, Any] = {}
        source.snapshot = lambda mark: marks.update({mark: queues.read()})
        begin = time.monotonic()
        with Windows(network, plan, folder), nullcontext() if exact else Watch() as watch:
            source.run(lambda second: emit("progress", trial=name, second=second))
        after = provenance.state(network)
        tcp = source.tcp_samples
        emit("phase", trial=name, phase="drain")
        drained_s = drain(queues, probe.idle_round_trip_s(dumbbell))
        record = {
            "virtual_s": time.monotonic() - begin,
            "idle_round_trip_ns": idle,
            "expected_idle_round_trip_ns": dumbbell.idle_round_trip_ns(probe.PING_IP_BYTES),
            "drained_s": drained_s,
            "queue": queues.read(),
            "marks": marks,
            "links": probe.difference(links, probe.link_counters(network)),
            "losses": losses.since(),
            "realtime": watch.summary if watch else None,
            "tcp": {"samples": tcp},
            "system": {"before": before, "after": after},
            "versions": provenance.versions(),
            "source": source.summary(),
        }
    record["capture"] = capture.summary
    (folder / "lab.json").write_text(json.dumps(record))


def drain(queues: Queues, round_trip_s: float) -> float:
    """Wait until nothing is under way any more [s].

    Both queues are empty, every announced frame has been judged, and for a whole round trip
    nothing has left: whatever the last frames may have called forth would be there.
    """
    begin = time.monotonic()
    limit_s = DRAIN_LIMIT_S + DRAIN_ROUND_TRIPS * round_trip_s
    while time.monotonic() - begin < limit_s:
        time.sleep(DRAIN_STEP_S)
        state = queues.read().values()
        waiting = [q for q in state if q["frames_announced"] != q["frames_resolved"]]
        last_s = max(q["last_departure_ns"] for q in state) / 1e9
        if not waiting and time.monotonic() > last_s + DRAIN_STEP_S + round_trip_s:
            time.sleep(SETTLE_S)
            break
    return time.monotonic() - begin
