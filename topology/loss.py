# SPDX-License-Identifier: GPL-2.0-only
"""What the path loses by itself, behind the queue under test: packets at random, or in bursts.

netem on the box in the middle loses them, in front of the delay. A burst is the bad state of a
Gilbert-Elliott chain (Gilbert 1960, Elliott 1963), whose good state loses nothing: each packet
first may change the state, and is then lost by the state that it found. All is drawn from the
trial's seed, so that the n-th packet of a workload is lost or not whatever else runs.
Standard library only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import isclose, sqrt
from typing import Literal

from topology import commands
from topology.dumbbell import Link, check_range
from topology.run import batch, in_namespace, run


@dataclass(frozen=True, kw_only=True)
class Loss:
    """How much is lost, and how it is spread.

    Attributes:
        share: of all packets those that are lost, in the long run.
        burst_packets: mean length of a burst; None: each packet is lost or not by itself.
        burst_share: of a burst's packets those that are lost.
        direction: "down" (to the clients), "up", or "both", each with draws of its own.

    Raises:
        ValueError: a value is out of range; names it and what is allowed.
    """

    share: float
    burst_packets: float | None = None
    burst_share: float = 1.0
    direction: Literal["down", "up", "both"] = "down"

    def __post_init__(self) -> None:
        check_range("topology.loss.share", self.share, 1e-6, 0.5)
        check_range("topology.loss.burst_share", self.burst_share, 1e-6, 1)
        if self.burst_packets is None:
            if self.burst_share != 1:
                raise ValueError("topology.loss.burst_share: needs topology.loss.burst_packets")
            return
        check_range("topology.loss.burst_packets", self.burst_packets, 1, 10_000)
        most = self.burst_share * self.burst_packets / (1 + self.burst_packets)
        if self.share > most:
            raise ValueError(
                f"topology.loss.share = {self.share}: at most {most:.6g} in such bursts"
            )
        check_range("topology.loss: share of packets that begin a burst", self.chain()[0], 1e-6, 1)

    @property
    def directions(self) -> tuple[str, ...]:
        return ("down", "up") if self.direction == "both" else (self.direction,)

    @property
    def bad(self) -> float:
        """The share of packets that find the chain in its bad state."""
        return self.share / self.burst_share

    def chain(self) -> tuple[float, float]:
        """Probabilities of the chain's steps at a packet: good to bad, bad to good."""
        back = 1 / (self.burst_packets or 1)
        return back * self.bad / (1 - self.bad), back

    def netem(self) -> str:
        """The same in netem's words."""
        if self.burst_packets is None:
            return f"loss random {percent(self.share)}"
        there, back = map(percent, self.chain())
        return f"loss gemodel {there} {back} {percent(self.burst_share)} 0%"

    def spread(self, packets: int) -> float:
        """Standard deviation of the number lost of so many packets."""
        each = self.share * (1 - self.share)
        if self.burst_packets is None:
            return sqrt(packets * each)
        stays = 1 - sum(self.chain())
        together = self.burst_share**2 * self.bad * (1 - self.bad) * stays / (1 - stays)
        return sqrt(max(0.0, packets * (each + 2 * together)))


def percent(share: float) -> str:
    """A share in tc's words, to the 32 bits that the kernel keeps."""
    return f"{100 * share:.10f}%"


def seed_of(trial: int, direction: str) -> int:
    """What netem of a direction draws from."""
    digest = hashlib.blake2b(f"loss {direction} {trial}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


@contextmanager
def losing(
    loss: Loss | None, seed: int, box_pid: int, devices: Mapping[str, str], middle: Link
) -> Iterator[None]:
    """Let the box lose packets for the duration; it counts them, and goes on counting after it.

    Args:
        seed: the trial's.
        devices: of each direction the box's with the delay, whose netem keeps all but its losses.

    Raises:
        RuntimeError: netem did not take it.
    """
    wanted = {} if loss is None else {
        devices[direction]: f"{loss.netem()} seed {seed_of(seed, direction)}"
        for direction in loss.directions
    }  # fmt: skip
    with in_namespace(box_pid):
        batch("tc", [commands.box_delay(device, middle, of) for device, of in wanted.items()])
        for device, of in wanted.items():
            check(device, of)
    try:
        yield
    finally:
        with in_namespace(box_pid):
            batch("tc", [commands.box_delay(device, middle) for device in wanted])


def check(device: str, wanted: str) -> None:
    """RuntimeError unless a netem has the losses, and draws them from the seed, that it was given.

    A kernel without seeds takes one without a word.
    """
    found = json.loads(run(["tc", "-j", "qdisc", "show", "dev", device, "root"]))[0]["options"]
    _, model, *percents, _, seed = wanted.split()
    shares = [float(one.rstrip("%")) / 100 for one in percents]
    taken = list(found.get(f"loss-{model}", {}).values())[: len(shares)]
    alike = partial(isclose, rel_tol=1e-4, abs_tol=1e-9)  # tc prints six digits, of 32 bits
    same = len(taken) == len(shares) and all(map(alike, taken, shares))
    if not same or found.get("seed") != int(seed):
        raise RuntimeError(f"{device}: netem {wanted}: is {found}; a seed needs Linux 6.6")
