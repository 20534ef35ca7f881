# SPDX-License-Identifier: GPL-2.0-only
"""Persistent sources: one iperf3 pair a host pair, greedy for the whole trial.

parameters  the keys of [workload]
iperf3      its commands, and what it reports
source      runs it in a lab
checks      what its trials are held to
"""

from workload.iperf.parameters import Parameters
from workload.iperf.source import Source

__all__ = ["Parameters", "Source"]
