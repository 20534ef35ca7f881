# SPDX-License-Identifier: GPL-2.0-only
"""Loses what the path is to lose (plan/loss.py), behind the queue under test.

netem on the box in the middle loses the packets, in front of the delay. All is drawn from the
trial's seed, so that the n-th packet of a workload is lost or not whatever else runs.
Standard library only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import isclose

from plan.dumbbell import Link
from plan.loss import Loss
from topology import commands
from topology.run import batch, in_namespace, run


def netem(loss: Loss) -> str:
    """The losses in netem's words."""
    if loss.burst_packets is None:
        return f"loss random {percent(loss.share)}"
    there, back = map(percent, loss.chain())
    return f"loss gemodel {there} {back} {percent(loss.burst_share)} 0%"


def percent(share: float) -> str:
    """A share in tc's words, to the 32 bits that the kernel keeps."""
    return f"{100 * share:.10f}%"


def seed_of(trial: int, direction: str) -> int:
    """What netem of a direction draws from."""
    digest = hashlib.blake2b(f"loss {direction} {trial}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


@contextmanager
def losing(
    loss: Loss | None,
    seed: int,
    box_pid: int,
    devices: Mapping[str, str],
    links: Mapping[str, Link],
) -> Iterator[None]:
    """Let the box lose packets for the duration; it counts them, and goes on counting after it.

    Args:
        seed: the trial's.
        devices: of each direction the box's with the delay, whose netem keeps all but its losses.
        links: of each direction the middle link, with the delay that its device has.

    Raises:
        RuntimeError: netem did not take it.
    """
    wanted = {} if loss is None else {
        way: f"{netem(loss)} seed {seed_of(seed, way)}" for way in loss.directions
    }  # fmt: skip
    with in_namespace(box_pid):
        batch("tc", [commands.box_delay(devices[w], links[w], of) for w, of in wanted.items()])
        for way, of in wanted.items():
            check(devices[way], of)
    try:
        yield
    finally:
        with in_namespace(box_pid):
            batch("tc", [commands.box_delay(devices[way], links[way]) for way in wanted])


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
        raise RuntimeError(
            f"{device}: netem was told {wanted}, but has {found}; a seed needs Linux 6.6 or newer"
        )
