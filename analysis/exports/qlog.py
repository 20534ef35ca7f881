# SPDX-License-Identifier: GPL-2.0-only
"""qlog (draft-ietf-quic-qlog-main-schema, qlog_version 0.3): a trace a connection, as JSON.

qlog is QUIC's; of TCP it has the events that both have: recovery:metrics_updated with the
congestion window, so that viewers of qlog draw it. The rest is under the name cellbed: requests,
and the frames that the queue dropped of this pair. Times are milliseconds from the trial's start.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from analysis.errors import RecordError
from analysis.records import CampaignRecords, Trial, level_text

VERSION = "0.3"
QUIC_LOG = "qlog.zip"
MS_NS = 1e6
STEPS = {"sent_ns": "request_sent", "first_byte_ns": "response_begun", "last_byte_ns":
         "response_complete"}  # fmt: skip

Row = dict[str, float | str | None]
Event = dict[str, Any]


def export(campaign: CampaignRecords, out: Path) -> Sequence[Path]:
    """TRIAL.qlog of every trial that followed windows; a trace each pair that it followed."""
    written = []
    for trial in campaign.trials:
        if traces := list(traces_of(trial)):
            document = {
                "qlog_version": VERSION,
                "qlog_format": "JSON",
                "title": trial.name,
                "description": "TCP; written by cellbed",
                "traces": traces,
            }
            path = out / f"{trial.name}.qlog"
            path.write_text(json.dumps(document) + "\n", encoding="utf-8")
            written.append(path)
    if not written:
        why = left_out(campaign)
        if any(QUIC_LOG in said for said in why):
            raise RecordError("; ".join(why))
        raise RecordError(
            f"{campaign.folder} has no windows; set record.cwnd_sample_ms to record them"
        )
    return written


def left_out(campaign: CampaignRecords) -> Sequence[str]:
    """What became of the trials without a file: a sentence for each reason."""
    rest = [trial for trial in campaign.trials if not trial.series("cwnd")]
    own = [trial for trial in rest if (trial.folder / QUIC_LOG).exists()]
    said = []
    if own:
        said.append(
            f"no file for {trials(len(own))} with QUIC: the servers' own qlog is in the trial's"
            f" folder, for example {own[0].folder / QUIC_LOG}"
        )
    if many := len(rest) - len(own):
        said.append(
            f"no file for {trials(many)} without windows, which record.cwnd_sample_ms records"
        )
    return said


def trials(many: int) -> str:
    return "1 trial" if many == 1 else f"{many} trials"


def traces_of(trial: Trial) -> Iterator[dict[str, Any]]:
    """A trace each pair."""
    windows = by_pair(trial.series("cwnd"), "pair")
    requests = by_pair(trial.series("requests"), "pair")
    drops = [row for row in trial.series("drops") or () if row["port"] == "down"]
    lost = by_pair(drops, "vc")
    for pair, rows in windows.items():
        events = [*metrics(rows, trial.plan.topology.mss_bytes),
                  *steps(requests.get(pair, [])), *dropped(lost.get(pair, []))]  # fmt: skip
        yield {
            "title": f"pair {pair}",
            "vantage_point": {"name": f"server {pair}", "type": "server"},
            "common_fields": {
                "time_format": "relative", "reference_time": 0, "protocol_type": ["TCP"],
                "group_id": f"{trial.name}-{pair}",
            },
            "events": sorted(events, key=lambda event: event["time"]),
        }  # fmt: skip


def by_pair(rows: Sequence[Row] | None, column: str) -> dict[str, list[Row]]:
    """Rows by their pair."""
    found: dict[str, list[Row]] = {}
    for row in rows or ():
        found.setdefault(level_text(row[column]), []).append(row)
    return found


def metrics(rows: Sequence[Row], mss_bytes: int) -> Iterator[Event]:
    """The window where it is another than at the last sample; segments as bytes."""
    before: dict[str, int] = {}
    for row in rows:
        names = {"congestion_window": "cwnd_segments", "ssthresh": "ssthresh_segments"}
        now = {
            name: round(value * mss_bytes)
            for name, column in names.items()
            if isinstance(value := row[column], float)
        }
        changed = {name: value for name, value in now.items() if before.get(name) != value}
        if changed:
            yield event(row["time_ns"], "recovery:metrics_updated", changed)
        before |= now


def steps(rows: Sequence[Row]) -> Iterator[Event]:
    """What became of each request."""
    for row in rows:
        names = ("batch", "request", "class", "size_bytes", "status")
        data = {name: row[name] for name in names if row[name] is not None}
        for column, step in STEPS.items():
            if row[column] is not None:
                yield event(row[column], f"cellbed:{step}", data)


def dropped(rows: Sequence[Row]) -> Iterator[Event]:
    """Frames of the pair that the queue under test dropped."""
    for row in rows:
        names = ("cause", "frame_cells", "occupancy_cells", "vc_cells")
        yield event(row["time_ns"], "cellbed:frame_dropped", {name: row[name] for name in names})


def event(time_ns: float | str | None, name: str, data: Any) -> Event:
    assert isinstance(time_ns, float)
    return {"time": time_ns / MS_NS, "name": name, "data": data}
