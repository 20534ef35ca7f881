# SPDX-License-Identifier: GPL-2.0-only
"""What a plan asks of each host, as plain data. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from plan.flavor import PARAMETERS, SYSCTLS, Value
from plan.plan import Flavor, Tcp

T = TypeVar("T")
# An earlier trial of the lab may have left other values.
DEFAULTS: Mapping[str, Value] = {name: one.default for name, one in SYSCTLS.items()}


def changes(before: Flavor | None, flavor: Flavor) -> Flavor:
    """The flavor with only what differs from the one before: a write costs a file each."""
    if before is None:
        return flavor
    return replace(
        flavor,
        sysctl=different({**DEFAULTS, **before.sysctl}, {**DEFAULTS, **flavor.sysctl}),
        parameters=different(whole(before.parameters), whole(flavor.parameters)),
    )


def whole(parameters: Mapping[str, int]) -> dict[str, int]:
    """Those of a plan, and those that it does not say because they have their default.

    An earlier trial of the lab may have left another value. A flavor without the module has none.
    """
    later = {name: one.kernels_default for name, one in PARAMETERS.items() if one.later}
    return {**later, **parameters} if parameters else {}


def different(before: Mapping[str, T], after: Mapping[str, T]) -> dict[str, T]:
    """What is not as it was."""
    return {key: value for key, value in after.items() if before.get(key) != value}


def route_metrics(tcp: Tcp, end: str) -> dict[str, int]:
    """The metrics (topology/rtnetlink.py) of the route of an end, "server" or "client".

    Those of the flavor; window and, where the flavor leaves it to the network, ssthresh are the
    plan's.
    """
    of_flavor = {**tcp.flavor.route.get(end, {}), "window": tcp.window_bytes}
    return {
        name.removesuffix("_ms"): tcp.ssthresh_segments if value == "bdp" else int(value)
        for name, value in of_flavor.items()
    }
