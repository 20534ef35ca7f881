# SPDX-License-Identifier: GPL-2.0-only
"""A lab's end of the wire to the other lab (lab/wire/cellbed_wire.c)."""

from __future__ import annotations

import time
from pathlib import Path

from topology import commands, modules
from topology.build import Network
from topology.clock import TIMER_GRAIN_NS, sleep_until
from topology.run import batch, in_namespace, run

SIDES = ("senders", "receivers")
MODULE = "cellbed_wire"
DEVICE = "wire0"
PARAMETERS = Path("/sys/module", MODULE, "parameters")
# side -> the box's device towards this side's hosts.
NEAR = {"senders": commands.SAT_DOWN, "receivers": commands.SAT_UP}
MTU_BYTES = 65_000
EARLY_NS = 1  # as the module has it
# More than the clocks may differ, and less than a window.
PAUSE_NS = 100


class WireError(RuntimeError):
    """The labs' clocks do not keep together."""


class Wire:
    """The wire at the place of the other lab's half of a network.

    Args:
        side: one of SIDES.
    """

    def __init__(self, network: Network, side: str) -> None:
        first = int(side == SIDES[0])
        modules.insert(MODULE, f"first={first}")
        box, near = network.pids[commands.BOX], NEAR[side]
        run(["ip", "link", "set", DEVICE, "netns", str(box)])
        with in_namespace(box):
            batch("ip", [f"link set {DEVICE} mtu {MTU_BYTES} up"])
            batch("tc", [
                commands.no_redirect(near),
                commands.redirect(near, DEVICE),
                f"qdisc add dev {DEVICE} ingress",
                commands.redirect(DEVICE, near),
            ])  # fmt: skip

    def begin(self, delay_ns: int) -> None:
        """Let both labs' clocks keep together from now on; returns in both at the same moment.

        It is a multiple of TIMER_GRAIN_NS, so the kernels' timers are rounded alike in each trial.
        """
        (PARAMETERS / "delay_ns").write_text(str(delay_ns))
        earliest_ns = -(-time.monotonic_ns() // TIMER_GRAIN_NS) * TIMER_GRAIN_NS
        (PARAMETERS / "begin").write_text(str(earliest_ns))
        sleep_until(int((PARAMETERS / "begin").read_text()))

    def meet(self) -> int:
        """Wait until the other lab has come here, too; return the moment [ns], the same in both.

        The clock of either lab may show a nanosecond more.

        Raises:
            WireError: this lab's clock shows another time.
        """
        (PARAMETERS / "meet").write_text("1")
        met_ns = int((PARAMETERS / "meet").read_text())
        check_clock(met_ns, time.monotonic_ns())
        return met_ns

    def end(self) -> None:
        """Let each lab's clock go its own way again; returns in both at the same moment."""
        sleep_until(self.meet() + PAUSE_NS)
        (PARAMETERS / "end").write_text("1")


def check_clock(met_ns: int, now_ns: int) -> None:
    """WireError where this lab's clock is not at the moment at which the labs met."""
    if not met_ns <= now_ns <= met_ns + EARLY_NS:
        raise WireError(
            f"the two labs met at {met_ns} ns, but this lab's clock is at {now_ns} ns; allowed is"
            f" {EARLY_NS} ns more"
        )
