# SPDX-License-Identifier: GPL-2.0-only
"""Persistent sources (workload/iperf) of which one end of each pair runs in this lab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.linked.testbed import HalfTestbed
from workload.iperf import Source, iperf3
from workload.iperf.source import BEGIN, UNLIMITED


class HalfSource(Source):
    """Runs one half; merge.py makes flows.csv of what both halves have seen."""

    half: HalfTestbed  # the same as `testbed`, with what only it has
    seen: dict[str, Any]

    def run(self, progress: Callable[[int], None]) -> None:
        params = self.parameters
        self._data_port = params.data_port
        self._limit_unsent(params.unsent_bytes)
        with self.testbed.programs() as programs:
            if iperf3.listen_host(params) == self.half.end:
                self._listen(params, programs)
            t0_ns = self.testbed.whole_second()
            marks = {}
            if params.measure_from_s == 0:
                marks[BEGIN] = self._mark(BEGIN)
            sources = self._start(params, programs, t0_ns)
            marks |= self._watch(params, t0_ns, progress)
            said = {pair: sources[pair].communicate()[0] for pair in sorted(sources)}
            self.half.meet()  # the programs of the other lab have ended, too
        self._limit_unsent(UNLIMITED)
        self.seen = {"t0_ns": t0_ns, "marks": marks, "said": said}

    def summary(self) -> dict[str, Any]:
        return self.seen
