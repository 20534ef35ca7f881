# SPDX-License-Identifier: GPL-2.0-only
"""The WWW workload of 98-0876R1: nginx on every server host, one pipelining client for all pairs.

parameters  the keys of [workload]
schedule    client, file and time of each request
www_client  the C client's specification and command, and readers of its records
programs    the C client itself
source      runs it in a lab
"""

from workload.www.parameters import Parameters
from workload.www.source import Source

__all__ = ["Parameters", "Source"]
