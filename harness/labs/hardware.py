# SPDX-License-Identifier: GPL-2.0-only
"""The machines that QEMU emulates for the labs with Debian's stock kernel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """A kind of machine.

    Attributes:
        qemu: the program that emulates it.
        machine, cpu: its words for -machine and -cpu.
        boot_words: what its kernel is told.
        events: its words for the serial port by which a sealed lab's events leave.
        events_port: the name that its kernel gives to this port.
        setup: the command that installs what it needs.
    """

    qemu: str
    machine: str
    cpu: str
    boot_words: str
    events: tuple[str, str]
    events_port: str
    setup: str


X86_64 = Hardware(
    qemu="qemu-system-x86_64",
    machine="q35",
    # Without CMPXCHG16B: a guest under QEMU 7.2 died of a double fault behind one in its memory
    # allocator, with half a pointer in the flags.
    cpu="max,-cx16",
    # The TSC of TCG is exact, but nothing tells the guest; without this the guest may fall
    # back to a clock that costs a device access a reading.
    boot_words="console=ttyS0 panic=-1 quiet tsc=reliable mitigations=off",
    events=("-serial", "chardev:events"),
    events_port="/dev/ttyS1",
    setup="./cellbed setup --vm",
)
ARM64 = Hardware(
    qemu="qemu-system-aarch64",
    machine="virt",
    # The counter of its clock counts ns; QEMU's default counts steps of 16 ns.
    # A processor of QEMU's own ("max") has features whose emulation takes long, such as signed
    # pointers.
    cpu="cortex-a72,cntfrq=1000000000",
    boot_words="console=ttyAMA0 panic=-1 quiet mitigations=off",
    events=("-device", "pci-serial,chardev=events"),
    events_port="/dev/ttyS0",
    setup="./cellbed setup --vm --arch arm64",
)
