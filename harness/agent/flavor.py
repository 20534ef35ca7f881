# SPDX-License-Identifier: GPL-2.0-only
"""Gives the current network namespace a TCP flavor, and reads back that it has it.

The sysctls of a flavor belong to a network namespace; what a route carries (initial
window, quick ACKs, ssthresh) is set by who makes the route. Standard library only.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.agent import sysctls
from harness.agent.procfs import SYSCTL_BYTES, text
from plan.plan import Flavor

ROOT = sysctls.ROOT
CONTROL = "tcp_congestion_control"
# Congestion controls that a kernel had when it was last asked. The list is one for all namespaces.
_available: set[tuple[str, Path]] = set()


class FlavorError(RuntimeError):
    """A flavor that this kernel does not take; one line."""


def apply(flavor: Flavor, root: Path = ROOT) -> dict[str, str]:
    """Set a flavor's sysctls, parameters and congestion control in this namespace.

    Args:
        flavor: of a plan.
        root: net.ipv4 in the file system.

    Returns:
        Every name set, relative to net.ipv4, with the value read back.

    Raises:
        FlavorError: the kernel lacks a sysctl or the congestion control, refuses a value
            or keeps another one. Nothing has been written when something is missing.
    """
    _require_control(flavor, root)
    wanted = settings(flavor)
    try:
        found = sysctls.put(wanted, root)
    except sysctls.MissingError as error:
        raise FlavorError(
            f"flavor {flavor.name}: this kernel has no sysctl net.ipv4.{_dotted(error.name)}"
        ) from None
    except sysctls.RefusedError as error:
        raise FlavorError(
            f"flavor {flavor.name}: the kernel refused net.ipv4.{_dotted(error.name)} ="
            f" {wanted[error.name]}: {error.strerror}"
        ) from None
    for name, value in wanted.items():
        if found.get(name, "").split() != value.split():
            raise FlavorError(
                f"flavor {flavor.name}: net.ipv4.{_dotted(name)} = {value}:"
                f" the kernel changed this value to {found.get(name)}"
            )
    return found


def held(flavor: Flavor, root: Path = ROOT) -> Flavor:
    """The part of a flavor that this namespace has without being told."""
    found = {
        name for name, value in settings(flavor).items()
        if (root / name).exists() and text(root / name, SYSCTL_BYTES).split() == value.split()
    }  # fmt: skip
    return replace(
        flavor,
        sysctl={name: v for name, v in flavor.sysctl.items() if name in found},
        parameters={name: v for name, v in flavor.parameters.items() if f"cellbed/{name}" in found},
    )


def settings(flavor: Flavor) -> dict[str, str]:
    """What a flavor sets: names relative to net.ipv4, values as the kernel prints them."""
    wanted = {name: str(value) for name, value in flavor.sysctl.items()}
    wanted |= {f"cellbed/{name}": str(value) for name, value in flavor.parameters.items()}
    wanted[CONTROL] = flavor.congestion
    return wanted


def _require_control(flavor: Flavor, root: Path) -> None:
    if (flavor.congestion, root) in _available:
        return
    available = text(root / "tcp_available_congestion_control", SYSCTL_BYTES).split()
    if flavor.congestion not in available:
        raise FlavorError(
            f"flavor {flavor.name}: this kernel has no congestion control"
            f" {flavor.congestion} but {', '.join(available)}; load the module"
            f" {flavor.module or 'tcp_' + flavor.congestion}, or correct the name that it registers"
        )
    _available.add((flavor.congestion, root))


def _dotted(name: str) -> str:
    return name.replace("/", ".")
