# SPDX-License-Identifier: GPL-2.0-only
"""The run directory of a lab that nothing runs, with a trial in it that goes on by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from plan import plan as plans
from plan.plan import Plan
from tests.small import TINY, trials_of
from topology import cellq_log

T0_NS = 7_000_000_000
THRESHOLD = 240
TEXT = TINY.replace('"plain", buffer_cells = 300', '"epd", buffer_cells = 300, threshold = 0.8')
TEXT = TEXT.replace("duration_s = 2", "duration_s = 20")
TEXT += "record = { queue_sample_ms = 250, cwnd_sample_ms = 500, drops = true }\n"


class Lab:
    """Its trial samples the queue 4 times a second, the windows of both pairs twice."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder / "cellbed-lab.1-2.made", name
        self.plan: Plan = trials_of(folder, TEXT)[0].plan
        self.raw = self.folder / "results" / name
        for path in (self.folder / "inbox", self.raw):
            path.mkdir(parents=True)
        job = {"kind": "trial", "trial": name, "plan": plans.to_json(self.plan), "exact": True}
        (self.folder / "inbox" / "0002.json").write_text(json.dumps(job))
        self.say("trial-begin")
        head = cellq_log.HEADER.pack(cellq_log.MAGIC, cellq_log.VERSION, cellq_log.HEADER.size)
        for port in ("down", "up"):
            (self.raw / f"{port}.cellq").write_bytes(head)
        (self.raw / "cwnd.csv").write_text("time_ns,pair,cwnd_segments,ssthresh_segments\n")

    def say(self, event: str, **more: object) -> None:
        """Something that the agent says."""
        with (self.folder / "events.jsonl").open("a") as stream:
            stream.write(json.dumps({"event": event, "trial": self.name, **more}) + "\n")

    def second(self, number: int) -> None:
        """One more second: the queue grows by a cell a sample; a frame is dropped at its end."""
        begin_ns = T0_NS + (number - 1) * 10**9
        layouts, quarters = cellq_log.LAYOUTS, range(4)
        samples = [
            layouts[cellq_log.SAMPLE].pack(
                cellq_log.SAMPLE, 1, number * 4 + place, begin_ns + place * 250_000_000
            )
            for place in quarters
        ]
        drop = layouts[cellq_log.DROP].pack(
            cellq_log.DROP, 1, 2, 23, begin_ns + 999_999_999, THRESHOLD, 9, 2, 0, number
        )
        with (self.raw / "down.cellq").open("ab") as stream:
            stream.write(b"".join(samples) + drop)
        with (self.raw / "cwnd.csv").open("a", newline="") as text:
            rows = [
                (begin_ns + half, pair, 10 * pair + number, 20)
                for half in (0, 500_000_000)
                for pair in (1, 2)
            ]
            csv.writer(text, lineterminator="\n").writerows(rows)
        counted = [number * 125_000, number * 250_000]
        self.say("progress", virtual_s=T0_NS / 1e9 + number, second=number, ip_bytes=counted)
