# SPDX-License-Identifier: GPL-2.0-only
"""Runs persistent sources over QUIC in a lab."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from workload import quic
from workload.checks import late_requests, requests, server_errors
from workload.iperf.iperf3 import starts_ns
from workload.iperf.parameters import NS_PER_S
from workload.quic.checks import connections, sent_moments, sent_packets
from workload.quic.qlog import Log
from workload.quic.source import Facts, totals
from workload.quic_bulk.checks import unsent_data
from workload.quic_bulk.parameters import Parameters
from workload.www import schedule

BEGIN, END = "begin", "end"


@dataclass(frozen=True, slots=True)
class Piece(schedule.Request):
    """A request for a file of a server that always has data."""

    @property
    def path(self) -> str:
        """The file's path in the request line."""
        return f"/{self.size_bytes}"


class Source(quic.Source):
    """Data flows from server i to client i, from the start of each source to the end."""

    checks = (
        requests, server_errors, late_requests, connections, sent_packets, sent_moments,
        unsent_data,
    )  # fmt: skip
    client: ClassVar[str] = "workload.quic_bulk.client"

    parameters: Parameters  # type: ignore[assignment]

    def _sizes(self) -> tuple[int, int]:
        """Return the bytes of the first file, and of all others."""
        return self.parameters.file_bytes // 2, self.parameters.file_bytes

    def _documents(self, folder: Path) -> Path:
        made = folder / "documents"
        made.mkdir()
        for size in self._sizes():
            (made / str(size)).write_bytes(bytes(size))
        return made

    def _requests(self) -> tuple[schedule.Request, ...]:
        starts = starts_ns(self.parameters, self.testbed.seed, len(self.testbed.clients))
        return tuple(
            Piece(
                pair=pair, batch=0, request=number, file_class=0, file=number, size_bytes=size,
                due_ns=start_ns,
            )
            for pair, start_ns in enumerate(starts, 1)
            for number, size in enumerate(self._sizes())
        )  # fmt: skip

    def _of_clients(self) -> dict[str, Any]:
        params = self.parameters
        return {"marks_ns": [second * NS_PER_S for second in params.ends_s]}

    def follow(self, t0_ns: int, progress: Callable[[int], None]) -> None:
        params = self.parameters

        def noted(second: int) -> None:
            for name, end in zip((BEGIN, END), params.ends_s, strict=True):
                if second == end:
                    self.testbed.snapshot(name)
            progress(second)

        if params.measure_from_s == 0:
            self.testbed.snapshot(BEGIN)
        super().follow(t0_ns, noted)

    def _of_requests(self, facts: Facts, asked: tuple[schedule.Request, ...]) -> dict[str, Any]:
        """Write flows.csv, which has the measured interval; return what the record has of it."""
        newly = [one["marked_bytes"][1] - one["marked_bytes"][0] for one in facts]
        self.write_flows(
            {"pair": one["pair"], "received_bytes": arrived}
            for one, arrived in zip(facts, newly, strict=True)
        )
        begin_s, end_s = self.parameters.ends_s
        # A client asks for two files at first, and for one more whenever one has come.
        offered = sum(2 + one["answered"] for one in facts)
        return {
            **totals(facts, offered),
            "measured_s": float(end_s - begin_s),
            "whole_s": float(end_s),
            "received_whole_bytes": [one["stream_bytes"] for one in facts],
            "delivered_bytes": newly,
            "least_left_bytes": [one["least_left_bytes"] for one in facts],
        }

    def _of_logs(self, logs: Sequence[Log]) -> dict[str, Any]:
        return {"most_flight_bytes": [log.most_flight_bytes for log in logs]}
