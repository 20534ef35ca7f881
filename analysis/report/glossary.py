# SPDX-License-Identifier: GPL-2.0-only
"""What the columns of a report's tables mean, for its reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from analysis.report.metric_words import metric_title
from analysis.report.model import Column, Sheet

MEANINGS = {
    "efficiency": "the TCP payload that all clients received in the measured interval, divided by "
    "the payload that the link can carry in this time",
    "fairness": "Jain's index of the clients' shares; a client's share is its received payload, "
    "divided by its max-min fair share; the index is 1 when all shares are equal",
    "capacity_bit_per_s": "the TCP payload that the link can carry each second, after all headers "
    "and cells",
    "retransmits": "the number of segments that the servers sent again",
    "timeouts": "the number of retransmission timeouts of the servers",
    "answered": "the number of requests whose whole answer arrived",
    "efficiency_from_start": "the efficiency from the beginning of the workload to the end of the "
    "measured interval",
    "peak_cells": "the largest number of cells in the queue",
    "wasted_share": "the share of the link's cells that belonged to incomplete packets: the queue "
    "had dropped another cell of the same packet",
    "dropped_share": "the share of the packets that the queue dropped",
    "stalls": "the number of stalls of all video players together",
    "stall_s": "the length of all stalls of a video player in seconds, as a mean over the players",
    "marked_share": "the share of the packets that the queue marked instead of dropping them",
}
# Kinds of workload over QUIC, and what stands behind the meanings above if a trial has one.
QUIC = ("quic", "quic-bulk")
OF_QUIC = {
    "efficiency": "; with QUIC, the received data of the streams in the place of the TCP payload",
    "capacity_bit_per_s": "; a full link carries less data of QUIC, which has larger headers",
    "retransmits": "; only TCP has this count",
    "timeouts": "; only TCP has this count",
}
COUNTERS = {
    "in": "the packets (frames) or cells that came to the queue",
    "accepted": "frames whose first cell the queue took, and cells that it took",
    "refused_threshold": "frames that the policy refused because the buffer was filled above the "
    "threshold",
    "refused_fairness": "frames that the policy refused because their client had more than its "
    "share of the buffer",
    "lost_first": "frames whose first cell found the buffer full: the whole frame is lost",
    "lost_mid": "frames of which a later cell found the buffer full: the cells before it had "
    "entered the queue for nothing",
    "overflow": "cells that found the buffer full",
    "discarded": "cells that the queue dropped because their frame had lost a cell before",
    "delivered": "frames that left the queue whole, and their cells",
    "wasted": "cells that the queue took although their frame was lost",
}
"""What a queue of cells counts in the table of a trial, and the causes in its pictures."""
ALWAYS = (
    ("seed", "the number from which the trial computes all its random values"),
    ("±", "half of the width of the 95 % interval of a mean over the seeds (Student's t)"),
    (
        "virtual s",
        "the seconds of the virtual clock from the start of the hosts' programs until no packet is"
        " on its way; with a moving path, also the wait for the path's time 0",
    ),
    (
        "wall s, CPU s",
        "the time that the trial took on this machine, and the processor time that it used",
    ),
)


NOTHING: Mapping[str, str] = {}
OF_ROUTE = "of_share_"


def of_link(metric: str) -> str:
    """The meaning of a metric of one link or one route; "" for any other metric."""
    if metric.startswith(OF_ROUTE):
        return (
            f"the mean over the pairs of the route {metric.removeprefix(OF_ROUTE)}: the received"
            " payload, divided by the pair's max-min fair share over all links"
        )
    for whole in ("efficiency", "dropped_share", "marked_share"):
        if metric.startswith(f"{whole}_"):
            return f"the same as {whole.replace('_', ' ')}, for the link {metric[len(whole) + 1 :]}"
    return ""


def glossary(
    measured: Iterable[str], counted: Iterable[str] = (), study: Mapping[str, str] = NOTHING,
    factors: Iterable[Sequence[str]] = (), *, quic: bool = False,
) -> Sheet:  # fmt: skip
    """The columns of what was measured, and those that every report has.

    factors: rows of the factors, each with its meaning; counted: what the queues of its trials
    count; study: the meanings of a study's own measures; quic: whether a trial has QUIC.
    """
    own_words = {name: MEANINGS[name] + more for name, more in OF_QUIC.items()} if quic else {}
    meanings = {**MEANINGS, **own_words, **study}
    known = [(name, meanings.get(name) or of_link(name)) for name in measured]
    own = [[metric_title(name), meaning] for name, meaning in known if meaning]
    own += [[name.replace("_", " "), COUNTERS[name]] for name in counted if name in COUNTERS]
    return Sheet(
        name="glossary",
        caption="The columns and counters of the tables above",
        columns=[Column(name="column", title="Column"), Column(name="meaning", title="Meaning")],
        rows=[*map(list, factors), *own, *(list(row) for row in ALWAYS)],
    )
