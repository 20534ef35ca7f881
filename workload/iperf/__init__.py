# SPDX-License-Identifier: GPL-2.0-only
"""Persistent sources: one pair of iperf3 processes per pair of hosts; they send all the time.

parameters  the keys of [workload]
iperf3      the commands, and the reports
source      runs iperf3 in a lab
checks      the checks of such a trial
"""

from workload.iperf.parameters import Parameters
from workload.iperf.source import Source

__all__ = ["Parameters", "Source"]
