# SPDX-License-Identifier: GPL-2.0-only
"""Examines the machine: what it can do, what is missing, how to get it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import asdict, dataclass

from harness.host import capacity, paths
from harness.host import memory as memory_place
from harness.labs import LabSpec, native, processors, vm
from harness.labs.hardware import ARM64, X86_64, Hardware
from harness.labs.session import session
from harness.labs.supervised import wait_for_exit
from plan.errors import CellbedError, LabError

DISK_MIB = 3000
# Of personality(2).
ADDR_NO_RANDOMIZE = 0x0040000
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
    own = {"uml": uml_needs, "vm": vm_needs, "native": native_needs}
    own[processors.OF_ARM64] = vm_arm64_needs
    made = products("arm64" if lab == processors.OF_ARM64 else "")
    found = [machine(lab), memory(), disk(), shared_memory(), labs_at_once(), *made, *own[lab]()]
    if not any(finding.state == "missing" for finding in found):
        found.append(boots(lab))
    return found


def machine(lab: str = "uml") -> Finding:
    """x86-64 Linux: what set-up makes is built for it. QEMU has a processor of its own."""
    system = f"{platform.machine()} {platform.system()} {platform.release()}"
    fitting = ("x86_64", "aarch64") if lab == processors.OF_ARM64 else ("x86_64",)
    fits = platform.machine() in fitting and platform.system() == "Linux"
    remedy = "" if fits else "the labs need x86-64 Linux"
    detail = f"{system}, {os.cpu_count()} cores"
    return Finding(what="machine", state="ok" if fits else "missing", detail=detail, remedy=remedy)


def memory() -> Finding:
    """Memory that can be had now, against what one lab touches."""
    available = capacity.available_mib()
    remedy = f"a lab of 100 pairs touches up to {memory_place.PER_LAB_MIB} MiB"
    detail = f"{available} MiB available"
    return room("memory", available, memory_place.PER_LAB_MIB, detail, remedy)


def labs_at_once() -> Finding:
    """How many labs ./cellbed run has at a time, and what there is not more of."""
    found = capacity.capacity()
    detail = f"{found.labs} at a time, by {found.bound}; --jobs changes this"
    return Finding(what="labs", state="ok", detail=detail)


def disk() -> Finding:
    """Room for what set-up makes."""
    cache = paths.places()["cache"]
    existing = next(p for p in (cache, *cache.parents) if p.exists())
    free = shutil.disk_usage(existing).free // 2**20
    remedy = f"set-up needs {DISK_MIB} MiB; CELLBED_CACHE names another place"
    return room("disk", free, DISK_MIB, f"{free} MiB free at {existing}", remedy)


def shared_memory() -> Finding:
    """A lab's memory is a file; in RAM it is fast."""
    found = memory_place.place()
    why = f" ({found.passed})" if found.passed else ""
    detail = f"{found.free_mib} MiB free at {found.path}{why}"
    remedy = f"{memory_place.PER_LAB_MIB} MiB a lab; TMPDIR names another place"
    if found.unfit:
        detail = f"{found.path}: {found.unfit}{why}"
        return Finding(what="lab memory", state="missing", detail=detail, remedy=remedy)
    return room("lab memory", found.free_mib, memory_place.PER_LAB_MIB, detail, remedy)


def room(what: str, there_mib: int, needed_mib: int, detail: str, remedy: str) -> Finding:
    """Is there as much of something as is needed?"""
    if there_mib >= needed_mib:
        return Finding(what=what, state="ok", detail=detail)
    return Finding(what=what, state="missing", detail=detail, remedy=remedy)


def products(arch: str = "") -> list[Finding]:
    """What set-up makes."""
    setup = f"./cellbed setup {paths.OPTIONS[arch]}".strip()
    found = [
        product("lab image", "image", setup, arch),
        product("lab programs", "programs", setup, arch),
        product("environment", "environment", setup),
    ]
    return found if arch else [*found, quic()]


def quic() -> Finding:
    """What set-up leaves to the first trial that needs it."""
    path = paths.places()["quic"]
    there = path.exists()
    detail = str(path) if there else "not there: the first trial with QUIC downloads them (5 MB)"
    return Finding(what="QUIC packages", state="ok" if there else "note", detail=detail)


def product(what: str, name: str, remedy: str, arch: str = "") -> Finding:
    """One thing that set-up makes, by its name in lab/paths."""
    path = paths.product(name, arch)
    if path.exists():
        return Finding(what=what, state="ok", detail=str(path))
    return Finding(what=what, state="missing", detail=str(path), remedy=remedy)


def uml_needs() -> list[Finding]:
    """The kernel that set-up builds; nothing else."""
    return [product("lab kernel", "kernel", "./cellbed setup"), layout()]


def layout() -> Finding:
    """Does a process get the addresses that the lab's kernel asks for, the same each time?

    Most containers refuse. No record was seen to differ by it, and nothing else would tell.
    """
    what, argv = "addresses", ["setarch", "-R", "cat", "/proc/self/personality"]
    if shutil.which(argv[0]) is None:
        detail = f"not known: the program {argv[0]} is not there"
        return Finding(what=what, state="note", detail=detail)
    got = subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
    if got and int(got, 16) & ADDR_NO_RANDOMIZE:
        detail = "programs get the same memory addresses in each run"
        return Finding(what=what, state="ok", detail=detail)
    detail = "random, since personality() is refused here, as in most containers"
    return Finding(what=what, state="note", detail=detail)


def vm_needs() -> list[Finding]:
    """QEMU and the stock kernel; KVM only where it runs a guest, and only for the real clock."""
    found = stock_needs(X86_64)
    if all(finding.state == "ok" for finding in found):
        runs = vm.kvm_works()
        detail = "runs a guest" if runs else "runs no guest here: slower with --clock real"
        found.append(Finding(what="KVM", state="ok" if runs else "note", detail=detail))
    return found


def vm_arm64_needs() -> list[Finding]:
    """QEMU and the stock kernel for ARM64."""
    return stock_needs(ARM64, "arm64")


def stock_needs(hardware: Hardware, arch: str = "") -> list[Finding]:
    """An emulator, and Debian's kernel for what it emulates."""
    there = shutil.which(hardware.qemu)
    emulator = Finding(
        what="QEMU",
        state="ok" if there else "missing",
        detail=there or hardware.qemu,
        remedy="" if there else hardware.setup,
    )
    return [product("stock kernel", "vm", hardware.setup, arch), emulator]


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
    if native.made_module():
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
            bounded = getattr(booted, "bounded", False)
            wait_for_exit(booted, BOOT_LIMIT_CPU_S)
            if booted.poll() != 0:
                raise LabError(f"ended with status {booted.poll()}", booted.console())
    except CellbedError as error:
        said = [str(error), *getattr(error, "console", "").strip().splitlines()[-1:]]
        return Finding(what=f"{lab} lab", state="missing", detail="; ".join(said))
    if lab != "uml":
        return Finding(what=f"{lab} lab", state="ok", detail="boots")
    if bounded:
        return Finding(what="uml lab", state="ok", detail="boots, within its boundary")
    detail = "boots, with no boundary around it: what runs in it has your rights"
    return Finding(what="uml lab", state="note", detail=detail, remedy="SECURITY.md")
