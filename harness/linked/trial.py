# SPDX-License-Identifier: GPL-2.0-only
"""One lab's half of a trial on two labs. harness/agent/trial.py is the same for one lab.

What it leaves in results/TRIAL is raw; merge.py makes of both labs' what one lab would leave.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from harness.agent import chance, live, probe, provenance, quiet
from harness.agent.drain import drain
from harness.agent.events import emit
from harness.agent.kernel_log import KernelLog
from harness.agent.losses import Losses
from harness.agent.queues import LoadedQueues
from harness.agent.trial import captures_of, idle_wait, results_of, running, write_record
from harness.agent.tune import IPV4, Tuner
from harness.capture import Site
from harness.linked.source import HalfSource
from harness.linked.testbed import HalfTestbed
from harness.linked.wire import Wire
from plan.dumbbell import Dumbbell
from plan.plan import DELAYS, Flavor, Plan
from topology.build import Network
from topology.commands import BOX


def run_trial(
    network: Network,
    tuner: Tuner,
    losses: Losses,
    log: KernelLog,
    name: str,
    plan: Plan,
    *,
    side: str,
    wire: Wire,
) -> None:
    """Run this lab's half of a trial; raises when anything but the measured traffic goes wrong."""
    folder = results_of(name)
    whole = plan.topology.dumbbell()
    here, unknown = fitted(plan)
    dumbbell = here.topology.dumbbell()
    emit("phase", trial=name, phase="connections")
    quiet.await_no_connections(network.pids[host.name] for host in dumbbell.hosts())
    tuner.tune(here)
    queues = LoadedQueues(network, here)
    captures = captures_of(Site(plan=here, pids=network.pids, ports=queues.ports, folder=folder))
    marks: dict[str, Any] = {}
    delay = DELAYS[here.topology.delay].Delay(network.pids[BOX], dumbbell)

    def snapshot(mark: str) -> None:
        marks[mark] = queues.read()

    def advance(second: int) -> None:
        log.refuse_complaints()
        emit("progress", trial=name, second=second, **live.counters(network))

    testbed = HalfTestbed(wire, side, network, here, delay, folder, snapshot)
    kind: Any = HalfSource
    source: HalfSource = kind(testbed, here.workload)
    source.half = testbed
    emit("phase", trial=name, phase="queues")
    wire.begin(plan.topology.delay_ns)
    chance.begin(plan.seed)
    with ExitStack() as until_end:
        for one in (delay, queues, running(captures, "trial")):
            until_end.enter_context(one)
        before = provenance.state(network)
        links = probe.link_counters(network)
        losses.begin()
        wire.meet()
        emit("phase", trial=name, phase="probe")
        idle = probe.idle_round_trip(network, whole) if side == "receivers" else []
        wire.meet()
        probed = {} if here.queue.down.watches_wire else link_rates(network, whole, side, wire)
        emit("phase", trial=name, phase="source")
        begin_ns = wire.meet()
        with running(captures, "workload"):
            source.run(advance)
        after = provenance.state(network)
        emit("phase", trial=name, phase="drain")
        drained_s = drain(queues, probe.idle_round_trip_s(whole))
        wire.meet()
        drain(queues, probe.idle_round_trip_s(whole))  # what the other lab sent meanwhile
        end_ns = wire.meet()
        record = {
            "virtual_s": (end_ns - begin_ns) / 1e9,
            "idle_round_trip_ns": idle,
            "expected_idle_round_trip_ns": whole.idle_round_trip_ns(
                probe.PING_IP_BYTES, idle_wait(plan)
            ),
            "probed_rate_bit_per_s": probed,
            "drained_s": drained_s,
            "queue": queues.read(),
            "marks": marks,
            "links": probe.difference(links, probe.link_counters(network)),
            "losses": losses.since(here),
            "realtime": None,
            "tcp": {"samples": testbed.tcp_samples},
            "system": {"before": before, "after": after},
            "versions": provenance.versions(),
            "source": source.summary(),
            "congestion": testbed.congestion,
            "unknown_sysctls": unknown,
        }
    wire.end()
    write_record(folder, record, captures, log)


def fitted(plan: Plan) -> tuple[Plan, list[str]]:
    """This lab's plan, and the sysctls that its kernel does not know: it goes without them.

    The wire has the delay of the middle link, so the boxes have none.
    """
    first, *others = map(known, plan.tcp.flavors)
    tcp = replace(plan.tcp, flavor=first, others=tuple(others))
    wanted = {name for flavor in plan.tcp.flavors for name in flavor.sysctl}
    unknown = sorted(wanted.difference(*(flavor.sysctl for flavor in tcp.flavors)))
    return replace(plan, tcp=tcp, topology=replace(plan.topology, delay_ns=0)), unknown


def known(flavor: Flavor) -> Flavor:
    """A flavor without the sysctls that this kernel does not know."""
    there = {name: value for name, value in flavor.sysctl.items() if (IPV4 / name).exists()}
    return replace(flavor, sysctl=there)


def link_rates(
    network: Network, dumbbell: Dumbbell, side: str, wire: Wire
) -> dict[str, float | None]:
    """The middle link's rate [bit/s] towards this side's hosts, as probe.link_rate()."""
    found: dict[str, float | None] = {}
    ends = {"down": dumbbell.clients()[0], "up": dumbbell.servers()[0]}
    for direction, to in ends.items():
        if (direction == "down") == (side == "receivers"):
            with probe.taker_of(network.pids[to.name], to, dumbbell) as taker:
                wire.meet()
                found[direction] = probe.rate_taken(taker, dumbbell)
        else:
            [peer] = [host for host in dumbbell.hosts() if host.ip == to.peer_ip]
            with probe.socket_of(network.pids[peer.name]) as giver:
                wire.meet()
                probe.send_train(giver, to, dumbbell)
        wire.meet()
    return found
