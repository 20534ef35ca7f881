# SPDX-License-Identifier: GPL-2.0-only
"""The tables that a trial may have, and what records each of them."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.records import Trial
from plan import plan
from plan.errors import UsageError
from plan.near import choices

RECORDED_BY = {
    "cwnd": "record.cwnd_sample_ms = 100",
    "drops": "record.drops = true",
    "queue": "record.queue_sample_ms = 100",
    "sojourn": "record.sojourn = true",
    "throughput": "record.throughput_sample_ms = 1000",
    "trace": 'record.trace = ["tcp:tcp_probe"]',
}
"""Table -> the key that records it, with a value."""
NAMED_LINKS = "links"
"""The table of a network whose middle links have names."""
GOODPUT = 'record.pcap = ["up"]'
"""The key with which a record tells the goodput."""


def of_workloads() -> dict[str, list[str]]:
    """Each table that only some workloads write, with the kinds of these workloads."""
    found: dict[str, list[str]] = {}
    for name, kind in sorted(plan.WORKLOADS.kinds.items()):
        for file in kind.Source.files:
            table, _, ending = file.rpartition(".")
            if ending == "csv":
                found.setdefault(table, []).append(name)
    return found


def check_name(name: object, trials: Sequence[Trial]) -> None:
    """UsageError for a name that is no table of a trial."""
    there = {path.stem for trial in trials for path in trial.folder.glob("*.csv")}
    known = sorted({"flows", NAMED_LINKS, *RECORDED_BY, *of_workloads(), *there})
    if name not in known:
        also = " (campaign.goodput() has the goodput)" if name == "goodput" else ""
        raise UsageError(f"{name!r} is no table of a trial{also}; {choices(name, known)}")


def alternatives(words: Sequence[str]) -> str:
    """Words as a sentence has them: a, b or c."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def why_empty(table: str, trials: Sequence[Trial]) -> str:
    """Why no trial has a row of a table, and what would record it."""
    if any((trial.folder / f"{table}.csv").is_file() for trial in trials):
        return f"{table}.csv has no row"
    if kinds := of_workloads().get(table):
        own = dict.fromkeys(plan.kind_of(trial.plan.workload) for trial in trials)
        return (
            f"there is no {table}.csv: only workload.kind = {alternatives(kinds)} writes it, and"
            f" here the workload is {alternatives(list(map(str, own)))}"
        )
    if key := RECORDED_BY.get(table):
        return f"there is no {table}.csv; set {key} in the experiment to record it"
    if table == NAMED_LINKS:
        return (
            f"there is no {table}.csv: only a network whose middle links have names has this table"
            " (docs/records.md)"
        )
    return f"there is no {table}.csv; docs/records.md lists the tables"


def no_goodput(trials: Sequence[Trial]) -> str:
    """Why no trial tells its goodput, and what to do."""
    if all(trial.plan.topology.layout().several_paths for trial in trials):
        return (
            "a connection with several paths has no goodput over time; connections.csv has its sum"
        )
    return (
        f"nothing in the record tells the goodput (throughput.csv counts headers and repeated"
        f" segments); set {GOODPUT} in the experiment, or run with pcap=['up']"
    )
