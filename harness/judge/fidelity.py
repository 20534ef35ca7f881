# SPDX-License-Identifier: GPL-2.0-only
"""The fidelity checks of a trial: what must hold for its figures to mean anything. Pure.

Each takes the lab's raw record and the plan and says what was expected, what was measured
and how far apart the two may be; or None, where the trial has nothing of the kind. A trial
with one failed check is invalid. tests/labs/test_broken_trials.py breaks what each of them watches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plan.atm import CELL_BITS
from plan.loss import Loss
from plan.plan import CAPTURES, WORKLOADS, kind_of_queue
from plan.queue import Queue
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


def link_rate(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """Cells over the time that the middle link was busy, as seen at its ends (bpf/wire.h).

    Of both directions the one that is further off. Where access links are slower than the
    middle link, no frame shows from outside when it is busy. Where the clock runs on while the
    lab computes, both ends of a busy stretch are microseconds off: a direction whose stretches
    are short, such as one of single acknowledgements, tells nothing there.

    Where the queue does not watch the link, the rate is that of a train of packets before the
    trial.
    """
    topology = plan["topology"]
    expected = topology["rate_bit_per_s"]
    if expected > topology["access_rate_bit_per_s"]:
        return None
    watched = [of(plan, port).wire(lab["queue"][port]) for port in PORTS]
    wires = [wire for wire in watched if wire is not None]
    if len(wires) < len(watched):
        probed = lab["probed_rate_bit_per_s"].values()
        return farthest_rate([] if None in probed else list(probed), expected, lab)
    whole = all(w and w["busy_ns"] for w in wires)
    if whole and lab.get("realtime"):
        wires = [w for w in wires if w["busy_ns"] >= REAL_STRETCH_NS * w["stretches"]]
        if not wires:
            return None
    rates = [w["cells"] * CELL_BITS * 1e9 / w["busy_ns"] for w in wires if whole]
    return farthest_rate(rates, expected, lab)


def farthest_rate(rates: Sequence[float], expected: float, lab: Mapping[str, Any]) -> FidelityCheck:
    """Of the measured rates the one that is furthest off; none is no measurement."""
    worst = max(rates, key=lambda rate: abs(rate - expected), default=None)
    limit = REAL_RATE_LIMIT if lab.get("realtime") else RATE_LIMIT
    return check("link rate", worst, expected, expected * limit, "bit/s")


def idle_round_trip(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck:
    """Pings over the idle path, against propagation and serialisation."""
    times = lab["idle_round_trip_ns"]
    expected = lab["expected_idle_round_trip_ns"]
    worst = max(times, key=lambda t: abs(t - expected)) if times else None
    limit = max(RTT_RESOLUTION_NS, min(RTT_LIMIT_NS, RTT_LIMIT_SHARE * expected))
    if lab.get("realtime"):
        # The typical one: a single ping tells of its own bad luck only.
        worst = sorted(times)[len(times) // 2] if times else None
        limit = max(REAL_RTT_LIMIT_NS, REAL_RTT_SHARE * expected)
    return check("idle round trip", worst, expected, limit, "ns")


def queue_faults(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """What the queue programs could not judge exactly: unmarked, late, out of step."""
    faults = [of(plan, port).faults(lab["queue"][port]) for port in PORTS]
    return None if None in faults else check("queue faults", sum(faults), 0, 0, "frames")


def conservation(direction: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], FidelityCheck]:
    """Packets into a port = packets out + dropped by cause + still queued; packets out of it =
    packets into the far port + lost by the path, where it is to lose any.

    Counted by the kernel's interface counters on one side and the queue's own on the other:
    what the hosts sent, what the queue judged, what left, what the other side's hosts got.
    """
    hosts, port, far_port, far_hosts = {
        "down": ("sw2-s", DOWN_PORT, UP_PORT, "sw1-c"),
        "up": ("sw1-c", UP_PORT, DOWN_PORT, "sw2-s"),
    }[direction]

    def conserved(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck:
        links = lab["links"]
        sent = sum(c[0] for name, c in links.items() if name.startswith(hosts) and name != port)
        got = sum(
            c[1] for name, c in links.items() if name.startswith(far_hosts) and name != far_port
        )
        missing = [
            *of(plan, direction).unaccounted(lab["queue"][direction], sent, links[port][1]),
            links[port][1] - links[far_port][0] - lost_on_path(lab, plan, direction),
            links[far_port][0] - got,
        ]
        return check(f"conservation {direction}", max(map(abs, missing)), 0, 0, "packets")

    conserved.__name__ = f"conservation_{direction}"
    return conserved


def drops_elsewhere(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck:
    """Packets lost anywhere but in the queues under test: switches, box, hosts, backlogs.

    Every namespace must have been read. The two ports count what the queue refuses, and so
    much of their count is no loss elsewhere; nor is what the path was told to lose.
    """
    losses, pairs = lab.get("losses", {}), plan["topology"]["pairs"]
    if losses.get("namespaces", 0) < 2 * pairs + 2:
        return check("drops elsewhere", None, 0, 0, "packets")
    at_ports = sum(
        max(0, losses["at_port"][port] - of(plan, port).refused(lab["queue"][port]))
        for port in PORTS
    )
    # One that fell was begun anew with its device, and what it had counted is not known.
    lost = sum(map(abs, losses["elsewhere"].values())) + at_ports
    return check("drops elsewhere", lost, 0, 0, "packets")


def path_losses(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """Where the path is to lose packets, how many it lost of those that left the port.

    Of both directions the one that is further off, in standard deviations.
    """
    loss = loss_of(plan)
    if loss is None:
        return None
    verdicts = []
    for way in loss.directions:
        packets = lab["links"][PORTS[way]][1]
        limit = 1 + LOSS_LIMIT_DEVIATIONS * loss.spread(packets)
        lost = lost_on_path(lab, plan, way)
        verdicts.append(check("path losses", lost, packets * loss.share, limit, "packets"))
    return max(verdicts, key=lambda one: abs(one["measured"] - one["expected"]) / one["limit"])


def lost_on_path(lab: Mapping[str, Any], plan: Mapping[str, Any], direction: str) -> int:
    """Packets of a direction that the path was told to lose, and lost."""
    loss = loss_of(plan)
    return lab["losses"]["on_path"][direction] if loss and direction in loss.directions else 0


def loss_of(plan: Mapping[str, Any]) -> Loss | None:
    """What the path is to lose."""
    told = plan["topology"].get("loss")
    return None if told is None else Loss(**told)


def of(plan: Mapping[str, Any], direction: str) -> type[Queue]:
    """The kind of the queue at a port, which knows its counters and their law."""
    return kind_of_queue(plan.get("queue", {}).get(direction, {}))


def tells(lab: Mapping[str, Any], plan: Mapping[str, Any], key: str) -> bool:
    """Has the workload said it, or should it have?"""
    kind = WORKLOADS.kinds.get(plan["workload"]["kind"])
    return lab["source"].get(key) is not None or (kind is not None and key in kind.Source.tells)


def requests(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """Requests that were not sent or came back wrong, and flows with bytes unaccounted for.

    What each client's kernel received is headers, the files answered, the part of the one
    under way, and what the client has not read yet; the client counts the one, the kernel
    the other, and the files' sizes are those asked for. Of web traffic, instead: a host's
    connections of which both ends' counts do not agree (workload/packmime/both_ends.py).
    """
    source = lab["source"]
    if not tells(lab, plan, "offered"):
        return None
    keys = ("offered", "answered", "outstanding", "unsent", "bad_status")
    counts = [source.get(key) for key in keys]
    flows = source.get("unlike_connections", source.get("unexplained_bytes", []))
    if None in counts or len(flows) != plan["topology"]["pairs"]:
        return check("requests", None, 0, 0, "requests")
    offered, answered, outstanding, unsent, bad_status = counts
    wrong = abs(offered - answered - outstanding - unsent) + unsent + bad_status
    wrong += len(source.get("broken", [])) + sum(rest != 0 for rest in flows)
    return check("requests", wrong, 0, 0, "requests")


def answers(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """In a closed loop: failed calls, answers with an error, and clients with wrong bytes."""
    source = lab["source"]
    if not tells(lab, plan, "failed_calls"):
        return None
    wrong = source["failed_calls"] + sum(rest != 0 for rest in source["unexplained_bytes"])
    return check("answers", wrong, 0, 0, "answers")


def idle_sources(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """Persistent sources that had nothing to send at the end of the measured interval."""
    if not tells(lab, plan, "idle_sources"):
        return None
    return check("idle sources", lab["source"].get("idle_sources"), 0, 0, "sources")


def server_errors(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """Lines in the servers' error logs, where there are servers."""
    if not tells(lab, plan, "server_complaints"):
        return None
    said = lab["source"].get("server_complaints")
    return check("server errors", None if said is None else len(said), 0, 0, "lines")


def receiver_window(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """The window that each sender was last told, against the plan's.

    A receiver rounds what it has left down to whole segments. Of web traffic, the least and the
    largest of a host's connections.
    """
    if not tells(lab, plan, "peer_window_bytes") and not tells(lab, plan, "peer_windows_bytes"):
        return None
    wanted = plan["tcp"]["window_bytes"]
    ends = lab["source"].get("peer_windows_bytes")
    windows = lab["source"].get("peer_window_bytes") or []
    whole = len(windows) == plan["topology"]["pairs"] and None not in windows
    if ends is not None:
        windows, whole = sum(ends, []), all(ends)
    worst = max(windows, key=lambda w: abs(w - wanted)) if whole else None
    limit = plan["topology"]["mss_bytes"] - 1
    return check("receiver window", worst, wanted, limit, "bytes")


def late_requests(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """The latest request against its due time, where requests have one."""
    if not tells(lab, plan, "max_late_ns"):
        return None
    late = lab["source"].get("max_late_ns")
    limit = REAL_LATE_LIMIT_NS if lab.get("realtime") else LATE_LIMIT_NS
    return check("late requests", late, 0, limit, "ns")


def handshakes(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """The shortest handshake less its connection's own round trip, against the idle links' part.

    None is shorter than that, and some connection finds the queues empty, if only the first.
    """
    if plan["topology"].get("delay", "constant") != "connection":
        return None
    source = lab["source"]
    limit = REAL_RTT_LIMIT_NS if lab.get("realtime") else RTT_LIMIT_NS
    excess, expected = source["handshake_excess_ns"], source["expected_handshake_excess_ns"]
    return check("handshakes", excess, expected, limit, "ns")


def round_trips(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """Of all connections' first packets and their answers, how much longer or shorter than half of
    a round trip they were in the box in the middle; the one that is furthest off.

    As seen at the box's devices, and not by what delays. A connection that began was seen.
    """
    if plan["topology"].get("delay", "constant") != "connection":
        return None
    source = lab["source"]
    seen = source["round_trips"]
    farthest = seen["farthest_ns"] if seen["passed"] >= source["connected"] else None
    limit = REAL_LATE_LIMIT_NS if lab.get("realtime") else RTT_LIMIT_NS
    return check("round trips", farthest, 0, limit, "ns")


def server_delays(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """Where servers wait before they answer: of all waits the one that is furthest off.

    By the kernel's times of the requests' arrivals, in ticks; and to the nanosecond, by their
    clients, no answer came sooner than its round trip, the wait and the idle links allow.
    """
    if plan["topology"].get("delay", "constant") != "connection":
        return None
    source = lab["source"]
    soonest, least = source["answer_excess_ns"], source["expected_handshake_excess_ns"]
    if soonest is not None and soonest < least - RTT_LIMIT_NS:
        return check("server delays", soonest, least, RTT_LIMIT_NS, "ns")
    limit = TICK_NS + (REAL_LATE_LIMIT_NS if lab.get("realtime") else 0)
    return check("server delays", source["delay_off_ns"], 0, limit, "ns")


def delay_faults(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """Packets that found no round trip of their connection, or no departure time."""
    if plan["topology"].get("delay", "constant") != "connection":
        return None
    counters = lab["source"]["delays"]
    return check("delay faults", counters["unknown"] + counters["refused"], 0, 0, "packets")


def late_departures(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """Frames whose departure time was past when the queue gave it, as a share of all."""
    counts = [found for p in PORTS if (found := of(plan, p).late(lab["queue"][p])) is not None]
    if not counts:
        return None
    share = sum(late for late, _ in counts) / max(1, sum(frames for _, frames in counts))
    return check("late departures", share, 0, LATE_DEPARTURES_SHARE, "of the frames")


def stalls(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck:
    """How late a sleeping thread woke: the 99th percentile over the trial."""
    return check("stalls", lab["realtime"]["stall_p99_ns"], 0, STALL_LIMIT_NS, "ns")


def clock_step(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck:
    """How far the wall clock was set during the trial."""
    return check("clock step", lab["realtime"]["clock_step_ns"], 0, CLOCK_STEP_LIMIT_NS, "ns")


def capture(kind: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], FidelityCheck | None]:
    """What a kind of capture should have and has not."""
    found = CAPTURES[kind].Capture

    def captured(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
        missing = found.missing(lab)
        return None if missing is None else check(found.check, missing, 0, 0, found.unit)

    captured.__name__ = found.check
    return captured


def flavors(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> FidelityCheck | None:
    """Where pairs have flavors in turn: pairs of which a sender had another congestion control
    than its flavor's, and flavors whose no sender was seen with."""
    tcp = plan["tcp"]
    if not tcp.get("others"):
        return None
    wanted = [flavor["congestion"] for flavor in (tcp["flavor"], *tcp["others"])]
    seen = [(wanted[(int(pair) - 1) % len(wanted)], of) for pair, of in lab["congestion"].items()]
    wrong = sum(any(name != own for name in of) for own, of in seen)
    unseen = {*wanted} - {own for own, of in seen if own in of}
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


def checks_of(lab: Mapping[str, Any], plan: Mapping[str, Any]) -> list[FidelityCheck]:
    """All checks of a trial, in a fixed order."""
    more = REALTIME_CHECKS if lab.get("realtime") else ()
    captures = [capture(kind) for kind in CAPTURES.kinds]
    verdicts = [attempted(one, lab, plan) for one in (*CHECKS, *more, *captures)]
    return [verdict for verdict in verdicts if verdict is not None]


def attempted(
    one: Callable[[Mapping[str, Any], Mapping[str, Any]], FidelityCheck | None],
    lab: Mapping[str, Any],
    plan: Mapping[str, Any],
) -> FidelityCheck | None:
    """One check's verdict; it fails where a record has not what it goes by, as an old one may.

    Its name is then that of the function, which is that of the verdict.
    """
    try:
        return one(lab, plan)
    except (KeyError, TypeError, ZeroDivisionError) as error:
        why = f"not recorded: {error}" if isinstance(error, KeyError) else f"{error}"
        name = one.__name__.replace("_", " ")
        return {**check(name, None, 0, 0, ""), "why": f"{type(error).__name__}: {why}"}
