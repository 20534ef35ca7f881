# SPDX-License-Identifier: GPL-2.0-only
"""The `native` lab: this machine's own kernel, real time, as root.

The lab image runs in namespaces of its own (network, mounts, processes): its Open vSwitch,
its sysctls, its devices are not the machine's, and all go when its first process does,
whatever ends that. One thing is the machine's: the TCP module. It is taken out again
when this lab has put it in, and by `./cellbed clean` when the lab could not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from harness.host import owner, paths
from harness.labs import stock
from harness.labs.supervised import AGENT, SupervisedLab
from plan.errors import MissingError, UsageError

ENTER = "lab/native/enter"
MODULE = "cellbed_tcp"
MODULE_STATE = Path("/sys/module") / MODULE
# Says which process has put the module in, as long as it is in.
MODULE_MARK = Path("/run/cellbed-module")
# The last namespaces are taken apart in the background and hold the module until then.
TAKE_OUT_S = 10.0
# reboot(2) in a process namespace ends its first process with SIGINT.
POWERED_OFF = 130
MODINFO = Path("/usr/sbin/modinfo")


class NativeLab(SupervisedLab):
    """The lab image in namespaces of this machine."""

    _has_module = False

    def told(self) -> list[str]:
        return [(paths.PROJECT / ENTER).read_text(), self.spec.main or AGENT]

    def kernel_identity(self) -> str:
        return f"{os.uname().release} {os.uname().version}"

    def argv(self) -> list[str]:
        if self.spec.isolated:
            raise MissingError(
                "the native lab does not protect this machine: its root is your root; use --lab vm"
            )
        if self.spec.clock != "real":
            raise UsageError("the native lab has only this machine's clock; use --clock real")
        if os.geteuid() != 0:
            raise MissingError("the native lab needs root; run sudo ./cellbed ... --lab native")
        claim_module()
        self._has_module = True
        self.link_host_paths(programs=self.own_programs())
        (self.run_directory / "outer-net").symlink_to(os.readlink("/proc/self/ns/net"))
        return [
            *("/usr/bin/unshare", "--mount", "--net", "--pid", "--fork", "--ipc", "--uts"),
            "--kill-child",
            *(str(paths.PROJECT / ENTER), str(self.run_directory), self.spec.main or AGENT),
        ]

    def own_programs(self) -> Path:
        """The lab's programs, with the TCP module for the kernel that runs."""
        folder = self.run_directory / "programs"
        stock.copy_programs(paths.programs(), folder)
        module = made_module()
        if module is None:
            build_module(self.run_directory / "module")
            module = self.run_directory / "module" / f"{MODULE}.ko"
        shutil.copyfile(module, folder / module.name)
        return folder

    def poll(self) -> int | None:
        status = super().poll()
        return 0 if status == POWERED_OFF else status

    def kill(self) -> None:
        super().kill()
        if self._has_module:
            self._has_module = False
            if stays := take_out_module():
                print(f"cellbed: {stays}; ./cellbed clean tries again", file=sys.stderr)


LAB = NativeLab


def made_module() -> Path | None:
    """The TCP module that set-up has made for the kernel that runs, if it has made one.

    Where Debian's stock kernel runs the vm lab's is such a one.
    """
    places = paths.places()
    made = (places[product] / f"{MODULE}.ko" for product in ("programs", "vm"))
    return next((module for module in made if fits(module)), None)


def fits(module: Path) -> bool:
    """Is a module built for the kernel that runs?"""
    if not MODINFO.exists():
        raise MissingError(f"{MODINFO} does not exist; run ./cellbed setup --native")
    argv = [str(MODINFO), "-F", "vermagic", str(module)]
    said = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600).stdout
    return said.split()[:1] == [os.uname().release]


def headers() -> Path:
    """Where the running kernel's headers are when they are installed."""
    return Path("/lib/modules") / os.uname().release / "build"


def build_module(output: Path) -> None:
    """Build the TCP module for the kernel that runs."""
    if not headers().exists():
        raise MissingError(f"{headers()} does not exist; run ./cellbed setup --native")
    source = paths.PROJECT / "tcp-configs" / "module"
    argv = ["make", "-s", "-C", str(source), f"KDIR={headers()}", f"OUT={output}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise MissingError(
            f"the module {MODULE} does not build: {done.stderr.strip().splitlines()[-1:]}"
        )


def claim_module() -> None:
    """Note that the module will be this process's; MissingError when it is another's."""
    claimed = module_owner()
    others = owner.alive(claimed) and claimed != owner.this_process()
    if MODULE_STATE.exists() or others:
        raise MissingError(
            f"the module {MODULE} is loaded already: another native lab runs, or one was killed"
            " (then run sudo ./cellbed clean)"
        )
    MODULE_MARK.write_text(owner.this_process())


def module_owner() -> str:
    """The process that has claimed the module, or nothing."""
    return MODULE_MARK.read_text() if MODULE_MARK.exists() else ""


def left_module() -> bool:
    """Has a lab whose owner is gone left the module, and may this user take it out?"""
    return os.geteuid() == 0 and MODULE_MARK.exists() and not owner.alive(module_owner())


def take_out_module() -> str:
    """Remove the module; returns why it is still there, or nothing. The mark goes with it."""
    end = time.monotonic() + TAKE_OUT_S
    while MODULE_STATE.exists():
        argv = ["/usr/sbin/rmmod", MODULE]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)
        if done.returncode != 0 and time.monotonic() > end:
            return f"module {MODULE} stays: {done.stderr.strip() or 'rmmod failed'}"
        time.sleep(0.1)
    MODULE_MARK.unlink(missing_ok=True)
    return ""
