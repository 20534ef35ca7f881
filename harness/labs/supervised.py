# SPDX-License-Identifier: GPL-2.0-only
"""A lab that is one process tree on this machine: started, watched and ended as one session."""

from __future__ import annotations

import io
import marshal
import os
import signal
import subprocess
import sys
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from harness.host import paths
from harness.labs.base import POLL_S, Lab, LabSpec
from harness.labs.hang import HangWatch
from plan.errors import LabError, MissingError

AGENT = "cd /cellbed && exec python3 -B -m harness.agent"
GROUP_END_S = 10.0
CLOCK_TICK = os.sysconf("SC_CLK_TCK")
STAT_BYTES = 4096  # of /proc/PID/stat; it has less
NO_BOUNDARY = "no boundary can be made around the uml lab here"
LOST = "not to be had within a lab's boundary, whose root has the rights of who runs it and no more"
SUPERVISOR = paths.PROJECT / "harness" / "supervisor" / "__main__.py"


class SupervisedLab(Lab):
    """Runs `argv()` under a supervisor, with the console in console.log or on a terminal.

    Attributes:
        one_core: its processes never run at the same time.
        fixed_addresses: it asks the host for the same addresses of memory in each run.
        bounded: it runs in namespaces that hold only what view() names.
        open_files: files without a name that argv() calls by their numbers.
    """

    one_core = False
    fixed_addresses = False

    def __init__(self, spec: LabSpec, run_directory: Path) -> None:
        super().__init__(spec, run_directory)
        self.bounded = False
        self.open_files: list[IO[bytes]] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._control: io.FileIO | None = None
        self._used_ticks = 0

    @abstractmethod
    def argv(self) -> list[str]:
        """The command that is the lab. Raises MissingError."""

    def view(self) -> dict[str, Any] | None:
        """What the lab sees of this machine, as boundary.View; None: it is given no boundary."""
        return None

    def boot(self) -> None:
        argv, view = self.argv(), self.view()
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "TMPDIR": str(paths.memory_directory()),
            "HOME": str(self.run_directory),
            # Else the host, at each of the many switches between processes, looks for restartable
            # sequences, which a lab has none of.
            "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
            # "off": ptrace stops a program in the lab at each system call, as on an older host.
            "CELLBED_SECCOMP": os.environ.get("CELLBED_SECCOMP", ""),
        }
        read_end, control = os.pipe()
        said, report = os.pipe()
        told = {
            "control": read_end, "report": report, "one_core": self.one_core, "view": view,
            "must": view is not None and self.spec.isolated, "fixed": self.fixed_addresses,
        }  # fmt: skip
        self._control = io.FileIO(control, "w")
        with (self.run_directory / "console.log").open("wb") as log, io.FileIO(said) as answer:
            terminal = self.spec.terminal
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-IS", str(SUPERVISOR), marshal.dumps(told).hex(), *argv],
                    stdin=subprocess.DEVNULL if terminal is None else terminal,
                    stdout=log if terminal is None else terminal,
                    stderr=log,
                    start_new_session=True,
                    pass_fds=(read_end, report, *(file.fileno() for file in self.open_files)),
                    cwd=self.run_directory,
                    env=environment,
                )
            finally:
                os.close(read_end)
                os.close(report)
                for file in self.open_files:  # what was started has them
                    file.close()
            said_of_it = answer.readall() or b"\n"  # else the supervisor finds nobody who reads
            if view is not None:
                self._heed(said_of_it)

    def _heed(self, report: bytes) -> None:
        """What the supervisor says of the boundary.

        Raises:
            MissingError: there is none, and it must have one; or not with what it was to show.
        """
        why_not = report.decode(errors="replace").strip()
        self.bounded = not why_not
        if why_not.startswith("!"):
            self.kill()
            raise MissingError(f"{why_not[1:].strip()}: {LOST}")
        if why_not and self.spec.isolated:
            self.kill()
            raise MissingError(f"{NO_BOUNDARY} ({why_not}): take --lab vm")
        if why_not:
            say_once(f"{NO_BOUNDARY} ({why_not}): what runs in it has your rights; see SECURITY.md")

    def link_host_paths(self, **more: Path) -> dict[str, Path]:
        """Name what the lab uses by links in its own folder, host/NAME.

        A boot line with such names is the same in every folder, and no path is too odd for it.
        """
        host = self.run_directory / "host"
        host.mkdir()
        targets = {
            "image": self.spec.image or paths.image(self.arch),
            "repo": paths.PROJECT,
            "run": self.run_directory,
            "programs": paths.programs(self.arch),
            **self.spec.shares,
            **more,
        }
        for name, target in targets.items():
            (host / name).symlink_to(target)
        return targets

    def poll(self) -> int | None:
        if self._process is None:
            raise LabError("the lab has not been booted")
        self._keep_processor_time(self._process)
        return self._process.poll()

    def _keep_processor_time(self, process: subprocess.Popen[bytes]) -> None:
        """Of a lab that has ended, as long as this machine's kernel still knows it."""
        with suppress(ChildProcessError):  # whoever asked before knows it
            ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
            if process.returncode is None and os.waitid(os.P_PID, process.pid, ended):
                self.cpu_s()

    def kill(self) -> None:
        if self._control is not None and not self._control.closed:
            with suppress(OSError, ValueError):  # it has gone already, or another thread ends it
                self._control.write(b"\n")  # else it takes its owner for killed
            self._control.close()  # the supervisor ends the whole session
        if self._process is None:
            return
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        end_group(self._process.pid)

    def stand_still(self, still: bool) -> None:
        """Stop the lab's kernel, without which its processes do nothing."""
        for pid in self.kernel_processes():
            os.kill(pid, signal.SIGSTOP if still else signal.SIGCONT)

    def kernel_processes(self) -> list[int]:
        """The lab's kernel: what the supervisor started, or the first process of its boundary."""
        assert self._process is not None
        above = {self._process.pid}
        table = list(process_table())
        if self.bounded:
            above = {pid for pid, parent, _ in table if parent in above}
        return [pid for pid, parent, _ in table if parent in above]

    def cpu_s(self) -> float:
        """Sum over the lab's processes, ended children included; also when the lab has ended.

        Known by their descent: a lab's kernel begins a session of its own.
        """
        self._used_ticks = max(self._used_ticks, sum(self.ticks().values()))
        return self._used_ticks / CLOCK_TICK

    def processes(self) -> int:
        """How many processes of this machine the lab has."""
        return len(self.ticks())

    def ticks(self) -> dict[int, int]:
        """The lab's processes, and the clock ticks of processor time of each."""
        if self._process is None or self._process.returncode is not None:
            return {}
        children: dict[int, list[int]] = {}
        ticks: dict[int, int] = {}
        for pid, parent, used in process_table():
            children.setdefault(parent, []).append(pid)
            ticks[pid] = used
        family, mixed = [self._process.pid], False
        for pid in family:
            below = children.get(pid, [])
            mixed = mixed or any(child < pid for child in below)
            family += below
        if mixed:  # a child was read before its parent: if it then ended, both have its ticks
            ticks = {pid: used for pid, _, used in read_processes(family)}
        return {pid: ticks.get(pid, 0) for pid in family}


@cache
def say_once(sentence: str) -> None:
    """On stderr, the first time."""
    print(f"cellbed: {sentence}", file=sys.stderr)


def process_table() -> Iterator[tuple[int, int, int]]:
    """Every process, in the order of their ids."""
    return read_processes(map(int, filter(str.isdigit, os.listdir("/proc"))))


def read_processes(pids: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """Processes: their ids, their parents', and the clock ticks that they and ended children used.

    A harness asks often, and a machine may have thousands: with as few system calls as can be.
    """
    for pid in pids:
        try:
            file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
            try:
                fields = os.read(file, STAT_BYTES).rpartition(b")")[2].split()
            finally:
                os.close(file)
        except (FileNotFoundError, ProcessLookupError):
            continue
        yield pid, int(fields[1]), sum(map(int, fields[11:15]))


def wait_for_exit(lab: Lab, limit_cpu_s: float, each: Callable[[], None] = lambda: None) -> None:
    """Wait for a lab that needs no more jobs; LabError when it takes more processor time.

    each: called several times a second meanwhile.
    """
    watch = HangWatch(lab.cpu_s, limit_cpu_s, lab.spec.hang_idle_s)
    while lab.poll() is None:
        lab.refuse_damage()
        if hung := watch.verdict():
            raise LabError(hung, lab.console())
        each()
        time.sleep(POLL_S)


def end_group(group: int) -> None:
    """Kill what is left of a process group that was ours, and wait until it is gone."""
    end = time.monotonic() + GROUP_END_S
    while time.monotonic() < end:
        try:
            os.killpg(group, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.01)
