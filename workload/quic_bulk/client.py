# SPDX-License-Identifier: GPL-2.0-only
"""In the lab: the clients of all pairs. python3 -m workload.quic_bulk.client SPEC

A client asks for a small file and for a large one, and whenever one has come, for a large one. So
two files never end together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from workload.quic.client import Client, Transfer, run
from workload.quic.endpoint import clock_ns

STREAMS = 2


class BulkClient(Client):
    """The client of one pair, which never stops to ask.

    Attributes:
        of_trial_ns: moments of the trial at which it notes what has come.
        marks_ns: those moments of its clock that are still to come; none before the trial.
        marked_bytes: what had come then.
        least_left_bytes: what was still missing of the other file when one had come, at least.
    """

    def __init__(self, pair: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
        super().__init__(pair, {**spec, "streams": STREAMS})
        self.of_trial_ns: list[int] = spec["marks_ns"]
        self.marks_ns: deque[int] = deque()
        self.marked_bytes: list[int] = []
        self.least_left_bytes: int | None = None

    def begin_trial(self, rows: Iterable[Mapping[str, Any]], t0_ns: int) -> None:
        super().begin_trial(rows, t0_ns)
        self.marks_ns.extend(mark + t0_ns for mark in self.of_trial_ns)

    def answered(self) -> None:
        """Ask for the next file."""
        left = sum(one.row["size_bytes"] - one.body_bytes for one in self.open.values())
        least = self.least_left_bytes
        self.least_left_bytes = left if least is None else min(least, left)
        last = self.all[-1].row
        more = {**last, "request": last["request"] + 1, "due_ns": clock_ns()}
        self.all.append(Transfer(more))
        self.waiting.append(self.all[-1])

    def ask(self) -> int | None:
        """Note what has come; ask as any client. Return the moment of the next of both [ns]."""
        while self.marks_ns and self.marks_ns[0] <= clock_ns():
            self.marks_ns.popleft()
            self.marked_bytes.append(self.stream_bytes)
        moments = [super().ask(), *list(self.marks_ns)[:1]]
        return min((moment for moment in moments if moment is not None), default=None)

    def facts(self, t0_ns: int) -> dict[str, Any]:
        marked = [*self.marked_bytes, *([self.stream_bytes_at_end] * len(self.marks_ns))]
        return {
            **super().facts(t0_ns),
            "marked_bytes": marked,
            "least_left_bytes": self.least_left_bytes,
        }


if __name__ == "__main__":
    run(BulkClient)
