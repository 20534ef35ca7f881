# SPDX-License-Identifier: GPL-2.0-only
"""Applies the losses of the path (plan/loss.py), behind the queue under test.

netem on the box in the middle loses the packets, before their delay. All draws come from the
trial's seed. So whether the n-th packet of a workload is lost does not depend on other programs.
Standard library only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import isclose

from plan.layout import Link
from plan.loss import Loss
from topology import commands
from topology.run import batch, in_namespace, run


def netem(loss: Loss) -> str:
    """Return the losses in netem's words."""
    if loss.burst_packets is None:
        return f"loss random {percent(loss.share)}"
    there, back = map(percent, loss.chain())
    return f"loss gemodel {there} {back} {percent(loss.burst_share)} 0%"


def percent(share: float) -> str:
    """Return a share in tc's words, exact to the 32 bits that the kernel keeps."""
    return f"{100 * share:.10f}%"


def seed_of(trial: int, direction: str) -> int:
    """Return the seed of netem for a direction."""
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
    """Let the box lose packets for the duration of a `with`. Its counters go on afterwards.

    Args:
        seed: the trial's seed.
        devices: direction -> the box's device with the delay. Its netem keeps all other settings.
        links: direction -> the middle link, with the delay of this device.

    Raises:
        RuntimeError: netem did not accept the losses.
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
    """Raise RuntimeError unless the netem of a device has the wanted losses and seed.

    A kernel without seeds ignores a seed silently.
    """
    found = json.loads(run(["tc", "-j", "qdisc", "show", "dev", device, "root"]))[0]["options"]
    _, model, *percents, _, seed = wanted.split()
    shares = [float(one.rstrip("%")) / 100 for one in percents]
    taken = list(found.get(f"loss-{model}", {}).values())[: len(shares)]
    alike = partial(isclose, rel_tol=1e-4, abs_tol=1e-9)  # tc prints six digits of a 32-bit value
    same = len(taken) == len(shares) and all(map(alike, taken, shares))
    if not same or found.get("seed") != int(seed):
        raise RuntimeError(
            f"{device}: netem was told {wanted}, but has {found}; a seed needs Linux 6.6 or newer"
        )
