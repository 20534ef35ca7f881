# SPDX-License-Identifier: GPL-2.0-only
"""Examines the machine: what it can do, what is missing, how to get it."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.errors import CellbedError, LabError
from harness.host import paths
from harness.labs import LabSpec, native, vm
from harness.labs.session import session
from harness.labs.supervised import wait_for_exit

MEMORY_PER_LAB_MIB = 1024
DISK_MIB = 3000
POWER_OFF = "cd /cellbed && exec python3 -B -m harness.agent.power_off"
BOOT_LIMIT_CPU_S = 300.0
BOOT_LIMIT_IDLE_S = 120.0


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing looked at: `state` is "ok", "note" or "missing"."""

    what: str
    state: str
    detail: str
    remedy: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)

    def line(self) -> str:
        """For a person, one line."""
        tail = f"  ->  {self.remedy}" if self.remedy else ""
        return f"{self.state:8}{self.what:18}{self.detail}{tail}"


def examine(lab: str) -> list[Finding]:
    """All that a lab needs, in the order in which it is needed; last, whether it boots."""
    own = {"uml": uml_needs, "vm": vm_needs, "native": native_needs}[lab]
    found = [machine(), memory(), disk(), shared_memory(), *products(), *own()]
    if not any(finding.state == "missing" for finding in found):
        found.append(boots(lab))
    return found


def machine() -> Finding:
    """x86-64 Linux: what set-up makes is built for it."""
    system = f"{platform.machine()} {platform.system()} {platform.release()}"
    fits = platform.machine() == "x86_64" and platform.system() == "Linux"
    remedy = "" if fits else "the labs need x86-64 Linux"
    detail = f"{system}, {os.cpu_count()} cores"
    return Finding(what="machine", state="ok" if fits else "missing", detail=detail, remedy=remedy)


def memory() -> Finding:
    """Memory that can be had now, against what one lab touches."""
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    available = int(fields["MemAvailable"].split()[0]) // 1024
    remedy = f"a lab of 100 pairs touches up to {MEMORY_PER_LAB_MIB} MiB"
    return room("memory", available, MEMORY_PER_LAB_MIB, f"{available} MiB available", remedy)


def disk() -> Finding:
    """Room for what set-up makes."""
    cache = paths.places()["cache"]
    existing = next(p for p in (cache, *cache.parents) if p.exists())
    free = shutil.disk_usage(existing).free // 2**20
    remedy = f"set-up needs {DISK_MIB} MiB; CELLBED_CACHE names another place"
    return room("disk", free, DISK_MIB, f"{free} MiB free at {existing}", remedy)


def shared_memory() -> Finding:
    """A lab's memory is a file; in RAM it is fast."""
    place = paths.memory_directory()
    free = shutil.disk_usage(place).free // 2**20
    remedy = f"{MEMORY_PER_LAB_MIB} MiB a lab; TMPDIR names another place"
    return room("lab memory", free, MEMORY_PER_LAB_MIB, f"{free} MiB free at {place}", remedy)


def room(what: str, there_mib: int, needed_mib: int, detail: str, remedy: str) -> Finding:
    """Is there as much of something as is needed?"""
    if there_mib >= needed_mib:
        return Finding(what=what, state="ok", detail=detail)
    return Finding(what=what, state="missing", detail=detail, remedy=remedy)


def products() -> list[Finding]:
    """What set-up makes."""
    names = {"lab image": "image", "lab programs": "programs", "environment": "environment"}
    return [product(what, name, "./cellbed setup") for what, name in names.items()]


def product(what: str, name: str, remedy: str) -> Finding:
    """One thing that set-up makes, by its name in lab/paths."""
    path = paths.places()[name]
    if path.exists():
        return Finding(what=what, state="ok", detail=str(path))
    return Finding(what=what, state="missing", detail=str(path), remedy=remedy)


def uml_needs() -> list[Finding]:
    """The kernel that set-up builds; nothing else."""
    return [product("lab kernel", "kernel", "./cellbed setup")]


def vm_needs() -> list[Finding]:
    """QEMU and the stock kernel; KVM only where it runs a guest, and only for the real clock."""
    setup = "./cellbed setup --vm"
    there = shutil.which(vm.QEMU)
    found = [product("stock kernel", "vm", setup)]
    if there is None:
        found.append(Finding(what="QEMU", state="missing", detail=vm.QEMU, remedy=setup))
    else:
        found.append(Finding(what="QEMU", state="ok", detail=there))
    if all(finding.state == "ok" for finding in found):
        runs = vm.kvm_works()
        detail = "runs a guest" if runs else "runs no guest here: slower with --clock real"
        found.append(Finding(what="KVM", state="ok" if runs else "note", detail=detail))
    return found


def native_needs() -> list[Finding]:
    """Root, and the TCP module for the kernel that runs; booting tries the kernel's features."""
    root = os.geteuid() == 0
    return [
        Finding(
            what="root",
            state="ok" if root else "missing",
            detail="yes" if root else "no",
            remedy="" if root else "sudo ./cellbed doctor --lab native",
        ),
        tcp_module(),
    ]


def tcp_module() -> Finding:
    """Can the TCP module be put in: does it fit or can it be built, and is it not there yet?"""
    what, release = "TCP module", os.uname().release
    if native.MODULE_STATE.exists():
        detail = f"{native.MODULE} is loaded"
        return Finding(what=what, state="missing", detail=detail, remedy="./cellbed clean")
    if native.fits(paths.places()["programs"] / f"{native.MODULE}.ko"):
        return Finding(what=what, state="ok", detail=f"built for {release}")
    if native.headers().exists():
        return Finding(what=what, state="ok", detail=f"to be built with {native.headers()}")
    return Finding(
        what=what,
        state="missing",
        detail=str(native.headers()),
        remedy="./cellbed setup --native",
    )


def boots(lab: str) -> Finding:
    """Boot the lab and let it power off at once."""
    clock = "real" if lab == "native" else "virtual"
    try:
        spec = LabSpec(pairs=0, clock=clock, main=POWER_OFF, hang_idle_s=BOOT_LIMIT_IDLE_S)
        with session(lab, spec) as booted:
            wait_for_exit(booted, BOOT_LIMIT_CPU_S)
            if booted.poll() != 0:
                raise LabError(f"ended with status {booted.poll()}", booted.console())
    except CellbedError as error:
        said = [str(error), *getattr(error, "console", "").strip().splitlines()[-1:]]
        return Finding(what=f"{lab} lab", state="missing", detail="; ".join(said))
    return Finding(what=f"{lab} lab", state="ok", detail="boots")
