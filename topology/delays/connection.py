# SPDX-License-Identifier: GPL-2.0-only
"""A round trip of its own for each TCP connection, after the constant delay.

    before   sat-sw2: comes in -> sat-sw1: netem, goes out
    with it  sat-sw2: comes in -> down0: netem -> down1 -> sat-sw1: fq and program.py, goes out

and the same the other way. netem, which under a queue of packets is the link, must come first:
after it nothing waits for another connection's packet.
"""

from __future__ import annotations

from typing import ClassVar, Self

from topology import commands, delay
from topology.run import batch, in_namespace

# direction -> the box's devices: comes in, goes out, and the two ends of the pair between them.
STAGES = {
    "down": (commands.SAT_DOWN, commands.SAT_UP, "down0", "down1"),
    "up": (commands.SAT_UP, commands.SAT_DOWN, "up0", "up1"),
}


class Delay(delay.Delay):
    """Its pairs of devices; queues and program come with the workload, which knows who has which.

    Not sooner: fq drops what was given the time of day by a receiver that asked for times, as ping.
    """

    devices: ClassVar[dict[str, str]] = {name: stage[2] for name, stage in STAGES.items()}

    def __enter__(self) -> Self:
        mtu = self.dumbbell.mtu_bytes
        links, lines = [], list[str]()
        for source, target, near, far in STAGES.values():
            links += commands.pair_in_box(near, far, mtu)
            lines += [
                commands.box_delay(near, self.dumbbell.middle),
                commands.no_redirect(source),
                commands.redirect(source, near),
                f"qdisc add dev {far} ingress",
                commands.redirect(far, target),
                f"qdisc del dev {target} root",
            ]
        with in_namespace(self.box_pid):
            batch("ip", links)
            batch("tc", lines)
        return self

    def __exit__(self, *why: object) -> None:
        lines = commands.sat_delay(self.dumbbell.middle)
        for source, target, *_ in STAGES.values():
            lines += [commands.no_redirect(source), commands.redirect(source, target)]
        with in_namespace(self.box_pid):
            batch("tc", lines)
            batch("ip", [f"link del {near}" for _, _, near, _ in STAGES.values()])
