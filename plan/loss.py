# SPDX-License-Identifier: GPL-2.0-only
"""The losses of a path, beside those of its queues: random single packets, or bursts.

A burst is the bad state of a Gilbert-Elliott chain (Gilbert 1960, Elliott 1963). The good state
loses nothing. Each packet first may change the chain's state. The state before this change
decides whether the packet is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Literal

from plan.schema import Within, check, check_range


@dataclass(frozen=True, kw_only=True)
class Loss:
    """The amount and the distribution of losses.

    Attributes:
        share: the share of all packets that the path loses in the long run.
        burst_packets: the mean length of a burst; None: packet losses are independent.
        burst_share: the share of a burst's packets that the path loses.
        direction: "down" (to the clients), "up", or "both". Each direction has its own draws.

    Raises:
        ValueError: a value is out of range; the text names the value and the allowed range.
    """

    share: Annotated[
        float,
        Within(1e-6, 0.5),
        "The share of the workload's packets that the path loses. Each direction that loses packets"
        " loses this share of its own packets.",
    ]
    burst_packets: Annotated[
        float | None,
        Within(1, 10_000),
        "The mean length of a burst, in packets (Gilbert-Elliott model). The length counts all"
        " packets of the burst, also packets that are not lost. Without this key, the path loses"
        " each packet independently of all others.",
    ] = None
    burst_share: Annotated[
        float,
        Within(1e-6, 1),
        "During a burst, the path loses this share of the packets. With 1, it loses all packets of"
        " a burst.",
    ] = 1.0
    direction: Annotated[
        Literal["down", "up", "both"],
        "The direction that loses packets. `down` is towards the clients, `up` is towards the"
        " servers.",
    ] = "down"

    def __post_init__(self) -> None:
        check(self, "topology.loss")
        if self.burst_packets is None:
            if self.burst_share != 1:
                raise ValueError(
                    "topology.loss.burst_share also needs the key topology.loss.burst_packets:"
                    " add it, or remove burst_share"
                )
            return
        most = self.burst_share * self.burst_packets / (1 + self.burst_packets)
        if self.share > most:
            raise ValueError(
                f"topology.loss.share = {self.share}: these bursts cannot lose more than"
                f" {most:.6g}; choose a smaller share or longer bursts"
            )
        check_range(
            "topology.loss: the share of packets that begin a burst", self.chain()[0], 1e-6, 1
        )

    @property
    def directions(self) -> tuple[str, ...]:
        return ("down", "up") if self.direction == "both" else (self.direction,)

    @property
    def bad(self) -> float:
        """The share of packets that find the chain in its bad state."""
        return self.share / self.burst_share

    def chain(self) -> tuple[float, float]:
        """Return the chain's transition probabilities at a packet: good to bad, bad to good."""
        back = 1 / (self.burst_packets or 1)
        return back * self.bad / (1 - self.bad), back

    def spread(self, packets: int) -> float:
        """Return the standard deviation of the number of losses among `packets` packets."""
        each = self.share * (1 - self.share)
        if self.burst_packets is None:
            return sqrt(packets * each)
        stays = 1 - sum(self.chain())
        together = self.burst_share**2 * self.bad * (1 - self.bad) * stays / (1 - stays)
        return sqrt(max(0.0, packets * (each + 2 * together)))
