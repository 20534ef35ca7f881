# SPDX-License-Identifier: GPL-2.0-only
"""The `uml` lab: User-Mode Linux in virtual or real time, without root."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from harness.growing import Growing
from harness.host import paths
from harness.labs import debugger
from harness.labs.base import MODULES, LabSpec
from harness.labs.standstill import StandstillWatch, look_into
from harness.labs.supervised import AGENT, CLOCK_TICK, SupervisedLab, wait_for_exit
from plan import struct_ops
from plan.errors import LabError

__all__ = ["UmlLab", "wait_for_exit"]

# 2020-01-01: any fixed moment does; it keeps the host's clock out of a run.
START_NS = 1_577_836_800 * 1_000_000_000
HOST = "/proc/self/cwd/host"
# The checkout's folders of which something runs in labs; tests bring programs of their own.
IN_LAB = ("bpf", "harness", "plan", "tests", "topology", "workload")
LOADER = "/lib64/ld-linux-x86-64.so.2"
LIBRARY_FOLDERS = [Path("/lib/x86_64-linux-gnu"), Path("/lib64"), Path("/usr/lib64")]
# Before version 2.34 it was in several files.
C_LIBRARY = ["libc.so.6", "libpthread.so.0", "librt.so.1", "libdl.so.2", "libutil.so.1"]
# What the kernel says when the host's process behind one of its own is gone. It takes that for a
# fault of its process and goes on. These are names of its functions, the last four of patch 0024.
KILLED = re.compile(
    rb"(?:userspace|wait_stub_done|set_registers|run_program|wait_for_call|stop_in_call) ?[-:] "
)
# What it says before that where the host refused a program of the lab memory (ENOMEM).
REFUSED = "Error flushing stub syscalls: 12"
# The kernel would choose 6 MiB of tables for 4 GiB. A lab has some thousand names of files, which
# are spread over all pages of a table: none would be zero.
SMALL_TABLES = "dhash_entries=16384 ihash_entries=16384"
MOST_AREAS = Path("/proc/sys/vm/max_map_count")


class UmlLab(SupervisedLab):
    """User-Mode Linux over the lab image."""

    one_core = True
    # Linux 7 wants them, and else starts anew the program that it finds in /proc: within a boundary
    # there is none. Others put the lab's memory after their heap, and describe all pages from their
    # code to there: at other addresses, up to 1 GiB more.
    fixed_addresses = True

    def __init__(self, spec: LabSpec, run_directory: Path) -> None:
        super().__init__(spec, run_directory)
        self._console = Growing(self.run_directory / "console.log")
        self._watch = StandstillWatch(self.ticks, 1 / CLOCK_TICK)
        self._glanced: dict[int, int] = {}

    @property
    def exact(self) -> bool:
        return self.spec.clock == "virtual"

    def told(self) -> list[str]:
        return self.command_line()

    def kernel_identity(self) -> str:
        folder = self.spec.kernel or paths.places()["kernel"]
        return paths.content(folder / "linux", *added(folder))

    def damage(self) -> str:
        try:
            for line in self._console.lines():
                if KILLED.match(line):
                    return explain(line.decode(errors="replace").strip())
        except (OSError, ValueError) as error:
            raise LabError(f"the lab's console cannot be read: {error}") from error
        return ""

    def standstill(self) -> str:
        return self._watch.look() if self.exact else ""

    def glance(self) -> tuple[float, str]:
        before, self._glanced = self._glanced, self.ticks()
        return look_into(self._glanced, before)

    def argv(self) -> list[str]:
        # The kernel mixes its command line into its entropy: with the host's paths in it,
        # the same seed would draw differently in every folder.
        if self.spec.kernel is None:
            self._targets = self.link_host_paths(linux=paths.kernel())
        else:
            programs = self.own_programs(self.spec.kernel)
            linux = self.spec.kernel / "linux"
            self._targets = self.link_host_paths(linux=linux, programs=programs)
        return self.command_line()

    def boot(self) -> None:
        super().boot()
        if self.spec.gdb:
            linux = self._targets["linux"].resolve()
            debugger.wait(self, linux, self.spec.gdb)

    def view(self) -> dict[str, Any]:
        """The image, programs, shares, and of the checkout what runs in labs; its own folder."""
        given = dict(self._targets)
        repo, run = given.pop("repo"), given.pop("run")
        given |= {f"repo/{name}": repo / name for name in IN_LAB if (repo / name).is_dir()}
        return {
            "run": str(run),
            "given": {name: str(path.resolve()) for name, path in given.items()},
            "asked": list(self.spec.shares),
            "libraries": libraries(),
            "memory_mib": self.spec.memory_mib,
        }

    def own_programs(self, kernel: Path) -> Path:
        """The lab's programs, with the modules of another kernel in the place of set-up's."""
        folder = self.run_directory / "programs"
        shutil.copytree(paths.programs(), folder, ignore=shutil.ignore_patterns("*.ko"))
        for module in added(kernel):
            shutil.copyfile(module, folder / module.name)
        return folder

    def modules(self) -> list[str]:
        """Those that there are for its kernel."""
        kernel = self.spec.kernel
        return [name for name in MODULES if kernel is None or (kernel / f"{name}.ko").exists()]

    def command_line(self) -> list[str]:
        """The boot line, relative to the run directory.

        Words that the kernel does not know reach the image's init.
        """
        spec = self.spec
        words = [
            "host/linux",
            f"mem={spec.memory_mib}M",
            # hostfs wants absolute paths; the kernel's process works in the run directory.
            f"root=none rootfstype=hostfs rootflags={HOST}/image/. ro init=/cellbed-init",
            "panic=-1 quiet norandmaps uml_dir=uml umid=lab",
            spec.kernel_words,
            SMALL_TABLES,
            f"entropy-seed={spec.seed}",
            f"cellbed_repo={HOST}/repo/. cellbed_run={HOST}/run/.",
            f"cellbed_programs={HOST}/programs/.",
            *(f"cellbed_{name}={HOST}/{name}/." for name in spec.shares),
        ]
        if spec.terminal is not None:
            words.append("con0=fd:0,fd:1")
        if spec.clock == "virtual":
            words.append(f"time-travel=inf-cpu time-travel-start={START_NS}")
        main = spec.main or AGENT
        return [w for word in words for w in word.split()] + [f'cellbed_main="{main}"']


LAB = UmlLab


def added(kernel: Path) -> list[Path]:
    """The modules of a kernel, and its congestion controls in BPF with what they need."""
    patterns = ("*.ko", f"*{struct_ops.PROGRAM}", struct_ops.CONFIG)
    return [path for pattern in patterns for path in kernel.glob(pattern)]


def explain(damage: str) -> str:
    """What the kernel says of a process that has ended, with what a person can do about it."""
    if REFUSED not in damage:
        return damage
    areas = int(MOST_AREAS.read_text())
    return (
        f"{damage}; this machine's memory is full, or a program of the lab has more than {areas} "
        f"areas of memory: sysctl -w vm.max_map_count={4 * areas} allows more"
    )


@cache
def libraries() -> list[str]:
    """The loader and the C library of this machine, where the loader looks without its cache.

    None where this machine has another C library, such as musl: set-up's kernels are static.
    No kernel is asked what it is linked with: the loader runs what a program names as its auditor,
    even with --list. A lab's kernel is linked with nothing else, or statically.
    """
    names = [folder / name for folder in LIBRARY_FOLDERS for name in C_LIBRARY]
    found = [str(path) for path in names if path.is_file()]
    return [LOADER, *found] if found and Path(LOADER).is_file() else []
