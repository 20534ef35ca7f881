# SPDX-License-Identifier: GPL-2.0-only
"""The `vm` lab of a machine with an ARM64 processor, which QEMU emulates on every host.

QEMU counts one instruction as 1 ns, and cannot count less. A kernel on such a processor was late
with more than 2 % of the packets. So the kernel is told that the counter of its clock, which
counts QEMU's nanoseconds, counts INSTRUCTIONS_PER_NS times as fast as it does. Then each second of
the lab's clock has that many thousand million instructions.
"""

from __future__ import annotations

import subprocess

from harness.labs import device_tree
from harness.labs.hardware import ARM64
from harness.labs.vm import VmLab, machine, qemu
from plan.errors import LabError

COUNTER_HZ = 1_000_000_000
INSTRUCTIONS_PER_NS = 4
DECLARED_HZ = INSTRUCTIONS_PER_NS * COUNTER_HZ
TREE = "machine.dtb"


class VmArm64Lab(VmLab):
    """QEMU over the image, the kernel and the programs for ARM64."""

    arch = "arm64"
    hardware = ARM64

    def argv(self) -> list[str]:
        argv = super().argv()
        if self.spec.clock != "virtual":
            return argv
        tree = device_tree.with_number(self.tree(), "timer", "clock-frequency", DECLARED_HZ)
        (self.run_directory / TREE).write_bytes(tree)
        return [*argv, "-dtb", TREE]

    def tree(self) -> bytes:
        """The device tree that QEMU makes for the machine, without random numbers."""
        path = self.run_directory / "qemu.dtb"
        words = machine(self.spec.memory_mib, self.hardware)
        name = words.index("-machine") + 1
        words[name] += f",dtb-randomness=off,dumpdtb={path.name}"
        argv = [qemu(self.hardware), *words, "-smp", "1"]
        done = subprocess.run(
            argv,
            cwd=self.run_directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if not path.exists():
            raise LabError(f"QEMU wrote no device tree: {done.stderr.strip()}")
        return path.read_bytes()

    def told(self) -> list[str]:
        clock = [f"clock-frequency {DECLARED_HZ}"] if self.spec.clock == "virtual" else []
        return [*super().told(), *clock]

    def kernel_identity(self) -> str:
        return f"{super().kernel_identity()}, {INSTRUCTIONS_PER_NS} instructions a virtual ns"

    def real_clock(self) -> tuple[str, ...]:
        return ("-accel", "tcg,thread=multi", "-smp", "2")


LAB = VmArm64Lab
