# SPDX-License-Identifier: GPL-2.0-only
"""The `native` lab: this machine's own kernel, real time, as root.

The lab image runs in namespaces of its own (network, mounts, processes): its Open vSwitch,
its sysctls, its devices are not the machine's, and all go when its first process does,
whatever ends that. One thing is the machine's: the TCP module. It is taken out again
when this lab has put it in, and by `./cellbed clean` when a killed run could not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from harness import paths
from harness.errors import MissingError, UsageError
from harness.labs.supervised import AGENT, SupervisedLab

ENTER = "lab/native/enter"
MODULE = "cellbed_tcp"
MODULE_STATE = Path("/sys/module") / MODULE
# In the run directory while the module is this lab's.
MODULE_MARK = "put-in-module"
# reboot(2) in a process namespace ends its first process with SIGINT.
POWERED_OFF = 130


class NativeLab(SupervisedLab):
    """The lab image in namespaces of this machine."""

    def told(self) -> list[str]:
        return [(paths.PROJECT / ENTER).read_text(), self.spec.main or AGENT]

    def kernel_identity(self) -> str:
        return f"{os.uname().release} {os.uname().version}"

    def argv(self) -> list[str]:
        if self.spec.clock != "real":
            raise UsageError("the native lab has only the machine's clock: --clock real")
        if os.geteuid() != 0:
            raise MissingError("the native lab needs root: sudo ./cellbed run --lab native ...")
        if MODULE_STATE.exists():
            raise MissingError(
                f"module {MODULE} is loaded: another native lab runs, or one was killed"
                " (./cellbed clean)"
            )
        self.link_host_paths(programs=self.own_programs())
        (self.run_directory / "outer-net").symlink_to(os.readlink("/proc/self/ns/net"))
        (self.run_directory / MODULE_MARK).touch()
        return [
            *("/usr/bin/unshare", "--mount", "--net", "--pid", "--fork", "--ipc", "--uts"),
            "--kill-child",
            *(str(paths.PROJECT / ENTER), str(self.run_directory), self.spec.main or AGENT),
        ]

    def own_programs(self) -> Path:
        """The lab's programs, with the TCP module for the kernel that runs."""
        folder = self.run_directory / "programs"
        shutil.copytree(paths.programs(), folder)
        ours = folder / f"{MODULE}.ko"
        if not fits(ours):
            build_module(self.run_directory / "module")
            shutil.copyfile(self.run_directory / "module" / ours.name, ours)
        return folder

    def poll(self) -> int | None:
        status = super().poll()
        return 0 if status == POWERED_OFF else status

    def kill(self) -> None:
        super().kill()
        take_out_module(self.run_directory)


def fits(module: Path) -> bool:
    """Is a module built for the kernel that runs?"""
    argv = ["/usr/sbin/modinfo", "-F", "vermagic", str(module)]
    said = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600).stdout
    return said.split()[:1] == [os.uname().release]


def headers() -> Path:
    """Where the running kernel's headers are when they are installed."""
    return Path("/lib/modules") / os.uname().release / "build"


def build_module(output: Path) -> None:
    """Build the TCP module for the kernel that runs."""
    if not headers().exists():
        raise MissingError(f"{headers()}: not there; run ./cellbed setup --native")
    source = paths.PROJECT / "tcp-configs" / "module"
    argv = ["make", "-s", "-C", str(source), f"KDIR={headers()}", f"OUT={output}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise MissingError(f"building {MODULE}: {done.stderr.strip().splitlines()[-1:]}")


def take_out_module(run_directory: Path) -> None:
    """Remove the TCP module when the lab of this run directory put it in."""
    mark = run_directory / MODULE_MARK
    if not mark.exists():
        return
    if MODULE_STATE.exists():
        # The last namespaces are taken apart in the background and hold it until then.
        argv = ["/usr/sbin/rmmod", MODULE]
        for _ in range(100):
            if subprocess.run(argv, capture_output=True, check=False, timeout=600).returncode == 0:
                break
            time.sleep(0.1)
    mark.unlink()
