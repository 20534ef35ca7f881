# SPDX-License-Identifier: GPL-2.0-only
"""One constant delay for all packets: the box's netem, as the network is built."""

from __future__ import annotations

from topology import delay


class Delay(delay.Delay):
    """The built network already has this delay."""
