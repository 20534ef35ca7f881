# SPDX-License-Identifier: GPL-2.0-only
"""A closed loop: nginx on every server host, one wrk on each client host.

Each client asks for the next file as soon as it has the last one.

    parameters  the keys of [workload]
    wrk         the requested files (by wrk.lua), the command, and the report
    source      runs it in a lab
    checks      the checks of such a trial
"""

from workload.wrk.parameters import Parameters
from workload.wrk.source import Source

__all__ = ["Parameters", "Source"]
