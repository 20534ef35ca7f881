# SPDX-License-Identifier: GPL-2.0-only
"""What a plan asks of each host, as plain data. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from harness.plan import Flavor, Tcp

T = TypeVar("T")


def changes(before: Flavor | None, flavor: Flavor) -> Flavor:
    """The flavor with only what differs from the one before: a write costs a file each."""
    if before is None:
        return flavor
    return replace(
        flavor,
        sysctl=different(before.sysctl, flavor.sysctl),
        parameters=different(before.parameters, flavor.parameters),
    )


def different(before: Mapping[str, T], after: Mapping[str, T]) -> dict[str, T]:
    """What is not as it was."""
    return {key: value for key, value in after.items() if before.get(key) != value}


def route_attributes(tcp: Tcp, end: str) -> dict[str, object]:
    """The route of a server or client in iproute2's words; window and ssthresh from the plan."""
    attributes: dict[str, object] = {}
    for name, value in tcp.flavor.route.get(end, {}).items():
        if name == "rto_min_ms":
            attributes["rto_min"] = f"{value}ms"
        elif name == "ssthresh":
            attributes["ssthresh"] = tcp.ssthresh_segments if value == "bdp" else value
        else:
            attributes[name] = value
    attributes["window"] = tcp.window_bytes
    return attributes
