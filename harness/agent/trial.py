# SPDX-License-Identifier: GPL-2.0-only
"""One trial inside the lab: tune, load the queues, probe, run the workload, drain, record.

What it leaves in results/TRIAL is raw: `lab.json` and the workload's own files. The
harness judges and renames.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from harness.agent import chance, live, probe, provenance, quiet, room
from harness.agent.drain import drain
from harness.agent.events import RUN, emit
from harness.agent.kernel_log import KernelLog
from harness.agent.losses import Losses
from harness.agent.queues import LoadedQueues, as_dumbbell
from harness.agent.realtime import LATE_TOLERANCE_NS, Watch
from harness.agent.testbed import Testbed
from harness.agent.tune import Tuner
from harness.capture import Capture, Site
from plan.layout import Wait
from plan.plan import CAPTURES, DELAYS, WORKLOADS, Plan, Topology
from plan.queue import DIRECTIONS
from topology import coalesce
from topology.build import Network
from topology.clock import timers_alike
from topology.commands import BOX
from topology.delay import Delay
from topology.loss import losing, seed_of
from topology.moving import Schedule, delaying
from workload.source import Source

# How often a trial tells how far it is: in a trial of hours, each second would take most of its
# time on the machine.
MOST_NEWS = 1000


def run_trial(
    network: Network,
    tuner: Tuner,
    losses: Losses,
    log: KernelLog,
    name: str,
    plan: Plan,
    *,
    exact: bool,
) -> None:
    """Run a trial; raises when anything but the measured traffic goes wrong.

    Raises:
        KernelComplaintError: the kernel warned; ends the trial within a second of the lab's clock,
            or within a thousandth of its length.

    Args:
        name: of its folder of results.
        exact: does the clock stand still while the lab computes?
    """
    folder = results_of(name)
    layout = plan.topology.layout()
    emit("phase", trial=name, phase="connections")
    quiet.await_no_connections(network.pids[host.name] for host in layout.hosts())
    tuner.tune(plan)
    moving_path = plan.topology.path
    schedule = None if moving_path is None else Schedule(moving_path, layout)
    queues = LoadedQueues(network, plan, 0 if exact else LATE_TOLERANCE_NS, schedule)
    captures = captures_of(Site(plan=plan, pids=network.pids, ports=queues.ports, folder=folder))
    marks: dict[str, Any] = {}
    delays = delays_of(plan.topology, network)

    def snapshot(mark: str) -> None:
        marks[mark] = queues.read()

    every_s = max(1, round(plan.workload.duration_s / MOST_NEWS))

    def advance(second: int) -> None:
        if exact and second == 1:  # the workload's programs have started by then
            room.give_back(plan.topology.pairs, files=True)
        if second % every_s:
            return
        log.refuse_complaints()
        emit("progress", trial=name, second=second, **live.counters(network))

    testbed = Testbed(network, plan, delays[0], folder, snapshot, schedule)
    source = source_of(plan, testbed)
    emit("phase", trial=name, phase="queues")
    if exact:
        timers_alike()
    chance.begin(plan.seed)
    if schedule:
        schedule.set()
    with (
        entered(delays),
        queues,
        moving_as(plan, schedule, network),
        running(captures, "trial"),
        ExitStack() as until_end,
    ):
        emit("phase", trial=name, phase="state before")
        before = provenance.state(network)
        links = probe.link_counters(network)
        ip_bytes = probe.link_ip_bytes(network) if layout.named else {}
        sent = coalesce.segments(network) if plan.topology.coalesce_ns else {}
        losses.begin()
        emit("phase", trial=name, phase="probe")
        routes = probe.idle_round_trips(network, layout, idle_wait(plan))
        first = routes[layout.class_of(1)]
        watched = plan.queue.down.watches_wire
        probed = {} if watched else {"probed_rate_bit_per_s": probe.link_rate(network, layout)}
        probed_bytes = probe.bytes_since(ip_bytes, network)
        until_end.enter_context(coalesce.coalescing(network, plan.topology.coalesce_ns))
        if exact:
            room.give_back(plan.topology.pairs)
        emit("phase", trial=name, phase="source")
        begin = time.monotonic()
        with (
            running(captures, "workload"),
            losing_as(plan, network),
            nullcontext() if exact else Watch() as watch,
        ):
            if schedule and source.begins_itself:
                schedule.await_begin()
            source.run(advance)
        if exact:
            room.give_back(plan.topology.pairs)  # what was free at times counts until here
        emit("phase", trial=name, phase="state after")
        after = provenance.state(network)
        emit("phase", trial=name, phase="drain")
        drained_s = drain(queues, probe.idle_round_trip_s(layout))
        emit("phase", trial=name, phase="counters after")
        passed = probe.difference(links, probe.link_counters(network))
        ip_bytes = probe.bytes_since(ip_bytes, network)
        for capture in captures:
            capture.drained()
        offload = in_segments(passed, sent, coalesce.segments(network) if sent else {})
        record = {
            "virtual_s": time.monotonic() - begin,
            **first,
            **({"routes": routes} if layout.named else {}),
            **probed,
            "drained_s": drained_s,
            "queue": queues.read(),
            "marks": marks,
            "links": passed,
            **({"link_ip_bytes": ip_bytes, "probed_ip_bytes": probed_bytes} if ip_bytes else {}),
            **({"offload": offload} if offload else {}),
            "losses": losses.since(plan),
            "realtime": watch.summary if watch else None,
            "tcp": {"samples": testbed.tcp_samples},
            "system": {"before": before, "after": after},
            "versions": provenance.versions(),
            "source": source.summary(),
            **({"congestion": testbed.congestion} if plan.tcp.others else {}),
            **({"path": {"origin_ns": schedule.origin_ns}} if schedule else {}),
        }
    write_record(folder, record, captures, log)


def results_of(name: str) -> Path:
    """A new folder for what a trial leaves."""
    folder = RUN / "results" / name
    shutil.rmtree(folder, ignore_errors=True)  # of a first attempt that failed
    folder.mkdir(parents=True)
    return folder


def write_record(
    folder: Path, record: dict[str, Any], captures: Sequence[Capture], log: KernelLog
) -> None:
    """Write lab.json, with the facts of the captures, if the kernel has not complained."""
    for capture in captures:
        record |= capture.facts()
    log.refuse_complaints()
    (folder / "lab.json").write_text(json.dumps(record))


def in_segments(
    links: probe.Counters, before: coalesce.Counters, after: coalesce.Counters
) -> probe.Counters:
    """Let the packets that each host sent count as the segments in them, which the queue counts.

    Returns:
        port -> the packets that its host handed over in the trial, and the segments in them.
    """
    offload = {}
    for port, sent in after.items():
        packets, links[port][0] = links[port][0], sent - before[port]
        offload[port] = [packets, links[port][0]]
    return offload


def idle_wait(plan: Plan) -> Wait:
    """How long a ping is at the idle port (plan/dumbbell.py)."""
    path, rate = plan.topology.path, plan.topology.rate_bit_per_s
    one_link = path and not plan.topology.layout().named
    found = path.time_ns(probe.PING_IP_BYTES, rate) if path and one_link else None
    return plan.queue.down.idle_wait_ns if found is None else lambda *_: found


def delays_of(topology: Topology, network: Network) -> list[Delay]:
    """The delay of each middle link, in its box."""
    layout, kind = topology.layout(), DELAYS[topology.delay].Delay
    return [kind(network.pids[one.box], as_dumbbell(layout, one)) for one in layout.middles()]


@contextmanager
def entered(several: Sequence[AbstractContextManager[Any]]) -> Iterator[None]:
    """Enter all, and leave them in the opposite order."""
    with ExitStack() as until_end:
        for one in several:
            until_end.enter_context(one)
        yield


def losing_as(plan: Plan, network: Network) -> AbstractContextManager[None]:
    """The path's own losses, as a plan has them."""
    topology = plan.topology
    if topology.loss is None:
        return nullcontext()
    delay, middle = DELAYS[topology.delay].Delay, topology.dumbbell().middle
    links = {way: delay.link(middle, way) for way in delay.devices}
    return losing(topology.loss, plan.seed, network.pids[BOX], delay.devices, links)


def moving_as(
    plan: Plan, schedule: Schedule | None, network: Network
) -> AbstractContextManager[None]:
    """The delays and losses of a path that moves, where it does."""
    if schedule is None:
        return nullcontext()
    seeds = {direction: seed_of(plan.seed, direction) for direction in DIRECTIONS}
    return delaying(schedule, network.pids[network.layout.moved.box], seeds)


def captures_of(site: Site) -> list[Capture[Any]]:
    """One of each kind."""
    wanted = site.plan.record.of
    return [kind.Capture(wanted(kind.Wanted), site) for kind in CAPTURES.kinds.values()]


@contextmanager
def running(captures: Sequence[Capture[Any]], during: str) -> Iterator[None]:
    """Those that record during the workload, or during the trial."""
    with ExitStack() as until_end:
        for capture in captures:
            if capture.during == during:
                until_end.enter_context(capture)
        yield


def source_of(plan: Plan, testbed: Testbed) -> Source:
    """The workload of a plan, ready to run."""
    kind = WORKLOADS[WORKLOADS.name_of(plan.workload)]
    source: Source = kind.Source(testbed, plan.workload)
    return source
