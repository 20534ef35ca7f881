# SPDX-License-Identifier: GPL-2.0-only
"""The guide of the virtual machine, command by command, with the Vagrant of Debian 12 and of 13.

In a tree with namespaces of its own (tests/labs/vagrant_machine). `make test-vagrant` prints what
the commands say, with the seconds since the first.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pytest

from harness.host import paths
from harness.labs import vm
from tests.fresh.trees import RELEASES, SUDO, place
from tests.small import PROJECT

GUIDE = PROJECT / "docs" / "guides" / "vm-lab.md"
SCRIPT = [*SUDO, str(PROJECT / "tests" / "labs" / "vagrant_machine")]
COMMAND = re.compile(r"^    (\S.*)$", re.MULTILINE)
# The tree is made of these two.
BEGUN = ("sudo apt-get install ", "git clone ")
DONE, INVALID = 0, 5
# Of the table of results: level, seed if there are two, efficiency.
ROW = re.compile(r"^(?:EPD|SD) +(?:\d +)?\d\.\d{4} ", re.MULTILINE)
STATUS = re.compile(r"status (\d+)\n")
# Vagrant writes these over each other.
PROGRESS = re.compile(r"^.*\x1b\[K")
LIST = ("virsh -q list --all && virsh -q net-list --all && ip -brief link | cut -d' ' -f1 &&"
        " ls /var/lib/libvirt/images && vagrant box list")  # fmt: skip
BOOT = "vagrant ssh --no-tty -c 'cat /proc/sys/kernel/random/boot_id'"
# A word that a command must say if it has done its work.
SAYS = {
    "./cellbed setup --vm": "ready",
    "vagrant provision": "Running provisioner",
    "vagrant rsync": "Rsyncing folder",
    "vagrant halt": "Attempting graceful shutdown",
    "cmp": "same",
    "tar": "SHA256SUMS",
}

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: make test-vagrant"),
]


@dataclass
class Machine:
    """Commands go in and lines come out of the machine of a release."""

    release: str
    commands: IO[str]
    lines: IO[str]
    begun: float = field(default_factory=time.monotonic)

    def __call__(self, command: str) -> tuple[int, str]:
        """The status of a command line, and all that it said."""
        self._tell(f"$ {command}")
        self.commands.write(f"{command}\n")
        self.commands.flush()
        said = []
        for line in self.lines:
            if ended := STATUS.fullmatch(line):
                return int(ended[1]), "".join(said)
            said.append(PROGRESS.sub("", line))
            if not said[-1].startswith("Progress: "):
                self._tell(said[-1].rstrip())
        raise AssertionError("".join(["the machine ended while it ran ", command, "\n", *said]))

    def _tell(self, line: str) -> None:
        print(f"{self.release} {time.monotonic() - self.begun:5.0f} s  {line}", file=sys.stderr)


@contextmanager
def machine(release: str) -> Iterator[Machine]:
    """A tree with Vagrant, for the duration; nothing that was made in it stays."""
    sweep(release)
    folder = place() / f"vagrant-{release}-{os.getpid()}"
    try:
        subprocess.run([*SCRIPT, "make", release, str(folder)], check=True)
        argv = [*SCRIPT, "run", str(folder), str(paths.places()["cache"])]
        pipe = subprocess.PIPE
        with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as running:
            assert running.stdin and running.stdout
            yield Machine(release, running.stdin, running.stdout)
            running.stdin.close()
    finally:
        subprocess.run([*SCRIPT, "remove", str(folder)], check=True)


def sweep(release: str) -> None:
    """Remove the trees of tests that were killed; all else of theirs has ended with them."""
    for folder in place().glob(f"vagrant-{release}-*"):
        if not Path("/proc", folder.name.rpartition("-")[2]).exists():
            subprocess.run([*SCRIPT, "remove", str(folder)], check=True)


def check(command: str, status: int, said: str, counts: bool) -> None:
    """What each command of the guide must have done; does the machine count instructions?"""
    # In real time an emulated machine may be too slow, and the trial must then say so.
    real_time = not counts and "--lab native" in command
    allowed = (DONE, INVALID) if real_time and " run " in command else (DONE,)
    assert status in allowed, said[-3000:]
    if " run " in command:
        seeds = 2 if "--seeds 2" in command else 1
        assert len(ROW.findall(said)) == 2 * seeds, said[-3000:]
    if command == "vagrant provision" or command.endswith("vagrant up"):
        assert ": building" not in said, "all was there, and set-up has done something"
    for word, wanted in SAYS.items():
        if command == word or f" {word} " in f" {command} ":
            assert wanted in said, said[-3000:]


@pytest.mark.parametrize("release", RELEASES)
def test_the_guide(release: str) -> None:
    vm.kvm_works()  # which the Vagrantfile then knows
    commands = [line for line in COMMAND.findall(GUIDE.read_text()) if not line.startswith(BEGUN)]
    assert commands, GUIDE
    with machine(release) as here:
        status, before = here(LIST)
        assert status == 0, before
        counts, boot = False, (0, "")
        for command in commands:
            if command.endswith("vagrant up"):
                counts = "CELLBED_VAGRANT_CLOCK=virtual" in command
            boot = here(BOOT) if command == "vagrant reload" else boot
            check(command, *here(command), counts)
            if command.endswith("vagrant up"):
                assert here(LIST) != (0, before), "there is no machine"
            if command == "vagrant reload":
                assert here(BOOT) != boot, "the machine has not started again"
        assert here(LIST) == (0, before)
