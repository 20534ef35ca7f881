# SPDX-License-Identifier: GPL-2.0-only
"""The queues under test did what they say, and every packet is accounted for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.judge.checks.losses import lost_on_path
from plan.checks import Check, CheckResult, check
from plan.facts import TrialFacts
from plan.layout import Layout, Middle
from plan.plan import Plan

LEAST_IP_BYTES = 20
OTHER = {"down": "up", "up": "down"}


def checks(plan: Plan) -> Sequence[Check]:
    layout = plan.topology.layout()
    queues = layout.queues().items()
    packets = [conservation(name, *end) for name, end in queues]
    if not layout.named:
        return queue_faults, *packets
    several = [carried_bytes(name, *end) for name, end in queues]
    limits = [queue_limit(name, way) for name, (_, way) in queues]
    return queue_faults, *packets, *several, *limits


def queue_faults(lab: TrialFacts, plan: Plan) -> CheckResult | None:
    """What the queue programs could not judge exactly: unmarked, late, out of step."""
    queues = plan.topology.layout().queues().items()
    faults = [plan.queue.at(way).faults(lab.queue[name]) for name, (_, way) in queues]
    known = [found for found in faults if found is not None]
    whole = len(known) == len(faults)
    return check("queue faults", sum(known), 0, 0, "frames") if whole else None


def conservation(name: str, middle: Middle, direction: str) -> Check:
    """Packets into a port = packets out + dropped by cause + still queued; packets out of it =
    packets into the far port + lost by the path, where it is to lose any.

    Counted by the kernel's interface counters on one side and the queue's own on the other:
    what comes to the port's switch and does not leave it elsewhere, what the queue judged, what
    left, and, where no link follows, what the other side's hosts got.
    """
    port, far_port = middle.devices[direction], middle.devices[OTHER[direction]]
    ends = (middle.near, middle.far) if direction == "down" else (middle.far, middle.near)

    def conserved(lab: TrialFacts, plan: Plan) -> CheckResult:
        layout, links = plan.topology.layout(), lab.links
        sent = through(links, layout, direction, ends[0])
        sent -= sum(taken(lab, plan, one, direction) for one in beside(layout, middle, direction))
        missing = [
            *plan.queue.at(direction).unaccounted(lab.queue[name], sent, links[port][1]),
            links[port][1] - links[far_port][0] - lost_on_path(lab, plan, middle, direction),
        ]
        if not leaving(layout, direction, ends[1]):
            missing.append(through(links, layout, direction, ends[1]))
        return check(f"conservation {name}", max(map(abs, missing)), 0, 0, "packets")

    conserved.__name__ = f"conservation_{name}"
    return conserved


def carried_bytes(name: str, middle: Middle, direction: str) -> Check:
    """Bytes of IP packets into a port = bytes out of it + those of the packets that it dropped;
    bytes out of it = bytes into the far port + those that the path was told to lose. Where no link
    follows, the hosts got them all.

    The sizes of dropped packets are not known: each is at most a full packet. So if a queue drops
    small packets, a packet lost elsewhere may pass here; conservation() counts each packet. Of
    several links that leave one switch, what is lost is that of all.
    """
    port, far_port = middle.devices[direction], middle.devices[OTHER[direction]]
    ends = (middle.near, middle.far) if direction == "down" else (middle.far, middle.near)

    def carried(lab: TrialFacts, plan: Plan) -> CheckResult | None:
        if plan.topology.coalesce_ns:
            return None  # a packet of several segments has fewer headers than these
        layout, links = plan.topology.layout(), lab.link_ip_bytes
        several = leaving(layout, direction, ends[0])
        lost = through(links, layout, direction, ends[0])
        lost -= sum(links[one.devices[direction]][1] for one in several)
        refused = sum(
            plan.queue.at(direction).refused(lab.queue[one.queue(direction)]) for one in several
        )
        gone, gone_packets = (
            links[port][1] - links[far_port][0],
            lost_on_path(lab, plan, middle, direction),
        )
        missing = [
            lost - as_packets(lost, refused, layout),
            gone - as_packets(gone, gone_packets, layout),
        ]
        if not leaving(layout, direction, ends[1]):
            missing.append(through(links, layout, direction, ends[1]))
        return check(f"bytes {name}", max(map(abs, missing)), 0, 0, "bytes")

    carried.__name__ = f"bytes_{name}"
    return carried


def as_packets(lost_bytes: int, packets: int, layout: Layout) -> int:
    """The bytes nearest to those that were lost that so many packets can have."""
    return min(max(lost_bytes, packets * LEAST_IP_BYTES), packets * layout.mtu_bytes)


def through(
    counted: Mapping[str, Sequence[int]], layout: Layout, direction: str, switch: str
) -> int:
    """What came to a switch in a direction, from hosts and from middle links, less what it gave to
    hosts: it must have given the rest to the next middle link.

    counted: port -> what it received and what it sent, in packets or in bytes.
    """
    senders, takers = layout.servers(), layout.clients()
    if direction == "up":
        senders, takers = takers, senders
    came = [host.switch_port for host in senders if host.switch == switch]
    came += [one.devices[OTHER[direction]] for one in leaving(layout, OTHER[direction], switch)]
    gone = [host.switch_port for host in takers if host.switch == switch]
    return sum(counted[port][0] for port in {*came}) - sum(counted[port][1] for port in {*gone})


def beside(layout: Layout, middle: Middle, direction: str) -> list[Middle]:
    """The other middle links over which packets of a direction leave the same switch."""
    switch = middle.near if direction == "down" else middle.far
    return [one for one in leaving(layout, direction, switch) if one != middle]


def taken(lab: TrialFacts, plan: Plan, middle: Middle, direction: str) -> int:
    """Packets that came to a queue, as it and its port have counted them."""
    queue, counters = plan.queue.at(direction), lab.queue[middle.queue(direction)]
    sent = lab.links[middle.devices[direction]][1]
    return sent + queue.refused(counters) + queue.waiting(counters)


def leaving(layout: Layout, direction: str, switch: str) -> list[Middle]:
    """The middle links over which packets of a direction leave a switch."""
    return [
        one for one in layout.middles() if switch == (one.near if direction == "down" else one.far)
    ]


def queue_limit(name: str, direction: str) -> Check:
    """How far the longest queue that was sampled was above the queue's limit."""

    def limited(lab: TrialFacts, plan: Plan) -> CheckResult | None:
        limit = plan.queue.at(direction).limit(plan.topology.layout().mtu_bytes)
        if limit is None or not lab.has("longest"):
            return None
        unit, most = limit
        over = max(0, lab.longest[name][f"backlog_{unit}"] - most)
        return check(f"queue limit {name}", over, 0, 0, unit)

    limited.__name__ = f"queue_limit_{name}"
    return limited
