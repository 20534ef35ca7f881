# SPDX-License-Identifier: GPL-2.0-only
"""Gives the current network namespace a TCP flavor, and reads back that it has it.

The sysctls of a flavor belong to a network namespace; what a route carries (initial
window, quick ACKs, ssthresh) is set by who makes the route. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.plan import Flavor

ROOT = Path("/proc/sys/net/ipv4")
CONTROL = "tcp_congestion_control"


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
    wanted = settings(flavor)
    _check_present(flavor, wanted, root)
    for name, value in wanted.items():
        _write(flavor, root, name, value)
    return {name: _read_back(flavor, root, name, value) for name, value in wanted.items()}


def settings(flavor: Flavor) -> dict[str, str]:
    """What a flavor sets: names relative to net.ipv4, values as the kernel prints them."""
    wanted = {name: str(value) for name, value in flavor.sysctl.items()}
    wanted |= {f"cellbed/{name}": str(value) for name, value in flavor.parameters.items()}
    wanted[CONTROL] = flavor.congestion
    return wanted


def _check_present(flavor: Flavor, wanted: Mapping[str, str], root: Path) -> None:
    available = (root / "tcp_available_congestion_control").read_text().split()
    if flavor.congestion not in available:
        raise FlavorError(
            f"flavor {flavor.name}: no congestion control {flavor.congestion} in this"
            f" kernel: load module {flavor.module or 'tcp_' + flavor.congestion}"
        )
    for name in wanted:
        if not (root / name).exists():
            raise FlavorError(f"flavor {flavor.name}: no sysctl net.ipv4.{_dotted(name)}")


def _write(flavor: Flavor, root: Path, name: str, value: str) -> None:
    try:
        (root / name).write_text(value)
    except OSError as error:
        raise FlavorError(
            f"flavor {flavor.name}: net.ipv4.{_dotted(name)} = {value}: {error.strerror}"
        ) from None


def _read_back(flavor: Flavor, root: Path, name: str, value: str) -> str:
    found = (root / name).read_text()
    if found.split() != value.split():
        raise FlavorError(
            f"flavor {flavor.name}: net.ipv4.{_dotted(name)} = {value}:"
            f" the kernel keeps {' '.join(found.split())}"
        )
    return " ".join(found.split())


def _dotted(name: str) -> str:
    return name.replace("/", ".")
