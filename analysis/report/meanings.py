# SPDX-License-Identifier: GPL-2.0-only
"""What the factors of a campaign and the checks of its trials mean, for a report's reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import get_args

from analysis.records import Trial
from analysis.report import named
from analysis.report.model import Column, Sheet
from plan import plan, schema

TABLES = {"topology": plan.SHAPES, "queue": plan.QUEUES, "workload": plan.WORKLOADS}
BELOW = re.compile(r" \(\[below\]\([^)]*\)\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
OWN_FACTOR = "a factor of this experiment; its rules in the experiment file say what its levels set"
KEY = "a key of the experiment; docs/experiments.md explains it"
OF_TCP = {"tcp.flavor": "the kind of TCP sender"}
CHECKS = {
    "answers": "the number of answers with an error, with wrong bytes, or not received",
    "buffers": "how many rows of the players' buffers differ from those that the segments give",
    "bytes": "the bytes of IP packets that a queue took and neither passed on nor counted as lost",
    "capture": "the number of packets that the capture missed",
    "clock step": "how far the wall clock of the lab was set during the trial",
    "connection bytes": "the bytes by which a program, its connection and its subflows differ",
    "connections": "the number of connections that ended before the trial",
    "conservation": "the packets that came to a queue, less those that left it, were dropped in "
    "it, or still wait in it",
    "delay faults": "the packets without a round trip of their connection",
    "drops elsewhere": "the packets that were lost at any other place than the queues under test",
    "figures": "whether the figures of the trial could be computed",
    "flavors": "the pairs whose sender had another congestion control than the experiment says",
    "handshakes": "how much longer a handshake took than the round trip of its connection",
    "idle round trip": "the time of a ping over the idle path, compared with its delays and rates",
    "idle sources": "the senders that had nothing to send when the measured interval ended",
    "late departures": "the share of the frames that left the queue later than planned",
    "late requests": "the largest time between the moment when a request is due and its sending",
    "left links": "the links that a client left too early or did not leave",
    "levels": "the segments whose bit rate is not the one that the rule of the player chooses",
    "link rate": "the rate of the link as packets show it, compared with the experiment",
    "link sample bytes": "the bytes by which the samples of a link differ from its counters",
    "link sample rows": "the samples of a link that are missing or have an impossible value",
    "mptcp fallback": "the connections that are no longer MPTCP, and the causes",
    "path begin": "the time between the start of the trial and the start of the moving path",
    "path bytes": "how far an interval of 100 ms or a busy stretch was from the moving path's rate",
    "path delays": "how far the delay of a packet was from the delay of the moving path",
    "path departures": "how far a packet left the moving link from the moment that follows from "
    "the path",
    "path losses": "the packets that the path lost, compared with the expected number",
    "path packets": "the packets that the moving path lost or swapped and should not have, or not "
    "lost and should have",
    "queue faults": "the frames that the queue could not judge exactly, for example frames without "
    "a mark",
    "queue limit": "how far the longest sample of a queue was above the limit of the queue",
    "receiver window": "the window that a sender was told last, compared with the experiment",
    "record unchanged": "the files of the record that changed after the trial",
    "requests": "the requests that were not sent, failed, or had wrong bytes",
    "round trips": "how far the round trip of a connection was from the one that was planned",
    "sent moments": "how far packets left from the moments that the server's timers chose",
    "sent packets": "the packets that are in the log of a server or on its link, but not in both",
    "server delays": "how far a server's wait before an answer was from the planned wait",
    "server errors": "the lines in the error logs of the servers",
    "stalls": "how late a sleeping program woke (99th percentile)",
    "subflow bytes": "the bytes by which subflows and the packets on their links differ",
    "subflows": "the subflows whose handshake failed, and the paths without data",
    "unsent data": "the sources that may have had nothing to send at some moment",
}
"""By the name of a check. Some names go on with the queue or link: conservation up."""


def factors(names: Iterable[str]) -> Iterator[list[str]]:
    """A row for each factor: its name as in the tables, and what it is."""
    every = list(names)
    for name in every:
        if "." in name:
            yield [named.heading(name, every), f"{of_key(name) or KEY} ({name})"]
        else:
            yield [name, of_key(name) or OWN_FACTOR]


def of_key(name: str) -> str:
    """The text of a key, as docs/experiments.md has it; "" where its table has none here."""
    table, _, key = name.partition(".")
    if table not in TABLES:
        return OF_TCP.get(name, "")
    for kind in TABLES[table].kinds.values():
        settings = getattr(kind, "Settings", None) or getattr(kind, "Parameters", None)
        hints = schema.type_hints(settings) if settings else {}
        words = [one for one in get_args(hints.get(key))[1:] if isinstance(one, str)]
        if words:
            return LINK.sub(r"\1", BELOW.sub("", words[0])).replace("`", "").rstrip(".")
    return ""


def checks(trials: Iterable[Trial]) -> Sheet | None:
    """The checks of the trials with their meanings; None where there are none."""
    names = dict.fromkeys(check.name for trial in trials for check in trial.checks)
    rows = [[name, meaning] for name in names if (meaning := of_check(name))]
    if not rows:
        return None
    return Sheet(
        name="glossary-checks",
        caption="What each check of a trial measures",
        columns=[Column(name="check", title="Check"), Column(name="meaning", title="Meaning")],
        rows=rows,
    )


def of_check(name: str) -> str:
    """What a check measures; "" for a check that nobody has explained."""
    known = [one for one in CHECKS if name == one or name.startswith(f"{one} ")]
    return CHECKS[max(known, key=len)] if known else ""
