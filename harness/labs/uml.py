# SPDX-License-Identifier: GPL-2.0-only
"""The `uml` lab: User-Mode Linux in virtual or real time, without root."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import paths
from harness.errors import LabError
from harness.labs.base import Lab, LabSpec

AGENT = "cd /cellbed && exec python3 -B -m harness.agent"
# 2020-01-01: any fixed moment does; it keeps the host's clock out of a run.
START_NS = 1_577_836_800 * 1_000_000_000
HOST = "/proc/self/cwd/host"
CLOCK_TICK = os.sysconf("SC_CLK_TCK")


class UmlLab(Lab):
    """User-Mode Linux over the lab image."""

    def __init__(self, spec: LabSpec, run_directory: Path) -> None:
        super().__init__(spec, run_directory)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: int | None = None

    def boot(self) -> None:
        self._link_host_paths()
        read_end, self._control = os.pipe()
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "TMPDIR": str(paths.memory_directory()),
            "HOME": str(self.run_directory),
        }
        supervisor = Path(__file__).with_name("supervise.py")
        with (self.run_directory / "console.log").open("wb") as log:
            terminal = self.spec.terminal
            self._process = subprocess.Popen(
                [sys.executable, "-IS", str(supervisor), str(read_end)]
                + self.command_line(),
                stdin=subprocess.DEVNULL if terminal is None else terminal,
                stdout=log if terminal is None else terminal,
                stderr=log,
                start_new_session=True,
                pass_fds=(read_end,),
                cwd=self.run_directory,
                env=environment,
            )
        os.close(read_end)

    def _link_host_paths(self) -> None:
        """Name what the lab uses by links in its own folder.

        The kernel mixes its command line into its entropy: with the host's paths in it,
        the same seed would draw differently in every folder.
        """
        host = self.run_directory / "host"
        host.mkdir()
        targets = {
            "linux": paths.kernel(),
            "image": paths.image(),
            "repo": paths.PROJECT,
            "run": self.run_directory,
        }
        if self.spec.needs_programs:
            targets["programs"] = paths.programs()
        for name, target in targets.items():
            (host / name).symlink_to(target)

    def command_line(self) -> list[str]:
        """The boot line, relative to the run directory.

        Words that the kernel does not know reach the image's init.
        """
        spec = self.spec
        words = [
            "host/linux",
            f"mem={spec.memory_mib}M",
            "ubd0r=host/image",
            "root=/dev/ubda rootfstype=squashfs ro init=/cellbed-init",
            "panic=-1 quiet norandmaps uml_dir=uml umid=lab",
            f"entropy-seed={spec.seed}",
            # hostfs wants absolute paths; the kernel's process works in the run directory.
            f"cellbed_repo={HOST}/repo/. cellbed_run={HOST}/run/.",
            f"cellbed_programs={HOST}/programs/." if spec.needs_programs else "",
        ]
        if spec.terminal is not None:
            words.append("con0=fd:0,fd:1")
        if spec.clock == "virtual":
            words.append(f"time-travel=inf-cpu time-travel-start={START_NS}")
        main = spec.main or AGENT
        return [w for word in words for w in word.split()] + [f'cellbed_main="{main}"']

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
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def cpu_s(self) -> float:
        """Sum over the processes of the lab's session, ended children included."""
        if self._process is None:
            return 0.0
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[3]) == self._process.pid:
                ticks += sum(int(f) for f in fields[11:15])
        return ticks / CLOCK_TICK


def wait_for_exit(lab: Lab, timeout_s: float) -> None:
    """Wait for a lab that needs no more jobs; LabError when it does not end in time."""
    end = time.monotonic() + timeout_s
    while lab.poll() is None:
        if time.monotonic() > end:
            raise LabError(f"the lab did not end within {timeout_s:.0f} s", lab.console())
        time.sleep(0.05)
