# SPDX-License-Identifier: GPL-2.0-only
"""Workloads as the agent runs them: one file a kind, one table."""

from __future__ import annotations

from harness.agent.sources.base import Source
from harness.agent.sources.iperf import IperfSource
from harness.agent.sources.wrk import WrkSource
from harness.agent.sources.www import WwwSource

SOURCES: dict[str, type[Source]] = {"www": WwwSource, "iperf": IperfSource, "wrk": WrkSource}
