# SPDX-License-Identifier: GPL-2.0-only
"""The vm lab with the debug kernel: KASAN, lockdep, PROVE_RCU, four processors, real clock."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from harness.host import paths
from harness.labs.base import LabSpec
from harness.labs.vm import MODULE, VmLab, machine, qemu, share

RECIPE = paths.PROJECT / "lab" / "debug-kernel"
SOURCES = paths.PROJECT / "tcp-configs" / "module"
PROCESSORS = 4
BUILD_S = 4 * 3600
# loglevel: warnings come to the console too.
BOOT_WORDS = (
    "root=image rootfstype=9p rootflags=trans=virtio,version=9p2000.L,msize=262144,cache=loose ro"
    " init=/cellbed-init console=ttyS0 panic=-1 loglevel=5"
    " tsc=reliable cellbed_share=9p"
)
COMPLAINTS = ("BUG:", "WARNING:", "KASAN", "lockdep", "suspicious RCU", "INFO: ", "ODEBUG", "Oops")


def kernel() -> Path:
    """Where the debug kernel is; built first when its recipe has changed (half an hour)."""
    recipe = b"".join(p.read_bytes() for p in sorted(RECIPE.iterdir()))
    place = paths.places()["cache"] / f"debug-kernel-{hashlib.sha256(recipe).hexdigest()[:16]}"
    if not (place / "complete").exists():
        subprocess.run([RECIPE / "build", place], check=True, timeout=BUILD_S)
    return place


def module(built: Path, folder: Path, sources: Path = SOURCES) -> Path:
    """The TCP module for it, compiled in `folder`."""
    command = ["make", "-s", "-C", str(sources), f"KDIR={built / 'build'}", f"OUT={folder}"]
    subprocess.run(command, check=True, timeout=600)
    return folder / MODULE


def complaints(console: str) -> list[str]:
    """Lines in which the kernel's own checks say that something is wrong."""
    return [line for line in console.splitlines() if any(word in line for word in COMPLAINTS)]


class DebugLab(VmLab):
    """QEMU over the lab image and the debug kernel, with the module compiled for it."""

    def __init__(self, spec: LabSpec, run_directory: Path, *, kernel: Path, module: Path) -> None:
        super().__init__(spec, run_directory)
        self.kernel, self.module = kernel, module

    def argv(self) -> list[str]:
        folder = self.run_directory / "programs"
        subprocess.run(["cp", "-r", paths.programs(), folder], check=True, timeout=60)
        subprocess.run(["cp", self.module, folder / MODULE], check=True, timeout=60)
        self.link_host_paths(kernel=self.kernel, programs=folder)
        shares = ["repo", "run", "programs"]
        words = [BOOT_WORDS, *(f"cellbed_{tag}={tag}" for tag in shares)]
        return [
            qemu(),
            *("-accel", "tcg,thread=multi", "-smp", str(PROCESSORS)),
            *machine(self.spec.memory_mib),
            *("-kernel", "host/kernel/vmlinuz"),
            *(word for tag in ("image", *shares) for word in share(tag)),
            *("-append", " ".join([*words, f'cellbed_main="{self.spec.main}"'])),
        ]
