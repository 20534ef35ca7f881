# SPDX-License-Identifier: GPL-2.0-only
"""The `vm` lab of a machine with an ARM64 processor, which QEMU emulates on every host."""

from __future__ import annotations

from harness.labs.hardware import ARM64
from harness.labs.vm import VmLab


class VmArm64Lab(VmLab):
    """QEMU over the image, the kernel and the programs for ARM64."""

    arch = "arm64"
    hardware = ARM64

    def real_clock(self) -> tuple[str, ...]:
        return ("-accel", "tcg,thread=multi", "-smp", "2")


LAB = VmArm64Lab
