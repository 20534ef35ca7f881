# SPDX-License-Identifier: GPL-2.0-only
"""M. Weigle, K. Jeffay, F. D. Smith, "Quantifying the Effects of Recent Protocol Improvements to
TCP: Impact on Web Performance", MASCOTS 2003 (its slides): Reno and SACK over drop tail, Adaptive
RED and Adaptive RED with ECN, by the response times of two-way web traffic.

The slides' figures are not at hand, and no number of theirs: nothing is published here, and what
is compared are orders and crossings.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from analysis.records import Record
from analysis.study import Measure, Response, Study, Summary
from studies.web_2003.times import SIZES, Class, Exchanges, Values, exchanges, quantile

FOLDER = Path(__file__).parent
LOADS = ("50", "60", "70", "80", "85", "90", "95", "98", "100", "105")
SENDERS = ("Reno", "SACK")
QUEUES = ("drop-tail", "ARED", "ARED+ECN")
AS_IN_NS2 = ("ARED as in ns-2", "ARED+ECN as in ns-2")
# One that is lost, and after it three for the duplicate ACKs that tell of it.
SACK_BYTES = 4 * 1460
SMALLEST, LARGEST = SIZES[0], SIZES[-1]


Of = Callable[[Exchanges], float | None]


def response_time(share: float, of: Class | None = None) -> Of:
    """A quantile of the response times, of all exchanges or of a class [ms]."""

    def measure(found: Exchanges) -> float | None:
        return quantile(found.response_ms[of.of(found)] if of else found.response_ms, share)

    return measure


def sack_share(found: Exchanges) -> float:
    """Share in which SACK has something to say: sent again, and long enough for duplicate ACKs.

    Of older records, which do not tell a SYN/ACK and a FIN from data, it is a little too large.
    """
    known = ~np.isnan(found.resent_bytes)
    again = np.where(known, found.resent_bytes, found.retransmits) > 0
    return float(np.mean(again & (found.response_bytes >= SACK_BYTES)))


def of_the_source(measure: Of) -> Of:
    """The same of the exchanges that the source would have counted; None where there is none."""

    def measured(found: Exchanges) -> float | None:
        counted = found.by_the_last_start()
        return measure(counted) if len(counted.begun_ms) else None

    return measured


def resent_bytes_share(found: Exchanges) -> float | None:
    """What servers sent again, of the responses' bytes; None of older records."""
    known = ~np.isnan(found.resent_bytes)
    if not known.any():
        return None
    return float(found.resent_bytes[known].sum() / found.response_bytes[known].sum())


OF_EXCHANGES: Mapping[str, Of] = {
    "median_ms": response_time(0.5),
    "p90_ms": response_time(0.9),
    "p99_ms": response_time(0.99),
    "unfinished_share": lambda found: float(np.mean(np.isinf(found.response_ms))),
    "resent_share": lambda found: float(np.mean(found.retransmits > 0)),
    "marked_share_of_exchanges": lambda found: float(np.mean(found.marks > 0)),
    "sack_share": sack_share,
    "p10_ms": response_time(0.1),
    "p25_ms": response_time(0.25),
    "p75_ms": response_time(0.75),
    "small_median_ms": response_time(0.5, SMALLEST),
    "small_p90_ms": response_time(0.9, SMALLEST),
    "large_median_ms": response_time(0.5, LARGEST),
    "large_p90_ms": response_time(0.9, LARGEST),
    "resent_bytes_share": resent_bytes_share,
    "source_median_ms": of_the_source(response_time(0.5)),
    "source_p90_ms": of_the_source(response_time(0.9)),
    "source_p99_ms": of_the_source(response_time(0.99)),
    "source_share": lambda found: len(found.by_the_last_start().begun_ms) / len(found.begun_ms),
}
"""What is measured of a trial's exchanges, or of some of them; shares are of all."""
FORMS = {"median_ms": ("p50", ",.1f"), "p90_ms": ("p90", ",.1f"), "p99_ms": ("p99", ",.0f")}
"""Those that are responses: the short name, and the form."""


def of_trial(measure: Of) -> Measure:
    """The same of a trial; None where it recorded no exchanges."""

    def measured(trial: Record) -> float | None:
        found = exchanges(trial)
        return None if found is None else measure(found)

    return measured


def all_of(column: str) -> Measure:
    """All values of a column."""

    def measure(trial: Record) -> Sequence[float] | None:
        found = exchanges(trial)
        values: Values | None = None if found is None else getattr(found, column)
        return None if values is None else values.tolist()

    return measure


UP = "up"
"""The queue against the direction "down", of which the record's own metric dropped_share is."""


def dropped_share_up(trial: Record) -> float | None:
    """The share of the packets that the queue "up" dropped, over the whole trial."""
    if not trial.facts.has("queue") or UP not in trial.facts.queue:
        return None
    return trial.plan.queue.up.figures(trial.facts.queue[UP], None).get("dropped_share")


DISTRIBUTIONS = {
    "response_time": "response_ms",
    "request_to_first_byte": "first_ms",
    "request_to_last_byte": "last_ms",
}
STUDY = Study(
    id="web_2003",
    title="Web traffic with two TCP senders and three queues",
    source="MASCOTS 2003",
    cell={"load": LOADS, "sender": SENDERS, "queue": (*QUEUES, *AS_IN_NS2)},
    units={"load": "%"},
    by="load",
    responses=(
        *(
            Response(name=name, short=short, of=of_trial(OF_EXCHANGES[name]), form=form)
            for name, (short, form) in FORMS.items()
        ),
        *(
            Response(name=name, of=all_of(column), unit="ms", summary=Summary.DISTRIBUTION)
            for name, column in DISTRIBUTIONS.items()
        ),
    ),
    measures=(
        *(
            Response(name=name, of=of_trial(measure))
            for name, measure in OF_EXCHANGES.items()
            if name not in FORMS
        ),
        Response(
            name="dropped_share_up",
            of=dropped_share_up,
            meaning='the same as dropped share, for the queue "up"',
        ),
    ),
    about=(
        "Two-way web traffic by the Bell Labs model over a link of 10 Mbit/s; load is what is "
        "offered, in per cent of the link, each way. A response time is from before connect() to "
        "the response's last byte. No figure's numbers of the source are at hand: orders and "
        "crossings are compared, not values."
    ),
    claims=FOLDER / "claims.toml",
    pages="studies.web_2003.pages",
    witness="studies.web_2003.ns2.witness",
)
