# SPDX-License-Identifier: GPL-2.0-only
"""Servers that always have data to send, over QUIC: what `iperf` is for TCP.

Each client asks for one file after another, always with two requests under way, so that its server
never waits for a request. All else is as with the workload `quic`.

parameters  the keys of [workload]
source      runs it in a lab
client      in the lab: aioquic as the client of all pairs
checks      the check that the servers always had data
"""

from workload.quic.parameters import LAYER
from workload.quic_bulk.parameters import Parameters
from workload.quic_bulk.source import Source

__all__ = ["LAYER", "Parameters", "Source"]
