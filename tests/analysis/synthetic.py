# SPDX-License-Identifier: GPL-2.0-only
"""Synthetic campaigns: the published values plus noise, in the on-disk formats.

Nothing in them was measured, and their name says so. For tests, and to look at a report
before any campaign has run:

    python tests/analysis/synthetic.py FOLDER
"""

import csv
import json
import math
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.metrics import capacity_bit_per_s
from plan.atm import frame_cells
from studies.ubrplus_1998 import simulation, study
from tests import made_plans
from tests.made_plans import plan_json

Cell = tuple[str, str, str, float]
"""(network, flavor, policy, buffer in round-trip times)."""
RESPONSES = ("efficiency", "fairness")

NAME = "SYNTHETIC (published values plus noise, nothing measured)"
CELLS = {
    ("WAN", 0.5): 531, ("WAN", 1): 1062, ("WAN", 2): 2300,
    ("MEO", 0.5): 10615, ("MEO", 1): 21230, ("MEO", 2): 42460,
    ("GEO", 0.5): 29190, ("GEO", 1): 58380, ("GEO", 2): 116760,
}  # fmt: skip
FACTORS = """
[factors]
network = ["WAN", "MEO", "GEO"]
flavor = ["Vanilla", "Reno", "NewReno", "SACK"]
policy = ["EPD", "SD"]
buffer = [0.5, 1, 2]
"""
SECOND_NS = 1_000_000_000
DURATION_S = 100
PAIRS = 100
CLASS_BYTES = (500, 5_000, 50_000, 500_000, 5_000_000)
CLASS_SHARES = (20, 28, 40, 11.2, 0.8)


def paper_cells() -> dict[Cell, tuple[float, float]]:
    """The 72 published cells: cell -> (efficiency, fairness)."""
    return {
        (network, flavor, policy, float(buffer)): (found["efficiency"], found["fairness"])
        for (network, flavor, policy, buffer), found in study.results().items()
    }


def write_campaign(
    folder: Path,
    *,
    seeds: Sequence[int] = (1, 2, 3),
    noise: float = 0.008,
    shift: float = 0.0,
    extra_factors: Sequence[Mapping[str, Any]] = ({},),
    with_series: bool = False,
    cells: Mapping[Cell, tuple[float, float]] | None = None,
) -> Path:
    """A campaign of every cell and seed (for each set of extra factors); returns `folder`."""
    document = {
        "format": "cellbed-campaign/1",
        "name": "synthetic",
        "title": NAME,
        "text": f"# synthetic\n{FACTORS}",
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "campaign.json").write_text(json.dumps(document))
    for cell, values in (cells or paper_cells()).items():
        for extra in extra_factors:
            for seed in seeds:
                rng = random.Random(repr((cell, sorted(extra.items()), seed)))
                measured = [
                    min(1.0, value + shift * len(extra) + rng.gauss(0, noise)) for value in values
                ]
                write_trial(folder, cell, extra, seed, measured, with_series)
    return folder


def write_trial(
    folder: Path,
    cell: Cell,
    extra: Mapping[str, Any],
    seed: int,
    measured: Sequence[float | None],
    with_series: bool = False,
) -> Path:
    """One valid trial's directory; returns it."""
    network, flavor, policy, buffer = cell
    name = "-".join(map(str, (network, flavor, policy, f"{buffer:g}", *extra.values(), seed)))
    trial = folder / "trials" / name.lower()
    trial.mkdir(parents=True)
    levels = {"network": network, "flavor": flavor, "policy": policy, "buffer": f"{buffer:g}"}
    record = {
        "trial": trial.name,
        "plan": plan_json(
            {
                "study": "ubrplus_1998",
                "topology": {"pairs": 100},
                "tcp": simulation.SETS["literal"]["tcp"],
                "workload": {"duration_s": DURATION_S, **simulation.SETS["literal"]["workload"]},
                "queue": dict.fromkeys(("down", "up"), {"buffer_cells": CELLS[network, buffer]}),
                "record": {"drops": True},
            }
        ),
        "factors": {"network": network, "flavor": flavor, "policy": policy, "buffer": buffer}
        | dict(extra),
        "seed": seed,
        "valid": True,
        "checks": [
            {"name": "link rate", "ok": True, "measured": 44.99, "expected": 45.0, "limit": 0.05,
             "unit": "Mbit/s"}
        ],
        "metrics": {
            "efficiency": measured[0],
            "fairness": measured[1],
            "capacity_bit_per_s": capacity_bit_per_s(1024 if network == "WAN" else 9180),
        },
        "virtual_s": float(DURATION_S),
        "wall_s": 20.5,
        "cpu_s": 19.8,
        "published": dict(study.published(levels, made_plans.plan()) or {}),
        "queue": {"down": {"frames": {"in": 400_000, "refused_threshold": 9_000}}},
        "versions": {"kernel": "6.12.0", "cellbed": "synthetic"},
        "system": {"before": {}, "after": {}},
    }  # fmt: skip
    write_record(trial, record)
    if with_series:
        write_series(trial, CELLS[network, buffer], random.Random(repr((cell, seed))))
    return trial


def write_record(trial: Path, record: Mapping[str, Any]) -> None:
    """The JSON files of a record, from all their keys side by side."""
    places = dict.fromkeys(("trial", "factors", "seed", "plan"), "trial")
    places |= dict.fromkeys(("wall_s", "cpu_s", "ended"), "run")
    judged = ("valid", "checks", "metrics", "published", "expected_bytes")
    places |= dict.fromkeys(judged, "judgement")
    files: dict[str, dict[str, Any]] = {
        name: {"format": f"cellbed-{name}/{version}"}
        for name, version in (("trial", 2), ("run", 1), ("judgement", 2))
    } | {"lab": {}}
    files["trial"] |= {"software": {"lab": "synthetic"}}
    files["run"] |= {"ended": "2026-05-01T10:00:00.000000+00:00", "lab": {}}
    for key, value in record.items():
        files[places.get(key, "lab")][key] = value
    for name, document in files.items():
        (trial / f"{name}.json").write_text(json.dumps(document))


def write_series(trial: Path, buffer_cells: int, rng: random.Random) -> None:
    """Queue, drops, requests and flows of the shape that a bursty load gives."""
    queue, drops = [], []
    for step in range(DURATION_S * 20):
        at_s = step / 20
        burst = math.exp(-(at_s % 10) / 3)
        level = min(buffer_cells, max(0, int(buffer_cells * (burst + rng.gauss(0, 0.06)))))
        queue.append((int(at_s * SECOND_NS), "down", level, min(PAIRS, level // 20)))
        if level > 0.8 * buffer_cells and rng.random() < 0.5:
            cause = rng.choice(("epd", "epd", "full"))
            drops.append(
                (int(at_s * SECOND_NS), "down", rng.randint(1, PAIRS), 23, cause, level, level // 9)
            )
    _write(trial / "queue.csv", "time_ns,port,occupancy_cells,active_vcs", queue)
    _write(trial / "drops.csv", "time_ns,port,vc,frame_cells,cause,occupancy_cells,vc_cells", drops)
    windows = [
        (second * SECOND_NS, pair, 1 + (7 * pair + second) % 40, 20)
        for second in range(DURATION_S)
        for pair in (1, 50, 100)
    ]
    _write(trial / "cwnd.csv", "time_ns,pair,cwnd_segments,ssthresh_segments", windows)
    requests = [_request(rng, pair, batch) for pair in range(1, PAIRS + 1) for batch in range(10)]
    _write(
        trial / "requests.csv",
        "pair,batch,request,class,file,size_bytes,due_ns,sent_ns,first_byte_ns,last_byte_ns,status",
        requests,
    )
    flows, shares = [], []
    for pair in range(1, PAIRS + 1):
        size = sum(r[5] for r in requests if r[0] == pair)
        done = sum(r[5] for r in requests if r[0] == pair and r[9] != "")
        flows.append((pair, done, size, 10, 9, rng.randint(0, 90), rng.randint(0, 9), 12, 8,
                      rng.randint(10_000, 60_000)))  # fmt: skip
        shares.append(size)
    _write(
        trial / "flows.csv",
        "pair,received_bytes,scheduled_bytes,requests,answered,retransmits,"
        "timeouts,cwnd_segments,ssthresh_segments,srtt_us",
        flows,
    )
    judgement = trial / "judgement.json"
    document = json.loads(judgement.read_text())
    judgement.write_text(json.dumps(document | {"expected_bytes": shares}))


def write_throughput(trial: Path, pairs: int) -> None:
    """throughput.csv of each half second: pair N is sent N kB in each, but nothing in the first."""
    rows = [(half * SECOND_NS // 2, pair, 1000 * pair * max(0, half - 1))
            for half in range(2 * DURATION_S + 1) for pair in range(1, pairs + 1)]  # fmt: skip
    _write(trial / "throughput.csv", "time_ns,pair,ip_bytes", rows)


def _request(rng: random.Random, pair: int, batch: int) -> tuple[Any, ...]:
    kind = rng.choices(range(5), CLASS_SHARES)[0]
    size = CLASS_BYTES[kind] * rng.randint(1, 9) // 5
    sent = int((batch * 10 + rng.random() * 2) * SECOND_NS)
    first = sent + int(rng.expovariate(1 / 0.05) * SECOND_NS)
    last = first + int(frame_cells(size) * 53 * 8 / 1e6 * rng.uniform(0.5, 4) * SECOND_NS)
    late = last > DURATION_S * SECOND_NS
    status = "" if late else 200
    return (pair, batch, 1, kind, 5, size, sent, sent, first, "" if late else last, status)


def _write(path: Path, header: str, rows: Sequence[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(rows)


if __name__ == "__main__":
    write_campaign(Path(sys.argv[1]), with_series=True)
