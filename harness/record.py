# SPDX-License-Identifier: GPL-2.0-only
"""From what a lab left of a trial to its record (format "cellbed-trial/1", docs/records.md).

A record is made under a temporary name and renamed when it is whole; nothing changes it
afterwards.
"""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from analysis.metrics import trial_metrics
from analysis.published import paper, paper_persistent
from harness import checks, queuelog
from harness.plan import Trial
from harness.whole import whole_folder

FORMAT = "cellbed-trial/1"
FLOWS_HEADER = (
    "pair,received_bytes,scheduled_bytes,expected_bytes,requests,answered,"
    "retransmits,timeouts,cwnd_segments,ssthresh_segments,srtt_us"
).split(",")


def finish(trial: Trial, raw: Path, trials: Path, costs: dict[str, float]) -> dict[str, Any]:
    """Judge a trial's raw folder and turn it into its record; returns trial.json's content.

    Args:
        trial: what was asked for.
        raw: the lab's results/TRIAL.
        trials: folder of the campaign's records.
        costs: wall_s and cpu_s of the trial.
    """
    lab = json.loads((raw / "lab.json").read_text())
    with whole_folder(trials, trial.name) as folder:
        metrics = write_flows(trial, lab, raw / "flows.csv", folder / "flows.csv")
        write_series(trial, lab["source"].get("t0_ns") or 0, raw, folder)
        document = describe(trial, lab, metrics, costs)
        (folder / "trial.json").write_text(json.dumps(document, indent=1) + "\n")
    return document


def write_series(trial: Trial, t0_ns: int, raw: Path, folder: Path) -> None:
    """Bring over what was recorded over time, in times from the trial's start at `t0_ns`."""
    if (raw / "requests.csv").exists():
        shutil.copyfile(raw / "requests.csv", folder / "requests.csv")
    logs = {port: raw / f"{port}.cellq" for port in ("down", "up")}
    if all(path.exists() for path in logs.values()):
        queuelog.write_tables(logs, t0_ns, folder / "queue.csv", folder / "drops.csv")
    if (raw / "cwnd.csv").exists():
        write_from_start(raw / "cwnd.csv", t0_ns, folder / "cwnd.csv")
    if trial.plan["record"]["frames"]:
        for port, path in logs.items():
            shutil.copyfile(path, folder / f"{port}.cellq")
    for port in trial.plan["record"]["pcap"]:
        shutil.copyfile(raw / f"{port}.pcap", folder / f"{port}.pcap")


def describe(
    trial: Trial, lab: dict[str, Any], metrics: dict[str, Any], costs: dict[str, float]
) -> dict[str, Any]:
    """The content of trial.json."""
    verdicts = checks.judge(lab, trial.plan)
    published = published_figures(trial)
    return {
        "format": FORMAT,
        "trial": trial.name,
        "factors": trial.factors,
        "seed": trial.plan["seed"],
        "valid": all(verdict["ok"] for verdict in verdicts),
        "metrics": metrics,
        "paper": published,
        "checks": verdicts,
        "virtual_s": lab["virtual_s"],
        **costs,
        "plan": trial.plan,
        **{key: lab[key] for key in ("queue", "tcp", "source", "versions", "system", "links")},
        "idle_round_trip_ns": lab["idle_round_trip_ns"],
        "realtime": lab.get("realtime"),
        "capture": captured(lab),
    }


def captured(lab: dict[str, Any]) -> dict[str, Any] | None:
    """Of the capture files: the trial's start on their clock [ns], packets and losses a port."""
    if not lab.get("capture"):
        return None
    start_ns = (lab["source"].get("t0_ns") or 0) + lab["capture"]["clock_offset_ns"]
    return {"start_ns": start_ns, "ports": lab["capture"]["ports"]}


def published_figures(trial: Trial) -> dict[str, float] | None:
    """What the paper has for the trial's cell, if it has it."""
    levels = trial.factors
    if trial.plan["paper"] == "96-0518R1":
        return published_persistent(trial)
    if trial.plan["paper"] != "98-0876R1":
        return None
    keys = ("network", "flavor", "policy", "buffer")
    if not all(key in levels for key in keys):
        return None
    found = paper(
        str(levels["network"]),
        str(levels["flavor"]),
        str(levels["policy"]),
        float(levels["buffer"]),
    )
    return None if found is None else {"efficiency": found[0], "fairness": found[1]}


def published_persistent(trial: Trial) -> dict[str, float] | None:
    """The row of 96-0518R1 for 5 Vanilla sources; it has no flavor and no number as a factor."""
    levels, plan = trial.factors, trial.plan
    ours = (plan["tcp"]["flavor"]["name"], plan["topology"]["pairs"])
    if ours != ("vanilla", 5) or not {"network", "policy"} <= levels.keys():
        return None
    found = paper_persistent(
        str(levels["network"]),
        str(levels["policy"]),
        plan["queue"]["down"]["buffer_cells"],
        plan["tcp"]["window_bytes"],
    )
    return None if found is None else {"efficiency": found[0], "fairness": found[1]}


def write_flows(trial: Trial, lab: dict[str, Any], source: Path, target: Path) -> dict[str, Any]:
    """Complete the flow table with each flow's fair share; returns the trial's metrics.

    They are those of the interval that the source measured, or of the whole duration.
    """
    with source.open(newline="", encoding="ascii") as stream:
        rows = list(csv.DictReader(stream))
    topology = trial.plan["topology"]
    duration_s = lab["source"].get("measured_s", float(trial.plan["workload"]["duration_s"]))
    scheduled = [int(r["scheduled_bytes"]) if r["scheduled_bytes"] else None for r in rows]
    found = trial_metrics(
        received_bytes=[int(row["received_bytes"]) for row in rows],
        scheduled_bytes=scheduled,
        duration_s=duration_s,
        mss_bytes=topology["mss_bytes"],
        rate_bit_per_s=topology["rate_bit_per_s"],
    )
    with target.open("w", newline="", encoding="ascii") as stream:
        table = csv.DictWriter(stream, FLOWS_HEADER, restval="")
        table.writeheader()
        for row, share in zip(rows, found.fair_share_bit_per_s, strict=True):
            table.writerow({**row, "expected_bytes": round(share * duration_s / 8)})
    totals = {key: column_sum(rows, key) for key in ("retransmits", "timeouts", "answered")}
    whole = asdict(found)
    return {
        "efficiency": whole["efficiency"],
        "fairness": whole["fairness"],
        "capacity_bit_per_s": whole["capacity_bit_per_s"],
        **totals,
        **from_start(lab["source"], found.capacity_bit_per_s),
        **queue_metrics(lab),
    }


def write_from_start(source: Path, t0_ns: int, target: Path) -> None:
    """Copy a table whose first column is the lab's clock [ns], counted from the trial's start."""
    with (
        source.open(newline="", encoding="ascii") as before,
        target.open("w", newline="", encoding="ascii") as after,
    ):
        rows, table = csv.reader(before), csv.writer(after)
        table.writerow(next(rows))
        table.writerows((int(time_ns) - t0_ns, *row) for time_ns, *row in rows)


def from_start(source: dict[str, Any], capacity_bit_per_s: float) -> dict[str, float]:
    """Efficiency with the start included, where the source measures an interval after it."""
    if "whole_s" not in source:
        return {}
    bits = 8 * sum(source["received_whole_bytes"])
    return {"efficiency_from_start": bits / source["whole_s"] / capacity_bit_per_s}


def queue_metrics(lab: dict[str, Any]) -> dict[str, float]:
    """Of the downward queue: its peak [cells], and the share of sent cells that were wasted.

    A wasted cell was let in and is of a frame that lost another. Up to the end of the
    measured interval where the source marks one, so that what ends the sources is not in it.
    """
    marks = lab.get("marks") or {}
    last = marks.get("end", lab["queue"])["down"]
    first = marks["begin"]["down"]["cells"] if "begin" in marks else {}
    accepted, wasted = (last["cells"][k] - first.get(k, 0) for k in ("accepted", "wasted"))
    return {
        "peak_cells": last["peak_cells"],
        "wasted_share": wasted / accepted if accepted else 0.0,
    }


def column_sum(rows: list[dict[str, str]], key: str) -> int | None:
    """Sum of a column, None when a value is missing."""
    values = [row.get(key, "") for row in rows]
    return sum(map(int, values)) if all(values) else None
