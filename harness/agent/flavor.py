# SPDX-License-Identifier: GPL-2.0-only
"""Gives the current network namespace a TCP flavor, and reads back that it has it.

The sysctls of a flavor belong to a network namespace; what a route carries (initial
window, quick ACKs, ssthresh) is set by who makes the route. Standard library only.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from harness.agent.procfs import SYSCTL_BYTES, close, text
from plan.plan import Flavor

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
    files: dict[str, int] = {}
    try:
        _open(flavor, wanted, root, files)
        return {name: _set(flavor, file, name, wanted[name]) for name, file in files.items()}
    finally:
        close([*files.values()])


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


def _open(flavor: Flavor, wanted: Iterable[str], root: Path, files: dict[str, int]) -> None:
    """Open each file to be set, into `files`: opening all first finds what is missing."""
    available = text(root / "tcp_available_congestion_control", SYSCTL_BYTES).split()
    if flavor.congestion not in available:
        raise FlavorError(
            f"flavor {flavor.name}: this kernel has no congestion control"
            f" {flavor.congestion} but {', '.join(available)}; load the module"
            f" {flavor.module or 'tcp_' + flavor.congestion}, or correct the name that it registers"
        )
    folder = os.open(root, os.O_PATH)
    try:
        for name in wanted:
            files[name] = os.open(name, os.O_RDWR, dir_fd=folder)
    except FileNotFoundError:
        message = f"flavor {flavor.name}: this kernel has no sysctl net.ipv4.{_dotted(name)}"
        raise FlavorError(message) from None
    finally:
        os.close(folder)


def put(file: int, value: str) -> list[str]:
    """Write a value and read it back, in words: two system calls, which are dear in some labs."""
    os.pwrite(file, value.encode(), 0)
    return os.pread(file, SYSCTL_BYTES, 0).decode().split()


def _set(flavor: Flavor, file: int, name: str, value: str) -> str:
    try:
        found = put(file, value)
    except OSError as error:
        raise FlavorError(
            f"flavor {flavor.name}: the kernel refused net.ipv4.{_dotted(name)} = {value}:"
            f" {error.strerror}"
        ) from None
    if found != value.split():
        raise FlavorError(
            f"flavor {flavor.name}: net.ipv4.{_dotted(name)} = {value}:"
            f" the kernel changed this value to {' '.join(found)}"
        )
    return " ".join(found)


def _dotted(name: str) -> str:
    return name.replace("/", ".")
