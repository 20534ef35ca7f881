# SPDX-License-Identifier: GPL-2.0-only
"""What a plan asks of each host, as plain data. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from topology.dumbbell import Dumbbell


def changes(before: dict[str, Any] | None, flavor: dict[str, Any]) -> dict[str, Any]:
    """The flavor with only what differs from the one before: a write costs a file each."""
    if before is None:
        return flavor
    reduced = dict(flavor)
    for part in ("sysctl", "parameters"):
        reduced[part] = {k: v for k, v in flavor[part].items() if before[part].get(k) != v}
    return reduced


def plan_dumbbell(built: Dumbbell, topology: dict[str, Any]) -> Dumbbell:
    """The built dumbbell with a plan's middle delay and MSS; the rest is fixed at building."""
    middle = replace(
        built.middle, rate_bit_per_s=topology["rate_bit_per_s"], delay_ns=topology["delay_ns"]
    )
    return replace(built, middle=middle, mss_bytes=topology["mss_bytes"])


def route_attributes(tcp: dict[str, Any], end: str) -> dict[str, object]:
    """The route of a server or client in iproute2's words; window and ssthresh from the plan."""
    flavor_route = dict(tcp["flavor"]["route"].get(end, {}))
    attributes: dict[str, object] = {}
    for name, value in flavor_route.items():
        if name == "rto_min_ms":
            attributes["rto_min"] = f"{value}ms"
        elif name == "ssthresh":
            attributes["ssthresh"] = tcp["ssthresh_segments"] if value == "bdp" else value
        else:
            attributes[name] = value
    attributes["window"] = tcp["window_bytes"]
    return attributes
