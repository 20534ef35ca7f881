# SPDX-License-Identifier: GPL-2.0-only
"""What a script finds of its lab's kernel where Debian has it: modules, control groups, tracing."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from harness.agent.events import RUN
from harness.scripts.job import BUILT_IN, CONFIG, KILLED
from topology.run import CommandError, run

# Loading these makes devices, or sets what is asked for; built in, they have not (products.WORDS).
LOADED = ("bonding", "dummy", "ifb", "tcp_probe")
LOAD = "/usr/lib/cellbed/load"
REQUESTS = Path("/sys/kernel/tracing/instances/cellbed")  # a script may use the rest of tracing
REQUEST = re.compile(r" module_request: (\S+) ")
GROUPS = Path("/sys/fs/cgroup")
# The hierarchies of control groups, version 1, that a systemd would have mounted.
HIERARCHIES = ("cpu,cpuacct", "cpuset", "devices", "freezer", "memory", "net_cls,net_prio", "pids")
TRACING = {"debugfs": Path("/sys/kernel/debug"), "tracefs": Path("/sys/kernel/tracing")}


def show() -> None:
    """Make all of it that this kernel has."""
    mount_control_groups()
    for kind, place in TRACING.items():
        if place.is_dir():
            mount(kind, kind, place)
    if (RUN / BUILT_IN[0]).exists():
        describe_modules()
        watch_requests()


def describe_modules() -> None:
    """Let modprobe, modinfo and scripts that look for modules know what is built in.

    Of LOADED it is not told: for them modprobe does what loading would do.
    """
    release = os.uname().release
    folder = Path("/lib/modules", release)
    folder.mkdir(parents=True)
    for module in Path("/opt/cellbed").glob("*.ko"):
        shutil.copy(module, folder)
    names = (RUN / BUILT_IN[0]).read_text().splitlines(keepends=True)
    told = [name for name in names if Path(name.strip()).stem not in LOADED]
    (folder / BUILT_IN[0]).write_text("".join(told))
    shutil.copy(RUN / BUILT_IN[1], folder)
    run(["depmod", release])
    lines = [f"install {kind} {LOAD} {kind} $CMDLINE_OPTS\n" for kind in LOADED]
    Path("/etc/modprobe.d/cellbed.conf").write_text("".join(lines))
    Path("/boot").mkdir(exist_ok=True)
    shutil.copy(RUN / CONFIG, f"/boot/config-{release}")


def watch_requests() -> None:
    """Let the kernel note which modules it is asked for, and start no process for each.

    Open vSwitch asks for a device that was deleted, hundreds of times while a network stops.
    """
    REQUESTS.mkdir()
    (REQUESTS / "events/module/module_request/enable").write_text("1")
    Path("/proc/sys/kernel/modprobe").write_text("/nonexistent")


def requested() -> list[str]:
    """The modules that the kernel was asked for and has not, each once, the first first."""
    trace = REQUESTS / "trace"
    return list(dict.fromkeys(REQUEST.findall(trace.read_text()))) if trace.exists() else []


def killed() -> list[str]:
    """The names of the processes that this kernel killed because its memory was full, each once."""
    said = run(["dmesg"])
    return list(dict.fromkeys(KILLED.findall(said)))


def mount_control_groups() -> None:
    """Version 1, which Mininet's CPULimitedHost needs, and version 2 without controllers."""
    if not GROUPS.is_dir():
        return
    mount("tmpfs", "cgroup", GROUPS, "mode=755")
    for controllers in HIERARCHIES:
        place = GROUPS / controllers
        place.mkdir()
        try:
            mount("cgroup", "cgroup", place, controllers)
        except CommandError:  # Debian's kernel in the vm lab lacks some
            place.rmdir()
            continue
        for one in controllers.split(","):
            if one != controllers:
                (GROUPS / one).symlink_to(controllers)
    (GROUPS / "unified").mkdir()
    mount("cgroup2", "cgroup2", GROUPS / "unified")


def mount(kind: str, source: str, place: Path, options: str = "") -> None:
    """Mount a file system of the kernel's own."""
    words = ["-o", options] if options else []
    run(["mount", "-n", "-t", kind, *words, source, str(place)])
