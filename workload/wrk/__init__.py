# SPDX-License-Identifier: GPL-2.0-only
"""A closed loop: nginx on every server host, one wrk a client host.

Each asks for the next file as soon as the last is in.

    parameters  the keys of [workload]
    wrk         what it asks for (by wrk.lua), its command, and what it reports
    source      runs it in a lab
    checks      what its trials are held to
"""

from workload.wrk.parameters import Parameters
from workload.wrk.source import Source

__all__ = ["Parameters", "Source"]
