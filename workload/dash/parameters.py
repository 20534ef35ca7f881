# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for video."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from plan.schema import Within, check
from workload.errors import WorkloadError

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000
MOST_LEVELS = 30
# The ladder of "Big Buck Bunny" in the evaluation of BOLA (Spiteri et al., INFOCOM 2016).
LADDER_BIT_PER_S = (
    230_000, 331_000, 477_000, 688_000, 991_000, 1_427_000, 2_056_000, 2_962_000, 5_027_000,
    6_000_000,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The video, the player, and the rule that chooses the bit rate of each segment."""

    duration_s: Annotated[
        int,
        Within(1, 86_400),
        "The end of the workload, in seconds after time 0. Until then the players ask for"
        " segments and play. This time includes the wait before a player first plays, and the"
        " stalls.",
    ] = 60
    adaptation: Annotated[
        Literal["throughput", "bola", "buffer"],
        "The video is cut into segments of some seconds. This key is the rule that chooses the bit"
        " rate of each segment of the video. `throughput`: the throughput rule of dash.js 4."
        " `bola`: BOLA (Spiteri, Urgaonkar, Sitaraman, INFOCOM 2016). `buffer`: BBA-0 (Huang et"
        " al., SIGCOMM 2014, algorithm 1).",
    ] = "throughput"
    ladder_bit_per_s: Annotated[
        tuple[Annotated[int, Within(1_000, 1_000_000_000)], ...],
        "The bit rates of the video, from the lowest to the highest: 2 to 30 values. Each bit rate"
        " is a *level* of the video (not of a factor). The default is a ladder of the film Big"
        " Buck Bunny. BOLA's authors evaluated their rule with this ladder.",
    ] = LADDER_BIT_PER_S
    segment_ms: Annotated[int, Within(100, 60_000), "The length of a segment of the video."] = 3000
    size_spread: Annotated[
        float,
        Within(0, 0.9),
        "0: all segments of a level have the same size. Above 0: the seed draws a"
        " multiplier for each segment, uniformly between 1 - `size_spread` and 1 + `size_spread`."
        " A segment has the same multiplier at each bit rate, and all players play the same video.",
    ] = 0.0
    buffer_ms: Annotated[
        int,
        Within(200, 3_600_000),
        "The largest amount of video that a player can hold. A player asks for a segment only if"
        " there is room for it.",
    ] = 25_000
    play_from_ms: Annotated[
        int,
        Within(1, 3_600_000),
        "A player begins to play, and plays again after a stall, when it has at least this much"
        " video in its buffer.",
    ] = 3000
    start_jitter_ms: Annotated[
        int,
        Within(0, 3_600_000),
        "Each player starts at a random moment between time 0 and this time.",
    ] = 1000
    samples: Annotated[
        int,
        Within(1, 100),
        'Only `adaptation = "throughput"`: the number of segments over which the rule averages.',
    ] = 4
    safety: Annotated[
        float,
        Within(0.01, 1),
        'Only `adaptation = "throughput"`: the share of the average throughput that a level may'
        " need.",
    ] = 0.9
    gamma_p: Annotated[
        float,
        Within(0.01, 1000),
        'Only `adaptation = "bola"`: the weight of playing without stalls against a high bit rate'
        " (gamma times p in BOLA's paper).",
    ] = 5.0
    reservoir_share: Annotated[
        float,
        Within(0, 1),
        'Only `adaptation = "buffer"`: below this share of the largest buffer, the rule chooses the'
        " lowest level. In the paper of BBA-0, this is 90 s of a buffer of 240 s, a share of"
        " 0.375.",
    ] = 0.375
    cushion_share: Annotated[
        float,
        Within(0, 1),
        'Only `adaptation = "buffer"`: from this share of the largest buffer on, the rule chooses'
        " the highest level. In the paper of BBA-0, this is 216 s of 240 s, a share of 0.9. With"
        " the default buffer of 25 s, a share of 0.9 leaves only 2.5 s of room. A segment of 3 s"
        " does not fit, so the default is 0.8.",
    ] = 0.8

    def __post_init__(self) -> None:
        check(self, "workload")
        ladder = self.ladder_bit_per_s
        if not 2 <= len(ladder) <= MOST_LEVELS or sorted(set(ladder)) != list(ladder):
            raise WorkloadError(
                f"workload.ladder_bit_per_s = {list(ladder)}: must be 2 to {MOST_LEVELS} bit"
                " rates, each above the one before"
            )
        self._check_times()

    def _check_times(self) -> None:
        needed_ms = max(self.to_play, 2) * self.segment_ms
        if self.buffer_ms < needed_ms:
            raise WorkloadError(
                f"workload.buffer_ms = {self.buffer_ms}: must be at least {needed_ms}, to hold two"
                " segments and the segments with which a player begins to play"
            )
        if self.start_jitter_ms > self.duration_s * 1000:
            raise WorkloadError(
                f"workload.start_jitter_ms = {self.start_jitter_ms}: must be at most"
                f" {self.duration_s * 1000}, the duration"
            )
        most = 1 - self.segment_ms / self.buffer_ms
        if self.adaptation == "buffer" and self.cushion_share > most:
            raise WorkloadError(
                f"workload.cushion_share = {self.cushion_share:g}: must be at most {most:g}; a"
                " player with a fuller buffer has no room for a segment and does not ask for one,"
                " so the rule could never choose the highest level"
            )
        if self.reservoir_share >= self.cushion_share:
            raise WorkloadError(
                f"workload.reservoir_share = {self.reservoir_share:g}: must be below"
                f" workload.cushion_share, which is {self.cushion_share:g}"
            )

    @property
    def to_play(self) -> int:
        """The number of segments with which a player begins to play."""
        return -(-self.play_from_ms // self.segment_ms)

    @property
    def segment_ns(self) -> int:
        """The length of a segment [ns]."""
        return self.segment_ms * NS_PER_MS

    @property
    def buffer_ns(self) -> int:
        """The largest buffer [ns]."""
        return self.buffer_ms * NS_PER_MS

    @property
    def duration_ns(self) -> int:
        """The length of a trial [ns]."""
        return self.duration_s * NS_PER_S
