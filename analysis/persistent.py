# SPDX-License-Identifier: GPL-2.0-only
"""Trials of persistent sources (96-0518R1) as rows: one a set of levels, a value a seed.

A row knows what its plan says (sources, buffer, window, path), so that what follows from the
plan alone, as the largest queue that windows and path leave possible, is computed here.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.comparison import RESPONSES
from analysis.metrics import TCP_IP_HEADER_BYTES, frame_cells, jain_index
from analysis.published import persistent_cells
from analysis.records import Campaign, Trial, level_text, read_series
from analysis.vocabulary import Vocabulary

ACK_CELLS = frame_cells(TCP_IP_HEADER_BYTES)
CELL_BITS = 424
STUDY = "ubr_1996"
FACTORS = ("network", "sources", "buffer", "window", "policy", "flavor")
"""What its tables and those beyond them vary; a campaign may vary more (an assumption)."""
NETWORKS = ("LAN", "WAN")
VOCABULARY = Vocabulary(
    levels={
        "network": NETWORKS,
        "sources": ("1", "2", "5", "10"),
        "buffer": tuple(dict.fromkeys(str(cells) for _, _, cells, _ in persistent_cells())),
        "window": tuple(dict.fromkeys(str(size) for _, _, _, size in persistent_cells())),
        "policy": ("plain", "EPD", "EPD-n"),
        "flavor": ("Vanilla",),
    },
    networks=NETWORKS,
    metrics=(*RESPONSES, "peak_cells", "wasted_share", "timeouts", "retransmits"),
)
"""The words of its design, and what its sentences need beside: EPD-n, other numbers of sources."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """All trials of one set of levels, in the order of their seeds.

    metrics: name -> seed -> value, without the seeds that have none. lost_frames: one value a
    trial. shares: each source's part of all that was received from the start (0 where nothing
    was). throughputs_bit_per_s: pair -> that of the measured interval, a trial each; empty
    where flows.csv is not there.
    """

    factors: Mapping[str, str]
    plan: Mapping[str, Any] = field(repr=False)
    paper: Mapping[str, float] | None
    metrics: Mapping[str, Mapping[int, float]] = field(repr=False)
    lost_frames: tuple[int, ...]
    shares: tuple[tuple[float, ...], ...] = field(repr=False)
    throughputs_bit_per_s: tuple[Mapping[int, float], ...] = field(repr=False, default=())
    seeds: tuple[int, ...] = ()

    def values(self, metric: str) -> tuple[float, ...]:
        """A metric's values, of the trials that have one."""
        return tuple(self.metrics.get(metric, {}).values())

    def mean(self, metric: str) -> float | None:
        """The mean of a metric over the trials that have it; None where none has."""
        values = self.values(metric)
        return statistics.fmean(values) if values else None

    @property
    def fairness_from_start(self) -> tuple[float, ...]:
        """Jain's index over all that each source brought from the start, one value a trial."""
        found = (jain_index(shares) for shares in self.shares)
        return tuple(index for index in found if index is not None)

    @property
    def name(self) -> str:
        """The levels in one line."""
        return " ".join(self.factors.values())

    @property
    def sources(self) -> int:
        """How many sources send."""
        return int(self.plan["topology"]["pairs"])

    @property
    def windows_cells(self) -> int:
        """Sum of the receivers' windows in whole segments, as cells."""
        topology = self.plan["topology"]
        mss = topology["mss_bytes"]
        segments = self.plan["tcp"]["window_bytes"] // mss
        cells = frame_cells(mss + TCP_IP_HEADER_BYTES)
        return int(self.sources * segments * cells)

    @property
    def buffer_cells(self) -> int:
        """Cells of the queue under test."""
        return int(self.plan["queue"]["down"]["buffer_cells"])

    @property
    def path_cells(self) -> int:
        """Cells that the port sends from a segment's last cell to that of the one its ACK lets go.

        Round trip of propagation, the segment whole on the access links at both ends, its ACK
        the same and one cell of it at its port. What is in there is not in the queue.
        """
        topology = self.plan["topology"]
        access_ns = round(CELL_BITS * 1e9 / topology["access_rate_bit_per_s"])
        service_ns = CELL_BITS * 1e9 / topology["rate_bit_per_s"]
        segment = frame_cells(topology["mss_bytes"] + TCP_IP_HEADER_BYTES)
        path_ns = (
            2 * (2 * topology["access_delay_ns"] + topology["delay_ns"])
            + 2 * (segment + ACK_CELLS) * access_ns
            + service_ns
        )
        return math.floor(path_ns / service_ns)

    @property
    def full_queue_cells(self) -> int | None:
        """The queue with all windows open and none of their segments lost.

        None where the sources' own links together are no faster than the port: they wait there.
        """
        topology = self.plan["topology"]
        if self.sources * topology["access_rate_bit_per_s"] <= topology["rate_bit_per_s"]:
            return None
        return max(0, self.windows_cells - self.path_cells)

    @property
    def lossless(self) -> bool:
        """Did no trial of it lose a frame?"""
        return not any(self.lost_frames)

    def matches(self, levels: Mapping[str, Sequence[object]]) -> bool:
        """Has the row one of the levels listed for each factor?"""
        return all(
            self.factors.get(factor) in {level_text(level) for level in wanted}
            for factor, wanted in levels.items()
        )


def is_persistent(campaign: Campaign) -> bool:
    """Whether every trial is one of 96-0518R1's design: its plan's, with its factors."""
    return bool(campaign.trials) and all(
        trial.document.get("plan", {}).get("study") == STUDY
        and set(FACTORS) <= set(trial.factors)
        and "received_whole_bytes" in trial.document.get("source", {})
        for trial in campaign.trials
    )


def rows(campaigns: Iterable[Campaign]) -> tuple[Row, ...]:
    """The rows of all campaigns, valid trials only; of equal rows the first campaign's counts."""
    found: dict[tuple[tuple[str, str], ...], Row] = {}
    for campaign in campaigns:
        groups: dict[tuple[tuple[str, str], ...], list[Trial]] = {}
        for trial in campaign.trials:
            groups.setdefault(tuple(trial.factors.items()), []).append(trial)
        for key, trials in groups.items():
            found.setdefault(key, _row(trials))
    return tuple(found.values())


def _row(trials: Sequence[Trial]) -> Row:
    metrics: dict[str, dict[int, float]] = {}
    for trial in trials:
        for name, value in trial.metrics.items():
            if value is not None:
                metrics.setdefault(name, {})[trial.seed] = value
    return Row(
        factors=trials[0].factors,
        plan=trials[0].document["plan"],
        paper=trials[0].document.get("paper"),
        metrics=metrics,
        lost_frames=tuple(_lost(trial) for trial in trials),
        shares=tuple(_shares(trial) for trial in trials),
        throughputs_bit_per_s=tuple(_throughputs(trial) for trial in trials),
        seeds=tuple(trial.seed for trial in trials),
    )


def _lost(trial: Trial) -> int:
    frames = trial.document["queue"]["down"]["frames"]
    return int(frames["in"] - frames["delivered"])


def _throughputs(trial: Trial) -> dict[int, float]:
    duration_s = trial.document["source"]["measured_s"]
    found = {}
    for row in read_series(trial, "flows") or ():
        pair, count = row["pair"], row["received_bytes"]
        if isinstance(pair, float) and isinstance(count, float):
            found[int(pair)] = 8 * count / duration_s
    return found


def _shares(trial: Trial) -> tuple[float, ...]:
    received = trial.document["source"]["received_whole_bytes"]
    total = sum(received)
    return tuple(count / total if total else 0.0 for count in received)
