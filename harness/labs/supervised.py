# SPDX-License-Identifier: GPL-2.0-only
"""A lab that is one process tree on this machine: started, watched and ended as one session."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path

from harness.errors import LabError
from harness.host import paths
from harness.labs.base import POLL_S, Lab, LabSpec
from harness.labs.hang import HangWatch

AGENT = "cd /cellbed && exec python3 -B -m harness.agent"
GROUP_END_S = 10.0
CLOCK_TICK = os.sysconf("SC_CLK_TCK")
STAT_BYTES = 4096  # of /proc/PID/stat; it has less


class SupervisedLab(Lab):
    """Runs `argv()` under supervise.py, with the console in console.log or on a terminal.

    Attributes:
        cores: "one-core" for a lab whose processes never run at the same time.
    """

    cores = "all-cores"

    def __init__(self, spec: LabSpec, run_directory: Path) -> None:
        super().__init__(spec, run_directory)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: int | None = None

    @abstractmethod
    def argv(self) -> list[str]:
        """The command that is the lab. Raises MissingError."""

    def boot(self) -> None:
        argv = self.argv()
        read_end, self._control = os.pipe()
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "TMPDIR": str(paths.memory_directory()),
            "HOME": str(self.run_directory),
            # Else the host, at each of the many switches between processes, looks for restartable
            # sequences, which a lab has none of.
            "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
        }
        supervisor = Path(__file__).with_name("supervise.py")
        with (self.run_directory / "console.log").open("wb") as log:
            terminal = self.spec.terminal
            self._process = subprocess.Popen(
                [sys.executable, "-IS", str(supervisor), str(read_end), self.cores, *argv],
                stdin=subprocess.DEVNULL if terminal is None else terminal,
                stdout=log if terminal is None else terminal,
                stderr=log,
                start_new_session=True,
                pass_fds=(read_end,),
                cwd=self.run_directory,
                env=environment,
            )
        os.close(read_end)

    def link_host_paths(self, **more: Path) -> None:
        """Name what the lab uses by links in its own folder, host/NAME.

        A boot line with such names is the same in every folder, and no path is too odd for it.
        """
        host = self.run_directory / "host"
        host.mkdir()
        targets = {
            "image": self.spec.image or paths.image(),
            "repo": paths.PROJECT,
            "run": self.run_directory,
            "programs": paths.programs(),
            **self.spec.shares,
            **more,
        }
        for name, target in targets.items():
            (host / name).symlink_to(target)

    def poll(self) -> int | None:
        if self._process is None:
            raise LabError("the lab has not been booted")
        return self._process.poll()

    def kill(self) -> None:
        if self._control is not None:
            os.close(self._control)  # the supervisor ends the whole session
            self._control = None
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
        assert self._process is not None
        for pid, parent, _ in process_table():
            if parent == self._process.pid:
                os.kill(pid, signal.SIGSTOP if still else signal.SIGCONT)

    def cpu_s(self) -> float:
        """Sum over the lab's processes, ended children included.

        Known by their descent: a lab's kernel begins a session of its own.
        """
        return sum(self._family().values()) / CLOCK_TICK

    def processes(self) -> int:
        """How many processes of this machine the lab has."""
        return len(self._family())

    def _family(self) -> dict[int, int]:
        """The lab's processes, and the clock ticks of each."""
        if self._process is None:
            return {}
        children: dict[int, list[int]] = {}
        ticks: dict[int, int] = {}
        for pid, parent, used in process_table():
            children.setdefault(parent, []).append(pid)
            ticks[pid] = used
        family = [self._process.pid]
        for pid in family:
            family += children.get(pid, [])
        return {pid: ticks.get(pid, 0) for pid in family}


def process_table() -> Iterator[tuple[int, int, int]]:
    """Every process: its id, its parent's, and the clock ticks that it and ended children used.

    A harness asks often, and a machine may have thousands: with as few system calls as can be.
    """
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            file = os.open(f"/proc/{name}/stat", os.O_RDONLY)
            try:
                fields = os.read(file, STAT_BYTES).rpartition(b")")[2].split()
            finally:
                os.close(file)
        except (FileNotFoundError, ProcessLookupError):
            continue
        yield int(name), int(fields[1]), sum(map(int, fields[11:15]))


def wait_for_exit(lab: Lab, limit_cpu_s: float) -> None:
    """Wait for a lab that needs no more jobs; LabError when it takes more processor time."""
    watch = HangWatch(lab.cpu_s, limit_cpu_s, lab.spec.hang_idle_s)
    while lab.poll() is None:
        lab.refuse_damage()
        if hung := watch.verdict():
            raise LabError(hung, lab.console())
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
