# SPDX-License-Identifier: GPL-2.0-only
"""The figures of the cases. A figure that a case is not about is None.

Rates are payload that newly arrived in the measured interval. Times come from the bytes that the
queue has sent to each pair (throughput.csv), headers and repeated segments included. A time that a
trial does not see the end of counts until the end of the trial, so it is too small then.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis import by_pair, moving_path
from analysis.metrics import capacity_bit_per_s, jain_index, rates_bit_per_s
from analysis.metrics import efficiency as link_share
from analysis.records import Record
from plan.atm import CELL_BITS, TCP_IP_HEADER_BYTES, segment_cells
from plan.plan import Plan
from plan.workload import measure_from_s

Values = NDArray[np.float64]
NS_PER_S = 1e9
WINDOW_S = 1.0
"""The length of the seconds in which a time measure looks for a rate."""
FULL = 0.9
"""The part of the link that such a second has to fill."""
DELTA = 0.2
"""Of the delta-fair convergence time (RFC 5166, section 2.3.3): shares of (1 +- delta) / 2."""
FIRST_BYTES = 150_000
"""A short transfer: 100 full packets."""
CONTROL_BYTES = 3_000
"""More than iperf3's control connection (737 bytes of IP packets), less than a first flight."""
HALVED_S = (10.0, 15.0)
"""The time after the rate halves in which losses are counted."""
ADAPTING = ("rate quadruples", "delay triples", "outage")
STANDARD = {
    "beside Reno 0.5": "linux-reno",
    "beside Reno 4": "linux-reno",
    "beside Reno FQ-CoDel": "linux-reno",
    "beside CUBIC": "cubic-rack",
}
"""Case -> the flavor of pair 1."""


def is_of(trial: Record, *cases: str) -> bool:
    """Whether a trial is of one of some cases."""
    return trial.factors.get("case") in cases


def arrived_bit_per_s(trial: Record) -> tuple[float, ...]:
    """Of each pair, what newly arrived in the measured interval."""
    source = trial.facts.source
    return rates_bit_per_s(source.delivered_bytes, source.measured_s)


def interval_s(plan: Plan) -> tuple[float, float]:
    """The measured interval."""
    return measure_from_s(plan.workload), plan.workload.duration_s


def mean_rate_bit_per_s(plan: Plan) -> float:
    """What the link to the clients can carry on average in the measured interval."""
    path = plan.topology.path
    if path is None:
        return float(plan.topology.rate_bit_per_s)
    return moving_path.mean_rate_bit_per_s(path.down, *interval_s(plan))


def efficiency(trial: Record) -> float | None:
    """What newly arrived over what the link could carry; None where there are several links."""
    topology = trial.plan.topology
    if topology.layout().named:
        return None
    capacity = capacity_bit_per_s(topology.mss_bytes, mean_rate_bit_per_s(trial.plan))
    return link_share(arrived_bit_per_s(trial), capacity)


def jain(trial: Record) -> float | None:
    """Jain's index of the rates (RFC 5166, section 2.3.1), in the case of equal flows."""
    return jain_index(arrived_bit_per_s(trial)) if is_of(trial, "equal flows") else None


def standard_share(trial: Record) -> float | None:
    """The rate of pair 1, the standard sender, over half of the link.

    None where pair 1 is another sender: --module puts a sender of one's own at both pairs.
    """
    flavor = STANDARD.get(str(trial.factors.get("case")))
    if flavor is None or trial.plan.tcp.of_pair(1).flavor.name != flavor:
        return None
    topology = trial.plan.topology
    half = capacity_bit_per_s(topology.mss_bytes, topology.rate_bit_per_s) / 2
    return arrived_bit_per_s(trial)[0] / half


def long_over_short(trial: Record) -> float | None:
    """The rate of the long round trip (pair 1) over that of the short (pair 2)."""
    if not is_of(trial, "two round trips"):
        return None
    long, short, _ = arrived_bit_per_s(trial)
    return long / short if short else None


def long_share(trial: Record) -> float | None:
    """The rate of the flow over three links over its max-min fair share, half of a link."""
    if not is_of(trial, "parking lot"):
        return None
    layout = trial.plan.topology.layout()
    rate = min(one.link.rate_bit_per_s for one in layout.middles())
    return arrived_bit_per_s(trial)[0] / (capacity_bit_per_s(layout.mss_bytes, rate) / 2)


# ---- the queue -----------------------------------------------------------------------------------


def samples(trial: Record, begin_s: float, end_s: float) -> Values:
    """Packets that wait, and packets dropped so far, of each sample of the queue down: (n, 2)."""
    rows = [
        (float(row["backlog_packets"] or 0), float(row["dropped_packets"] or 0))
        for row in trial.series("queue") or ()
        if row["port"] == "down" and begin_s <= float(row["time_ns"] or 0) / NS_PER_S < end_s
    ]
    return np.array(rows).reshape(len(rows), 2)


def queue_delays_ms(trial: Record) -> Values | None:
    """The delay of the queue at each sample: the time on the link of what waits, each packet taken
    as a full one. None where the rate changes, and where there are several queues."""
    topology = trial.plan.topology
    if topology.path is not None or topology.layout().named:
        return None
    waiting = samples(trial, *interval_s(trial.plan))[:, 0]
    bits = waiting * segment_cells(topology.mss_bytes) * CELL_BITS
    return bits / topology.rate_bit_per_s * 1000 if len(waiting) else None


def queue_p95_ms(trial: Record) -> float | None:
    """The delay that the queue exceeds in 5 % of the time (RFC 5166, section 2.1.2)."""
    delays = queue_delays_ms(trial)
    return None if delays is None else float(np.percentile(delays, 95))


def queue_mean_ms(trial: Record) -> float | None:
    """The mean of the same."""
    delays = queue_delays_ms(trial)
    return None if delays is None else float(np.mean(delays))


def lost_percent(trial: Record) -> float | None:
    """Of the packets that came to the queue, those that it dropped (RFC 5166, section 2.1.3).

    The packets that left are the sent bytes over the size of a full packet.
    """
    if is_of(trial, "half a product", "many flows"):
        begin_s, end_s = interval_s(trial.plan)
    elif is_of(trial, "rate halves"):
        begin_s, end_s = HALVED_S
    else:
        return None
    counted = samples(trial, begin_s, end_s)[:, 1]
    times_s, total = by_pair.delivered(trial)
    if len(counted) < 2 or not len(times_s):
        return None
    begin, end = np.interp([begin_s, end_s], times_s, total.sum(axis=1))
    left = float(end - begin) / (trial.plan.topology.mss_bytes + TCP_IP_HEADER_BYTES)
    dropped = float(counted[-1] - counted[0])
    return 100 * dropped / (dropped + left) if dropped + left else None


def sent_in_silence(trial: Record) -> float | None:
    """Segments that the sender sent again in the measured interval, in which nothing arrives."""
    if not is_of(trial, "silence"):
        return None
    counts = [row["retransmits"] for row in trial.series("flows") or ()]
    if not counts or any(count is None or count == "" for count in counts):
        return None
    return sum(float(count) for count in counts if count)


# ---- times ---------------------------------------------------------------------------------------


def per_second(times_s: Values, total: Values) -> tuple[Values, Values]:
    """Begins of windows of a second, one at each moment, and the bytes of each pair in them."""
    begins = times_s[times_s <= times_s[-1] - WINDOW_S + 1e-9]
    ends = begins + WINDOW_S
    counts = [np.interp(ends, times_s, one) - np.interp(begins, times_s, one) for one in total.T]
    return begins, np.array(counts).T


def first_after(times_s: Values, fits: NDArray[np.bool_], begin_s: float, end_s: float) -> float:
    """From a moment to the first that fits; where none does, to the end of the trial."""
    found = times_s[fits & (times_s >= begin_s - 1e-9)]
    return float((found[0] if len(found) else end_s) - begin_s)


def first_second(plan: Plan, begins: Values, fits: NDArray[np.bool_], after_s: float) -> float:
    """As first_after(), of the seconds in which all sources still send.

    A flow may get its share, or fill the link, only because another one has stopped.
    """
    end_s = plan.workload.duration_s
    return first_after(begins, fits & (begins <= end_s - WINDOW_S + 1e-9), after_s, end_s)


def adapted_after_s(trial: Record) -> float | None:
    """From the last change of the path to the first second that fills the link."""
    path = trial.plan.topology.path
    times_s, total = by_pair.delivered(trial)
    if not is_of(trial, *ADAPTING) or path is None or not len(times_s):
        return None
    steps = moving_path.steps(path.down, 0.0, trial.plan.workload.duration_s)
    if steps is None or len(steps.times_s) < 2:
        return None  # nothing has changed
    begins, counts = per_second(times_s, total)
    bits = 8 * counts.sum(axis=1) / WINDOW_S
    full = FULL * ip_bit_per_s(trial.plan, float(steps.rates_bit_per_s[-1]))
    return first_second(trial.plan, begins, bits >= full, float(steps.times_s[-1]))


def ip_bit_per_s(plan: Plan, rate_bit_per_s: float) -> float:
    """The bits of IP packets that a link of cells carries in a second, all packets full."""
    mss = plan.topology.mss_bytes
    return rate_bit_per_s * 8 * (mss + TCP_IP_HEADER_BYTES) / (segment_cells(mss) * CELL_BITS)


def since_start(total: Values) -> Values:
    """The bytes of each pair since time 0. A connection of QUIC exists before."""
    return total - total[:1]


def starts_s(times_s: Values, total: Values) -> Sequence[float]:
    """Of each pair, the last sample before its first data.

    iperf3's control connection comes before the data, and has fewer bytes than CONTROL_BYTES.
    """
    return [float(times_s[max(0, int(np.argmax(one > CONTROL_BYTES)) - 1)]) for one in total.T]


def fair_after_s(trial: Record) -> float | None:
    """The delta-fair convergence time of a late comer (RFC 5166, section 2.3.3)."""
    times_s, total = by_pair.delivered(trial)
    if not is_of(trial, "late comer") or not len(times_s):
        return None
    _, start_s = starts_s(times_s, since_start(total))
    begins, counts = per_second(times_s, total)
    part = counts[:, 1] / np.maximum(counts.sum(axis=1), 1)
    fair = np.abs(part - 0.5) <= DELTA / 2
    return first_second(trial.plan, begins, fair, start_s)


def slower_start(trial: Record) -> float | None:
    """The time in which a late comer gets its first bytes, over that of the flow before it."""
    times_s, total = by_pair.delivered(trial)
    if not is_of(trial, "late comer") or not len(times_s):
        return None
    total = since_start(total)
    first, late = (
        first_after(
            times_s, total[:, pair] >= CONTROL_BYTES + FIRST_BYTES, start_s, float(times_s[-1])
        )
        for pair, start_s in enumerate(starts_s(times_s, total))
    )
    return late / first if first else None
