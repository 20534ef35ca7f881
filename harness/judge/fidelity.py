# SPDX-License-Identifier: GPL-2.0-only
"""The fidelity checks of a trial: what must hold for its figures to mean anything. Pure.

Each takes the lab's raw record and the plan and says what was expected, what was measured
and how far apart the two may be; or None, where the trial has nothing of the kind. A trial
with one failed check is invalid. tests/labs/test_broken_trials.py breaks what each of them watches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from plan.atm import CELL_BITS
from plan.facts import NotRecordedError, TrialFacts
from plan.plan import CAPTURES, WORKLOADS, Plan
from topology.commands import DOWN_PORT, PORTS, UP_PORT

FidelityCheck = dict[str, Any]
RATE_LIMIT = 1e-3
REAL_RATE_LIMIT = 1e-2
# A stretch of the link being busy; its ends were 1 to 3 us off in the vm lab.
REAL_STRETCH_NS = 1_000_000
# A delay that is 1 % off is seen; but ping prints whole microseconds, of two clock readings.
RTT_LIMIT_SHARE = 0.005
RTT_LIMIT_NS = 10_000
RTT_RESOLUTION_NS = 1_500
# Further off by chance is one seed in two million.
LOSS_LIMIT_DEVIATIONS = 5
# The coarsest of the kernel's ticks (HZ=100), in which it keeps times of arrival.
TICK_NS = 10_000_000
# In virtual time a request is late only by the clock's own reading costs.
LATE_LIMIT_NS = 100_000
# Where the clock runs on while the lab computes; docs/labs.md has the measurements.
REAL_RTT_SHARE = 0.1
REAL_RTT_LIMIT_NS = 100_000
REAL_LATE_LIMIT_NS = 10_000_000
LATE_DEPARTURES_SHARE = 0.02
STALL_LIMIT_NS = 10_000_000
CLOCK_STEP_LIMIT_NS = 1_000_000


def check(name: str, measured: Any, expected: Any, limit: float, unit: str) -> FidelityCheck:
    """One verdict: |measured - expected| <= limit; a missing measurement fails."""
    ok = measured is not None and abs(measured - expected) <= limit
    return {
        "name": name,
        "ok": ok,
        "measured": measured,
        "expected": expected,
        "limit": limit,
        "unit": unit,
    }


def link_rate(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """Cells over the time that the middle link was busy, as seen at its ends (bpf/wire.h).

    Of both directions the one that is further off. Where access links are slower than the
    middle link, no frame shows from outside when it is busy. Where the clock runs on while the
    lab computes, both ends of a busy stretch are microseconds off: a direction whose stretches
    are short, such as one of single acknowledgements, tells nothing there.

    Where the queue does not watch the link, the rate is that of a train of packets before the
    trial.
    """
    expected = plan.topology.rate_bit_per_s
    if expected > plan.topology.access_rate_bit_per_s:
        return None
    watched = [plan.queue.at(port).wire(lab.queue[port]) for port in PORTS]
    wires = [wire for wire in watched if wire is not None]
    if len(wires) < len(watched):
        probed = [rate for rate in lab.probed_rate_bit_per_s.values() if rate is not None]
        whole = len(probed) == len(lab.probed_rate_bit_per_s)
        return farthest_rate(probed if whole else [], expected, lab)
    whole = all(w and w["busy_ns"] for w in wires)
    if whole and not lab.exact:
        wires = [w for w in wires if w["busy_ns"] >= REAL_STRETCH_NS * w["stretches"]]
        if not wires:
            return None
    rates = [w["cells"] * CELL_BITS * 1e9 / w["busy_ns"] for w in wires if whole]
    return farthest_rate(rates, expected, lab)


def farthest_rate(rates: Sequence[float], expected: float, lab: TrialFacts) -> FidelityCheck:
    """Of the measured rates the one that is furthest off; none is no measurement."""
    worst = max(rates, key=lambda rate: abs(rate - expected), default=None)
    limit = RATE_LIMIT if lab.exact else REAL_RATE_LIMIT
    return check("link rate", worst, expected, expected * limit, "bit/s")


def idle_round_trip(lab: TrialFacts, plan: Plan) -> FidelityCheck:
    """Pings over the idle path, against propagation and serialisation."""
    times = lab.idle_round_trip_ns
    expected = lab.expected_idle_round_trip_ns
    worst = max(times, key=lambda t: abs(t - expected)) if times else None
    limit = max(RTT_RESOLUTION_NS, min(RTT_LIMIT_NS, RTT_LIMIT_SHARE * expected))
    if not lab.exact:
        # The typical one: a single ping tells of its own bad luck only.
        worst = sorted(times)[len(times) // 2] if times else None
        limit = max(REAL_RTT_LIMIT_NS, REAL_RTT_SHARE * expected)
    return check("idle round trip", worst, expected, limit, "ns")


def queue_faults(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """What the queue programs could not judge exactly: unmarked, late, out of step."""
    faults = [plan.queue.at(port).faults(lab.queue[port]) for port in PORTS]
    known = [found for found in faults if found is not None]
    whole = len(known) == len(faults)
    return check("queue faults", sum(known), 0, 0, "frames") if whole else None


def conservation(direction: str) -> Callable[[TrialFacts, Plan], FidelityCheck]:
    """Packets into a port = packets out + dropped by cause + still queued; packets out of it =
    packets into the far port + lost by the path, where it is to lose any.

    Counted by the kernel's interface counters on one side and the queue's own on the other:
    what the hosts sent, what the queue judged, what left, what the other side's hosts got.
    """
    hosts, port, far_port, far_hosts = {
        "down": ("sw2-s", DOWN_PORT, UP_PORT, "sw1-c"),
        "up": ("sw1-c", UP_PORT, DOWN_PORT, "sw2-s"),
    }[direction]

    def conserved(lab: TrialFacts, plan: Plan) -> FidelityCheck:
        links = lab.links
        sent = sum(c[0] for name, c in links.items() if name.startswith(hosts) and name != port)
        got = sum(
            c[1] for name, c in links.items() if name.startswith(far_hosts) and name != far_port
        )
        missing = [
            *plan.queue.at(direction).unaccounted(lab.queue[direction], sent, links[port][1]),
            links[port][1] - links[far_port][0] - lost_on_path(lab, plan, direction),
            links[far_port][0] - got,
        ]
        return check(f"conservation {direction}", max(map(abs, missing)), 0, 0, "packets")

    conserved.__name__ = f"conservation_{direction}"
    return conserved


def drops_elsewhere(lab: TrialFacts, plan: Plan) -> FidelityCheck:
    """Packets lost anywhere but in the queues under test: switches, box, hosts, backlogs.

    Every namespace must have been read. The two ports count what the queue refuses, and so
    much of their count is no loss elsewhere; nor is what the path was told to lose.
    """
    losses = lab.losses
    if losses.namespaces < 2 * plan.topology.pairs + 2:
        return check("drops elsewhere", None, 0, 0, "packets")
    at_ports = sum(
        max(0, losses.at_port[port] - plan.queue.at(port).refused(lab.queue[port]))
        for port in PORTS
    )
    # One that fell was begun anew with its device, and what it had counted is not known.
    lost = sum(map(abs, losses.elsewhere.values())) + at_ports
    return check("drops elsewhere", lost, 0, 0, "packets")


def path_losses(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """Where the path is to lose packets, how many it lost of those that left the port.

    Of both directions the one that is further off, in standard deviations.
    """
    loss = plan.topology.loss
    if loss is None:
        return None
    verdicts = []
    for way in loss.directions:
        packets = lab.links[PORTS[way]][1]
        limit = 1 + LOSS_LIMIT_DEVIATIONS * loss.spread(packets)
        lost = lost_on_path(lab, plan, way)
        verdicts.append(check("path losses", lost, packets * loss.share, limit, "packets"))
    return max(verdicts, key=lambda one: abs(one["measured"] - one["expected"]) / one["limit"])


def lost_on_path(lab: TrialFacts, plan: Plan, direction: str) -> int:
    """Packets of a direction that the path was told to lose, and lost."""
    loss = plan.topology.loss
    return lab.losses.on_path[direction] if loss and direction in loss.directions else 0


def tells(lab: TrialFacts, plan: Plan, key: str) -> bool:
    """Has the workload said it, or should it have?"""
    kind = WORKLOADS[WORKLOADS.name_of(plan.workload)]
    return lab.source.has(key) or key in kind.Source.tells


def requests(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """Requests that were not sent or came back wrong, and flows with bytes unaccounted for.

    What each client's kernel received is headers, the files answered, the part of the one
    under way, and what the client has not read yet; the client counts the one, the kernel
    the other, and the files' sizes are those asked for. Of web traffic, instead: a host's
    connections of which both ends' counts do not agree (workload/packmime/both_ends.py).
    """
    source = lab.source
    if not tells(lab, plan, "offered"):
        return None
    by_host = source.has("unlike_connections")
    flows = source.unlike_connections if by_host else source.unexplained_bytes
    if len(flows) != plan.topology.pairs:
        return check("requests", None, 0, 0, "requests")
    met = source.answered + source.outstanding + source.unsent
    wrong = abs(source.offered - met) + source.unsent + source.bad_status
    wrong += len(source.broken) if source.has("broken") else 0
    wrong += sum(rest != 0 for rest in flows)
    return check("requests", wrong, 0, 0, "requests")


def answers(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """In a closed loop: failed calls, answers with an error, and clients with wrong bytes."""
    source = lab.source
    if not tells(lab, plan, "failed_calls"):
        return None
    wrong = source.failed_calls + sum(rest != 0 for rest in source.unexplained_bytes)
    return check("answers", wrong, 0, 0, "answers")


def idle_sources(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """Persistent sources that had nothing to send at the end of the measured interval."""
    if not tells(lab, plan, "idle_sources"):
        return None
    return check("idle sources", lab.source.idle_sources, 0, 0, "sources")


def server_errors(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """Lines in the servers' error logs, where there are servers."""
    if not tells(lab, plan, "server_complaints"):
        return None
    return check("server errors", len(lab.source.server_complaints), 0, 0, "lines")


def receiver_window(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """The window that each sender was last told, against the plan's.

    A receiver rounds what it has left down to whole segments. Of web traffic, the least and the
    largest of a host's connections.
    """
    if not tells(lab, plan, "peer_window_bytes") and not tells(lab, plan, "peer_windows_bytes"):
        return None
    source, wanted = lab.source, plan.tcp.window_bytes
    if source.has("peer_windows_bytes"):
        ends = source.peer_windows_bytes
        windows, whole = [window for host in ends for window in host], all(ends)
    else:
        windows = [window for window in source.peer_window_bytes if window is not None]
        whole = len(windows) == len(source.peer_window_bytes) == plan.topology.pairs
    worst = max(windows, key=lambda w: abs(w - wanted)) if whole else None
    limit = plan.topology.mss_bytes - 1
    return check("receiver window", worst, wanted, limit, "bytes")


def late_requests(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """The latest request against its due time, where requests have one."""
    if not tells(lab, plan, "max_late_ns"):
        return None
    limit = LATE_LIMIT_NS if lab.exact else REAL_LATE_LIMIT_NS
    return check("late requests", lab.source.max_late_ns, 0, limit, "ns")


def handshakes(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """The shortest handshake less its connection's own round trip, against the idle links' part.

    None is shorter than that, and some connection finds the queues empty, if only the first.
    """
    if plan.topology.delay != "connection":
        return None
    source = lab.source
    limit = RTT_LIMIT_NS if lab.exact else REAL_RTT_LIMIT_NS
    excess, expected = source.handshake_excess_ns, source.expected_handshake_excess_ns
    return check("handshakes", excess, expected, limit, "ns")


def round_trips(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """Of all connections' first packets and their answers, how much longer or shorter than half of
    a round trip they were in the box in the middle; the one that is furthest off.

    As seen at the box's devices, and not by what delays. A connection that began was seen.
    """
    if plan.topology.delay != "connection":
        return None
    source = lab.source
    seen = source.round_trips
    farthest = seen["farthest_ns"] if (seen["passed"] or 0) >= source.connected else None
    limit = RTT_LIMIT_NS if lab.exact else REAL_LATE_LIMIT_NS
    return check("round trips", farthest, 0, limit, "ns")


def server_delays(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """Where servers wait before they answer: of all waits the one that is furthest off.

    By the kernel's times of the requests' arrivals, in ticks; and to the nanosecond, by their
    clients, no answer came sooner than its round trip, the wait and the idle links allow.
    """
    if plan.topology.delay != "connection":
        return None
    source = lab.source
    soonest, least = source.answer_excess_ns, source.expected_handshake_excess_ns
    if soonest is not None and soonest < least - RTT_LIMIT_NS:
        return check("server delays", soonest, least, RTT_LIMIT_NS, "ns")
    limit = TICK_NS + (0 if lab.exact else REAL_LATE_LIMIT_NS)
    return check("server delays", source.delay_off_ns, 0, limit, "ns")


def delay_faults(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """Packets that found no round trip of their connection, or no departure time."""
    if plan.topology.delay != "connection":
        return None
    counters = lab.source.delays
    return check("delay faults", counters["unknown"] + counters["refused"], 0, 0, "packets")


def late_departures(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """Frames whose departure time was past when the queue gave it, as a share of all."""
    counts = [found for p in PORTS if (found := plan.queue.at(p).late(lab.queue[p])) is not None]
    if not counts:
        return None
    share = sum(late for late, _ in counts) / max(1, sum(frames for _, frames in counts))
    return check("late departures", share, 0, LATE_DEPARTURES_SHARE, "of the frames")


def stalls(lab: TrialFacts, plan: Plan) -> FidelityCheck:
    """How late a sleeping thread woke: the 99th percentile over the trial."""
    seen = lab.realtime
    return check("stalls", seen and seen.stall_p99_ns, 0, STALL_LIMIT_NS, "ns")


def clock_step(lab: TrialFacts, plan: Plan) -> FidelityCheck:
    """How far the wall clock was set during the trial."""
    seen = lab.realtime
    return check("clock step", seen and seen.clock_step_ns, 0, CLOCK_STEP_LIMIT_NS, "ns")


def capture(kind: str) -> Callable[[TrialFacts, Plan], FidelityCheck | None]:
    """What a kind of capture should have and has not."""
    found = CAPTURES[kind].Capture

    def captured(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
        missing = found.missing(lab)
        return None if missing is None else check(found.check, missing, 0, 0, found.unit)

    captured.__name__ = found.check
    return captured


def flavors(lab: TrialFacts, plan: Plan) -> FidelityCheck | None:
    """Where pairs have flavors in turn: pairs of which a sender had another congestion control
    than its flavor's, and flavors whose no sender was seen with."""
    if not plan.tcp.others:
        return None
    wanted = {flavor.congestion for flavor in plan.tcp.flavors}
    seen = [
        (plan.tcp.of_pair(int(pair)).flavor.congestion, of) for pair, of in lab.congestion.items()
    ]
    wrong = sum(any(name != own for name in of) for own, of in seen)
    unseen = wanted - {own for own, of in seen if own in of}
    return check("flavors", wrong + len(unseen), 0, 0, "pairs")


CHECKS = (
    link_rate,
    idle_round_trip,
    queue_faults,
    conservation("down"),
    conservation("up"),
    drops_elsewhere,
    path_losses,
    requests,
    answers,
    idle_sources,
    server_errors,
    receiver_window,
    late_requests,
    handshakes,
    round_trips,
    server_delays,
    delay_faults,
    flavors,
)


# In the uml lab's virtual time nothing can be late, and there is nothing to check.
REALTIME_CHECKS = (late_departures, stalls, clock_step)


def checks_of(lab: TrialFacts, plan: Plan) -> list[FidelityCheck]:
    """All checks of a trial, in a fixed order."""
    more = () if lab.exact else REALTIME_CHECKS
    captures = [capture(kind) for kind in CAPTURES.kinds]
    verdicts = [attempted(one, lab, plan) for one in (*CHECKS, *more, *captures)]
    return [verdict for verdict in verdicts if verdict is not None]


def attempted(
    one: Callable[[TrialFacts, Plan], FidelityCheck | None],
    lab: TrialFacts,
    plan: Plan,
) -> FidelityCheck | None:
    """One check's verdict; it fails where a record has not what it goes by, as an old one may.

    Its name is then that of the function, which is that of the verdict.
    """
    try:
        return one(lab, plan)
    except (KeyError, NotRecordedError, TypeError, ZeroDivisionError) as error:
        why = f"not recorded: {error}" if isinstance(error, KeyError) else f"{error}"
        name = one.__name__.replace("_", " ")
        return {**check(name, None, 0, 0, ""), "why": f"{type(error).__name__}: {why}"}
