# SPDX-License-Identifier: GPL-2.0-only
"""Persistent sources over one or several paths: MPTCP for clients with two links, TCP for others.

parameters  the keys of [workload]
stream      the two programs: one sends all the time, and the other receives
info        what the kernel says of a connection
source      runs the programs in a lab
tables      the rows of flows.csv and connections.csv, and the figures
checks      the checks of such a trial
"""

from workload.mptcp.parameters import Parameters
from workload.mptcp.source import Source

__all__ = ["Parameters", "Source"]
