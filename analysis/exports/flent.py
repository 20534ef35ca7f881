# SPDX-License-Identifier: GPL-2.0-only
"""Flent's data file (format 4), a .flent.gz a trial, of its test tcp_ndown: a download a pair.

Throughput of a pair: TCP payload of its packets where the downward port was captured, else of the
answers, each spread evenly from its first to its last byte; without either there is none. Windows
are the series' tcp_cwnd, the queue is qdisc_stats_switch. In Flent:

    flent -i TRIAL.flent.gz -p download -o figure.png     # also totals, tcp_cwnd, backlog, drops
"""

import gzip
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import RecordError
from analysis.exports._capture import captured, packets
from analysis.goodput import of_answers
from analysis.records import CampaignRecords, Trial, capture_start_ns
from plan.atm import CELL_BYTES

VERSION = 4
STEP_S = 0.2  # Flent's own step
SECOND_NS = 1e9
QUEUE = "qdisc_stats_switch"

Values = NDArray[np.float64]
Raw = list[dict[str, Any]]


def export(campaign: CampaignRecords, out: Path) -> Sequence[Path]:
    """TRIAL.flent.gz of every trial that has anything of it; RecordError where none has."""
    written = []
    for trial in campaign.trials:
        document = document_of(trial)
        if document is not None:
            path = out / f"{trial.name}.flent.gz"
            path.write_bytes(gzip.compress(json.dumps(document).encode(), mtime=0))
            written.append(path)
    if not written:
        raise RecordError(
            f"{campaign.folder} has no data over time; "
            "record a capture, requests, windows or the queue"
        )
    return written


def document_of(trial: Trial) -> dict[str, Any] | None:
    """The file of a trial; None where it recorded nothing over time."""
    edges = np.arange(0, trial.plan.workload.duration_s + STEP_S / 2, STEP_S)
    began = datetime.fromisoformat(trial.document["ended"]).timestamp()
    flows = throughput(trial, edges)
    raw = {**windows(trial, began), **queue(trial, began)}
    results = {series(pair): rounded(values) for pair, values in flows.items()}
    if flows:
        results["TCP download sum"] = rounded(np.sum(list(flows.values()), axis=0))
        results["TCP download avg"] = rounded(np.mean(list(flows.values()), axis=0))
    for pair, values in flows.items():
        samples = [
            {"t": began + x, "val": y} for x, y in zip(edges[1:], rounded(values), strict=True)
        ]
        raw[series(pair)] = [*raw.get(series(pair), []), *samples]
    if not raw:
        return None
    return {
        "version": VERSION,
        "metadata": metadata(trial, float(edges[-1])),
        "x_values": rounded(edges[1:]),
        "results": results,
        "raw_values": raw,
    }


def series(pair: int) -> str:
    return f"TCP download::{pair}"


def rounded(values: Values) -> list[float]:
    return [round(float(value), 6) for value in values]


def metadata(trial: Trial, length_s: float) -> dict[str, Any]:
    """What Flent asks for; TIME is that of the record, since a virtual clock has no date."""
    moment = datetime.fromisoformat(trial.document["ended"]).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    pairs = trial.plan.topology.pairs
    return {
        "NAME": "tcp_ndown",
        "TITLE": trial.name,
        "NOTE": "written by cellbed from a record in virtual time",
        "TIME": moment,
        "T0": moment,
        "DATA_FILENAME": f"{trial.name}.flent.gz",
        "HOST": "server",
        "HOSTS": ["server"],
        "LOCAL_HOST": "client",
        "IP_VERSION": 4,
        "LENGTH": length_s,
        "TOTAL_LENGTH": length_s,
        "STEP_SIZE": STEP_S,
        "TEST_PARAMETERS": {
            "download_streams": str(pairs),
            "qdisc_stats_hosts": "switch",
            "qdisc_stats_interfaces": trial.plan.topology.layout().tightest().queue("down"),
        },
        "SERIES_META": {},
    }


def throughput(trial: Trial, edges: Values) -> dict[int, Values]:
    """Mbit/s of each pair between the edges (s); by pair, empty where nothing tells it."""
    files, layout = captured(trial), trial.plan.topology.layout()
    down = [one for one in layout.middles() if one.queue("down") in files]
    found = {} if down else of_answers(trial, edges)
    for one in down:
        of_link = of_capture(trial, files[one.queue("down")], edges)
        # A pair's data counts where it leaves the last of its links.
        found |= {pair: of for pair, of in of_link.items() if layout.route(pair)[-1] == one}
    return {pair: found[pair] * 8 / 1e6 / STEP_S for pair in sorted(found)}


def of_capture(trial: Trial, path: Path, edges: Values) -> dict[int, Values]:
    """Payload bytes that left the queue."""
    begin_ns = capture_start_ns(trial)
    sent: dict[int, list[tuple[float, int]]] = {}
    for packet in packets(path):
        if packet.sender is not None and packet.payload_bytes:
            time_s = (packet.time_ns - begin_ns) / SECOND_NS
            sent.setdefault(packet.sender, []).append((time_s, packet.payload_bytes))
    found: dict[int, Values] = {}
    for pair, some in sent.items():
        times, sizes = zip(*some, strict=True)
        found[pair] = np.histogram(times, edges, weights=sizes)[0].astype(float)
    return found


def windows(trial: Trial, began: float) -> dict[str, Raw]:
    """Congestion windows of the pairs that were followed, in segments."""
    found: dict[str, Raw] = {}
    for row in trial.series("cwnd") or ():
        if isinstance(row["time_ns"], float) and row["cwnd_segments"] is not None:
            time = began + row["time_ns"] / SECOND_NS
            sample = {"t": time, "tcp_cwnd": row["cwnd_segments"]}
            found.setdefault(series(int(float(row["pair"] or 0))), []).append(sample)
    return found


def queue(trial: Trial, began: float) -> dict[str, Raw]:
    """Length of the downward queue, and frames dropped since the sample before.

    Of several middle links, it is the queue of the first one with the lowest rate.
    """
    port = trial.plan.topology.layout().tightest().queue("down")
    rows = [row for row in trial.series("queue") or () if row["port"] == port]
    times = [float(row["time_ns"] or 0) for row in rows]
    drops = [float(row["time_ns"] or 0) for row in trial.series("drops") or ()
             if row["port"] == port]  # fmt: skip
    counts = np.histogram(drops, [-np.inf, *times])[0] if times else np.zeros(0)
    found: Raw = []
    for row, time_ns, dropped in zip(rows, times, counts, strict=True):
        sample: dict[str, Any] = {"t": began + time_ns / SECOND_NS, "dropped": int(dropped)}
        if "occupancy_cells" in row and row["occupancy_cells"] is not None:
            sample["backlog_bytes"] = float(row["occupancy_cells"]) * CELL_BYTES
        elif row.get("backlog_packets") is not None:
            sample["backlog_pkts"] = row["backlog_packets"]
        found.append(sample)
    return {QUEUE: found} if found else {}
